"""The manifest of a feature: which phases were begun and ended, how, and which files each of them changed. Pure.

It follows from `phase_started`, `phase_ended` and `manifest_closed`. A phase may be tried several times: what failed
stays beside what came after it. Records of another copy's key are shown as such; for the rules they are not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tallystick.canonical import Json
from tallystick.handoff.manifest import payload as manifest_payload
from tallystick.handoff.manifest.phases import BY_NAME, Phase
from tallystick.journal.record import Record

if TYPE_CHECKING:
    from tallystick.journal.snapshot import Snapshot
    from tallystick.journal.subjects import Subjects

SUBJECT = "phases"


class RecordedFile(NamedTuple):
    """One file that a phase changed, as git and the disk told it when the phase ended.

    `path` counts from the project's top; where its bytes are no UTF-8 they are shown as `\\xNN`, and `path_bytes` has
    them in base64 (`old`, the former name of a renamed file, likewise). `type` is a kind of `system.changes.Change`.
    `agent_id` and `task_id` are those of the output that claimed it, else of the phase.
    """

    path: str
    type: str
    size: int | None
    digest: str | None
    created_at: str
    agent_id: str | None
    task_id: str | None
    state: tuple[str, ...] = ()
    old: str | None = None
    mode: str | None = None
    added: int | None = None
    removed: int | None = None
    path_bytes: str | None = None
    old_bytes: str | None = None

    def row(self) -> dict[str, Json]:
        """As a record has it; what says nothing is left out behind the seven keys of the format."""
        found = self._asdict()
        extra = {key: value for key, value in list(found.items())[7:] if value not in (None, ())}
        if "state" in extra:
            extra["state"] = list(self.state)
        return {**dict(list(found.items())[:7]), **extra}

    @classmethod
    def of(cls, row: dict[str, Json]) -> RecordedFile:
        """From a record's row."""
        known = {key: row[key] for key in cls._fields if key in row}
        return cls(**{**known, "state": tuple(row.get("state", ()))})


class Attempt(NamedTuple):
    """One attempt at a phase. `files` are those it changed; a long list is kept as a blob, `files_kept` its digest.

    `claimed` is what the phase's outputs said (`phase_outputs.said`), `base` the commit at the start, `writer` whose
    record began it.
    """

    status: str
    started_at: str | None
    completed_at: str | None
    role: str | None
    agent_id: str | None
    base: str | None
    reason: str | None
    output: str | None
    files: tuple[RecordedFile, ...]
    files_count: int
    files_kept: str | None
    claimed: dict[str, Json]
    writer: str
    ours: bool


class Found(NamedTuple):
    """A manifest that lay in the folder before the first record: the digest of its bytes, and its content as JSON or,
    where that is long, `kept` as a blob of that digest."""

    digest: str
    document: Json
    kept: str | None


class Head(NamedTuple):
    """What the first start said, and how the manifest was closed since."""

    description: str
    work_type: str | None
    ui: bool
    layout: int
    active: tuple[str, ...]
    created_at: str
    status: str
    updated_at: str
    found: Found | None
    ours: bool


class PhaseEntry(NamedTuple):
    """One phase of a manifest; `attempts` oldest first, none where it was not begun. `claimed` True: read from an old
    file that no record made."""

    phase: Phase
    number: float
    attempts: tuple[Attempt, ...]
    claimed: bool = False

    @property
    def current(self) -> Attempt | None:
        """The attempt that says where the phase stands: our last one, else the last one of another copy."""
        own = [attempt for attempt in self.attempts if attempt.ours] or list(self.attempts)
        return own[-1] if own else None

    @property
    def status(self) -> str:
        """pending, running, completed, skipped or failed."""
        return self.current.status if self.current is not None else "pending"


class Manifest(NamedTuple):
    """A feature's manifest; `phases` in the order of the layout, those that apply and those that were begun."""

    feature: str
    head: Head
    phases: tuple[PhaseEntry, ...]

    def entry(self, phase: Phase) -> PhaseEntry:
        """The entry of a phase, an empty one where it was not begun."""
        found = next((entry for entry in self.phases if entry.phase == phase), None)
        return found or PhaseEntry(phase, phase.number(self.head.layout) or 0, ())

    @property
    def current(self) -> PhaseEntry | None:
        """The phase that was begun last among those that run, else the one that ended last."""
        begun = [entry for entry in self.phases if entry.current is not None]
        running = [entry for entry in begun if entry.status == "running"]
        return max(running or begun, key=_moved, default=None)


def _moved(entry: PhaseEntry) -> tuple[str, float]:
    attempt = entry.current
    assert attempt is not None
    return (attempt.completed_at or attempt.started_at or "", entry.number)


