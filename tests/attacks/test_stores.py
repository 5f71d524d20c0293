"""Holds what happens when the halves themselves are exchanged: the store, the key, the anchors, the places they lie at;
and that git's own doings, a move, a copy, another home are never called tampering (D2, D6, P11)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tallystick.errors import CODES
from tests.attacks.scene import LOOK, Scene
from tests.desk import FEATURE, Desk

pytestmark = pytest.mark.requirement("P11")


def key_of_another(scene: Scene) -> bytes:
    """A key that is a key, and not this one."""
    return scene.home.joinpath("key").read_bytes()[::-1].strip() + b"\n"


# -- the store --------------------------------------------------------------------------------------------------------


def test_the_store_deleted_and_made_anew(scene: Scene) -> None:
    """Gauntlet 4: the same ids again; nothing is carried over, and both the answer and `audit` say so."""
    shutil.rmtree(scene.store)
    shutil.rmtree(scene.folder / ".tallystick")
    said = scene.run("ledger", "init", FEATURE, "criteria.md")
    assert (said.status, "an earlier store was at this place" in said.err) == (0, True)
    assert scene.counted() == []
    audit = scene.run("audit")
    assert (audit.status, "an earlier store was at" in audit.out) == (0, True)
    assert scene.run("ledger", "show", FEATURE).err == ""


def test_the_store_deleted_while_segments_know_its_records(scene: Scene) -> None:
    """What the segments say is another store's word now: shown, and passed again before it counts."""
    shutil.rmtree(scene.store)
    assert scene.states() == {"AC1": "elsewhere", "AC2": "failing", "AC3": "failing"}
    assert scene.refused("ledger", "init", FEATURE, "criteria.md").code == "feature.exists"
    assert (scene.run("audit").status, scene.counted()) == (0, [])
    said = scene.run("ledger", "pass", FEATURE, "AC1", "--evidence", "proof.txt")
    assert (said.status, "an earlier store was at this place" in said.err) == (0, True)
    assert scene.counted() == ["AC1"]


def test_the_old_journal_put_into_a_new_store(scene: Scene) -> None:
    old = scene.copy_aside(scene.store / "journal" / FEATURE)
    shutil.rmtree(scene.store)
    scene.freeze(feature="refunds")
    shutil.copytree(old, scene.store / "journal" / FEATURE)
    shown = scene.run("ledger", "show", FEATURE)
    assert (shown.status, "another store" in shown.err, scene.counted()) == (LOOK, True, [])


def test_the_store_id_of_another_store(scene: Scene) -> None:
    other = Desk(scene.base / "other")
    other.freeze()
    (scene.store / "store-id").write_bytes((other.store / "store-id").read_bytes())
    shown = scene.run("ledger", "show", FEATURE)
    assert (shown.status, scene.counted()) == (LOOK, [])
    assert scene.run("ledger", "init", FEATURE, "criteria.md").status != 0


def test_a_store_that_the_project_brought_along_proves_nothing(tmp_path: Path) -> None:
    """Outside git the store lies in the project, so whoever sends the project sends a store with it."""
    giver = Scene(tmp_path / "giver", git=False)
    taker = Desk(tmp_path / "taker", git=False)
    shutil.copytree(giver.folder / ".tallystick", taker.folder / ".tallystick")
    shown = taker.run("ledger", "show", FEATURE)
    assert (shown.status, "not checkable here" in shown.err) == (0, True)
    assert taker.run("status", "--check").status == 3
    assert taker.run("audit").status == 0
    assert taker.refused("ledger", "pass", FEATURE, "AC2", "--evidence", "proof.txt").code == "key.missing"
    taker.ok("init")
    assert taker.states() == {"AC1": "elsewhere", "AC2": "failing", "AC3": "failing"}
    assert taker.run("status", "--check").status == 3
    taker.cite("AC1")
    assert taker.counted() == ["AC1"]


def test_a_store_planted_inside_a_repository_is_not_the_repositorys_store(scene: Scene) -> None:
    giver = Scene(scene.base / "giver", git=False)
    inner = scene.folder / "vendor"
    inner.mkdir()
    shutil.copytree(giver.folder / ".tallystick", inner / ".tallystick")
    shutil.copytree(giver.folder / ".tallystick" / "store", scene.folder / ".tallystick" / "store")
    for folder in (inner, scene.folder):
        said = scene.run("status", "--json", folder=folder)
        assert said.document["store"] == str(scene.store)
    before = scene.tree()
    assert scene.run("ledger", "show", FEATURE, folder=inner).status == 0
    assert scene.tree() == before


