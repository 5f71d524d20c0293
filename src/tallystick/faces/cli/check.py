"""`tallystick check`: runs the frozen checks here and now; no criterion changes."""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.errors import BROKEN, DONE
from tallystick.evidence.service import Checked, Watch
from tallystick.evidence.stack import Proof
from tallystick.evidence.verdict import Reason
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import safe
from tallystick.wiring import evidence

_REASONS = 5


def check(call: Call) -> int:
    """Would they pass? 0 when every check that was asked for is green, 4 when one is not."""
    feature, names = call.feature_and_criteria()
    call.terminal.progress(f"{feature}: running its checks in a fresh copy of your tree …")
    checked = evidence(call.app).check(feature, names, Watch(says=call.terminal.progress))
    document = {
        "feature": feature,
        "run": checked.run,
        "holds": checked.green,
        "confined": checked.confined,
        "criteria": [_document(name, proof) for name, proof in checked.proofs.items()]
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
    for name, proof in checked.proofs.items():
        verdict = proof.verdict
        word = "green" if verdict.green else "RED  "
        out.append(f"  {safe(name, 24):<8} {word}  {len(verdict.passed)} passed, {len(verdict.red)} red{_level(proof)}")
        out += [f"           only ran: {safe(reason.says, 100)}" for reason in proof.short[:_REASONS]]
        out += [f"           {safe(reason.says, 100)}{_place(reason)}" for reason in verdict.reasons[:_REASONS]]
    out += [
        f"  {safe(name, 24):<8} cannot be checked: {safe(one.message, 90)}" for name, one in checked.refused.items()
    ]
    total = len(checked.proofs) + len(checked.refused)
    green = sum(1 for proof in checked.proofs.values() if proof.verdict.green)
    return [*out, "", f"{green} of {total} would pass; run {checked.run}, {checked.took_s:.1f} s, {checked.confined}."]


def _place(reason: Reason) -> str:
    return f"   {safe(reason.file)}:{reason.line}" if reason.file and reason.line else ""


def _level(proof: Proof) -> str:
    return f", {proof.level}" if proof.verdict.green else ""


def _document(name: str, proof: Proof) -> dict[str, Json]:
    verdict = proof.verdict
    return {
        "id": name,
        "holds": verdict.green,
        "level": proof.level,
        "reasons": [
            {"code": one.code, "says": one.says, "file": one.file or None, "line": one.line}
            for one in (*verdict.reasons, *proof.short)
        ],
    }
