"""Holds that history only grows: whatever was done to the journal by hand is named, by `audit`, by `ledger show` and by
the next mark, and counts for nothing (P11). Honest twins beside each: a moved, copied, re-opened store is no alarm."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from tests.attacks.scene import LOOK, Scene, reseal
from tests.desk import FEATURE

pytestmark = pytest.mark.requirement("P11")


def test_an_honest_ledger_is_quiet(scene: Scene) -> None:
    scene.expect_quiet(["AC1"])


@pytest.mark.requirement("L4")
@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(("old", "new"), [(b'"at":"2026', b'"at":"2025'), (b'"role":"shell"', b'"role":"user" ')])
def test_a_record_changed_in_place(scene: Scene, place: int, old: bytes, new: bytes) -> None:
    lines = scene.lines()
    assert old in lines[place]
    lines[place] = lines[place].replace(old, new)
    scene.write(lines)
    shown = scene.run("ledger", "show", FEATURE, "--json")
    assert (shown.status, shown.document["findings"][0]["line"]) == (LOOK, place + 1)
    assert scene.run("audit").status == LOOK
    assert scene.run("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt").status == LOOK
    assert scene.counted() == {0: [], 1: [], 2: ["AC1"]}[place]


def test_a_failure_turned_into_a_pass(scene: Scene) -> None:
    lines = scene.lines()
    forged = json.loads(lines[2])
    forged.update(type="pass_recorded", data=scene.passes("AC2"))
    for line in (json.dumps(forged, sort_keys=True, separators=(",", ":")).encode(), reseal(forged, bytes(32))):
        scene.write([*lines[:2], line])
        scene.expect_named("journal.damaged", ["AC1"])
        scene.write(lines)


def test_the_chain_recomputed_without_the_key(scene: Scene) -> None:
    """Gauntlet 3: with another text in the first record, every id, every link and every guessed MAC made anew."""
    lines = []
    prev = "0" * 64
    for line in scene.lines():
        value: dict[str, Any] = json.loads(line)
        if value["type"] == "ledger_frozen":
            value["data"]["criteria"][1]["description"] = "whatever happens"
        lines.append(reseal({**value, "prev": prev}, b"a guessed key, 32 bytes of it ..."))
        prev = json.loads(lines[-1])["id"]
    scene.write(lines)
    shown = scene.run("ledger", "show", FEATURE, "--json")
    assert (shown.status, scene.counted()) == (LOOK, [])
    assert {row["state"] for row in shown.document["criteria"]} <= {"elsewhere", "failing"}  # as the segment has it
    assert "whatever happens" not in shown.out
    assert "not sealed with this user's key" in scene.run("audit").out
    assert scene.refused("ledger", "pass", FEATURE, "AC2", "--evidence", "proof.txt").code == "journal.damaged"


def test_a_pass_appended_with_a_guessed_key(scene: Scene) -> None:
    scene.write([*scene.lines(), scene.forged("pass_recorded", scene.passes("AC2"))])
    scene.expect_named("journal.damaged", ["AC1"])


@pytest.mark.parametrize("gone", [1, 2, 3])
def test_the_last_records_removed(scene: Scene, gone: int) -> None:
    scene.write(scene.lines()[:-gone])
    shown = scene.run("ledger", "show", FEATURE, "--json")
    assert shown.status == LOOK
    assert f"the last {gone} are gone" in shown.document["findings"][0]["says"]
    assert "anchor.rolled_back" in scene.findings()
    assert scene.refused("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt").code == "anchor.rolled_back"
    assert scene.counted() == (["AC1"] if gone == 1 else [])


def test_the_last_record_cut_in_the_middle(scene: Scene) -> None:
    scene.journal.write_bytes(scene.journal.read_bytes()[:-20])
    scene.expect_named("anchor.rolled_back", ["AC1"])


def test_records_removed_repeated_or_swapped_in_the_middle(scene: Scene) -> None:
    whole = scene.lines()
    for lines in ([whole[0], whole[2]], [*whole[:2], whole[1], whole[2]], [whole[0], whole[2], whole[1]]):
        scene.write(lines)
        assert scene.run("ledger", "show", FEATURE).status == LOOK
        assert "journal.damaged" in scene.findings()
        assert scene.run("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt").status == LOOK
    scene.write(whole)
    scene.expect_quiet(["AC1"])


def test_a_record_copied_to_another_feature(scene: Scene) -> None:
    scene.freeze(feature="refunds")
    other = next((scene.store / "journal" / "refunds").glob("*.jsonl"))
    passed = scene.lines()[1]
    scene.write([*scene.lines(other), passed], other)
    shown = scene.run("ledger", "show", "refunds", "--json")
    assert (shown.status, scene.counted("refunds")) == (LOOK, [])
    assert "a copied record counts for nothing" in scene.run("audit").out
    assert scene.refused("ledger", "pass", "refunds", "AC1", "--evidence", "proof.txt").code == "journal.damaged"
    assert scene.run("ledger", "show", FEATURE).status == 0


def test_a_whole_file_copied_to_another_feature(scene: Scene) -> None:
    (scene.store / "journal" / "refunds").mkdir()
    shutil.copy2(scene.journal, scene.store / "journal" / "refunds" / scene.journal.name)
    assert scene.run("ledger", "show", "refunds").status == LOOK
    assert scene.run("audit").status == LOOK
    assert scene.counted() == ["AC1"]


def test_the_journal_replaced_by_an_older_copy(scene: Scene) -> None:
    """Bug reports 25: an older copy verifies by itself; the anchor knows how far the file had grown."""
    old = scene.copy_aside(scene.journal)
    scene.cite("AC2")
    shutil.copy2(old, scene.journal)
    scene.expect_named("anchor.rolled_back", ["AC1"])


def test_the_whole_store_replaced_by_an_older_copy_with_its_caches(scene: Scene) -> None:
    old = scene.copy_aside(scene.store)
    scene.cite("AC2")
    shutil.rmtree(scene.store)
    shutil.copytree(old, scene.store)
    scene.expect_named("anchor.rolled_back", ["AC1"])


@pytest.mark.parametrize("what", ["file", "feature", "journal"])
def test_a_journal_that_is_gone(scene: Scene, what: str) -> None:
    path = {"file": scene.journal, "feature": scene.journal.parent, "journal": scene.store / "journal"}[what]
    scene.copy_aside(path)
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    reading: list[tuple[str, ...]] = [("ledger", "show", FEATURE), ("status",), ("ledger", "failing"), ("audit",)]
    for words in reading:
        said = scene.run(*words)
        assert (said.status, "3 were written here" in said.err + said.out) == (LOOK, True), said
    assert scene.run("ledger", "pass", FEATURE, "AC2", "--evidence", "proof.txt").status == LOOK
    assert scene.run("ledger", "init", FEATURE, "criteria.md").status == LOOK
    assert scene.counted() == []


def test_a_fork_of_the_same_length(scene: Scene) -> None:
    """The attacker has an older copy and lets Tallystick itself write another third record into it."""
    whole = scene.lines()
    anchors = scene.copy_aside(scene.home / "anchors")
    scene.write(whole[:2])
    shutil.rmtree(scene.home / "anchors")
    scene.cite("AC2")
    shutil.rmtree(scene.home / "anchors")
    shutil.copytree(anchors, scene.home / "anchors")
    scene.expect_named("anchor.fork", ["AC1", "AC2"])


def test_anchors_deleted_make_no_proof_and_no_alarm(scene: Scene) -> None:
    shutil.rmtree(scene.home / "anchors")
    scene.write(scene.lines()[:-1])
    scene.view.unlink()
    audit = scene.run("audit")
    assert (audit.status, "self-consistent" in audit.out, "follows from" in audit.out) == (0, True, False)
    assert scene.run("audit", "--json").document["anchored"] is False
    scene.cite("AC3")
    assert scene.run("audit", "--json").document["anchored"] is True


def test_a_person_goes_on_after_a_look_and_nobody_else_does(scene: Scene) -> None:
    scene.write(scene.lines()[:-1])
    accept = ("audit", "--restore", "--accept", "--reason", "the disk was restored")
    assert scene.refused(*accept).code == "role.denied"
    assert scene.refused(*accept, person=True, env={"CLAUDECODE": "1"}).code == "role.denied"
    scene.ok(*accept, person=True)
    scene.expect_quiet(["AC1"])


# -- other writers ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("L4")
def test_a_pass_forged_as_another_writers_never_counts(scene: Scene) -> None:
    forged = scene.forged("pass_recorded", scene.passes("AC2"), writer="b" * 32, i=1, prev="0" * 64)
    scene.of_another_writer(forged)
    assert scene.states() == {"AC1": "holds", "AC2": "elsewhere", "AC3": "failing"}
    assert scene.run("status", "--check").status == 3
    scene.cite("AC2")
    assert scene.counted() == ["AC1", "AC2"]


def test_an_amendment_a_closing_and_an_override_of_another_writer_change_nothing(scene: Scene) -> None:
    digest = scene.passes("AC1")["digest"]
    said = {"criterion": "AC1", "digest": digest, "reason": "says who"}
    frozen = json.loads(scene.lines()[0])["data"]["criteria"][0]
    records = [
        ("override_recorded", said),
        ("criterion_closed", {**said, "criterion": "AC2"}),
        ("criterion_amended", {"criterion": "AC3", "from": frozen, "to": {**frozen, "id": "AC3"}, "reason": "softer"}),
        ("feature_abandoned", {"reason": "says who"}),
    ]
    prev, lines = "0" * 64, []
    for i, (kind, data) in enumerate(records, 1):
        lines.append(scene.forged(kind, data, writer="b" * 32, i=i, prev=prev, n=20 + i))
        prev = json.loads(lines[-1])["id"]
    scene.of_another_writer(*lines)
    assert scene.states() == {"AC1": "holds", "AC2": "failing", "AC3": "failing"}
    scene.ok("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt")


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("ledger_frozen", {}),
        ("ledger_frozen", {"criteria": 5}),
        ("ledger_frozen", {"criteria": [{"id": 5, "description": []}]}),
        ("criterion_added", {"criterion": {"id": "A\x1bC", "description": "x"}}),
        ("criterion_added", {"criterion": {"id": "AC9", "description": "x", "evidence_required": ["run: a | b"]}}),
        ("pass_recorded", {"criterion": "AC1"}),
        ("pass_recorded", {"criterion": [], "digest": {}}),
        ("pass_recorded", {"criterion": "AC1", "evidence": 5}),
        ("failure_recorded", {"criterion": "AC1", "digest": "0" * 64, "error": 5}),
        ("criterion_amended", {"criterion": "AC1"}),
        ("run_recorded", {"run": [], "verdicts": 5}),
        ("note_written", {"text": {}}),
        ("feature_abandoned", {"reason": None}),
    ],
)
def test_a_record_of_another_writer_that_no_rule_would_make_stops_nobodys_reading(
    scene: Scene, kind: str, data: dict[str, Any]
) -> None:
    scene.of_another_writer(scene.forged(kind, data, writer="b" * 32, i=1, prev="0" * 64))
    scene.expect_named("journal.damaged", ["AC1"])


def test_counters_and_places_of_another_writer_do_no_harm(scene: Scene) -> None:
    good = [scene.forged("of_later", {}, writer="b" * 32, i=i, n=n, prev="0" * 64) for i, n in ((1, 50), (2, 40))]
    scene.of_another_writer(*good)
    assert scene.run("ledger", "show", FEATURE).status == LOOK
    scene.of_another_writer(scene.forged("of_later", {}, writer="b" * 32, i=1, n=2**53 - 1, prev="0" * 64))
    assert scene.run("ledger", "show", FEATURE).status == LOOK
    scene.ok("ledger", "fail", FEATURE, "AC2", "--error", "a way out")
    assert json.loads(scene.lines()[-1])["n"] < 100


def test_a_writer_of_this_key_at_another_path_cannot_be_forged(scene: Scene) -> None:
    writer = scene.app().home.writer(str(scene.app().store.id()), "/elsewhere")
    forged = scene.forged("pass_recorded", scene.passes("AC2"), writer=writer, i=1, prev="0" * 64)
    scene.of_another_writer(forged, writer=writer)
    scene.expect_named("journal.damaged", ["AC1"])


def test_files_that_are_no_journal_files_are_passed_over(scene: Scene) -> None:
    for name in ("notes.txt", "x.jsonl", f"{'b' * 31}.jsonl", f"{'b' * 32}.jsonl.bak", ".DS_Store"):
        (scene.journal.parent / name).write_bytes(scene.forged("pass_recorded", scene.passes("AC2")))
        (scene.store / "journal" / name).write_bytes(b"x")
    scene.expect_quiet(["AC1"])
