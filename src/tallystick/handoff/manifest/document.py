"""The manifest as a file: MANIFEST.yaml out of what the journal says, and of what an older file said before. Pure.

The keys stand in a fixed order, phases under the text of their number in the order of `active_phases`. What an older
manifest held beyond that is kept: phases that were not begun since, agents, and fields that nobody here knows.
"""

from __future__ import annotations

from collections.abc import Callable

from tallystick.canonical import Json
from tallystick.handoff.manifest.model import Attempt, Manifest, PhaseEntry, RecordedFile
from tallystick.handoff.manifest.phases import BY_NAME, number_text
from tallystick.handoff.manifest.reading import OldManifest
from tallystick.handoff.manifest.yaml_text import write_yaml

NAME = "MANIFEST.yaml"
#: Where a manifest may lie, the one that counts first.
NAMES = (NAME, "MANIFEST.yml", "manifest.yaml", "manifest.yml")
#: The share of covered lines, in percent, that counts as met.
COVERAGE = 80
#: The reviewer's phases whose verdict counts.
_REVIEWS = ("design-verification", "domain-compliance", "code-quality", "test-quality")

Files = Callable[[Attempt], tuple[RecordedFile, ...]]


def whole(manifest: Manifest, old: OldManifest | None) -> Manifest:
    """The manifest with the phases that an older file has and nobody began since."""
    if old is None:
        return manifest
    there = {entry.phase.name: entry for entry in manifest.phases}
    for entry in old.phases:
        known = there.get(entry.phase.name)
        if known is None or not known.attempts:
            number = entry.phase.number(manifest.head.layout)
            there[entry.phase.name] = entry._replace(number=entry.number if number is None else number)
    return manifest._replace(phases=tuple(sorted(there.values(), key=lambda entry: entry.number)))


def render(manifest: Manifest, old: OldManifest | None, files: Files) -> str:
    """The text of MANIFEST.yaml; `files` gives the changed files of an attempt, also those that are kept apart."""
    return write_yaml(document(manifest, old, files))


def document(manifest: Manifest, old: OldManifest | None, files: Files) -> dict[str, Json]:
    """The same as JSON."""
    shown = whole(manifest, old)
    head, current = shown.head, shown.current
    rest = old.rest if old is not None else {}
    keys = _keys(shown)
    found: dict[str, Json] = {
        "feature_id": shown.feature,
        "description": head.description,
        "work_type": head.work_type,
        "created_at": (old.created_at if old is not None else None) or head.created_at,
        "updated_at": head.updated_at,
        "status": head.status,
        "current_phase": None if current is None else keys[current.phase.name],
        "active_phases": list(keys.values()),
        "phases": {
            keys[entry.phase.name]: _phase(entry, files, rest.get(entry.phase.name, {})) for entry in shown.phases
        }
        | rest.get("phases", {}),
        "agents": {**(old.agents if old is not None else {}), **_agents(shown, keys)},
        "validation": validation(shown, old),
        "context_usage": old.context_usage if old is not None and old.context_usage is not None else {},
    }
    return found | _further(rest.get("", {}), found)


def _keys(manifest: Manifest) -> dict[str, str]:
    """Phase -> its key. A phase of the other layout, whose number is taken here, stands under its name."""
    keys: dict[str, str] = {}
    for entry in sorted(manifest.phases, key=lambda entry: entry.phase.number(manifest.head.layout) is None):
        key = number_text(entry.number)
        keys[entry.phase.name] = key if key not in keys.values() else entry.phase.name
    return {entry.phase.name: keys[entry.phase.name] for entry in manifest.phases}


def _phase(entry: PhaseEntry, files: Files, rest: dict[str, Json]) -> dict[str, Json]:
    attempt = entry.current
    found: dict[str, Json] = {
        "name": entry.phase.name,
        "status": entry.status,
        "started_at": attempt.started_at if attempt else None,
        "completed_at": attempt.completed_at if attempt else None,
        "agent_id": attempt.agent_id if attempt else None,
        "output": attempt.output if attempt else None,
        "output_files": [one.row() for one in files(attempt)] if attempt else [],
    }
    if attempt is not None and attempt.reason:
        found["reason"] = attempt.reason
    if len(entry.attempts) > 1:
        found["earlier_attempts"] = [
            {
                "status": one.status,
                "started_at": one.started_at,
                "completed_at": one.completed_at,
                "agent_id": one.agent_id,
                "reason": one.reason,
            }
            for one in entry.attempts
            if one is not attempt
        ]
    return found | _further(rest, found)


def _further(rest: dict[str, Json], found: dict[str, Json]) -> dict[str, Json]:
    """What an older file had and we have no word for."""
    return {key: value for key, value in rest.items() if key not in found}


def _agents(manifest: Manifest, keys: dict[str, str]) -> dict[str, Json]:
    """Agent -> its role and the phases it worked in."""
    found: dict[str, Json] = {}
    for entry in manifest.phases:
        for attempt in entry.attempts:
            if attempt.agent_id and not entry.claimed:
                row = found.setdefault(attempt.agent_id, {"role": attempt.role, "phases": []})
                if keys[entry.phase.name] not in row["phases"]:
                    row["phases"].append(keys[entry.phase.name])
    return found


def validation(manifest: Manifest, old: OldManifest | None) -> dict[str, Json]:
    """What the outputs of the reviewer's and the tester's phases said; null where none said anything.

    A phase of another copy says nothing here.
    """
    said = {
        entry.phase.name: attempt.claimed
        for entry in manifest.phases
        if (attempt := entry.current) is not None and attempt.ours
    }
    reviews = [said[name]["approved"] for name in _REVIEWS if type(said.get(name, {}).get("approved")) is bool]
    tests = [facts["tests_passed"] for facts in said.values() if type(facts.get("tests_passed")) is bool]
    coverage = [facts["coverage"] for facts in said.values() if type(facts.get("coverage")) in (int, float)]
    found: dict[str, Json] = {
        "review_passed": all(reviews) if reviews else None,
        "tests_passed": all(tests) if tests else None,
        "coverage_met": coverage[-1] >= COVERAGE if coverage else None,
    }
    before = old.validation if old is not None else {}
    return {**before, **{key: before.get(key) if value is None else value for key, value in found.items()}}


def active_names(old: OldManifest) -> tuple[str, ...]:
    """The phases that an older file names, in their order."""
    there = (*old.active, *(entry.phase.name for entry in old.phases))
    return tuple(name for name in BY_NAME if name in there)
