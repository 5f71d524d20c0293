"""Bytes kept by digest: `blobs/<aa>/<digest>`. A blob is written once, synced, and never changed.

Who reads one gets the very bytes of its name or a finding; a damaged blob is written anew when the bytes turn up
again.
"""

from __future__ import annotations

import os

from tallystick import canonical
from tallystick.errors import Refusal, Where
from tallystick.limits import CITED_FILE, SHARED_BLOB
from tallystick.system.durable import drop, make_folders, read_file, spare, sync_folder, sync_folders, write_all
from tallystick.system.faults import explained
from tallystick.system.files import Files

_DIGITS, _HEX = 64, frozenset("0123456789abcdef")


class Blobs:
    """The blobs of one store."""

    __slots__ = ("_durable", "_files", "_folder", "_laid_out", "_shared", "_spares")

    def __init__(self, files: Files, folder: str, spares: str, shared: str = "") -> None:
        """`spares` is a folder of the same file system, for blobs that are not in place yet.

        `shared` is a folder in the work tree where another copy may have left small ones; it is only read.
        """
        self._shared = shared
        self._files = files
        self._folder = folder
        self._spares = spares
        self._laid_out = False
        self._durable: set[str] = set()  # kept by this process

    def path(self, digest: str) -> str:
        """Where the blob of this digest lies."""
        return f"{self._folder}/{digest[:2]}/{digest}"

    def keep(self, data: bytes) -> str:
        """Keep `data`; its digest. The bytes survive a power cut when this returns."""
        digest = canonical.sha256(data)
        path = self.path(digest)
        folder = os.path.dirname(path)
        self._lay_out()
        if self.get(digest) is not None:
            if digest not in self._durable:
                self._settle(path)  # whoever wrote it may have died before the bytes or the name were durable
                self._durable.add(digest)
            return digest
        beside = spare(self._spares)
        make_folders(self._files, self._spares)
        try:
            fd = self._files.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                write_all(self._files, fd, data)
                self._files.fsync(fd)
            finally:
                self._files.close(fd)
            self._files.rename(beside, path)
            sync_folder(self._files, folder)
        except OSError as error:
            drop(self._files, beside)
            raise explained(error, path, "keeping the evidence") from error
        self._durable.add(digest)
        return digest

    def _lay_out(self) -> None:
        """Have all 256 folders, durably, before the first blob of this process: then each blob syncs its own alone.

        A process that died here may have left them undurable, so that they exist proves nothing.
        """
        if self._laid_out:
            return
        make_folders(self._files, self._folder)
        try:
            for number in range(256):
                self._make(f"{self._folder}/{number:02x}")
            sync_folders(self._files, self._folder, os.path.dirname(self._folder))
        except OSError as error:
            raise explained(error, self._folder, "making the folders of the evidence") from error
        self._laid_out = True

    def _make(self, folder: str) -> None:
        try:
            self._files.mkdir(folder)
        except FileExistsError:
            return

    def _settle(self, path: str) -> None:
        try:
            fd = self._files.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                self._files.fsync(fd)
            finally:
                self._files.close(fd)
            sync_folders(self._files, os.path.dirname(path), os.path.dirname(self._folder))
        except OSError as error:
            raise explained(error, path, "keeping the evidence") from error

    def get(self, digest: str) -> bytes | None:
        """The bytes of `digest`, None when they are not here or are not those bytes any more."""
        return self._verified(self._folder, digest, CITED_FILE)

    def find(self, digest: str) -> bytes | None:
        """As `get`, and also where another copy of the repository left small ones; the digest decides either way."""
        data = self.get(digest)
        if data is None and self._shared:
            data = self._verified(self._shared, digest, SHARED_BLOB)
        return data

    def small(self, digest: str, most: int) -> bytes | None:
        """The bytes of `digest` if they are here and at most `most`."""
        return self._verified(self._folder, digest, most)

    def _verified(self, folder: str, digest: str, most: int) -> bytes | None:
        if len(digest) != _DIGITS or not _HEX.issuperset(digest):
            return None  # somebody else's list may name anything, a path too
        try:
            data = read_file(self._files, f"{folder}/{digest[:2]}/{digest}", most)
        except Refusal:
            return None
        return data if data is not None and canonical.sha256(data) == digest else None

    def broken(self, digest: str) -> Refusal | None:
        """Why the blob of `digest` cannot be had, None when it is whole."""
        path = self.path(digest)
        if self.get(digest) is not None:
            return None
        return Refusal(
            "journal.damaged",
            f"{path} is gone or no longer has the bytes of its name",
            "put the file back from a backup, or cite and pass the criterion again",
            Where(path),
        )
