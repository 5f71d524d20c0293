"""From what an agent hands over to what is kept: parsed, filled in, checked, masked, written out. Pure (time is given).

Bytes are kept as they came where nothing was to be filled in and nothing to be masked; else the document is written
anew, its header first. Nothing that is returned holds a secret of a known shape.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.handoff.output.header import CRAFTS, KEYS, MARKER, checked, header_of, is_word, read_name
from tallystick.handoff.output.model import Kept
from tallystick.handoff.output.schemas import Mistake, told
from tallystick.ids import escaped, is_feature_id
from tallystick.journal.record import By
from tallystick.limits import INPUT_FILE
from tallystick.masking.secrets import masked_value

#: Larger documents are written without blanks: indenting five megabytes takes seconds.
_INDENTED = 64 * 1024
#: How many mistakes a refusal or a row names; the rest is counted.
SHOWN = 100
_IN_MESSAGE = 3
_BOM = b"\xef\xbb\xbf"


class Handed(NamedTuple):
    """What was handed over, as a document; `data` its bytes where it came as such."""

    document: dict[str, Json]
    data: bytes | None


def parsed(given: bytes | Json, file: str) -> Handed:
    """What was handed over. Raises `Refusal` for what is no JSON object or too large."""
    data = given if isinstance(given, bytes) else None
    if data is not None and len(data) > INPUT_FILE:
        raise _too_large(len(data))
    document = canonical.parse(data, file) if data is not None else given
    if not isinstance(document, dict):
        raise invalid([Mistake("", f"is {told(document)}, an object with the header is wanted")])
    return Handed(document, data)


def filled(document: dict[str, Json], by: By, now: str) -> dict[str, Json]:
    """The document with what only its maker's connection knows: marker, role, task, agent and time. Itself if whole."""
    if all(key in document for key in KEYS):
        return document
    payload = document.get("output")
    inner = payload.get("task_id") if isinstance(payload, dict) else None
    known: dict[str, Json] = {
        MARKER: True,
        "task_id": inner if isinstance(inner, str) else None,
        "agent_id": by.agent or by.client or by.role,
        "timestamp": now,
    }
    if by.role in CRAFTS:
        known["role"] = by.role
    whole = {key: document.get(key, known.get(key)) for key in KEYS[:-1] if key in document or key in known}
    rest = {key: value for key, value in document.items() if key not in KEYS}
    return {**whole, **rest, **({"output": payload} if "output" in document else {})}


def of_save(handed: Handed, by: By, now: str, name: str) -> Kept:
    """What is kept of an output that is saved; `name` is what its file was called, "" for none.

    Raises `Refusal` "output.invalid" with every mistake, "input.too_large".
    """
    whole = filled(handed.document, by, now)
    file = name if read_name(name) is not None else None
    _sound(whole, file)
    found, counts = masked_value(whole)
    if counts:
        _sound(found, file)
    same = whole is handed.document and not counts and handed.data is not None and not handed.data.startswith(_BOM)
    data = handed.data if same and handed.data is not None else written(found)
    if len(data) > INPUT_FILE:
        raise _too_large(len(data))
    original = ""
    if counts:
        original = canonical.sha256(handed.data if handed.data is not None else written(handed.document))
    given = "" if whole is handed.document else canonical.sha256(written(masked_value(handed.document)[0]))
    return Kept(header_of(found, file), data, counts, original, given)


def of_file(data: bytes, file: str, feature: str) -> Kept | Sequence[Mistake]:
    """What is kept of a file that an agent wrote itself, or everything that is wrong with it."""
    try:
        document = canonical.parse(data, file)
    except Refusal as refusal:
        says = refusal.message.removeprefix(f"{file} ").removesuffix("; nothing was changed")
        return [Mistake("file", says)]
    mistakes = checked(document, file, feature)
    if mistakes:
        return mistakes
    found, counts = masked_value(document)
    if not counts:
        return Kept(header_of(document, file), data, {})
    mistakes = checked(found, file, feature)
    if mistakes:
        return mistakes
    return Kept(header_of(found, file), written(found), counts, canonical.sha256(data))


def written(document: dict[str, Json]) -> bytes:
    """A document as we write it, LF at its end. Raises `Refusal` for what JSON cannot say."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        if len(text) <= _INDENTED:
            text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
        return f"{text}\n".encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise Refusal(
            "input.invalid", f"the output is no JSON: {escaped(str(error))[:100]}", "write it as plain JSON"
        ) from None


def said_role(document: dict[str, Json]) -> str:
    """The role that a document names, "" for none."""
    role = document.get("role")
    return role if isinstance(role, str) and is_word(role) else ""


def said_feature(document: dict[str, Json]) -> str:
    """The feature that a document names, "" for none."""
    feature = document.get("feature_id")
    return feature if isinstance(feature, str) and is_feature_id(feature) else ""


def rows_of(mistakes: Sequence[Mistake], most: int = SHOWN) -> list[dict[str, Json]]:
    """Mistakes as answers have them: `path` and `says`, and a last row that counts what is left out."""
    rows: list[dict[str, Json]] = [{"path": escaped(path), "says": escaped(says)} for path, says in mistakes[:most]]
    if len(mistakes) > most:
        rows.append({"path": "", "says": f"… and {len(mistakes) - most} more"})
    return rows


def invalid(mistakes: Sequence[Mistake], file: str = "") -> Refusal:
    """The refusal for an output with mistakes: the first few in the message, all of them in its facts."""
    named = [f"{path} {says}".strip() for path, says in mistakes[:_IN_MESSAGE]]
    more = f"; … and {len(mistakes) - _IN_MESSAGE} more" if len(mistakes) > _IN_MESSAGE else ""
    count = "one mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
    return Refusal(
        "output.invalid",
        f"{file or 'the output'} has {count}: {'; '.join(named)}{more}",
        "mend what is named and save it again",
        facts={"mistakes": rows_of(mistakes)},
    )


def _sound(document: dict[str, Json], file: str | None) -> None:
    mistakes = checked(document, file)
    if mistakes:
        raise invalid(mistakes)


def _too_large(size: int) -> Refusal:
    return Refusal(
        "input.too_large",
        f"the output has {size:,} bytes, the limit is {INPUT_FILE:,}",
        "put what is large into a file of the project and name it in the output",
    )
