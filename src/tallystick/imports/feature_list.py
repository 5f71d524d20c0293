"""`feature_list.json` of other servers, and its array form: bytes in, criteria with claims out. Pure.

The array form has no ids and lists steps. Ids are given as F001 … in order. Its steps become part of the text: they
tell how to see that it holds, and as `evidence_required` each would ask for a reference of its own, so that a
criterion with ten steps could only pass by citing ten things.
"""

from __future__ import annotations

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.imports.found import Found, Row, invalid
from tallystick.imports.verdicts import Wordless, claim_of
from tallystick.ledger.document import from_json
from tallystick.ledger.model import Claim

_TEXT_KEYS = ("description", "text", "title", "name")
_ARRAY_KEYS = ("steps", "category")


def read(data: bytes, file: str) -> Found:
    """The criteria of a feature list in either form. Raises `Refusal` with all its mistakes."""
    return read_value(canonical.parse(data, file), file)


def read_value(value: Json, file: str) -> Found:
    """As `read`, for what was parsed already."""
    if isinstance(value, list):
        return Found(file, "list", None, _array(value, file))
    rows = value.get("features") if isinstance(value, dict) else None
    if isinstance(rows, list) and any(_has_array_form(item) for item in rows):
        feature = value.get("task_id")
        return Found(file, "list", feature if isinstance(feature, str) else None, _array(rows, file))
    source = from_json(value, file)
    mistakes: list[str] = []
    found = [
        Row(draft.id, draft.description, draft.evidence_required, _claim(item, f"features[{at}]", file, mistakes))
        for at, (draft, item) in enumerate(zip(source.drafts, value["features"], strict=True))
    ]
    if not found:
        mistakes.append("no criterion was found")
    if mistakes:
        raise invalid(file, mistakes)
    return Found(file, "ledger", source.feature, tuple(found))


def _has_array_form(item: Json) -> bool:
    return isinstance(item, dict) and ("id" not in item or any(key in item for key in _ARRAY_KEYS))


def _array(items: list[Json], file: str) -> tuple[Row, ...]:
    mistakes: list[str] = []
    named = [isinstance(item, dict) and item.get("id") is not None for item in items]
    if any(named) and not all(named):
        mistakes.append(f"[{named.index(False)}] has no id although others have one")
    found: list[Row] = []
    for at, item in enumerate(items):
        if not isinstance(item, dict):
            mistakes.append(f"[{at}] is no object")
            continue
        name = item.get("id", f"F{at + 1:03d}") if all(named) else f"F{at + 1:03d}"
        if not isinstance(name, str):
            mistakes.append(f"[{at}].id is no text")
            continue
        found.append(Row(name, _text(item, f"[{at}]", mistakes), None, _claim(item, f"[{at}]", file, mistakes)))
    if not items:
        mistakes.append("no criterion was found")
    if mistakes:
        raise invalid(file, mistakes)
    return tuple(found)


def _text(item: dict[str, Json], place: str, mistakes: list[str]) -> str:
    """The description, what it belongs to and how it is looked at: everything that was said, as the frozen text."""
    words = next((item[key] for key in _TEXT_KEYS if item.get(key) is not None), None)
    steps, category = item.get("steps") or [], item.get("category")
    if not isinstance(words, str) or not words.strip():
        mistakes.append(f"{place}.description is {'missing' if words is None else 'no text'}")
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        mistakes.append(f"{place}.steps is no list of texts")
        steps = []
    if category is not None and not isinstance(category, str):
        mistakes.append(f"{place}.category is no text")
    head = f"{str(words).strip()} ({category.strip()})" if isinstance(category, str) and category.strip() else words
    return "\n".join([str(head).strip(), *(f"- {step.strip()}" for step in steps if step.strip())])


def _claim(item: dict[str, Json], place: str, file: str, mistakes: list[str]) -> Claim | None:
    try:
        return claim_of(item, file)
    except Wordless as word:
        mistakes.append(f"{place} says {word}, which is no verdict")
        return None
