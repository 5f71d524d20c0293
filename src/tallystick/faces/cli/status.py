"""`tallystick status`, which is also `tallystick` alone: where things stand, for people and for scripts."""

from __future__ import annotations

from tallystick.errors import BROKEN, DONE, LOOK, NOT_DONE, exit_status
from tallystick.faces.cli import handed, rows
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import bar, safe
from tallystick.ids import typed
from tallystick.ledger.service import Shown
from tallystick.moment import ago

_NAMED = 5


def status(call: Call) -> int:
    """One feature in full, or a line for each."""
    ledger = call.app.ledger
    named = call.arguments.words
    seen = ledger.every() if named is None else [ledger.look(named)]
    if named is None and len(seen) > 1:
        unfinished = [one for one in seen if one.ledger.abandoned is None]
        focus = unfinished if len(unfinished) == 1 else []
    else:
        focus = seen
    document = {
        "features": [_document(one) for one in seen],
        "store": call.app.place.store,
        "kind": call.app.place.kind,
    }
    if call.arguments.line:
        lines = [" · ".join(rows.title(one.ledger, rows.counts(one)) for one in seen) or "no criteria yet"]
    elif not seen:
        lines = _nothing(call)
    else:
        lines = [line for one in focus for line in _screen(one, call)] or _overview(seen)
    call.terminal.answer(document, lines)
    grave = [rows.say_findings(one, call.terminal) for one in seen]
    if any(grave):
        return LOOK
    return exit_status([_verdict(one) for one in seen]) if call.arguments.check else DONE


def _document(seen: Shown) -> dict[str, object]:
    return {
        "feature": seen.ledger.feature,
        "counts": rows.counts(seen),
        **handed.document(seen.snapshot),
        "abandoned": seen.ledger.abandoned,
        "checkable": seen.snapshot.checkable,
        "head": rows.head(seen),
        "findings": [rows.finding_document(finding) for finding in rows.findings(seen)],
    }


def _verdict(seen: Shown) -> int:
    """What a script must know: 0 only when there are criteria and each holds or was overridden, here, checkably."""
    words = {state for _, state in seen.rows}
    if words & {"regressed", "flaky"}:
        return BROKEN
    if not seen.snapshot.checkable or not words or words - {"holds", "overridden", "closed"}:
        return NOT_DONE
    return DONE


def _nothing(call: Call) -> list[str]:
    example = "tallystick ledger init checkout criteria.md"
    lines = [f'No criteria yet. Tell your agent "make tallystick criteria from …", or: {example}']
    place = call.app.place
    if place.tree:
        lying = call.machine.files
        try:
            names = sorted(lying.listdir(f"{place.tree}/.agent/tasks"))
        except OSError:
            names = []
        if names:
            lines.append(f"This copy has no records yet; .agent/tasks holds files of {safe(', '.join(names), 60)}.")
        from tallystick.handoff.folder import FEATURES, features

        there = features(lying, place.tree)
        if there:
            lines.append(f"{FEATURES} holds folders of {safe(', '.join(there), 60)}: tallystick output find {there[0]}")
    return lines


def _overview(seen: list[Shown]) -> list[str]:
    width = max(len(one.ledger.feature) for one in seen)
    lines = []
    for one in seen:
        numbers = rows.counts(one)
        done = numbers["passing"] + numbers["overridden"]
        rest = "  abandoned" if one.ledger.abandoned is not None else ""
        share = f"{bar(done, max(numbers['total'], 1))}  {done} of {numbers['total']} hold"
        if one.ledger.created_at is None:
            share = "no criteria yet"
        lines.append(f"  {one.ledger.feature:<{width}}  {share}{rest}")
    return [*lines, "", "Next     tallystick status FEATURE"]


def _screen(seen: Shown, call: Call) -> list[str]:
    numbers = rows.counts(seen)
    total = max(numbers["total"], 1)
    paint = call.terminal.paint
    lines = [paint(rows.title(seen.ledger, numbers), "strong"), ""]
    for level in ("challenged", "proven", "ran", "cited"):
        amount = sum(1 for criterion, state in seen.rows if state == "holds" and criterion.level == level)
        if amount:
            lines.append(f"  {level:<10} {paint(bar(amount, total), 'good')} {amount:>4}")
    failed = sum(1 for criterion, state in seen.rows if state == "failing" and criterion.error)
    says = {
        "stale": "what they rest on has changed since",
        "regressed": "passed once, and failed later",
        "failing": f"{failed} failed when last tried" if failed else "",
        "elsewhere": "said by another copy of this repository, not checked here",
        "overridden": "counted as done by a person",
    }
    for state, said in says.items():
        if numbers[state]:
            lines.append(f"  {rows.word(state):<10} {bar(numbers[state], total)} {numbers[state]:>4}   {said}".rstrip())
    now = call.machine.clock.now()
    lines += handed.lines(seen.snapshot, now)
    tried = [(criterion, state) for criterion, state in seen.rows if criterion.error and rows.is_failing(state)]
    tried.sort(key=lambda one: one[0].failed_at or "", reverse=True)
    if tried:
        lines.append("")
    for criterion, _ in tried[:_NAMED]:
        text, error = safe(criterion.description, 26), safe(criterion.error, 40)
        lines.append(f"  {safe(criterion.id, 12):<6} {text:<26}  {error:<40}  {ago(criterion.failed_at or '', now)}")
    return [*lines, "", f"Next     {_next(seen, numbers)}"]


def _next(seen: Shown, numbers: dict[str, int]) -> str:
    feature = seen.ledger.feature
    if rows.findings(seen):
        return "tallystick audit"
    if numbers["failing"] or numbers["regressed"]:
        return f"tallystick ledger failing {feature}"
    if numbers["stale"]:
        first = next(criterion.id for criterion, state in seen.rows if state == "stale")
        return f"tallystick ledger get {feature} {typed(first)}"
    if numbers["elsewhere"]:
        return f"tallystick ledger show {feature}"
    if not seen.rows:
        return f"tallystick ledger init {feature} criteria.md"
    return "nothing is left to do"
