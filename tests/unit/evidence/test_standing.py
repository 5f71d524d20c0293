"""Holds the static part of a proof: which changes since red ask for nothing, which for the red again, which for a
person, and what is set aside; each refusal beside an honest change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.evidence.lockset import LockSet, State, lock_set
from tallystick.evidence.standing import Past, Standing, listing, required_ids, standing
from tallystick.ledger.model import Criterion, Draft, Red

ID = "tests/test_cart.py::test_total"
TEST = "from cart import total\n\n\ndef test_total(lines):\n    assert total(lines) == 3\n"
CONFTEST = "import pytest\n\n\n@pytest.fixture\ndef lines():\n    return [1, 2]\n"
TREE = {"cart.py": "", "tests/test_cart.py": TEST, "tests/conftest.py": CONFTEST}
DRAFT = Draft("AC1", "the total is right", (f'tests: ["{ID}"]',))
ACCEPT = "tallystick ledger accept checkout AC1"


def state(files: Mapping[str, str], links: tuple[str, ...] = ()) -> State:
    """A state of the tree of these files and symbolic links."""
    return State(frozenset(files), frozenset(links), lambda name: files[name].encode() if name in files else None)


RED = Red("r-1", DRAFT.digest, "t" * 40, None, "l" * 64, (ID,))
CRITERION = Criterion(*DRAFT, DRAFT.digest, red=RED)
PAST = Past(lock_set([ID], state(TREE)), lambda names: {name: TREE[name].encode() for name in names if name in TREE})


def stands(
    files: Mapping[str, str | None],
    criterion: Criterion = CRITERION,
    links: tuple[str, ...] = (),
    *,
    allowed: Sequence[LockSet] = (),
    only_ids: bool = True,
    past: Past | None = PAST,
) -> Standing:
    """How it stands when these files were written over the tree (None: taken away) since red."""
    now = {name: text for name, text in {**TREE, **files}.items() if text is not None}
    return standing("checkout", criterion, past, allowed, state(now, links), only_ids)


def codes(found: Standing) -> list[tuple[str, str]]:
    return [(reason.code, reason.file) for reason in found.broken]


def test_a_criterion_that_was_never_red_stands_on_nothing() -> None:
    assert stands({}, CRITERION._replace(red=None)) == Standing()
    assert stands({}, past=None) == Standing()


@given(st.dictionaries(st.sampled_from(["cart.py", "new.py", "docs/a.md", "src/deep/x.py", "setup.cfg"]), st.text()))
def test_whatever_happens_to_the_code_a_red_that_this_store_saw_stands(files: dict[str, str]) -> None:
    if "[tool:pytest]" in files.get("setup.cfg", ""):
        return
    assert stands(files) == Standing(RED, PAST.lock)


def test_a_formatter_asks_for_the_red_again_for_the_same_ids_alone() -> None:
    found = stands({"tests/test_cart.py": TEST.replace("total(lines) == 3", "(\n        total(lines) == 3\n    )")})
    assert (found.broken, found.again, found.moved, found.ids) == ((), "moved", ("tests/test_cart.py",), (ID,))
    assert found.locked is not None
    assert {one.path for one in found.locked.locks} >= {"tests/test_cart.py", "tests/conftest.py"}
    assert found.locked != PAST.lock


def test_an_added_fixture_and_test_do_the_same_where_ids_are_run_and_not_for_a_command() -> None:
    added = {
        "tests/conftest.py": CONFTEST + "\n\n@pytest.fixture\ndef none():\n    return []\n",
        "tests/test_cart.py": TEST + "\n\ndef test_empty():\n    assert total([]) == 0\n",
    }
    found = stands(added)
    assert (found.broken, found.again, sorted(found.moved)) == ((), "moved", sorted(added))
    command = CRITERION._replace(evidence_required=("run: pytest",))
    assert {code for code, _ in codes(stands(added, command, only_ids=False))} == {"lock.changed"}


@pytest.mark.parametrize(
    "text",
    [TEST.replace("== 3", "or True"), TEST.replace("== 3", "== 4"), "", "def test_total(): pass\n", "no python ("],
    ids=["softened", "another", "empty", "hollow", "broken"],
)
def test_another_assertion_waits_for_a_person(text: str) -> None:
    found = stands({"tests/test_cart.py": text})
    assert codes(found) in ([("lock.changed", "tests/test_cart.py")], [("ids.missing", "tests/test_cart.py")])
    assert all(reason.next.startswith(ACCEPT) for reason in found.broken if reason.code == "lock.changed")
    assert found.again == ""


def test_the_lines_that_differ_are_counted() -> None:
    (reason,) = stands({"tests/test_cart.py": TEST.replace("== 3", "> 0")}).broken
    assert (reason.says, reason.next) == (
        "tests/test_cart.py: 1 line differs from the test seen red",
        f"{ACCEPT} --reason …",
    )


def test_what_was_accepted_stands_and_only_that() -> None:
    softened = {"tests/test_cart.py": TEST.replace("== 3", "> 0")}
    accepted = lock_set([ID], state({**TREE, **softened}))
    found = stands(softened, allowed=[accepted])
    assert (found.broken, found.again, found.moved, found.locked) == ((), "moved", (), accepted)
    softer = {"tests/test_cart.py": TEST.replace("== 3", "or True")}
    assert codes(stands(softer, allowed=[accepted])) == [("lock.changed", "tests/test_cart.py")]
    assert stands({}, allowed=[accepted]) == Standing(RED, PAST.lock), "back to what was red"


@pytest.mark.parametrize("link", ["tests/test_cart.py", "tests"])
def test_a_link_is_named_and_cannot_be_accepted(link: str) -> None:
    files = {"tests/test_cart.py": None} if link != "tests" else dict.fromkeys(TREE, None) | {"cart.py": ""}
    found = stands(files, links=(link,))
    assert ("lock.symlink", "tests/test_cart.py") in codes(found)
    assert not any(reason.next for reason in found.broken if reason.code == "lock.symlink")


def test_a_file_that_is_gone_is_named() -> None:
    assert codes(stands({"tests/conftest.py": None})) == [("lock.changed", "tests/conftest.py")]


def test_a_stranger_is_set_aside_where_the_tests_are_as_they_were() -> None:
    more = {"conftest.py": "x = 1\n", "sitecustomize.py": "", "pytest.ini": "[pytest]\n", "tests/test_new.py": ""}
    found = stands(more)
    assert (found.broken, found.again) == ((), "")
    assert set(found.apart) == {"conftest.py", "sitecustomize.py", "pytest.ini"}
    assert found.locked == PAST.lock


def test_a_conftest_that_came_with_changed_tests_waits_for_a_person() -> None:
    found = stands({"conftest.py": CONFTEST + "print('x')\n", "tests/test_cart.py": TEST + "\n# a word\n"})
    assert codes(found) == [("lock.changed", "conftest.py")]


def test_a_test_file_that_nobody_names_is_set_aside_only_for_a_command() -> None:
    more = {"tests/test_new.py": TEST}
    assert stands(more).apart == ()
    assert stands(more, CRITERION._replace(evidence_required=("run: pytest",)), only_ids=False).apart == (
        "tests/test_new.py",
    )


def test_a_conftest_elsewhere_has_no_part_in_these_ids() -> None:
    assert stands({"other/conftest.py": "x = 1\n"}).apart == ()


def test_a_renamed_file_is_asked_about_with_the_one_command() -> None:
    found = stands({"tests/test_cart.py": None, "tests/test_total.py": TEST})
    (reason,) = found.broken
    assert reason.code == "ids.missing"
    assert reason.next == f"{ACCEPT} --tests tests/test_total.py::test_total --reason …"
    assert '"tests/test_cart.py::test_total" is likely "tests/test_total.py::test_total" now' in reason.says


def amended(criterion: Criterion, *ids: str) -> Criterion:
    """The criterion with these tests, as an amendment leaves it."""
    draft = Draft(criterion.id, criterion.description, tuple(f'tests: ["{one}"]' for one in ids))
    return criterion._replace(evidence_required=draft.evidence_required, digest=draft.digest)


@pytest.mark.parametrize("elsewhere", [False, True], ids=["here", "elsewhere"])
def test_ids_that_a_person_took_over_are_made_red_again_and_asked_about_no_more(elsewhere: bool) -> None:
    moved = {"tests/test_cart.py": None, "tests/test_total.py": TEST}
    there = {name: text for name, text in {**TREE, **moved}.items() if text is not None}
    accepted = lock_set(["tests/test_total.py::test_total"], state(there))
    criterion = amended(CRITERION, "tests/test_total.py::test_total")
    if elsewhere:
        criterion = criterion._replace(red=None, seen=RED)
    found = stands(moved, criterion, allowed=[accepted])
    assert (found.broken, found.again, found.ids) == ((), "amended", ())


def test_a_red_that_another_store_saw_is_made_again() -> None:
    assert stands({}, CRITERION._replace(red=None, seen=RED)).again == "elsewhere"
    assert stands({}, CRITERION._replace(seen=RED)).again == ""


def test_an_amended_criterion_is_made_red_again() -> None:
    assert stands({}, CRITERION._replace(digest="0" * 64)).again == "amended"


@given(st.lists(st.text(max_size=12), min_size=1, max_size=3), st.booleans())
def test_ids_that_came_along_may_be_anything(ids: list[str], here: bool) -> None:
    red = RED._replace(ids=tuple(ids))
    command = CRITERION._replace(evidence_required=("run: pytest",))
    found = stands({}, command._replace(red=red) if here else command._replace(red=None, seen=red), only_ids=False)
    assert all(reason.code in ("ids.missing", "lock.changed") for reason in found.broken)


def test_the_ids_that_a_criterion_names_are_each_once_in_their_order() -> None:
    criterion = CRITERION._replace(evidence_required=('tests: ["b.py::x", "a.py::y"]', "run: true", "tests: b.py::x"))
    assert required_ids(criterion) == ("b.py::x", "a.py::y")


def test_the_ids_of_a_file_are_read_from_its_text() -> None:
    files = {
        "tests/conftest.py": "import pytest\n@pytest.fixture(params=[1])\ndef one(request): pass\n",
        "tests/test_a.py": "def test_x(): pass\ndef test_y(one): pass\n",
        "tests/__init__.py": "",
        "tests/test_u.py": "import unittest\nclass T(unittest.TestCase):\n    def test_z(self): pass\n",
        "notes.txt": "",
    }
    listed = listing(state(files))
    assert set(listed("tests/test_a.py") or ()) == {"tests/test_a.py::test_x", "tests/test_a.py::test_y[*]"}
    assert set(listed("tests.test_u.T.test_z") or ()) == {"tests.test_u.T.test_z"}
    assert listed("tests/test_gone.py") is None
    assert listed("notes.txt") is None
