"""The use cases of the board: what a face calls. Looks without a lock; the rules decide again inside the commit, so of
two claims at once one wins.

A board that somebody else wrote as a file and that the journal does not know is shown as it lies there, and taken in
by the first command that writes to the board; one that cannot be read is never taken for an empty one, nor replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tallystick.board import plan, rules
from tallystick.board.answer import Answer, next_of
from tallystick.board.document import FILE, ROOT_FILE, Found, read, render
from tallystick.board.holder import holder_of
from tallystick.board.model import Board, Draft, Task, applied, board_of, every_task, live
from tallystick.board.rules import Hand
from tallystick.errors import Refusal
from tallystick.handoff.folder import Folder, place_of
from tallystick.ids import feature_id, shown
from tallystick.journal.record import Event
from tallystick.journal.store import Decision
from tallystick.ledger.model import ledger_of
from tallystick.ledger.recording import Recording
from tallystick.limits import INPUT_FILE, LEASE_MOST_S, LEASE_S
from tallystick.system.durable import read_file
from tallystick.system.files import Files

if TYPE_CHECKING:
    from tallystick.journal.snapshot import Snapshot
    from tallystick.journal.subjects import Subjects
    from tallystick.ledger.service import Shown

#: What a lease may be asked for, in seconds.
LEAST_S = 1.0


class Seen(NamedTuple):
    """A board as it stands. `file`: it lies there as a file that the journal knows nothing of yet."""

    feature: str
    tasks: Board
    file: str | None
    passes: Callable[[Task], bool]
    snapshot: Snapshot[Subjects]


class Receipt(NamedTuple):
    """An acknowledged change: the tasks it was about as they are now, whether the first passes, notes for a person."""

    tasks: tuple[Task, ...]
    passes: bool
    notes: tuple[str, ...]


class BoardService:
    """The boards of one tree, for one doer. `shown` tells how the criteria of a snapshot stand in this tree."""

    def __init__(
        self, files: Files, tree: str, recording: Recording, shown: Callable[[Snapshot[Subjects]], Shown]
    ) -> None:
        self._files = files
        self._tree = tree
        self._recording = recording
        self._store = recording.store
        self._shown = shown

    # -- looking ------------------------------------------------------------------------------------------------

    def show(self, feature: str) -> Seen:
        """The board. Raises "feature.unknown" where neither a record nor a file knows the feature, "input.invalid" for
        a board file that cannot be read while the journal has none.
        """
        snapshot = self._store.snapshot(feature_id(feature))
        if every_task(snapshot):
            return Seen(feature, board_of(snapshot), None, self._passes(snapshot), snapshot)
        lying = self._lying(feature)
        if lying is None:
            if not snapshot.exists and not self._folder(feature).names():
                raise _unknown(feature)
            return Seen(feature, {}, None, lambda task: False, snapshot)
        file, found = lying
        # As it lies there, faults and all: a circle is for the answer to name, not for the list to hide.
        events = [Event("task_added", {"task": plan.document(draft, draft.priority or 1)}) for draft in found.drafts]
        events += [plan.standing(draft) for draft in found.drafts if draft.status != "pending"]
        return Seen(feature, applied({}, events, self._store.now()), file, lambda task: False, snapshot)

    def knows(self, feature: str) -> bool:
        """Whether there is a feature of that name: in the journal, or as a folder or board file of somebody else."""
        if feature in self._store.features() or self._folder(feature).names():
            return True
        try:
            return self._lying(feature) is not None
        except Refusal:  # the old file at the root, which may be about any feature
            return False

    def next(self, feature: str) -> tuple[Answer, Seen]:
        """What to work on next, or why there is nothing. Raises "task.unknown" where the board has no task at all."""
        seen = self.show(feature)
        if not seen.tasks:
            raise _empty(feature)
        return next_of(seen.tasks, self._store.now()), seen

    def open_criteria(self, feature: str, task: Task) -> list[str]:
        """The criteria that bind a task and do not hold in this tree."""
        snapshot = self._store.peek(feature)
        holding = self._holding(snapshot)
        return [name for name in rules.bound(task, ledger_of(snapshot)) if name not in holding]

    # -- writing ------------------------------------------------------------------------------------------------

    def claim(
        self, feature: str, name: str | None, hand: Hand, seconds: float = LEASE_S
    ) -> tuple[Receipt | None, Answer | None]:
        """Claim a task, or the next one where none is named: (receipt, None), or (None, the answer that all is done).

        Raises "task.taken" for a task that somebody else holds, and the code of the answer where none can be worked on.
        """
        if not LEAST_S <= seconds <= LEASE_MOST_S:
            raise Refusal(
                "usage",
                f"a lease lasts from {LEAST_S:g} s to {LEASE_MOST_S / 3600:g} h",
                "give a time such as 45m or 2h; each write of yours renews it",
            )
        finished: list[Answer] = []

        def decide(board: Board, now: str) -> Sequence[Event]:
            finished.clear()
            wanted = name
            if wanted is None:
                if not live(board):
                    raise _empty(feature)
                answer = next_of(live(board), now)
                if answer.kind == "finished":
                    finished.append(answer)
                    return ()
                if answer.task is None:
                    raise nothing(answer)
                wanted = answer.task.id
            return [rules.claim(board, wanted, hand, rules.later(now, seconds), now)]

        receipt = self._commit(feature, "task", name or "", decide)
        return (None, finished[0]) if finished else (receipt, None)

    def done(self, feature: str, name: str, hand: Hand) -> Receipt:
        """Complete a task that this hand holds. Completed is a status; `passes` of the receipt is the ledger's word."""
        return self._commit(feature, "task", name, lambda board, now: [rules.complete(board, name, hand, now)])

    def block(self, feature: str, name: str, hand: Hand, reason: str) -> Receipt:
        """A task cannot go on."""
        return self._commit(feature, "task", name, lambda board, now: [rules.stop(board, name, hand, reason, now)])

    def unblock(self, feature: str, name: str, hand: Hand, reason: str | None = None) -> Receipt:
        """A task can go on, is given back, or is opened again."""
        return self._commit(feature, "task", name, lambda board, now: [rules.release(board, name, hand, reason, now)])

    def remove(self, feature: str, name: str, with_dependants: bool) -> Receipt:
        """Take a task off the board."""
        return self._commit(feature, "plan", name, lambda board, now: plan.remove(board, name, with_dependants, now))

    def add(self, feature: str, draft: Draft) -> Receipt:
        """Put one task on the board."""
        return self._commit(feature, "plan", "", lambda board, now: plan.add(board, [draft], None, now))

    def import_plan(self, feature: str, found: Found, source: str) -> Receipt:
        """Make tasks of what a file holds, all or none."""
        if found.feature not in (None, feature):
            raise Refusal(
                "input.invalid",
                f"{source} is about {shown(str(found.feature))}, not about {feature}; nothing was taken from it",
                f"name the feature: `tallystick board import {shown(str(found.feature))[1:-1]} FILE`",
            )
        receipt = self._commit(feature, "plan", "", lambda board, now: plan.add(board, found.drafts, source, now))
        ticked = f"{found.ticked} came with `passes`; that is somebody's word, so they start without"
        return receipt._replace(notes=(*receipt.notes, ticked)) if found.ticked else receipt

    def write(self, feature: str) -> tuple[str, ...]:
        """Renew what this connection holds, and bring the board file up to date; what was lost from sight, as notes.

        Nothing where no task ever was. A file there that cannot be read is named and left.
        """
        snapshot = self._store.peek(feature)
        if not every_task(snapshot):
            return ()
        self._renew(feature, snapshot)
        snapshot = self._store.peek(feature)
        if not self._tree:
            return ()
        from tallystick.system.place import branch, find_place

        folder = self._folder(feature)
        try:
            old = folder.read(FILE)
            if old is not None and old.strip(b"\0 \t\r\n") and not folder.is_ours(FILE, old):
                read(old, f"{place_of(feature)}/{FILE}")
        except Refusal as refusal:
            why = refusal.message.removesuffix("; nothing was changed")
            return (f"{why}; the board file was left as it is; where it is moved aside, the next write makes it anew",)
        name = branch(self._files, find_place(self._files, self._tree))
        return folder.put(FILE, render(feature, name, board_of(snapshot).values(), self._passes(snapshot)))

    # -- inside -------------------------------------------------------------------------------------------------

    def _commit(self, feature: str, act: str, name: str, decide: Callable[[Board, str], Sequence[Event]]) -> Receipt:
        """Record what `decide(board, now)` yields, behind what a board file brings where the journal has no board."""
        lying = None if every_task(self._store.snapshot(feature_id(feature))) else self._lying(feature)

        def decided(snapshot: Snapshot[Subjects], now: str) -> Decision[tuple[Task, ...]]:
            board = every_task(snapshot)
            if act == "task" and lying is None and not snapshot.exists:
                raise _unknown(feature)
            brought: list[Event] = []
            if not board and lying is not None:
                file, found = lying
                brought = plan.add({}, found.drafts, file, now)
            board = applied(board, brought, now)
            events = decide(board, now)
            after = applied(board, events, now)
            names = dict.fromkeys(_about(event) for event in events)
            brought += plan.own(board, names)
            return Decision((*brought, *events), tuple(after[one] for one in names))

        committed = self._recording.commit(feature, act, decided, name)
        tasks, notes = committed.answer, committed.notes
        if lying is not None:
            notes = (*notes, f"{lying[0]} was taken in: {len(lying[1].drafts)} tasks")
        first = bool(tasks) and bool(tasks[0].acceptance_criteria) and self._passes(self._store.peek(feature))(tasks[0])
        return Receipt(tasks, first, notes)

    def _renew(self, feature: str, snapshot: Snapshot[Subjects]) -> None:
        """Each write of a connection renews its leases: once less than half of the usual time is left."""
        holder = holder_of(self._recording)
        if holder is None:
            return

        def renewals(board: Board, now: str) -> list[Event]:
            until, least = rules.later(now, LEASE_S), rules.later(now, LEASE_S / 2)
            return rules.renewals(board, holder.owner, until, least, now)

        if renewals(every_task(snapshot), self._store.now()):
            self._recording.commit(
                feature, "task", lambda now_there, now: Decision(tuple(renewals(every_task(now_there), now)), None)
            )

    def _lying(self, feature: str) -> tuple[str, Found] | None:
        """The board file that lies there for `feature`: in its folder, else the old one at the root that names it."""
        if not self._tree:
            return None
        file = f"{place_of(feature)}/{FILE}"
        data = self._folder(feature).read(FILE)
        if data is None or not data.strip(b"\0 \t\r\n"):
            file = ROOT_FILE
            data = read_file(self._files, f"{self._tree}/{ROOT_FILE}", INPUT_FILE, within=self._tree)
        if data is None or not data.strip(b"\0 \t\r\n"):
            return None
        found = read(data, file)
        if (file == ROOT_FILE and found.feature != feature) or not found.drafts:
            return None
        return file, found

    def _folder(self, feature: str) -> Folder:
        return Folder(self._files, self._tree, self._store, feature)

    def _passes(self, snapshot: Snapshot[Subjects]) -> Callable[[Task], bool]:
        """Which tasks pass. The tree is looked at once, and only where some task names a criterion."""
        ledger = ledger_of(snapshot)
        if ledger.created_at is None or not snapshot.checkable:
            return lambda task: False
        holding: set[str] | None = None

        def passes(task: Task) -> bool:
            nonlocal holding
            if not rules.bound(task, ledger):
                return False
            if holding is None:
                holding = self._holding(snapshot)
            return rules.passes(task, ledger, holding)

        return passes

    def _holding(self, snapshot: Snapshot[Subjects]) -> set[str]:
        rows = self._shown(snapshot).rows
        return {criterion.id for criterion, state in rows if state in ("holds", "overridden")}


def nothing(answer: Answer, file: str | None = None) -> Refusal:
    """The refusal of a claim where the board has nothing to work on; `file`: it lies there and is not taken in yet."""
    from tallystick.board.answer import CODES

    hints = {
        "waiting": "try again when one of them has ended",
        "cycle": f"mend `blocked_by` in {file}"
        if file
        else "take one of them off with `tallystick board remove`, and add it anew",
        "person": "ask your user; then `tallystick board unblock TASK`",
        "blocked": "`tallystick board unblock TASK` when it can go on",
    }
    return Refusal(CODES[answer.kind], answer.says, hints[answer.kind], facts={"tasks": list(answer.tasks)})


def _about(event: Event) -> str:
    task = event.data["task"]
    return str(task["id"] if isinstance(task, dict) else task)


def _empty(feature: str) -> Refusal:
    return Refusal("task.unknown", f"the board of {feature} has no tasks", "`tallystick board add TITLE` adds one")


def _unknown(feature: str) -> Refusal:
    return Refusal(
        "feature.unknown", f"there is no board of {feature} here", f"`tallystick board add {feature} TITLE` begins one"
    )
