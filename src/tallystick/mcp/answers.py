"""What tools answer: the same facts as one short text and as structure, of a size that no ledger can grow (P21). Pure.

Each function takes values of the services and returns a `ToolResult`. Clients show a model one of the two forms, so
each form holds everything. Texts of others are cut by what they cost a model, in every script alike, and a cut is
marked with …; the page of one criterion alone gives them whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.handoff.cost import cost, cut
from tallystick.ids import escaped
from tallystick.ledger.document import row
from tallystick.ledger.model import Criterion, Ledger
from tallystick.limits import DESCRIPTION_CHARACTERS, ERROR_CHARACTERS, PAGE_ROWS, REFERENCE_CHARACTERS
from tallystick.mcp.toolset import ToolResult

if TYPE_CHECKING:
    from tallystick.evidence.service import Checked

#: What the texts in a list may cost, in tokens: description and error of a row together, an error, a name.
_ROW, _ERROR, _NAME = 80, 32, 56
#: What the reference in a receipt may cost: whoever sent it knows it.
_REFERENCE = 24
#: What a refusal may cost: its reason, its next step, and the rows below it together.
_REASON, _NEXT, _ROWS = 72, 72, 110
_SECONDS = 20
#: Further requirements of a criterion are counted once those shown have so many characters.
_REQUIREMENTS = 4_000
#: Characters of the texts on the page of one criterion: all that the rules allow.
_WHOLE = {
    "description": DESCRIPTION_CHARACTERS,
    "evidence_ref": REFERENCE_CHARACTERS + 64,
    "last_attempt_error": ERROR_CHARACTERS,
}
_NAMES = 5


def frozen(ledger: Ledger, with_check: int) -> ToolResult:
    """The answer to `init_feature_list`."""
    facts: dict[str, Json] = {"task_id": ledger.feature, "frozen": len(ledger.criteria), "with_check": with_check}
    text = f"{ledger.feature}: {len(ledger.criteria)} criteria frozen, {with_check} name a check."
    if not with_check:
        hint = '`tests: ["id"]` or `run: command` in evidence_required makes one provable'
        facts["hint"] = hint
        text += f" {hint}."
    return ToolResult(text, facts)


def passed(criterion: Criterion) -> ToolResult:
    """The receipt of an accepted mark."""
    reference = cut(criterion.evidence_ref or "", _REFERENCE)
    facts: dict[str, Json] = {
        "feature_id": criterion.id,
        "passes": True,
        "level": criterion.level,
        "evidence_ref": reference,
    }
    return ToolResult(f"{escaped(criterion.id)} passes ({criterion.level}, {escaped(reference)}).", facts)


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
        error = None if criterion.error is None else cut(criterion.error, _ERROR)
        description = cut(criterion.description, _ROW - cost(error or ""))
        fields: dict[str, Json] = {"id": criterion.id, "description": description, "last_attempt_error": error}
        if state != "failing":
            fields["state"] = state
        features.append(fields)
        word = "" if state == "failing" else f" [{state}]"
        failed = f" -- {_flat(error)}" if error else ""
        lines.append(f"{escaped(criterion.id)}{word} {_flat(description)}{failed}")
    more = page[-1][0].id if len(rows) > PAGE_ROWS else None
    facts: dict[str, Json] = {"features": features, "cursor": more, "stale": stale, "elsewhere": elsewhere}
    if not page:
        lines.append("Nothing fails." if cursor is None else "Nothing more fails.")
    if more is not None:
        lines.append(f"More: cursor {escaped(more)}.")
    if stale:
        lines.append(f"{stale} to re-run.")
    if elsewhere:
        lines.append(f"{elsewhere} elsewhere: another copy says so, not checked here.")
    return _warned(lines, facts, warning)


def feature(criterion: Criterion, state: str, run: str | None, warning: str | None) -> ToolResult:
    """The page of one criterion, its texts whole: the seed's fields, and level, state, run."""
    facts: dict[str, Json] = row(criterion)
    for key, most in _WHOLE.items():
        if facts[key] is not None:
            facts[key] = facts[key][:most]  # another key's record may hold more than our own rules allow
    if criterion.evidence_required:
        facts["evidence_required"] = _first(criterion.evidence_required, _REQUIREMENTS)
    level = criterion.level if criterion.passes else None
    facts |= {"level": level, "state": state, "run": run}
    lines = [f"{escaped(criterion.id)} [{state}] {_paragraph(facts['description'])}"]
    lines += [f"asks: {_paragraph(entry)}" for entry in facts.get("evidence_required") or ()]
    if facts["passes"]:
        by = f"passed ({level}) at {criterion.passed_at} by {criterion.passed_by}: " if level else ""
        lines.append(f"{by}{_paragraph(facts['evidence_ref'] or '')}")
    if criterion.error:
        lines.append(f"failed {criterion.attempts} time(s), last: {_paragraph(facts['last_attempt_error'])}")
    if run is not None:
        lines.append(f"last run: {run}")
    return _warned(lines, facts, warning)


