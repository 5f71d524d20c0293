"""`tallystick ledger …` and `tallystick abandon`."""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.errors import DONE, LOOK, Refusal
from tallystick.faces.cli import rows
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import safe
from tallystick.ids import feature_id, shown, typed
from tallystick.ledger.model import ledger_of, state_of
from tallystick.ledger.requirement import is_machine_check, parse
from tallystick.ledger.service import Receipt
from tallystick.limits import PAGE_ROWS
from tallystick.wiring import evidence


def init(call: Call) -> int:
    """Freeze a new ledger from a file."""
    words = call.arguments.words
    if len(words) > 2:
        raise Refusal("usage", f"one word too many: {shown(words[2])}", "tallystick ledger init FEATURE FILE")
    found = call.source(words[-1])
    feature = words[0] if len(words) == 2 else found.feature
    if feature is None:
        raise Refusal("usage", f"{shown(words[-1])} does not name its feature", "tallystick ledger init FEATURE FILE")
    if found.feature not in (None, feature):
        raise Refusal(
            "input.invalid",
            f"{shown(words[-1])} is the ledger of {shown(str(found.feature))}, not of {shown(feature)}",
            f"tallystick ledger init {typed(str(found.feature))} {typed(words[-1])}",
        )
    receipt = call.app.ledger.freeze(feature_id(feature), found.drafts)
    checkable = sum(1 for draft in found.drafts if _has_check(draft.evidence_required))
    total = len(found.drafts)
    lines = [f"{feature}: {total} criteria frozen, each starts open."]
    if found.ticked:
        lines.append(f"{found.ticked} came ticked; a tick is a claim, so they start open too.")
    if not checkable:
        lines.append(f"{total} of {total} criteria name no check; `tests:` or `run:` makes them provable.")
    lines.append("Next     tallystick ledger failing")
    document = {"feature": feature, "criteria": total, "with_check": checkable, "ticked": found.ticked}
    return _answer(call, receipt, document, lines)


def add(call: Call) -> int:
    """Add later criteria from a file."""
    feature, file = call.feature_and_word()
    found = call.source(file)
    receipt = call.app.ledger.add(feature, found.drafts)
    numbers = rows.counts(call.app.ledger.show(feature))
    lines = [f"{feature}: {len(found.drafts)} added ({numbers['original']} + {numbers['added']} added)."]
    return _answer(call, receipt, {"feature": feature, "added": [draft.id for draft in found.drafts]}, lines)


def show(call: Call) -> int:
    """All criteria."""
    seen = call.app.ledger.show(call.feature())
    numbers = rows.counts(seen)
    document = {
        "feature": seen.ledger.feature,
        "criteria": [rows.criterion_document(criterion, state) for criterion, state in seen.rows],
        "counts": numbers,
        "checkable": seen.snapshot.checkable,
        "head": rows.head(seen),
        "findings": [rows.finding_document(finding) for finding in rows.findings(seen)],
    }
    lines = [rows.title(seen.ledger, numbers), "", *rows.table(seen.rows, call.terminal)]
    call.terminal.answer(document, lines)
    return LOOK if rows.say_findings(seen, call.terminal) else DONE


def failing(call: Call) -> int:
    """What is not passed, one page of it."""
    seen = call.app.ledger.show(call.feature())
    open_rows = [(criterion, state) for criterion, state in seen.rows if rows.is_failing(state)]
    after = call.arguments.after
    if after is not None:
        place = list(seen.ledger.criteria).index(seen.criterion(after).id)
        behind = {criterion.id for criterion, _ in seen.rows[place + 1 :]}
        open_rows = [row for row in open_rows if row[0].id in behind]
    page, more = open_rows[:PAGE_ROWS], max(0, len(open_rows) - PAGE_ROWS)
    numbers = rows.counts(seen)
    document = {
        "criteria": [rows.failing_row(criterion, state) for criterion, state in page],
        "more": more,
        "stale": numbers["stale"],
        "elsewhere": numbers["elsewhere"],
    }
    lines = [rows.title(seen.ledger, numbers), "", *rows.table(page, call.terminal)]
    if more:
        lines.append(
            f"  … {more} more: tallystick ledger failing {seen.ledger.feature} --after {typed(page[-1][0].id)}"
        )
    if numbers["stale"]:
        lines.append(f"  {numbers['stale']} to re-run: what they cite has changed")
    call.terminal.answer(document, lines)
    return LOOK if rows.say_findings(seen, call.terminal) else DONE


