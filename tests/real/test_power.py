"""Holds that a power cut loses nothing acknowledged and leaves the state before or after: twenty cuts of a real ext4,
with repository and user's half on the same disk (P1, P2). Needs root and loop devices."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real.project import PROOF, Project, checklist, criteria
from tests.real.volume import Volume
from tests.real.writers import Writer, moment, working

#: How the file system is mounted, and how often its power is cut.
DISKS = {
    "data=ordered": 8,
    "data=ordered,commit=1,noauto_da_alloc": 4,
    "data=writeback": 4,
    "data=journal": 4,
}
_MARK_S, _INIT_S = 0.03, 0.05
_FROZEN = 800
_INIT = ("ledger", "init", "checkout", "criteria.md")
pytestmark = pytest.mark.needs("loop mounts")


@pytest.fixture
def volume(tmp_path: Path) -> Volume:
    """An empty disk."""
    return Volume(tmp_path / "disk.img", tmp_path / "disk")


def _home(volume: Volume) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(volume.top / "home" / "state")}


def _project(volume: Volume) -> Project:
    return Project(volume.top / "shop", _home(volume))


@contextmanager
def _writer(volume: Volume, *words: str) -> Iterator[Writer]:
    """A worker that marks on this disk; afterwards nothing holds the disk any more."""
    with working([Writer(volume.top / "shop", "checkout", *words, env=_home(volume))]) as (writer,):
        yield writer


def _prepared(volume: Volume) -> None:
    """Repository, key and ledger on the disk, all of it durable."""
    project = Project.made(volume.top / "shop", _home(volume))
    project.freeze("checkout", _FROZEN)
    os.sync()


@pytest.mark.requirement("P1", "P2")
@pytest.mark.parametrize("options", DISKS)
def test_no_power_cut_loses_a_mark(volume: Volume, options: str) -> None:
    chance = random.Random(options)
    acknowledged: set[str] = set()
    late: set[str] = set()
    with volume.mounted(options):
        _prepared(volume)
    for cut in range(DISKS[options]):
        with volume.mounted(options), _writer(volume, "--open") as writer:
            writer.read()
            moment(writer, chance.uniform(0, _MARK_S))
            acknowledged |= set(writer.acknowledged)
            volume.cut()
            status, said = writer.end()
            late |= set(writer.acknowledged)  # told while the power went: too late to count, and no mark of its own
        assert status == 1, "it went on although nothing could be written"
        assert len(said.splitlines()) == 1
        assert "Traceback" not in said
        with volume.mounted(options):
            project = _project(volume)
            holding = project.passing("checkout")
            assert acknowledged <= holding
            assert len(holding - acknowledged - late) <= cut + 1  # durable when the power went, and never heard of
            audit = project.audit()
            assert (audit.status, audit.document["holds"]) == (0, True), audit
    assert len(acknowledged) > 2 * DISKS[options], "the power went too early to say anything"


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("seed", range(4))
def test_the_power_goes_while_store_and_key_are_made(volume: Volume, seed: int) -> None:
    names = criteria(40)
    with volume.mounted():
        project = Project.made(volume.top / "shop", _home(volume))
        (project.folder / "criteria.md").write_text(checklist(names), encoding="utf-8")
        os.sync()
        seconds = random.Random(seed).uniform(0, _INIT_S)
        half = Path(project.env["XDG_STATE_HOME"], "tallystick")  # the first thing that it makes
        acknowledged = project.struck(_INIT, half, seconds, lambda _: volume.cut()).before
    with volume.mounted():
        again = project.tally(*_INIT)
        assert again.status == 1 if acknowledged else again.status in (0, 1), again
        assert list(project.rows("checkout")) == names
        assert project.mark("checkout", names[0]).status == 0
        assert project.audit().document["holds"]


def test_the_cut_is_a_power_cut(volume: Volume) -> None:
    """The control: what was synced is there afterwards, what was only written is not."""
    with volume.mounted():
        for name, synced in (("synced", True), ("written", False)):
            with (volume.top / name).open("wb") as file:
                file.write(b"bytes")
                file.flush()
                if synced:
                    os.fsync(file.fileno())
        volume.cut()
    with volume.mounted():
        assert (volume.top / "synced").read_bytes() == b"bytes"
        assert not (volume.top / "written").exists()


def test_a_writer_that_does_not_sync_is_caught(volume: Volume) -> None:
    """The control of the test itself: on a disk that only says it has synced, acknowledged marks are lost."""
    with volume.mounted():
        _prepared(volume)
        with _writer(volume, "--unsynced") as writer:
            while len(writer.acknowledged) < 20:
                assert writer.read()
            volume.cut()
            writer.kill()
    with volume.mounted():
        assert not set(writer.acknowledged) <= _project(volume).passing("checkout")
        assert (volume.top / "shop" / PROOF).exists()
