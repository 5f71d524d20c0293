"""The small interface for all disk work, so that a faulty disk can stand in for the real one.

`Files` is what everything above uses; `OsFiles` is the operating system. The tests put a simulated disk in its place
that keeps visible and durable state apart, cuts the power and fails every call. Methods raise `OSError` exactly as
the system call of the same name does; `faults.explained` turns that into a `Refusal`.

Durability duties: `write` alone promises nothing; after `fsync` of a descriptor the bytes of that file survive power
loss; a new, renamed or removed name survives only after `fsync` of a descriptor of its folder.
"""

from __future__ import annotations

import fcntl
import os
from typing import Protocol


class Stat(Protocol):
    """The fields of a stat result that we read."""

    @property
    def st_mode(self) -> int: ...
    @property
    def st_size(self) -> int: ...
    @property
    def st_dev(self) -> int: ...
    @property
    def st_ino(self) -> int: ...
    @property
    def st_mtime_ns(self) -> int: ...
    @property
    def st_ctime_ns(self) -> int: ...


class Files(Protocol):
    """What a disk can do. Paths are absolute text; flags are those of `os.open`; offsets and sizes are bytes."""

    def open(self, path: str, flags: int, mode: int = 0o600) -> int: ...
    def close(self, fd: int) -> None: ...
    def read(self, fd: int, size: int) -> bytes: ...
    def pread(self, fd: int, size: int, offset: int) -> bytes: ...
    def write(self, fd: int, data: bytes) -> int: ...
    def pwrite(self, fd: int, data: bytes, offset: int) -> int: ...
    def fsync(self, fd: int) -> None: ...
    def truncate(self, fd: int, size: int) -> None: ...
    def fstat(self, fd: int) -> Stat: ...
    def stat(self, path: str) -> Stat: ...
    def lstat(self, path: str) -> Stat: ...
    def listdir(self, path: str) -> list[str]: ...
    def mkdir(self, path: str, mode: int = 0o700) -> None: ...
    def rename(self, old: str, new: str) -> None: ...
    def link(self, old: str, new: str) -> None: ...
    def unlink(self, path: str) -> None: ...
    def readlink(self, path: str) -> str: ...
    def realpath(self, path: str) -> str: ...
    def try_lock(self, fd: int) -> bool:
        """Take the exclusive kernel lock of the open file without waiting; False when another holds it.

        The kernel drops it when the descriptor is closed or its process ends, however it ends.
        """
        ...

    def unlock(self, fd: int) -> None: ...
    def opened(self, fd: int, path: str) -> str:
        """The real path of the file that was opened as `path`, whatever links led there."""
        ...


class OsFiles:
    """The real disk: each method is the system call of its name."""

    close = staticmethod(os.close)
    read = staticmethod(os.read)
    pread = staticmethod(os.pread)
    write = staticmethod(os.write)
    pwrite = staticmethod(os.pwrite)
    truncate = staticmethod(os.ftruncate)
    fstat = staticmethod(os.fstat)
    stat = staticmethod(os.stat)
    lstat = staticmethod(os.lstat)
    listdir = staticmethod(os.listdir)
    rename = staticmethod(os.replace)
    link = staticmethod(os.link)
    unlink = staticmethod(os.unlink)

    @staticmethod
    def open(path: str, flags: int, mode: int = 0o600) -> int:
        """Open; what is made is the user's alone unless said otherwise."""
        return os.open(path, flags, mode)

    @staticmethod
    def mkdir(path: str, mode: int = 0o700) -> None:
        """Make a folder; the user's alone unless said otherwise."""
        os.mkdir(path, mode)

    @staticmethod
    def readlink(path: str) -> str:
        """What the symbolic link says."""
        return os.readlink(path)

    @staticmethod
    def realpath(path: str) -> str:
        """The path with every symbolic link on it resolved; parts that do not exist stay as they are."""
        return os.path.realpath(path)

    @staticmethod
    def fsync(fd: int) -> None:
        """Flush to the medium. macOS needs F_FULLFSYNC, since its fsync stops at the drive's cache."""
        full = getattr(fcntl, "F_FULLFSYNC", None)
        if full is not None:
            fcntl.fcntl(fd, full)
        else:
            os.fsync(fd)

    @staticmethod
    def try_lock(fd: int) -> bool:
        """`flock` without waiting; False when another process (or descriptor) holds it."""
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    @staticmethod
    def unlock(fd: int) -> None:
        """Let the lock go and keep the descriptor."""
        fcntl.flock(fd, fcntl.LOCK_UN)

    @staticmethod
    def opened(fd: int, path: str) -> str:
        """The kernel's own name of the open file where it tells (Linux), else the path resolved again."""
        try:
            return os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            return os.path.realpath(path)
