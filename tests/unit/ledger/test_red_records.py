"""Holds what records of a red become: ours counts, another copy's can be made again, one without ids tells a birth;
what a person let stand; and that a checkpoint and a record that comes before its criterion lose nothing of it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.journal.record import Event
from tallystick.ledger import rules
from tallystick.ledger.fold import LedgerFold
from tallystick.ledger.model import Criterion, Draft, Ledger, Red, below, least_level, state_of
from tallystick.ledger.payload import flaw
from tests.unit.ledger.ledgers import FEATURE, Book

DRAFT = Draft("AC1", "it works", ("tests: a.py::x",))
LOCK, OTHER_LOCK, WAS, DIFF = ("1" * 64, "2" * 64, "3" * 64, "4" * 64)
RED = Red("r-1", DRAFT.digest, "t" * 40, "c" * 40, LOCK, ("a.py::x",))


def book() -> Book:
    return Book((DRAFT,))


def seen(book: Book, red: Red = RED, *, ours: bool = True) -> Criterion:
    """Record a red; the criterion then."""
    book.commit(rules.red_seen(book.ledger, book.ledger.criteria["AC1"], red), ours=ours)
    return book.ledger.criteria["AC1"]


def passed(book: Book, level: str = "proven", *, ours: bool = True, **more: object) -> Criterion:
    """Record a pass; the criterion then."""
    event = rules.mark_pass(book.ledger, book.ledger.criteria["AC1"], "run:r-2", level, [], True)
    book.commit(Event(event.type, {**event.data, **more}), ours=ours)
    return book.ledger.criteria["AC1"]


def test_ours_counts_and_another_copys_is_only_seen() -> None:
    assert seen(book()).red == RED
    there = seen(book(), ours=False)
    assert (there.red, there.seen, there.passes) == (None, RED, False)


def test_both_stand_beside_each_other() -> None:
    ledger = book()
    seen(ledger, RED._replace(run="r-9"), ours=False)
    criterion = seen(ledger)
    assert (criterion.red, criterion.seen) == (RED, RED._replace(run="r-9"))


@pytest.mark.parametrize("ours", [True, False])
def test_what_a_pass_kept_belongs_to_the_red_of_its_side(ours: bool) -> None:
    ledger = book()
    seen(ledger, ours=ours)
    criterion = passed(ledger, ours=ours, was=WAS)
    red = criterion.red if ours else criterion.seen
    assert red == RED._replace(was=WAS)
    other = book()
    seen(other, ours=not ours)
    criterion = passed(other, ours=ours, was=WAS)
    assert (criterion.red if not ours else criterion.seen) == RED, "not of the other side"


def test_a_birth_is_told_by_ours_alone_and_for_that_text_alone() -> None:
    birth = RED._replace(ids=(), lock="")
    assert seen(book(), birth).born_green
    assert not seen(book(), birth, ours=False).born_green
    ledger = book()
    event = rules.red_seen(ledger.ledger, ledger.ledger.criteria["AC1"], birth)
    ledger.commit(Event(event.type, {**event.data, "digest": "0" * 64}))
    assert not ledger.ledger.criteria["AC1"].born_green


def test_an_amendment_drops_the_pass_and_keeps_red_and_birth() -> None:
    ledger = book()
    seen(ledger, RED._replace(ids=(), lock=""))
    seen(ledger)
    passed(ledger)
    ledger.commit(rules.amend(ledger.ledger, "AC1", None, ("tests: b.py::x",), "renamed"))
    criterion = ledger.ledger.criteria["AC1"]
    assert (criterion.passes, criterion.level, criterion.red, criterion.born_green) == (False, "claimed", RED, True)


def test_what_nobody_looked_at_yet_adds_up_until_a_person_does() -> None:
    ledger = book()
    seen(ledger, RED._replace(moved=("a.py",), diff=DIFF))
    red = seen(ledger, RED._replace(moved=("b.py", "a.py"), diff=DIFF)).red
    assert red is not None
    assert (red.moved, red.diff) == (("a.py", "b.py"), DIFF)
    ledger.commit(rules.accept_tests(ledger.ledger, "AC1", LOCK, "looked at it"), role="user")
    criterion = ledger.ledger.criteria["AC1"]
    assert criterion.red is not None
    assert (criterion.red.moved, criterion.red.diff, criterion.accepted) == ((), None, LOCK)


def test_what_stands_as_it_was_red_cannot_be_accepted() -> None:
    for red, lock in ((None, OTHER_LOCK), (RED, LOCK), (RED, None)):
        ledger = book()
        if red is not None:
            seen(ledger, red)
        with pytest.raises(Refusal) as caught:
            rules.accept_tests(ledger.ledger, "AC1", lock, "looked at it")
        assert caught.value.code == "criterion.unknown"
    ledger = book()
    seen(ledger)
    assert rules.accept_tests(ledger.ledger, "AC1", OTHER_LOCK, "looked at it").data["lock"] == OTHER_LOCK


def test_a_red_for_a_text_that_was_amended_meanwhile_is_not_recorded() -> None:
    ledger = book()
    before = ledger.ledger.criteria["AC1"]
    ledger.commit(rules.amend(ledger.ledger, "AC1", "better", False, "said better"))
    with pytest.raises(Refusal) as caught:
        rules.red_seen(ledger.ledger, before, RED)
    assert caught.value.code == "criterion.amended"


def test_an_acceptance_of_another_key_lets_nothing_stand() -> None:
    ledger = book()
    seen(ledger)
    ledger.commit(rules.accept_tests(ledger.ledger, "AC1", OTHER_LOCK, "x"), ours=False)
    assert ledger.ledger.criteria["AC1"].accepted is None


def test_what_comes_before_its_criterion_takes_hold_with_it() -> None:
    whole = book()
    seen(whole, RED._replace(moved=("a.py",), diff=DIFF))
    passed(whole, was=WAS)
    whole.commit(rules.accept_tests(whole.ledger, "AC1", OTHER_LOCK, "looked at it"), role="user")
    fold, late = LedgerFold(), Ledger(FEATURE)
    for record in whole.records[1:]:
        fold.apply(late, record, True)
    assert late.criteria == {}
    late = fold.load(FEATURE, json.loads(json.dumps(fold.dump(late))))
    fold.apply(late, whole.records[0], False)
    assert late.criteria["AC1"]._replace(foreign=False) == whole.ledger.criteria["AC1"]


ACTS = st.lists(
    st.sampled_from(["red", "their red", "moved", "birth", "pass", "their pass", "fail", "accept", "amend"]), max_size=9
)


@given(ACTS)
def test_a_checkpoint_holds_all_of_it(acts: list[str]) -> None:
    ledger = book()
    for number, act in enumerate(acts):
        red = RED._replace(run=f"r-{number}", digest=ledger.ledger.criteria["AC1"].digest)
        if act in ("red", "their red"):
            seen(ledger, red, ours=act == "red")
        elif act == "moved":
            seen(ledger, red._replace(moved=(f"{number}.py",), diff=DIFF))
        elif act == "birth":
            seen(ledger, red._replace(ids=(), lock=""))
        elif act in ("pass", "their pass"):
            passed(ledger, ours=act == "pass", was=WAS, flaky=number % 2 == 0)
        elif act == "fail":
            ledger.fail("AC1")
        elif act == "amend":
            ledger.commit(rules.amend(ledger.ledger, "AC1", f"text {number}", False, "said better"))
        elif ledger.ledger.criteria["AC1"].red is not None:
            ledger.commit(rules.accept_tests(ledger.ledger, "AC1", OTHER_LOCK, "looked at it"), role="user")
    fold = LedgerFold()
    loaded = fold.load(FEATURE, json.loads(json.dumps(fold.dump(ledger.ledger))))
    assert loaded.criteria == ledger.ledger.criteria
    assert all(isinstance(one, Red | None) for row in loaded.criteria.values() for one in (row.red, row.seen))
    assert fold.copy(loaded).criteria == loaded.criteria


LEVEL = st.sampled_from(["ran", "proven"])


@given(LEVEL, st.booleans(), st.sampled_from(["auto", "ran", "proven"]), st.booleans())
def test_a_level_counts_as_the_policy_says(level: str, red: bool, checked: str, changed: bool) -> None:
    criterion = Criterion(*DRAFT, DRAFT.digest, passes=True, level=level, red=RED if red else None)
    wanted = {"auto": "proven" if red else "ran"}.get(checked, checked)
    assert least_level(criterion, checked) == wanted
    low = (level, wanted) == ("ran", "proven")
    assert below(criterion, checked) is low
    assert state_of(criterion, changed, checked) == ("stale" if changed else "failing" if low else "holds")
    assert state_of(criterion._replace(flaky=True), changed, checked) == "flaky"
    assert state_of(criterion._replace(regressed=True), changed, checked) == "regressed"
    assert state_of(criterion._replace(override="seen"), changed, checked) == "overridden"


@pytest.mark.parametrize("level", ["claimed", "cited", "challenged"])
def test_the_policy_for_checks_asks_nothing_of_other_levels(level: str) -> None:
    criterion = Criterion(*DRAFT, DRAFT.digest, passes=True, level=level, red=RED)
    assert state_of(criterion, False, "proven") == "holds"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("ids", "a.py::x"),
        ("ids", [7]),
        ("ids", None),
        ("lock", "../x"),
        ("lock", 7),
        ("lock", None),
        ("tree", None),
        ("commit", 7),
        ("moved", "a.py"),
        ("moved", [None]),
        ("diff", "../x"),
        ("run", 7),
        ("digest", "x"),
        ("criterion", 7),
    ],
)
def test_a_payload_of_no_red_is_named(field: str, value: object) -> None:
    data = rules.red_seen(book().ledger, book().ledger.criteria["AC1"], RED).data
    assert flaw("red_seen", data) is None
    assert field in (flaw("red_seen", {**data, field: value}) or "")
