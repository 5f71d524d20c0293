"""Manifests that others wrote, in every shape that they are found in. Pure.

Phases come under integers, floats, strings, names or as a list; a status has several words for the same thing; fields
are missing or have another spelling. All of it is read into the values of `manifest`, marked as claimed, because no
record made it. What is not understood is kept (`rest`), never dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.errors import Refusal, Where
from tallystick.handoff.manifest.model import Attempt, PhaseEntry, RecordedFile
from tallystick.handoff.manifest.phases import (
    BY_NAME,
    WORK_TYPES,
    Phase,
    layout_of,
    name_in,
    number_in,
    numbered,
)
from tallystick.ids import shown

#: Words for a state, as they are found; the first of a row is ours.
_STATES = (
    ("running", "in_progress", "in-progress", "started", "active"),
    ("completed", "complete", "done", "success", "succeeded", "passed"),
    ("failed", "failure", "error", "blocked"),
    ("skipped", "skip", "not_applicable", "n/a"),
    ("pending", "todo", "not_started", "waiting", "queued"),
    ("paused", "on_hold"),
)
STATE: dict[str, str] = {word: row[0] for row in _STATES for word in row}

#: Our field -> the spellings that it is found in.
_TOP = {
    "feature_id": ("feature_id", "featureId", "feature", "id"),
    "description": ("description", "title"),
    "work_type": ("work_type", "workType", "type"),
    "created_at": ("created_at", "createdAt", "created", "started_at"),
    "updated_at": ("updated_at", "updatedAt", "updated"),
    "status": ("status", "state"),
    "current_phase": ("current_phase", "currentPhase", "phase"),
    "active_phases": ("active_phases", "activePhases"),
    "phases": ("phases",),
    "agents": ("agents",),
    "validation": ("validation",),
    "context_usage": ("context_usage", "contextUsage"),
}
_PHASE = {
    "number": ("number", "phase", "id"),
    "name": ("name", "phase_name", "title"),
    "status": ("status", "state"),
    "started_at": ("started_at", "startedAt", "started"),
    "completed_at": ("completed_at", "completedAt", "completed", "ended_at"),
    "role": ("role",),
    "agent_id": ("agent_id", "agentId", "agent"),
    "reason": ("reason", "skip_reason", "error"),
    "output": ("output", "output_file", "outputFile"),
    "output_files": ("output_files", "outputFiles", "files"),
}
#: A key of `phases[].output` -> what the files below it are.
_LISTS = {
    "files_created": "created",
    "files_modified": "modified",
    "files_changed": "modified",
    "files_deleted": "deleted",
}


class OldManifest(NamedTuple):
    """What a file says. `layout` is None where nothing in it tells; `rest` holds what is not understood, by place:
    "" for the top, the name of a phase, and "phases" for entries that no layout has."""

    feature: str | None
    description: str
    work_type: str | None
    created_at: str | None
    updated_at: str | None
    status: str
    current: str | None
    layout: int | None
    active: tuple[str, ...]
    phases: tuple[PhaseEntry, ...]
    agents: dict[str, Json]
    validation: dict[str, Json]
    context_usage: Json
    rest: dict[str, dict[str, Json]]

    @property
    def ui(self) -> bool:
        """Whether a phase of a user interface is among those it names."""
        return any(BY_NAME[name].ui for name in (*self.active, *(entry.phase.name for entry in self.phases)))


class _Row(NamedTuple):
    key: str
    number: float | None
    name: str | None
    fields: dict[str, Json]
    rest: dict[str, Json]


def read_manifest(document: Json, file: str) -> OldManifest:
    """The manifest in a parsed document; `file` names it.

    Raises `Refusal` "input.invalid" where it is no mapping, or says two things of one phase.
    """
    if not isinstance(document, dict):
        raise _invalid(file, f"is no manifest: it holds {_kind(document)}")
    top, rest = _spelled(document, _TOP)
    rows = list(_rows(top.get("phases"), file))
    listed = [_named_or_numbered(one) for one in _items(top.get("active_phases"))]
    seen = [(row.number, row.name or _text(row.fields.get("role")) or "") for row in rows]
    layout = layout_of([*seen, *((number, "") for number, _ in listed)])
    kept: dict[str, dict[str, Json]] = {"": rest}
    entries: dict[str, PhaseEntry] = {}
    for row in rows:
        phase = _phase(row.number, row.name, layout)
        if phase is None:
            kept.setdefault("phases", {})[row.key] = {**row.fields, **row.rest}
            continue
        if phase.name in entries:
            raise _invalid(file, f"has the phase {phase.name} twice")
        number = phase.number(layout or 16) or row.number or 0
        attempt = _attempt(row.fields)
        entries[phase.name] = PhaseEntry(phase, number, () if attempt.status == "pending" else (attempt,), claimed=True)
        kept[phase.name] = row.rest
    active = [phase.name for number, name in listed if (phase := _phase(number, name, layout)) is not None]
    current = _phase(*_named_or_numbered(top.get("current_phase")), layout)
    work_type = (_text(top.get("work_type")) or "").upper()
    return OldManifest(
        _text(top.get("feature_id")),
        _text(top.get("description")) or "",
        work_type if work_type in WORK_TYPES else None,
        _text(top.get("created_at")),
        _text(top.get("updated_at")),
        STATE.get((_text(top.get("status")) or "").lower(), "running"),
        current.name if current is not None else None,
        layout,
        tuple(dict.fromkeys(active)),
        tuple(sorted(entries.values(), key=lambda entry: entry.number)),
        _table(top.get("agents")),
        _table(top.get("validation")),
        top.get("context_usage"),
        {place: found for place, found in kept.items() if found},
    )


def _rows(phases: Json, file: str) -> Iterator[_Row]:
    """The entries of `phases`, a mapping or a list."""
    if isinstance(phases, dict):
        pairs = [(str(key), value) for key, value in phases.items()]
    elif isinstance(phases, list):
        pairs = [("", value) for value in phases]
    elif phases is None:
        return
    else:
        raise _invalid(file, f"has {_kind(phases)} where its phases should be")
    for key, value in pairs:
        fields, rest = _spelled(value if isinstance(value, dict) else {"status": value}, _PHASE)
        said = key or _text(fields.pop("number", None))
        number, name = _named_or_numbered(said)
        named = name_in(_text(fields.get("name")) or "")
        yield _Row(key or said or "", number, named or name, fields, rest)


def _spelled(given: dict[str, Json], spellings: dict[str, tuple[str, ...]]) -> tuple[dict[str, Json], dict[str, Json]]:
    """Our fields out of `given`, the first spelling that is there; and all the rest."""
    found: dict[str, Json] = {}
    rest = dict(given)
    for field, words in spellings.items():
        for word in words:
            if word in rest and field not in found:
                found[field] = rest.pop(word)
    return found, rest


def _named_or_numbered(value: Json) -> tuple[float | None, str | None]:
    """The number and the name that a key or a list's element gives: 8, "08", "6.5", "implementation"."""
    text = _text(value) or ""
    return number_in(text), name_in(text)


