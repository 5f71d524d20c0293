"""Which payloads of the records of phases are sound: one table from record type to its fields. Pure.

A record of another key may say anything in its data; what is not sound is named and counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from tallystick.canonical import Json
from tallystick.handoff.manifest.phases import BY_NAME, LAYOUTS

ENDS = ("completed", "failed", "skipped")
CLOSED = ("completed", "failed", "paused")

Check = Callable[[Json], bool]
#: Field -> whether it must be there, and what it must be.
Fields = dict[str, tuple[bool, Check]]


def flaw(kind: str, data: dict[str, Json]) -> str | None:
    """Why a payload of that record type cannot be folded, None when it can."""
    return _flaw(data, FIELDS[kind], kind)


def _flaw(data: dict[str, Json], fields: Fields, kind: str) -> str | None:
    for name, (needed, sound) in fields.items():
        if (needed or name in data) and not sound(data.get(name)):
            return f"has a {name} that no {kind} has"
    return None


def _text(value: Json) -> bool:
    return type(value) is str


def _text_or_none(value: Json) -> bool:
    return value is None or type(value) is str


def _truth(value: Json) -> bool:
    return type(value) is bool


def _number(value: Json) -> bool:
    return type(value) in (int, float)


def _count(value: Json) -> bool:
    return type(value) is int and value >= 0


def _count_or_none(value: Json) -> bool:
    return value is None or _count(value)


def _layout(value: Json) -> bool:
    return type(value) is int and value in LAYOUTS


def _phase(value: Json) -> bool:
    return type(value) is str and value in BY_NAME


def _phases(value: Json) -> bool:
    return type(value) is list and all(map(_phase, value))


def _texts(value: Json) -> bool:
    return type(value) is list and all(map(_text, value))


def _table_or_none(value: Json) -> bool:
    return value is None or type(value) is dict


def _found(value: Json) -> bool:
    return value is None or (type(value) is dict and _flaw(value, _FOUND, "manifest") is None)


def _files(value: Json) -> bool:
    return type(value) is list and all(type(row) is dict and _flaw(row, _FILE, "file") is None for row in value)


def _claimed(value: Json) -> bool:
    return type(value) is dict and _flaw(value, _CLAIMED, "claim") is None


def _differences(value: Json) -> bool:
    keys = ("path", "says", "note")
    return type(value) is list and all(type(row) is dict and all(_text(row.get(key)) for key in keys) for row in value)


_CLAIMED: Fields = {
    "approved": (False, _truth),
    "tests_passed": (False, _truth),
    "coverage": (False, _number),
    "differences": (False, _differences),
    "differences_count": (False, _count),
}

_FOUND: Fields = {"digest": (True, _text), "document": (False, _table_or_none), "kept": (False, _text_or_none)}

_FILE: Fields = {
    "path": (True, _text),
    "type": (True, _text),
    "size": (True, _count_or_none),
    "digest": (True, _text_or_none),
    "created_at": (True, _text),
    "agent_id": (True, _text_or_none),
    "task_id": (True, _text_or_none),
    "state": (False, _texts),
    "added": (False, _count_or_none),
    "removed": (False, _count_or_none),
    **dict.fromkeys(("old", "mode", "path_bytes", "old_bytes"), (False, _text_or_none)),
}

FIELDS: dict[str, Fields] = {
    "phase_started": {
        "phase": (True, _phase),
        "number": (True, _number),
        "layout": (True, _layout),
        **dict.fromkeys(("role", "agent_id", "base", "work_type"), (False, _text_or_none)),
        "description": (False, _text),
        "ui": (False, _truth),
        "active": (False, _phases),
        "found": (False, _found),
    },
    "phase_ended": {
        "phase": (True, _phase),
        "status": (True, lambda value: value in ENDS),
        **dict.fromkeys(("reason", "output", "files_kept"), (False, _text_or_none)),
        "files": (False, _files),
        "files_count": (False, _count),
        "claimed": (False, _claimed),
    },
    "manifest_closed": {"status": (True, lambda value: value in CLOSED)},
}
