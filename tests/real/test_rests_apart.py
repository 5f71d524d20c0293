"""Holds that criteria which share a run go stale each by itself: by what its own tests rest on, by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.project import Project

FEATURE = "checkout"
FILES, EACH = 20, 10
#: How the test file of a module reaches it, by its number; the others import it plainly.
REACHED = {
    0: "import shop.m00\nm = shop.m00\n",
    1: "from shop.m01 import *\nclass m:\n    VALUE = VALUE\n",
    2: "import importlib\nm = importlib.import_module('shop.m02')\n",
    3: "from . import helper\nm = helper.third()\n",
    4: "from shop import rates\nclass m:\n    VALUE = rates.rate()\n",
    5: "from shop.rates import late, rate\nclass m:\n    VALUE = late() + rate() - 4\n",
    6: "from shop import rates\nclass m:\n    VALUE = rates.late() + 1\n",
}
SHARED = {
    "shop/__init__.py": "",
    "shop/rates.py": "from functools import lru_cache\n\n\n@lru_cache(maxsize=None)\ndef rate():\n"
    "    with open('data/rate.txt') as file:\n        return int(file.read())\n\n\n@lru_cache(maxsize=None)\n"
    "def late():\n    from .m05 import VALUE\n    return VALUE\n",
    "shop/registry.py": "import importlib\nfound = [importlib.import_module(one) for one in ('shop.plugins.red',)]\n",
    "shop/plugins/__init__.py": "",
    "shop/plugins/red.py": "COLOUR = 'red'\n",
    "data/rate.txt": "4\n",
    "data/settings.txt": "x\n",
    "tests/__init__.py": "",
    "tests/helper.py": "def third():\n    from shop import m03\n    return m03\n",
    "tests/conftest.py": "import pytest\nfrom shop import registry\n\n\n"
    "@pytest.fixture(scope='session', autouse=True)\n"
    "def settings():\n    return open('data/settings.txt').read()\n",
    "README.md": "# The shop\n",
}
EVERY = set(range(FILES))
#: By what changes: the numbers of the test files whose criteria go stale.
STALE = {
    "shop/m00.py": {0},
    "shop/m01.py": {1},
    "shop/m02.py": {2},
    "shop/m03.py": {3},
    "shop/m05.py": {4, 5, 6},
    "shop/m19.py": {19},
    "shop/rates.py": {4, 5, 6},
    "data/rate.txt": {4, 5, 6},
    "tests/helper.py": {3},
    "tests/test_07.py": {7},
    "tests/conftest.py": EVERY,
    "shop/plugins/red.py": EVERY,
    "data/settings.txt": EVERY,
    "README.md": set(),
}
pytestmark = pytest.mark.requirement("P10")


def criterion(number: int, place: int) -> str:
    return f"AC{number * EACH + place + 1}"


def lay(project: Project) -> None:
    """The project: 200 tests in 20 files, each about a module of its own."""
    files = dict(SHARED)
    for number in range(FILES):
        files[f"shop/m{number:02}.py"] = f"VALUE = {number}\n"
        head = REACHED.get(number, f"from shop import m{number:02} as m\n")
        tests = (f"\n\ndef test_{place}():\n    assert m.VALUE == {number}\n" for place in range(EACH))
        files[f"tests/test_{number:02}.py"] = head + "".join(tests)
    for name, text in files.items():
        path = project.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def stale(project: Project) -> set[str]:
    return {name for name, row in project.rows(FEATURE).items() if row["state"] == "stale"}


def test_two_hundred_criteria_of_one_run_go_stale_each_by_itself(project: Project) -> None:
    lay(project)
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "the shop")
    names = [(number, place) for number in range(FILES) for place in range(EACH)]
    text = "".join(
        f"- [ ] {criterion(*one)} it holds\n      tests: tests/test_{one[0]:02}.py::test_{one[1]}\n" for one in names
    )
    project.done("ledger", "init", FEATURE, "-", given=text.encode())
    project.done("verify", FEATURE)
    assert len(project.passing(FEATURE)) == FILES * EACH
    for name, numbers in STALE.items():
        path = Path(project.folder, name)
        before = path.read_text(encoding="utf-8")
        path.write_text(f"{before}\n", encoding="utf-8")
        assert stale(project) == {criterion(number, place) for number in numbers for place in range(EACH)}, name
        path.write_text(before, encoding="utf-8")
        assert stale(project) == set(), name
    output = (
        b'{"feature_id": "checkout", "phase": 3, "role": "designer", "status": "completed", "output": {"says": "x"}}'
    )
    project.done("output", "save", "-", given=output)
    project.done("note", FEATURE, "a note")
    project.git("commit", "--quiet", "--allow-empty", "-m", "more")
    assert stale(project) == set()


def test_the_tests_of_another_criterion_are_not_locked_with_its_own(project: Project) -> None:
    files = {
        "tests/__init__.py": "",
        "tests/given.py": "def three():\n    return 3\n",
        "tests/test_one.py": "from tests.given import three\n\n\ndef test_x():\n    from shop import one\n"
        "    assert one.total() == three()\n",
        "tests/test_two.py": "def test_x():\n    from shop import two\n    assert two.total() == 2\n",
        "shop/__init__.py": "",
    }
    for name, text in files.items():
        path = project.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    text = "".join(
        f"- [ ] AC{at} it adds\n      tests: tests/test_{name}.py::test_x\n" for at, name in ((1, "one"), (2, "two"))
    )
    project.done("ledger", "init", FEATURE, "-", given=text.encode())
    project.done("ledger", "red", FEATURE)
    (project.folder / "shop/one.py").write_text("def total():\n    return 3\n", encoding="utf-8")
    (project.folder / "tests/test_two.py").write_text("def test_x():\n    assert False\n", encoding="utf-8")
    project.tally("verify", FEATURE, "AC1")
    row = project.rows(FEATURE)["AC1"]
    assert (row["state"], row["level"]) == ("holds", "proven")
    (project.folder / "tests/given.py").write_text("def three():\n    return 1 + 2\n", encoding="utf-8")
    assert project.rows(FEATURE)["AC1"]["state"] == "stale"
