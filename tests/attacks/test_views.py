"""Holds that the file in the tree proves nothing: whatever is written into it by hand is named and never counted."""

from __future__ import annotations

import json

import pytest

from tests.attacks.scene import LOOK, Scene
from tests.desk import FEATURE


@pytest.mark.requirement("L4", "P11", "F5.11")
def test_a_pass_written_by_hand_reads_as_not_passed(scene: Scene) -> None:
    scene.edit_view("AC2", {"passes": True, "passed_at": "2026-05-21T00:00:00.000Z", "evidence_ref": "proof.txt"})
    said = scene.expect_edited("AC2: passes false -> true", ["AC1"])
    assert "edited by hand" in said.err
    assert json.loads(scene.view.read_bytes())["features"][1]["passes"] is False
    assert scene.findings() == []


@pytest.mark.requirement("L10", "P7", "F5.11")
def test_a_criterion_deleted_softened_or_slipped_in_by_hand_is_named(scene: Scene) -> None:
    document = json.loads(scene.view.read_bytes())
    del document["features"][1]
    scene.view.write_text(json.dumps(document), encoding="utf-8")
    scene.expect_edited("AC2 was deleted by hand", ["AC1"])
    assert len(json.loads(scene.view.read_bytes())["features"]) == 3

    scene.edit_view("AC2", {"description": "whatever happens", "evidence_required": []})
    said = scene.run("audit")
    assert (said.status, "AC2: description, evidence_required" in said.out) == (LOOK, True)
    assert scene.refused("ledger", "get", FEATURE, "AC9").code == "criterion.unknown"


@pytest.mark.requirement("L9", "P11")
def test_the_fixers_own_error_is_taken_in_and_no_alarm_follows(scene: Scene) -> None:
    scene.edit_view("AC3", {"last_attempt_error": "the mail is empty"})
    scene.ok("ledger", "fail", FEATURE, "AC2", "--error", "still red")
    shown = {row["id"]: row for row in scene.run("ledger", "show", "--json").document["criteria"]}
    assert shown["AC3"]["last_attempt_error"] == "the mail is empty"
    taken = [json.loads(line) for line in scene.lines() if b"the mail is empty" in line]
    assert [(one["type"], one["by"]["role"]) for one in taken] == [("failure_recorded", "unknown")]
    scene.expect_quiet(["AC1"])


@pytest.mark.requirement("F1.4", "F5.13", "P3")
@pytest.mark.parametrize("data", [b'{"features": [', b'{"features": 5}', b"hello", b"\xff\xfe", b"[" * 100_000])
def test_a_view_that_is_no_view_is_named_left_alone_and_stops_marks(scene: Scene, data: bytes) -> None:
    scene.view.write_bytes(data)
    scene.expect_named("view.damaged", ["AC1"])
    assert scene.view.read_bytes() == data
    restored = scene.run("audit", "--restore")
    assert (restored.status, "kept as sha256:" in restored.err) == (0, True)
    assert [path.read_bytes() for path in (scene.store / "blobs").rglob("*") if path.is_file()] == [data]
    scene.expect_quiet(["AC1"])


@pytest.mark.requirement("F5.12", "P11")
@pytest.mark.parametrize("data", [None, b"", b"\0" * 700, b"<<<<<<< HEAD\n{\n=======\n{}\n>>>>>>> other\n"])
def test_a_view_that_a_crash_or_a_merge_left_is_no_alarm(scene: Scene, data: bytes | None) -> None:
    if data is None:
        scene.view.unlink()
    else:
        scene.view.write_bytes(data)
    assert scene.run("ledger", "show", FEATURE).status == 0
    assert scene.run("audit").status == 0
    scene.cite("AC3")
    assert json.loads(scene.view.read_bytes())["features"][2]["passes"]
    assert scene.findings() == []


@pytest.mark.requirement("P11", "F5.11")
def test_a_view_of_an_earlier_moment_is_no_alarm(scene: Scene) -> None:
    old = scene.view.read_bytes()
    scene.ok("ledger", "fail", FEATURE, "AC3", "--error", "red")
    scene.view.write_bytes(old)
    assert scene.run("ledger", "show", FEATURE).err == ""
    assert scene.run("audit").status == 0
    scene.cite("AC3")
    assert scene.findings() == []


@pytest.mark.requirement("P11", "P16")
def test_a_view_replaced_by_a_link_out_of_the_project_is_never_written_through(scene: Scene) -> None:
    victim = scene.base / "victim.json"
    victim.write_bytes(scene.view.read_bytes())
    scene.view.unlink()
    scene.view.symlink_to(victim)
    before = victim.read_bytes()
    said = scene.run("ledger", "fail", FEATURE, "AC2", "--error", "again")
    assert (said.status, "no regular file" in said.err) == (0, True)
    assert (victim.read_bytes(), scene.view.is_symlink()) == (before, True)


@pytest.mark.requirement("P11", "P16")
@pytest.mark.parametrize("at", [".agent", ".agent/tasks", f".agent/tasks/{FEATURE}"])
def test_a_folder_of_views_that_leads_out_of_the_project_is_not_written_into(scene: Scene, at: str) -> None:
    victim = scene.base / "victim"
    link = scene.folder / at
    link.rename(victim)
    link.symlink_to(victim)
    before = {path: path.read_bytes() for path in victim.rglob("*") if path.is_file()}
    said = scene.run("ledger", "fail", FEATURE, "AC2", "--error", "again")
    assert (said.status, "outside the project" in said.err) == (0, True)
    assert {path: path.read_bytes() for path in victim.rglob("*") if path.is_file()} == before


@pytest.mark.requirement("P11")
def test_a_folder_of_views_elsewhere_in_the_project_is_followed(scene: Scene) -> None:
    (scene.folder / ".agent").rename(scene.folder / "agent")
    (scene.folder / ".agent").symlink_to("agent")
    scene.expect_quiet(["AC1"])


@pytest.mark.requirement("P11", "F5.10")
def test_a_forged_receipt_makes_no_edited_view_current(scene: Scene) -> None:
    [receipt] = (scene.store / "cache" / "views").iterdir()
    old = receipt.read_bytes()
    scene.edit_view("AC2", {"passes": True})
    for forged in (old, b"", b"0" * 64, b"\xff" * 64, old + b"\n"):
        receipt.write_bytes(forged)
        assert "view.edited" in scene.run("ledger", "show", FEATURE).err
    scene.expect_edited("AC2: passes", ["AC1"])
