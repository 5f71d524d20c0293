"""`tallystick verify`: runs again what does not hold now, and says per criterion what held."""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.evidence.service import Watch
from tallystick.evidence.verified import Row, Verified
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import Terminal, safe
from tallystick.ids import typed
from tallystick.wiring import evidence

#: So many rows that hold, and so many reasons of one that does not, are shown; `--json` has all.
_HOLDING, _REASONS = 10, 3
#: Why a criterion fails, in a word, by the first code that has one.
_WHY = {
    "check.red": "red",
    "check.timeout": "ran into a limit",
    "check.flaky": "flaky",
    "lock.changed": "its test was changed",
    "lock.symlink": "its test was changed",
    "ids.missing": "a test of it is missing",
    "sabotage.survived": "its tests cannot fail",
    "runner.patched": "the test runner was changed",
    "level.low": "not proven far enough",
}


def verify(call: Call) -> int:
    """0 when everything holds; 4 when a check is red, 3 when something is open, 7 when a command waits for trust."""
    feature, names = call.feature_and_criteria()
    arguments, terminal = call.arguments, call.terminal
    if arguments.held_out is not None:
        raise Refusal(
            "check.unsupported",
            "--held-out: held-out tests are not run by this version, so the level ends at proven",
            f"tallystick verify {feature}",
        )
    if arguments.level == "challenged":
        says = "--level challenged: nothing is challenged by this version, the level ends at proven"
        raise Refusal("check.unsupported", says, f"tallystick verify {feature} --level proven")
    base: frozenset[str] = frozenset()
    if arguments.trust_base is not None:
        from tallystick.evidence.trust_base import trust_base

        held = trust_base(call.app.git, arguments.trust_base)
        base = held.digests | {held.settings}
    terminal.progress(f"{feature}: running again what does not hold, in a fresh copy of your tree …")
    found = evidence(call.app).verify(
        feature, names, arguments.all, Watch(says=terminal.progress), base, arguments.level or ""
    )
    document = {
        "feature": feature,
        "run": found.run or None,
        "holds": found.holds,
        "confined": found.confined or None,
        "criteria": [_document(row) for row in found.rows],
        "notes": list(found.notes),
    }
    terminal.answer(document, lines(feature, found, terminal))
    for note in found.notes:
        terminal.tell(f"note: {note}")
    return found.status


def lines(feature: str, found: Verified, terminal: Terminal) -> list[str]:
    """The screen: what was run, what held, what did not and why, what comes next."""
    held = [row for row in found.rows if row.holds]
    out = [row for row in found.rows if not row.holds]
    place = "fresh copy of your tree" if found.copied else "in place"
    where = f"   {place}, {found.confined}" if found.run else ""
    rest = len(found.rows) - found.again
    screen = [f"{feature}: {found.again} run, {rest} {'holds' if rest == 1 else 'hold'} already{where}", ""]
    if len(held) < len(found.rows) - found.again:
        screen[0] = f"{feature}: {found.again} run, {rest} looked at{where}"
    ran = [row for row in held if row.verdict is not None]
    for row in ran[:_HOLDING]:
        tests = len(row.verdict.passed) if row.verdict is not None else 0
        count = f"   {tests} test{'' if tests == 1 else 's'}" if tests else ""
        screen.append(f"  {_name(row)}  {terminal.paint('holds', 'good')}    {row.level}{count}")
        screen += [f"          {safe(reason.says, 160)}" for reason in row.reasons[:1]]
    if len(ran) > _HOLDING:
        screen.append(f"  …       {len(ran) - _HOLDING} more hold")
    for row in out:
        screen += _open(feature, row, terminal)
    took = f" after {found.took_s:.1f} s" if found.run else ""
    names = ", ".join(safe(row.criterion.id, 24) for row in out[:_HOLDING])
    not_these = f" Not: {names}{' …' if len(out) > _HOLDING else ''}." if out else ""
    screen += ["", f"{len(held)} of {len(found.rows)} hold{took}.{not_these}"]
    if out:
        cited = next((row.criterion.id for row in out if row.verdict is None), None)
        if cited is not None and all(row.verdict is None for row in out):
            screen.append(f"Next     tallystick ledger pass {feature} {typed(cited)} --evidence PATH")
        else:
            screen.append(f"Next     tallystick verify {feature}          once it is mended")
    return screen


def _open(feature: str, row: Row, terminal: Terminal) -> list[str]:
    """The lines of a criterion that does not hold: which, in a word why, where, and what a person can do about it."""
    broken = row.verdict is not None and not row.verdict.green
    word = "FAILS" if broken else "open "
    why = next((_WHY[reason.code] for reason in row.reasons if reason.code in _WHY), "")
    screen = [f"  {_name(row)}  {terminal.paint(word, 'bad' if broken else 'dim')}    {why}".rstrip()]
    for reason in row.reasons[:_REASONS]:
        place = f"   {safe(reason.file)}:{reason.line}" if reason.file and reason.line else ""
        screen.append(f"          {safe(reason.says, 160)}{place}")
    if len(row.reasons) > _REASONS:
        screen.append(f"          … and {len(row.reasons) - _REASONS} more (--json names them)")
    meant = next((reason.next for reason in row.reasons if reason.next), "")
    if meant:
        screen.append(f"          meant      {safe(meant, 300)}")
        screen.append(f"          not meant  tallystick ledger get {feature} {typed(row.criterion.id)} --diff")
    return screen


def _name(row: Row) -> str:
    return f"{safe(row.criterion.id, 12):<6} {safe(row.criterion.description, 40):<40}"


def _document(row: Row) -> dict[str, Json]:
    reasons = [
        {"code": one.code, "says": one.says, "file": one.file or None, "line": one.line, "next": one.next or None}
        for one in row.reasons
    ]
    return {"id": row.criterion.id, "holds": row.holds, "level": row.level, "reasons": reasons}
