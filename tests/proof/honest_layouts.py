"""Honest tasks by where a project keeps its sources, its tests and the settings of its runner."""

from __future__ import annotations

from tests.proof.scene import Scene, asks

TOTAL = "def total(lines):\n    return sum(lines)\n"
NO_TOTAL = "def total(lines):\n    raise NotImplementedError\n"
FROM_CART = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
FROM_SHOP = "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
ON_PATH = '[tool.pytest.ini_options]\npythonpath = ["src"]\n'

SCENES = (
    Scene(
        name="flat-module",
        says="one module beside the tests' folder, found because the runner is started at the top",
        criteria=(asks("tests/test_cart.py::test_total"),),
        start={"cart.py": NO_TOTAL},
        tests={"tests/test_cart.py": FROM_CART},
        work={"cart.py": TOTAL},
    ),
    Scene(
        name="src-layout",
        says="a package below src, which the configuration puts on the path",
        criteria=(asks("tests/test_cart.py::test_total"),),
        start={"pyproject.toml": ON_PATH, "src/shop/__init__.py": "", "src/shop/cart.py": NO_TOTAL},
        tests={"tests/test_cart.py": FROM_SHOP},
        work={"src/shop/cart.py": TOTAL},
    ),
    Scene(
        name="module-to-come",
        says="the module does not exist when the tests are written, so they cannot even be collected",
        criteria=(asks("tests/test_cart.py::test_total"),),
        start={"pyproject.toml": ON_PATH, "src/shop/__init__.py": ""},
        tests={"tests/test_cart.py": FROM_SHOP},
        work={"src/shop/cart.py": TOTAL},
    ),
    Scene(
        name="package-to-come",
        says="not even the package exists, only its name in pyproject.toml",
        criteria=(asks("tests/test_cart.py::test_total"),),
        start={"pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n\n' + ON_PATH},
        tests={"tests/test_cart.py": FROM_SHOP},
        work={"src/shop/__init__.py": "", "src/shop/cart.py": TOTAL},
    ),
    Scene(
        name="namespace-package",
        says="a portion of a namespace package: no __init__.py in its upper folder",
        criteria=(asks("tests/test_cart.py::test_total"),),
        start={
            "pyproject.toml": ON_PATH,
            "src/acme/cart/__init__.py": "from acme.cart.sums import total\n",
            "src/acme/cart/sums.py": NO_TOTAL,
        },
        tests={"tests/test_cart.py": FROM_CART.replace("from cart", "from acme.cart")},
        work={"src/acme/cart/sums.py": TOTAL},
    ),
    Scene(
        name="tests-are-packages",
        says="folders of tests with __init__.py, two files of the same name, an import from one test module to another",
        criteria=(asks("tests/unit/test_cart.py::test_total", "tests/whole/test_cart.py::test_total"),),
        start={"shop/__init__.py": "", "shop/cart.py": NO_TOTAL},
        tests={
            "tests/__init__.py": "",
            "tests/unit/__init__.py": "",
            "tests/whole/__init__.py": "",
            "tests/lines.py": "LINES = [1, 2]\n",
            "tests/unit/test_cart.py": FROM_SHOP,
            "tests/whole/test_cart.py": "from shop import cart\n\nfrom ..lines import LINES\n\n\n"
            "def test_total():\n    assert cart.total(LINES) == 3\n",
        },
        work={"shop/cart.py": TOTAL},
    ),
    Scene(
        name="import-mode-importlib",
        says="the runner imports test files without changing the path; two of them share a name, no __init__.py",
        criteria=(asks("tests/a/test_cart.py::test_total", "tests/b/test_cart.py::test_total"),),
        start={
            "pyproject.toml": ON_PATH + 'addopts = ["--import-mode=importlib"]\n',
            "src/shop/__init__.py": "",
            "src/shop/cart.py": NO_TOTAL,
        },
        tests={"tests/a/test_cart.py": FROM_SHOP, "tests/b/test_cart.py": FROM_SHOP.replace("1, 2", "2, 1")},
        work={"src/shop/cart.py": TOTAL},
    ),
    Scene(
        name="tests-beside-sources",
        says="each test file lies beside the module that it tests, and a new module comes beside it",
        criteria=(asks("shop/test_cart.py::test_total"),),
        start={"shop/__init__.py": "", "shop/cart.py": NO_TOTAL},
        tests={"shop/test_cart.py": FROM_SHOP},
        work={
            "shop/cart.py": "from shop.sums import add\n\n\ndef total(lines):\n    return add(lines)\n",
            "shop/sums.py": "def add(lines):\n    return sum(lines)\n",
        },
    ),
    Scene(
        name="two-suites",
        says="two suites in one repository, one criterion for each",
        criteria=(
            asks("unit_tests/test_cart.py::test_total"),
            asks("checks/cart_test.py::test_empty", name="AC2", text="an empty cart costs nothing"),
        ),
        start={
            "pyproject.toml": ON_PATH + 'testpaths = ["unit_tests", "checks"]\n',
            "src/shop/__init__.py": "",
            "src/shop/cart.py": NO_TOTAL,
        },
        tests={
            "unit_tests/test_cart.py": FROM_SHOP,
            "checks/cart_test.py": FROM_SHOP.replace("test_total", "test_empty").replace("[1, 2]) == 3", "[]) == 0"),
        },
        work={"src/shop/cart.py": TOTAL},
    ),
    Scene(
        name="monorepo-folder",
        says="a project in a folder of a larger repository, with the configuration there; its neighbour has its own",
        criteria=(asks("services/pay/tests/test_cart.py::test_total"),),
        start={
            "services/pay/pyproject.toml": ON_PATH,
            "services/pay/src/shop/__init__.py": "",
            "services/pay/src/shop/cart.py": NO_TOTAL,
            "services/mail/pyproject.toml": ON_PATH,
            "services/mail/src/shop/__init__.py": "",
            "services/mail/src/shop/cart.py": "total = None\n",
        },
        tests={"services/pay/tests/test_cart.py": FROM_SHOP},
        work={"services/pay/src/shop/cart.py": TOTAL},
    ),
    Scene(
        name="relative-imports",
        says="modules of the package import one another relatively",
        criteria=(asks("tests/test_cart.py::test_total"),),
        start={
            "shop/__init__.py": "from .cart import total\n",
            "shop/money/__init__.py": "",
            "shop/money/sums.py": "def add(lines):\n    raise NotImplementedError\n",
            "shop/cart.py": "from .money import sums\n\n\ndef total(lines):\n    return sums.add(lines)\n",
        },
        tests={"tests/test_cart.py": FROM_SHOP.replace("shop.cart", "shop")},
        work={
            "shop/money/sums.py": "from ..money import rates\n\n\n"
            "def add(lines):\n    return sum(lines) * rates.RATE\n",
            "shop/money/rates.py": "RATE = 1\n",
        },
    ),
    Scene(
        name="pytest-ini-wins",
        says="pytest.ini decides, though pyproject.toml has a section too; the implementer changes other parts of it",
        criteria=(asks("tests/check_cart.py::test_total"),),
        start={
            "pytest.ini": "[pytest]\npythonpath = src\npython_files = check_*.py\n",
            "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n\n[tool.pytest.ini_options]\naddopts = "-x"\n',
            "src/shop/__init__.py": "",
            "src/shop/cart.py": NO_TOTAL,
        },
        tests={"tests/check_cart.py": FROM_SHOP},
        work={
            "src/shop/cart.py": TOTAL,
            "pyproject.toml": '[project]\nname = "shop"\nversion = "2"\ndependencies = []\n\n'
            '[tool.pytest.ini_options]\naddopts = "-x"\n',
        },
    ),
    Scene(
        name="tox-ini",
        says="the runner's section stands in tox.ini",
        criteria=(asks("tests/test_cart.py::test_total"),),
        start={
            "tox.ini": "[tox]\nenvlist = py\n\n[pytest]\npythonpath = src\naddopts = -ra\n",
            "src/shop/__init__.py": "",
            "src/shop/cart.py": NO_TOTAL,
        },
        tests={"tests/test_cart.py": FROM_SHOP},
        work={
            "src/shop/cart.py": TOTAL,
            "tox.ini": "[tox]\nenvlist = py, lint\n\n[pytest]\npythonpath = src\naddopts = -ra\n",
        },
    ),
    Scene(
        name="setup-cfg",
        says="the runner's section stands in setup.cfg, beside the metadata",
        criteria=(asks("tests/test_cart.py::test_total"),),
        start={
            "setup.cfg": "[metadata]\nname = shop\n\n[tool:pytest]\npythonpath = src\n",
            "src/shop/__init__.py": "",
            "src/shop/cart.py": NO_TOTAL,
        },
        tests={"tests/test_cart.py": FROM_SHOP},
        work={
            "src/shop/cart.py": TOTAL,
            "setup.cfg": "[metadata]\nname = shop\nversion = 2\n\n[tool:pytest]\npythonpath = src\n",
        },
    ),
)
