"""Where lines are kept: read from a position, append at an expected end. This is the seam for a team (D5).

`Log` is the whole contract; `FileLog` keeps one file for each feature and writer. Nothing here understands a line.
A position is a number that only the log itself interprets beyond "bigger is later"; here it is a byte offset.
"""

from __future__ import annotations

import os
import re
import stat as modes
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from tallystick.errors import Refusal, Where
from tallystick.ids import is_feature_id
from tallystick.limits import JOURNAL_FILE
from tallystick.system.durable import CHUNK, each_entry, make_folders, release, sync_folders, too_large, write_all
from tallystick.system.faults import explained
from tallystick.system.files import Files

_SUFFIX = ".jsonl"
_NAME = re.compile(r"[0-9a-f]{32}\.jsonl\Z")
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Extent(NamedTuple):
    """One log as it lies there: `identity` changes when another log stands in its place, `end` is its last position."""

    identity: tuple[int, int]
    end: int


class Log(Protocol):
    """Duties of every log.

    `append` returns, with the new extent, only when the lines survive a power cut, and raises a `Refusal` when they
    may not. `expected` is what the caller saw under the lock (None: no such log); where something else lies there,
    nothing is appended. `read` sees a line whole once `append` has returned. The caller holds the feature's lock
    around `append` and `cut`; readers hold none.
    """

    def features(self) -> list[str]: ...
    def writers(self, feature: str) -> list[str]: ...
    def extent(self, feature: str, writer: str) -> Extent | None: ...
    def read(self, feature: str, writer: str, start: int) -> Iterator[bytes]: ...
    def append(self, feature: str, writer: str, expected: Extent | None, data: bytes) -> Extent: ...
    def cut(self, feature: str, writer: str, end: int) -> None: ...
    def name(self, feature: str, writer: str) -> str: ...
    def close(self) -> None: ...


def _is_log(name: str) -> bool:
    """Whether a writer's id (32 hexadecimal digits) names the file; whatever else lies there is none of ours."""
    return bool(_NAME.match(name))


class FileLog:
    """`<folder>/<feature>/<writer>.jsonl`, each only ever appended to; a torn end is cut off before the next line."""

    __slots__ = ("_files", "_folder", "_open", "_top")

    def __init__(self, files: Files, folder: str, top: str) -> None:
        """`top` is the folder above which names were durable before us (git's common dir, or the project)."""
        self._files = files
        self._folder = folder
        self._top = top
        self._open: dict[str, tuple[int, tuple[int, int]]] = {}

    def name(self, feature: str, writer: str) -> str:
        """The path of one log, for messages."""
        return f"{self._folder}/{feature}/{writer}{_SUFFIX}"

    def features(self) -> list[str]:
        """Every feature with bytes in a log here; a name that cannot be a feature's is bookkeeping, or none of ours.

        A folder alone, or an empty log, is what a command leaves that died before its first record.
        """
        names = each_entry(self._files, self._folder, is_feature_id)
        return [name for name in names if self._used(name)]

    def writers(self, feature: str) -> list[str]:
        """Every writer that has a file for this feature."""
        folder = f"{self._folder}/{feature}"
        return [name[: -len(_SUFFIX)] for name in each_entry(self._files, folder, _is_log)]

    def extent(self, feature: str, writer: str) -> Extent | None:
        """What lies there now, None when nothing does."""
        path = self.name(feature, writer)
        try:
            status = self._files.lstat(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise explained(error, path, "looking there") from error
        if not modes.S_ISREG(status.st_mode):
            raise Refusal("store.damaged", f"{path} is no regular file", "see `tallystick audit`", Where(path))
        if status.st_size > JOURNAL_FILE:
            raise too_large(path, status.st_size, JOURNAL_FILE)
        return Extent((status.st_dev, status.st_ino), status.st_size)

    def read(self, feature: str, writer: str, start: int) -> Iterator[bytes]:
        """The bytes from `start` on, in pieces of at most 1 MiB, so that memory does not grow with the file."""
        path = self.name(feature, writer)
        try:
            fd = self._files.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        except OSError as error:
            raise explained(error, path, "reading") from error
        try:
            while piece := self._files.pread(fd, CHUNK, start):
                start += len(piece)
                yield piece
        except OSError as error:
            raise explained(error, path, "reading") from error
        finally:
            release(self._files, fd)

    def append(self, feature: str, writer: str, expected: Extent | None, data: bytes) -> Extent:
        """Append and sync; after a failure the file is as it was, as far as the disk still obeys."""
        path = self.name(feature, writer)
        fd, extent = self._writable(feature, path, expected)
        try:
            write_all(self._files, fd, data)
            self._files.fsync(fd)
        except OSError as error:
            raise self._undone(path, extent.end, error) from error
        return Extent(extent.identity, extent.end + len(data))

    def cut(self, feature: str, writer: str, end: int) -> None:
        """Cut the torn end off, from position `end` on. Durable with the next append, which syncs the same file."""
        path = self.name(feature, writer)
        fd, _ = self._writable(feature, path, None)
        try:
            self._files.truncate(fd, end)
        except OSError as error:
            raise explained(error, path, "setting the torn end aside") from error

    def _used(self, feature: str) -> bool:
        try:
            extents = [self.extent(feature, writer) for writer in self.writers(feature)]
        except Refusal:
            return True  # whatever lies there, it is not nothing
        return any(extent is not None and extent.end for extent in extents)

    def _writable(self, feature: str, path: str, expected: Extent | None) -> tuple[int, Extent]:
        """A descriptor for appending to the very file that has the name now, and its extent.

        A file gets its first byte only after its name is durable, so that every later append needs one sync alone.
        """
        held = self._open.get(path)
        if held is not None and expected is not None and expected.end and held[1] == expected.identity:
            return held[0], expected
        try:
            self._close(path)
            folder = f"{self._folder}/{feature}"
            make_folders(self._files, folder)
            fd = self._files.open(path, _APPEND, 0o600)
            status = self._files.fstat(fd)
            extent = Extent((status.st_dev, status.st_ino), status.st_size)
            self._open[path] = (fd, extent.identity)
            if not extent.end:  # new, or made by a process that died before it could settle the name
                sync_folders(self._files, folder, self._top)
        except OSError as error:
            raise explained(error, path, "opening for writing") from error
        if expected is not None and expected != extent:
            raise Refusal(
                "disk.failed", f"{path} changed while it was locked; nothing was recorded", "repeat the command"
            )
        return fd, extent

    def _undone(self, path: str, end: int, error: OSError) -> Refusal:
        """After a failed write or sync: take the bytes back through a fresh descriptor, and say what is known.

        The old descriptor is never synced again: after a failed fsync the kernel may call the lost pages clean.
        """
        self._close(path)
        refusal = explained(error, path, "recording")
        try:
            fd = self._files.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                self._files.truncate(fd, end)
            finally:
                self._files.close(fd)
            told = f"{refusal.message}; nothing was recorded"
        except OSError:
            told = f"{refusal.message}; it may stand in the file, and is not acknowledged"
        return Refusal(refusal.code, told, refusal.hint, refusal.where)

    def _close(self, path: str) -> None:
        held = self._open.pop(path, None)
        if held is not None:
            release(self._files, held[0])

    def close(self) -> None:
        """Let all descriptors go."""
        for path in list(self._open):
            self._close(path)
