"""`tallystick check`: runs the frozen checks here and now; no criterion changes."""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.errors import BROKEN, DONE
from tallystick.evidence.service import Checked, Watch
from tallystick.evidence.verdict import Reason, Verdict
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import safe
from tallystick.wiring import evidence

_REASONS = 5


def check(call: Call) -> int:
    """Would they pass? 0 when every check that was asked for is green, 4 when one is not."""
    feature, names = call.feature_and_criteria()
    call.terminal.progress(f"{feature}: running its checks in a fresh copy of your tree …")
    checked = evidence(call.app).check(feature, names, Watch())
    document = {
        "feature": feature,
        "run": checked.run,
        "holds": checked.green,
        "confined": checked.confined,
        "criteria": [_document(name, verdict) for name, verdict in checked.verdicts.items()]
        + [
            {"id": name, "holds": False, "level": "claimed", "reasons": [{"code": one.code, "says": one.message}]}
            for name, one in checked.refused.items()
        ],
    }
    call.terminal.answer(document, lines(checked))
    for note in checked.notes:
        call.terminal.tell(f"note: {note}")
    return DONE if checked.green else BROKEN


def lines(checked: Checked) -> list[str]:
    """What a run showed, for people."""
    out = []
    for name, verdict in checked.verdicts.items():
        word = "green" if verdict.green else "RED  "
        out.append(f"  {safe(name, 24):<8} {word}  {len(verdict.passed)} passed, {len(verdict.red)} red")
        out += [f"           {safe(reason.says, 100)}{_place(reason)}" for reason in verdict.reasons[:_REASONS]]
    out += [
        f"  {safe(name, 24):<8} cannot be checked: {safe(one.message, 90)}" for name, one in checked.refused.items()
    ]
    total = len(checked.verdicts) + len(checked.refused)
    green = sum(1 for verdict in checked.verdicts.values() if verdict.green)
    return [*out, "", f"{green} of {total} would pass; run {checked.run}, {checked.took_s:.1f} s, {checked.confined}."]


def _place(reason: Reason) -> str:
    return f"   {safe(reason.file)}:{reason.line}" if reason.file and reason.line else ""


def _document(name: str, verdict: Verdict) -> dict[str, Json]:
    return {
        "id": name,
        "holds": verdict.green,
        "level": "ran" if verdict.green else "claimed",
        "reasons": [
            {"code": one.code, "says": one.says, "file": one.file or None, "line": one.line} for one in verdict.reasons
        ],
    }
