"""Tasks and the fold: how records become the board of a feature. Pure.

A task is an immutable value, the board a table of them in the order of adding. A task that was removed stays in the
fold's table, out of sight: its fencing number must go on growing should its id come back, else a late holder of the
first could write to the second. Records of another key may add what is not there; what they say of a task is shown
as `elsewhere`, and never counts for a lease, a fence or a status here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from tallystick.canonical import Json
from tallystick.journal.record import Event, Record
from tallystick.limits import (
    COUNTER,
    DESCRIPTION_CHARACTERS,
    ERROR_CHARACTERS,
    ID_CHARACTERS,
    REASON_CHARACTERS,
    TASK_ENTRIES,
    TITLE_CHARACTERS,
)
from tallystick.moment import seconds_of

if TYPE_CHECKING:
    from tallystick.journal.snapshot import Snapshot
    from tallystick.journal.subjects import Subjects

SUBJECT = "board"
STATUSES = ("pending", "in_progress", "completed", "blocked", "waiting", "skipped")
#: What opens the way for the tasks behind: a task that was left out on purpose holds nobody up.
DONE = frozenset(("completed", "skipped"))
#: So many of the last errors are kept on a task; all of them stand in the journal.
ERRORS_KEPT = 10
_TASK_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_MOVES = frozenset(("completed", "blocked", "pending", "removed", "waiting", "skipped"))
#: The fields of a task that are lists of texts.
LISTS = ("files", "blocked_by", "acceptance_criteria")


class Task(NamedTuple):
    """One task. `priority` 1 comes first. `owner`, `until` and `fence` are its lease: the last claim's, `until` None
    where nobody holds it; `fence` counts the claims. `elsewhere`: the status that another copy says it has.
    """

    id: str
    title: str
    description: str
    priority: int
    status: str
    role: str | None
    skill: str | None
    files: tuple[str, ...]
    blocked_by: tuple[str, ...]
    acceptance_criteria: tuple[str, ...]
    owner: str | None
    until: str | None
    fence: int
    started_at: str | None
    completed_at: str | None
    error_log: tuple[str, ...]
    ours: bool
    order: int
    elsewhere: str | None = None

    @property
    def done(self) -> bool:
        """Whether nothing is left to do for it; no word about whether it passes."""
        return self.status in DONE

    def held(self, now: str) -> bool:
        """Whether somebody's lease on it runs at `now` (RFC 3339 as we write it, so text compares as time)."""
        return self.status == "in_progress" and self.until is not None and self.until > now


class Draft(NamedTuple):
    """A task as somebody proposes it; `id` "" is the next free one, `priority` None behind all. `status` is what a
    file said of it, `reason` why it stands still there.
    """

    id: str
    title: str
    description: str = ""
    priority: int | None = None
    role: str | None = None
    skill: str | None = None
    files: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    acceptance_criteria: tuple[str, ...] = ()
    status: str = "pending"
    reason: str | None = None


class Mark(NamedTuple):
    """Of a record: when it was written, its place among all of the feature, and whether our key sealed it."""

    at: str
    order: int
    ours: bool


Board = dict[str, Task]


def is_task_id(text: str) -> bool:
    """Whether `text` may name a task: letters, digits, '.', '_' and '-', a letter or digit first, 1-64."""
    return bool(_TASK_ID.match(text)) and len(text) <= ID_CHARACTERS


def every_task(snapshot: Snapshot[Subjects]) -> Board:
    """All tasks in a feature's state, removed ones too; only to be read."""
    board: Board = snapshot.state[SUBJECT]
    return board


def board_of(snapshot: Snapshot[Subjects]) -> Board:
    """The tasks on a feature's board, in the order of adding."""
    return live(every_task(snapshot))


def live(board: Board) -> Board:
    """The tasks of `board` that were not removed."""
    return {task.id: task for task in list(board.values()) if task.status != "removed"}


def applied(board: Board, events: Iterable[Event], now: str) -> Board:
    """The board as it will be once `events` are recorded at `now`; `board` itself stays as it is."""
    after = dict(board)
    order = max((task.order for task in after.values()), default=0)
    for event in events:
        order += 1
        _APPLY[event.type](after, event.data, Mark(now, order, True))
    return after


class BoardFold:
    """Folds `task_added`, `task_claimed`, `task_moved`."""

    version = "1"
    types = frozenset(("task_added", "task_claimed", "task_moved"))

    def empty(self, feature: str) -> Board:
        """No tasks."""
        return {}

    def copy(self, state: Board) -> Board:
        """The same tasks, in a table of its own."""
        return dict(state)

    def flaw(self, record: Record) -> str | None:
        """Why the record's payload is none of a board."""
        return _FLAW[record.type](record.data)

    def apply(self, state: Board, record: Record, ours: bool) -> None:
        """Take one record in."""
        _APPLY[record.type](state, record.data, Mark(record.at, record.n, ours))

    def dump(self, state: Board) -> Json:
        """For a checkpoint: positional, since it is read far more often than looked at."""
        return list(state.values())

    def load(self, feature: str, data: Json) -> Board:
        """From a checkpoint."""
        state: Board = {}
        make = Task._make
        for row in data:
            row[7], row[8], row[9], row[15] = tuple(row[7]), tuple(row[8]), tuple(row[9]), tuple(row[15])
            state[row[0]] = make(row)
        return state


