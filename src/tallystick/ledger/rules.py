"""The rules of the ledger: pure functions from the state (as locked) to the events that may follow, or a refusal.

The seed's rules, kept here for every face: a ledger is frozen once, a pass is marked once, a criterion's text never
changes without a visible amendment and the loss of its pass (P7), a failed attempt is remembered until a pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.errors import Refusal, Where
from tallystick.ids import criterion_id, folded, shown, typed
from tallystick.journal.chain import Finding
from tallystick.journal.record import Event
from tallystick.ledger.model import Claim, Criterion, Draft, Ledger, Red
from tallystick.ledger.requirement import File, Reserved, Run, Tests, Words, parse
from tallystick.limits import CRITERIA, DESCRIPTION_CHARACTERS, ERROR_CHARACTERS, REASON_CHARACTERS, REQUIREMENTS


class Evidence(NamedTuple):
    """One kept citation: `data` is its whole JSON for the record, bytes included when they are small."""

    reference: str
    data: dict[str, Json]


def freeze(
    ledger: Ledger,
    drafts: Sequence[Draft],
    commit: str | None,
    state: str | None = None,
    settings: Mapping[str, Json] | None = None,
) -> Event:
    """`ledger_frozen`, once for each feature; `commit` is where the project stood, `state` a digest of what lay there,
    `settings` the effective ones that its checks are frozen with."""
    if ledger.created_at is not None:
        raise Refusal(
            "feature.exists",
            f"{ledger.feature} has been frozen already, with {len(ledger.criteria)} criteria",
            f"add later criteria with `tallystick ledger add {ledger.feature} FILE`, or choose another id",
        )
    checked(drafts)
    data: dict[str, Json] = {"criteria": [draft.document() for draft in drafts], "commit": commit}
    if settings:
        from tallystick import effective

        data["effective"] = effective.bounded(settings)
    return Event("ledger_frozen", data if state is None else {**data, "state": state})


def add(ledger: Ledger, drafts: Sequence[Draft]) -> list[Event]:
    """`criterion_added` for each draft; ids must be new."""
    open_ledger(ledger)
    checked(drafts, len(ledger.criteria))
    for draft in drafts:
        known = ledger.find(draft.id)
        if known is not None:
            raise Refusal(
                "criterion.exists",
                f"{ledger.feature} has the criterion {known.id} already; nothing was added",
                f"amend it with `tallystick ledger amend {typed(known.id)} --text … --reason …`, or choose another id",
            )
    return [Event("criterion_added", {"criterion": draft.document()}) for draft in drafts]


def claim(draft: Draft, said: Claim) -> Event:
    """`claim_recorded`: what a foreign store says of that very text. It makes nothing pass and is no attempt."""
    return Event("claim_recorded", {"criterion": draft.id, "digest": draft.digest, **said._asdict()})


def mark_pass(
    ledger: Ledger, seen: Criterion, reference: str, level: str, evidence: Sequence[Evidence], changed: bool
) -> Event:
    """`pass_recorded` for the criterion that was `seen` when the work for it began, unless it was amended since.

    A pass that holds is marked once; one that did not hold any more (`changed`) may be marked again.
    """
    criterion = unamended(ledger, seen)
    changed = changed and criterion.passed_at == seen.passed_at  # somebody else may have passed it anew meanwhile
    if criterion.passes and not criterion.regressed and not criterion.flaky and not changed:
        raise already(ledger, criterion)
    data = {
        "criterion": criterion.id,
        "digest": criterion.digest,
        "level": level,
        "evidence_ref": reference,
        "evidence": [one.data for one in evidence],
    }
    return Event("pass_recorded", data)


def already(ledger: Ledger, criterion: Criterion) -> Refusal:
    """The refusal of a second mark: who and when, and the receipt of the first."""
    receipt = {"feature": ledger.feature, "criterion": criterion.id, "evidence_ref": criterion.evidence_ref}
    return Refusal(
        "pass.already",
        f"{criterion.id} was passed already, by {criterion.passed_by} at {criterion.passed_at}",
        "nothing is left to do for it",
        facts={"receipt": {**receipt, "passed_at": criterion.passed_at, "level": criterion.level}},
    )


def red_seen(ledger: Ledger, seen: Criterion, red: Red) -> Event:
    """`red_seen` for the criterion that was `seen` when its tests were run; without ids it was born green."""
    criterion = unamended(ledger, seen)
    data: dict[str, Json] = {
        "criterion": criterion.id,
        "digest": criterion.digest,
        "run": red.run,
        "tree": red.tree,
        "commit": red.commit,
        "lock": red.lock,
        "ids": list(red.ids),
    }
    if red.moved:
        data |= {"moved": list(red.moved), "diff": red.diff}
    return Event("red_seen", data)


def mark_failure(ledger: Ledger, name: str, error: str) -> Event:
    """`failure_recorded`, with the error cut to its limit."""
    criterion = open_criterion(ledger, name)
    text = said(error, "the error")
    if len(text) > ERROR_CHARACTERS:
        text = text[: ERROR_CHARACTERS - 1] + "…"
    return Event("failure_recorded", {"criterion": criterion.id, "digest": criterion.digest, "error": text})


def amend(ledger: Ledger, name: str, text: str | None, required: tuple[str, ...] | bool | None, reason: str) -> Event:
    """`criterion_amended`: both texts stand in the journal, and the pass is dropped. `required` False keeps it."""
    criterion = open_criterion(ledger, name)
    kept = criterion.evidence_required if required is False else required
    assert kept is None or isinstance(kept, tuple)
    draft = Draft(criterion.id, criterion.description if text is None else text, kept or None)
    check_draft(draft)
    if draft.digest == criterion.digest:
        raise Refusal(
            "input.invalid", f"the amendment of {criterion.id} changes nothing", "give another text or other evidence"
        )
    data = {
        "criterion": criterion.id,
        "from": criterion.draft.document(),
        "to": draft.document(),
        "reason": said(reason, "the reason"),
    }
    return Event("criterion_amended", data)


def close(ledger: Ledger, name: str, reason: str) -> Event:
    """`criterion_closed`: the criterion leaves the count of what is to do, and stays in the count of the original."""
    criterion = open_criterion(ledger, name)
    data = {"criterion": criterion.id, "digest": criterion.digest, "reason": said(reason, "the reason")}
    return Event("criterion_closed", data)


def override(ledger: Ledger, name: str, reason: str) -> Event:
    """`override_recorded`: a person says it counts as done; listed apart for ever."""
    criterion = open_criterion(ledger, name)
    if criterion.override is not None:
        raise Refusal(
            "pass.already",
            f"{criterion.id} is overridden already: {shown(criterion.override)}",
            "nothing is left to do for it",
        )
    data = {"criterion": criterion.id, "digest": criterion.digest, "reason": said(reason, "the reason")}
    return Event("override_recorded", data)


def accept(ledger: Ledger, name: str, reason: str) -> Event:
    """`accepted`: what another copy changed counts from now on; of one criterion, or (name "") of all of them."""
    reason = said(reason, "the reason")
    found = known_criterion(ledger, name).id if name else ""
    waiting = [key for key, mark in ledger.proposals.items() if not found or mark.data["criterion"] == found]
    if not waiting:
        raise Refusal(
            "criterion.unknown",
            f"nothing of {shown(found) if found else ledger.feature} waits to be accepted",
            f"`tallystick ledger show {ledger.feature}` shows how it stands",
        )
    return Event("accepted", {"criterion": found or None, "records": waiting, "reason": reason})


def accept_tests(ledger: Ledger, name: str, lock: str | None, reason: str) -> Event:
    """`accepted`: the tests of a criterion stand as they lie now; `lock` names what must not change from here on."""
    criterion = open_criterion(ledger, name)
    red = criterion.red or criterion.seen
    if lock is None or red is None or (lock == red.lock and not red.moved and red.digest == criterion.digest):
        raise Refusal(
            "criterion.unknown",
            f"nothing of {shown(criterion.id)} waits to be accepted: its tests are those that were seen red",
            f"`tallystick ledger get {ledger.feature} {typed(criterion.id)}` shows how it stands",
        )
    reason = said(reason, "the reason")
    return Event("accepted", {"criterion": criterion.id, "records": [], "lock": lock, "reason": reason})


def abandon(ledger: Ledger, reason: str) -> Event:
    """`feature_abandoned`: nothing more is expected of it."""
    open_ledger(ledger)
    return Event("feature_abandoned", {"reason": said(reason, "the reason")})


def refused(ledger: Ledger, name: str, act: str, refusal: Refusal) -> Event:
    """`pass_refused`: the trace a role's refusal leaves. A name that is no criterion of the ledger is only quoted."""
    known = ledger.find(name)
    criterion = known.id if known is not None else shown(name) if name else ""
    return Event("pass_refused", {"criterion": criterion, "act": act, "code": refusal.code, "says": refusal.message})