def manifest_of(snapshot: Snapshot[Subjects]) -> Manifest | None:
    """The manifest in a feature's state, None where no phase was ever begun."""
    state: dict[str, Any] = snapshot.state[SUBJECT]
    if not state:
        return None
    head: Head = state["head"]
    tried: dict[str, tuple[Attempt, ...]] = state["phases"]
    entries = [
        PhaseEntry(phase, number, tried.get(phase.name, ()))
        for phase in BY_NAME.values()
        if (phase.name in head.active or phase.name in tried)
        and (number := phase.number(head.layout) or phase.seventeen) is not None
    ]
    return Manifest(snapshot.feature, head, tuple(sorted(entries, key=lambda entry: entry.number)))


class PhasesFold:
    """Folds the records of phases into {"head": Head, "phases": name -> attempts}; {} before the first."""

    version = "1"
    types = frozenset(("phase_started", "phase_ended", "manifest_closed"))

    def empty(self, feature: str) -> dict[str, Any]:
        """Nothing was begun."""
        return {}

    def copy(self, state: dict[str, Any]) -> dict[str, Any]:
        """The same rows in tables of its own."""
        return {**state, "phases": dict(state["phases"])} if state else {}

    def flaw(self, record: Record) -> str | None:
        """Why the record's payload says nothing about a phase."""
        return manifest_payload.flaw(record.type, record.data)

    def apply(self, state: dict[str, Any], record: Record, ours: bool) -> None:
        """Take one record in."""
        data, head = record.data, state.get("head")
        if record.type == "phase_started":
            if head is None or ("active" in data and ours and not head.ours):
                head = _head(record, ours)
                state.setdefault("phases", {})
            elif ours or not head.ours:
                head = head._replace(status="running")
            tried = state["phases"].get(data["phase"], ())
            state["phases"][data["phase"]] = (*tried, _begun(record, ours))
        elif head is None:
            return  # an end whose beginning is in a file that is not here
        elif record.type == "phase_ended":
            tried = state["phases"].get(data["phase"], ())
            state["phases"][data["phase"]] = _ended(tried, record, ours)
        elif ours or not head.ours:
            head = head._replace(status=data["status"])
        state["head"] = head._replace(updated_at=record.at) if ours or not head.ours else head

    def dump(self, state: dict[str, Any]) -> Json:
        """For a checkpoint."""
        return [state["head"], state["phases"]] if state else None

    def load(self, feature: str, data: Json) -> dict[str, Any]:
        """From a checkpoint."""
        if data is None:
            return {}
        head = Head(*data[0])
        head = head._replace(active=tuple(head.active), found=None if head.found is None else Found(*head.found))
        return {"head": head, "phases": {name: tuple(map(_loaded, rows)) for name, rows in data[1].items()}}


def _head(record: Record, ours: bool) -> Head:
    data = record.data
    found = data.get("found")
    return Head(
        data.get("description", ""),
        data.get("work_type"),
        data.get("ui", False),
        data["layout"],
        tuple(data.get("active", ())),
        record.at,
        "running",
        record.at,
        None if found is None else Found(found["digest"], found.get("document"), found.get("kept")),
        ours,
    )


def _begun(record: Record, ours: bool) -> Attempt:
    data = record.data
    who = data.get("role"), data.get("agent_id"), data.get("base")
    return Attempt("running", record.at, None, *who, None, None, (), 0, None, {}, record.writer, ours)


def _ended(tried: tuple[Attempt, ...], record: Record, ours: bool) -> tuple[Attempt, ...]:
    """The attempts with the one that this record ends; a phase that was never begun gets one that is over already."""
    data = record.data
    files = tuple(map(RecordedFile.of, data.get("files", ())))
    for place in reversed(range(len(tried))):
        attempt = tried[place]
        if attempt.status == "running" and (attempt.ours if ours else attempt.writer == record.writer):
            break
    else:
        place = len(tried)
        attempt = Attempt("", None, None, None, None, None, None, None, (), 0, None, {}, record.writer, ours)
    over = attempt._replace(
        status=data["status"],
        completed_at=record.at,
        reason=data.get("reason"),
        output=data.get("output"),
        files=files,
        files_count=data.get("files_count", len(files)),
        files_kept=data.get("files_kept"),
        claimed=data.get("claimed") or {},
    )
    return (*tried[:place], over, *tried[place + 1 :])


def _loaded(row: list[Any]) -> Attempt:
    attempt = Attempt(*row)
    return attempt._replace(files=tuple(RecordedFile(*one[:7], tuple(one[7]), *one[8:]) for one in attempt.files))
