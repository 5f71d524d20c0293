"""Holds that manifests of every old shape are read into the same values, that what is not understood is kept, and that
ours has the documented keys in their order."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tallystick.errors import Refusal
from tallystick.handoff.manifest.document import document, render, whole
from tallystick.handoff.manifest.model import Attempt, Head, Manifest, PhaseEntry, RecordedFile
from tallystick.handoff.manifest.phases import active, named
from tallystick.handoff.manifest.reading import OldManifest, read_manifest
from tallystick.handoff.manifest.yaml_text import read_yaml

STATE_WORDS = {
    "in_progress": "running", "running": "running", "done": "completed", "complete": "completed",
    "completed": "completed", "success": "completed",
    "failed": "failed", "error": "failed", "skipped": "skipped", "pending": "pending",
    "todo": "pending",
}  # fmt: skip

OLD = """\
feature_id: auth-feature-abc123
description: Add JWT auth
work_type: medium
created_at: 2024-01-01T00:00:00Z
status: in_progress
current_phase: 8
active_phases: [1, 2, 6.5, "8", 12, completion]
phases:
  1: {name: setup, status: completed, started_at: 2024-01-01 00:00:00, completed_at: 10:00}
  6.5:
    status: done
    mood: good
  "8":
    name: implementation
    status: in_progress
    started_at: 2024-01-01T01:00:00Z
    agent_id: 7
    output:
      file: 08-developer-task-001.json
      files_created: [a.ts]
      files_modified: [{path: b.ts}]
  12:
    name: code-quality
  99:
    name: deploy
    status: completed
