"""Criteria: the values that records are folded into (`fold.py`), and the one word that each criterion has. Pure.

A criterion is an immutable value; the ledger is a table of them that the fold changes row by row, so one more record
costs the same whether there are ten criteria or ten thousand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.ids import folded

if TYPE_CHECKING:
    from tallystick.journal.snapshot import Snapshot
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


class Claim(NamedTuple):
    """What a foreign store says of a criterion: whether it passes, on what, when, what went wrong, and in which file.

    It is shown and counts for nothing.
    """

    passes: bool
    evidence_ref: str | None
    at: str | None
    error: str | None
    source: str

    @property
    def said(self) -> tuple[bool, str | None, str | None, str | None]:
        """The claim itself: the same words out of another file are the same claim."""
        return self.passes, self.evidence_ref, self.at, self.error


class Red(NamedTuple):
    """A red that counts: its tests were seen to fail because what they ask for was not there.

    `ids` were red, `digest` is the text it was seen for, `tree` the state (at `commit`) and `run` the run. `lock` names
    what must stay as it was then, `was` the bytes of what has changed since, once somebody passed it; both are blobs.
    `moved` are locked files that changed since a person last looked, `diff` the blob that says how, `first` the lock
    that stood before them.
    """

    run: str
    digest: str
    tree: str
    commit: str | None
    lock: str
    ids: tuple[str, ...]
    moved: tuple[str, ...] = ()
    diff: str | None = None
    was: str | None = None
    first: str | None = None


class Criterion(NamedTuple):
    """One acceptance criterion and all that is known of it.

    `rests_on` names the list of files that the run behind its pass read. `red` is the red that this store saw, `seen`
    the one that another copy says it saw: it can be made again. `accepted` is the lock that a person let stand.
    `settings` is the digest of the effective settings of the run behind its pass.
    `born_green` tells one whose check was green on the state that it was frozen in, `flaky` one whose check went two
    ways on one state.
    `added` tells one that came after the freeze, `foreign` one whose check stands in another key's record: a command
    that came with somebody else's words.
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
    rests_on: str | None = None
    red: Red | None = None
    seen: Red | None = None
    accepted: str | None = None
    born_green: bool = False
    flaky: bool = False
    settings: str | None = None
    claims: tuple[Claim, ...] = ()

    @property
    def draft(self) -> Draft:
        """The frozen part."""
        return Draft(self.id, self.description, self.evidence_required)


class Mark(NamedTuple):
    """One record about one criterion, as the fold needs it."""

    id: str
    type: str
    at: str
    role: str
    data: dict[str, Json]


class Ledger:
    """The ledger of one feature; `created_at` is None until it is frozen, at `commit`, in the `state` of the tree.
    `criteria` keeps the order of freezing.

    `orphans` are our own marks for criteria that only another copy of the repository defined: they take hold once its
    definition is there. `proposals` are another copy's amendments, closings and overrides by record, which wait for
    a person; `accepted` are the records that one let count. `rivals` are other texts for an id that is taken here.
    `effective` are the effective settings that were frozen with it, or that a person accepted since.
    """

    __slots__ = (
        "abandoned", "accepted", "commit", "created_at", "criteria", "effective", "feature", "folds", "frozen_by",
        "orphans", "proposals", "rivals", "state",
    )  # fmt: skip

    def __init__(self, feature: str) -> None:
        self.feature = feature
        self.created_at: str | None = None
        self.frozen_by: str | None = None
        self.commit: str | None = None
        self.state: str | None = None
        self.abandoned: str | None = None
        self.criteria: dict[str, Criterion] = {}
        self.folds: dict[str, str] = {}
        self.orphans: dict[str, list[Mark]] = {}
        self.proposals: dict[str, Mark] = {}
        self.accepted: set[str] = set()
        self.rivals: dict[str, Draft] = {}
        self.effective: dict[str, Json] = {}

    def find(self, text: str) -> Criterion | None:
        """The criterion of that id; ids that differ only by case or normalization are the same id."""
        return self.criteria.get(text) or self.criteria.get(self.folds.get(folded(text), ""))

    def define(self, draft: Draft, added: bool, ours: bool) -> bool:
        """Put a new criterion at the end; one that is defined already stays as it is. Whether it is new."""
        key = folded(draft.id)
        known = self.folds.get(key)
        if known is None:
            self.folds[key] = draft.id
            self.criteria[draft.id] = Criterion(*draft, draft.digest, added, foreign=not ours)
            return True
        there = self.criteria[known]
        if there.amended == 0 and there.digest != draft.digest:
            self.rivals[known] = draft
        elif ours and there.foreign and there.digest == draft.digest:
            self.criteria[known] = there._replace(foreign=False)  # we froze the very same words ourselves
        return False


def least_level(criterion: Criterion, checked: str) -> str:
    """The least level at which a machine-checked criterion counts as done by the policy `checked` (formats 5)."""
    if checked == "auto":
        return "proven" if criterion.red is not None else "ran"
    return checked


def below(criterion: Criterion, checked: str) -> bool:
    """Whether a criterion was passed by a run that is worth less than the policy asks for."""
    level = criterion.level
    return level in ("ran", "proven") and LEVELS.index(level) < LEVELS.index(least_level(criterion, checked))


def state_of(criterion: Criterion, changed: bool, checked: str = "auto") -> str:
    """The one word of a criterion. `changed`: what its pass rests on has other content now, or is gone; `checked` is
    the policy for machine checks."""
    if criterion.closed is not None:
        return "closed"
    if criterion.override is not None:
        return "overridden"
    if criterion.passes:
        if criterion.flaky:
            return "flaky"
        if criterion.regressed:
            return "regressed"
        if changed:
            return "stale"
        return "failing" if below(criterion, checked) else "holds"
    return "elsewhere" if criterion.elsewhere else "failing"


def draft_of(value: dict[str, Json]) -> Draft:
    """A draft out of a record."""
    required = value.get("evidence_required")
    return Draft(value["id"], value["description"], None if required is None else tuple(required))


def ledger_of(snapshot: Snapshot[Subjects]) -> Ledger:
    """The ledger in a feature's state."""
    ledger: Ledger = snapshot.state[SUBJECT]
    return ledger