def _phase(number: float | None, name: str | None, layout: int | None) -> Phase | None:
    """The phase: by its name, else by its number; where nothing tells the layout, by that of sixteen."""
    if name is not None:
        return BY_NAME[name]
    return numbered(number, layout or 16) if number is not None else None


def _attempt(fields: dict[str, Json]) -> Attempt:
    output = fields.get("output")
    files = tuple(_files(fields.get("output_files"), output))
    name = _text(output.get("file") or output.get("path")) if isinstance(output, dict) else _text(output)
    status = STATE.get((_text(fields.get("status")) or "").lower(), "")
    times = _text(fields.get("started_at")), _text(fields.get("completed_at"))
    if status in ("", "paused"):
        status = "completed" if times[1] else "running" if times[0] else "pending"
    who = _text(fields.get("role")), _text(fields.get("agent_id")), None
    return Attempt(
        status, *times, *who, _text(fields.get("reason")), name, files, len(files), None, {}, "", ours=False
    )  # fmt: skip


def _files(listed: Json, output: Json) -> Iterator[RecordedFile]:
    """The files of `output_files`, and of the lists below `output`."""
    for one in _items(listed):
        row = one if isinstance(one, dict) else {"path": one}
        path = _text(row.get("path") or row.get("file"))
        if path:
            size = row.get("size")
            yield RecordedFile(
                path,
                _text(row.get("type") or row.get("status")) or "",
                size if type(size) is int and size >= 0 else None,
                (_text(row.get("digest")) or "").removeprefix("sha256:") or None,
                _text(row.get("created_at")) or "",
                _text(row.get("agent_id")),
                _text(row.get("task_id")),
            )
    if isinstance(output, dict):
        for key, kind in _LISTS.items():
            for one in _items(output.get(key)):
                path = _text(one.get("path") if isinstance(one, dict) else one)
                if path:
                    yield RecordedFile(path, kind, None, None, "", None, None)


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _table(value: Json) -> dict[str, Json]:
    """A mapping as it is; a list of agents by their ids."""
    if isinstance(value, dict):
        return value
    named = [one for one in _items(value) if isinstance(one, dict) and _text(one.get("id") or one.get("agent_id"))]
    return {str(one.get("id") or one.get("agent_id")): one for one in named}


def _text(value: Json) -> str | None:
    """A scalar as text; None for nothing, and for what is no scalar."""
    if value is None or isinstance(value, (dict, list)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return str(value)


def _kind(value: Json) -> str:
    return {dict: "a mapping", list: "a list", type(None): "nothing"}.get(type(value), f"only {shown(str(value))}")


def _invalid(file: str, reason: str) -> Refusal:
    return Refusal("input.invalid", f"{file} {reason}", "mend the file and try again", Where(file))
