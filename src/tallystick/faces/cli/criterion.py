"""`tallystick ledger get`: the page of one criterion. What it asks, how it stands and why, what it rests on, what to
do next."""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.errors import DONE, LOOK
from tallystick.evidence.model import LastRun, runs_of
from tallystick.faces.cli import rows
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import safe
from tallystick.ids import escaped, typed
from tallystick.ledger.model import Claim, Criterion, Red, least_level
from tallystick.ledger.requirement import is_machine_check, parse
from tallystick.ledger.service import Shown
from tallystick.limits import PAGE_ROWS
from tallystick.moment import ago
from tallystick.wiring import evidence, resting

#: So many files that a pass rests on are named on the screen, and so many characters of a commit.
_FILES, _COMMIT = 5, 10


def get(call: Call) -> int:
    """The page of one criterion, or with `--diff` how its tests differ from those that were seen red."""
    feature, name = call.feature_and_word()
    seen = call.app.ledger.show(feature)
    criterion = seen.criterion(name)
    state = next(word for one, word in seen.rows if one.id == criterion.id)
    read = resting(call.app).files(criterion.rests_on) if criterion.rests_on else ()
    last = runs_of(seen.snapshot).get(criterion.id)
    document = _document(feature, criterion, state, read, last)
    if call.arguments.diff:
        found = evidence(call.app).diff(criterion)
        call.terminal.answer({**document, "diff": list(found)}, _diff(feature, criterion, found))
    else:
        call.terminal.answer(document, _lines(call, seen, criterion, state, read, last))
    return LOOK if rows.say_findings(seen, call.terminal) else DONE


def _document(
    feature: str, criterion: Criterion, state: str, read: tuple[str, ...], last: LastRun | None
) -> dict[str, Json]:
    required = list(criterion.evidence_required) if criterion.evidence_required is not None else None
    cited: list[Json] = [{"kind": one.kind, "target": one.target, "digest": one.digest} for one in criterion.citations]
    cited += [{"kind": "read", "target": name, "digest": None} for name in read[:PAGE_ROWS]]
    return {
        "feature": feature,
        **rows.criterion_document(criterion, state),
        "evidence_required": required,
        "attempts": criterion.attempts,
        "amended": criterion.amended,
        "added": criterion.added,
        "closed": criterion.closed,
        "claims": [claim._asdict() for claim in criterion.claims],
        "rests_on": cited,
        "rests_on_more": max(0, len(read) - PAGE_ROWS),
        "last_run": None if last is None else _run(last),
        "red": None if criterion.red is None else _red(criterion.red),
        "born_green": criterion.born_green,
        "diff": None,
    }


def _run(last: LastRun) -> dict[str, Json]:
    return {"run": last.run, "green": last.green, "at": last.at, "by": last.role, "since": last.since}


def _red(red: Red) -> dict[str, Json]:
    ids, moved = list(red.ids[:PAGE_ROWS]), list(red.moved[:PAGE_ROWS])
    return {"run": red.run, "ids": ids, "more": len(red.ids) - len(ids), "commit": red.commit, "reviewed": moved}


def _lines(
    call: Call, seen: Shown, criterion: Criterion, state: str, read: tuple[str, ...], last: LastRun | None
) -> list[str]:
    """The page for people: what it asks for, why it stands as it does, what it rests on, what comes next."""
    now, feature = call.machine.clock.now(), seen.ledger.feature
    lines = [f"{safe(criterion.id)}   {rows.word(state)}", "", f"  {safe(criterion.description)}"]
    lines += [f"  asks for   {safe(entry)}" for entry in criterion.evidence_required or ()]
    if criterion.passes:
        when = ago(criterion.passed_at or "", now)
        lines.append(
            f"  passed     {criterion.level}, by {safe(criterion.passed_by)}, {when}: {safe(criterion.evidence_ref)}"
        )
    lines += _why(call, criterion, state)
    if last is not None:
        since = f", so since {safe(last.since[:_COMMIT])}" if last.since else ""
        word = "green" if last.green else "red"
        lines.append(f"  last run   {word}, {safe(last.run)} by {safe(last.role)}, {ago(last.at, now)}{since}")
    lines += _seen_red(feature, criterion)
    lines += [f"  rests on   {safe(one.target)}  sha256:{one.digest[:16]}…" for one in criterion.citations]
    if read:
        more = f" and {len(read) - _FILES} more" if len(read) > _FILES else ""
        lines.append(f"  rests on   {', '.join(safe(name, 60) for name in read[:_FILES])}{more}")
    lines += [f"  claimed    {_claim(one)}" for one in criterion.claims]
    lines += _waiting(seen, criterion.id)
    if criterion.override is not None:
        lines.append(f"  overridden {safe(criterion.override)}")
    if criterion.closed is not None:
        lines.append(f"  closed     {safe(criterion.closed)}")
    if criterion.error:
        lines.append(
            f"  failed     {criterion.attempts} time(s), {ago(criterion.failed_at or '', now)}: {safe(criterion.error)}"
        )
    return [*lines, "", _next(feature, criterion, state)]


