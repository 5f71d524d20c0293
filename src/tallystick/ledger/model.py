"""Criteria and the fold: how records become the state of a ledger. Pure.

A criterion is an immutable value; the ledger is a table of them that the fold changes row by row, so one more record
costs the same whether there are ten criteria or ten thousand. Only records that are ours make anything pass; a pass
counts for the very text it was given for, by digest, so the order of amendments and passes does not matter (D6).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.ids import folded
from tallystick.journal.record import Record

if TYPE_CHECKING:
    from tallystick.journal.feature import Snapshot
    from tallystick.journal.subjects import Subjects

SUBJECT = "ledger"
LEVELS = ("claimed", "cited", "ran", "proven", "challenged")
STATES = ("holds", "failing", "stale", "regressed", "flaky", "elsewhere", "overridden", "closed")


class Draft(NamedTuple):
    """A criterion as somebody proposes it: what will be frozen."""

    id: str
    description: str
    evidence_required: tuple[str, ...] | None = None

    @property
    def digest(self) -> str:
        """What a pass is given for: SHA-256 over id, text and required evidence."""
        return canonical.sha256(canonical.encode(self.document()))

    def document(self) -> dict[str, Json]:
        """The draft as it stands in a record."""
        required = self.evidence_required
        return {
            "id": self.id,
            "description": self.description,
            "evidence_required": None if required is None else list(required),
        }


class Citation(NamedTuple):
    """One thing a pass rests on: `kind` is file, commit or blob; `digest` is over its raw bytes at that moment."""

    kind: str
    target: str
    digest: str
    size: int


class Criterion(NamedTuple):
    """One acceptance criterion and all that is known of it.

    `added` tells one that came after the freeze, `foreign` one that another key's record defined: its check is a
    command that came with somebody else's words.
    """

    id: str
    description: str
    evidence_required: tuple[str, ...] | None
    digest: str
    added: bool = False
    passes: bool = False
    passed_at: str | None = None
    passed_by: str | None = None
    level: str = "claimed"
    evidence_ref: str | None = None
    citations: tuple[Citation, ...] = ()
    error: str | None = None
    failed_at: str | None = None
    attempts: int = 0
    regressed: bool = False
    override: str | None = None
    closed: str | None = None
    amended: int = 0
    elsewhere: bool = False
    pending: int = 0
    foreign: bool = False

    @property
    def draft(self) -> Draft:
        """The frozen part."""
        return Draft(self.id, self.description, self.evidence_required)


class Ledger:
    """The ledger of one feature; `created_at` is None until it is frozen. `criteria` keeps the order of freezing."""

    __slots__ = ("abandoned", "commit", "created_at", "criteria", "feature", "folds", "frozen_by")

    def __init__(self, feature: str) -> None:
        self.feature = feature
        self.created_at: str | None = None
        self.frozen_by: str | None = None
        self.commit: str | None = None
        self.abandoned: str | None = None
        self.criteria: dict[str, Criterion] = {}
        self.folds: dict[str, str] = {}

    def find(self, text: str) -> Criterion | None:
        """The criterion of that id; ids that differ only by case or normalization are the same id."""
        return self.criteria.get(text) or self.criteria.get(self.folds.get(folded(text), ""))

    def define(self, draft: Draft, added: bool, ours: bool) -> None:
        """Put a new criterion at the end; one that is defined already stays as it is."""
        key = folded(draft.id)
        if key not in self.folds:
            self.folds[key] = draft.id
            self.criteria[draft.id] = Criterion(*draft, draft.digest, added, foreign=not ours)


def state_of(criterion: Criterion, changed: bool) -> str:
    """The one word of a criterion. `changed`: what its pass rests on has other content now, or is gone."""
    if criterion.closed is not None:
        return "closed"
    if criterion.override is not None:
        return "overridden"
    if criterion.passes:
        if criterion.regressed:
            return "regressed"
        return "stale" if changed else "holds"
    return "elsewhere" if criterion.elsewhere else "failing"


def draft_of(value: dict[str, Json]) -> Draft:
    """A draft out of a record."""
    required = value.get("evidence_required")
    return Draft(value["id"], value["description"], None if required is None else tuple(required))


def ledger_of(snapshot: Snapshot[Subjects]) -> Ledger:
    """The ledger in a feature's state."""
    ledger: Ledger = snapshot.state[SUBJECT]
    return ledger


