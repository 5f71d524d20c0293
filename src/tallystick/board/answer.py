"""What to work on next, and why there is nothing: five answers that are never taken for each other. Pure.

Nothing to work on is not the same as finished. In this order, the first that applies:

| kind | when |
| --- | --- |
| task | a task is free (pending, or its lease ran out) and all its blockers are done (completed or skipped) |
| finished | every task is done |
| waiting | somebody holds a task: something may become free without anybody's help |
| cycle | tasks wait for each other in a circle, or for one that is not there: that never resolves |
| person | a task waits for a person |
| blocked | a task is blocked, and whatever else is open waits for such |
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallystick.board.circles import circle, missing
from tallystick.board.model import Board, Task
from tallystick.ids import shown

KINDS = ("task", "finished", "waiting", "cycle", "person", "blocked")
#: The code of each answer that is none of a task, as errors and exit statuses know it.
CODES = {"waiting": "task.waiting", "cycle": "task.cycle", "person": "task.person", "blocked": "task.blocked"}
_NAMED = 3


class Answer(NamedTuple):
    """One of `KINDS`; `task` where there is one to work on, `says` in a line why there is none, `tasks` whom that
    line is about (a circle comes in its order, its first again at the end).
    """

    kind: str
    task: Task | None
    says: str
    tasks: tuple[str, ...] = ()


def next_of(board: Board, now: str) -> Answer:
    """The task with the lowest priority number that is free and whose blockers are done, the first added among
    equals; else why there is none.
    """
    done = {task.id for task in board.values() if task.done}
    left = [task for task in board.values() if task.id not in done]
    ready = [task for task in left if _free(task, now) and all(name in done for name in task.blocked_by)]
    if ready:
        return Answer("task", min(ready, key=lambda task: (task.priority, task.order, task.id)), "")
    if not left:
        return Answer("finished", None, f"nothing is left to do: {len(done)} of {len(board)} tasks are done")
    held = [task for task in left if task.held(now)]
    if held:
        rest = len(left) - len(held)
        more = f"; {rest} more {'is' if rest == 1 else 'are'} open" if rest else ""
        says = f"{_listed(held)} {_are(held)} being worked on, until {max(str(task.until) for task in held)}{more}"
        return Answer("waiting", None, says, tuple(task.id for task in held))
    return _stuck(board, left)


def _stuck(board: Board, left: Sequence[Task]) -> Answer:
    lost = missing(board)
    if lost:
        name, blocker = lost[0]
        says = f"{name} waits for {shown(blocker)}, which is not on the board"
        return Answer("cycle", None, says, tuple(dict.fromkeys(one for one, _ in lost)))
    found = circle(board)
    if found:
        way = found if len(found) <= 8 else [*found[:7], "…", found[-1]]
        return Answer("cycle", None, f"tasks wait for each other in a circle: {' -> '.join(way)}", tuple(found))
    for status, kind in (("waiting", "person"), ("blocked", "blocked")):
        stopped = [task for task in left if task.status == status]
        if stopped:
            return Answer(kind, None, _stopped(kind, stopped, len(left)), tuple(task.id for task in stopped))
    raise AssertionError("a board without a circle has a task that waits for none")


def _stopped(kind: str, stopped: Sequence[Task], left: int) -> str:
    verb = f"{_are(stopped)} blocked"
    if kind == "person":
        verb = f"wait{'s' if len(stopped) == 1 else ''} for a person"
    reason = f": {shown(stopped[0].error_log[-1], 200)}" if stopped[0].error_log else ""
    behind = left - len(stopped)
    more = f"; {behind} more wait{'s' if behind == 1 else ''} behind" if behind else ""
    return f"{_listed(stopped)} {verb}{reason}{more}"


def _free(task: Task, now: str) -> bool:
    return task.status == "pending" or (task.status == "in_progress" and not task.held(now))


def _are(tasks: Sequence[Task]) -> str:
    return "is" if len(tasks) == 1 else "are"


def _listed(tasks: Sequence[Task]) -> str:
    names = ", ".join(task.id for task in tasks[:_NAMED])
    return names if len(tasks) <= _NAMED else f"{names} and {len(tasks) - _NAMED} more"
