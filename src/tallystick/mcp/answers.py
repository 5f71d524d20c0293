"""What tools answer: the same facts as one short text and as structure, of a size that no ledger can grow (P21). Pure.

Each function takes values of the services and returns a `ToolResult`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.ids import escaped
from tallystick.ledger.document import row
from tallystick.ledger.model import Criterion, Ledger
from tallystick.limits import PAGE_ROWS
from tallystick.mcp.toolset import ToolResult

if TYPE_CHECKING:
    from tallystick.evidence.service import Checked

#: How much of a stored text a list shows; the whole stands on the criterion's own page.
_CUT = 160
_PAGE_CUT = 600
_IDS = 5


def frozen(ledger: Ledger, with_check: int) -> ToolResult:
    """The answer to `init_feature_list`."""
    facts: dict[str, Json] = {"task_id": ledger.feature, "frozen": len(ledger.criteria), "with_check": with_check}
    return ToolResult(f"{ledger.feature}: {len(ledger.criteria)} criteria frozen, {with_check} name a check.", facts)


def passed(criterion: Criterion) -> ToolResult:
    """The receipt of an accepted mark."""
    facts: dict[str, Json] = {
        "feature_id": criterion.id,
        "passes": True,
        "level": criterion.level,
        "evidence_ref": _cut(criterion.evidence_ref or ""),
    }
    return ToolResult(f"{escaped(criterion.id)} passes ({criterion.level}).", facts)


def failed(criterion: Criterion) -> ToolResult:
    """The receipt of a recorded failure."""
    facts: dict[str, Json] = {"feature_id": criterion.id, "recorded": True, "attempts": criterion.attempts}
    return ToolResult(f"{escaped(criterion.id)}: failed attempt {criterion.attempts} recorded.", facts)


def amended(criterion: Criterion) -> ToolResult:
    """The receipt of an amendment."""
    word = "closed" if criterion.closed is not None else "amended; it starts open"
    facts: dict[str, Json] = {
        "criterion": criterion.id,
        "closed": criterion.closed is not None,
        "amendments": criterion.amended,
    }
    return ToolResult(f"{escaped(criterion.id)} is {word}.", facts)


def failing(
    rows: Sequence[tuple[Criterion, str]], cursor: str | None, stale: int, elsewhere: int, warning: str | None
) -> ToolResult:
    """One page of what fails; `rows` are those behind the cursor."""
    page = rows[:PAGE_ROWS]
    features: list[Json] = []
    lines: list[str] = []
    for criterion, state in page:
        fields: dict[str, Json] = {
            "id": criterion.id,
            "description": _cut(criterion.description),
            "last_attempt_error": None if criterion.error is None else _cut(criterion.error),
        }
        if state != "failing":
            fields["state"] = state
        features.append(fields)
        error = f" -- {_line(criterion.error)}" if criterion.error else ""
        word = "" if state == "failing" else f" [{state}]"
        lines.append(f"{escaped(criterion.id)}{word} {_line(criterion.description)}{error}")
    more = page[-1][0].id if len(rows) > PAGE_ROWS else None
    facts: dict[str, Json] = {"features": features, "cursor": more, "stale": stale, "elsewhere": elsewhere}
    if not page:
        lines.append("Nothing fails." if cursor is None else "Nothing more fails.")
    if more is not None:
        lines.append(f"More: cursor {escaped(more)}.")
    if stale:
        lines.append(f"{stale} to re-run.")
    if warning is not None:
        facts["warning"] = _cut(warning)
        lines.append(f"! {_line(warning)}")
    return ToolResult("\n".join(lines), facts)


def feature(criterion: Criterion, state: str, run: str | None, warning: str | None) -> ToolResult:
    """The page of one criterion: the seed's fields, and level, state, run."""
    facts = row(criterion)
    for key in ("description", "evidence_ref", "last_attempt_error"):
        if facts[key] is not None:
            facts[key] = _cut(facts[key], _PAGE_CUT)
    if "evidence_required" in facts:
        facts["evidence_required"] = _some(facts["evidence_required"])
    facts |= {"level": criterion.level if criterion.passes else None, "state": state, "run": run}
    lines = [f"{escaped(criterion.id)} [{state}] {_line(criterion.description, _PAGE_CUT)}"]
    lines += [f"asks: {_line(entry)}" for entry in facts.get("evidence_required", ())]
    if criterion.passes:
        lines.append(f"passed at {criterion.passed_at} by {criterion.passed_by}: {_line(criterion.evidence_ref)}")
    if criterion.error:
        lines.append(f"failed {criterion.attempts} time(s), last: {_line(criterion.error, _PAGE_CUT)}")
    if warning is not None:
        facts["warning"] = _cut(warning)
        lines.append(f"! {_line(warning)}")
    return ToolResult("\n".join(lines), facts)


