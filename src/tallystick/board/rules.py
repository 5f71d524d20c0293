"""The rules of the board: pure functions from the board (as locked) to the events that may follow, or a refusal.

A claim is a lease with an owner, an end and a fencing number that grows with each claim of a task. Whoever writes
shows its fence, or is the owner. A lease that ran out and that nobody claimed since may still be ended by its fence;
once somebody else claimed the task, the late holder is refused (`task.fenced`). Moments are RFC 3339 text as we write
it, so that text compares as time.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from tallystick.board.model import Board, Task, live
from tallystick.errors import Refusal
from tallystick.ids import escaped, shown, typed
from tallystick.journal.record import Event
from tallystick.ledger.model import Ledger
from tallystick.ledger.rules import said
from tallystick.limits import (
    ID_CHARACTERS,
)
from tallystick.moment import seconds_of, stamp

_NAMED = 5
_SHOWN = 8


class Hand(NamedTuple):
    """Who writes: an owner, or the session that its owners begin with; and the fencing number it shows, if any."""

    owner: str
    fence: int | None = None

    def owns(self, task: Task) -> bool:
        """Whether the last claim of `task` was by this owner, or by an owner of this session (`session/…`)."""
        return task.owner is not None and (task.owner == self.owner or task.owner.startswith(f"{self.owner}/"))


def later(now: str, seconds: float) -> str:
    """The moment so many seconds after `now`, both as text. Raises `ValueError` where `now` is no stamp of ours."""
    whole = seconds_of(now)
    if whole is None:
        raise ValueError(f"no moment: {now}")
    return stamp(int(whole) * 1_000_000_000 + int(now[-4:-1]) * 1_000_000 + round(seconds * 1000) * 1_000_000)


def claim(board: Board, name: str, hand: Hand, until: str, now: str) -> Event:
    """`task_claimed` until that moment, for the exact owner. Free is what is pending, or whose lease ran out; its
    blockers must be done. Who holds it already, by owner or fence, renews and keeps the fence; nobody else gets it
    ("task.taken").
    """
    task = known(board, name)
    owner = hand.owner
    if not owner or len(owner) > ID_CHARACTERS or owner != escaped(owner).strip():
        raise Refusal(
            "input.invalid",
            f"{shown(owner)} cannot own a task: 1 to {ID_CHARACTERS} printable characters, no blank at either end",
            "give --owner a name",
        )
    _at_fence(task, hand)
    if task.held(now):
        if hand.fence is None and task.owner != hand.owner:
            raise taken(task)
        return _claimed(task, str(task.owner), task.fence, max(until, str(task.until)))
    if task.status not in ("pending", "in_progress"):
        raise _not(task, "claimed")
    waits = _open_blockers(live(board), task)
    if waits:
        raise Refusal(
            "task.state", f"{task.id} waits for {names(waits)}", "`tallystick board next` names one that is free"
        )
    return _claimed(task, hand.owner, task.fence + 1, until)


def complete(board: Board, name: str, hand: Hand, now: str) -> Event:
    """`task_moved` to completed, by whoever holds it. That is a status: whether it passes is the ledger's word."""
    task = known(board, name)
    if not _holds(task, hand, now):
        raise _not(task, "completed")
    return moved(task.id, "completed", task.fence)


def stop(board: Board, name: str, hand: Hand, reason: str, now: str, to: str = "blocked") -> Event:
    """`task_moved` to blocked (or waiting, for a person), by its holder, or by anybody where nobody holds it."""
    task = known(board, name)
    if not _holds(task, hand, now) and task.status not in ("pending", "in_progress"):
        raise _not(task, to)
    return moved(task.id, to, hand.fence, said(reason, "the reason"))


def release(board: Board, name: str, hand: Hand, reason: str | None, now: str) -> Event:
    """`task_moved` to pending: it can go on, is given back by its holder, or, with a reason, is opened again."""
    task = known(board, name)
    held = _holds(task, hand, now)
    if not held and task.done and not (reason or "").strip():
        raise Refusal("task.state", f"{task.id} is {task.status}", "open it again with --reason TEXT")
    if not held and task.status == "pending":
        raise _not(task, "given back")
    return moved(task.id, "pending", hand.fence, said(reason, "the reason") if reason else None)


