"""The folder where the seed looks for a feature's outputs, manifest and board: `.jonggrang/.output/features/<feature>`.

What we write there is a view: atomic, not synced, made anew from the journal. A file that somebody else changed since
is named and its bytes are kept by digest, secrets masked, before it is replaced. A link inside the project is followed;
one that leads outside is refused, and what is no regular file is left as it is.
"""

from __future__ import annotations

import os
import stat as modes
from typing import Any

from tallystick import canonical
from tallystick.errors import Refusal, Where
from tallystick.ids import is_feature_id, shown
from tallystick.journal.store import Store
from tallystick.limits import INPUT_FILE
from tallystick.system.durable import each_entry, make_folders, read_file, replace_file
from tallystick.system.files import Files

FEATURES = ".jonggrang/.output/features"


def place_of(feature: str) -> str:
    """The folder's path from the project's top."""
    return f"{FEATURES}/{feature}"


def features(files: Files, tree: str) -> list[str]:
    """The features that have such a folder in a work tree ("" = none), with anything in it or not; sorted."""
    try:
        return each_entry(files, f"{tree}/{FEATURES}", is_feature_id) if tree else []
    except Refusal as refusal:
        if isinstance(refusal.__cause__, NotADirectoryError):
            return []
        raise


def without_secrets(data: bytes) -> bytes:
    """Bytes of any kind with secrets of known shapes masked: what is kept of a file that others made."""
    from tallystick.masking.secrets import masked  # most marks replace no file

    return masked(data.decode("utf-8", "surrogateescape")).text.encode("utf-8", "surrogateescape")


class Folder:
    """One feature's folder in one work tree ("" = none, as in a bare repository: nothing is there, nothing is put)."""

    def __init__(self, files: Files, tree: str, store: Store[Any], feature: str) -> None:
        self._files = files
        self._tree = tree
        self._store = store
        self._feature = feature
        self.path = f"{tree}/{place_of(feature)}" if tree else ""

    def names(self) -> list[str]:
        """The names of what lies there, sorted; of any kind, ours or not."""
        if not self.path:
            return []
        try:
            return each_entry(self._files, self.path, lambda name: True)
        except Refusal as refusal:
            if isinstance(refusal.__cause__, NotADirectoryError):
                return []
            raise

    def read(self, name: str, most: int = INPUT_FILE) -> bytes | None:
        """The bytes of one file, None where there is none.

        Raises `Refusal` for what is no regular file, leads outside the project, or is larger than `most`.
        """
        if not self.path:
            return None
        return read_file(self._files, f"{self.path}/{name}", most, within=self._tree)

    def exists(self) -> bool:
        """Whether there is such a folder."""
        try:
            return bool(self.path) and modes.S_ISDIR(self._files.stat(self.path).st_mode)
        except OSError:
            return False

    def is_free(self, name: str) -> bool:
        """Whether nothing has this name there, not even a link that leads nowhere."""
        try:
            self._files.lstat(f"{self.path}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            return True
        except (OSError, ValueError):
            return False
        return False

    def stat(self, name: str) -> tuple[int, int, int, int] | None:
        """(modification and change time in ns, size, inode) of a regular file there; None for anything else."""
        try:
            status = self._files.stat(f"{self.path}/{name}")
        except (OSError, ValueError):
            return None
        if not modes.S_ISREG(status.st_mode):
            return None
        return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino

    def put_over(self, name: str, data: bytes, known: frozenset[str]) -> bool:
        """Have `data` in the file `name`, unless bytes lie there whose digest is not `known`: those stay. Whether so.

        Raises `Refusal` "store.place" where links lead outside or no regular file lies there.
        """
        if not self.path:
            return False
        self._guard(name)
        old = self.read(name)
        if old is not None and old != data and canonical.sha256(old) not in known:
            return False
        if old != data:
            self._replace(name, data)
        return True

    def put(self, name: str, data: bytes) -> tuple[str, ...]:
        """Have `data` in the file `name`; what was lost from sight, as notes.

        Raises `Refusal` "store.place" where links lead outside or no regular file lies there.
        """
        if not self.path:
            return ()
        self._guard(name)
        digest = canonical.sha256(data)
        old = self.read(name, 4 * INPUT_FILE)
        if old == data:
            self._remember(name, digest)
            return ()
        notes: tuple[str, ...] = ()
        before = self._remembered(name)
        if old is not None and old.strip(b"\0 \t\r\n") and canonical.sha256(old) != before:
            kept = self._store.blobs.keep(without_secrets(old))
            what = "was changed by hand" if before else "was not written from here"  # a tree that was moved, say
            says = f"{place_of(self._feature)}/{name} {what} and written anew"
            notes = (f"{says}; its old bytes are kept as sha256:{kept}",)
        self._replace(name, data)
        self._remember(name, digest)
        return notes

    def _replace(self, name: str, data: bytes) -> None:
        make_folders(self._files, self.path, 0o755)
        replace_file(
            self._files, f"{self.path}/{name}", data, mode=0o644, sync=False, beside=f"{self.path}/.{name}.tmp"
        )

    def is_edited(self, name: str) -> bool:
        """Whether somebody changed the file since we put it there; False where nothing remembers what we put."""
        put = self._remembered(name)
        if not put:
            return False
        try:
            data = self.read(name, 4 * INPUT_FILE)
        except Refusal:
            return True
        return data is not None and canonical.sha256(data) != put

    def is_ours(self, name: str, data: bytes) -> bool:
        """Whether these bytes are what we put there last."""
        return canonical.sha256(data) == self._remembered(name)

    def _guard(self, name: str) -> None:
        for path in (self.path, f"{self.path}/{name}"):
            real = self._files.realpath(path)
            if real != path and not real.startswith(self._tree.rstrip("/") + "/"):
                raise Refusal(
                    "store.place",
                    f"{path} leads outside the project by a symbolic link; it was not written",
                    "look at what lies there; the journal is not touched by it",
                    Where(path),
                )
        try:
            mode = self._files.stat(f"{self.path}/{name}").st_mode
        except OSError:
            return
        if not modes.S_ISREG(mode):
            raise Refusal(
                "store.place",
                f"{shown(name)} in {place_of(self._feature)} is no regular file and was left as it is",
                "look at what lies there; the journal is not touched by it",
                Where(f"{self.path}/{name}"),
            )

    def _receipt(self, name: str) -> str:
        tree = canonical.sha256(os.fsencode(f"{self._tree}\0{self._feature}\0{name}"))[:32]
        return f"{self._store.root.folder}/cache/handoff/{tree}"

    def _remembered(self, name: str) -> str:
        try:
            data = read_file(self._files, self._receipt(name), 4096)
        except Refusal:
            return ""
        return (data or b"").decode("ascii", "replace")

    def _remember(self, name: str, digest: str) -> None:
        if self._remembered(name) != digest:
            path = self._receipt(name)
            make_folders(self._files, os.path.dirname(path))
            replace_file(self._files, path, digest.encode(), sync=False, beside=f"{path}.tmp")
