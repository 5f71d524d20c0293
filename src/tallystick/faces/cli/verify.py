"""`tallystick verify`: runs again what does not hold now, and says per criterion what held."""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.evidence.service import Watch
from tallystick.evidence.verified import Row, Verified
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import Terminal, safe
from tallystick.ids import typed
from tallystick.wiring import evidence

#: So many rows that hold, and so many reasons of one that does not, are shown; `--json` has all.
_HOLDING, _REASONS = 10, 3


def verify(call: Call) -> int:
    """0 when everything holds; 4 when a check is red, 3 when something is open, 7 when a command waits for trust."""
    feature, names = call.feature_and_criteria()
    base: frozenset[str] = frozenset()
    if call.arguments.trust_base is not None:
        from tallystick.evidence.trust_base import trust_base

        base = trust_base(call.app.git, call.arguments.trust_base).digests
    call.terminal.progress(f"{feature}: running again what does not hold, in a fresh copy of your tree …")
    found = evidence(call.app).verify(feature, names, call.arguments.all, Watch(), base)
    document = {
        "feature": feature,
        "run": found.run or None,
        "holds": found.holds,
        "confined": found.confined or None,
        "criteria": [_document(row) for row in found.rows],
        "notes": list(found.notes),
    }
    call.terminal.answer(document, lines(feature, found, call.terminal))
    for note in found.notes:
        call.terminal.tell(f"note: {note}")
    return found.status


def lines(feature: str, found: Verified, terminal: Terminal) -> list[str]:
    """The screen: what was run, what held, what did not and why, what comes next."""
    held = [row for row in found.rows if row.holds]
    out = [row for row in found.rows if not row.holds]
    place = "fresh copy of your tree" if found.copied else "in place"
    where = f"   {place}, {found.confined}" if found.run else ""
    screen = [f"{feature}: {found.again} run, {len(found.rows) - found.again} looked at{where}", ""]
    ran = [row for row in held if row.verdict is not None]
    for row in ran[:_HOLDING]:
        screen.append(f"  {_name(row)}  {terminal.paint('holds', 'good')}    {row.level}")
    if len(ran) > _HOLDING:
        screen.append(f"  …       {len(ran) - _HOLDING} more hold")
    for row in out:
        word = "FAILS" if row.verdict is not None and not row.verdict.green else "open "
        screen.append(f"  {_name(row)}  {terminal.paint(word, 'bad' if word == 'FAILS' else 'dim')}")
        for reason in row.reasons[:_REASONS]:
            place = f"   {safe(reason.file)}:{reason.line}" if reason.file and reason.line else ""
            screen.append(f"          {safe(reason.says, 100)}{place}")
        if len(row.reasons) > _REASONS:
            screen.append(f"          … and {len(row.reasons) - _REASONS} more (--json names them)")
    took = f" after {found.took_s:.1f} s" if found.run else ""
    names = ", ".join(safe(row.criterion.id, 24) for row in out[:_HOLDING])
    rest = f" Not: {names}{' …' if len(out) > _HOLDING else ''}." if out else ""
    screen += ["", f"{len(held)} of {len(found.rows)} hold{took}.{rest}"]
    if out:
        cited = next((row.criterion.id for row in out if row.verdict is None), None)
        if cited is not None and all(row.verdict is None for row in out):
            screen.append(f"Next     tallystick ledger pass {feature} {typed(cited)} --evidence PATH")
        else:
            screen.append(f"Next     tallystick verify {feature}          once it is mended")
    return screen


def _name(row: Row) -> str:
    return f"{safe(row.criterion.id, 12):<6} {safe(row.criterion.description, 40):<40}"


def _document(row: Row) -> dict[str, Json]:
    reasons = [{"code": one.code, "says": one.says, "file": one.file or None, "line": one.line} for one in row.reasons]
    return {"id": row.criterion.id, "holds": row.holds, "level": row.level, "reasons": reasons}
