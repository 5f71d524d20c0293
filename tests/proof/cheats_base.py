"""The projects that the cheats are tried on, each red once; and what a cheat is.

A cheat gets a work tree in which the tests of the criterion are red and locked, changes what it likes, and wants
`verify` to say *proven*. Its honest twin does the same kind of thing for a good reason and has to be proven.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.proof.scene import Caught, Criterion, Files, Scene, Stage

Step = Files | Callable[[Stage], object]

CART = "shop/cart.py"
TEST = "tests/test_cart.py"
#: What was to be built, and what was not.
DONE = "def total(lines):\n    return sum(lines)\n"
NOTHING = "def total(lines):\n    return 0\n"
NAMED = '[project]\nname = "shop"\nversion = "1"\n'


class Cheat(NamedTuple):
    """One way to get a pass without the work, tried on the base of that name.

    `kind` is what it belongs to in the list of the docs and `says` what it does. `twin` is the honest work that looks
    like it (none: the honest work of the base). `expect` None: nothing can tell it from honest work, so it is *proven*.
    """

    name: str
    says: str
    work: Step
    expect: Caught | None
    twin: Step | None = None
    base: str = "plain"


def _scene(name: str, ids: tuple[str, ...], start: Files, tests: Files, work: Files) -> Scene:
    criterion = Criterion("AC1", "the total is right", tuple(f"tests: {one}" for one in ids))
    return Scene(name, "", (criterion,), {"pyproject.toml": NAMED, **start}, tests, work)


_CALLS = "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
_IDS = (f"{TEST}::test_total",)
_CASE = """\
import unittest

from shop.cart import total


class CartTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
"""
_READS = """\
import json
from pathlib import Path

from shop.cart import total
from tests.checks import is_right


def test_total():
    for lines, wanted in json.loads((Path(__file__).parent / "data" / "cases.json").read_text()):
        assert is_right(total(lines), wanted)
"""
_SETS = """\
import json
from pathlib import Path

import pytest

import shop.cart

CASES = json.loads(Path(__file__).with_name("cases.json").read_text())


@pytest.mark.parametrize(("lines", "wanted"), CASES)
def test_total(lines, wanted):
    assert shop.cart.total(lines) == wanted
"""
_RAISES = """\
import pytest

from shop.cart import total


def test_total():
    assert total([1, 2]) == pytest.approx(3)
    with pytest.raises(ValueError, match="negative"):
        total([-1])
"""
_STRICT = """\
import pytest


@pytest.fixture(autouse=True)
def nothing_is_printed(capsys):
    yield
    assert capsys.readouterr().out == ""
"""
_DOCTEST = 'def total(lines):\n    """The sum.\n\n    >>> total([1, 2])\n    3\n    """\n'
_OWNS = """\
import json
from pathlib import Path

from shop.cart import total


def test_total():
    for lines, wanted in json.loads(Path("cases.json").read_text()):
        assert total(lines) == wanted
"""
_RIGHT = "def is_right(found, wanted):\n    assert found == wanted\n    return True\n"
_CASES = "[[[1, 2], 3], [[], 0], [[5], 5]]"
_EMPTY = {"shop/__init__.py": "", CART: ""}

#: By the name that a cheat gives: what is red there, and the honest work.
BASES: dict[str, Scene] = {
    "plain": _scene("plain", _IDS, {**_EMPTY, "README.md": "# Shop\n"}, {TEST: _CALLS}, {CART: DONE}),
    "unittest": _scene(
        "unittest",
        ("tests.test_cart.CartTest.test_total",),
        _EMPTY,
        {"tests/__init__.py": "", TEST: _CASE},
        {CART: DONE},
    ),
    "support": _scene(
        "support",
        _IDS,
        _EMPTY,
        {TEST: _READS, "tests/__init__.py": "", "tests/checks.py": _RIGHT, "tests/data/cases.json": _CASES},
        {CART: DONE},
    ),
    "sets": _scene(
        "sets", (f"{TEST}::test_total[*]",), _EMPTY, {TEST: _SETS, "tests/cases.json": _CASES}, {CART: DONE}
    ),
    "raises": _scene(
        "raises",
        _IDS,
        _EMPTY,
        {TEST: _RAISES},
        {
            CART: "def total(lines):\n    if min(lines) < 0:\n"
            "        raise ValueError('negative')\n    return sum(lines)\n"
        },
    ),
    "strict": _scene("strict", _IDS, _EMPTY, {TEST: _CALLS, "conftest.py": _STRICT}, {CART: DONE}),
    "doctest": _scene(
        "doctest",
        (f"{CART}::shop.cart.total",),
        {**_EMPTY, "pyproject.toml": NAMED + '[tool.pytest.ini_options]\naddopts = "--doctest-modules"\n'},
        {CART: _DOCTEST + "    return 0\n"},
        {CART: _DOCTEST + "    return sum(lines)\n"},
    ),
    "early": _scene("early", _IDS, _EMPTY, {TEST: _CALLS, "conftest.py": "import shop.cart\n"}, {CART: DONE}),
    "owned": _scene("owned", _IDS, {**_EMPTY, "cases.json": _CASES}, {TEST: _OWNS}, {CART: DONE}),
    "command": _scene(
        "command",
        (),
        {**_EMPTY, "pyproject.toml": NAMED + '[tool.pytest.ini_options]\naddopts = "-q"\n'},
        {TEST: _CALLS, "tests/test_other.py": "def test_other():\n    assert 1\n"},
        {CART: DONE},
    )._replace(criteria=(Criterion("AC1", "the total is right", ("run: python -m pytest",)),)),
}
