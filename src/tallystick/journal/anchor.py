"""The anchor: where the user's half remembers how far a journal file had grown (D1, D6, promise P11).

One file for each writer and feature with two slots of fixed size, each with a check sum. A commit writes one slot in
place, the one its place number's parity names, so a torn write spoils at most one and the other still stands. It is
written after the journal is synced and is not synced itself: it can lag behind the journal, never run ahead of it.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from tallystick import canonical
from tallystick.ids import is_feature_id
from tallystick.journal.record import FIRST
from tallystick.system.durable import make_folders, release
from tallystick.system.faults import explained
from tallystick.system.files import Files

SLOT = 128


class Anchor(NamedTuple):
    """The place and the id of the last record that was acknowledged here."""

    i: int
    id: str


def encode_slot(anchor: Anchor) -> bytes:
    """One slot: place, id, check sum, padded to `SLOT` bytes and ended by LF so that a person can read it."""
    body = f"{anchor.i:016d} {anchor.id}"
    return f"{body} {canonical.sha256(body.encode())[:16]}".ljust(SLOT - 1).encode() + b"\n"


def decode(data: bytes) -> Anchor | None:
    """The later of the slots that are whole; None when neither is: then there is no anchor, and no alarm."""
    whole: list[Anchor] = []
    for start in (0, SLOT):
        fields = data[start : start + SLOT].decode("ascii", "replace").split()
        if len(fields) != 3 or not fields[0].isdigit() or len(fields[1]) != len(FIRST):
            continue
        anchor = Anchor(int(fields[0]), fields[1])
        if encode_slot(anchor) == data[start : start + SLOT]:
            whole.append(anchor)
    return max(whole, default=None)


class Anchors:
    """All anchors of one user's half: `anchors/<writer>/<feature>`."""

    __slots__ = ("_files", "_folder", "_open")

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._folder = folder
        self._open: dict[str, int] = {}

    def read(self, writer: str, feature: str) -> Anchor | None:
        """What is remembered, None when nothing is (a new place, two bad slots, or a home that may not be read).

        Raises `Refusal` where the disk failed: what it could not give is not forgotten, and a roll-back would hide.
        """
        path = self._path(writer, feature)
        try:
            fd = self._files.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return None
        except OSError as error:
            raise explained(error, path, "reading the anchor") from error
        try:
            data = self._files.pread(fd, 2 * SLOT, 0)
            while len(data) < 2 * SLOT and (piece := self._files.pread(fd, 2 * SLOT - len(data), len(data))):
                data += piece
        except OSError as error:
            raise explained(error, path, "reading the anchor") from error
        finally:
            release(self._files, fd)
        return decode(data)

    def ready(self, writer: str, feature: str) -> None:
        """Open the anchor for writing, so that a home that cannot be written refuses before anything is recorded."""
        path = self._path(writer, feature)
        if path in self._open:
            return
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            try:
                fd = self._files.open(path, flags, 0o600)
            except FileNotFoundError:
                make_folders(self._files, os.path.dirname(path))
                fd = self._files.open(path, flags, 0o600)
        except OSError as error:
            raise explained(error, path, "opening the anchor") from error
        self._open[path] = fd

    def write(self, writer: str, feature: str, anchor: Anchor) -> bool:
        """Remember `anchor`; False when the disk refused, which takes nothing from what the journal holds."""
        try:
            self._files.pwrite(self._open[self._path(writer, feature)], encode_slot(anchor), anchor.i % 2 * SLOT)
        except OSError:
            return False
        return True

    def restart(self, writer: str, feature: str, anchor: Anchor) -> None:
        """Let both slots name `anchor`, the only step backwards there is: a person accepted a roll-back."""
        data = encode_slot(anchor)
        try:
            self._files.pwrite(self._open[self._path(writer, feature)], data + data, 0)
        except OSError as error:
            raise explained(error, self._path(writer, feature), "writing the anchor") from error

    def features(self, writer: str) -> list[str]:
        """Every feature this writer has an anchor for: a file that is gone as a whole is a roll-back too.

        Names that begin with an underscore are the store's own; what cannot be a feature's is none of ours.
        Empty where this home may not be read. Raises `Refusal` where the disk failed.
        """
        path = f"{self._folder}/{writer}"
        try:
            names = sorted(self._files.listdir(path))
            return [name for name in names if name[:1] == "_" or is_feature_id(name)]
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return []
        except OSError as error:
            raise explained(error, path, "listing the anchors") from error

    def close(self) -> None:
        """Let all descriptors go."""
        for fd in self._open.values():
            release(self._files, fd)
        self._open.clear()

    def _path(self, writer: str, feature: str) -> str:
        return f"{self._folder}/{writer}/{feature}"
