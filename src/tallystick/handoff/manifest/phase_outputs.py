"""What a phase handed over, beside what git saw of it: its outputs, their claims, and the changed files. Pure.

An agent's own word never stands instead of git's; where the two differ, that is recorded beside it.
"""

from __future__ import annotations

import binascii
from collections.abc import Sequence
from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.handoff.manifest.claims import NOT_CLAIMED, Claimed, differences, normal
from tallystick.handoff.manifest.model import Manifest, PhaseEntry, RecordedFile
from tallystick.handoff.manifest.phases import phase_of_output
from tallystick.handoff.output.model import Output, Outputs, current
from tallystick.system.changes import Change

#: How many paths of one kind a record names; how many there are stands beside them.
_NAMED = 200
_VERDICTS: dict[str, tuple[type, ...]] = {"approved": (bool,), "tests_passed": (bool,), "coverage": (int, float)}
_FILES = frozenset(("files_modified", "files_created"))


class Said(NamedTuple):
    """One output of a phase and its payload, the object under `output`."""

    output: Output
    payload: dict[str, Json]


def by_phase(outputs: Outputs, manifest: Manifest) -> dict[str, list[Output]]:
    """Phase -> the outputs of the attempt that runs, or was the last; oldest first. Phases without any are left out.

    After a second start of a phase those that were handed over before it belong to the attempt before.
    """
    since = {entry.phase.name: _since(entry) for entry in manifest.phases}
    found: dict[str, list[Output]] = {}
    for output in sorted(map(current, outputs.values()), key=lambda one: (one.at, one.file)):
        phase = phase_of_output(output.phase, output.role, output.slug, manifest.head.layout)
        if phase is not None and output.at >= since.get(phase.name, ""):
            found.setdefault(phase.name, []).append(output)
    return found


def _since(entry: PhaseEntry) -> str:
    attempts = [attempt for attempt in entry.attempts if attempt.ours]
    return attempts[-1].started_at or "" if len(attempts) > 1 else ""


def claimed(said: Sequence[Said], changes: Sequence[Change] | None, top: str) -> dict[str, Json]:
    """What the outputs say: the last verdict of each kind, and where their word on files is not what git saw.

    `differences` are bounded, claims that nothing came of first, `differences_count` says how many there are. Without
    `changes` (nobody asked git) verdicts alone are in it. {} where nothing was said. `top` is the tree's top.
    """
    found: dict[str, Json] = {}
    for one in said:
        for key, kinds in _VERDICTS.items():
            if type(one.payload.get(key)) in kinds:
                found[key] = one.payload[key]
    word = Claimed(
        tuple(path for one in said for path in _paths(one.payload, "files_modified")),
        tuple(path for one in said for path in _paths(one.payload, "files_created")),
    )
    if changes is None or not any(_FILES & one.payload.keys() for one in said):
        return found
    astray = sorted(differences(word, changes, top), key=lambda one: one.kind == NOT_CLAIMED)
    rows = [{"path": text_of(one.path)[0], "says": one.kind, "note": one.note} for one in astray[:_NAMED]]
    return {**found, "differences": rows, "differences_count": len(astray)}


def recorded(
    changes: Sequence[Change], said: Sequence[Said], top: str, agent_id: str | None, now: str
) -> tuple[RecordedFile, ...]:
    """The files that changed, each with the agent and task of the last output that names it."""
    owners: dict[str, Output] = {}
    for one in said:
        for path in (*_paths(one.payload, "files_modified"), *_paths(one.payload, "files_created")):
            owners[normal(path, top)] = one.output
    rows = []
    for change in changes:
        owner = owners.get(change.path)
        path, raw = text_of(change.path)
        old, old_raw = (None, None) if change.old is None else text_of(change.old)
        rows.append(
            RecordedFile(
                path,
                change.kind,
                change.size,
                change.digest,
                now,
                owner.agent_id if owner is not None else agent_id,
                owner.task_id if owner is not None else None,
                change.state,
                old,
                change.mode,
                change.added,
                change.removed,
                raw,
                old_raw,
            )
        )
    return tuple(rows)


def text_of(path: str) -> tuple[str, str | None]:
    """A path as text that JSON and YAML can hold, and its bytes in base64 where they are no UTF-8."""
    raw = path.encode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8"), None
    except UnicodeDecodeError:
        return raw.decode("utf-8", "backslashreplace"), binascii.b2a_base64(raw, newline=False).decode("ascii")


def _paths(payload: dict[str, Json], key: str) -> list[str]:
    listed = payload.get(key)
    return [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