# -- the user's half --------------------------------------------------------------------------------------------------


def test_the_key_replaced(scene: Scene) -> None:
    (scene.home / "key").write_bytes(key_of_another(scene))
    assert scene.states() == {"AC1": "elsewhere", "AC2": "failing", "AC3": "failing"}
    assert scene.run("status", "--check").status == 3
    scene.cite("AC1")
    assert scene.counted() == ["AC1"]


@pytest.mark.requirement("P6")
def test_the_key_gone_reads_as_not_checkable_and_is_not_made_anew(scene: Scene) -> None:
    (scene.home / "key").unlink()
    before = scene.tree()
    for words in (("ledger", "show", FEATURE), ("status",), ("ledger", "failing")):
        said = scene.run(*words)
        assert (said.status, "not checkable here" in said.err) == (0, True)
    audit = scene.run("audit")
    assert (audit.status, "not checkable here" in audit.out) == (0, True)
    assert scene.run("status", "--check").status == 3
    assert scene.refused("ledger", "pass", FEATURE, "AC2", "--evidence", "proof.txt").code == "key.missing"
    assert scene.refused("ledger", "fail", FEATURE, "AC2", "--error", "x").code == "key.missing"
    assert scene.tree() == before


@pytest.mark.requirement("F5.10")
def test_a_forged_checkpoint_is_as_if_it_were_not_there(scene: Scene) -> None:
    for i in range(12):
        scene.ok("ledger", "fail", FEATURE, "AC2", "--error", f"{i} " + "x" * 1900)
    scene.put("log.txt", "x" * 16_000)
    for i in range(8):
        scene.put("log.txt", f"{i}" + "x" * 16_000)
        scene.ok("ledger", "pass", FEATURE, "AC3", "--evidence", "log.txt")
    checkpoint = scene.store / "cache" / "checkpoints" / FEATURE
    seal, body = checkpoint.read_bytes().split(b"\n")
    forged = body.replace(b'"AC2","a guest can pay",null,"', b'"AC2","a guest can pay",null,"', 1).replace(
        b"false", b"true"
    )
    assert forged != body
    for data in (seal + b"\n" + forged, b"0" * 64 + b"\n" + forged, forged, b""):
        checkpoint.write_bytes(data)
        assert scene.counted() == ["AC1", "AC3"]
    assert scene.findings() == []


# -- links where our files should be ----------------------------------------------------------------------------------


@pytest.mark.requirement("P16", "P18")
@pytest.mark.parametrize("at", ["journal", "anchor", "lock", "checkpoint", "blob folder"])
def test_a_link_planted_where_we_write_is_never_written_through(scene: Scene, at: str) -> None:
    victim = scene.base / "victim"
    victim.write_bytes(b"precious")
    place = {
        "journal": scene.journal,
        "anchor": scene.anchor,
        "lock": scene.store / "locks" / FEATURE,
        "checkpoint": scene.store / "cache" / "checkpoints" / FEATURE,
        "blob folder": scene.store / "blobs",
    }[at]
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        place.unlink()
    place.symlink_to(victim)
    scene.put("large.txt", "x" * 20_000)
    said = scene.run("ledger", "pass", FEATURE, "AC3", "--evidence", "large.txt")
    assert victim.read_bytes() == b"precious"
    assert place.is_symlink()
    assert said.status == (0 if at == "checkpoint" else CODES["store.place"].exit if at != "journal" else LOOK), said
    assert at == "checkpoint" or str(place) in said.err


def test_a_link_for_a_new_features_first_file_is_not_followed(scene: Scene) -> None:
    victim = scene.base / "victim"
    victim.write_bytes(b"precious")
    (scene.store / "journal" / "refunds").mkdir()
    (scene.store / "journal" / "refunds" / scene.journal.name).symlink_to(victim)
    said = scene.run("ledger", "init", "refunds", "criteria.md")
    assert (said.status, victim.read_bytes()) == (LOOK, b"precious")


# -- no alarm ---------------------------------------------------------------------------------------------------------


