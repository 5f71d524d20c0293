"""Holds the checkpoint: a short cut that is believed only with its seal and the very bytes it stands for, and that
hides nothing (formats 5)."""

from __future__ import annotations

from typing import Any

import pytest

from tallystick.journal import checkpoint as checkpoints
from tallystick.journal.checkpoint import Checkpoint
from tallystick.journal.feature import FeatureJournal
from tallystick.journal.home import Home
from tallystick.journal.log import FileLog
from tallystick.journal.record import FORMAT
from tallystick.journal.snapshot import Identities
from tests.simdisk import SimDisk
from tests.unit.journal.lines import FEATURE, OTHER_KEY, STORE, Texts, commits

TOP, FOLDER, PATH = "/p/.git", "/p/.git/tallystick/journal", "/p/.git/tallystick/cache/checkpoints/checkout"


class Bench:
    """One journal of ten records of this home's writer, on a simulated disk."""

    def __init__(self) -> None:
        self.disk = SimDisk()
        self.disk.folders(TOP)
        self.disk.folders("/user")
        self.files = self.disk.process()
        self.home = Home(self.files, "/user/tallystick")
        self.key = self.home.make_key()
        self.writer = self.home.writer(STORE, "/p/.git/tallystick")
        self.path = f"{FOLDER}/{FEATURE}/{self.writer}.jsonl"
        self.lines = commits(*[1] * 10, key=self.key, writer=self.writer)
        self.disk.put(self.path, b"".join(self.lines))

    def journal(self, fold: Texts | None = None, store: str = STORE) -> FeatureJournal[list[str]]:
        who = Identities(store, self.writer, Home(self.files, "/user/tallystick"))
        return FeatureJournal(FileLog(self.files, FOLDER, TOP), FEATURE, fold or Texts(), who, FORMAT)

    def read(self, checkpoint: Checkpoint | None, fold: Texts) -> FeatureJournal[list[str]]:
        journal = self.journal(fold)
        journal.refresh(checkpoint)
        return journal

    def made(self) -> Checkpoint:
        journal = self.journal()
        journal.refresh()
        found = journal.checkpoint()
        assert found is not None
        return found


@pytest.fixture
def bench() -> Bench:
    return Bench()


TEXTS = [f"record {i}" for i in range(1, 11)]


@pytest.mark.requirement("F5.10")
def test_it_stands_for_the_records_it_covers(bench: Bench) -> None:
    data = checkpoints.encode(bench.made(), bench.key)
    found = checkpoints.decode(data, bench.key)
    assert found == bench.made()
    fold = Texts()
    journal = bench.read(found, fold)
    assert (journal.state, fold.applied, journal.n) == (TEXTS, 0, 10)
    assert journal.snapshot().findings == ()
    assert journal.snapshot() == bench.read(None, Texts()).snapshot()


@pytest.mark.requirement("F5.10")
def test_it_is_read_from_disk_and_saved_there(bench: Bench) -> None:
    checkpoints.save(bench.files, PATH, bench.made(), bench.key, f"{PATH}.1")
    assert checkpoints.load(bench.files, PATH, bench.key) == bench.made()
    assert bench.files.stat(PATH).st_mode & 0o077 == 0


@pytest.mark.requirement("F5.10", "P11")
def test_with_any_byte_changed_it_is_as_if_it_were_not_there(bench: Bench) -> None:
    data = checkpoints.encode(bench.made(), bench.key)
    changed = [data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :] for at in range(len(data))]
    changed += [data[:at] for at in range(len(data))]
    assert [one for one in changed if checkpoints.decode(one, bench.key) is not None] == []


@pytest.mark.requirement("F5.10")
@pytest.mark.parametrize("data", [b"", b"\0" * 4096, b"\n", b"x", b"\xff\n[]", b"0" * 64 + b"\n[]", b"[" * 5000])
def test_junk_in_its_place_is_none(bench: Bench, data: bytes) -> None:
    bench.disk.put(PATH, data)
    assert checkpoints.load(bench.files, PATH, bench.key) is None


def test_a_folder_in_its_place_is_none(bench: Bench) -> None:
    bench.disk.folders(PATH)
    assert checkpoints.load(bench.files, PATH, bench.key) is None


@pytest.mark.requirement("F5.10", "P11")
def test_one_sealed_with_another_key_is_none(bench: Bench) -> None:
    forged = bench.made()._replace(state=["passed"])
    assert checkpoints.decode(checkpoints.encode(forged, OTHER_KEY), bench.key) is None


@pytest.mark.requirement("F5.10")
@pytest.mark.parametrize("changed", [{"store": "6" * 32}, {"feature": "refunds"}, {"fold": "2"}])
def test_one_of_another_store_feature_or_fold_is_ignored(bench: Bench, changed: dict[str, Any]) -> None:
    fold = Texts()
    journal = bench.read(bench.made()._replace(state=["wrong"], **changed), fold)
    assert (journal.state, fold.applied) == (TEXTS, 10)


@pytest.mark.requirement("F5.10")
def test_a_stale_one_is_continued(bench: Bench) -> None:
    early = bench.made()
    more = b"".join(commits(*[1] * 12, key=bench.key, writer=bench.writer)[10:])
    bench.disk.put(bench.path, b"".join(bench.lines) + more)
    fold = Texts()
    journal = bench.read(early, fold)
    assert (journal.state, fold.applied) == ([*TEXTS, "record 11", "record 12"], 2)


@pytest.mark.requirement("F5.10", "P3", "P11")
@pytest.mark.parametrize("at", [0, 4, 9])
def test_damage_in_what_it_covers_is_noticed_all_the_same(bench: Bench, at: int) -> None:
    checkpoint = bench.made()
    lines = bench.lines[:]
    lines[at] = lines[at].replace(b"record", b"RECORD")
    bench.disk.put(bench.path, b"".join(lines))
    journal = bench.read(checkpoint, Texts())
    assert [finding.line for finding in journal.snapshot().grave][:1] == [at + 1]
    assert f"record {at + 1}" not in journal.state


@pytest.mark.requirement("F5.10", "P11")
@pytest.mark.parametrize("kept", [0, 5, 9])
def test_a_journal_shorter_than_it_is_not_covered_by_it(bench: Bench, kept: int) -> None:
    checkpoint = bench.made()
    bench.disk.put(bench.path, b"".join(bench.lines[:kept]))
    assert bench.read(checkpoint, Texts()).state == TEXTS[:kept]


@pytest.mark.requirement("F5.10", "P3")
def test_none_is_made_while_something_is_amiss(bench: Bench) -> None:
    bench.disk.put(bench.path, b"".join([*bench.lines[:4], *bench.lines[5:]]))
    journal = bench.read(None, Texts())
    assert journal.snapshot().grave
    assert journal.checkpoint() is None
