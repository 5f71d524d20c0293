"""Holds whole-file work: a bound before every read, the old bytes or the new ones, made exactly once, no litter."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.errors import CODES, Refusal
from tallystick.system.durable import (
    create_once,
    each_entry,
    make_folders,
    read_file,
    replace_file,
    spare,
    sweep,
)
from tallystick.system.faults import explained
from tallystick.system.files import OsFiles
from tests.simdisk import Fail, Fault, Faulty, Short, SimDisk


@pytest.fixture
def disk() -> SimDisk:
    made = SimDisk()
    made.folders("/d")
    return made


def refusal(call: Callable[[], object]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        call()
    return caught.value


@pytest.mark.requirement("P15")
def test_a_file_is_measured_before_it_is_read(disk: SimDisk) -> None:
    disk.put("/d/x", b"12345")
    files = Faulty(disk.process())
    assert read_file(files, "/d/x", 5) == b"12345"
    found = refusal(lambda: read_file(files, "/d/x", 4))
    assert (found.code, "5 bytes" in found.message, "limit is 4" in found.message) == ("input.too_large", True, True)
    assert files.count("read") == 1


@pytest.mark.parametrize("path", ["/d/nosuch", "/nosuch/x", "/d/x/y"])
def test_what_is_not_there_is_none(disk: SimDisk, path: str) -> None:
    disk.put("/d/x", b"")
    assert read_file(disk.process(), path, 100) is None


def test_short_reads_are_put_together(disk: SimDisk) -> None:
    disk.put("/d/x", b"0123456789" * 10)
    files = Faulty(disk.process(), [Fault(Short(7), call="read", times=3)])
    assert read_file(files, "/d/x", 100) == b"0123456789" * 10


@pytest.mark.parametrize("call", ["open", "fstat", "read"])
def test_a_read_that_fails_is_never_taken_for_an_empty_file(disk: SimDisk, call: str) -> None:
    disk.put("/d/x", b"1")
    files = Faulty(disk.process(), [Fault(Fail(errno.EIO), call=call)])
    found = refusal(lambda: read_file(files, "/d/x", 10))
    assert (found.code, "/d/x" in found.message, isinstance(found.__cause__, OSError)) == (
        "input.unreadable",
        True,
        True,
    )


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_is_no_regular_file_is_refused_without_waiting_for_it(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path = Path(os.devnull)
    assert (
        refusal(lambda: read_file(OsFiles(), str(path), 10)).message == f"{path} cannot be read: it is no regular file"
    )


def test_a_link_is_followed_where_nothing_else_was_asked_for(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.write_bytes(b"1")
    (inside / "x").symlink_to(outside)
    assert read_file(OsFiles(), str(inside / "x"), 10) == b"1"
    real = os.path.realpath(inside)
    assert refusal(lambda: read_file(OsFiles(), f"{real}/x", 10, within=real)).code == "evidence.outside"


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("call", ["open", "write", "fsync", "close", "rename"])
def test_a_replacement_that_fails_leaves_the_old_bytes_and_no_litter(disk: SimDisk, call: str) -> None:
    disk.put("/d/x", b"old")
    files = Faulty(disk.process(), [Fault(Fail(errno.ENOSPC), call=call)])
    found = refusal(lambda: replace_file(files, "/d/x", b"new", sync=True, beside="/d/x.tmp"))
    assert (found.code, disk.tree("/d")) == ("disk.full", {"/d": None, "/d/x": b"old"})


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("sync", [True, False])
def test_a_power_cut_leaves_the_old_bytes_or_the_new_ones(disk: SimDisk, sync: bool) -> None:
    disk.put("/d/x", b"old" * 500)
    replace_file(disk.process(), "/d/x", b"new" * 900, sync=sync, beside="/d/x.tmp")
    for seed in range(40):
        kept = disk.crash(seed).content("/d/x")
        assert kept == b"new" * 900 or (not sync and kept != b"new" * 900)
    assert disk.tree("/d") == {"/d": None, "/d/x": b"new" * 900}


@pytest.mark.requirement("P4")
def test_a_file_is_made_by_one_caller_alone(disk: SimDisk) -> None:
    made = [create_once(disk.process(), "/d/x", bytes([65 + at]), beside=f"/d/{at}") for at in range(4)]
    assert made == [True, False, False, False]
    assert disk.tree("/d") == {"/d": None, "/d/x": b"A"}
    assert all(disk.crash(seed).content("/d/x") == b"A" for seed in range(20))


@pytest.mark.parametrize("call", ["open", "write", "fsync", "link"])
def test_a_creation_that_fails_leaves_no_litter(disk: SimDisk, call: str) -> None:
    files = Faulty(disk.process(), [Fault(Fail(errno.EIO), call=call)])
    assert refusal(lambda: create_once(files, "/d/x", b"1", beside="/d/y")).code == "disk.failed"
    assert disk.tree("/d") == {"/d": None}


@pytest.mark.requirement("F5.3", "P1")
def test_folders_are_made_durably_and_for_their_owner_alone(disk: SimDisk) -> None:
    files = disk.process()
    make_folders(files, "/d/a/b/c")
    make_folders(files, "/d/a/b/c")
    assert files.stat("/d/a/b").st_mode & 0o077 == 0
    assert all("/d/a/b/c" in disk.crash(seed).tree() for seed in range(20))


def test_a_file_in_the_way_of_a_folder_is_named(disk: SimDisk) -> None:
    disk.put("/d/a", b"")
    found = refusal(lambda: make_folders(disk.process(), "/d/a/b/c"))
    assert (found.code, "/d/a" in found.message) == ("store.place", True)


def test_spare_names_are_never_given_twice_and_old_ones_are_swept(disk: SimDisk) -> None:
    files = disk.process()
    names = {spare("/d") for _ in range(50)}
    assert len(names) == 50
    disk.put(next(iter(names)), b"")
    disk.put("/d/mine.txt", b"")
    sweep(files, "/d", 0)
    assert len(disk.tree("/d")) == 3
    sweep(files, "/d", files.stat("/d/mine.txt").st_mtime_ns + 1)
    assert disk.tree("/d") == {"/d": None, "/d/mine.txt": b""}


def test_a_folder_that_is_absent_has_no_entries_and_one_that_fails_is_named(disk: SimDisk) -> None:
    assert each_entry(disk.process(), "/nosuch", bool) == []
    files = Faulty(disk.process(), [Fault(Fail(errno.EIO), call="listdir")])
    assert "/d" in refusal(lambda: each_entry(files, "/d", bool)).message


@pytest.mark.parametrize("code", sorted(set(range(1, 130)) & set(errno.errorcode)))
def test_every_error_of_the_system_becomes_one_line_with_a_next_step(code: int) -> None:
    found = explained(OSError(code, os.strerror(code)), "/d/x", "writing")
    assert found.message.startswith("/d/x: writing failed, ")
    assert (found.code in CODES, bool(found.hint), "\n" in found.message) == (True, True, False)
