"""A sync that fails, a process that dies, a disk that is full: what the simulated disk does then."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable

import pytest

from tests.simdisk import Killed, SimDisk

SEEDS = range(150)
NEW = os.O_RDWR | os.O_CREAT | os.O_TRUNC
F = "/d/f"


def disk_with(content: bytes) -> SimDisk:
    disk = SimDisk()
    disk.put(F, content)
    return disk


# --- a sync that fails


def test_bytes_lost_by_a_failed_sync_are_saved_by_writing_them_again_only() -> None:
    disk = disk_with(b"old")
    files = disk.process()
    fd = files.open(F, os.O_RDWR)
    files.write(fd, b"new")
    files.fail_fsync(fd)
    assert disk.content(F) == b"new"
    files.fsync(fd)
    assert disk.outcomes(F) == {b"old", b"new"}
    files.pwrite(fd, b"+", 3)
    files.fsync(fd)
    assert disk.outcomes(F) == {b"old+", b"new+"}
    files.pwrite(fd, b"new", 0)
    files.fsync(fd)
    assert disk.outcomes(F) == {b"new+"}


def test_a_truncate_makes_an_end_of_lost_bytes_or_the_whole_file_sound_again() -> None:
    disk = disk_with(b"old")
    files = disk.process()
    fd = files.open(F, os.O_RDWR)
    files.pwrite(fd, b"lost", 3)
    files.fail_fsync(fd)
    assert disk.outcomes(F) == {b"old", b"oldlost", b"old\0\0\0\0"}
    files.truncate(fd, 3)
    files.fsync(fd)
    assert disk.outcomes(F) == {b"old"}


def test_a_failed_sync_loses_bytes_but_no_truncate() -> None:
    disk = disk_with(b"old")
    files = disk.process()
    fd = files.open(F, os.O_RDWR)
    files.truncate(fd, 1)
    files.fail_fsync(fd)
    assert disk.outcomes(F) >= {b"old", b"o"}
    files.fsync(fd)
    assert disk.outcomes(F) == {b"o"}


def test_each_description_open_at_the_failure_is_told_once() -> None:
    disk = disk_with(b"old")
    files, other = disk.process(), disk.process()
    fd, rival = files.open(F, os.O_RDWR), other.open(F, os.O_RDWR)
    files.write(fd, b"new")
    files.fail_fsync(fd)
    with pytest.raises(OSError, match="Input/output") as error:
        other.fsync(rival)
    assert error.value.errno == errno.EIO
    other.fsync(rival)
    other.fsync(other.open(F, os.O_RDWR))
    assert disk.outcomes(F) == {b"old", b"new"}


def test_forgotten_pages_show_what_the_medium_holds() -> None:
    seen = set()
    for seed in SEEDS:
        disk = disk_with(b"old")
        files = disk.process()
        fd = files.open(F, os.O_RDWR)
        files.write(fd, b"new")
        files.fail_fsync(fd)
        files.pwrite(fd, b"+", 3)
        disk.drop_caches(seed)
        shown = disk.content(F)
        files.fsync(fd)
        assert disk.outcomes(F) == {shown}, "once read from the medium, it stays"
        seen.add(shown)
    assert seen == {b"old+", b"new+"}


# --- processes, and the disk itself


def test_a_killed_process_leaves_its_writes_and_frees_its_locks() -> None:
    disk = disk_with(b"old")
    files, other = disk.process(), disk.process()
    fd, rival = files.open(F, os.O_RDWR), other.open(F, os.O_RDWR)
    files.write(fd, b"new")
    assert files.try_lock(fd)
    assert not other.try_lock(rival)
    files.kill()
    assert other.try_lock(rival)
    assert other.pread(rival, 9, 0) == b"new"
    calls: list[Callable[[], object]] = [
        lambda: files.close(fd),
        lambda: files.fsync(fd),
        lambda: files.stat(F),
        lambda: files.open(F, os.O_RDONLY),
        lambda: files.unlink(F),
    ]
    for call in calls:
        with pytest.raises(Killed):
            call()
    assert other.open_paths() == [F]


def test_a_cut_frees_locks_changes_nothing_here_and_is_the_same_for_the_same_seed() -> None:
    disk = disk_with(b"old")
    files = disk.process()
    fd = files.open(F, os.O_RDWR)
    files.write(fd, b"x" * 5000)
    assert files.try_lock(fd)
    before = disk.tree()
    for seed in SEEDS:
        assert disk.crash(seed).tree() == disk.crash(seed).tree()
    assert disk.tree() == before
    changed = files.stat(F).st_mtime_ns
    after = disk.crash(1).process()
    fd = after.open(F, os.O_RDWR)
    assert after.try_lock(fd)
    after.write(fd, b"later")
    assert after.stat(F).st_mtime_ns > changed


def test_a_freed_inode_number_is_given_again_and_stays_unique_through_a_cut() -> None:
    disk = disk_with(b"old")
    files = disk.process()
    number = files.stat(F).st_ino
    fd = files.open(F, os.O_RDONLY)
    files.unlink(F)
    files.close(files.open("/d/other", NEW))
    assert files.stat("/d/other").st_ino != number, "it is open still"
    files.close(fd)
    files.close(files.open("/d/g", NEW))
    assert files.stat("/d/g").st_ino == number
    both = 0
    for seed in SEEDS:
        after = disk.crash(seed)
        if {F, "/d/g"} <= set(after.tree()):
            both += 1
            assert after.process().stat(F).st_ino != after.process().stat("/d/g").st_ino
    assert both > 0


def test_a_coarse_clock_gives_one_time_to_many_changes() -> None:
    fine, coarse = SimDisk(), SimDisk(grain=1000)
    for disk, differ in ((fine, True), (coarse, False)):
        disk.put("/a", b"one")
        before = disk.process().stat("/a").st_mtime_ns
        disk.put("/a", b"two")
        assert (disk.process().stat("/a").st_mtime_ns != before) is differ


def test_a_full_disk_takes_what_needs_no_room_and_a_read_only_one_takes_nothing() -> None:
    disk = disk_with(b"old")
    files = disk.process()
    fd = files.open(F, os.O_RDWR)
    disk.full = True
    assert files.write(fd, b"newer") == 3
    for refused in (lambda: files.write(fd, b"x"), lambda: files.mkdir("/d/s"), lambda: files.open("/d/x", NEW)):
        with pytest.raises(OSError, match="No space left"):
            refused()
    files.truncate(fd, 2)
    assert disk.content(F) == b"ne"
    disk.full, disk.read_only = False, True
    for refused in (lambda: files.write(fd, b"x"), lambda: files.unlink(F), lambda: files.open(F, os.O_WRONLY)):
        with pytest.raises(OSError, match="Read-only"):
            refused()
    assert files.pread(fd, 9, 0) == b"ne"
