"""Holds when a check is flaky: two runs of ours that had everything in common went two ways, one of them in a test's
own call; and that it stays so until something changes."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.canonical import Json
from tallystick.evidence.check_run import CheckRun
from tallystick.evidence.checks import Plan
from tallystick.evidence.model import LastRun, Runs, RunsFold, flaky_now
from tallystick.evidence.stack import Proof
from tallystick.evidence.verdict import RedTest, Verdict
from tallystick.journal.record import FIRST, By, Record
from tallystick.ledger import rules
from tallystick.ledger.model import Criterion, Draft, state_of
from tests.unit.ledger.ledgers import Book

DRAFT = Draft("AC1", "it works", ("tests: a.py::x",))
GREEN = LastRun("r-1", True, "", "shell", "d", "s", "e")
RED = GREEN._replace(run="r-2", green=False, called=True)


def test_green_then_red_with_everything_the_same_and_the_other_way_round() -> None:
    assert flaky_now(GREEN, RED)
    assert flaky_now(RED, GREEN)
    assert not flaky_now(GREEN, GREEN)
    assert not flaky_now(RED, RED)
    assert not flaky_now(None, RED)


@pytest.mark.parametrize(
    "before",
    [GREEN._replace(digest="other"), GREEN._replace(state="other"), GREEN._replace(environment="other")],
    ids=["digest", "state", "environment"],
)
def test_what_changed_may_go_another_way(before: LastRun) -> None:
    assert not flaky_now(before, RED)
    assert not flaky_now(before._replace(flaky=True), RED)


def test_a_state_that_nobody_knows_accuses_no_test() -> None:
    assert not flaky_now(GREEN._replace(state=""), RED._replace(state=""))


def test_what_failed_outside_the_call_lies_in_what_it_ran_in() -> None:
    assert not flaky_now(GREEN, RED._replace(called=False))
    assert not flaky_now(RED._replace(called=False), GREEN._replace(called=True))


def test_it_stays_so_while_nothing_changes() -> None:
    assert flaky_now(GREEN._replace(flaky=True), GREEN)


RUNS = st.lists(
    st.tuples(st.booleans(), st.booleans(), st.sampled_from("de"), st.sampled_from("st")), min_size=1, max_size=12
)


def record(green: bool, called: bool, digest: str, state: str, number: int) -> Record:
    """A run about AC1."""
    data: dict[str, Json] = {
        "run": f"r-{number}",
        "verdicts": {"AC1": "green" if green else "red"},
        "called": ["AC1"] if called and not green else [],
        "digests": {"AC1": digest},
        "state": state,
        "commit": f"c{number}",
        "environment": "e",
    }
    ident = f"{number:064x}"
    at = f"2026-05-21T00:00:{number:02}Z"
    return Record(
        "5" * 32, "f", "a" * 32, number, (1, 1), number, ident, FIRST, {}, at, By("shell"), "run_recorded", data
    )


def folded(rows: list[tuple[bool, bool, str, str]]) -> Runs:
    """The state after these runs."""
    fold, runs = RunsFold(), RunsFold().empty("f")
    for number, row in enumerate(rows, 1):
        fold.apply(runs, record(*row, number), True)
    return runs


@given(RUNS)
def test_the_journal_says_flaky_where_two_of_its_runs_did_since_the_last_change(
    rows: list[tuple[bool, bool, str, str]],
) -> None:
    last = folded(rows)["AC1"]
    same: list[tuple[bool, bool]] = []
    for green, called, digest, state in reversed(rows):
        if (digest, state) != rows[-1][2:]:
            break
        same.insert(0, (green, called and not green))
    both = [(one, other) for one, other in pairwise(same) if one[0] != other[0]]
    assert last.flaky == any((one if not one[0] else other)[1] for one, other in both)


@given(RUNS)
def test_since_is_the_commit_of_the_first_run_that_went_like_the_last(rows: list[tuple[bool, bool, str, str]]) -> None:
    at = len(rows)
    while at > 1 and (rows[at - 2][0], rows[at - 2][2]) == (rows[-1][0], rows[-1][2]):
        at -= 1
    assert folded(rows)["AC1"].since == f"c{at}"


@given(RUNS)
def test_a_checkpoint_holds_all_of_it(rows: list[tuple[bool, bool, str, str]]) -> None:
    runs = folded(rows)
    assert RunsFold().load("f", json.loads(json.dumps(RunsFold().dump(runs)))) == runs


def test_another_keys_run_is_not_remembered() -> None:
    runs = RunsFold().empty("f")
    RunsFold().apply(runs, record(True, False, "d", "s", 1), False)
    assert runs == {}


@pytest.mark.parametrize(
    ("outcome", "phase", "called"),
    [("failed", "call", True), ("error", "setup", False), ("unfinished", "call", False), ("skipped", "call", False)],
)
def test_a_failure_in_the_call_is_told_from_one_around_it(outcome: str, phase: str, called: bool) -> None:
    red = RedTest("a.py::x", "no", "a.py", 1, outcome, phase, "AssertionError")
    proofs = {"AC1": Proof(Verdict("red", (), (red,), (), (), 1), "claimed")}
    criterion = Criterion(*DRAFT, DRAFT.digest)
    ran = CheckRun("r-1", Plan((), {}, {}), (), {"AC1": criterion}, proofs, 0.0, "t", "s", "e", "none", 0, True)
    assert ran.last("AC1", "shell") == LastRun("r-1", False, "", "shell", DRAFT.digest, "s", "e", called)


@pytest.mark.parametrize("first", ["pass", "fail"])
def test_a_flaky_criterion_is_called_so_and_holds_after_a_pass_that_is_none(first: str) -> None:
    book = Book((DRAFT,))

    def mark(flaky: bool, *, passes: bool) -> None:
        seen = rules.open_criterion(book.ledger, "AC1")
        event = (
            rules.mark_pass(book.ledger, seen, "run:r-1", "ran", [], True)
            if passes
            else rules.mark_failure(book.ledger, "AC1", "red")
        )
        book.commit(event._replace(data={**event.data, "flaky": flaky}))

    mark(False, passes=True)
    mark(True, passes=first == "pass")
    assert state_of(book.ledger.criteria["AC1"], changed=True) == "flaky"
    mark(False, passes=True)
    assert state_of(book.ledger.criteria["AC1"], changed=False) == "holds"