agents: {dev-1: {role: developer}}
validation: {review_passed: true}
context_usage: {tokens: 1200}
owner: no
"""


def read(text: str) -> OldManifest:
    return read_manifest(read_yaml(text.encode(), "MANIFEST.yaml"), "MANIFEST.yaml")


def attempt(old: OldManifest, name: str) -> Attempt:
    [entry] = [entry for entry in old.phases if entry.phase.name == name]
    assert entry.current is not None
    return entry.current


@pytest.mark.requirement("F3.3", "O11")
def test_an_old_manifest_is_read_whole() -> None:
    old = read(OLD)
    assert (old.feature, old.description, old.work_type) == ("auth-feature-abc123", "Add JWT auth", "MEDIUM")
    assert (old.created_at, old.updated_at, old.status) == ("2024-01-01T00:00:00Z", None, "running")
    assert (old.current, old.layout, old.ui) == ("implementation", 17, True)
    assert old.active == ("setup", "triage", "design-system", "implementation", "code-quality", "completion")
    assert {entry.phase.name: entry.status for entry in old.phases} == {
        "setup": "completed", "design-system": "completed", "implementation": "running", "code-quality": "pending",
    }  # fmt: skip
    setup, building = attempt(old, "setup"), attempt(old, "implementation")
    assert (setup.started_at, setup.completed_at) == ("2024-01-01 00:00:00", "10:00")
    assert (building.agent_id, building.output) == ("7", "08-developer-task-001.json")
    assert {(one.path, one.type) for one in building.files} == {("a.ts", "created"), ("b.ts", "modified")}
    assert not building.ours
    assert all(entry.claimed for entry in old.phases)
    assert old.rest == {
        "": {"owner": "no"},
        "design-system": {"mood": "good"},
        "phases": {"99": {"name": "deploy", "status": "completed"}},
    }


@pytest.mark.parametrize(("word", "state"), STATE_WORDS.items())
def test_every_word_for_a_state_is_read(word: str, state: str) -> None:
    [entry] = read(f"phases: {{8: {{status: {word}}}}}").phases
    assert entry.status == state
    [short] = read(f"phases: {{implementation: {word}}}").phases
    assert short.status == state


def test_a_phase_without_a_state_is_told_by_its_times() -> None:
    old = read("phases: {7: {started_at: x, completed_at: y}, 8: {started_at: x}, 9: {name: design-verification}}")
    assert [entry.status for entry in old.phases] == ["completed", "running", "pending"]


def test_phases_may_be_a_list() -> None:
    old = read("phases:\n- {phase: 8, status: completed}\n- {name: testing, status: failed}\n- {id: '06_5'}\n")
    assert [(entry.phase.name, entry.status) for entry in old.phases] == [
        ("design-system", "pending"), ("implementation", "completed"), ("testing", "failed"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "featureId: shop\nworkType: SMALL\ncreatedAt: t\n",
        "id: shop\ntype: SMALL\ncreated: t\n",
        "feature: shop\nwork_type: SMALL\nstarted_at: t\n",
    ],
)
def test_other_spellings_of_fields_are_read(text: str) -> None:
    old = read(text)
    assert (old.feature, old.work_type, old.created_at) == ("shop", "SMALL", "t")


def test_missing_fields_are_no_mistake() -> None:
    old = read("feature_id: shop\n")
    assert (old.status, old.layout, old.phases, old.active, old.rest) == ("running", None, (), (), {})


@pytest.mark.parametrize(
    "text", ["- a\n", "text\n", "8\n", "phases: text\n", "phases: 8\n", "phases: {8: {}, '08': {}}\n"]
)
def test_what_is_no_manifest_is_refused_with_its_file(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        read(text)
    assert caught.value.code == "input.invalid"
    assert "MANIFEST.yaml" in caught.value.message


@pytest.mark.parametrize("value", ["5", "true", "[1]", "{a: 1}", "~", "1.5"])
@pytest.mark.parametrize(
    "field",
    ["feature_id", "description", "status", "current_phase", "active_phases", "agents", "validation", "created_at"],
)
def test_a_field_of_another_kind_hides_none_of_the_others(field: str, value: str) -> None:
    assert read(f"{field}: {value}\nwork_type: LARGE\n").work_type == "LARGE"
    [entry] = read(
        f"phases: {{8: {{status: completed, output: {value}, output_files: {value}, role: {value}}}}}"
    ).phases
    assert entry.phase.name == "implementation"


def made(layout: int = 17) -> Manifest:
    file = RecordedFile("src/a.ts", "modified", 3, "d" * 64, "2026-05-21T00:02:00.000Z", "dev-1", "task-001")
    done = Attempt(
        "completed", "2026-05-21T00:01:00.000Z", "2026-05-21T00:02:00.000Z", "developer", "dev-1", None, None,
        "08-developer-task-001.json", (file,), 1, None, {"approved": True, "coverage": 79.9}, "a" * 32, True,
    )  # fmt: skip
    failed = done._replace(status="failed", reason="no network", files=())
    entries = [
        PhaseEntry(phase, number, {"implementation": (failed, done), "code-quality": (done,)}.get(phase.name, ()))
        for phase in active(layout, None, True)
        if (number := phase.number(layout)) is not None
    ]
    head = Head("Add JWT auth", None, True, layout, (), "2026-05-21T00:00:00.000Z", "running", "u", None, True)
    return Manifest("shop", head, tuple(entries))


def files(one: Attempt) -> tuple[RecordedFile, ...]:
    return one.files


@pytest.mark.requirement("F3.1")
def test_ours_has_the_documented_keys_and_phases_as_text_in_their_order() -> None:
    text = render(made(), None, files)
    found: dict[str, Any] = yaml.safe_load(text)
    assert list(found) == [
        "feature_id", "description", "work_type", "created_at", "updated_at", "status", "current_phase",
        "active_phases", "phases", "agents", "validation", "context_usage",
    ]  # fmt: skip
    assert list(found["phases"]) == found["active_phases"]
    assert found["active_phases"] == [
        "1", "2", "3", "4", "5", "6", "6.5", "7", "8", "9", "10", "11", "11.5", "12", "13", "14", "15", "16", "17",
    ]  # fmt: skip
    assert list(found["phases"]["1"]) == [
        "name", "status", "started_at", "completed_at", "agent_id", "output", "output_files",
    ]  # fmt: skip
    assert found["phases"]["8"]["output_files"] == [
        {
            "path": "src/a.ts", "type": "modified", "size": 3, "digest": "d" * 64,
            "created_at": "2026-05-21T00:02:00.000Z", "agent_id": "dev-1", "task_id": "task-001",
        }
    ]  # fmt: skip
    assert [one["reason"] for one in found["phases"]["8"]["earlier_attempts"]] == ["no network"]
    assert found["agents"] == {"dev-1": {"role": "developer", "phases": ["8", "12"]}}
    assert found["validation"] == {"review_passed": True, "tests_passed": None, "coverage_met": False}
    assert found == document(made(), None, files)


@pytest.mark.parametrize("layout", [16, 17])
def test_ours_is_read_back_as_any_other(layout: int) -> None:
    old = read(render(made(layout), None, files))
    assert (old.layout, old.ui, old.rest) == (
        layout,
        True,
        {"implementation": {"earlier_attempts": old_attempts(layout)}},
    )
    assert attempt(old, "implementation").files == (files(made(layout).entry(named("8", 17)).attempts[1]))


def old_attempts(layout: int) -> Any:
    return document(made(layout), None, files)["phases"]["8"]["earlier_attempts"]


def test_what_an_older_file_said_is_kept_in_ours() -> None:
    old = read(OLD)
    found: dict[str, Any] = yaml.safe_load(render(made(), old, files))
    assert found["owner"] == "no"
    assert found["created_at"] == "2024-01-01T00:00:00Z"
    assert found["context_usage"] == {"tokens": 1200}
    assert found["phases"]["6.5"]["mood"] == "good"
    assert found["phases"]["6.5"]["status"] == "completed"
    assert found["phases"]["99"] == {"name": "deploy", "status": "completed"}
    assert found["phases"]["8"]["started_at"] == "2026-05-21T00:01:00.000Z"
    assert set(found["agents"]) == {"dev-1"}
    assert whole(made(), old).entry(named("setup")).claimed


def test_a_phase_of_the_other_layout_takes_nobodys_key() -> None:
    manifest = made(16)
    extra = PhaseEntry(named("simplification"), 9, manifest.entry(named("8", 16)).attempts)
    found = document(manifest._replace(phases=(*manifest.phases, extra)), None, files)
    assert found["phases"]["9"]["name"] == "design-verification"
    assert found["phases"]["simplification"]["name"] == "simplification"
