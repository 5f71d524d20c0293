"""What may be put on a board and taken off it: pure functions from the board to the events that may follow, or a
refusal. Whatever is added waits only for what is there, and closes no circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tallystick.board.circles import circle, missing
from tallystick.board.model import LISTS, Board, Draft, Task, applied, is_task_id, live
from tallystick.board.rules import known, moved, names, taken
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.ids import shown, typed
from tallystick.journal.record import Event
from tallystick.ledger.rules import encodable
from tallystick.limits import (
    COUNTER,
    DESCRIPTION_CHARACTERS,
    ID_CHARACTERS,
    TASK_ENTRIES,
    TASKS,
    TITLE_CHARACTERS,
)

_SHOWN = 8


def add(board: Board, drafts: Sequence[Draft], source: str | None, now: str) -> list[Event]:
    """`task_added` for each draft, and `task_moved` where a file says that it is done or stands still.

    Refuses an id that is taken ("task.exists"), a blocker that is not there and a circle, both named ("input.invalid").
    A status of somebody else's file opens the way for what is behind; it passes nothing.
    """
    there = live(board)
    if len(there) + len(drafts) > TASKS:
        raise Refusal("input.too_large", f"{len(there) + len(drafts):,} tasks, the limit is {TASKS:,}", "split it")
    if not drafts:
        raise Refusal("input.invalid", "no task was found", "`tallystick board add TITLE` adds one")
    ids = {name.lower() for name in there}
    again = [draft.id for draft in drafts if draft.id.lower() in ids]
    if again:
        raise Refusal(
            "task.exists",
            f"{names(again)} {'is' if len(again) == 1 else 'are'} on the board already; nothing was added",
            "choose another id, or take the old one off with `tallystick board remove`",
        )
    added: list[Event] = []
    stands: list[Event] = []
    behind = max((task.priority for task in there.values()), default=1)
    number = 0
    for draft in drafts:
        if not draft.id:
            number = _free(board, number)
            draft = draft._replace(id=f"task-{number:03d}")
        check(draft)
        if draft.id.lower() in ids:
            raise Refusal("input.invalid", f"the task {draft.id} stands there twice", "give each its own id")
        ids.add(draft.id.lower())
        priority = behind if draft.priority is None else draft.priority
        added.append(Event("task_added", {"task": document(draft, priority), "source": source}))
        if draft.status != "pending":
            stands.append(standing(draft))
    events = [*added, *stands]
    _connected(live(applied(board, events, now)), [event.data["task"]["id"] for event in added])
    return events


def own(board: Board, names: Iterable[str]) -> list[Event]:
    """`task_added` anew for each of these that only another copy added: what is said of a task here must stand on a
    definition of ours, which is there whatever lies in the tree.
    """
    return [
        Event("task_added", {"task": _again(board[name]), "source": "another copy"})
        for name in names
        if name in board and not board[name].ours
    ]


def remove(board: Board, name: str, with_dependants: bool, now: str) -> list[Event]:
    """`task_moved` to removed. Refused while others wait for it, which are named, unless they go along; and while
    somebody holds one of them.
    """
    there = live(board)
    task = known(board, name)
    behind = dependants(there, task.id)
    if behind and not with_dependants:
        raise Refusal(
            "task.state",
            f"{names(behind)} wait{'s' if len(behind) == 1 else ''} for {task.id}",
            f"`tallystick board remove {typed(task.id)} --with-dependants` takes them off too",
            facts={"dependants": behind},
        )
    leaving = [*reversed(behind), task.id]
    for one in leaving:
        if there[one].held(now):
            raise taken(there[one])
    return [moved(one, "removed", None) for one in leaving]


def dependants(board: Board, name: str) -> list[str]:
    """Every task that waits for `name`, or for one that does; nearest first."""
    waits: dict[str, list[str]] = {}
    for task in board.values():
        for blocker in task.blocked_by:
            waits.setdefault(blocker, []).append(task.id)
    found = {name: None}
    for one in (queue := [name]):
        fresh = [task for task in waits.get(one, ()) if task not in found]
        found.update(dict.fromkeys(fresh))
        queue += fresh
    return [one for one in found if one != name]


def check(draft: Draft) -> None:
    """Raise "input.invalid" unless a task may stand on a board as it is."""
    if not is_task_id(draft.id):
        raise Refusal(
            "input.invalid",
            f"{shown(draft.id)} cannot name a task: letters, digits, '.', '_' and '-', a letter or digit first, "
            f"at most {ID_CHARACTERS}",
            "choose an id like task-001",
        )
    what = f"the task {draft.id}"
    if not draft.title.strip():
        raise Refusal("input.invalid", f"{what} has no title", "say in a few words what is to do")
    if draft.priority is not None and not 0 <= draft.priority <= COUNTER:
        raise Refusal("input.invalid", f"{what} has the priority {draft.priority}", "1 is the most urgent")
    texts = {
        "the title": (draft.title, TITLE_CHARACTERS),
        "the description": (draft.description, DESCRIPTION_CHARACTERS),
    }
    texts |= {"the role": (draft.role or "", ID_CHARACTERS), "the skill": (draft.skill or "", ID_CHARACTERS)}
    for name, (text, most) in texts.items():
        if len(encodable(text, f"{name} of {draft.id}")) > most:
            says = f"{name} of {draft.id} has {len(text):,} characters, the limit is {most:,}"
            raise Refusal("input.too_large", says, "shorten it")
    for name, entries in (("files", draft.files), ("blocked_by", draft.blocked_by), ("criteria", _criteria(draft))):
        if len(entries) > TASK_ENTRIES:
            says = f"{what} names {len(entries):,} {name}, the limit is {TASK_ENTRIES:,}"
            raise Refusal("input.too_large", says, "split the task")
        for entry in entries:
            if not encodable(entry, f"an entry in {name} of {draft.id}").strip() or len(entry) > DESCRIPTION_CHARACTERS:
                raise Refusal("input.invalid", f"an entry in {name} of {draft.id} is empty or too long", "mend it")


def standing(draft: Draft) -> Event:
    """`task_moved` to the status that a file says a task has."""
    return moved(draft.id, draft.status, None, draft.reason)


def document(draft: Draft, priority: int) -> dict[str, Json]:
    """A task as it stands in a record."""
    return {
        "id": draft.id,
        "title": draft.title,
        "description": draft.description,
        "priority": priority,
        "role": draft.role,
        "skill": draft.skill,
        "files": list(dict.fromkeys(draft.files)),
        "blocked_by": list(dict.fromkeys(draft.blocked_by)),
        "acceptance_criteria": list(_criteria(draft)),
    }


def _again(task: Task) -> dict[str, Json]:
    kept = Draft(task.id, task.title, task.description, task.priority, task.role, task.skill)
    return document(kept._replace(**{key: getattr(task, key) for key in LISTS}), task.priority)


def _connected(board: Board, added: Sequence[str]) -> None:
    """Raise where an added task waits for one that is not there, or closes a circle."""
    new = set(added)
    for name, blocker in missing(board):
        if name in new:
            raise Refusal(
                "input.invalid",
                f"{name} waits for {shown(blocker)}, which is not on the board; nothing was added",
                "add that one first, or in the same file",
            )
    found = circle(board, added)
    if found:
        way = " -> ".join(found if len(found) <= _SHOWN else [*found[:_SHOWN], "…", found[-1]])
        raise Refusal(
            "input.invalid",
            f"tasks wait for each other in a circle: {way}; nothing was added",
            "take one `blocked_by` out",
            facts={"circle": found},
        )


def _free(board: Board, after: int) -> int:
    """The next number of a task-NNN that no task ever had."""
    if not after:
        had = [name[5:] for name in board if name.startswith("task-")]
        after = max((int(text) for text in had if text.isascii() and text.isdigit() and len(text) < 10), default=0)
    return after + 1


def _criteria(draft: Draft) -> tuple[str, ...]:
    return tuple(dict.fromkeys(draft.acceptance_criteria))
