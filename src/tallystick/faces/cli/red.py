"""`tallystick ledger red`: the tests are seen to fail before what they ask for is built."""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.errors import BROKEN, DONE
from tallystick.evidence.proving import SeenRed
from tallystick.evidence.service import RedLook, Watch
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import safe
from tallystick.wiring import evidence

#: So many reasons of one criterion are shown; `--json` has all.
_REASONS = 5
_NO_TEST = "only an exit status tells how its check went, which is no red of a test"


def red(call: Call) -> int:
    """0 when every test that was asked for is red for a good reason, 4 when one is not."""
    feature, names = call.feature_and_criteria()
    call.terminal.progress(f"{feature}: running its tests in a fresh copy of your tree …")
    look = evidence(call.app).see_red(feature, names, Watch(says=call.terminal.progress))
    document = {
        "feature": feature,
        "run": look.run,
        "holds": look.counts,
        "confined": look.confined,
        "criteria": [_document(name, one, name in look.born) for name, one in look.seen.items()]
        + [
            {"id": name, "red": [], "born_green": False, "reasons": [{"code": one.code, "says": one.message}]}
            for name, one in look.refused.items()
        ],
        "notes": list(look.notes),
    }
    call.terminal.answer(document, lines(look))
    for note in look.notes:
        call.terminal.tell(f"note: {note}")
    return DONE if look.counts else BROKEN


def lines(look: RedLook) -> list[str]:
    """What was red, what was not and why."""
    out = []
    for name, one in look.seen.items():
        green = "born green" if name in look.born else "green already"
        word = "red" if one.red is not None else green if one.green else "NOT RED"
        count = len(one.found.ids)
        locked = f"{count} test{'' if count == 1 else 's'}, locked from now on" if one.red is not None else ""
        out.append(f"  {safe(name, 24):<8} {word:<14} {locked}".rstrip())
        if one.red is None:
            told = [safe(reason.says, 160) for reason in one.found.reasons[:_REASONS]] or [_NO_TEST]
            out += [f"           {line}" for line in told]
    out += [f"  {safe(name, 24):<8} cannot be checked: {safe(one.message, 90)}" for name, one in look.refused.items()]
    total = len(look.seen) + len(look.refused)
    seen = sum(1 for one in look.seen.values() if one.red is not None)
    end = f"{seen} of {total} seen red; run {look.run}, {look.took_s:.1f} s, {look.confined}."
    return [
        *out,
        "",
        end,
        "Next     build it; `tallystick verify` proves it" if look.counts else "Next     mend the tests",
    ]


def _document(name: str, one: SeenRed, born: bool) -> dict[str, Json]:
    return {
        "id": name,
        "red": list(one.found.ids) if one.red is not None else [],
        "born_green": born,
        "reasons": [{"code": reason.code, "says": reason.says} for reason in one.found.reasons],
    }
