"""The simulated disk behaves as the real one: one suite of contracts, run on both.

A test of the store on the simulated disk is worth as much as this file is.
"""

from __future__ import annotations

import errno
import os
import stat as modes
import sys
from pathlib import Path

import pytest

from tallystick.system.files import Files
from tests.simdisk import Process, SimDisk
from tests.simdisk.sides import Disk, real, simulated

NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="compares with the answers of Linux")


@pytest.fixture(params=["real", "simulated"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    if request.param == "real":
        return real(str(tmp_path))
    return simulated()


class Refused:
    """Asserts that a call raises OSError with one of some numbers."""

    def __init__(self, *codes: int) -> None:
        self.codes = codes

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        assert isinstance(error, OSError), f"expected an error of {self.codes}"
        assert error.errno in self.codes
        return True


def test_read_write_and_the_place_of_a_descriptor(disk: Disk) -> None:
    files = disk.files
    fd = files.open(disk.at("a"), NEW)
    assert files.write(fd, b"hello world") == 11
    assert files.read(fd, 5) == b""
    assert files.pread(fd, 5, 6) == b"world"
    assert files.pwrite(fd, b"W", 6) == 1
    assert files.write(fd, b"!") == 1
    assert files.pread(fd, 100, 0) == b"hello World!"
    files.truncate(fd, 3)
    assert files.write(fd, b"x") == 1
    assert files.pread(fd, 100, 0) == b"hel" + bytes(9) + b"x"
    files.truncate(fd, 16)
    assert files.fstat(fd).st_size == 16
    files.fsync(fd)
    files.close(fd)
    again = files.open(disk.at("a"), os.O_RDONLY)
    assert files.read(again, 2) == b"he"
    assert files.read(again, 2) == b"l\0"
    files.close(again)
    with Refused(errno.EBADF):
        files.read(fd, 1)
    with Refused(errno.EBADF):
        files.close(fd)


def test_append_goes_to_the_end_that_is_there_at_the_write(disk: Disk) -> None:
    one = disk.files.open(disk.at("log"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    two = disk.files.open(disk.at("log"), os.O_WRONLY | os.O_APPEND)
    for fd, text in ((one, b"a"), (two, b"bb"), (one, b"c")):
        disk.files.write(fd, text)
    assert disk.get("log") == b"abbc"
    disk.files.truncate(two, 1)
    disk.files.write(one, b"d")
    assert disk.get("log") == b"ad"
    disk.files.close(one)
    disk.files.close(two)


@LINUX
def test_a_write_at_a_place_appends_where_the_descriptor_appends(disk: Disk) -> None:
    fd = disk.files.open(disk.at("log"), os.O_RDWR | os.O_APPEND | os.O_CREAT)
    disk.files.write(fd, b"first")
    disk.files.pwrite(fd, b"second", 0)
    assert disk.files.pread(fd, 99, 0) == b"firstsecond"
    disk.files.close(fd)


def test_what_a_descriptor_does_not_allow(disk: Disk) -> None:
    files = disk.files
    path = disk.put("a", b"data")
    reader, writer = files.open(path, os.O_RDONLY), files.open(path, os.O_WRONLY)
    with Refused(errno.EBADF):
        files.write(reader, b"x")
    with Refused(errno.EBADF):
        files.pwrite(reader, b"x", 0)
    with Refused(errno.EINVAL, errno.EBADF):
        files.truncate(reader, 0)
    with Refused(errno.EBADF):
        files.read(writer, 1)
    with Refused(errno.EINVAL):
        files.pwrite(writer, b"x", -1)
    folder = files.open(disk.folder, os.O_RDONLY | os.O_DIRECTORY)
    with Refused(errno.EISDIR):
        files.read(folder, 1)
    with Refused(errno.EBADF):
        files.write(folder, b"x")
    files.fsync(folder)
    assert modes.S_ISDIR(files.fstat(folder).st_mode)
    for fd in (reader, writer, folder):
        files.close(fd)


def test_flags_of_open(disk: Disk) -> None:
    files = disk.files
    with Refused(errno.ENOENT):
        files.open(disk.at("a"), os.O_RDONLY)
    path = disk.put("a", b"data")
    with Refused(errno.EEXIST):
        files.open(path, NEW)
    with Refused(errno.ENOTDIR):
        files.open(path, os.O_RDONLY | os.O_DIRECTORY)
    with Refused(errno.ENOTDIR):
        files.open(path + "/b", os.O_RDONLY)
    with Refused(errno.ENOTDIR):
        files.stat(path + "/")
    with Refused(errno.EISDIR):
        files.open(disk.folder, os.O_RDWR)
    with Refused(errno.EISDIR):
        files.open(disk.folder, os.O_RDWR | os.O_CREAT)
    with Refused(errno.ENOENT):
        files.open("", os.O_RDONLY)
    with Refused(errno.ENOENT):
        files.open(disk.at("no/b"), os.O_RDWR | os.O_CREAT)
    files.close(files.open(path, os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC | os.O_NONBLOCK))
    assert disk.get("a") == b""


def test_symbolic_links(disk: Disk) -> None:
    files = disk.files
    disk.put("file", b"data")
    files.mkdir(disk.at("folder"))
    disk.put("folder/inner", b"inner")
    disk.symlink("file", disk.at("link"))
    disk.symlink(disk.at("folder"), disk.at("way"))
    disk.symlink("gone", disk.at("dangling"))
    disk.symlink("loop", disk.at("loop"))
    assert disk.get("link") == b"data"
    assert disk.get("way/../link") == b"data"
    assert disk.get("way/inner") == b"inner"
    assert modes.S_ISLNK(files.lstat(disk.at("link")).st_mode)
    assert files.lstat(disk.at("link")).st_size == 4
    assert modes.S_ISREG(files.stat(disk.at("link")).st_mode)
    with Refused(errno.ELOOP):
        files.open(disk.at("link"), os.O_RDONLY | os.O_NOFOLLOW)
    with Refused(errno.ELOOP):
        files.open(disk.at("link"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
    files.close(files.open(disk.at("way/inner"), os.O_RDONLY | os.O_NOFOLLOW))
    with Refused(errno.ELOOP):
        files.stat(disk.at("loop"))
    with Refused(errno.ENOENT):
        files.stat(disk.at("dangling"))
    with Refused(errno.EEXIST):
        files.open(disk.at("dangling"), NEW)
    assert files.realpath(disk.at("way/inner")) == disk.at("folder/inner")
    assert files.realpath(disk.at("way/../link")) == disk.at("file")
    assert files.realpath(disk.at("way/./none/../more")) == disk.at("folder/more")
    assert files.realpath(disk.at("dangling")) == disk.at("gone")
    disk.put("dangling", b"made through the link")
    assert disk.get("gone") == b"made through the link"
    disk.put("other", b"other")
    files.rename(disk.at("other"), disk.at("link"))
    assert (disk.get("link"), disk.get("file")) == (b"other", b"data")
    files.unlink(disk.at("way"))
    assert disk.get("folder/inner") == b"inner"


@LINUX
def test_the_name_of_what_was_opened(disk: Disk) -> None:
    files = disk.files
    disk.put("file", b"data")
    disk.symlink("file", disk.at("link"))
    fd = files.open(disk.at("link"), os.O_RDONLY)
    assert files.opened(fd, disk.at("link")) == disk.at("file")
    files.unlink(disk.at("link"))
    disk.put("link", b"another file now")
    assert files.opened(fd, disk.at("link")) == disk.at("file")
    files.rename(disk.at("file"), disk.at("moved"))
    assert files.opened(fd, disk.at("link")) == disk.at("moved")
    files.unlink(disk.at("moved"))
    assert files.opened(fd, disk.at("moved")) == disk.at("moved") + " (deleted)"
    files.close(fd)


def test_rename(disk: Disk) -> None:
    files = disk.files
    disk.put("a", b"new")
    disk.put("b", b"old")
    old = files.open(disk.at("b"), os.O_RDONLY)
    moved = files.stat(disk.at("a")).st_ino
    files.rename(disk.at("a"), disk.at("b"))
    assert files.listdir(disk.folder) == ["b"]
    assert disk.get("b") == b"new"
    assert files.stat(disk.at("b")).st_ino == moved
    assert files.pread(old, 10, 0) == b"old"
    files.close(old)
    files.mkdir(disk.at("folder"))
    disk.put("folder/x")
    with Refused(errno.ENOENT):
        files.rename(disk.at("no"), disk.at("b"))
    with Refused(errno.EISDIR):
        files.rename(disk.at("b"), disk.at("folder"))
    with Refused(errno.ENOTDIR):
        files.rename(disk.at("folder"), disk.at("b"))
    with Refused(errno.EINVAL):
        files.rename(disk.at("folder"), disk.at("folder/below"))
    files.mkdir(disk.at("empty"))
    with Refused(errno.ENOTEMPTY, errno.EEXIST):
        files.rename(disk.at("empty"), disk.at("folder"))
    files.rename(disk.at("folder"), disk.at("empty"))
    assert files.listdir(disk.at("empty")) == ["x"]
    files.rename(disk.at("b"), disk.at("empty/b"))
    assert sorted(files.listdir(disk.at("empty"))) == ["b", "x"]


def test_links_and_unlinked_files(disk: Disk) -> None:
    files = disk.files
    disk.put("a", b"data")
    files.link(disk.at("a"), disk.at("b"))
    assert files.stat(disk.at("a")).st_ino == files.stat(disk.at("b")).st_ino
    with Refused(errno.EEXIST):
        files.link(disk.at("a"), disk.at("b"))
    with Refused(errno.ENOENT):
        files.link(disk.at("no"), disk.at("c"))
    with Refused(errno.EPERM):
        files.link(disk.folder, disk.at("c"))
    files.rename(disk.at("a"), disk.at("b"))  # two names of one file: POSIX does nothing
    assert sorted(files.listdir(disk.folder)) == ["a", "b"]
    fd = files.open(disk.at("a"), os.O_RDWR)
    files.unlink(disk.at("a"))
    files.unlink(disk.at("b"))
    assert files.listdir(disk.folder) == []
    files.pwrite(fd, b"D", 0)
    assert files.pread(fd, 10, 0) == b"Data"
    disk.put("a", b"another")
    kept, named = files.fstat(fd), files.stat(disk.at("a"))
    assert (kept.st_dev, kept.st_ino) != (named.st_dev, named.st_ino)
    files.close(fd)
    with Refused(errno.ENOENT):
        files.unlink(disk.at("b"))
    with Refused(errno.EISDIR, errno.EPERM):
        files.unlink(disk.folder)


def test_folders_and_modes(disk: Disk) -> None:
    files = disk.files
    files.mkdir(disk.at("private"), 0o700)
    with Refused(errno.EEXIST):
        files.mkdir(disk.at("private"))
    with Refused(errno.ENOENT):
        files.mkdir(disk.at("no/below"))
    disk.put("file")
    with Refused(errno.ENOTDIR):
        files.mkdir(disk.at("file/below"))
    with Refused(errno.ENOTDIR):
        files.listdir(disk.at("file"))
    with Refused(errno.ENOENT):
        files.listdir(disk.at("no"))
    assert files.stat(disk.at("private")).st_mode == modes.S_IFDIR | 0o700
    files.close(files.open(disk.at("shown"), NEW, 0o644))
    assert files.stat(disk.at("shown")).st_mode & 0o700 == 0o600
    assert disk.files.listdir(disk.at("private")) == []
    with Refused(errno.ENAMETOOLONG):
        files.stat(disk.at("n" * 256))
    with Refused(errno.ENAMETOOLONG):
        files.stat("/" + "n/" * 3000)
    with pytest.raises(ValueError, match="null"):
        files.open(disk.at("a\0b"), os.O_RDONLY)
    with pytest.raises(UnicodeEncodeError):
        files.stat(disk.at("lone\ud800"))


def test_what_is_made_without_a_mode_is_private(disk: Disk) -> None:
    disk.files.mkdir(disk.at("folder"))
    disk.files.close(disk.files.open(disk.at("file"), NEW))
    assert disk.files.stat(disk.at("folder")).st_mode == modes.S_IFDIR | 0o700
    assert disk.files.stat(disk.at("file")).st_mode == modes.S_IFREG | 0o600


def test_times_change_with_the_content_and_only_then(disk: Disk) -> None:
    files = disk.files
    path = disk.put("a", b"data")
    before = files.stat(path)
    assert disk.get("a") == b"data"
    after = files.stat(path)
    assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
    disk.put("a", b"more")
    assert files.stat(path).st_mtime_ns >= after.st_mtime_ns


def test_locks_belong_to_the_open_file_and_end_with_it(disk: Disk) -> None:
    files = disk.files
    path = disk.put("lock")
    one, two = files.open(path, os.O_RDWR), files.open(path, os.O_RDONLY)
    assert files.try_lock(one)
    assert files.try_lock(one)
    assert not files.try_lock(two)
    files.unlock(two)
    assert not files.try_lock(two)
    files.unlock(one)
    assert files.try_lock(two)
    files.unlock(two)
    assert files.try_lock(one)
    files.unlink(path)
    assert not files.try_lock(two)
    disk.put("lock")
    three = files.open(path, os.O_RDWR)
    assert files.try_lock(three)
    files.close(one)
    assert files.try_lock(two)
    files.close(two)
    files.close(three)


def test_a_call_of_the_simulated_disk_is_a_call_of_files() -> None:
    files: Files = SimDisk().process()
    assert isinstance(files, Process)