def mark_pass(call: Call) -> int:
    """Pass by running the frozen check, or by citing where there is none."""
    feature, name = call.feature_and_word()
    given = call.arguments.evidence or ""
    found = ledger_of(call.app.ledger.snapshot(feature)).find(name)
    if found is not None and _has_check(found.evidence_required):
        from tallystick.evidence.service import Watch

        call.terminal.progress(f"{safe(found.id)}: running its check in a fresh copy of your tree …")
        receipt, checked = evidence(call.app).mark_pass(feature, name, given, Watch())
    else:
        receipt, checked = call.app.ledger.mark_pass(feature, name, given), None
    criterion = receipt.criterion
    assert criterion is not None
    how = f"{criterion.level}, {checked.confined}" if checked is not None else criterion.level
    lines = [f"{safe(criterion.id)} passes, {how}: {safe(criterion.evidence_ref)}"]
    return _answer(call, receipt, _marked(feature, receipt), lines)


def mark_failure(call: Call) -> int:
    """Record a failed attempt."""
    feature, name = call.feature_and_word()
    receipt = call.app.ledger.mark_failure(feature, name, call.arguments.error)
    criterion = receipt.criterion
    assert criterion is not None
    lines = [f"{safe(criterion.id)} failed, attempt {criterion.attempts}: {safe(criterion.error, 80)}"]
    return _answer(call, receipt, {**_marked(feature, receipt), "attempts": criterion.attempts}, lines)


def amend(call: Call) -> int:
    """Change or close a criterion."""
    feature, name = call.feature_and_word()
    arguments = call.arguments
    if arguments.close:
        if arguments.text is not None or arguments.require is not None:
            raise Refusal("usage", "--close goes alone", "close it, or change it")
        receipt = call.app.ledger.close(feature, name, arguments.reason)
        lines = [f"{safe(name)} is closed: {safe(arguments.reason, 80)}"]
        return _answer(call, receipt, _marked(feature, receipt), lines)
    if arguments.text is None and arguments.require is None:
        raise Refusal("usage", "nothing to change was given", "--text TEXT, --require TEXT or --close")
    required: tuple[str, ...] | bool | None = False
    if arguments.require is not None:
        required = tuple(entry for entry in arguments.require if entry) or None
    receipt = call.app.ledger.amend(feature, name, arguments.text, required, arguments.reason)
    lines = [f"{safe(name)} is amended; it starts open again. Both texts stand in the journal."]
    return _answer(call, receipt, _marked(feature, receipt), lines)


def override(call: Call) -> int:
    """A person counts it as done."""
    feature, name = call.feature_and_word()
    receipt = call.app.ledger.override(feature, name, call.arguments.reason)
    lines = [f"{safe(name)} is overridden; it counts as done and is listed apart for ever."]
    return _answer(call, receipt, _marked(feature, receipt), lines)


def abandon(call: Call) -> int:
    """Give a feature up."""
    feature = call.feature()
    receipt = call.app.ledger.abandon(feature, call.arguments.reason)
    return _answer(call, receipt, {"feature": feature, "abandoned": True}, [f"{feature} is abandoned."])


def _answer(call: Call, receipt: Receipt, document: dict[str, Json], lines: list[str]) -> int:
    call.terminal.answer({**document, "notes": list(receipt.notes)}, lines)
    for note in receipt.notes:
        call.terminal.tell(f"note: {note}")
    return DONE


def _marked(feature: str, receipt: Receipt) -> dict[str, Json]:
    criterion = receipt.criterion
    assert criterion is not None
    return {"feature": feature, **rows.criterion_document(criterion, state_of(criterion, False))}


def _has_check(required: tuple[str, ...] | None) -> bool:
    return any(is_machine_check(parse(entry)) for entry in required or ())
