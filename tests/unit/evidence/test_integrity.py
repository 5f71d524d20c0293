"""Holds what is told of a run in which the project's own code took the place of a test or of a part of the runner; and
that decorators, plugins and conftests accuse nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.evidence.checks import Step, execute
from tallystick.evidence.runners.base import Modes
from tests.unit.evidence.samples import VARIABLES, project

PYTEST = Step("pytest", (".venv/bin/pytest", "-q", "-Wignore", "--doctest-modules", "."), ())
UNITTEST = Step("unittest", (".venv/bin/python", "-m", "unittest", "tests.test_case"), ())
TEST = "import cart\ndef test_x(): assert cart.total([1]) == 1\n"
CASE = (
    "import unittest, cart\nclass T(unittest.TestCase):\n    def test_x(self): self.assertEqual(cart.total([1]), 1)\n"
)
ZERO = "def total(lines): return 0\n"

CHEATS = {
    "runtest": "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n",
    "raises": "import pytest\npytest.raises = lambda *words: None\n",
    "builtin": "import _pytest.python\n_pytest.python.Function.runtest = id\n",
    "json": "import json\njson.loads = lambda text: []\n",
    "isinstance": "import builtins\nbuiltins.isinstance, keep = (lambda *a: keep(*a)), builtins.isinstance\n",
    "trace": "import sys\nsys.settrace(lambda *words: None)\n",
    "written": "import pathlib\npathlib.Path('tests/test_other.py').write_text('')\n",
    "helper": "import sys\nsys.modules['tests.helpers'].helped = lambda: True\n",
    "exec": "exec('import pytest; pytest.fail = lambda *words: None')\n",
}
HONEST = {
    "decorator": {
        "cart.py": "def twice(test):\n    def wrapper():\n        test()\n        test()\n    return wrapper\n" + ZERO,
        "tests/test_x.py": "import cart\n@cart.twice\ndef test_x(): pass\n",
    },
    "conftest": {
        "tests/conftest.py": "import pytest\npytest.raises = lambda *words: None\n",
        "tests/test_x.py": "def test_x(): pass\n",
    },
    "mock": {
        "tests/test_x.py": "from unittest import mock\n@mock.patch('json.loads')\ndef test_x(loads): assert loads\n",
    },
    "writes": {
        "tests/test_x.py": "import pathlib\ndef test_x(): pathlib.Path('tests/out.txt').write_text('x')\n",
    },
    "inherited": {
        "cart.py": "class Case:\n    def test_it(self): pass\n",
        "tests/test_x.py": "from tests.cases import Case\nclass TestX(Case): pass\n",
        "tests/cases.py": "class Case:\n    def test_it(self): pass\n",
    },
}


def told(root: Path, files: dict[str, str], step: Step = PYTEST) -> tuple[str, ...]:
    report = execute(step, project(root, files), VARIABLES, modes=Modes(alone=True, record=True)).ran.report
    assert report is not None
    assert report.recorded is not None
    return report.recorded.patched


@pytest.mark.parametrize("name", CHEATS)
def test_what_the_subject_replaces_is_told(tmp_path: Path, name: str) -> None:
    files = {"tests/test_other.py": "def test_y(): pass\n", "tests/helpers.py": "def helped(): return False\n"}
    files |= {
        "tests/__init__.py": "",
        "tests/test_x.py": "import tests.helpers\n" + TEST,
        "cart.py": CHEATS[name] + ZERO,
    }
    assert told(tmp_path, files)


@pytest.mark.parametrize("name", HONEST)
def test_honest_ways_accuse_nobody(tmp_path: Path, name: str) -> None:
    assert told(tmp_path, {"tests/__init__.py": "", **HONEST[name]}) == ()


def test_unittest_is_looked_at_too(tmp_path: Path) -> None:
    files = {"tests/__init__.py": "", "tests/test_case.py": CASE, "cart.py": ZERO}
    assert told(tmp_path, files, UNITTEST) == ()
    cheat = "import unittest\nunittest.TestCase.assertEqual = lambda *words: None\n"
    found = told(tmp_path, {**files, "cart.py": cheat + ZERO}, UNITTEST)
    assert found == ("unittest.case.TestCase.assertEqual is the code of cart.py:2",)


def test_a_doctest_is_the_one_in_the_file(tmp_path: Path) -> None:
    text = 'def total(lines):\n    """\n    >>> total([1])\n    0\n    """\n    return 0\n'
    assert told(tmp_path, {"cart.py": text}) == ()
    found = told(tmp_path, {"cart.py": text + "total.__doc__ = '>>> 1\\n1\\n'\n"})
    assert found == ("cart.py::cart.total is another text than the one in the file",)
