"""Holds the rules of the board: leases and fences, who may write to a task, what may be put on the board and taken off,
and when a task passes."""

from __future__ import annotations

import pytest

from tallystick.board import plan, rules
from tallystick.board.model import Draft
from tallystick.board.rules import Hand
from tallystick.errors import Refusal
from tallystick.ledger import rules as ledger_rules
from tallystick.limits import LEASE_S, TASKS, TITLE_CHARACTERS
from tests.unit.board.boards import Table, chain, code, draft
from tests.unit.ledger.ledgers import Book


@pytest.mark.requirement("F4.4")
def test_a_claim_is_a_lease_with_owner_end_and_fence() -> None:
    table = Table(draft("a"))
    assert table.claim("a", "ann", LEASE_S) == 1
    task = table.task("a")
    assert (task.status, task.owner, task.until) == ("in_progress", "ann", "2026-05-21T00:30:00.000Z")
    assert code(lambda: table.claim("a", "bob")) == "task.taken"
    table.second = LEASE_S  # it ran out this very moment
    assert table.claim("a", "bob") == 2


@pytest.mark.requirement("F4.4")
def test_a_holder_that_claims_again_renews_and_keeps_the_fence() -> None:
    table = Table(draft("a"))
    table.claim("a", "ann", 60)
    table.second = 30
    assert table.claim("a", "ann", 60) == 1
    assert table.task("a").until == "2026-05-21T00:01:30.000Z"
    assert table.claim("a", "somebody", 10, fence=1) == 1, "the fence shows the holder as well"
    assert (table.task("a").owner, table.task("a").until) == ("ann", "2026-05-21T00:01:30.000Z"), "never shorter"
    table.second = 200
    assert table.claim("a", "ann") == 2, "a lease that ran out is claimed anew"


@pytest.mark.requirement("F4.4")
def test_what_an_owner_holds_is_renewed_by_its_writes() -> None:
    table = Table(draft("a"), draft("b"), draft("c"), draft("d"))
    for name, lease in (("a", 10), ("b", 1000), ("c", 10)):
        table.claim(name, "ann" if name != "c" else "bob", lease)
    table.second = 5
    events = rules.renewals(table.state, "ann", rules.later(table.now, 100), rules.later(table.now, 50), table.now)
    assert [event.data["task"] for event in events] == ["a"]
    table.commit(*events)
    assert (table.task("a").fence, table.task("a").until) == (1, "2026-05-21T00:01:45.000Z")
    table.second = 500
    assert rules.renewals(table.state, "ann", rules.later(table.now, 9), rules.later(table.now, 9), table.now) == []


@pytest.mark.requirement("F4.4")
def test_a_late_holder_is_refused_by_its_fence_once_another_claimed() -> None:
    table = Table(draft("a"))
    fence = table.claim("a", "ann")
    table.second = 100
    table.claim("a", "bob")
    for late in (
        lambda: table.done("a", "ann", fence),
        lambda: table.block("a", "ann", fence),
        lambda: table.release("a", "ann", fence),
        lambda: table.claim("a", "ann", fence=fence),
    ):
        assert code(late) == "task.fenced"
    assert code(lambda: table.done("a", "bob", 3)) == "task.fenced", "nor is a fence taken that was never given"
    table.done("a", "bob", 2)
    assert code(lambda: table.done("a", "ann", fence)) == "task.fenced"


def test_a_lease_that_ran_out_may_be_ended_while_nobody_claimed_since() -> None:
    table = Table(draft("a"), draft("b"))
    table.claim("a", "ann")
    table.claim("b", "ann")
    table.second = 100
    table.done("a", fence=1)
    table.done("b", "ann")
    assert table.next().kind == "finished"


