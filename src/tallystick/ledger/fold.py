"""How records become the state of a ledger. Pure.

Only records that are ours make anything pass; a pass counts for the very text it was given for, by digest, so the
order of amendments and passes does not matter (D6). What another copy of the repository says defines and is shown.
"""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.ids import folded
from tallystick.journal.record import Record
from tallystick.ledger.model import Citation, Claim, Criterion, Draft, Ledger, Mark, Red, draft_of

_EVIDENCE = ("kind", "target", "digest", "size")
_RED, _SEEN = Criterion._fields.index("red"), Criterion._fields.index("seen")


class LedgerFold:
    """Folds ledger records into a `Ledger`."""

    version = "6"
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
            "red_seen",
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
        other.state = state.state
        other.abandoned, other.criteria, other.folds = state.abandoned, dict(state.criteria), dict(state.folds)
        other.orphans = {name: list(marks) for name, marks in state.orphans.items()}
        other.proposals, other.accepted = dict(state.proposals), set(state.accepted)
        other.rivals, other.effective = dict(state.rivals), state.effective
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
                state.state = data.get("state") if ours else None
            if ours or not state.effective:
                state.effective = data.get("effective") or state.effective
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
                if data.get("lock") and data.get("criterion"):
                    _mark(state, Mark(record.id, record.type, record.at, record.by.role, data), True)
                state.effective = data.get("effective") or state.effective
        elif record.type in _ROWS:
            _mark(state, Mark(record.id, record.type, record.at, record.by.role, data), ours)

    def dump(self, state: Ledger) -> Json:
        """For a checkpoint: positional, since it is read far more often than looked at."""
        rows = list(state.criteria.values())
        rest = [state.orphans, state.proposals, sorted(state.accepted), state.rivals, state.state, state.effective]
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
            row[_RED], row[_SEEN] = _red_of(row[_RED]), _red_of(row[_SEEN])
            row[-1] = tuple([Claim(*one) for one in row[-1]])
            state.criteria[row[0]] = make(row)
        state.folds = {folded(name) if not _plain(name) else name.lower(): name for name in state.criteria}
        orphans, proposals, accepted, rivals, state.state, state.effective = rest
        state.orphans = {name: [Mark(*one) for one in marks] for name, marks in orphans.items()}
        state.proposals = {name: Mark(*one) for name, one in proposals.items()}
        state.accepted = set(accepted)
        state.rivals = {name: Draft(one[0], one[1], one[2] and tuple(one[2])) for name, one in rivals.items()}
        return state


def _red_of(row: list[Json] | None) -> Red | None:
    """A red out of a checkpoint."""
    return None if row is None else Red._make([*row[:5], tuple(row[5]), tuple(row[6]), *row[7:]])


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
    was = data.get("was")
    if not ours:
        seen = criterion.seen._replace(was=was) if criterion.seen is not None and was else criterion.seen
        return criterion._replace(elsewhere=criterion.elsewhere or not criterion.passes, seen=seen)
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
        flaky=data.get("flaky", False),
        settings=data.get("settings"),
        red=criterion.red._replace(was=was) if criterion.red is not None and was else criterion.red,
    )


def _seen_red(criterion: Criterion, mark: Mark, ours: bool) -> Criterion:
    """Ours counts; another copy's can be made again here. One without ids says that the check was green at birth."""
    data = mark.data
    if not data["ids"] or not data["lock"]:
        return criterion._replace(born_green=True) if ours and data["digest"] == criterion.digest else criterion
    red = Red(
        data["run"],
        data["digest"],
        data["tree"],
        data.get("commit"),
        data["lock"],
        tuple(data["ids"]),
        tuple(data.get("moved", ())),
        data.get("diff"),
    )
    if not ours:
        return criterion._replace(seen=red)
    before = criterion.red
    if before is not None and red.moved:  # what a person has not looked at yet stays to be looked at
        moved = tuple(dict.fromkeys((*before.moved, *red.moved)))
        red = red._replace(moved=moved, first=before.first or before.lock)
    return criterion._replace(red=red)


def _let_stand(criterion: Criterion, mark: Mark, _ours: bool) -> Criterion:
    """A person lets the tests of a criterion stand as they are now."""
    red = criterion.red._replace(moved=(), diff=None, first=None) if criterion.red is not None else None
    return criterion._replace(accepted=mark.data["lock"], red=red)


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
        flaky=mark.data.get("flaky", False),
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
        red=criterion.red,
        seen=criterion.seen,
        born_green=criterion.born_green,
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
    "red_seen": _seen_red,
    "criterion_amended": _amended,
    "criterion_closed": _closed,
    "override_recorded": _overridden,
    "accepted": _let_stand,
}
#: Of another copy these wait for a person (D6).
PROPOSALS = frozenset(("criterion_amended", "criterion_closed", "override_recorded"))
