"""`tallystick output …`: hand over, find and read what agents did."""

from __future__ import annotations

import json
import posixpath

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import DONE, LOOK, Refusal
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import Terminal, safe
from tallystick.handoff.manifest.phases import number_text
from tallystick.handoff.output.intake import rows_of
from tallystick.handoff.output.listing import Filters, Row, phases_of
from tallystick.ids import escaped, typed
from tallystick.moment import ago
from tallystick.wiring import outputs

_COLOURS = {"completed": "good", "failed": "bad", "blocked": "warn", "partial": "warn"}


def save(call: Call) -> int:
    """Keep what an agent hands over."""
    (file,) = call.arguments.words
    try:
        saved = outputs(call.app).save(call.read(file), "" if file == "-" else posixpath.basename(file))
    except Refusal as refusal:
        raise _named_whole(refusal) from None
    output = saved.output
    document: dict[str, Json] = {
        "feature": saved.feature,
        "file": output.file,
        "version": output.version,
        "digest": output.digest,
        "size": output.size,
        "masked": output.masked,
        "again": saved.again,
        "notes": list(saved.notes),
    }
    what = "was saved already" if saved.again else f"saved, version {output.version}"
    lines = [f"{safe(saved.feature)}: {safe(output.file)} {what}."]
    if output.masked:
        lines.append(f"{output.masked} secret(s) were masked before anything was written.")
    call.terminal.answer(document, lines)
    for note in saved.notes:
        call.terminal.tell(f"note: {note}")
    return DONE


def find(call: Call) -> int:
    """One page of what was handed over."""
    arguments, feature = call.arguments, call.feature()
    phases = None if arguments.phase is None else phases_of(arguments.phase)
    filters = Filters(phases, arguments.role, arguments.task, arguments.status)
    page = outputs(call.app).find(feature, filters, arguments.after)
    document: dict[str, Json] = {
        "feature": feature,
        "outputs": [row_document(row) for row in page.rows],
        "cursor": page.cursor,
        "more": page.more,
        "total": page.total,
    }
    title = f"{safe(feature)}   {_count(page.total, page.others)}"
    lines = [title, ""] if page.rows else [f"{safe(feature)}   no such output"]
    lines += _table(page.rows, call)
    if page.cursor is not None:
        lines.append(f"  … {page.more} more: tallystick output find {feature} --after {typed(page.cursor)}")
    call.terminal.answer(document, lines)
    return _look(call, feature)


def show(call: Call) -> int:
    """One output whole."""
    feature, file = call.feature_and_word()
    found = outputs(call.app).show(feature, file, _version(call.arguments.version))
    output = found.output
    content = canonical.parse(found.data, file)
    document = {
        "feature": feature,
        "file": file,
        "version": None if output is None else output.version,
        "versions": found.versions,
        "digest": found.digest,
        "size": len(found.data),
        "masked": found.masked,
        "adopted": output is not None,
        "document": content,
    }
    lines = [escaped(line) for line in json.dumps(content, ensure_ascii=False, indent=2).split("\n")]
    call.terminal.answer(document, lines if not call.terminal.json else ())
    for note in found.notes:
        call.terminal.tell(f"note: {note}")
    return _look(call, feature)


def row_document(row: Row) -> dict[str, Json]:
    """One row with the keys others build on (surface)."""
    return {**row._asdict(), "reasons": rows_of(row.reasons)}


def _named_whole(refusal: Refusal) -> Refusal:
    """The refusal, and where it is said that not all mistakes fit into a line, how to see the others."""
    if refusal.code != "output.invalid" or not refusal.message.endswith(" more"):
        return refusal
    hint = f"{refusal.hint}; --json names them all"
    return Refusal(refusal.code, refusal.message, hint, refusal.where, refusal.facts)


def _version(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise Refusal("usage", "--version is a number from 1 on", "tallystick output show FILE --version 1")
    return int(text)


def _look(call: Call, feature: str) -> int:
    """Name what is damaged; the exit status of a reading command."""
    grave = call.app.store.peek(feature).grave
    for finding in grave:
        call.terminal.tell(f"{finding.code}: {finding.says}")
    return LOOK if grave else DONE


def _count(total: int, others: int) -> str:
    """How many there are; files that cannot be outputs by their names are told apart."""
    real = total - others
    counted = "1 output" if real == 1 else f"{real} outputs"
    if not others:
        return counted
    return f"{counted}, {'1 file that is' if others == 1 else f'{others} files that are'} called otherwise"


def _table(rows: tuple[Row, ...], call: Call) -> list[str]:
    """One line for each file: phase, role, task, status, when, name, and what a person must know of it."""
    now = call.machine.clock.now()
    cells = [_cells(row, now) for row in rows]
    widths = [max((len(one[at]) for one in cells), default=0) for at in range(5)]
    lines: list[str] = []
    for row, one in zip(rows, cells, strict=True):
        padded = [f"{cell:<{width}}" for cell, width in zip(one, widths, strict=True)]
        padded[3] = call.terminal.paint(padded[3], _COLOURS.get(row.status or "", "plain"))
        lines.append(f"  {'  '.join(padded)}  {_named(row, call.terminal)}")
        lines += [f"      {call.terminal.paint(_reason(one.path, one.says), 'dim')}" for one in row.reasons[:3]]
        if len(row.reasons) > 3:
            lines.append(f"      … and {len(row.reasons) - 3} more (--json names them)")
    return lines


def _cells(row: Row, now: int) -> tuple[str, str, str, str, str]:
    phase = "-" if row.phase is None else number_text(row.phase)
    when = ago(row.recorded_at, now) if row.recorded_at is not None else "-"
    return phase, safe(row.role or "-", 20), safe(row.task_id or "-", 24), row.status or "-", when


def _named(row: Row, terminal: Terminal) -> str:
    """The file, and behind it what a person must know."""
    words: list[str] = []
    if not row.valid:
        count = "1 mistake" if len(row.reasons) == 1 else f"{len(row.reasons)} mistakes"
        words.append(terminal.paint(f"invalid: {count}", "bad"))
    elif not row.adopted:
        words.append(terminal.paint("not adopted", "warn"))
    if row.versions > 1:
        words.append(f"{row.versions} versions")
    if not row.ours:
        words.append("elsewhere")
    return "  ".join((safe(row.file, 100), *words))


def _reason(path: str, says: str) -> str:
    return safe(f"{path} {says}", 110)