def test_without_a_fence_the_last_claim_must_be_of_the_same_owner_or_session() -> None:
    table = Table(draft("a"), draft("b"))
    table.claim("a", "shell-7/9f2c")
    assert code(lambda: table.done("a", "shell-8")) == "task.taken"
    assert code(lambda: table.done("a", "shell")) == "task.taken", "a session is no mere prefix"
    table.done("a", "shell-7")
    table.claim("b", "ann")
    table.second = 100
    assert code(lambda: table.done("b", "bob")) == "task.state", "its lease ran out, which makes nobody its holder"
    table.block("b", "bob")
    assert table.task("b").status == "blocked"


def test_a_task_is_claimed_before_it_is_completed_and_ended_once() -> None:
    table = Table(*chain(["a", "b"]))
    assert code(lambda: table.done("a")) == "task.state"
    assert code(lambda: table.claim("b")) == "task.state", "what it waits for is not done"
    table.claim("a")
    table.done("a")
    for again in (lambda: table.done("a"), lambda: table.claim("a"), lambda: table.block("a")):
        assert code(again) == "task.state"
    assert (table.task("a").owner, table.task("a").until) == ("ann", None)


def test_blocked_goes_on_and_completed_is_opened_again_with_a_reason() -> None:
    table = Table(draft("a"))
    assert code(lambda: table.release("a")) == "task.state"
    table.block("a")
    assert code(lambda: table.claim("a")) == "task.state"
    table.release("a")
    assert table.claim("a") == 1
    table.release("a")
    assert (table.task("a").status, table.task("a").owner) == ("pending", None)
    assert code(lambda: table.done("a", fence=1)) == "task.state", "it was given back"
    table.claim("a")
    table.done("a")
    assert code(lambda: table.release("a")) == "task.state"
    table.release("a", reason="the reviewer sends it back")
    assert table.task("a").error_log == ("no key", "the reviewer sends it back")
    assert code(lambda: table.done("a", fence=2)) == "task.state"
    assert table.claim("a") == 3


def test_a_reason_is_said_and_within_its_limit() -> None:
    table = Table(draft("a"))
    for reason in ("", " \n", "x" * 2001, "\ud800"):
        assert code(lambda text=reason: rules.stop(table.state, "a", Hand("ann"), text, table.now)).startswith("input.")


def test_a_task_that_others_wait_for_is_removed_with_them_or_not_at_all() -> None:
    table = Table(*chain(["a", "b", "c"]), draft("d"))
    with pytest.raises(Refusal, match="b, c wait for a") as refused:
        table.remove("a")
    assert (refused.value.code, refused.value.facts) == ("task.state", {"dependants": ["b", "c"]})
    table.remove("c")
    table.claim("a")
    assert code(lambda: table.remove("a", True)) == "task.taken", "somebody works on it"
    table.second = 100
    table.remove("a", True)
    assert list(table.tasks) == ["d"]
    assert code(lambda: table.claim("a")) == "task.unknown"


def test_an_id_that_comes_back_keeps_its_fence() -> None:
    table = Table(draft("a"), draft("b"))
    table.claim("a")
    table.second = 100
    table.remove("a")
    table.add(draft("a"))
    assert list(table.tasks) == ["b", "a"]
    assert table.claim("a", "bob") == 2
    assert code(lambda: table.done("a", "ann", 1)) == "task.fenced"


@pytest.mark.parametrize(
    "name",
    ["", " a", "-a", "--fence", ".a", "a b", "a/b", "../a", "a\nb", 'a"b', "a'b", "é", "a\0", "x" * 65, "\u202ea"],
)
def test_what_cannot_name_a_task(name: str) -> None:
    assert code(lambda: plan.check(Draft(name, "title"))) == "input.invalid"


@pytest.mark.parametrize("name", ["task-001", "T1", "a", "0", "a.b_c-d", "x" * 64])
def test_what_can_name_a_task(name: str) -> None:
    assert Table(Draft(name, "title")).claim(name) == 1


