"""The tools for what agents hand over: save one, find them, read one in pieces. No answer grows with outputs (P21)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.handoff.cost import cost, cut
from tallystick.handoff.manifest.phases import number_text
from tallystick.handoff.output.listing import Filters, Row, phases_of
from tallystick.handoff.output.service import Shown
from tallystick.ids import escaped
from tallystick.mcp.toolset import ToolResult
from tallystick.wiring import outputs

if TYPE_CHECKING:
    from tallystick.wiring import App

Arguments = dict[str, Json]

#: What a page of an output may cost, in tokens, and how many characters are looked at for it.
_PAGE, _CHARACTERS = 1_900, 8_000
#: What one mistake may cost, how many a refusal names, and how many a row of a list.
_MISTAKE, _MISTAKES, _REASONS = 40, 20, 2
_NAME, _NOTE = 40, 60


def save_output(app: App, arguments: Arguments) -> ToolResult:
    """Keep one output; every mistake at once where it has some."""
    try:
        saved = outputs(app).save(arguments["output"])
    except Refusal as refusal:
        if refusal.code != "output.invalid":
            raise
        return _invalid(refusal)
    output = saved.output
    facts: dict[str, Json] = {"file": output.file, "version": output.version, "digest": output.digest}
    word = "was saved already" if saved.again else f"saved, version {output.version}"
    lines = [f"{output.file} {word} (sha256:{output.digest})."]
    if saved.again:
        facts["again"] = True
    if output.masked:
        facts["masked"] = output.masked
        lines.append(f"{output.masked} secret(s) were masked; never hand over secrets.")
    if saved.notes:
        facts["notes"] = [cut(escaped(note), _NOTE) for note in saved.notes]
        lines += facts["notes"]
    return ToolResult("\n".join(lines), facts)


def find_outputs(app: App, arguments: Arguments) -> ToolResult:
    """One page of what was handed over, newest first."""
    phase = arguments.get("phase")
    filters = Filters(
        None if phase is None else phases_of(phase),
        arguments.get("role"),
        arguments.get("task"),
        arguments.get("status"),
    )
    page = outputs(app).find(arguments["feature"], filters, arguments.get("cursor"))
    rows = [_row(row) for row in page.rows]
    lines = [_spelled(one) for one in rows] or ["No such output."]
    if page.cursor is not None:
        lines.append(f"{page.more} more: cursor {page.cursor}.")
    facts: dict[str, Json] = {"outputs": rows, "cursor": page.cursor, "more": page.more}
    grave = app.store.peek(arguments["feature"]).grave
    if grave:
        facts["warning"] = cut(escaped(grave[0].says), _NOTE)
        lines.append(f"! {facts['warning']}")
    return ToolResult("\n".join(lines), facts)


def get_output(app: App, arguments: Arguments) -> ToolResult:
    """One output as it is kept, from a place in it on."""
    try:
        found = outputs(app).show(arguments["feature"], arguments["file"])
    except Refusal as refusal:
        if refusal.code == "output.unknown":
            raise Refusal(refusal.code, refusal.message, "find_outputs lists what there is") from None
        if refusal.code != "output.invalid":
            raise
        return _invalid(refusal)
    return _piece(found, arguments.get("offset", 0))


def _piece(found: Shown, offset: int) -> ToolResult:
    text = found.data.decode("utf-8")
    if not 0 <= offset <= len(text):
        where = "before the beginning" if offset < 0 else "behind the end"
        raise Refusal("usage", f"offset is {where}: {found.file} has {len(text)} characters", "begin with offset 0")
    piece = fitting(text[offset : offset + _CHARACTERS])
    end = offset + len(piece)
    more = end if end < len(text) else None
    facts: dict[str, Json] = {
        "file": found.file,
        "version": None if found.output is None else found.output.version,
        "versions": found.versions,
        "text": piece,
        "offset": offset,
        "more": more,
        "total": len(text),
    }
    version = "not adopted yet" if found.output is None else f"version {found.output.version} of {found.versions}"
    head = f"{escaped(found.file)}, {version}, characters {offset} to {end} of {len(text)}"
    tail = "" if more is None else f"\nMore: offset {more}."
    return ToolResult(f"{head}:\n{escaped(piece, keep=chr(10))}{tail}", facts)


def fitting(text: str) -> str:
    """As much of the beginning of `text` as a page may cost; some of it always."""
    while len(text) > 1 and (price := max(cost(text), cost(escaped(text, keep="\n")))) > _PAGE:
        text = text[: max(1, len(text) * _PAGE // price - 8)]
    return text


def _row(row: Row) -> dict[str, Json]:
    """One row: what finds it again, and what is not as it should be."""
    fields: dict[str, Json] = {
        "file": row.file if row.phase is not None else cut(row.file, _NAME),  # a name that can be asked for is whole
        "phase": row.phase,
        "role": None if row.role is None else cut(row.role, _NAME),
        "task_id": None if row.task_id is None else cut(escaped(row.task_id), _NAME),
        "status": row.status,
        "at": row.recorded_at,
        "versions": row.versions,
    }
    if not row.adopted:
        fields["adopted"] = False
    if not row.ours:
        fields["elsewhere"] = True
    if not row.valid:
        fields |= {"valid": False, "reasons": _told([one._asdict() for one in row.reasons], _REASONS)}
    return fields


def _spelled(one: dict[str, Json]) -> str:
    phase = "-" if one["phase"] is None else number_text(one["phase"])
    words = [f"{one['file']}  phase {phase}, {one['role'] or '-'}, {one['task_id'] or 'no task'}"]
    words += [one["status"] or "-", one["at"] or "not adopted yet", f"{one['versions']} version(s)"]
    words += ["elsewhere"] if one.get("elsewhere") else []
    reasons = "".join(f"\n  invalid: {says}" for says in one.get("reasons", ()))
    return ", ".join(words) + reasons


def _told(mistakes: Sequence[dict[str, Json]], most: int) -> list[Json]:
    """The first of some mistakes as lines, and a last one that counts the rest."""
    lines: list[Json] = [cut(escaped(f"{one['path']} {one['says']}".strip()), _MISTAKE) for one in mistakes[:most]]
    return [*lines, f"… and {len(mistakes) - most} more"] if len(mistakes) > most else lines


def _invalid(refusal: Refusal) -> ToolResult:
    """Everything that is wrong with an output, in both forms."""
    found = refusal.facts["mistakes"]
    assert isinstance(found, list)
    mistakes = _told(found, _MISTAKES)
    message = "there is no valid output" if len(found) == 0 else f"no output: {len(found)} mistake(s)"
    error: dict[str, Json] = {"code": refusal.code, "message": message, "hint": refusal.hint}
    lines = [f"{message}:", *(f"  {one}" for one in mistakes), f"Next: {refusal.hint}."]
    return ToolResult("\n".join(lines), {"error": error, "mistakes": mistakes}, is_error=True)
