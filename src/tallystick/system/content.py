"""What lies at a path of a work tree right now: kind, size, digest, read once, in pieces and without waiting.

Pipes, sockets and devices are looked at and never opened. Nothing is followed: neither a link at the end of the path
nor one on the way (git too takes what lies behind such a link for gone).
"""

from __future__ import annotations

import os
import stat as modes
from typing import NamedTuple

from tallystick import canonical
from tallystick.system.durable import CHUNK, release
from tallystick.system.files import Files
from tallystick.system.listing import LINK, SUBMODULE
from tallystick.system.similarity import is_text


class Lies(NamedTuple):
    """What lies there. `mode` as git writes it, None for what git cannot hold (a pipe, a device).

    `size` in bytes and `digest` (SHA-256) are over the raw bytes, of a link over its text; of a submodule the digest
    is its commit. Both are over what was read, also when somebody writes meanwhile. None where it may not be read.
    `id` is what git calls these bytes, "" when that is not known; `lines` counts those of a text. `returns`: it holds
    carriage returns, so that git may store it otherwise.
    """

    mode: str | None
    size: int | None = None
    digest: str | None = None
    id: str = ""
    lines: int | None = None
    returns: bool = False


class Looker:
    """Looks at the paths of one tree; `length` (40 or 64) is that of git's ids there."""

    __slots__ = ("_files", "_folders", "_length", "_top")

    def __init__(self, files: Files, top: str, length: int) -> None:
        self._files = files
        self._top = top
        self._length = length
        self._folders: dict[str, bool] = {}

    def look(self, path: str) -> Lies | None:
        """What lies there; None for nothing, and for what lies behind a link. A folder reads as a submodule's."""
        whole = f"{self._top}/{path}"
        try:
            mode = self._files.lstat(whole).st_mode
            if not self._inside(os.path.dirname(whole)):
                return None
            if modes.S_ISLNK(mode):
                return self._link(whole)
        except OSError:
            return None
        if modes.S_ISDIR(mode):
            return Lies(SUBMODULE)
        return self._regular(whole) if modes.S_ISREG(mode) else Lies(None)

    def _inside(self, folder: str) -> bool:
        """Whether no link stands in for the folder, or for one above it in the tree."""
        if len(folder) <= len(self._top):
            return True
        if folder not in self._folders:
            is_folder = modes.S_ISDIR(self._files.lstat(folder).st_mode)
            self._folders[folder] = is_folder and self._inside(os.path.dirname(folder))
        return self._folders[folder]

    def _link(self, whole: str) -> Lies:
        text = os.fsencode(self._files.readlink(whole))
        return Lies(LINK, len(text), canonical.sha256(text), canonical.git_object("blob", text, self._length))

    def _regular(self, whole: str) -> Lies | None:
        try:
            fd = self._files.open(whole, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError:
            return self._unread(whole)
        try:
            return self._read(fd)
        except OSError:
            return self._unread(whole)
        finally:
            release(self._files, fd)

    def _read(self, fd: int) -> Lies:
        status = self._files.fstat(fd)
        if not modes.S_ISREG(status.st_mode):  # another thing since we looked
            return Lies(None)
        digest = canonical.hasher()
        ours = canonical.git_hasher("blob", status.st_size, self._length)
        size, lines, last, text, returns = 0, 0, b"\n", True, False
        while piece := self._files.read(fd, CHUNK):  # until its end, whatever its size was
            text = text and (size > 0 or is_text(piece))
            digest.update(piece)
            ours.update(piece)
            size += len(piece)
            returns = returns or b"\r" in piece
            lines += piece.count(b"\n")
            last = piece[-1:]
        known = ours.hexdigest() if size == status.st_size else ""
        counted = lines + (last != b"\n") if text else None
        return Lies(_mode(status.st_mode), size, digest.hexdigest(), known, counted, returns)

    def _unread(self, whole: str) -> Lies | None:
        try:
            status = self._files.lstat(whole)
        except OSError:
            return None
        return Lies(_mode(status.st_mode), status.st_size) if modes.S_ISREG(status.st_mode) else Lies(None)


def _mode(mode: int) -> str:
    return "100755" if mode & 0o100 else "100644"