class LedgerFold:
    """Folds ledger records into a `Ledger`."""

    version = "1"
    types = frozenset(
        (
            "ledger_frozen",
            "criterion_added",
            "criterion_amended",
            "criterion_closed",
            "pass_recorded",
            "failure_recorded",
            "override_recorded",
            "feature_abandoned",
        )
    )

    def empty(self, feature: str) -> Ledger:
        """A ledger that nobody froze yet."""
        return Ledger(feature)

    def flaw(self, record: Record) -> str | None:
        """Why the record's payload is none of a ledger."""
        from tallystick.ledger import payload  # only where somebody else's records are read

        return payload.flaw(record.type, record.data)

    def apply(self, state: Ledger, record: Record, ours: bool) -> None:
        """Take one record in. A record of another key defines what is not defined, and passes nothing."""
        data = record.data
        if record.type == "ledger_frozen":
            if state.created_at is None:
                state.created_at, state.frozen_by, state.commit = record.at, record.by.role, data.get("commit")
            for value in data["criteria"]:
                state.define(draft_of(value), False, ours)
        elif record.type == "criterion_added":
            state.define(draft_of(data["criterion"]), True, ours)
        elif record.type == "feature_abandoned":
            if ours:
                state.abandoned = data["reason"]
        elif record.type in _ROWS:
            criterion = state.criteria.get(data["criterion"])
            if criterion is not None:
                state.criteria[criterion.id] = _ROWS[record.type](criterion, record, ours)

    def dump(self, state: Ledger) -> Json:
        """For a checkpoint: positional, since it is read far more often than looked at."""
        rows = list(state.criteria.values())
        return [state.created_at, state.frozen_by, state.commit, state.abandoned, rows]

    def load(self, feature: str, data: Json) -> Ledger:
        """From a checkpoint."""
        state = Ledger(feature)
        state.created_at, state.frozen_by, state.commit, state.abandoned, rows = data
        make = Criterion._make
        for row in rows:
            if row[2] is not None:
                row[2] = tuple(row[2])
            row[10] = tuple(Citation(*one) for one in row[10])
            state.criteria[row[0]] = make(row)
        state.folds = {folded(name) if not _plain(name) else name.lower(): name for name in state.criteria}
        return state


def _plain(name: str) -> bool:
    return name.isascii()


def _passed(criterion: Criterion, record: Record, ours: bool) -> Criterion:
    data = record.data
    if data["digest"] != criterion.digest or criterion.closed is not None:
        return criterion
    if not ours:
        return criterion if criterion.passes else criterion._replace(elsewhere=True)
    evidence = data.get("evidence", ())
    return criterion._replace(
        passes=True,
        passed_at=record.at,
        passed_by=record.by.role,
        level=data["level"],
        evidence_ref=data["evidence_ref"],
        citations=tuple([Citation(one["kind"], one["target"], one["digest"], one["size"]) for one in evidence]),
        error=None,
        regressed=False,
        elsewhere=False,
    )


def _failed(criterion: Criterion, record: Record, ours: bool) -> Criterion:
    if not ours:
        return criterion if criterion.error else criterion._replace(error=record.data["error"], failed_at=record.at)
    return criterion._replace(
        error=record.data["error"],
        failed_at=record.at,
        attempts=criterion.attempts + 1,
        regressed=criterion.passes,
    )


def _amended(criterion: Criterion, record: Record, ours: bool) -> Criterion:
    if not ours:
        return criterion._replace(pending=criterion.pending + 1)
    draft = draft_of(record.data["to"])
    return Criterion(
        *draft,
        draft.digest,
        added=criterion.added,
        error=criterion.error,
        failed_at=criterion.failed_at,
        attempts=criterion.attempts,
        amended=criterion.amended + 1,
        pending=criterion.pending,
    )


def _closed(criterion: Criterion, record: Record, ours: bool) -> Criterion:
    if not ours:
        return criterion._replace(pending=criterion.pending + 1)
    return criterion._replace(closed=record.data["reason"])


def _overridden(criterion: Criterion, record: Record, ours: bool) -> Criterion:
    if not ours:
        return criterion._replace(pending=criterion.pending + 1)
    if record.data["digest"] != criterion.digest:
        return criterion
    return criterion._replace(override=record.data["reason"], passed_at=record.at, passed_by=record.by.role)


_ROWS = {
    "pass_recorded": _passed,
    "failure_recorded": _failed,
    "criterion_amended": _amended,
    "criterion_closed": _closed,
    "override_recorded": _overridden,
}