def compared(a: dict[str, bool], b: dict[str, bool]) -> ToolResult:
    """How the ids of two runs differ; `a` and `b` say of each id whether it was green."""
    sets: dict[str, list[str]] = {
        "now_red": [name for name in b if not b[name] and a.get(name, False)],
        "now_green": [name for name in b if b[name] and not a.get(name, True)],
        "missing": [name for name in a if name not in b],
        "added": [name for name in b if name not in a],
    }
    facts: dict[str, Json] = {key: _names(names, PAGE_ROWS) for key, names in sets.items()}
    lines = [f"{key}: {', '.join(facts[key])}" for key in sets if facts[key]]
    return ToolResult("\n".join(lines) or "No id differs.", facts)


def checked(run: Checked) -> ToolResult:
    """What a check showed; no criterion changed."""
    verdicts = [proof.verdict for proof in run.proofs.values()]
    red = [
        {"id": one.id, "says": one.says, "file": one.file, "line": one.line}
        for verdict in verdicts
        for one in verdict.red
    ]
    green = [name for verdict in verdicts for name in verdict.passed]
    reasons = [
        _line(reason.says, _REASON)
        for verdict in verdicts
        for reason in verdict.reasons
        if reason.code != "check.red" or not verdict.red  # else it says again what the red rows say
    ]
    shown = _shown(red)
    facts: dict[str, Json] = {
        "run": run.run,
        "holds": run.green,
        "green": _names(green, _NAMES),
        "red": shown,
        "took_s": round(run.took_s, 1),
        "confined": run.confined,
    }
    lines = ["It would pass." if run.green else f"It would not pass: {len(red)} red, {len(green)} green."]
    lines += [_spelled(one) for one in shown]
    if len(red) > len(shown):
        facts["red_more"] = len(red) - len(shown)
        lines.append(f"  … and {len(red) - len(shown)} more")
    for name, one in run.seen.items():
        if one.red is not None:
            count = len(one.red.ids)
            lines.append(f"{name}: red for a good reason, {count} id(s); its tests are locked from now on.")
        elif one.found.bad and not one.green:
            reasons = [_line(reason.says, _REASON) for reason in one.found.reasons]
    if reasons:
        facts["reasons"] = reasons[:3]
        lines += [f"  {reason}" for reason in reasons[:3]]
    lines.append(f"Run {run.run}, {run.took_s:.1f} s, {run.confined}.")
    return ToolResult("\n".join(lines), facts)


def running(run: str, since_s: float) -> ToolResult:
    """The answer of a call whose check outlasts it."""
    facts: dict[str, Json] = {"running": run, "since_s": int(since_s), "again_in_s": _SECONDS}
    text = f"The check still runs ({int(since_s)} s, {run}). Go on with other work;"
    return ToolResult(f"{text} the same call in {_SECONDS} s picks it up.", facts)


