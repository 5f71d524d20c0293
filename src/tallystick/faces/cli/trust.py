"""`tallystick trust`: which commands out of this repository may be run; a person decides, and reads them first."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.canonical import Json
from tallystick.errors import DONE, Refusal
from tallystick.evidence.origin import Command, needed, waits
from tallystick.evidence.service import checkable
from tallystick.evidence.trust import Trusted
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import safe
from tallystick.ledger.model import ledger_of
from tallystick.ledger.permissions import denied
from tallystick.settings import Settings
from tallystick.wiring import App, shut_in
from tallystick.wiring import trust as table_of


def trust(call: Call) -> int:
    """Show, ask, and trust exactly what was shown. A no leaves everything as it was (exit status 7)."""
    arguments = call.arguments
    if arguments.show + arguments.revoke > 1 or (arguments.show and arguments.yes):
        raise Refusal("usage", "--show goes alone", "tallystick trust --show")
    if arguments.show:
        return _show(call)
    role = call.app.ledger.by.role
    refusal = denied("trust", role)
    if refusal is not None:
        raise refusal
    return _revoke(call, role) if arguments.revoke else _trust(call, role)


def asked(app: App, settings: Settings) -> list[Command]:
    """Every command of this repository that needs trust, trusted or not; our own where nothing shuts them in."""
    ledgers = {feature: ledger_of(app.ledger.snapshot(feature)) for feature in app.ledger.features()}
    criteria = {feature: list(one.criteria.values()) for feature, one in ledgers.items()}
    own = any(not one.foreign and one.closed is None and checkable(one) for some in criteria.values() for one in some)
    return needed(settings, criteria, confined=not own or shut_in(app))


def _show(call: Call) -> int:
    """What is trusted and what waits. Settings or a table that cannot be read are named, and the rest is shown."""
    app = call.app
    table = table_of(app)
    trusted: list[Trusted] = []
    damage = app.settings.damage()
    waiting = asked(app, app.settings.read() if damage is None else Settings())
    refusal = None
    try:
        trusted = table.entries()
        waiting = table.missing(waiting)
    except Refusal as found:
        refusal = found
    document = _document(trusted, waiting, table.path)
    lines = [f"  trusted  {safe(one.command.spelled, 100)}   {safe(one.command.because, 100)}" for one in trusted]
    lines += [f"  waits    {safe(one.spelled, 100)}   {safe(one.because, 100)}" for one in waiting]
    if not lines:
        lines = ["Nothing is trusted, and nothing waits for trust."]
    elif waiting:
        lines += ["", "Next     tallystick trust"]
    call.terminal.answer(document, lines)
    if refusal is not None:
        call.terminal.tell(f"{refusal.code}: {refusal.message}")
        return refusal.exit
    return DONE


def _trust(call: Call, role: str) -> int:
    app = call.app
    table = table_of(app)
    waiting = table.missing(asked(app, app.settings.read()))
    if waiting and not call.arguments.yes:
        for line in [
            "These commands came with the repository. Checks may run them once you trust them:",
            *_rows(waiting),
        ]:
            call.terminal.tell(line)
        if not call.confirmed("Trust them? [y]es  [n]o"):
            raise waits(waiting)
    if waiting:
        table.trust(waiting, role, app.store.now())
    document = _document([Trusted(one, "") for one in waiting], [], table.path)
    count = "1 command is" if len(waiting) == 1 else f"{len(waiting)} commands are"
    lines = (
        [*_rows(waiting), f"{count} trusted now, exactly as they stand here."]
        if waiting
        else ["Nothing waits for trust."]
    )
    call.terminal.answer(document, lines)
    return DONE


def _revoke(call: Call, role: str) -> int:
    table = table_of(call.app)
    before = table.revoke(role)
    document = _document([], before, table.path)
    count = "1 command is" if len(before) == 1 else f"{len(before)} commands are"
    lines = [*_rows(before), f"{count} not trusted any more."] if before else ["Nothing was trusted."]
    call.terminal.answer(document, lines)
    return DONE


def _rows(commands: Sequence[Command]) -> list[str]:
    """Each command whole: what is trusted is what was read."""
    return [f"  {safe(one.spelled)}   ({safe(one.because)})" for one in commands]


def _document(trusted: Sequence[Trusted], waiting: Sequence[Command], path: str) -> dict[str, Json]:
    return {
        "table": path,
        "trusted": [{**one.command.document(), "at": one.at or None} for one in trusted],
        "waiting": [one.document() for one in waiting],
    }