def open_ledger(ledger: Ledger) -> None:
    """Raise unless the ledger is frozen and not abandoned."""
    if ledger.created_at is None:
        raise unknown_feature(ledger.feature)
    if ledger.abandoned is not None:
        raise Refusal(
            "feature.abandoned", f"{ledger.feature} was abandoned: {shown(ledger.abandoned)}", "use another feature id"
        )


def open_criterion(ledger: Ledger, name: str) -> Criterion:
    """The criterion called `name`, if facts may be recorded about it."""
    open_ledger(ledger)
    criterion = known_criterion(ledger, name)
    if criterion.closed is not None:
        raise Refusal(
            "criterion.closed", f"{criterion.id} was closed: {shown(criterion.closed)}", "add a new criterion"
        )
    return criterion


def is_open(ledger: Ledger, name: str) -> bool:
    """Whether `name` is a criterion that takes facts and does not pass."""
    criterion = ledger.criteria.get(name)
    return ledger.abandoned is None and criterion is not None and criterion.closed is None and not criterion.passes


def unamended(ledger: Ledger, seen: Criterion) -> Criterion:
    """The criterion as it is now, if its text is still the one that was `seen` when the work for it began."""
    now = open_criterion(ledger, seen.id)
    if now.digest != seen.digest:
        raise Refusal(
            "criterion.amended", f"{seen.id} was amended meanwhile; nothing was recorded", "look at it and try again"
        )
    return now


