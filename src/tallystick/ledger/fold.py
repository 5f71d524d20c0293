"""How records become the state of a ledger. Pure.

Only records that are ours make anything pass; a pass counts for the very text it was given for, by digest, so the
order of amendments and passes does not matter (D6). What another copy of the repository says defines and is shown.
"""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.ids import folded
from tallystick.journal.record import Record
from tallystick.ledger.model import Citation, Claim, Criterion, Draft, Ledger, Mark, draft_of

_EVIDENCE = ("kind", "target", "digest", "size")


class LedgerFold:
    """Folds ledger records into a `Ledger`."""

    version = "4"
    types = frozenset(
        (
            "accepted",
            "ledger_frozen",
            "criterion_added",
            "criterion_amended",
            "criterion_closed",
            "claim_recorded",
            "pass_recorded",
            "failure_recorded",
            "override_recorded",
            "feature_abandoned",
        )
    )

    def empty(self, feature: str) -> Ledger:
        """A ledger that nobody froze yet."""
        return Ledger(feature)

    def copy(self, state: Ledger) -> Ledger:
        """The same criteria, in tables of their own."""
        other = Ledger(state.feature)
        other.created_at, other.frozen_by, other.commit = state.created_at, state.frozen_by, state.commit
        other.abandoned, other.criteria, other.folds = state.abandoned, dict(state.criteria), dict(state.folds)
        other.orphans = {name: list(marks) for name, marks in state.orphans.items()}
        other.proposals, other.accepted = dict(state.proposals), set(state.accepted)
        other.rivals = dict(state.rivals)
        return other

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
                _define(state, draft_of(value), False, ours)
        elif record.type == "criterion_added":
            _define(state, draft_of(data["criterion"]), True, ours)
        elif record.type == "feature_abandoned":
            if ours:
                state.abandoned = data["reason"]
        elif record.type == "accepted":
            if ours:
                _accept(state, data["records"])
        elif record.type in _ROWS:
            _mark(state, Mark(record.id, record.type, record.at, record.by.role, data), ours)

    def dump(self, state: Ledger) -> Json:
        """For a checkpoint: positional, since it is read far more often than looked at."""
        rows = list(state.criteria.values())
        rest = [state.orphans, state.proposals, sorted(state.accepted), state.rivals]
        return [state.created_at, state.frozen_by, state.commit, state.abandoned, rows, rest]

    def load(self, feature: str, data: Json) -> Ledger:
        """From a checkpoint."""
        state = Ledger(feature)
        state.created_at, state.frozen_by, state.commit, state.abandoned, rows, rest = data
        make = Criterion._make
        for row in rows:
            if row[2] is not None:
                row[2] = tuple(row[2])
            row[10] = tuple(Citation(*one) for one in row[10])
            row[-1] = tuple([Claim(*one) for one in row[-1]])
            state.criteria[row[0]] = make(row)
        state.folds = {folded(name) if not _plain(name) else name.lower(): name for name in state.criteria}
        orphans, proposals, accepted, rivals = rest
        state.orphans = {name: [Mark(*one) for one in marks] for name, marks in orphans.items()}
        state.proposals = {name: Mark(*one) for name, one in proposals.items()}
        state.accepted = set(accepted)
        state.rivals = {name: Draft(one[0], one[1], one[2] and tuple(one[2])) for name, one in rivals.items()}
        return state


def _plain(name: str) -> bool:
    return name.isascii()


def _define(state: Ledger, draft: Draft, added: bool, ours: bool) -> None:
    if state.define(draft, added, ours):
        for mark in state.orphans.pop(draft.id, ()):
            _mark(state, mark, True)


def _mark(state: Ledger, mark: Mark, ours: bool) -> None:
    """Take one mark in. Ours for what nobody defined yet waits; another copy's change of a text waits for a person."""
    criterion = state.criteria.get(mark.data["criterion"])
    if criterion is None:
        if ours:
            state.orphans.setdefault(mark.data["criterion"], []).append(_slim(mark))
    elif mark.type in PROPOSALS and not ours and mark.id not in state.accepted:
        state.proposals[mark.id] = mark
        state.criteria[criterion.id] = criterion._replace(pending=criterion.pending + 1)
    else:
        state.criteria[criterion.id] = _ROWS[mark.type](criterion, mark, ours)


