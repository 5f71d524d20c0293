"""Holds `tallystick manifest …` at a desk: what is begun and ended is shown, in lines and as a document; files that
others wrote are read, taken over and never lost; what cannot be read is never written over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tallystick.limits import INPUT_FILE
from tests.desk import FEATURE, Desk

PLACE = f".jonggrang/.output/features/{FEATURE}"
FILE = f"{PLACE}/MANIFEST.yaml"
OLD = f"""\
feature_id: {FEATURE}
description: Pay as a guest
work_type: MEDIUM
phases:
  7: {{name: architecting, status: completed, completed_at: 2024-01-01T00:00:00Z}}
  12: {{name: code-quality, status: in_progress}}
owner: somebody
"""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, git=False)


def written(desk: Desk) -> Any:
    """What lies in the folder, as anybody reads it."""
    return yaml.safe_load((desk.folder / FILE).read_text(encoding="utf-8"))


def phases(desk: Desk, *words: str) -> dict[str, Any]:
    """The phases of `manifest show` by name."""
    return {row["name"]: row for row in desk.ok("manifest", "show", *words, "--json").document["phases"]}


def begin(desk: Desk, phase: str, *words: str) -> None:
    desk.ok("manifest", "start", FEATURE, phase, *words)


def test_a_phase_is_begun_and_ended_and_shown(desk: Desk) -> None:
    said = desk.ok("manifest", "start", FEATURE, "8", "--agent", "dev-1", "--description", "guests", "--type", "SMALL")
    assert said.out == "checkout: 8 implementation runs, by dev-1.\n"
    desk.clock.pause(125)
    said = desk.ok("manifest", "end", FEATURE, "implementation", "--status", "completed")
    assert said.out == "checkout: 8 implementation is completed after 2 min.\n"
    row = phases(desk, FEATURE)["implementation"]
    assert (row["number"], row["role"], row["state"], row["agent_id"], row["took_s"]) == (
        8, "developer", "completed", "dev-1", 125.0,
    )  # fmt: skip
    assert written(desk)["phases"]["8"]["status"] == "completed"
    assert written(desk)["feature_id"] == FEATURE


@pytest.mark.requirement("O9")
def test_it_is_shown_with_and_without_the_feature(desk: Desk) -> None:
    begin(desk, "8", "--description", "guests")
    named = desk.ok("manifest", "show", FEATURE)
    assert desk.ok("manifest", "show").out == named.out
    assert "checkout   running   17 phases" in named.out
    assert "guests" in named.out
    assert "running       8  implementation       developer" in named.out


def test_one_phase_alone_is_shown_by_number_or_name(desk: Desk) -> None:
    begin(desk, "12")
    for word in ("12", "code-quality", "Code Quality"):
        assert list(phases(desk, FEATURE, "--phase", word)) == ["code-quality"]
    assert desk.refused("manifest", "show", FEATURE, "--phase", "99").code == "phase.unknown"


def test_half_phases_belong_to_a_user_interface(desk: Desk) -> None:
    begin(desk, "06_5", "--ui", "--layout", "16")
    row = phases(desk)["design-system"]
    assert (row["number"], row["state"]) == (6.5, "running")
    assert written(desk)["current_phase"] == "6.5"


def test_again_is_said_and_records_nothing(desk: Desk) -> None:
    begin(desk, "8")
    before = desk.journal.read_bytes()
    assert desk.ok("manifest", "start", FEATURE, "8", "--json").document["again"]
    assert desk.journal.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("start", "deploy"), "phase.unknown"),
        (("start", "99"), "phase.unknown"),
        (("start", "8", "--role", "No Role"), "input.invalid"),
        (("start", "8", "--layout", "16"), "phase.state"),
        (("end", "7", "--status", "completed"), "phase.state"),
        (("end", "7", "--status", "skipped"), "input.invalid"),
        (("close", "--status", "completed"), "phase.state"),
    ],
    ids=" ".join,
)
def test_a_refusal_changes_nothing_and_says_what_to_do(desk: Desk, words: tuple[str, ...], code: str) -> None:
    begin(desk, "8")
    verb, *rest = words
    assert desk.refused("manifest", verb, FEATURE, *rest).code == code


def test_an_unknown_feature_is_no_empty_manifest(desk: Desk) -> None:
    assert desk.refused("manifest", "show", "nothing").code == "feature.unknown"
    desk.freeze()
    assert desk.refused("manifest", "show", FEATURE).code == "phase.state"
    assert desk.refused("manifest", "end", FEATURE, "8", "--status", "completed").code == "phase.state"


def test_the_list_has_a_line_for_each_feature(desk: Desk) -> None:
    assert desk.ok("manifest", "list").out.startswith("no manifests yet")
    begin(desk, "8")
    desk.put(".jonggrang/.output/features/older/MANIFEST.yml", "feature_id: older\nphases: {8: done}\n")
    desk.put(".jonggrang/.output/features/torn/MANIFEST.yaml", "a: [\n")
    desk.put(".jonggrang/.output/features/No Feature/MANIFEST.yaml", "a: 1\n")
    said = desk.ok("manifest", "list")
    assert [line.split()[1] for line in said.out.splitlines()] == [FEATURE, "older", "torn"]
    rows = desk.ok("manifest", "list", "--json").document["manifests"]
    assert [(row["feature"], row["adopted"], row["error"] is None) for row in rows] == [
        (FEATURE, True, True), ("older", False, True), ("torn", False, False),
    ]  # fmt: skip


def test_a_file_where_the_folders_would_be_hides_nothing(desk: Desk) -> None:
    desk.put(".jonggrang", "no folder\n")
    assert desk.ok("manifest", "list").out.startswith("no manifests yet")
    desk.ok("manifest", "start", FEATURE, "8")
    assert [row["feature"] for row in desk.ok("manifest", "list", "--json").document["manifests"]] == [FEATURE]


# -- what others wrote ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["MANIFEST.yaml", "MANIFEST.yml", "manifest.yaml"])
def test_a_file_that_no_record_made_is_shown_as_not_adopted(desk: Desk, name: str) -> None:
    desk.put(f"{PLACE}/{name}", OLD)
    before = desk.tree()
    said = desk.ok("manifest", "show")
    assert "not adopted" in said.out
    assert "first `manifest start` takes it over" in said.err
    rows = phases(desk, FEATURE)
    assert [(row["number"], row["state"], row["claimed"]) for row in rows.values()] == [
        (7, "completed", True), (12, "running", True),
    ]  # fmt: skip
    assert desk.tree() == before


@pytest.mark.requirement("F1.4")
def test_the_first_start_takes_an_older_file_over_and_loses_nothing_of_it(desk: Desk) -> None:
    desk.put(FILE, OLD)
    begin(desk, "12", "--role", "reviewer")
    found = written(desk)
    assert (found["owner"], found["description"], found["work_type"]) == ("somebody", "Pay as a guest", "MEDIUM")
    assert found["phases"]["7"]["status"] == "completed"
    assert found["phases"]["12"]["status"] == "running"
    rows = phases(desk)
    assert (rows["architecting"]["claimed"], rows["code-quality"]["claimed"]) == (True, False)
    desk.ok("manifest", "end", FEATURE, "12", "--status", "completed")
    (desk.folder / FILE).unlink()
    desk.ok("ledger", "init", "other", "criteria.md")
    begin(desk, "13")
    assert written(desk)["owner"] == "somebody"


def test_taking_an_older_file_over_is_no_edit_by_hand(desk: Desk) -> None:
    desk.put(FILE, OLD)
    said = desk.ok("manifest", "start", FEATURE, "12", "--role", "reviewer")
    assert "MANIFEST.yaml was taken over" in said.err
    assert "written anew" not in said.err


@pytest.mark.requirement("F1.4")
def test_numbers_mean_the_same_before_and_after_an_older_file_is_taken_over(desk: Desk) -> None:
    desk.put(FILE, f"feature_id: {FEATURE}\nphases:\n  12: {{status: completed}}\n  8: {{status: in_progress}}\n")
    before = desk.ok("manifest", "show", FEATURE, "--json").document
    begin(desk, "triage")
    after = desk.ok("manifest", "show", FEATURE, "--json").document
    assert (before["layout"], after["layout"]) == (16, 16)
    assert phases(desk)["test-planning"]["number"] == 12


def test_a_long_older_file_is_taken_over_whole(desk: Desk) -> None:
    rows = "".join(f"    - {{path: src/{number}.ts, type: modified}}\n" for number in range(1000))
    desk.put(FILE, f"feature_id: {FEATURE}\nphases:\n  8:\n    status: done\n    output_files:\n{rows}")
    begin(desk, "12")
    assert len(written(desk)["phases"]["8"]["output_files"]) == 1000
    assert phases(desk)["implementation"]["changed"]["files"] == 1000


BAD: dict[str, bytes] = {
    "alias": b"a: &x 1\nb: *x\n",
    "tag": b"a: !!python/object:os.system {}\n",
    "duplicate": b"phases: {}\nphases: {}\n",
    "deep": b"[" * 65 + b"]" * 65,
    "too large": b"#" * (INPUT_FILE + 1),
    "UTF-8": b"a: \xff\n",
    "tab": b"a:\n\tb: 1\n",
    "list": b"- a\n",
    "conflict": b"<<<<<<< ours\na: 1\n=======\n",
}


@pytest.mark.requirement("F1.4")
@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_is_named_in_one_line_and_left_as_it_lies(desk: Desk, name: str) -> None:
    path = desk.put(FILE, BAD[name])
    error = desk.refused("manifest", "show", FEATURE)
    assert error.code in ("input.invalid", "input.too_large")
    assert FILE in error.message
    said = desk.ok("manifest", "start", FEATURE, "8")
    assert "was not taken over" in said.err
    assert "was left as it is" in said.err
    desk.ok("manifest", "end", FEATURE, "8", "--status", "failed")
    assert path.read_bytes() == BAD[name]
    assert phases(desk)["implementation"]["state"] == "failed"


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_what_is_no_file_of_the_project_is_left_as_it_lies(desk: Desk, kind: str) -> None:
    path = desk.folder / FILE
    path.parent.mkdir(parents=True)
    if kind == "folder":
        path.mkdir()
    else:
        (desk.base / "outside.yaml").write_text("feature_id: other\n")
        path.symlink_to(desk.base / "outside.yaml")
    begin(desk, "8")
    assert path.is_dir() if kind == "folder" else path.is_symlink()
    assert phases(desk)["implementation"]["state"] == "running"


@pytest.mark.parametrize("left", [b"", b"\0" * 100, b"\n \n"])
def test_what_a_crash_leaves_is_written_anew(desk: Desk, left: bytes) -> None:
    begin(desk, "8")
    desk.put(FILE, left)
    desk.ok("manifest", "end", FEATURE, "8", "--status", "failed")
    assert written(desk)["phases"]["8"]["status"] == "failed"


def test_an_edit_by_hand_is_named_and_its_bytes_are_kept(desk: Desk) -> None:
    begin(desk, "8")
    path = desk.folder / FILE
    path.write_text(path.read_text().replace("status: running", "status: completed"))
    edited = path.read_bytes()
    said = desk.ok("manifest", "show")
    assert "not as it was written" in said.err
    assert phases(desk)["implementation"]["state"] == "running"
    said = desk.ok("manifest", "end", FEATURE, "8", "--status", "failed")
    assert "kept as sha256:" in said.err
    digest = said.err.partition("sha256:")[2].strip()[:64]
    assert (desk.store / "blobs" / digest[:2] / digest).read_bytes() == edited
    assert written(desk)["phases"]["8"]["status"] == "failed"


def test_a_file_that_is_gone_comes_back_with_the_next_write(desk: Desk) -> None:
    begin(desk, "8")
    before = (desk.folder / FILE).read_bytes()
    (desk.folder / FILE).unlink()
    desk.freeze(feature="other")
    assert not (desk.folder / FILE).exists()
    desk.freeze()
    assert (desk.folder / FILE).read_bytes() == before


def test_a_phase_of_another_feature_in_the_file_is_said(desk: Desk) -> None:
    desk.put(FILE, OLD.replace(FEATURE, "elsewhere"))
    assert '"elsewhere"' in desk.ok("manifest", "show", FEATURE).err


# -- what agents handed over ------------------------------------------------------------------------------------------


def hand_over(desk: Desk, name: str, **payload: Any) -> None:
    """An agent writes an output itself."""
    import json

    number, role = name.partition("-")[0], {"11": "reviewer", "13": "tester", "12": "reviewer", "14": "tester"}
    document = {
        "jonggrang-output": True, "feature_id": FEATURE, "phase": int(number), "role": role[number], "task_id": None,
        "agent_id": f"{role[number]}-1", "timestamp": "2026-05-21T00:00:00Z", "status": "completed", "output": payload,
    }  # fmt: skip
    desk.put(f"{PLACE}/{name}", json.dumps(document))


REVIEW: dict[str, Any] = {"score": 8, "violations": [], "warnings": [], "required_fixes": []}
TESTS: dict[str, Any] = {"total": 24, "failed_tests": []}


def test_validation_follows_what_reviewer_and_tester_handed_over(desk: Desk) -> None:
    begin(desk, "code-quality")
    hand_over(desk, "11-reviewer-code-quality.json", approved=True, **REVIEW)
    said = desk.ok("manifest", "end", FEATURE, "code-quality", "--status", "completed")
    assert "adopted" in said.err
    begin(desk, "testing")
    hand_over(desk, "13-tester-results.json", tests_passed=True, passed=24, failed=0, coverage=79.5, **TESTS)
    desk.ok("manifest", "end", FEATURE, "testing", "--status", "completed")
    assert written(desk)["validation"] == {"review_passed": True, "tests_passed": True, "coverage_met": False}
    assert phases(desk)["testing"]["output"] == "13-tester-results.json"
    assert phases(desk)["code-quality"]["outputs"] == ["11-reviewer-code-quality.json"]
    assert "passed: review yes, tests yes, coverage no" in desk.ok("manifest", "show").out


def test_a_second_attempt_has_outputs_of_its_own(desk: Desk) -> None:
    begin(desk, "code-quality")
    hand_over(desk, "12-reviewer-code-quality.json", approved=False, **REVIEW)
    desk.ok("manifest", "end", FEATURE, "code-quality", "--status", "failed", "--reason", "not approved")
    begin(desk, "code-quality")
    assert phases(desk)["code-quality"]["outputs"] == []
    assert written(desk)["validation"]["review_passed"] is None
    hand_over(desk, "12-reviewer-second.json", approved=True, **REVIEW)
    desk.ok("manifest", "end", FEATURE, "code-quality", "--status", "completed")
    row = phases(desk)["code-quality"]
    assert row["output"] == "12-reviewer-second.json"
    assert [(one["state"], one["reason"]) for one in row["earlier"]] == [("failed", "not approved")]
    assert written(desk)["validation"]["review_passed"] is True


def test_what_is_kept_apart_and_damaged_is_named_and_the_rest_is_shown(desk: Desk) -> None:
    rows = "".join(f"    - {{path: src/{number}.ts, type: modified}}\n" for number in range(1000))
    desk.put(FILE, f"feature_id: {FEATURE}\nphases:\n  8:\n    status: done\n    output_files:\n{rows}")
    begin(desk, "code-quality")
    desk.ok("audit")
    [kept] = [path for path in (desk.store / "blobs").glob("??/*") if path.read_bytes().startswith(b'{"feature_id"')]
    kept.write_bytes(b"{}")
    assert "blob.changed" in desk.findings()
    said = desk.run("manifest", "show", FEATURE, "--json")
    assert said.status == 8
    assert [one["code"] for one in said.document["findings"]] == ["journal.damaged"]
    assert {row["name"]: row["state"] for row in said.document["phases"]}["code-quality"] == "running"
