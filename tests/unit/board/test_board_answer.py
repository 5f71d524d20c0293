"""Holds what is worked on next, that the answers for "nothing" are never taken for each other, and by any sequence of
claims and moves: one holder at most, fences that only grow, no task ahead of what it waits for."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tallystick.board.answer import CODES, KINDS, next_of
from tallystick.board.circles import circle, missing
from tallystick.board.model import Board
from tallystick.errors import CODES as ERRORS
from tallystick.journal.record import Event
from tests.unit.board.boards import Table, chain, code, draft


@pytest.mark.requirement("F4.1")
def test_the_lowest_priority_number_whose_blockers_are_done_the_first_added_among_equals() -> None:
    table = Table(
        draft("late", priority=9), draft("b", "a", priority=1), draft("a", priority=5), draft("same", priority=5)
    )
    order = []
    while (task := table.next().task) is not None:
        order.append(task.id)
        table.claim(task.id)
        table.done(task.id)
    assert order == ["a", "b", "same", "late"]


@pytest.mark.requirement("F4.1")
def test_a_skipped_blocker_holds_nobody_up() -> None:
    table = Table(draft("a", status="skipped"), draft("b", "a"))
    answer = table.next()
    assert (answer.kind, answer.task and answer.task.id) == ("task", "b")


@pytest.mark.requirement("F4.2")
def test_finished_waiting_blocked_a_person_and_a_circle_are_different_answers() -> None:
    table = Table(*chain(["a", "b"]))
    table.claim("a")
    assert table.next()[0::2] == (
        "waiting",
        "a is being worked on, until 2026-05-21T00:01:00.000Z; 1 more is open",
    )
    table.second = 60
    assert table.next().kind == "task", "a lease that ran out makes it free"
    table.block("a", "bob")
    assert table.next()[0::2] == ("blocked", 'a is blocked: "no key"; 1 more waits behind')
    table.release("a")
    table.block("a", to="waiting")
    assert table.next()[0::2] == ("person", 'a waits for a person: "no key"; 1 more waits behind')
    table.release("a")
    for name in ("a", "b"):
        table.claim(name)
        table.done(name)
    assert table.next().kind == "finished"


@pytest.mark.requirement("F4.2")
def test_circles_and_lost_blockers_of_another_copy_are_named() -> None:
    table = Table(draft("a"))
    for name, blocker in (("x", "y"), ("y", "x"), ("z", "gone")):
        task = {**Table(draft(name)).records[0].data["task"], "blocked_by": [blocker]}
        table.commit(Event("task_added", {"task": task, "source": None}), ours=False)
    assert table.next().kind == "task", "a task that is free comes first"
    table.claim("a")
    assert table.next().kind == "waiting", "somebody works"
    table.done("a")
    assert table.next()[0::2] == ("cycle", 'z waits for "gone", which is not on the board')
    table.add(draft("gone"))
    table.claim("gone")
    table.done("gone")
    table.claim("z")
    table.done("z")
    answer = table.next()
    assert (answer.says, answer.tasks) == ("tasks wait for each other in a circle: x -> y -> x", ("x", "y", "x"))


def test_each_answer_that_is_none_has_its_own_exit_status() -> None:
    assert set(CODES) == set(KINDS) - {"task", "finished"}
    assert {kind: ERRORS[name].exit for kind, name in CODES.items()} == {
        "waiting": 3, "blocked": 5, "person": 6, "cycle": 8,
    }  # fmt: skip


STATUS = st.sampled_from(["pending", "in_progress", "completed", "blocked", "waiting", "skipped"])


@st.composite
def boards(draw: st.DrawFn) -> tuple[Board, str]:
    """Any board that records of anybody may leave: circles, blockers that are not there, leases run out or not."""
    table = Table(*(draft(f"t{at}", priority=draw(st.integers(1, 3))) for at in range(draw(st.integers(0, 6)))))
    names = [*table.state, "gone"]
    for name, task in table.state.items():
        blockers = tuple(draw(st.lists(st.sampled_from(names), max_size=2)))
        until = table.now if draw(st.booleans()) else "2027-01-01T00:00:00.000Z"
        table.state[name] = task._replace(status=draw(STATUS), blocked_by=blockers, until=until)
    return table.state, table.now


@pytest.mark.requirement("F4.1", "F4.2")
@given(boards())
def test_exactly_one_answer_applies(given: tuple[Board, str]) -> None:
    board, now = given
    left = {name for name, task in board.items() if not task.done}
    held = {name for name in left if board[name].held(now)}
    free = {
        name
        for name in left - held
        if board[name].status in ("pending", "in_progress")
        and all(one in board and board[one].done for one in board[name].blocked_by)
    }
    answer = next_of(board, now)
    if free:
        expected = "task"
        assert answer.task is not None
        assert answer.task.id in free
        assert answer.task.priority == min(board[name].priority for name in free)
    elif not left:
        expected = "finished"
    elif held:
        expected = "waiting"
    elif missing(board) or _circular(board, left):
        expected = "cycle"
    else:
        expected = "person" if any(board[name].status == "waiting" for name in left) else "blocked"
    assert answer.kind == expected
    assert (answer.task is not None) == (answer.kind == "task")


def _circular(board: Board, left: set[str]) -> bool:
    """By taking away, again and again, whoever waits for nobody."""
    rest = set(left)
    while gone := {name for name in rest if not rest & set(board[name].blocked_by)}:
        rest -= gone
    return bool(rest)


@given(boards())
def test_a_circle_is_found_where_there_is_one_and_is_one(given: tuple[Board, str]) -> None:
    board, _ = given
    found = circle(board)
    assert bool(found) == _circular(board, {name for name, task in board.items() if not task.done})
    assert found[:1] == found[-1:]
    assert all(after in board[name].blocked_by for name, after in pairwise(found))
    assert not any(board[name].done for name in found)


OWNERS = st.sampled_from(["ann", "bob"])
NAMES = st.sampled_from(["a", "b", "c", "d"])


class Work(RuleBasedStateMachine):
    """Two owners on one board, each with what it was told last, while time goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.table = Table(draft("a"), draft("b", "a"), draft("c", "a", priority=1), draft("d", "b", "c"))
        self.fences: dict[str, int] = {}
        self.told: dict[tuple[str, str], int] = {}

    @rule(owner=OWNERS, name=NAMES, lease=st.integers(1, 5))
    def claims(self, owner: str, name: str, lease: int) -> None:
        """Whoever gets a task is told a fence that nobody else was told."""
        before = self.table.tasks.get(name)
        if code(lambda: self.table.claim(name, owner, lease)):
            return
        assert before is not None
        fence = self.table.task(name).fence
        if before.held(self.table.now):
            assert (before.owner, before.fence) == (owner, fence), "it was somebody's"
        else:
            assert fence == self.fences.get(name, 0) + 1
            assert all(self.table.tasks[blocker].done for blocker in before.blocked_by)
        self.told[owner, name] = fence

    @rule(owner=OWNERS, name=NAMES, what=st.sampled_from(["done", "block", "release"]), shows=st.booleans())
    def writes(self, owner: str, name: str, what: str, shows: bool) -> None:
        """A write that is taken is one of the holder, or of a task that nobody holds."""
        before = self.table.tasks.get(name)
        fence = self.told.get((owner, name)) if shows else None
        work: Any = getattr(self.table, what)
        more = {"reason": "again"} if what == "release" else {}
        if code(lambda: work(name, owner, fence, **more)):
            return
        assert before is not None
        assert fence in (None, before.fence)
        if before.held(self.table.now):
            assert before.owner == owner
        if what == "done":
            assert (before.status, before.owner) == ("in_progress", owner)

    @rule(seconds=st.integers(1, 4))
    def time_goes_on(self, seconds: int) -> None:
        """Leases run out."""
        self.table.second += seconds

    @rule(name=NAMES)
    def goes_away(self, name: str) -> None:
        """A task is removed."""
        code(lambda: self.table.remove(name))

    @precondition(lambda self: "d" not in self.table.tasks and {"b", "c"} <= set(self.table.tasks))
    @rule()
    def comes_back(self) -> None:
        """A removed task is added again."""
        self.table.add(draft("d", "b", "c"))

    @invariant()
    def fences_only_grow(self) -> None:
        """Over all a task ever was."""
        for name, task in self.table.state.items():
            assert task.fence >= self.fences.get(name, 0)
            self.fences[name] = task.fence

    @invariant()
    def one_holder_at_most(self) -> None:
        """Whoever was told the present fence is the owner."""
        for task in self.table.tasks.values():
            assert len([owner for owner in ("ann", "bob") if self.told.get((owner, task.id)) == task.fence]) <= 1

    @invariant()
    def next_is_behind_nothing_that_is_open(self) -> None:
        """What is handed out can be claimed."""
        answer = self.table.next()
        if answer.task is not None:
            assert all(self.table.tasks[name].done for name in answer.task.blocked_by)
            assert not answer.task.held(self.table.now)

    @invariant()
    def a_checkpoint_holds_it_all(self) -> None:
        """What is loaded is what was kept."""
        kept = json.loads(json.dumps(self.table.fold.dump(self.table.state)))
        assert self.table.fold.load("checkout", kept) == self.table.state


def assert_holds(machine: type[RuleBasedStateMachine]) -> None:
    """Whatever is done, in whatever order, no rule and no invariant of the machine fails."""
    run_state_machine_as_test(machine)


@pytest.mark.requirement("F4.1", "F4.4")
def test_any_sequence_of_claims_moves_and_time() -> None:
    assert_holds(Work)
