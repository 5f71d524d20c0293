"""`tallystick audit`: the halves against each other, for people; the work is done in `tallystick.audit`."""

from __future__ import annotations

from tallystick.audit import NOT_CHECKABLE, Report, inspect, restore
from tallystick.errors import DONE, LOOK, Refusal
from tallystick.faces.cli import rows
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.setup import mounts
from tallystick.ids import escaped
from tallystick.ledger.permissions import denied
from tallystick.system.place import shared_file_system


def audit(call: Call) -> int:
    """Look at everything; restore views or accept what was found where that was asked for."""
    arguments = call.arguments
    if arguments.accept and not (arguments.reason or "").strip():
        raise Refusal(
            "usage", "--accept needs --reason TEXT", 'tallystick audit --accept --reason "the disk was restored"'
        )
    if arguments.reason is not None and not arguments.accept:
        raise Refusal(
            "usage", "--reason goes with --accept", 'tallystick audit --accept --reason "the disk was restored"'
        )
    app = call.app
    if arguments.accept:
        refusal = denied("accept", app.ledger.by.role)
        if refusal is not None:
            raise refusal
    notes = restore(app) if arguments.restore else ()
    found = inspect(app, shared_file_system(mounts(call), app.place.store))
    if arguments.accept:
        grave = tuple(finding for finding in found.findings if finding.grave and finding.mark)
        if not grave:
            raise Refusal("input.invalid", "there is nothing to accept", "tallystick audit")
        app.store.accept(app.ledger.by, arguments.reason, grave)
        notes = (*notes, f"{len(grave)} finding(s) accepted; they stay in the journal as notes")
        found = inspect(app, None)
    for note in notes:
        call.terminal.tell(f"note: {note}")
    document = {
        "holds": found.holds,
        "anchored": found.anchored,
        "findings": [rows.finding_document(finding) for finding in found.findings],
    }
    call.terminal.answer(document, _lines(found))
    return DONE if found.holds else LOOK


def _lines(found: Report) -> list[str]:
    lines = [
        f"  {'look' if finding.grave else 'note'}  {finding.code:<20} {escaped(finding.says)}"
        for finding in found.findings
        if finding.says != NOT_CHECKABLE
    ]
    if lines:
        lines.append("")
    amount = f"{found.features} feature(s), {found.records} record(s)"
    if not found.holds:
        return [*lines, f"{amount}: look at the lines above before you go on."]
    if not found.checkable:
        return [*lines, NOT_CHECKABLE]
    words = (
        "follows from what this home remembers" if found.anchored else "is self-consistent; nothing here anchors it yet"
    )
    return [*lines, f"{amount}: the journal {words}."]
