"""What a foreign store's criteria become in a ledger: new drafts, claims, conflicts. Pure; asked for a dry run, and
again inside the commit.

A criterion that is there already with the same text gets the claims; one whose text differs is a conflict, and
nothing of it is changed. What was recorded before is not recorded again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.ids import folded, shown
from tallystick.imports.found import Found, Row, invalid
from tallystick.journal.record import Event
from tallystick.ledger import rules
from tallystick.ledger.model import Claim, Criterion, Draft, Ledger
from tallystick.ledger.requirement import is_machine_check, parse


class Conflict(NamedTuple):
    """A criterion of which nothing was changed, the file that says otherwise, and how they differ."""

    criterion: str
    file: str
    says: str


class Taking(NamedTuple):
    """What is to be recorded: `drafts` are new, `claims` are new ones with the text that each is made for.

    `every` are all criteria that the files speak of and that are no conflict, `passing` and `failing` how many of
    them some file claims to pass, or else to fail; `of_file` counts criteria and claims that are new by file.
    """

    drafts: tuple[Draft, ...]
    claims: tuple[tuple[Draft, Claim], ...]
    conflicts: tuple[Conflict, ...]
    every: tuple[Draft, ...]
    passing: int
    failing: int
    of_file: dict[str, tuple[int, int]]

    @property
    def checkable(self) -> int:
        """How many of all these criteria name a machine check."""
        return sum(1 for draft in self.every if checks_of(draft))


def checks_of(draft: Draft) -> list[str]:
    """The machine checks that a criterion names."""
    return [entry for entry in draft.evidence_required or () if is_machine_check(parse(entry))]


def take(ledger: Ledger, sources: Sequence[Found]) -> Taking:
    """What these files change in `ledger`, frozen or not; in their order, so what defines comes first.

    Raises `Refusal` with all mistakes of the first file that has some: texts and ids must be sound, and a row without
    a text must have its criterion in the ledger or in an earlier file.
    """
    intake = _Intake(ledger)
    for found in sources:
        intake.take(found)
    return intake.taking()


def events(ledger: Ledger, taking: Taking, commit: str | None, settings: Mapping[str, Json]) -> list[Event]:
    """The records of a taking: the freeze (with the effective settings) or the later criteria, then the claims."""
    made: list[Event] = []
    if taking.drafts and ledger.created_at:
        made += rules.add(ledger, taking.drafts)
    elif taking.drafts:
        made.append(rules.freeze(ledger, taking.drafts, commit, settings=settings))
    elif taking.claims:
        rules.open_ledger(ledger)
    return made + [rules.claim(draft, claim) for draft, claim in taking.claims]


class _Intake:
    """Goes through files row by row."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._new: dict[str, Draft] = {}
        self._every: dict[str, Draft] = {}
        self._claims: list[tuple[Draft, Claim]] = []
        self._said: dict[str, list[Claim]] = {}
        self._conflicts: list[Conflict] = []
        self._of_file: dict[str, tuple[int, int]] = {}

    def take(self, found: Found) -> None:
        """Take one file in. Raises `Refusal` with all its mistakes."""
        mistakes: list[str] = []
        before = len(self._new), len(self._claims)
        seen: set[str] = set()
        for row in found.rows:
            if folded(row.id) in seen:
                mistakes.append(f"the criterion {shown(row.id)} stands there twice")
                continue
            seen.add(folded(row.id))
            try:
                self._row(row, found)
            except Refusal as refusal:
                mistakes.append(refusal.message if not refusal.hint else f"{refusal.message} ({refusal.hint})")
        if mistakes:
            raise invalid(found.file, mistakes)
        self._of_file[found.file] = (len(self._new) - before[0], len(self._claims) - before[1])

    def taking(self) -> Taking:
        """The sum."""
        if self._new:
            rules.checked(list(self._new.values()), len(self._ledger.criteria))
        passing = [name for name, said in self._said.items() if any(one.passes for one in said)]
        return Taking(
            tuple(self._new.values()),
            tuple(self._claims),
            tuple(self._conflicts),
            tuple(self._every.values()),
            len(passing),
            len(self._said) - len(passing),
            self._of_file,
        )

    def _row(self, row: Row, found: Found) -> None:
        key = folded(row.id)
        there = self._ledger.find(row.id)
        draft = there.draft if there is not None else self._new.get(key)
        if draft is None:
            draft = _defined(row)
            self._new[key] = draft
        clash = (
            f"{shown(draft.id)} was closed here" if there is not None and there.closed else _clash(row, draft, found)
        )
        if clash is not None:
            self._conflicts.append(Conflict(draft.id, found.file, clash))
            return
        self._every[key] = draft
        if row.claim is None:
            return
        said = self._said.setdefault(key, [])
        known = any(one.said == row.claim.said for one in said)
        if not known and (there is None or not _recorded(there, row.claim)):
            self._claims.append((draft, row.claim))
        said.append(row.claim)


def _recorded(criterion: Criterion, claim: Claim) -> bool:
    """Whether the journal says that already: as a claim, or because the file is a view of this ledger elsewhere."""
    fact: tuple[object, ...] = (False, None, None, criterion.error)
    if criterion.passes:
        fact = (True, criterion.evidence_ref, criterion.passed_at, None)
    return fact == claim.said or any(one.said == claim.said for one in criterion.claims)


def _defined(row: Row) -> Draft:
    """The draft of a new criterion. Raises `Refusal` where its row cannot define one."""
    if row.description is None:
        says = f"{shown(row.id)} is no criterion of a ledger beside it or here, and has no text"
        raise Refusal("input.invalid", says, "import the ledger that has its text, or add it there")
    draft = Draft(row.id, row.description, row.evidence_required)
    rules.check_draft(draft)
    return draft


def _clash(row: Row, draft: Draft, found: Found) -> str | None:
    """Why a row cannot be about the criterion that is there; one without a text is."""
    if row.description is not None and row.description.split() != draft.description.split():
        return f"{shown(draft.id)} reads {shown(row.description)} there, and {shown(draft.description)} here"
    if found.kind == "ledger" and (row.evidence_required or ()) != (draft.evidence_required or ()):
        return f"{shown(draft.id)} asks for other evidence there than here"
    return None
