"""A `Files` that lets every call of another `Files` pass through one place, where it is counted, logged or spoilt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tallystick.system.files import Files, Stat


class Attempt(NamedTuple):
    """A call on its way to `files`: `do(*args)` carries it out.

    `path` is its first path, or where its descriptor was opened.
    """

    files: Files
    name: str
    path: str
    args: tuple[Any, ...]
    do: Callable[..., Any]


class Tap:
    """Implements `Files` by handing each call to `intercept`; a subclass says what happens there.

    Knows which descriptors it gave out, and for which path.
    """

    def __init__(self, files: Files) -> None:
        self.files = files
        self.paths: dict[int, str] = {}

    def intercept(self, attempt: Attempt) -> Any:
        """Carry out `attempt`; its result is the caller's result."""
        return attempt.do(*attempt.args)

    def _with_fd(self, name: str, do: Callable[..., Any], fd: int, *args: object) -> Any:
        return self.intercept(Attempt(self.files, name, self.paths.get(fd, ""), (fd, *args), do))

    def _with_path(self, name: str, do: Callable[..., Any], path: str, *args: object) -> Any:
        return self.intercept(Attempt(self.files, name, path, (path, *args), do))

    def _open(self, path: str, flags: int, mode: int) -> int:
        fd = self.files.open(path, flags, mode)
        self.paths[fd] = path
        return fd

    def _close(self, fd: int) -> None:
        self.files.close(fd)
        self.paths.pop(fd, None)

    # --- the calls of `Files`, each with the meaning it has there

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """As `Files.open`."""
        fd: int = self._with_path("open", self._open, path, flags, mode)
        return fd

    def close(self, fd: int) -> None:
        """As `Files.close`."""
        self._with_fd("close", self._close, fd)

    def read(self, fd: int, size: int) -> bytes:
        """As `Files.read`."""
        data: bytes = self._with_fd("read", self.files.read, fd, size)
        return data

    def pread(self, fd: int, size: int, offset: int) -> bytes:
        """As `Files.pread`."""
        data: bytes = self._with_fd("pread", self.files.pread, fd, size, offset)
        return data

    def write(self, fd: int, data: bytes) -> int:
        """As `Files.write`."""
        sent: int = self._with_fd("write", self.files.write, fd, data)
        return sent

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        """As `Files.pwrite`."""
        sent: int = self._with_fd("pwrite", self.files.pwrite, fd, data, offset)
        return sent

    def fsync(self, fd: int) -> None:
        """As `Files.fsync`."""
        self._with_fd("fsync", self.files.fsync, fd)

    def truncate(self, fd: int, size: int) -> None:
        """As `Files.truncate`."""
        self._with_fd("truncate", self.files.truncate, fd, size)

    def fstat(self, fd: int) -> Stat:
        """As `Files.fstat`."""
        status: Stat = self._with_fd("fstat", self.files.fstat, fd)
        return status

    def stat(self, path: str) -> Stat:
        """As `Files.stat`."""
        status: Stat = self._with_path("stat", self.files.stat, path)
        return status

    def lstat(self, path: str) -> Stat:
        """As `Files.lstat`."""
        status: Stat = self._with_path("lstat", self.files.lstat, path)
        return status

    def listdir(self, path: str) -> list[str]:
        """As `Files.listdir`."""
        names: list[str] = self._with_path("listdir", self.files.listdir, path)
        return names

    def mkdir(self, path: str, mode: int = 0o700) -> None:
        """As `Files.mkdir`."""
        self._with_path("mkdir", self.files.mkdir, path, mode)

    def rename(self, old: str, new: str) -> None:
        """As `Files.rename`."""
        self._with_path("rename", self.files.rename, old, new)

    def link(self, old: str, new: str) -> None:
        """As `Files.link`."""
        self._with_path("link", self.files.link, old, new)

    def unlink(self, path: str) -> None:
        """As `Files.unlink`."""
        self._with_path("unlink", self.files.unlink, path)

    def readlink(self, path: str) -> str:
        """As `Files.readlink`."""
        target: str = self._with_path("readlink", self.files.readlink, path)
        return target

    def realpath(self, path: str) -> str:
        """As `Files.realpath`."""
        real: str = self._with_path("realpath", self.files.realpath, path)
        return real

    def try_lock(self, fd: int) -> bool:
        """As `Files.try_lock`."""
        held: bool = self._with_fd("try_lock", self.files.try_lock, fd)
        return held

    def unlock(self, fd: int) -> None:
        """As `Files.unlock`."""
        self._with_fd("unlock", self.files.unlock, fd)

    def opened(self, fd: int, path: str) -> str:
        """As `Files.opened`."""
        real: str = self._with_fd("opened", self.files.opened, fd, path)
        return real