def _accept(state: Ledger, records: list[str]) -> None:
    """A person lets these count; those that are not here yet, once they come."""
    for name in records:
        state.accepted.add(name)
        mark = state.proposals.pop(name, None)
        if mark is not None:
            criterion = state.criteria[mark.data["criterion"]]
            state.criteria[criterion.id] = criterion._replace(pending=criterion.pending - 1)
            _mark(state, mark, False)


def _slim(mark: Mark) -> Mark:
    """Without the bytes of its evidence, which stand in the record."""
    evidence = [{key: one[key] for key in _EVIDENCE} for one in mark.data.get("evidence", ())]
    return mark._replace(data={**mark.data, "evidence": evidence} if evidence else mark.data)


def _claimed(criterion: Criterion, mark: Mark, _ours: bool) -> Criterion:
    """A claim counts for nothing, so it is no matter whose record says it."""
    data = mark.data
    claim = Claim(data["passes"], data.get("evidence_ref"), data.get("at"), data.get("error"), data["source"])
    if data["digest"] != criterion.digest or any(one.said == claim.said for one in criterion.claims):
        return criterion
    return criterion._replace(claims=(*criterion.claims, claim))


def _passed(criterion: Criterion, mark: Mark, ours: bool) -> Criterion:
    data = mark.data
    if data["digest"] != criterion.digest or criterion.closed is not None:
        return criterion
    if not ours:
        return criterion if criterion.passes else criterion._replace(elsewhere=True)
    evidence = data.get("evidence", ())
    return criterion._replace(
        passes=True,
        passed_at=mark.at,
        passed_by=mark.role,
        level=data["level"],
        evidence_ref=data["evidence_ref"],
        citations=tuple([Citation(one["kind"], one["target"], one["digest"], one["size"]) for one in evidence]),
        error=None,
        regressed=False,
        elsewhere=False,
        rests_on=data.get("rests_on"),
    )


def _failed(criterion: Criterion, mark: Mark, ours: bool) -> Criterion:
    if not ours:
        if criterion.error or criterion.passes:
            return criterion
        return criterion._replace(error=mark.data["error"], failed_at=mark.at)
    return criterion._replace(
        error=mark.data["error"],
        failed_at=mark.at,
        attempts=criterion.attempts + 1,
        regressed=criterion.passes,
    )


def _amended(criterion: Criterion, mark: Mark, ours: bool) -> Criterion:
    """The check is whose words it is: another key's, even where a person let the amendment count."""
    draft = draft_of(mark.data["to"])
    foreign = criterion.foreign if draft.evidence_required == criterion.evidence_required else not ours
    return Criterion(
        *draft,
        draft.digest,
        added=criterion.added,
        error=criterion.error,
        failed_at=criterion.failed_at,
        attempts=criterion.attempts,
        amended=criterion.amended + 1,
        pending=criterion.pending,
        foreign=foreign,
    )


def _closed(criterion: Criterion, mark: Mark, _ours: bool) -> Criterion:
    return criterion._replace(closed=mark.data["reason"])


def _overridden(criterion: Criterion, mark: Mark, _ours: bool) -> Criterion:
    if mark.data["digest"] != criterion.digest:
        return criterion
    return criterion._replace(override=mark.data["reason"], passed_at=mark.at, passed_by=mark.role)


_ROWS = {
    "claim_recorded": _claimed,
    "pass_recorded": _passed,
    "failure_recorded": _failed,
    "criterion_amended": _amended,
    "criterion_closed": _closed,
    "override_recorded": _overridden,
}
#: Of another copy these wait for a person (D6).
PROPOSALS = frozenset(("criterion_amended", "criterion_closed", "override_recorded"))