def again(result: ToolResult) -> ToolResult:
    """A receipt for the second time."""
    return result._replace(text=f"(again) {result.text}", structured={**(result.structured or {}), "again": True})


def refused(refusal: Refusal) -> ToolResult:
    """A refusal as an agent reads it: the reason, what is red, the next step, in both forms, cut to size."""
    facts: dict[str, Any] = {key: value for key, value in refusal.facts.items() if value}
    red = _shown(facts.get("red", ()))
    ran = "run" in facts  # then the further lines of the message say what stands in the facts
    reason = refusal.message.partition("\n")[0] if ran else refusal.message
    message = cut(escaped(reason, keep="\n"), _REASON)
    error: dict[str, Json] = {"code": refusal.code, "message": message}
    lines = [message, *(_spelled(one) for one in red)]
    if refusal.hint:
        error["hint"] = cut(escaped(refusal.hint), _NEXT)
    if red:
        left = len(facts["red"]) - len(red) + facts.pop("red_more", 0)
        facts |= {"red": red} | ({"red_more": left} if left else {})
        lines += [f"  … and {left} more"] if left else []
    if "missing" in facts:
        facts["missing"] = _names(facts["missing"], _NAMES if not red else 1)
        lines.append(f"  not reported: {', '.join(facts['missing'])}")
    if "receipt" in facts:
        facts["receipt"] = {key: cut(str(value), _REFERENCE) for key, value in facts["receipt"].items()}
    if ran:
        lines.append(f"Kept as run {facts['run']}; recorded as failed attempt {facts.get('attempts')}.")
    if "hint" in error:
        lines.append(f"Next: {error['hint']}.")
    return ToolResult("\n".join(lines), {"error": error, **facts}, is_error=True)


def _shown(red: Sequence[dict[str, Any]]) -> list[dict[str, Json]]:
    """The first of some red tests, at least one, as much as there is room for."""
    rows: list[dict[str, Json]] = []
    room = _ROWS
    for one in red[:_NAMES]:
        name, says = _line(one["id"], _NAME), _line(one["says"].strip().partition("\n")[0], _ERROR)
        fields: dict[str, Json] = {"id": name, "says": says}
        if one["file"]:
            fields |= {"file": _line(one["file"], _ERROR), "line": one["line"]}
        room -= cost(_spelled(fields))
        if rows and room < 0:
            break
        rows.append(fields)
    return rows


def _spelled(one: dict[str, Any]) -> str:
    place = f"  ({one['file']}:{one['line']})" if one.get("file") and one.get("line") else ""
    return f"  {one['id']}  {one['says']}{place}"


def _names(names: Sequence[str], most: int) -> list[Json]:
    """The first of some names, each cut, and a last entry that counts the rest."""
    shown: list[Json] = [_line(name, _NAME) for name in names[:most]]
    return [*shown, f"… and {len(names) - most} more"] if len(names) > most else shown


def _first(entries: Sequence[str], most: int) -> list[Json]:
    """The first of some texts, whole (the very first at least), and a last entry that counts the rest."""
    shown: list[Json] = []
    for entry in entries:
        if shown and len(entry) > most:
            return [*shown, f"… and {len(entries) - len(shown)} more"]
        shown.append(entry)
        most -= len(entry)
    return shown


def _warned(lines: list[str], facts: dict[str, Json], warning: str | None) -> ToolResult:
    if warning is not None:
        facts["warning"] = _line(warning, _REASON)
        lines.append(f"! {facts['warning']}")
    return ToolResult("\n".join(lines), facts)


def _line(text: str, most: int) -> str:
    return cut(_flat(text), most)


def _flat(text: str) -> str:
    return escaped(" ".join(text.split()))


def _paragraph(text: str) -> str:
    return escaped(text, keep="\n\t")
