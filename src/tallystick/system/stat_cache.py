"""What the files of one work tree were when they were last read, so that they are not read again.

An entry is believed while everything that the file system says of the file is the same, and only if the file had been
at rest when it was read: a change within one tick of the time stamps would not show. Losing it is harmless; whoever
wants certainty reads without it.
"""

from __future__ import annotations

import os

from tallystick.errors import Refusal
from tallystick.limits import JOURNAL_FILE
from tallystick.system.durable import make_folders, read_file, replace_file, spare
from tallystick.system.files import Files, Stat

#: A file that changed this shortly before it was read may change again within one tick of its time stamp.
_RACY_NS = 100_000_000
_VERSION = b"tallystick stat 1"


def stamp(status: Stat) -> bytes:
    """Everything by which a change of the file would show."""
    return b"%d %d %o %d %d %d" % (
        status.st_dev,
        status.st_ino,
        status.st_mode,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def at_rest(status: Stat, now_ns: int) -> bool:
    """Whether a change after `now_ns` (wall clock) would get another time stamp."""
    return max(status.st_mtime_ns, status.st_ctime_ns) < now_ns - _RACY_NS


class StatCache:
    """Object ids by name and stamp, and one tree id by the digest of the rows that it stands for.

    Unless `believe`, nothing is known, and what is read is remembered all the same.
    """

    __slots__ = ("_before", "_files", "_path", "_rows")

    def __init__(self, files: Files, path: str, *, believe: bool) -> None:
        self._files = files
        self._path = path
        self._rows: dict[bytes, tuple[bytes, str]] = {}
        self._before = self._load() if believe else ((b"", ""), {})

    def known(self, name: bytes, stamp: bytes) -> str | None:
        """The id of the file, if it is the very one that was read."""
        row = self._before[1].get(name)
        if row is None or row[0] != stamp:
            return None
        self._rows[name] = row
        return row[1]

    def note(self, name: bytes, stamp: bytes, object_id: str) -> None:
        """Remember a file that was at rest."""
        self._rows[name] = (stamp, object_id)

    def tree_of(self, rows: str) -> str | None:
        """The tree that was made of the rows with that digest last time."""
        digest, tree = self._before[0]
        return tree if digest == rows.encode() else None

    def keep(self, rows: str, tree: str) -> None:
        """Write it when something is new; only what was asked for this time stays. That it cannot is no harm."""
        made = (rows.encode(), tree)
        if (made, self._rows) == self._before:
            return
        fields = [_VERSION, made[0], tree.encode()]
        for name, (row_stamp, object_id) in self._rows.items():
            fields += (name, row_stamp, object_id.encode())
        try:
            folder = os.path.dirname(self._path)
            make_folders(self._files, folder)
            replace_file(self._files, self._path, b"\0".join(fields), sync=False, beside=spare(folder))
        except Refusal:
            return

    def _load(self) -> tuple[tuple[bytes, str], dict[bytes, tuple[bytes, str]]]:
        nothing: tuple[tuple[bytes, str], dict[bytes, tuple[bytes, str]]] = ((b"", ""), {})
        try:
            fields = (read_file(self._files, self._path, JOURNAL_FILE) or b"").split(b"\0")
        except Refusal:
            return nothing
        if fields[0] != _VERSION or len(fields) % 3 or not all(map(_is_id, fields[2::3])):
            return nothing
        ids = [field.decode() for field in fields[2::3]]
        stamps = zip(fields[4::3], ids[1:], strict=True)
        return (fields[1], ids[0]), dict(zip(fields[3::3], stamps, strict=True))


def _is_id(field: bytes) -> bool:
    return len(field) in (40, 64) and field.isalnum()
