"""Honest tasks whose configuration brings plugins and words of its own into every run."""

from __future__ import annotations

from tests.proof.environments import PLUGINS
from tests.proof.scene import Scene, asks

TOP = "[tool.pytest.ini_options]\n"
ABSENT = "def total(lines):\n    return None\n\n\ndef other():\n    return 1\n"
PRESENT = "def total(lines):\n    return sum(lines)\n\n\ndef other():\n    return 1\n"
TESTS = "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n\n\n"
TESTS += "def test_empty():\n    assert total([]) == 0\n"
IDS = ("tests/test_cart.py::test_total", "tests/test_cart.py::test_empty")


def plugin(name: str, says: str, settings: str, **more: str) -> Scene:
    """A scene whose section of the runner holds `settings`; `more` are further files of the test author."""
    return Scene(
        name=name,
        says=says,
        criteria=(asks(*IDS),),
        start={"pyproject.toml": TOP + settings, "shop/__init__.py": "", "shop/cart.py": ABSENT},
        tests={"tests/test_cart.py": TESTS, **{key.replace("__", "/") + ".py": text for key, text in more.items()}},
        work={"shop/cart.py": PRESENT},
        python=PLUGINS,
    )


REPORTS = (
    "def pytest_report_header(config):\n    return 'ours'\n\n\ndef pytest_runtest_setup(item):\n    item.ours = 1\n"
)
FAILS_TWICE = "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
FAILS_TWICE += "    outcome = yield\n    outcome.get_result().sections.append(('ours', item.name))\n"

SCENES = (
    plugin("xdist", "two workers in addopts", 'addopts = "-n 2"\n'),
    plugin(
        "xdist-loadfile",
        "workers by file, with the worker's id in a fixture",
        'addopts = "-n2 --dist=loadfile"\n',
        tests__conftest="import pytest\n\n\n@pytest.fixture(autouse=True)\ndef who(worker_id):\n    return worker_id\n",
    ),
    plugin(
        "coverage",
        "coverage with a threshold that these tests alone do not reach",
        'addopts = "--cov=shop --cov-report=term --cov-fail-under=99"\n',
    ),
    plugin("rerunfailures", "failures are tried again twice", 'addopts = "--reruns 2"\n'),
    plugin(
        "all-of-them",
        "workers, coverage and reruns at once, first failure ends the run",
        'addopts = "-n 2 --cov=shop --reruns 1 -x --maxfail=1 -q -p no:cacheprovider"\n',
    ),
    plugin(
        "plugin-of-the-project",
        "a plugin in the repository, named in the conftest at the top",
        'addopts = "-ra"\n',
        conftest='pytest_plugins = ["helpers.reporting"]\n',
        helpers____init__="",
        helpers__reporting=REPORTS,
    ),
    plugin(
        "plugin-in-addopts",
        "a plugin in the repository, named in addopts with -p",
        'pythonpath = ["."]\naddopts = "-p tests.reporting"\n',
        tests____init__="",
        tests__reporting=FAILS_TWICE,
    ),
    plugin(
        "logs-and-words",
        "live logs, durations, no capture, a cache folder of the project's own",
        'log_cli = true\nlog_cli_level = "DEBUG"\naddopts = "-s -vv --durations=3 --tb=short --color=yes"\n'
        'cache_dir = "build/cache"\nconsole_output_style = "times"\nxfail_strict = true\n',
    ),
    Scene(
        name="asyncio",
        says="coroutines as tests, marked one by one",
        criteria=(asks("tests/test_cart.py::test_total", "tests/test_cart.py::TestAll::test_both"),),
        start={"shop/__init__.py": "", "shop/cart.py": "async def total(lines):\n    return None\n"},
        tests={
            "tests/test_cart.py": "import asyncio\n\nimport pytest\n\nfrom shop.cart import total\n\n\n"
            "@pytest.mark.asyncio\nasync def test_total():\n    assert await total([1, 2]) == 3\n\n\n"
            "@pytest.mark.asyncio\nclass TestAll:\n    async def test_both(self):\n"
            "        assert await asyncio.gather(total([1]), total([2])) == [1, 2]\n"
        },
        work={
            "shop/cart.py": "import asyncio\n\n\nasync def total(lines):\n"
            "    await asyncio.sleep(0)\n    return sum(lines)\n"
        },
        python=PLUGINS,
    ),
    Scene(
        name="asyncio-auto",
        says="coroutines as tests and fixtures, found by the configuration; the module is to come",
        criteria=(asks("tests/test_cart.py::test_total"),),
        start={
            "pyproject.toml": TOP + 'asyncio_mode = "auto"\nasyncio_default_fixture_loop_scope = "function"\n',
            "shop/__init__.py": "",
        },
        tests={
            "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\nasync def lines():\n    yield [1, 2]\n",
            "tests/test_cart.py": "from shop.cart import total\n\n\nasync def test_total(lines):\n"
            "    assert await total(lines) == 3\n",
        },
        work={"shop/cart.py": "async def total(lines):\n    return sum(lines)\n"},
        python=PLUGINS,
    ),
)
