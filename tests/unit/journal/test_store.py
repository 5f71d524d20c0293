"""Holds the store: what `commit` returned is durable, what is torn is set aside, what is gone is named, and a person
goes on after a look (D4, D6)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest

from tallystick.errors import Refusal
from tallystick.journal.home import Home
from tallystick.journal.log import FileLog
from tallystick.journal.record import FORMAT, By, Event, seal
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.store import Committed, Decision, Root, Store
from tallystick.system.files import Files
from tests.desk import SetClock
from tests.simdisk import Fail, Fault, Faulty, SimDisk
from tests.unit.journal.lines import FEATURE, KEY, OTHER_KEY, Texts, commits, record

TOP, FOLDER, HOME = "/p/.git", "/p/.git/tallystick", "/user/tallystick"
BY = By("shell")


class Bench:
    """A machine with one repository; `store()` is a process that starts now."""

    def __init__(self) -> None:
        self.disk = SimDisk()
        self.disk.folders(TOP)
        self.disk.folders("/user")
        self.clock = SetClock()

    def store(self, version: int = FORMAT, files: Files | None = None, home: str = HOME) -> Store[list[str]]:
        disk = files or self.disk.process()
        log = FileLog(disk, f"{FOLDER}/journal", TOP)
        return Store(disk, Root(FOLDER, TOP), log, Home(disk, home), Texts(), self.clock, 1.0, version)

    def file(self, feature: str = FEATURE) -> str:
        [path] = [path for path in self.disk.tree(f"{FOLDER}/journal/{feature}") if path.endswith(".jsonl")]
        return path

    def lines(self, feature: str = FEATURE) -> list[bytes]:
        return self.disk.content(self.file(feature)).splitlines(keepends=True)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def note(store: Store[list[str]], *texts: str, feature: str = FEATURE) -> Committed[int]:
    """Record these texts in one commit."""

    def decide(snapshot: Snapshot[list[str]], _now: str) -> Decision[int]:
        return Decision(tuple(Event("noted", {"text": text}) for text in texts), len(snapshot.state))

    return store.commit(feature, BY, decide)


def codes(store: Store[list[str]], feature: str = FEATURE) -> list[str]:
    return [finding.code for finding in store.snapshot(feature).grave]


@pytest.mark.requirement("P1", "P2")
def test_what_a_commit_returned_survives_any_power_cut(bench: Bench) -> None:
    store = bench.store()
    note(store, "one")
    note(store, "two", "three")
    for seed in range(40):
        disk = bench.disk.crash(seed)
        after = Bench()
        after.disk = disk
        assert after.store().snapshot(FEATURE).state == ["one", "two", "three"]
        assert after.store().snapshot(FEATURE).findings == ()


def test_a_commit_tells_its_records_and_the_answer(bench: Bench) -> None:
    store = bench.store()
    note(store, "one")
    done = note(store, "two", "three")
    assert (done.answer, [one.data["text"] for one in done.records]) == (1, ["two", "three"])
    assert [(one.i, one.n, one.place) for one in done.records] == [(2, 2, (1, 2)), (3, 3, (2, 2))]
    assert done.records[1].prev == done.records[0].id


def test_a_decision_that_refuses_or_records_nothing_leaves_the_journal(bench: Bench) -> None:
    store = bench.store()
    note(store, "one")
    before = bench.disk.content(bench.file())

    def refuse(snapshot: Snapshot[list[str]], now: str) -> Decision[None]:
        raise Refusal("input.invalid", f"{snapshot.state} {now}")

    with pytest.raises(Refusal):
        store.commit(FEATURE, BY, refuse)
    assert note(store).records == ()
    assert bench.disk.content(bench.file()) == before


@pytest.mark.requirement("P2", "F5.5")
@pytest.mark.parametrize("tail", [b"{", b"\0" * 500, b'{"at":"2026', b"\n"])
def test_a_torn_end_is_reported_kept_and_cut_off_before_the_next_record(bench: Bench, tail: bytes) -> None:
    note(bench.store(), "one")
    path = bench.file()
    bench.disk.put(path, bench.disk.content(path) + tail)
    snapshot = bench.store().snapshot(FEATURE)
    assert (snapshot.state, snapshot.findings, snapshot.torn) == (["one"], (), len(tail))
    done = note(bench.store(), "two")
    assert f"{len(tail)} bytes of an unfinished record" in done.notes[0]
    assert bench.store().snapshot(FEATURE).state == ["one", "two"]
    assert bench.store().snapshot(FEATURE).torn == 0
    kept = [data for name, data in bench.disk.tree(f"{FOLDER}/blobs").items() if isinstance(data, bytes)]
    assert kept == [tail]


@pytest.mark.requirement("P2")
def test_a_commit_of_several_that_is_cut_off_is_set_aside_whole(bench: Bench) -> None:
    store = bench.store()
    note(store, "one")
    note(store, "two", "three")
    bench.disk.put(bench.file(), b"".join(bench.lines()[:2]))
    assert bench.store().snapshot(FEATURE).state == ["one"]


@pytest.mark.requirement("P11", "F5.9")
@pytest.mark.parametrize("kept", [0, 1, 2])
def test_records_that_this_place_saw_and_that_are_gone_are_named(bench: Bench, kept: int) -> None:
    store = bench.store()
    for text in ("one", "two", "three"):
        note(store, text)
    lines = bench.lines()
    bench.disk.put(bench.file(), b"".join(lines[:kept]))
    [finding] = bench.store().snapshot(FEATURE).grave
    assert finding.code == "anchor.rolled_back"
    assert f"the last {3 - kept} are gone" in finding.says


@pytest.mark.requirement("P11", "F5.9")
def test_a_file_or_folder_that_is_gone_as_a_whole_is_a_roll_back(bench: Bench) -> None:
    note(bench.store(), "one")
    bench.disk.remove(bench.file())
    assert codes(bench.store()) == ["anchor.rolled_back"]
    bench.disk.remove(f"{FOLDER}/journal")
    assert codes(bench.store()) == ["anchor.rolled_back"]
    assert bench.store().features() == [FEATURE]


@pytest.mark.requirement("P11")
def test_another_record_at_the_place_that_was_seen_is_a_fork(bench: Bench) -> None:
    store = bench.store()
    note(store, "one")
    old = bench.disk.content(bench.file())
    note(store, "two")
    seen = bench.disk.content(bench.file())
    bench.disk.put(bench.file(), old)
    other = Bench()
    other.disk = bench.disk.settled()
    other.disk.remove(f"{HOME}/anchors")
    note(other.store(), "another two")
    bench.disk.put(bench.file(), other.disk.content(bench.file()))
    assert codes(bench.store()) == ["anchor.fork"]
    bench.disk.put(bench.file(), seen)
    assert codes(bench.store()) == []


@pytest.mark.requirement("P11", "F5.9")
def test_a_journal_that_goes_on_past_the_anchor_is_no_alarm(bench: Bench) -> None:
    store = bench.store()
    note(store, "one")
    [anchor] = [path for path in bench.disk.tree(f"{HOME}/anchors") if path.endswith(f"/{FEATURE}")]
    old = bench.disk.content(anchor)
    note(store, "two")
    bench.disk.put(anchor, old)
    assert codes(bench.store()) == []
    note(bench.store(), "three")
    assert codes(bench.store()) == []


@pytest.mark.requirement("F5.9", "P11")
@pytest.mark.parametrize("data", [None, b"", b"\0" * 256, b"x" * 256])
def test_an_anchor_that_is_gone_or_damaged_is_no_alarm(bench: Bench, data: bytes | None) -> None:
    note(bench.store(), "one")
    [anchor] = [path for path in bench.disk.tree(f"{HOME}/anchors") if path.endswith(f"/{FEATURE}")]
    if data is None:
        bench.disk.remove(anchor)
    else:
        bench.disk.put(anchor, data)
    store = bench.store()
    assert (codes(store), store.anchored(FEATURE)) == ([], False)
    note(store, "two")
    assert bench.store().anchored(FEATURE)


def rolled_back(bench: Bench, seen: int, kept: int) -> None:
    """Write `seen` records, then take all but `kept` away."""
    store = bench.store()
    for i in range(1, seen + 1):
        note(store, f"{i}")
    bench.disk.put(bench.file(), b"".join(bench.lines()[:kept]))


def accept(bench: Bench) -> None:
    store = bench.store()
    store.accept(By("user"), "the disk was restored", store.snapshot(FEATURE).grave)


@pytest.mark.requirement("P11", "P20", "F5.8")
@pytest.mark.parametrize(("seen", "kept"), [(3, 2), (4, 3), (10, 5), (5, 0), (9, 0)])
def test_what_a_person_accepted_stays_a_note_while_the_journal_grows_again(bench: Bench, seen: int, kept: int) -> None:
    rolled_back(bench, seen, kept)
    assert codes(bench.store()) == ["anchor.rolled_back"]
    accept(bench)
    for i in range(2 * seen):
        assert codes(bench.store()) == [], i
        note(bench.store(), f"again {i}")
    assert codes(bench.store()) == []


@pytest.mark.requirement("P11")
def test_a_second_roll_back_after_an_accepted_one_is_named_again(bench: Bench) -> None:
    rolled_back(bench, 6, 3)
    accept(bench)
    note(bench.store(), "again")
    note(bench.store(), "and again")
    bench.disk.put(bench.file(), b"".join(bench.lines()[:4]))
    assert codes(bench.store()) == ["anchor.rolled_back"]


@pytest.mark.requirement("P11", "P20")
def test_before_a_person_accepted_the_memory_is_kept_whatever_is_written(bench: Bench) -> None:
    rolled_back(bench, 4, 1)
    for i in range(6):
        note(bench.store(), f"the way out {i}")
        assert len(codes(bench.store())) == 1
    accept(bench)
    assert codes(bench.store()) == []


@pytest.mark.requirement("P17")
def test_an_older_version_reads_and_writes_nothing_of_a_newer_store(bench: Bench) -> None:
    note(bench.store(), "one")
    note(bench.store(version=2), "two")
    assert bench.store(version=2).snapshot(FEATURE).state == ["one", "two"]
    before = bench.disk.tree("/")
    for ask in (lambda store: store.snapshot(FEATURE), lambda store: note(store, "three")):
        with pytest.raises(Refusal) as caught:
            ask(bench.store())
        assert (caught.value.code, bench.file() in caught.value.message) == ("format.newer", True)
    assert bench.disk.tree("/") == before


@pytest.mark.requirement("P17")
def test_a_store_that_a_newer_version_made_is_left_alone(bench: Bench) -> None:
    note(bench.store(version=2), "one")
    before = bench.disk.tree("/")
    for ask in (Store.id, Store.features, lambda store: note(store, "two")):
        with pytest.raises(Refusal) as caught:
            ask(bench.store())
        assert caught.value.code == "format.newer"
    assert bench.disk.tree("/") == before


@pytest.mark.requirement("P6", "F5.2")
def test_a_home_without_a_key_reads_all_and_writes_nothing(bench: Bench) -> None:
    note(bench.store(), "one")
    before = bench.disk.tree("/")
    stranger = bench.store(home="/user/other")
    snapshot = stranger.snapshot(FEATURE)
    assert (snapshot.state, snapshot.checkable, snapshot.findings) == (["one"], False, ())
    with pytest.raises(Refusal) as caught:
        note(stranger, "two")
    assert caught.value.code == "key.missing"
    assert bench.disk.tree("/") == before


@pytest.mark.requirement("P4", "F5.7")
def test_two_homes_write_one_feature_and_see_each_other(bench: Bench) -> None:
    mine = bench.store()
    note(mine, "one")
    Home(bench.disk.process(), "/user/other").make_key()
    other = bench.store(home="/user/other")
    note(other, "two")
    note(mine, "three")
    note(other, "four")
    assert bench.store().snapshot(FEATURE).state == ["one", "two", "three", "four"]
    assert bench.store(home="/user/other").snapshot(FEATURE) != bench.store().snapshot("refunds")
    files = [path for path in bench.disk.tree(f"{FOLDER}/journal/{FEATURE}") if path.endswith(".jsonl")]
    records = [json.loads(line) for path in files for line in bench.disk.content(path).splitlines()]
    assert sorted(one["n"] for one in records) == [1, 2, 3, 4]
    assert {one["n"]: len(one["seen"]) for one in records} == {1: 0, 2: 1, 3: 1, 4: 1}


@pytest.mark.requirement("F5.7")
def test_a_file_that_joins_late_is_folded_in_its_place(bench: Bench) -> None:
    store = bench.store()
    note(store, "one")
    note(store, "two")
    early = record(store=store.id(), writer="0" * 32, n=1, data={"text": "from elsewhere"})
    bench.disk.put(f"{FOLDER}/journal/{FEATURE}/{'0' * 32}.jsonl", seal(early, OTHER_KEY)[1])
    expected = bench.store().snapshot(FEATURE).state
    assert store.snapshot(FEATURE).state == expected
    assert expected[-1] == "two"
    assert sorted(expected) == ["from elsewhere", "one", "two"]


@pytest.mark.requirement("P11")
def test_a_store_made_anew_at_the_same_place_carries_nothing_over_and_says_so(bench: Bench) -> None:
    note(bench.store(), "one")
    bench.disk.remove(FOLDER)
    store = bench.store()
    assert store.snapshot(FEATURE).state == []
    done = note(store, "new")
    assert "an earlier store was at this place" in done.notes[0]
    assert bench.store().snapshot(FEATURE).state == ["new"]
    assert codes(bench.store()) == []


@pytest.mark.requirement("P11")
def test_a_running_process_notices_that_its_store_was_exchanged(bench: Bench) -> None:
    running = bench.store()
    note(running, "one")
    bench.disk.remove(FOLDER)
    assert running.snapshot(FEATURE).state == []
    note(bench.store(), "of another store")
    assert running.snapshot(FEATURE).state == ["of another store"]
    note(running, "two")
    assert bench.store().snapshot(FEATURE).state == ["of another store", "two"]


@pytest.mark.requirement("P3", "F1.4")
@pytest.mark.parametrize("data", [None, b"", b"\0" * 40, b"tallystick 1 " + b"5" * 32, b"hello\n", b"x" * 5000])
def test_a_store_id_that_is_gone_or_no_store_id_is_damage_and_is_not_made_anew(
    bench: Bench, data: bytes | None
) -> None:
    note(bench.store(), "one")
    path = f"{FOLDER}/store-id"
    if data is None:
        bench.disk.remove(path)
    else:
        bench.disk.put(path, data)
    before = bench.disk.tree("/")
    asks: list[Callable[[Store[list[str]]], object]] = [
        Store.id,
        Store.features,
        lambda store: store.snapshot(FEATURE),
        lambda store: note(store, "two"),
    ]
    for ask in asks:
        with pytest.raises(Refusal) as caught:
            ask(bench.store())
        assert caught.value.code == "store.damaged"
        assert path in caught.value.message
    assert bench.disk.tree("/") == before


@pytest.mark.requirement("P3", "P4")
@pytest.mark.parametrize(
    "stray", ["notes.txt", "README.jsonl", "caf\udce9.jsonl", ".x.jsonl", "a" * 31 + ".jsonl", "A" * 32 + ".jsonl"]
)
def test_a_file_that_bears_no_writers_name_is_passed_over(bench: Bench, stray: str) -> None:
    note(bench.store(), "one")
    bench.disk.put(f"{FOLDER}/journal/{FEATURE}/{stray}", b'{"v":1}\nhello\n')
    assert bench.store().snapshot(FEATURE).findings == ()
    note(bench.store(), "two")
    assert bench.store().snapshot(FEATURE).state == ["one", "two"]


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("stray", ["Thumbs.db", "Check Out", "caf\udce9", ".DS_Store", "con"])
def test_a_name_that_is_no_feature_is_passed_over(bench: Bench, stray: str) -> None:
    note(bench.store(), "one")
    [writer] = list(bench.disk.process().listdir(f"{HOME}/anchors"))
    bench.disk.put(f"{FOLDER}/journal/{stray}", b"")
    bench.disk.put(f"{HOME}/anchors/{writer}/{stray}", b"")
    bench.disk.folders(f"{FOLDER}/journal/Folder {stray}")
    assert bench.store().features() == [FEATURE]


def test_a_file_in_the_place_of_a_features_folder_is_named(bench: Bench) -> None:
    note(bench.store(), "one")
    bench.disk.put(f"{FOLDER}/journal/refunds", b"")
    with pytest.raises(Refusal) as caught:
        bench.store().snapshot("refunds")
    assert f"{FOLDER}/journal/refunds" in caught.value.message


@pytest.mark.requirement("P11", "F5.6")
def test_damage_and_a_forged_file_of_another_writer_are_named(bench: Bench) -> None:
    store = bench.store()
    note(store, "one")
    own = os.path.basename(bench.file())[: -len(".jsonl")]
    path = f"{FOLDER}/journal/{FEATURE}/{'b' * 32}.jsonl"
    bench.disk.put(path, b"".join(commits(2, key=KEY, writer="b" * 32, store=store.id())))
    snapshot = bench.store().snapshot(FEATURE)
    assert (sorted(snapshot.heads), snapshot.findings) == (sorted([own, "b" * 32]), ())  # another home's, as it seems
    proof = bench.store().home.writer(str(store.id()), "/elsewhere")
    bench.disk.move(path, f"{FOLDER}/journal/{FEATURE}/{proof}.jsonl")
    bench.disk.put(
        f"{FOLDER}/journal/{FEATURE}/{proof}.jsonl", b"".join(commits(2, key=KEY, writer=proof, store=store.id()))
    )
    assert codes(bench.store()) == ["journal.damaged"] * 2  # a writer of this key whose records the key did not seal


@pytest.mark.requirement("F5.10")
def test_a_checkpoint_is_written_when_due_and_shortens_the_next_start(bench: Bench) -> None:
    store = bench.store()
    for i in range(40):
        note(store, f"{i} " + "x" * 4000)
    store.flush()
    [path] = [path for path in bench.disk.tree(f"{FOLDER}/cache") if path.endswith(f"/{FEATURE}")]
    files = Faulty(bench.disk.process())
    fresh = bench.store(files=files)
    assert len(fresh.snapshot(FEATURE).state) == 40
    bench.disk.put(path, b"junk")
    assert bench.store().snapshot(FEATURE) == fresh.snapshot(FEATURE)


@pytest.mark.requirement("F5.10", "P1")
def test_a_checkpoint_that_cannot_be_written_takes_nothing_away(bench: Bench) -> None:
    faulty = Faulty(bench.disk.process(), [Fault(Fail(28), call="mkdir", path="/cache", times=99)])
    store = bench.store(files=faulty)
    for i in range(40):
        note(store, f"{i} " + "x" * 4000)
    with pytest.raises(Refusal):
        store.flush()
    assert len(bench.store().snapshot(FEATURE).state) == 40
