"""One process on the simulated disk: its descriptors and locks, and its death.

`Process` is a `Files`; several of one disk see the same visible state, as processes of one machine do.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, NamedTuple

from tests.simdisk.inode import File, Folder, Inode, Symlink, Truncate, Write
from tests.simdisk.tree import failure

if TYPE_CHECKING:
    from tests.simdisk.disk import SimDisk

FIRST_FD = 3
MOST_OPEN = 1024
DEVICE = 77
_IGNORED = os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_KNOWN = os.O_ACCMODE | os.O_CREAT | os.O_EXCL | os.O_TRUNC | os.O_APPEND | os.O_DIRECTORY | os.O_NOFOLLOW | _IGNORED


class Killed(BaseException):
    """The process was killed. No `Exception`, so that no handler of the code under test catches it."""


class SimStat(NamedTuple):
    """A stat result; the fields as in `os.stat_result`."""

    st_mode: int
    st_ino: int
    st_dev: int
    st_nlink: int
    st_size: int
    st_mtime_ns: int
    st_ctime_ns: int


class OpenFile:
    """One open file description: what a descriptor stands for, and what owns a kernel lock."""

    __slots__ = ("append", "at", "inode", "path", "readable", "seen_failures", "writable")

    def __init__(self, inode: Inode, path: str, flags: int) -> None:
        access = flags & os.O_ACCMODE
        self.inode = inode
        self.path = path
        self.readable = access != os.O_WRONLY
        self.writable = access != os.O_RDONLY
        self.append = bool(flags & os.O_APPEND)
        self.at = 0
        #: Failed syncs of the file are told once to each description that was open then (errseq_t in Linux).
        self.seen_failures = inode.sync_failures if isinstance(inode, File) else 0


class Process:
    """A `Files` with its own descriptors. After `kill` every call raises `Killed`, also those in a `finally`."""

    def __init__(self, disk: SimDisk) -> None:
        self._machine = disk
        self._table: dict[int, OpenFile] = {}
        self._dead = False

    # --- life and death

    def kill(self) -> None:
        """End the process as SIGKILL does: descriptors and locks go, what it wrote stays visible."""
        for fd in list(self._table):
            self.close(fd)
        self._dead = True

    def open_paths(self) -> list[str]:
        """The paths of all open descriptors, to find one that leaks."""
        return sorted(file.path for file in self._table.values())

    @property
    def _disk(self) -> SimDisk:
        if self._dead:
            raise Killed
        return self._machine

    def _file(self, fd: int) -> OpenFile:
        """The open file of descriptor `fd`."""
        file = self._table.get(fd)
        if file is None:
            if self._dead:
                raise Killed
            raise failure(errno.EBADF)
        return file

    # --- descriptors

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """As `os.open`, for the flags the disk models; any other flag is a ValueError."""
        disk = self._disk
        if flags & ~_KNOWN:
            raise ValueError(f"open flags {flags & ~_KNOWN:#o} are not modelled")
        if len(self._table) >= MOST_OPEN:
            raise failure(errno.EMFILE, path)
        inode = self._inode_to_open(disk, path, flags, mode)
        if flags & os.O_TRUNC and isinstance(inode, File):
            self._resize(inode, 0)
        fd = FIRST_FD
        while fd in self._table:
            fd += 1
        inode.opened += 1
        self._table[fd] = OpenFile(inode, path, flags)
        return fd

    def _inode_to_open(self, disk: SimDisk, path: str, flags: int, mode: int) -> Inode:
        create, exclusive = flags & os.O_CREAT, flags & os.O_CREAT and flags & os.O_EXCL
        if create and path.endswith("/"):
            disk.name(path)
            raise failure(errno.EISDIR, path)
        place = disk.locate(path, follow=not (flags & os.O_NOFOLLOW or exclusive))
        inode = place.inode
        writes = flags & os.O_ACCMODE != os.O_RDONLY or flags & os.O_TRUNC
        if inode is None:
            if not create:
                raise failure(errno.ENOENT, path)
            return disk.new_file(place, path, mode)
        if exclusive:
            raise failure(errno.EEXIST, path)
        if flags & os.O_DIRECTORY and not isinstance(inode, Folder):
            raise failure(errno.ENOTDIR, path)
        if isinstance(inode, Symlink):
            raise failure(errno.ELOOP, path)
        if isinstance(inode, Folder) and (writes or create):
            raise failure(errno.EISDIR, path)
        if writes:
            disk.writable(path)
        return inode

    def close(self, fd: int) -> None:
        """As `os.close`; frees the kernel lock of this open file."""
        file = self._file(fd)
        del self._table[fd]
        if file.inode.holder is file:
            file.inode.holder = None
        file.inode.opened -= 1
        self._machine.release(file.inode)

    def read(self, fd: int, size: int) -> bytes:
        """As `os.read`."""
        file = self._file(fd)
        data = self._bytes(file, size, file.at)
        file.at += len(data)
        return data

    def pread(self, fd: int, size: int, offset: int) -> bytes:
        """As `os.pread`."""
        return self._bytes(self._file(fd), size, offset)

    def write(self, fd: int, data: bytes) -> int:
        """As `os.write`; on a full disk it takes what needs no new room, then ENOSPC."""
        file = self._file(fd)
        inode = self._writable(file)
        offset = len(inode.visible) if file.append else file.at
        sent = self._put(inode, data, offset)
        file.at = offset + sent
        return sent

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        """As `os.pwrite` on Linux, where a descriptor opened with O_APPEND appends whatever `offset` says."""
        file = self._file(fd)
        inode = self._writable(file)
        if offset < 0:
            raise failure(errno.EINVAL)
        return self._put(inode, data, len(inode.visible) if file.append else offset)

    def truncate(self, fd: int, size: int) -> None:
        """As `os.ftruncate`."""
        file = self._file(fd)
        if size < 0 or not file.writable or not isinstance(file.inode, File):
            raise failure(errno.EINVAL)
        self._resize(file.inode, size)

    def fsync(self, fd: int) -> None:
        """Confirm the bytes of a file, or the names in a folder.

        A description that was open when an earlier fsync of the file failed is told so once, with EIO.
        """
        file = self._file(fd)
        inode = file.inode
        if isinstance(inode, File):
            if file.seen_failures < inode.sync_failures:
                file.seen_failures = inode.sync_failures
                raise failure(errno.EIO)
            inode.sync()
        elif isinstance(inode, Folder):
            inode.sync()

    def fail_fsync(self, fd: int) -> None:
        """Do to the disk what an fsync that fails does; the caller raises the error to the code under test.

        The dirty bytes of a file stay visible and count as clean, so that no later fsync makes them durable: only
        writing them again does. Names stay unconfirmed, since a file system's own journal would not drop them.
        """
        file = self._file(fd)
        if isinstance(file.inode, File):
            file.inode.lose()
            file.seen_failures = file.inode.sync_failures

    def fstat(self, fd: int) -> SimStat:
        """As `os.fstat`."""
        return _stat(self._file(fd).inode)

    def try_lock(self, fd: int) -> bool:
        """`flock` without waiting: each open file is a rival of every other, also inside one process."""
        file = self._file(fd)
        if file.inode.holder is None:
            file.inode.holder = file
        return file.inode.holder is file

    def unlock(self, fd: int) -> None:
        """Let the lock of this open file go, if it holds it."""
        file = self._file(fd)
        if file.inode.holder is file:
            file.inode.holder = None

    def opened(self, fd: int, path: str) -> str:
        """The name the open file has now, as Linux tells it; " (deleted)" after the last one where it has none."""
        file = self._file(fd)
        real = self._disk.realpath(path)
        names = self._disk.names(file.inode)
        if real in names:
            return real
        return names[0] if names else f"{real} (deleted)"

    # --- paths

    def stat(self, path: str) -> SimStat:
        """As `os.stat`."""
        return _stat(self._disk.find(path))

    def lstat(self, path: str) -> SimStat:
        """As `os.lstat`."""
        return _stat(self._disk.find(path, follow=False))

    def readlink(self, path: str) -> str:
        """As `os.readlink`."""
        inode = self._disk.find(path, follow=False)
        if not isinstance(inode, Symlink):
            raise failure(errno.EINVAL, path)
        return inode.target

    def listdir(self, path: str) -> list[str]:
        """As `os.listdir`; the order is that of no promise, here the reverse of making."""
        inode = self._disk.find(path)
        if not isinstance(inode, Folder):
            raise failure(errno.ENOTDIR, path)
        return list(reversed(inode.entries))

    def mkdir(self, path: str, mode: int = 0o700) -> None:
        """As `os.mkdir`."""
        self._disk.mkdir(path, mode)

    def rename(self, old: str, new: str) -> None:
        """As `os.replace`."""
        self._disk.rename(old, new)

    def link(self, old: str, new: str) -> None:
        """As `os.link`."""
        self._disk.link(old, new)

    def unlink(self, path: str) -> None:
        """As `os.unlink`."""
        self._disk.unlink(path)

    def realpath(self, path: str) -> str:
        """As `os.path.realpath`."""
        return self._disk.realpath(path)

    # --- bytes

    def _bytes(self, file: OpenFile, size: int, offset: int) -> bytes:
        if not file.readable:
            raise failure(errno.EBADF)
        if isinstance(file.inode, Folder):
            raise failure(errno.EISDIR)
        if size < 0 or offset < 0 or not isinstance(file.inode, File):
            raise failure(errno.EINVAL)
        return bytes(file.inode.visible[offset : offset + size])

    def _writable(self, file: OpenFile) -> File:
        if not file.writable or not isinstance(file.inode, File):
            raise failure(errno.EBADF)
        return file.inode

    def _put(self, inode: File, data: bytes, offset: int) -> int:
        disk = self._machine
        disk.writable()
        if data and disk.full and offset + len(data) > len(inode.visible):
            data = data[: max(0, len(inode.visible) - offset)]
            if not data:
                raise failure(errno.ENOSPC)
        if data:
            inode.change(Write(offset, bytes(data)))
            inode.modified = inode.changed = disk.now()
        return len(data)

    def _resize(self, inode: File, size: int) -> None:
        self._machine.writable()
        if size != len(inode.visible):
            inode.change(Truncate(size))
        inode.modified = inode.changed = self._machine.now()


def _stat(inode: Inode) -> SimStat:
    mode = inode.kind | inode.mode
    return SimStat(mode, inode.ino, DEVICE, inode.links, inode.size, inode.modified, inode.changed)
