"""Cheats with what is red, and with what a store keeps of it. Each is a scene of its own."""

from __future__ import annotations

import shutil

from tests.proof.cheats_base import BASES, CART, DONE, NOTHING, TEST
from tests.proof.scene import Criterion, Scene, Stage, caught

_PLAIN = BASES["plain"]
_CALLS = "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
_MORE = "\n\ndef test_of_nothing():\n    assert total([]) == 0\n"


def _of(name: str, says: str, test: str, *signs: str | int) -> Scene:
    return _PLAIN._replace(name=name, says=says, tests={TEST: test}, expect=caught(*signs))


def _kept_things_gone(stage: Stage) -> None:
    """What the store keeps of the red is taken away, and the tests are softer."""
    store = stage.project.store
    for folder in store.iterdir():
        if folder.is_dir() and folder.name in ("blobs", "objects"):
            shutil.rmtree(folder)
    stage.write({CART: NOTHING, TEST: "def test_total():\n    assert True\n"})


def _softer_and_red_again(stage: Stage) -> None:
    """The implementer softens the test while it is still red, and has it seen red once more."""
    stage.write({CART: "def total(lines):\n    return None\n", TEST: _CALLS.replace("== 3", "is not None")})
    stage.tally("red_again", "ledger", "red", "task", "--json")
    stage.commit("red again")
    stage.write({CART: NOTHING})


_FREE = "def test_total():\n    assert total([1, 2]) == 3\n"
_LATE = "import pytest\n\n\n@pytest.mark.skip\ndef test_total():\n    from shop.cart import total\n\n"
_LATE += "    assert total([1, 2]) == 3\n"
_MOCKED = "def test_total():\n    total = lambda lines: 3\n    assert total([1, 2]) == 3\n"
_LACKS = "def test_total(cart):\n    assert cart.total() == 3\n"

SCENES = (
    _of("mocks_its_subject", "the test is green without the subject", _MOCKED, "red.green", 4),
    _of("no_such_fixture", "the test needs a fixture that somebody may write later", _LACKS, "red.fixture", 4),
    _of("no_such_module", "the test needs a module of somebody else's", f"import assertpy\n{_CALLS}", "red.module", 4),
    _of("unknown_name", "the test uses a name that it does not define", _FREE, "red.name", 4),
    _of("skipped_at_birth", "the test is skipped from the beginning", _LATE, "red.skip", 4),
    _of("no_python", "the test cannot be read", f"def\n{_CALLS}", "red.syntax", 4),
    _PLAIN._replace(
        name="one_run_for_two",
        says="one of two criteria is built, and one run speaks of both",
        criteria=(
            Criterion("AC1", "the total is right", (f"tests: {TEST}::test_total",)),
            Criterion("AC2", "nothing costs nothing", (f"tests: {TEST}::test_of_nothing",)),
        ),
        tests={TEST: _CALLS + _MORE},
        work={CART: "def total(lines):\n    return 3\n"},
        expect=caught("check.red", 4, criteria=("AC2",)),
    ),
    _PLAIN._replace(
        name="kept_things_gone", says="what is kept of the red is gone", work=_kept_things_gone, expect=caught()
    ),
)
#: Softened by whoever may call `ledger red`, and seen red again: *proven*, and shown for review.
LIMIT = _PLAIN._replace(
    name="softer_and_red_again",
    says="softened, then seen red again",
    work=_softer_and_red_again,
    after=(lambda stage: stage.tally("get", "ledger", "get", "task", "AC1"),),
)
#: The honest twin of all of them.
HONEST = _PLAIN._replace(
    name="two_criteria",
    criteria=(
        Criterion("AC1", "the total is right", (f"tests: {TEST}::test_total",)),
        Criterion("AC2", "nothing costs nothing", (f"tests: {TEST}::test_of_nothing",)),
    ),
    tests={TEST: _CALLS + _MORE},
    work={CART: DONE},
)
