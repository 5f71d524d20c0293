"""What a tree's files were when they were last read: a cache, so that a mark does not read a hundred outputs again.

An entry is believed while the file's stat is the same, and only if the file had been at rest when the cache was
written. It can be lost at any time: then the files are read again.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.limits import INPUT_FILE
from tallystick.system.durable import make_folders, read_file, replace_file, spare
from tallystick.system.files import Files

#: A file that changed this shortly before the cache was written may change again within one tick of its time stamp.
_RACY_NS = 100_000_000
#: Grows when another rule says what is a valid output: then what was refused is looked at again.
_VERSION = 1

#: (modification time, change time, size, inode): what tells that a file is the one that was read.
Identity = tuple[int, int, int, int]


class Sighting(NamedTuple):
    """One file as it was read: the digest of its bytes, and whether they are no valid output."""

    identity: Identity
    digest: str
    invalid: bool


class Sightings:
    """The files of one folder in one tree. `keep` writes what was seen; nothing else writes."""

    def __init__(self, files: Files, store: str, folder: str) -> None:
        self._files = files
        name = canonical.sha256(os.fsencode(folder))[:32]
        self._path = f"{store}/cache/outputs/{name}"
        self._spare = f"{store}/tmp"
        self._rows: dict[str, Sighting] = {}
        self._written = 0
        self._changed = False
        self._load()

    def at_rest(self, name: str, identity: Identity) -> Sighting | None:
        """What the file of that name is, if it is the very one that was read."""
        row = self._rows.get(name)
        if row is None or row.identity != identity:
            return None
        return row if max(identity[0], identity[1]) < self._written - _RACY_NS else None

    def last(self, name: str) -> str:
        """The digest that the file of that name had when it was last read, "" where it was not."""
        row = self._rows.get(name)
        return row.digest if row is not None else ""

    def note(self, name: str, identity: Identity, digest: str, invalid: bool) -> None:
        """Remember what was read; also what was read before, so that it counts as at rest by now."""
        self._rows[name] = Sighting(identity, digest, invalid)
        self._changed = True

    def keep(self, names: set[str]) -> None:
        """Write what is new, for the names that are still there. That it cannot be written is no harm."""
        if not self._changed:
            return
        rows = {name: list(row) for name, row in self._rows.items() if name in names}
        try:
            data = canonical.encode([_VERSION, rows])
            make_folders(self._files, os.path.dirname(self._path))
            make_folders(self._files, self._spare)
            replace_file(self._files, self._path, data, sync=False, beside=spare(self._spare))
        except (Refusal, ValueError):
            return
        self._changed = False

    def _load(self) -> None:
        try:
            self._written = self._files.stat(self._path).st_mtime_ns
            data = read_file(self._files, self._path, INPUT_FILE)
            version, rows = canonical.parse(data or b"", self._path)
            if version == _VERSION:
                for name, (identity, digest, invalid) in rows.items():
                    self._rows[name] = Sighting((*identity,), str(digest), bool(invalid))
        except (OSError, Refusal, ValueError, TypeError, AttributeError):
            self._rows.clear()
