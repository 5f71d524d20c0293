"""Planned faults strike the call they were planned for, do what they say, and every call can be made to fail.

The log that they are planned by is held too: each call once, in order, with its path, arguments and end.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.system.files import Files, OsFiles
from tests.simdisk import (
    WAYS,
    Action,
    Busy,
    Call,
    Fail,
    Fault,
    Faulty,
    Kill,
    Killed,
    LoseSync,
    Short,
    SimDisk,
    Torn,
    every_fault,
)

F = "/d/f"
APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND


def disk_with(content: bytes = b"0123456789") -> SimDisk:
    disk = SimDisk()
    disk.put(F, content)
    return disk


def append(files: Files, data: bytes = b"line\n") -> None:
    """Append and sync: the calls open, write, fsync, close."""
    fd = files.open(F, APPEND)
    try:
        files.write(fd, data)
        files.fsync(fd)
    finally:
        files.close(fd)


def test_the_log_holds_each_call_with_path_arguments_and_end() -> None:
    files = Faulty(disk_with(b"").process())
    append(files)
    with pytest.raises(FileNotFoundError) as missing:
        files.stat("/d/no")
    assert files.log == [
        Call("open", F, (F, APPEND, 0o600), 3),
        Call("write", F, (3, b"line\n"), 5),
        Call("fsync", F, (3,)),
        Call("close", F, (3,)),
        Call("stat", "/d/no", ("/d/no",), error=missing.value),
    ]
    assert (files.count(), files.count("fsync"), files.count("fsync", "/other"), files.count(path="/d/")) == (
        5,
        1,
        0,
        5,
    )


def test_a_plan_without_faults_changes_nothing_on_any_disk(tmp_path: Path) -> None:
    files = Faulty(OsFiles())
    path = str(tmp_path / "a")
    files.mkdir(str(tmp_path / "s"))
    fd = files.open(path, os.O_RDWR | os.O_CREAT)
    assert files.pwrite(fd, b"data", 0) == 4
    assert (files.read(fd, 2), files.pread(fd, 9, 1)) == (b"da", b"ata")
    files.truncate(fd, 3)
    assert files.fstat(fd).st_size == files.stat(path).st_size == files.lstat(path).st_size == 3
    assert files.opened(fd, path) == os.path.realpath(path)
    assert files.try_lock(fd)
    files.unlock(fd)
    files.fsync(fd)
    files.close(fd)
    files.link(path, path + "2")
    files.rename(path + "2", path + "3")
    files.unlink(path)
    assert sorted(files.listdir(str(tmp_path))) == ["a3", "s"]
    os.symlink("a3", path + "4")
    assert files.readlink(path + "4") == "a3"
    assert files.realpath(path + "3") == os.path.realpath(path + "3")
    assert {call.name for call in files.log} | {"write"} == set(WAYS)


@pytest.mark.parametrize(
    ("fault", "struck_at"),
    [
        (Fault(Fail(errno.EIO), nth=2), [2]),
        (Fault(Fail(errno.EIO), call="stat"), [1]),
        (Fault(Fail(errno.EIO), nth=2, call="stat"), [3]),
        (Fault(Fail(errno.EIO), path="f"), [2]),
        (Fault(Fail(errno.EIO), nth=2, times=2), [2, 3]),
        (Fault(Fail(errno.EIO), nth=2, call="stat", times=99), [3, 4]),
        (Fault(Fail(errno.EIO), call="mkdir"), []),
    ],
)
def test_a_fault_strikes_the_calls_it_counts(fault: Fault, struck_at: list[int]) -> None:
    files = Faulty(disk_with().process(), [fault])
    calls: list[Callable[[], object]] = [
        lambda: files.stat("/d"),
        lambda: files.lstat(F),
        lambda: files.stat(F),
        lambda: files.stat("/"),
    ]
    for call in calls:
        with contextlib.suppress(OSError):
            call()
    assert [place for place, call in enumerate(files.log, 1) if isinstance(call.error, OSError)] == struck_at
    assert files.struck == [fault] * len(struck_at)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EMFILE, errno.EINTR])
def test_a_call_that_fails_does_nothing_unless_it_says_after(code: int) -> None:
    disk = disk_with()
    before = disk.tree()
    files = Faulty(disk.process(), [Fault(Fail(code)), Fault(Fail(code, after=True), nth=2)])
    with pytest.raises(OSError, match=os.strerror(code)) as error:
        files.unlink(F)
    assert (error.value.errno, error.value.filename) == (code, F)
    assert disk.tree() == before
    with pytest.raises(OSError, match=os.strerror(code)):
        files.unlink(F)
    assert F not in disk.tree()


@pytest.mark.parametrize(
    ("action", "asked", "given"), [(Short(4), 10, 4), (Short(4), 3, 2), (Short(0), 10, 1), (Short(4), 1, 1)]
)
def test_a_short_read_or_write_takes_some_but_not_all_and_moves_the_place_by_that(
    action: Action, asked: int, given: int
) -> None:
    for name in ("read", "pread", "write", "pwrite"):
        disk = disk_with(b"0123456789")
        files = Faulty(disk.process(), [Fault(action, call=name)])
        fd = files.open(F, os.O_RDWR)
        if name == "read":
            assert files.read(fd, asked) + files.read(fd, 99) == b"0123456789"
            assert len(files.log[1].result) == given
        elif name == "pread":
            assert files.pread(fd, asked, 0) == b"0123456789"[:given]
        elif name == "write":
            assert files.write(fd, b"x" * asked) == given
            assert files.write(fd, b"y") == 1
            assert disk.content(F) == (b"x" * given + b"y" + b"0123456789"[given + 1 :])
        else:
            assert files.pwrite(fd, b"x" * asked, 2) == given
            assert disk.content(F) == b"01" + b"x" * given + b"0123456789"[2 + given :]


def test_a_torn_write_leaves_a_part_and_an_error() -> None:
    disk = disk_with()
    files = Faulty(disk.process(), [Fault(Torn(3), call="write")])
    with pytest.raises(OSError, match="Input/output"):
        append(files)
    assert disk.content(F) == b"0123456789lin"
    assert [call.name for call in files.log] == ["open", "write", "close"]


def test_a_lost_sync_is_an_error_and_the_next_sync_saves_nothing() -> None:
    disk = disk_with()
    files = Faulty(disk.process(), [Fault(LoseSync(), call="fsync")])
    fd = files.open(F, APPEND)
    files.write(fd, b"line\n")
    with pytest.raises(OSError, match="Input/output"):
        files.fsync(fd)
    files.fsync(fd)
    assert disk.content(F) == b"0123456789line\n"
    assert disk.crash(1, survival=0.0).content(F) == b"0123456789"


def test_a_lock_that_is_busy_once() -> None:
    files = Faulty(disk_with().process(), [Fault(Busy())])
    fd = files.files.open(F, os.O_RDWR)
    assert not files.try_lock(fd)
    assert files.try_lock(fd)


@pytest.mark.parametrize(("after", "written"), [(False, b""), (True, b"line\n")])
def test_a_killed_process_does_nothing_more_and_holds_nothing(after: bool, written: bytes) -> None:
    disk = disk_with(b"")
    files = Faulty(disk.process(), [Fault(Kill(after), call="write")])
    guard = files.open("/d/lock", APPEND)
    assert files.try_lock(guard)
    with pytest.raises(Killed):
        append(files)
    assert disk.content(F) == written
    calls: list[Callable[[], object]] = [lambda: files.unlink(F), lambda: files.close(guard)]
    for call in calls:
        with pytest.raises(Killed):
            call()
    assert F in disk.tree()
    other = disk.process()
    assert other.try_lock(other.open("/d/lock", APPEND))
    assert isinstance(files.log[-1].error, Killed)


def test_a_killed_process_on_the_real_disk_holds_nothing_either(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    files = Faulty(OsFiles(), [Fault(Kill(after=True), call="try_lock")])
    fd = files.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with pytest.raises(Killed):
        files.try_lock(fd)
    other = os.open(path, os.O_RDWR)
    assert OsFiles().try_lock(other)
    os.close(other)


def test_every_call_of_a_run_is_failed_in_every_way() -> None:
    clean = Faulty(disk_with().process())
    append(clean)
    faults = list(every_fault(clean.log))
    assert [fault.nth for fault in faults] == sorted(
        nth for nth, name in enumerate(["open", "write", "fsync", "close"], 1) for _ in WAYS[name]
    )
    ends = set()
    for fault in faults:
        disk = disk_with()
        files = Faulty(disk.process(), [fault])
        try:
            append(files)
            ends.add("done")
        except OSError as error:
            ends.add(errno.errorcode[error.errno or 0])
        except Killed:
            ends.add("killed")
        assert files.struck == [fault]
        assert disk.content(F).startswith(b"0123456789")
        assert files.paths == {}, "the descriptor is closed whatever happened"
    assert ends == {"done", "killed", "EACCES", "EMFILE", "ENOSPC", "EROFS", "EIO"}


def test_each_call_of_files_has_ways_to_fail() -> None:
    calls = {name for name in vars(Files) if not name.startswith("_")}
    assert set(WAYS) == calls
    assert all({Kill(), Kill(after=True)} <= set(ways) for ways in WAYS.values())