@pytest.mark.parametrize(
    "owner", ["", " ann", "ann ", "a\nb", "a\x1b[2J", "\u202eann", "x" * 65, "a\ud800"], ids=range(8)
)
def test_what_cannot_own_a_task(owner: str) -> None:
    table = Table(draft("a"))
    assert code(lambda: table.claim("a", owner)) == "input.invalid"


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (Draft("a", " \n"), "input.invalid"),
        (Draft("a", "x" * (TITLE_CHARACTERS + 1)), "input.too_large"),
        (Draft("a", "\ud800"), "input.invalid"),
        (Draft("a", "t", priority=-1), "input.invalid"),
        (Draft("a", "t", files=("",)), "input.invalid"),
        (Draft("a", "t", files=("f",) * 1001), "input.too_large"),
        (Draft("a", "t", role="r" * 65), "input.too_large"),
        (Draft("a", "t", blocked_by=("a",)), "input.invalid"),
        (Draft("a", "t", blocked_by=("b",)), "input.invalid"),
    ],
)
def test_what_is_not_put_on_a_board(wrong: Draft, expected: str) -> None:
    assert code(lambda: Table(wrong)) == expected


def test_ids_are_used_once_also_by_case() -> None:
    table = Table(draft("a"))
    assert code(lambda: table.add(draft("a"))) == "task.exists"
    assert code(lambda: table.add(draft("A"))) == "task.exists"
    assert code(lambda: table.add(draft("b"), draft("B"))) == "input.invalid"
    assert list(table.tasks) == ["a"]


def test_a_circle_is_refused_and_named() -> None:
    with pytest.raises(Refusal, match="b -> c -> d -> b") as refused:
        Table(draft("a"), draft("b", "a", "c"), draft("c", "d"), draft("d", "a", "b"))
    assert refused.value.facts == {"circle": ["b", "c", "d", "b"]}


def test_a_chain_of_all_tasks_that_a_board_may_have_is_no_circle_and_needs_no_recursion() -> None:
    names = [f"t{number}" for number in range(TASKS)]
    events = plan.add({}, list(reversed(chain(names))), None, "2026-05-21T00:00:00.000Z")
    assert len(events) == TASKS
    assert code(lambda: plan.add({}, [*chain(names), draft("more")], None, "")) == "input.too_large"


def test_ids_and_priorities_are_filled_in() -> None:
    table = Table(Draft("", "first", priority=3), Draft("task-007", "t"), Draft("", "second"))
    table.remove("task-001")
    table.add(Draft("", "third"))
    assert [(task.id, task.priority) for task in table.tasks.values()] == [
        ("task-007", 1),
        ("task-002", 1),
        ("task-008", 1),
    ]


@pytest.mark.requirement("F4.3")
def test_a_task_passes_when_all_criteria_that_bind_it_hold() -> None:
    ledger = Book().ledger
    table = Table(
        draft("one", acceptance_criteria=("AC1", "looks good")),
        draft("two", acceptance_criteria=("ac1", "AC2")),
        draft("words", acceptance_criteria=("looks good",)),
        draft("none"),
    )
    for name in table.tasks:
        table.claim(name)
        table.done(name)

    def passing(*holds: str) -> list[str]:
        return [task.id for task in table.tasks.values() if rules.passes(task, ledger, holds)]

    assert passing() == [], "completed is a status, not a pass"
    assert passing("AC1") == ["one"]
    assert passing("AC1", "AC2", "AC3") == ["one", "two"]


@pytest.mark.requirement("F4.3")
def test_a_closed_criterion_binds_no_task() -> None:
    book = Book()
    table = Table(draft("a", acceptance_criteria=("AC1", "AC2")), draft("b", acceptance_criteria=("AC2",)))
    book.commit(ledger_rules.close(book.ledger, "AC2", "left out"))
    assert [rules.passes(task, book.ledger, {"AC1"}) for task in table.tasks.values()] == [True, False]


def test_later_keeps_the_milliseconds() -> None:
    assert rules.later("2026-05-21T23:59:59.999Z", 1.5) == "2026-05-22T00:00:01.499Z"
    with pytest.raises(ValueError, match="no moment"):
        rules.later("soon", 1)
