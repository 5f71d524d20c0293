"""The header of an output and the name of its file, `<NN>-<role>-<slug>.json` (formats 2). Pure.

The header decides: a name is read with the longest known role first, and a name that says something else than the
header is a mistake. A half phase is written `06_5`. What is wrong is told all at once (`checked`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.handoff.manifest.phases import file_prefix
from tallystick.handoff.output.schemas import Mistake, Mistakes, is_number, one_of, payload_mistakes, told
from tallystick.ids import is_feature_id, shown
from tallystick.ledger.permissions import ROLES
from tallystick.limits import ID_CHARACTERS

MARKER = "jonggrang-output"
STATUSES = ("completed", "failed", "blocked", "partial")
#: The header's keys, in the order in which they are written.
KEYS = (MARKER, "feature_id", "phase", "role", "task_id", "agent_id", "timestamp", "status", "output")
SLUG = "output"
HIGHEST_PHASE = 99.5
#: What a task id or an agent's id may have, in characters.
_LONGEST = 256

_WORD = re.compile(r"[a-z0-9][a-z0-9._-]*\Z")
_NAME = re.compile(r"(?P<phase>\d{1,2})(?P<half>[_.]5)?-(?P<rest>[a-z0-9][a-z0-9._-]*)\.json\Z", re.ASCII)
_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.\d{1,30})?(?:[Zz]|[+-](\d\d):(\d\d))\Z", re.ASCII
)
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
#: Longest first, so that `test-lead-plan` is the plan of a test-lead. `solo` and `main` are connections, no craft.
CRAFTS = frozenset(ROLES - {"solo", "main"})
_KNOWN = sorted(CRAFTS, key=lambda role: (-len(role), role))


class Header(NamedTuple):
    """The header of a document without mistakes; `phase` is whole (int) or a half (float)."""

    feature: str
    phase: float
    role: str
    slug: str
    task_id: str | None
    agent_id: str
    timestamp: str
    status: str


class Name(NamedTuple):
    """What a file's name says."""

    phase: float
    role: str
    slug: str


def is_word(text: Json) -> bool:
    """Whether `text` may be a role or a slug: lower-case letters, digits, `.`, `_` and `-`, 1 to 64."""
    return isinstance(text, str) and bool(_WORD.match(text)) and len(text) <= ID_CHARACTERS


def file_name(header: Header) -> str:
    """The name of the file of an output."""
    return f"{file_prefix(header.phase)}-{header.role}-{header.slug}.json"


def read_name(file: str, role: str = "") -> Name | None:
    """What `file` says by its name, None where it is no name of an output. `role` is known beside the usual ones.

    One digit is read too, and `6.5` for `06_5`: an agent that fills in `{phase}-{role}-…` writes that.
    """
    found = _NAME.match(file)
    if found is None:
        return None
    rest = found["rest"]
    known = sorted({role, *_KNOWN}, key=len, reverse=True) if role else _KNOWN
    first = next((one for one in known if rest.startswith(f"{one}-")), rest.partition("-")[0])
    slug = rest[len(first) + 1 :]
    if not is_word(first) or not is_word(slug):
        return None
    whole = int(found["phase"])
    return Name(whole + 0.5 if found["half"] else whole, first, slug)


def checked(document: Json, file: str | None = None, feature: str | None = None) -> list[Mistake]:
    """Everything that is wrong with a whole output; `file` is its name, `feature` the one whose folder it lies in."""
    if not isinstance(document, dict):
        return [Mistake("", f"is {told(document)}, an object with the header is wanted")]
    return [
        *_header_mistakes(document, feature),
        *_name_mistakes(document, file),
        *(payload_mistakes(document.get("role"), document["output"]) if "output" in document else ()),
        *_task_mistakes(document),
    ]


def header_of(document: dict[str, Json], file: str | None = None) -> Header:
    """The header of a document without mistakes. `file`, where it is known, says the slug."""
    role, phase = document["role"], document["phase"]
    name = read_name(file, role) if file is not None else None
    return Header(
        document["feature_id"],
        int(phase) if phase == int(phase) else phase,
        role,
        name.slug if name is not None else slug_of(document),
        document["task_id"],
        document["agent_id"],
        document["timestamp"],
        document["status"],
    )


def slug_of(document: dict[str, Json]) -> str:
    """What the file of a document is called: its own word `slug`, else its task as far as that fits, else `output`."""
    for key in ("slug", "task_id"):
        if _fits(document.get("role"), document.get(key)):
            return str(document[key])
    return SLUG