def known_criterion(ledger: Ledger, name: str) -> Criterion:
    """The criterion called `name`, closed or not."""
    criterion = ledger.find(name)
    if criterion is None:
        near = ", ".join(list(ledger.criteria)[:5])
        more = "" if len(ledger.criteria) <= 5 else f" … ({len(ledger.criteria)} in all)"
        raise Refusal(
            "criterion.unknown",
            f"{ledger.feature} has no criterion {shown(name)}; it has {near or 'none'}{more}",
            f"`tallystick ledger show {ledger.feature}` lists them",
        )
    return criterion


def unknown_feature(feature: str) -> Refusal:
    """The refusal for a feature without a ledger."""
    return Refusal(
        "feature.unknown",
        f"there is no ledger of {feature} here",
        f"freeze one with `tallystick ledger init {feature} criteria.md`; `tallystick` lists what there is",
    )


def passable_by_citing(criterion: Criterion) -> None:
    """Raise where a machine check must be run instead, or where this version cannot check at all."""
    for entry in criterion.evidence_required or ():
        requirement = parse(entry)
        if isinstance(requirement, Reserved):
            raise Refusal(
                "check.unsupported",
                f"{criterion.id} asks for {shown(entry)}, which cannot be checked by this version",
                "a person or a later version decides it; until then the criterion stays open",
            )
        if isinstance(requirement, Run | Tests):
            raise Refusal(
                "check.needed",
                f"{criterion.id} names a machine check ({shown(entry)}), which is passed by running it, not by citing",
                "`tallystick check` says whether it would pass; `tallystick ledger pass` runs it",
            )


def references_wanted(criterion: Criterion) -> list[str]:
    """The requirements in words, each of which needs a reference of its own."""
    return [entry for entry in criterion.evidence_required or () if isinstance(parse(entry), Words)]