def test_a_moved_project_keeps_its_records(scene: Scene) -> None:
    scene.folder.rename(scene.base / "moved")
    scene.folder = scene.base / "moved"
    scene.store = scene.folder / ".git" / "tallystick"
    assert scene.run("audit").status == 0
    assert scene.counted() == ["AC1"]
    scene.cite("AC3")
    assert (scene.counted(), scene.findings()) == (["AC1", "AC3"], [])


def test_a_copied_project_keeps_its_records_and_goes_its_own_way(scene: Scene) -> None:
    shutil.copytree(scene.folder, scene.base / "copy", symlinks=True)
    original = scene.folder
    scene.folder = scene.base / "copy"
    assert scene.counted() == ["AC1"]
    scene.cite("AC3")
    assert (scene.counted(), scene.run("audit").status) == (["AC1", "AC3"], 0)
    scene.folder = original
    assert (scene.counted(), scene.run("audit").status) == (["AC1"], 0)
    scene.cite("AC2")
    assert (scene.counted(), scene.run("audit").status) == (["AC1", "AC2"], 0)


@pytest.mark.requirement("P6", "F5.2")
def test_another_home_reads_all_and_writes_after_init(scene: Scene) -> None:
    mine, scene.home = scene.home, scene.base / "elsewhere" / "tallystick"
    shown = scene.run("ledger", "show", FEATURE)
    assert (shown.status, "not checkable here" in shown.err) == (0, True)
    assert not scene.home.exists()
    scene.ok("init")
    assert scene.states()["AC1"] == "elsewhere"
    scene.cite("AC3")
    assert scene.run("audit").status == 0
    scene.home = mine
    assert scene.states() == {"AC1": "holds", "AC2": "failing", "AC3": "elsewhere"}
    assert scene.run("audit").status == 0
    scene.cite("AC2")
    assert (scene.counted(), scene.run("audit").status) == (["AC1", "AC2"], 0)


def test_the_same_home_and_project_at_other_paths_as_in_a_container(scene: Scene) -> None:
    inside = scene.base / "container"
    shutil.copytree(scene.folder, inside / "app", symlinks=True)
    shutil.copytree(scene.home, inside / "root" / "tallystick")
    scene.folder, scene.home = inside / "app", inside / "root" / "tallystick"
    scene.store = scene.folder / ".git" / "tallystick"
    assert (scene.counted(), scene.run("audit").status) == (["AC1"], 0)
    scene.cite("AC3")
    assert (scene.counted(), scene.run("audit").status, scene.run("ledger", "show").err) == (["AC1", "AC3"], 0, "")


def test_a_restored_backup_of_everything_is_no_alarm(scene: Scene) -> None:
    for path in (scene.folder, scene.home):
        aside = scene.copy_aside(path)
        shutil.rmtree(path)
        shutil.copytree(aside, path, symlinks=True)
    scene.expect_quiet(["AC1"])


def test_caches_locks_and_views_may_be_deleted_at_any_time(scene: Scene) -> None:
    """Bug reports 14: whatever follows from the rest is made again."""
    for path in (scene.store / "cache", scene.store / "locks", scene.store / "tmp", scene.folder / ".agent"):
        shutil.rmtree(path, ignore_errors=True)
    assert scene.counted() == ["AC1"]
    assert scene.run("audit").status == 0
    scene.cite("AC3")
    scene.ok("ledger", "fail", FEATURE, "AC2", "--error", "again")
    assert json.loads(scene.view.read_bytes())["features"][2]["passes"]
    assert scene.findings() == []


@pytest.mark.requirement("F5.1", "P16")
def test_variables_of_git_cannot_point_us_elsewhere(scene: Scene) -> None:
    other = Desk(scene.base / "other")
    other.freeze()
    git = str(other.folder / ".git")
    names = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_CONFIG")
    before = other.tree()
    said = scene.run("status", "--json", env=dict.fromkeys(names, git))
    assert said.document["store"] == str(scene.store)
    assert (
        scene.run("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt", env=dict.fromkeys(names, git)).status
        == 0
    )
    assert scene.counted() == ["AC1", "AC3"]
    assert other.tree() == before


def test_two_projects_of_one_home_do_not_mix(scene: Scene) -> None:
    other = Desk(scene.base / "other")
    other.home = scene.home
    other.freeze()
    other.cite("AC2")
    assert (other.counted(), scene.counted()) == (["AC2"], ["AC1"])
    assert (other.run("audit").status, scene.run("audit").status) == (0, 0)
    assert len(os.listdir(scene.home / "anchors")) == 2