def _add(state: Board, data: dict[str, Json], mark: Mark) -> None:
    """Our own definition takes the place of another key's; an id that was removed comes back with its fence."""
    given = data["task"]
    old = state.get(given["id"])
    if old is not None and (not mark.ours or (old.ours and old.status != "removed")):
        return
    task = Task(
        id=given["id"],
        title=given["title"],
        description=given["description"],
        priority=given["priority"],
        status="pending",
        role=given["role"],
        skill=given["skill"],
        files=tuple(given["files"]),
        blocked_by=tuple(given["blocked_by"]),
        acceptance_criteria=tuple(given["acceptance_criteria"]),
        owner=None,
        until=None,
        fence=0,
        started_at=None,
        completed_at=None,
        error_log=(),
        ours=mark.ours,
        order=mark.order,
    )
    if old is not None and old.status == "removed":
        del state[task.id]  # it is the last one again
        task = task._replace(fence=old.fence)
    elif old is not None:
        task = old._replace(**{key: getattr(task, key) for key in ("title", "description", *_DEFINED)}, ours=True)
    state[task.id] = task


_DEFINED = ("priority", "role", "skill", *LISTS)


def _claim(state: Board, data: dict[str, Json], mark: Mark) -> None:
    task = state.get(data["task"])
    if task is None or task.status == "removed":
        return
    if not mark.ours:
        state[task.id] = task._replace(elsewhere="in_progress")
        return
    state[task.id] = task._replace(
        status="in_progress",
        owner=data["owner"],
        until=data["until"],
        fence=data["fence"],
        started_at=task.started_at or mark.at,
        completed_at=None,
    )


def _move(state: Board, data: dict[str, Json], mark: Mark) -> None:
    task, to, reason = state.get(data["task"]), data["to"], data.get("reason")
    if task is None or task.status == "removed":
        return
    if not mark.ours:
        state[task.id] = task._replace(elsewhere=to)
        return
    errors = task.error_log
    if reason and to not in ("completed", "removed"):
        errors = (*errors, reason[:ERROR_CHARACTERS])[-ERRORS_KEPT:]
    state[task.id] = task._replace(
        status=to,
        owner=task.owner if to == "completed" else None,
        until=None,
        completed_at=mark.at if to == "completed" else None,
        error_log=errors,
    )


_APPLY = {"task_added": _add, "task_claimed": _claim, "task_moved": _move}


def _text(value: Json, most: int) -> bool:
    return type(value) is str and len(value) <= most


def _word(value: Json) -> bool:
    return value is None or _text(value, ID_CHARACTERS)


def _number(value: Json) -> bool:
    return type(value) is int and 0 <= value <= COUNTER


def _texts(value: Json) -> bool:
    return (
        type(value) is list
        and len(value) <= TASK_ENTRIES
        and all(_text(entry, DESCRIPTION_CHARACTERS) for entry in value)
    )


def _id(value: Json) -> bool:
    return type(value) is str and is_task_id(value)


def _flaw_of_added(data: dict[str, Json]) -> str | None:
    task = data.get("task")
    if type(task) is not dict:
        return "has no task"
    sound = {
        "id": _id(task.get("id")),
        "title": _text(task.get("title"), TITLE_CHARACTERS),
        "description": _text(task.get("description"), DESCRIPTION_CHARACTERS),
        "priority": _number(task.get("priority")),
        "role": "role" in task and _word(task["role"]),
        "skill": "skill" in task and _word(task["skill"]),
        **{key: _texts(task.get(key)) for key in LISTS},
    }
    return next((f"has a task whose {key} is none" for key, good in sound.items() if not good), None)


def _flaw_of_claimed(data: dict[str, Json]) -> str | None:
    until = data.get("until")
    sound = {
        "task": _id(data.get("task")),
        "owner": _text(data.get("owner"), ID_CHARACTERS),
        "fence": _number(data.get("fence")),
        "until": type(until) is str and seconds_of(until) is not None,
    }
    return next((f"has a {key} that no claim has" for key, good in sound.items() if not good), None)


def _flaw_of_moved(data: dict[str, Json]) -> str | None:
    fence, reason = data.get("fence"), data.get("reason")
    sound = {
        "task": _id(data.get("task")),
        "to": type(data.get("to")) is str and data["to"] in _MOVES,
        "fence": fence is None or _number(fence),
        "reason": reason is None or _text(reason, REASON_CHARACTERS),
    }
    return next((f"has a {key} that no move has" for key, good in sound.items() if not good), None)


_FLAW = {"task_added": _flaw_of_added, "task_claimed": _flaw_of_claimed, "task_moved": _flaw_of_moved}