def unsound(findings: Sequence[Finding]) -> None:
    """Raise the gravest finding: nothing that would count is recorded on top of damage."""
    for finding in findings:
        if finding.grave:
            where = Where(finding.file, finding.line, finding.offset) if finding.file else None
            raise Refusal(
                finding.code if finding.code != "anchor.fork" else "anchor.rolled_back",
                f"{finding.says}; nothing that counts was changed",
                "look at it with `tallystick audit`; a person goes on with `tallystick audit --accept --reason …`",
                where,
            )


def said(text: str, what: str) -> str:
    """A reason or error that says something, within its limit."""
    if not text.strip():
        raise Refusal("input.invalid", f"{what} is empty", "say it in a few words")
    if what == "the reason" and len(text) > REASON_CHARACTERS:
        raise Refusal(
            "input.too_large", f"{what} has {len(text):,} characters, the limit is {REASON_CHARACTERS:,}", "shorten it"
        )
    return encodable(text, what)


def encodable(text: str, what: str) -> str:
    """`text` if it is real text: a lone surrogate is no character and no reader could read it back."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Refusal(
            "input.invalid", f"{what} holds a lone surrogate, which is no character", "write it as UTF-8 text"
        ) from None
    return text


def checked(drafts: Sequence[Draft], already_there: int = 0) -> None:
    """Raise unless the drafts may be frozen together: at least one, each sound, no id twice, within the limits."""
    if not drafts:
        raise Refusal(
            "input.invalid", "no criterion was found", "write them as `- [ ] AC1 text`, or as the seed's JSON"
        )
    if len(drafts) + already_there > CRITERIA:
        raise Refusal(
            "input.too_large",
            f"{len(drafts) + already_there:,} criteria, the limit is {CRITERIA:,}",
            "split the feature",
        )
    seen: dict[str, str] = {}
    for draft in drafts:
        check_draft(draft)
        key = folded(draft.id)
        if key in seen:
            other = "" if seen[key] == draft.id else f" (as {shown(seen[key])}, which is the same id)"
            raise Refusal(
                "input.invalid", f"the criterion {shown(draft.id)} stands there twice{other}", "give each its own id"
            )
        seen[key] = draft.id


def check_draft(draft: Draft) -> None:
    """Raise unless id, text and every requirement are sound."""
    criterion_id(draft.id)
    encodable(draft.description, f"the text of {shown(draft.id)}")
    if not draft.description.strip():
        raise Refusal("input.invalid", f"the criterion {shown(draft.id)} has no text", "say what must be true")
    if len(draft.description) > DESCRIPTION_CHARACTERS:
        raise Refusal(
            "input.too_large",
            f"the text of {shown(draft.id)} has {len(draft.description):,} characters, "
            f"the limit is {DESCRIPTION_CHARACTERS:,}",
            "keep the criterion short and put the rest into spec.md",
        )
    required = draft.evidence_required or ()
    if len(required) > REQUIREMENTS:
        raise Refusal(
            "input.too_large",
            f"{shown(draft.id)} has {len(required)} requirements, the limit is {REQUIREMENTS}",
            "split the criterion",
        )
    for entry in required:
        encodable(entry, f"evidence_required of {shown(draft.id)}")
        if not entry.strip() or len(entry) > DESCRIPTION_CHARACTERS:
            raise Refusal(
                "input.invalid",
                f"an entry in evidence_required of {shown(draft.id)} is empty or too long",
                "say it in one line, or take the entry out",
            )
        try:
            parse(entry)
        except Refusal as refusal:
            says = f"the criterion {shown(draft.id)}: {refusal.message}"
            raise Refusal(refusal.code, says, refusal.hint) from None


def files_wanted(criterion: Criterion) -> list[str]:
    """The paths of `file:` requirements: the ledger cites these by itself when the criterion is passed."""
    parsed = [parse(entry) for entry in criterion.evidence_required or ()]
    return [one.path for one in parsed if isinstance(one, File)]