def renewals(board: Board, owner: str, until: str, least: str, now: str) -> list[Event]:
    """`task_claimed` anew for what `owner` holds, where the lease ends before `least`: each write of it renews."""
    return [
        _claimed(task, owner, task.fence, until)
        for task in list(board.values())
        if task.owner == owner and task.held(now) and str(task.until) < least
    ]


def passes(task: Task, ledger: Ledger, holds: Container[str]) -> bool:
    """Whether every criterion that binds the task holds (`holds`: the ids that do, in this tree), and one at least
    does bind it. A task that names none does not pass: no run of the test command is recorded for it, and nobody's
    word will do.
    """
    wanted = bound(task, ledger)
    return bool(wanted) and all(name in holds for name in wanted)


def bound(task: Task, ledger: Ledger) -> list[str]:
    """The criteria that bind a task: those of its `acceptance_criteria` that are open criteria of the ledger."""
    found = [ledger.find(text) for text in task.acceptance_criteria]
    return [one.id for one in found if one is not None and one.closed is None]


def known(board: Board, name: str) -> Task:
    """The task called `name`. Raises "task.unknown"."""
    task = board.get(name)
    if task is None or task.status == "removed":
        there = list(live(board))
        raise Refusal(
            "task.unknown",
            f"there is no task {shown(name)}; the board has {names(there) or 'none'}",
            "`tallystick board list` lists them" if there else "`tallystick board add TITLE` adds one",
        )
    return task


def taken(task: Task) -> Refusal:
    """The refusal for who does not hold a task that somebody holds."""
    return Refusal(
        "task.taken",
        f"{task.id} was taken by {shown(task.owner or '')}, until {task.until}",
        "`tallystick board next` names another; who holds it shows its fencing number",
        facts={"task": task.id, "owner": task.owner, "until": task.until},
    )


def _holds(task: Task, hand: Hand, now: str) -> bool:
    """Whether `hand` holds the task, also with a lease that ran out; False where nobody does.

    Raises "task.fenced" for a fence that is not the last one, "task.taken" where somebody else holds it.
    """
    _at_fence(task, hand)
    if task.status != "in_progress":
        return False
    if hand.fence is not None or hand.owns(task):
        return True
    if task.held(now):
        raise taken(task)
    return False


def _at_fence(task: Task, hand: Hand) -> None:
    if hand.fence is not None and hand.fence != task.fence:
        since = "was claimed since" if hand.fence < task.fence else "never had that fence"
        raise Refusal(
            "task.fenced",
            f"{task.id} {since}: you show fence {hand.fence}, it is at {task.fence}",
            "stop working on it; `tallystick board next` names another",
            facts={"task": task.id, "fence": task.fence},
        )


def _not(task: Task, what: str) -> Refusal:
    """The refusal for a task that is not in a state for that."""
    hints = {
        "pending": f"claim it first: `tallystick board claim {typed(task.id)}`",
        "in_progress": "its lease ran out: claim it, or show its fencing number",
        "blocked": f"`tallystick board unblock {typed(task.id)}` lets it go on",
        "waiting": f"a person decides; then `tallystick board unblock {typed(task.id)}`",
    }
    reason = f": {shown(task.error_log[-1])}" if task.status in ("blocked", "waiting") and task.error_log else ""
    return Refusal(
        "task.state",
        f"{task.id} is {task.status}{reason}; it cannot be {what}",
        hints.get(task.status, "nothing is left to do for it"),
        facts={"task": task.id, "status": task.status},
    )


def _open_blockers(board: Board, task: Task) -> list[str]:
    return [name for name in task.blocked_by if name not in board or not board[name].done]


def _claimed(task: Task, owner: str, fence: int, until: str) -> Event:
    return Event("task_claimed", {"task": task.id, "owner": owner, "fence": fence, "until": until})


def moved(name: str, to: str, fence: int | None, reason: str | None = None) -> Event:
    """`task_moved`."""
    return Event("task_moved", {"task": name, "to": to, "fence": fence, "reason": reason})


def names(ids: Sequence[str]) -> str:
    """`a, b, c … (12 in all)`."""
    more = f" … ({len(ids)} in all)" if len(ids) > _NAMED else ""
    return ", ".join(shown(name)[1:-1] for name in ids[:_NAMED]) + more