def is_moment(value: Json) -> bool:
    """Whether `value` is a time as RFC 3339 writes it, with its offset."""
    found = _MOMENT.match(value) if isinstance(value, str) else None
    if found is None:
        return False
    year, month, day, hour, minute, second, *offset = (int(one or 0) for one in found.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = _DAYS[month - 1] if 1 <= month <= 12 else 0
    if month == 2 and not leap:
        days = 28
    return 1 <= day <= days and hour < 24 and minute < 60 and second < 61 and offset[0] < 24 and offset[1] < 60


def is_phase(value: Json) -> bool:
    """Whether `value` is the number of a phase: 0 to 99, or a half between."""
    return is_number(value) and 0 <= value <= HIGHEST_PHASE and float(value * 2).is_integer()


def _header_mistakes(document: dict[str, Json], feature: str | None) -> Mistakes:
    for key in KEYS:
        if key not in document:
            yield Mistake(key, f"is missing, {_RIGHT[key]} is wanted")
        elif key not in ("status", "output") and not _SOUND[key](document[key]):
            yield Mistake(key, f"is {told(document[key])}, {_RIGHT[key]} is wanted")
    if "status" in document:
        yield from one_of(*STATUSES)(document["status"], "status")
    said = document.get("feature_id")
    if feature is not None and isinstance(said, str) and is_feature_id(said) and said != feature:
        yield Mistake("feature_id", f"is {told(said)}, but the folder is the one of {told(feature)}")
    slug = document.get("slug")
    if slug is not None and not is_word(slug):
        yield Mistake("slug", f"is {told(slug)}, {_RIGHT['role']} is wanted")
    elif slug is not None and is_word(document.get("role")) and not _fits(document["role"], slug):
        yield Mistake("slug", f"is {told(slug)}, which reads as another role behind {told(document['role'])}")


def _name_mistakes(document: dict[str, Json], file: str | None) -> Mistakes:
    if file is None:
        return
    role, phase = document.get("role"), document.get("phase")
    name = read_name(file, role if isinstance(role, str) and is_word(role) else "")
    if name is None:
        yield Mistake("file", f"is called {shown(file)}, a name such as {_example(document)} is wanted")
        return
    if is_word(role) and name.role != role:
        yield Mistake("role", f"is {told(role)}, but the file's name {shown(file)} says {told(name.role)}")
    if is_phase(phase) and name.phase != phase:
        yield Mistake("phase", f"is {told(phase)}, but the file's name {shown(file)} says {told(name.phase)}")
    slug = document.get("slug")
    if is_word(slug) and name.role == role and name.slug != slug:
        yield Mistake("slug", f"is {told(slug)}, but the file's name {shown(file)} says {told(name.slug)}")


def _task_mistakes(document: dict[str, Json]) -> Mistakes:
    """A developer says twice which task it was; both must be the same one."""
    payload, task = document.get("output"), document.get("task_id")
    if document.get("role") == "developer" and isinstance(payload, dict) and isinstance(task, str):
        inner = payload.get("task_id")
        if isinstance(inner, str) and inner != task:
            yield Mistake("output.task_id", f"is {told(inner)}, but the header says {told(task)}")


def _example(document: dict[str, Json]) -> str:
    phase, role = document.get("phase"), document.get("role")
    number = file_prefix(phase) if phase is not None and is_phase(phase) else "08"
    return f"{number}-{role if is_word(role) else 'developer'}-{SLUG}.json"


def _fits(role: Json, slug: Json) -> bool:
    """Whether a file of that role and slug is read as that role again."""
    if not is_word(role) or not is_word(slug):
        return False
    name = read_name(f"00-{role}-{slug}.json", role)
    return name is not None and (name.role, name.slug) == (role, slug)


def _is_id(value: Json) -> bool:
    return isinstance(value, str) and 0 < len(value.strip()) <= len(value) <= _LONGEST


_SOUND: dict[str, Callable[[Json], bool]] = {
    MARKER: lambda value: value is True,
    "feature_id": lambda value: isinstance(value, str) and is_feature_id(value),
    "phase": is_phase,
    "role": is_word,
    "task_id": lambda value: value is None or _is_id(value),
    "agent_id": _is_id,
    "timestamp": is_moment,
}
_RIGHT = {
    MARKER: "true",
    "feature_id": "a feature id (a-z, 0-9 and '-')",
    "phase": "a number from 0 to 99, or a half such as 6.5,",
    "role": "a-z, 0-9, '.', '_' and '-', at most 64,",
    "task_id": f"a text of 1 to {_LONGEST} characters, or null,",
    "agent_id": f"a text of 1 to {_LONGEST} characters",
    "timestamp": "a time such as 2024-01-01T00:00:00Z",
    "status": f"one of {', '.join(STATUSES)},",
    "output": "an object",
}
