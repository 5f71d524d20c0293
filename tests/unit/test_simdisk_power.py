"""What the simulated disk keeps through a power cut and what it may lose.

Every rule is held from both sides: what is durable is there after every cut, and what is not is lost by some cut. The
last tests take recipes that are known to be wrong and let the disk find them out.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.system.files import Files
from tests.simdisk import Fault, Faulty, Kill, Killed, SimDisk

SEEDS = range(150)
NEW = os.O_RDWR | os.O_CREAT | os.O_TRUNC
F = "/d/f"


def disk_with(content: bytes | None = None) -> SimDisk:
    disk = SimDisk()
    disk.folders("/d")
    if content is not None:
        disk.put(F, content)
    return disk


def write(files: Files, path: str, data: bytes, *, sync: bool) -> None:
    fd = files.open(path, NEW)
    files.write(fd, data)
    if sync:
        files.fsync(fd)
    files.close(fd)


def sync_folder(files: Files, path: str = "/d") -> None:
    fd = files.open(path, os.O_RDONLY | os.O_DIRECTORY)
    files.fsync(fd)
    files.close(fd)


# --- bytes


def test_bytes_are_durable_after_fsync_and_only_then() -> None:
    disk = disk_with(b"old")
    files = disk.process()
    fd = files.open(F, os.O_RDWR)
    files.write(fd, b"new")
    assert disk.content(F) == b"new"
    assert disk.outcomes(F) == {b"old", b"new"}
    assert disk.crash(1, survival=0.0).content(F) == b"old"
    assert disk.settled().content(F) == b"new"
    files.fsync(fd)
    assert disk.outcomes(F) == {b"new"}


def test_a_long_write_is_torn_at_sectors_and_its_size_may_come_first() -> None:
    disk = disk_with(b"a" * 100)
    files = disk.process()
    fd = files.open(F, os.O_WRONLY | os.O_APPEND)
    files.write(fd, b"b" * 2000)
    sizes, holes = set(), 0
    for seed in SEEDS:
        content = disk.crash(seed).content(F)
        assert content[:100] == b"a" * 100
        for start, end in itertools.pairwise([100, 512, 1024, 1536, 2048, 2100]):
            part = content[start:end]
            assert set(part) <= {0} or set(part) <= {ord("b")}, "a sector is whole or not there"
        sizes.add(len(content))
        holes += b"\0" in content
    assert sizes == {100, 512, 1024, 1536, 2048, 2100}
    assert holes > 0


def test_what_a_surviving_truncate_cut_off_never_comes_back() -> None:
    disk = disk_with(b"a" * 9000)
    files = disk.process()
    fd = files.open(F, os.O_RDWR | os.O_TRUNC)
    files.write(fd, b"b" * 700)
    seen = disk.outcomes(F)
    assert b"a" * 9000 in seen
    assert b"b" * 700 in seen
    assert b"" in seen
    assert b"\0" * 700 in seen
    assert all(isinstance(one, bytes) and set(one) in ({97}, {98}, {0}, {0, 98}, set()) for one in seen)


def test_the_rest_of_a_cut_block_may_be_cleared_before_the_size_changes() -> None:
    disk = disk_with(b"a" * 600)
    files = disk.process()
    fd = files.open(F, os.O_RDWR)
    files.truncate(fd, 300)
    files.pwrite(fd, b"b" * 100, 300)
    seen = disk.outcomes(F)
    assert b"a" * 300 + b"b" * 100 + bytes(112) + b"a" * 88 in seen
    assert {b"a" * 600, b"a" * 300, b"a" * 300 + b"b" * 100, b"a" * 300 + bytes(100)} <= seen


def test_a_sector_never_shows_a_later_write_without_the_earlier_one() -> None:
    disk = disk_with(b"....")
    files = disk.process()
    fd = files.open(F, os.O_RDWR)
    for place, text in enumerate((b"a", b"b", b"c")):
        files.pwrite(fd, text, place)
    assert disk.outcomes(F) == {b"....", b"a...", b"ab..", b"abc."}


def test_a_file_cut_and_grown_again_never_shows_its_old_end() -> None:
    disk = disk_with(b"a" * 9000)
    files = disk.process()
    fd = files.open(F, os.O_RDWR)
    files.truncate(fd, 100)
    files.truncate(fd, 8000)
    seen = disk.outcomes(F)
    assert {b"a" * 9000, b"a" * 100, b"a" * 100 + bytes(7900)} <= seen
    assert {len(one) for one in seen if isinstance(one, bytes)} == {9000, 100, 8000}
    assert [one for one in seen if isinstance(one, bytes) and len(one) == 8000] == [b"a" * 100 + bytes(7900)]


CHANGES = st.one_of(
    st.tuples(st.just("write"), st.integers(0, 1500), st.integers(1, 1500)),
    st.tuples(st.just("truncate"), st.integers(0, 2500), st.just(0)),
    st.tuples(st.just("fsync"), st.just(0), st.just(0)),
)


@given(st.lists(CHANGES, max_size=12), st.integers(0, 1000))
def test_only_bytes_changed_since_the_last_sync_can_differ(changes: list[tuple[str, int, int]], seed: int) -> None:
    disk = disk_with(b"")
    files = disk.process()
    fd = files.open(F, os.O_RDWR)
    synced, written, shortest = b"", dict[int, set[int]](), 0
    for value, (name, at, length) in enumerate(changes, 1):
        if name == "write":
            files.pwrite(fd, bytes([value]) * length, at)
            for place in range(at, at + length):
                written.setdefault(place, set()).add(value)
        elif name == "truncate":
            files.truncate(fd, at)
            shortest = min(shortest, at)
        else:
            files.fsync(fd)
            synced, written = disk.content(F), {}
            shortest = len(synced)
    assert disk.crash(seed, survival=0.0).content(F) == synced
    assert disk.settled().content(F) == disk.content(F)
    content = disk.crash(seed).content(F)
    assert len(content) >= shortest
    cut = shortest < len(synced)
    for place, value in enumerate(content):
        before = synced[place] if place < len(synced) else 0
        cleared = {0} if place >= len(synced) or (cut and place >= shortest) else set()
        assert value in {before} | written.get(place, set()) | cleared


# --- names


def test_a_new_name_is_durable_after_fsync_of_its_folder_and_only_then() -> None:
    disk = disk_with()
    files = disk.process()
    write(files, F, b"data", sync=True)
    assert disk.outcomes(F) == {None, b"data"}
    sync_folder(files)
    assert disk.outcomes(F) == {b"data"}
    files.unlink(F)
    assert disk.outcomes(F) == {None, b"data"}
    sync_folder(files)
    assert disk.outcomes(F) == {None}


def test_a_durable_name_says_nothing_of_the_bytes() -> None:
    disk = disk_with()
    files = disk.process()
    write(files, F, b"data", sync=False)
    sync_folder(files)
    assert disk.outcomes(F) == {b"", bytes(4), b"data"}


def test_a_folder_whose_own_name_is_not_durable_takes_all_below_with_it() -> None:
    disk = disk_with()
    files = disk.process()
    files.mkdir("/d/sub")
    write(files, "/d/sub/f", b"data", sync=True)
    sync_folder(files, "/d/sub")
    assert disk.outcomes("/d/sub/f") == {None, b"data"}
    sync_folder(files)
    assert disk.outcomes("/d/sub/f") == {b"data"}


def test_a_synced_file_renamed_over_another_is_the_old_or_the_new_one() -> None:
    disk = disk_with(b"old")
    files = disk.process()
    write(files, "/d/t", b"new", sync=True)
    sync_folder(files)
    files.rename("/d/t", F)
    trees = [disk.crash(seed).tree("/d") for seed in SEEDS]
    assert all(tree in ({"/d": None, F: b"old", "/d/t": b"new"}, {"/d": None, F: b"new"}) for tree in trees)
    assert len({F + str(tree) for tree in trees}) == 2
    sync_folder(files)
    assert disk.outcomes(F) == {b"new"}


@pytest.mark.parametrize("synced", ["/d", "/e"])
def test_a_rename_between_folders_is_one_change_and_either_sync_confirms_it(synced: str) -> None:
    disk = disk_with(b"data")
    disk.folders("/e")
    files = disk.process()
    files.rename(F, "/e/g")
    for seed in SEEDS:
        assert len({F, "/e/g"} & set(disk.crash(seed).tree())) == 1
    sync_folder(files, synced)
    assert disk.outcomes(F) == {None}
    assert disk.outcomes("/e/g") == {b"data"}


def test_a_file_renamed_twice_has_one_of_its_names() -> None:
    disk = disk_with(b"data")
    files = disk.process()
    files.rename(F, "/d/g")
    files.rename("/d/g", "/d/h")
    seen = {tuple(disk.crash(seed).tree("/d")) for seed in SEEDS}
    assert seen == {("/d", F), ("/d", "/d/g"), ("/d", "/d/h")}


def test_a_confirmed_name_stands_on_what_had_that_name_before() -> None:
    disk = disk_with(b"data")
    disk.put("/e/x", b"x")
    disk.put("/e/g", b"g")
    files = disk.process()
    files.rename("/e/x", "/e/g")
    files.rename(F, "/e/g")
    sync_folder(files, "/d")
    assert all(disk.crash(seed).tree("/e") == {"/e": None, "/e/g": b"data"} for seed in SEEDS)


def test_two_names_of_one_file_stay_names_of_one_file() -> None:
    disk = disk_with(b"data")
    files = disk.process()
    files.link(F, "/d/g")
    sync_folder(files)
    files.pwrite(files.open(F, os.O_RDWR), b"D", 0)
    after = disk.crash(3)
    assert after.process().stat(F).st_ino == after.process().stat("/d/g").st_ino
    after.put(F, b"changed")
    assert after.content("/d/g") == b"changed"


RENAMES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.booleans()), max_size=12)


@given(RENAMES, st.integers(0, 1000))
def test_names_go_back_to_a_state_they_had_and_no_renamed_file_is_lost(
    renames: list[tuple[int, int, bool]], seed: int
) -> None:
    disk = disk_with()
    for number in range(3):
        disk.put(f"/d/{number}", b"%d" % number)
    files = disk.process()
    history = [disk.tree("/d")]
    for old, new, sync in renames:
        if f"/d/{old}" in history[-1] and f"/d/{new}" not in history[-1]:
            files.rename(f"/d/{old}", f"/d/{new}")
            history.append(disk.tree("/d"))
        if sync:
            sync_folder(files)
            history = history[-1:]
    after = disk.crash(seed).tree("/d")
    assert sorted(content for content in after.values() if content is not None) == [b"0", b"1", b"2"]
    for path in (f"/d/{number}" for number in range(5)):
        assert after.get(path) in [tree.get(path) for tree in history]
    assert disk.crash(seed, survival=0.0).tree("/d") == history[0]
    assert disk.settled().tree("/d") == history[-1]


# --- wrong recipes are found out


def replaced(*, sync_data: bool, sync_name: bool) -> Callable[[Files], None]:
    """Write beside and rename over, with or without the two syncs it needs."""

    def recipe(files: Files) -> None:
        write(files, "/d/t", b"new" * 300, sync=sync_data)
        files.rename("/d/t", F)
        if sync_name:
            sync_folder(files)

    return recipe


def rewritten(files: Files) -> None:
    """Overwrite in place."""
    fd = files.open(F, os.O_WRONLY)
    files.write(fd, b"new" * 300)
    files.fsync(fd)
    files.close(fd)


def cuts(recipe: Callable[[Files], None]) -> Iterator[tuple[bool, bytes]]:
    """The file after a cut at each call of `recipe`, with many seeds; True for cuts after it had returned."""
    for nth in itertools.count(1):
        disk = disk_with(b"old" * 300)
        faulty = Faulty(disk.process(), [Fault(Kill(), nth)])
        with contextlib.suppress(Killed):
            recipe(faulty)
        ended = not faulty.struck
        yield from ((ended, disk.crash(seed).content(F)) for seed in range(40))
        if ended:
            return


@pytest.mark.parametrize(
    ("recipe", "keeps_whole", "keeps_answer"),
    [
        (replaced(sync_data=True, sync_name=True), True, True),
        (replaced(sync_data=True, sync_name=False), True, False),
        (replaced(sync_data=False, sync_name=True), False, False),
        (rewritten, False, True),
    ],
)
def test_a_recipe_is_judged_rightly(recipe: Callable[[Files], None], keeps_whole: bool, keeps_answer: bool) -> None:
    seen = list(cuts(recipe))
    assert all(content in (b"old" * 300, b"new" * 300) for _, content in seen) is keeps_whole
    assert all(content == b"new" * 300 for ended, content in seen if ended) is keeps_answer