def compared(a: dict[str, bool], b: dict[str, bool]) -> ToolResult:
    """How the ids of two runs differ; `a` and `b` say of each id whether it was green."""
    sets: dict[str, list[str]] = {
        "now_red": [name for name in b if not b[name] and a.get(name, False)],
        "now_green": [name for name in b if b[name] and not a.get(name, True)],
        "missing": [name for name in a if name not in b],
        "added": [name for name in b if name not in a],
    }
    facts: dict[str, Json] = {key: _some(names) for key, names in sets.items()}
    return ToolResult("; ".join(f"{key}: {len(names)}" for key, names in sets.items()) + ".", facts)


def checked(run: Checked) -> ToolResult:
    """What a check showed; no criterion changed."""
    verdicts = list(run.verdicts.values())
    tests = [one for verdict in verdicts for one in verdict.red]
    red = [{"id": one.id, "says": _cut(one.says), "file": one.file, "line": one.line} for one in tests]
    green = [name for verdict in verdicts for name in verdict.passed]
    reasons = [_line(reason.says) for verdict in verdicts for reason in verdict.reasons]
    facts: dict[str, Json] = {
        "run": run.run,
        "green": _some(green, _IDS),
        "red": red[:_IDS],
        "took_s": round(run.took_s, 1),
        "holds": run.green,
        "confined": run.confined,
    }
    if len(red) > _IDS:
        facts["red_more"] = len(red) - _IDS
    if not run.green:
        facts["reasons"] = reasons[:3]
    word = "It would pass" if run.green else f"Red: {'; '.join(reasons[:3])}"
    return ToolResult(f"{word} ({len(green)} green, {len(red)} red, {run.took_s:.1f} s, run {run.run}).", facts)


def running(run: str, since_s: float) -> ToolResult:
    """The answer of a call whose check outlasts it."""
    again = 20
    facts: dict[str, Json] = {"running": run, "since_s": int(since_s), "again_in_s": again}
    text = f"The check still runs ({int(since_s)} s). Go on with other work; the same call in {again} s picks it up."
    return ToolResult(text, facts)


def refused(refusal: Refusal) -> ToolResult:
    """A refusal as an agent reads it: the reason and the next step, in both forms, cut to size."""
    error: dict[str, Json] = {"code": refusal.code, "message": _cut(refusal.message, 500)}
    if refusal.hint:
        error["hint"] = _cut(refusal.hint, 240)
    facts = {key: value for key, value in refusal.facts.items() if value}
    text = escaped(refusal.message[:900], keep="\n") + (
        f"\nNext: {escaped(refusal.hint[:300])}." if refusal.hint else ""
    )
    return ToolResult(text, {"error": error, **facts}, is_error=True)


def _some(entries: Sequence[str], most: int = PAGE_ROWS) -> list[Json]:
    """The first of a list, each cut, and a last entry that counts the rest."""
    shown: list[Json] = [_cut(entry) for entry in entries[:most]]
    if len(entries) > most:
        shown.append(f"… and {len(entries) - most} more")
    return shown


def _cut(text: str, most: int = _CUT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _line(text: str | None, most: int = _CUT) -> str:
    return _cut(escaped(" ".join((text or "").split())), most)
