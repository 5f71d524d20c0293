"""`tallystick brief` and `tallystick note`."""

from __future__ import annotations

from tallystick import briefing
from tallystick.errors import DONE, LOOK, Refusal
from tallystick.faces.cli import rows
from tallystick.faces.cli.call import Call
from tallystick.handoff import service
from tallystick.handoff.brief import TOKENS

_LEAST = 50


def brief(call: Call) -> int:
    """Print the brief; the same text an agent gets."""
    most = TOKENS
    if call.arguments.max_tokens is not None:
        try:
            most = int(call.arguments.max_tokens)
        except ValueError:
            most = 0
        if most < _LEAST:
            raise Refusal("usage", f"--max-tokens is a number from {_LEAST} on", "tallystick brief --max-tokens 600")
    seen = call.app.ledger.look(call.feature())
    text = briefing.brief(call.app, seen, most)
    call.terminal.answer({"feature": seen.ledger.feature, "brief": text}, text.split("\n"))
    return LOOK if any(finding.grave for finding in rows.findings(seen)) else DONE


def note(call: Call) -> int:
    """Keep a note."""
    feature, text = call.feature_and_word()
    receipt = service.note(call.app.ledger, feature, text)
    call.terminal.answer({"feature": feature, "noted": True, "notes": list(receipt.notes)}, [f"{feature}: noted."])
    for one in receipt.notes:
        call.terminal.tell(f"note: {one}")
    return DONE