def _why(call: Call, criterion: Criterion, state: str) -> list[str]:
    """Why a pass does not hold."""
    if state == "stale":
        return [f"  changed    {safe(call.app.ledger.changed(criterion))} since its proof"]
    if state == "flaky":
        return ["  flaky      green one time and red another, with nothing changed in between"]
    if state == "failing" and criterion.passes:
        least = least_level(criterion, call.app.ledger.checked())
        return [f"  too low    it is {criterion.level}, and {least} is asked for"]
    return []


def _seen_red(feature: str, criterion: Criterion) -> list[str]:
    """How its tests were seen red, and which of them have changed since."""
    lines = []
    red = criterion.red
    if criterion.born_green:
        lines.append("  born green its check was green on the very state that it was frozen in")
    if red is not None:
        count, at = len(red.ids), f" at {safe(red.commit[:_COMMIT])}" if red.commit else ""
        lines.append(f"  seen red   {count} test{'' if count == 1 else 's'}, {safe(red.run)}{at}")
    if red is not None and red.moved:
        lines.append(
            f"  reviewed   {', '.join(safe(name, 80) for name in red.moved[:_FILES])} changed since, and red again"
        )
        name = typed(criterion.id)
        lines.append(f"             tallystick ledger get {feature} {name} --diff   shows it")
        lines.append(f"             tallystick ledger accept {feature} {name} --reason …   lets it stand")
    return lines


def _diff(feature: str, criterion: Criterion, found: list[str]) -> list[str]:
    """How the tests of a criterion differ from those that were seen red."""
    if found:
        return [escaped(line) for line in found]
    if criterion.red is None and criterion.seen is None:
        name = typed(criterion.id)
        return [f"No test of {safe(criterion.id)} was seen red yet: tallystick ledger red {feature} {name}"]
    return [f"The tests of {safe(criterion.id)} are those that were seen red."]


def _waiting(seen: Shown, name: str) -> list[str]:
    """What another copy of the repository says of the criterion and does not count here."""
    ledger = seen.ledger
    lines: list[str] = []
    if any(mark.data["criterion"] == name for mark in ledger.proposals.values()):
        from tallystick.faces.cli.sharing import waits

        for mark in ledger.proposals.values():
            if mark.data["criterion"] == name:
                lines += waits(mark, ledger.feature)
    if name in ledger.rivals:
        lines.append(f'  elsewhere  another copy means by that id: "{safe(ledger.rivals[name].description, 120)}"')
    return lines


def _claim(claim: Claim) -> str:
    """What a foreign store says, and that it does not count."""
    said = "passing" if claim.passes else "failing"
    parts = [claim.at, claim.evidence_ref, claim.error]
    told = "".join(f", {safe(part, 80)}" for part in parts if part)
    return f"{said}{told} ({safe(claim.source, 80)}); counts for nothing"


def _next(feature: str, criterion: Criterion, state: str) -> str:
    word = typed(criterion.id)
    if state in ("failing", "stale", "regressed", "elsewhere"):
        if any(is_machine_check(parse(entry)) for entry in criterion.evidence_required or ()):
            return f"Next     tallystick check {feature} {word}          runs its check, changes nothing"
        return f"Next     tallystick ledger pass {feature} {word} --evidence PATH"
    return "Next     nothing is left to do for it"
