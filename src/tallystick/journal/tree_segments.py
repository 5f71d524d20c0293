"""Where segments are read: in the work tree, and in the tree of HEAD where the work tree may not show them (D3).

HEAD is asked in a bare repository, in a sparse checkout, and where the folder is gone from a tree whose index has it.
A file is opened only inside the tree, whatever links lead there, and nothing is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

from tallystick.errors import Refusal
from tallystick.ids import is_feature_id
from tallystick.journal.segments import FOLDER, is_segment
from tallystick.limits import SEGMENT_FILE, SEGMENT_HEAD
from tallystick.system.durable import each_entry, read_file
from tallystick.system.files import Files

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class Commit(Protocol):
    """What git can tell of the commit that is checked out."""

    def names_below(self, folder: str) -> list[str]: ...
    def content(self, path: str) -> bytes | None: ...


class TreeSegments:
    """The segments of one work tree ("" = none, as in a bare repository: HEAD alone)."""

    def __init__(self, files: Files, tree: str, commit: Commit, hidden: Callable[[], bool]) -> None:
        """`hidden` says whether the work tree may lack what HEAD has."""
        self._files = files
        self._tree = tree
        self._folder = f"{tree}/{FOLDER}" if tree else ""
        self._commit = commit
        self._is_hidden = hidden
        self._hidden: dict[str, tuple[str, ...]] | None = None

    def features(self) -> list[str]:
        """Every feature that some segment speaks of."""
        found = [name for name in self._entries(self._folder, is_feature_id) if self.names(name)]
        return sorted({*found, *self._in_head()})

    def names(self, feature: str) -> tuple[str, ...]:
        """The names of a feature's segments, sorted."""
        here = self._entries(f"{self._folder}/{feature}", is_segment) if self._folder else []
        return tuple(sorted({*here, *self._in_head().get(feature, ())}))

    def head(self, feature: str, name: str) -> bytes:
        """The first line of a segment, without its LF; all of a file without one."""
        path = self.path(feature, name)
        try:
            fd = self._files.open(path, _READ)
        except OSError:
            return self.read(feature, name).partition(b"\n")[0]
        try:
            return self._files.pread(fd, SEGMENT_HEAD, 0).partition(b"\n")[0]
        except OSError:
            return b""
        finally:
            self._files.close(fd)

    def read(self, feature: str, name: str) -> bytes:
        """A segment's bytes. Raises `Refusal` for what is no regular file, lies outside, or is too large."""
        data = None
        if self._folder:
            data = read_file(self._files, self.path(feature, name), SEGMENT_FILE, within=self._tree)
        if data is None and name in self._in_head().get(feature, ()):
            data = self._commit.content(f"{FOLDER}/{feature}/{name}")
        return data if data is not None else b""

    def path(self, feature: str, name: str) -> str:
        """The segment's path, for messages."""
        return f"{self._folder or FOLDER}/{feature}/{name}"

    def _in_head(self) -> dict[str, tuple[str, ...]]:
        if self._hidden is None:
            found: dict[str, list[str]] = {}
            for path in self._commit.names_below(FOLDER) if self._is_hidden() else ():
                feature, _, name = path.removeprefix(f"{FOLDER}/").partition("/")
                if is_feature_id(feature) and is_segment(name):
                    found.setdefault(feature, []).append(name)
            self._hidden = {feature: tuple(names) for feature, names in found.items()}
        return self._hidden

    def _entries(self, folder: str, wanted: Callable[[str], bool]) -> list[str]:
        if not folder:
            return []
        try:
            return each_entry(self._files, folder, wanted)
        except Refusal as refusal:
            if isinstance(refusal.__cause__, NotADirectoryError):
                return []
            raise
