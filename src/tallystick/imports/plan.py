"""What an import records in one feature: decided for a dry run, and again inside the commit. Pure.

One commit holds all of a feature: criteria, claims, adopted outputs, tasks. What is there already stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tallystick.board.model import Board, Draft, applied, every_task
from tallystick.board.plan import add
from tallystick.canonical import Json
from tallystick.handoff.output.model import ADOPTED, Kept, Outputs, data_of, known, outputs_of
from tallystick.ids import shown
from tallystick.imports.claims import Conflict, Taking, events, take
from tallystick.imports.found import Found, Left
from tallystick.journal.record import Event
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.subjects import Subjects
from tallystick.ledger.model import ledger_of

_NAMED = 5


class Adopted(NamedTuple):
    """An output that may be adopted: its name in the folder, the foreign file, the bytes as they will be kept."""

    name: str
    file: str
    kept: Kept


class Tasks(NamedTuple):
    """The tasks of one foreign board file."""

    file: str
    drafts: tuple[Draft, ...]


class Old(NamedTuple):
    """A manifest of another store: the foreign file, and its bytes as they may lie in the feature's folder here."""

    file: str
    data: bytes


class Prepared(NamedTuple):
    """A feature of a foreign store, read and sound."""

    feature: str
    criteria: tuple[Found, ...] = ()
    outputs: tuple[Adopted, ...] = ()
    boards: tuple[Tasks, ...] = ()
    manifest: Old | None = None
    left: tuple[Left, ...] = ()


class Part(NamedTuple):
    """What comes of one file: new criteria, claims, tasks; for an output or a manifest whether it is `new` here."""

    file: str
    kind: str
    criteria: int = 0
    claims: int = 0
    tasks: int = 0
    new: bool = False


class Plan(NamedTuple):
    """What is recorded in one feature. `before` is the number of criteria it has, None where none is frozen."""

    feature: str
    events: tuple[Event, ...]
    before: int | None
    taking: Taking
    parts: tuple[Part, ...]
    conflicts: tuple[Conflict, ...]
    left: tuple[Left, ...]

    @property
    def outputs(self) -> int:
        """How many outputs are adopted."""
        return sum(1 for part in self.parts if part.kind == "output" and part.new)

    @property
    def tasks(self) -> int:
        """How many tasks are put on the board."""
        return sum(part.tasks for part in self.parts)


def plan(
    snapshot: Snapshot[Subjects],
    prepared: Prepared,
    manifest: bool,
    commit: str | None,
    now: str,
    settings: Mapping[str, Json],
) -> Plan:
    """Decide. `manifest`: the feature has one here, in records or as a file. `commit` is what is checked out,
    `settings` are the effective ones.

    Raises `Refusal` where a rule of the ledger or the board does not let it in; nothing is recorded then.
    """
    ledger = ledger_of(snapshot)
    taking = take(ledger, prepared.criteria)
    made = events(ledger, taking, commit, settings)
    parts = [Part(one.file, one.kind, *taking.of_file[one.file]) for one in prepared.criteria]
    fresh = _fresh(prepared.outputs, outputs_of(snapshot))
    made += [Event(ADOPTED, data_of(one.name, one.kept)) for one in fresh]
    parts += [Part(one.file, "output", new=one in fresh) for one in prepared.outputs]
    conflicts = list(taking.conflicts)
    board = every_task(snapshot)
    for tasks in prepared.boards:
        drafts = _new(tasks, board, conflicts)
        if drafts:
            added = add(board, drafts, tasks.file, now)
            board = applied(board, added, now)
            made += added
        parts.append(Part(tasks.file, "board", tasks=len(drafts)))
    if prepared.manifest is not None:
        parts.append(Part(prepared.manifest.file, "manifest", new=not manifest))
    before = None if ledger.created_at is None else len(ledger.criteria)
    left = (*prepared.left, *filter(None, map(_unused, prepared.criteria)))
    return Plan(prepared.feature, tuple(made), before, taking, tuple(parts), tuple(conflicts), left)


def _unused(found: Found) -> Left | None:
    """The keys of a file that say nothing of a criterion."""
    if not found.left:
        return None
    more = f" … ({len(found.left)} keys)" if len(found.left) > _NAMED else ""
    return Left(found.file, f"what stands under {', '.join(map(shown, found.left[:_NAMED]))}{more} is no criterion")


def _fresh(outputs: tuple[Adopted, ...], there: Outputs) -> list[Adopted]:
    """The outputs whose bytes no version of their name has."""
    return [one for one in outputs if not {one.kept.digest, one.kept.original} & known(there.get(one.name, ()))]


def _new(tasks: Tasks, board: Board, conflicts: list[Conflict]) -> list[Draft]:
    """The tasks whose ids no task here ever had; one of another title is a conflict."""
    there = {name.lower(): task for name, task in board.items()}
    drafts: list[Draft] = []
    for draft in tasks.drafts:
        task = there.get(draft.id.lower())
        if task is None:
            drafts.append(draft)
        elif task.title != draft.title:
            says = f"the task {shown(draft.id)} is {shown(draft.title)} there, and {shown(task.title)} here"
            conflicts.append(Conflict(draft.id, tasks.file, says))
    return drafts
