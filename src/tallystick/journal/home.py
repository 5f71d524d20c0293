"""The user's half: the key, the anchors, and which stores were seen at which place (D6, formats 5).

The key is the capability: without it a process reads and never writes. It is made by `tallystick init` or at the
first write into a store without records, never because none is seen (a hidden folder looks empty).
"""

from __future__ import annotations

import os

from tallystick import canonical
from tallystick.errors import Refusal, Where
from tallystick.journal.anchor import Anchors
from tallystick.system.durable import (
    create_once,
    hide_from_git,
    make_folders,
    read_file,
    replace_file,
    spare,
    sweep,
    sync_folders,
)
from tallystick.system.files import Files

_KEY_BYTES = 32
_HALF = 16
#: A spare file that is older was left by a process that was killed.
SPARE_LIFE_NS = 3_600 * 10**9


class Home:
    """One user's half at `folder`."""

    __slots__ = ("_files", "_key", "anchors", "folder")

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._key: bytes | None = None
        self.folder = folder
        self.anchors = Anchors(files, f"{folder}/anchors")

    def key(self) -> bytes | None:
        """The key, None when this process cannot see one (absent, or unreadable in a sandbox).

        Raises `Refusal` "key.damaged" for a file that is there and is no key: it is never replaced.
        """
        if self._key is None:
            path = f"{self.folder}/key"
            try:
                data = read_file(self._files, path, 4096)
            except Refusal as refusal:
                if refusal.code != "input.too_large":
                    return None
                data = b""
            if data is None:
                return None
            try:
                key = bytes.fromhex(data.decode("ascii").strip())
            except ValueError:
                key = b""
            if len(key) != _KEY_BYTES:
                raise Refusal(
                    "key.damaged",
                    f"{path} is not a key of Tallystick (64 hexadecimal digits); nothing was changed",
                    "put the key back from a backup, or move the file aside and run `tallystick init` for a new one",
                    Where(path),
                )
            self._key = key
        return self._key

    def make_key(self) -> bytes:
        """The key, made now if there is none. Durable, mode 0600, when this returns."""
        key = self.key()
        if key is not None:
            return key
        try:
            make_folders(self._files, self.folder)
            hide_from_git(self._files, self.folder)
            text = os.urandom(_KEY_BYTES).hex().encode() + b"\n"
            create_once(self._files, f"{self.folder}/key", text, beside=spare(self.folder))
        except Refusal as refusal:
            hint = "set XDG_STATE_HOME to a folder that can be written"
            raise Refusal("home.unwritable", refusal.message, hint) from refusal
        key = self.key()
        if key is None:
            raise Refusal("home.unwritable", f"{self.folder}/key cannot be read back", "see its permissions")
        return key

    def settle(self, now_ns: int) -> None:
        """Make the names of this half durable, for the one time a writer joins a store; sweep what was left there."""
        sweep(self._files, self.folder, now_ns - SPARE_LIFE_NS)
        sync_folders(self._files, self.folder, os.path.dirname(os.path.dirname(self.folder)))

    def writer(self, store_id: str, real_path: str) -> str:
        """The writer id of this key at this place: the same every time, another after a move, a copy, a new home."""
        key = self._must()
        first = canonical.mac(key, "tallystick/writer/1", f"{store_id}\n{real_path}")[:_HALF]
        return first + self._proof(key, store_id, first)

    def owns(self, store_id: str, writer: str) -> bool:
        """Whether this key made that writer id, at whatever path: then all its records must verify."""
        key = self.key()
        return key is not None and canonical.same(self._proof(key, store_id, writer[:_HALF]), writer[_HALF:])

    def earlier_stores(self, real_path: str) -> list[str]:
        """Ids of all stores that this half knows to have been at this place, oldest first."""
        try:
            data = read_file(self._files, self._place_file(real_path), 1_000_000) or b""
        except Refusal:
            return []
        return data.decode("ascii", "replace").split()

    def remember_store(self, real_path: str, store_id: str) -> None:
        """Note that this store was seen at this place; durable."""
        known = self.earlier_stores(real_path)
        if store_id in known:
            return
        path = self._place_file(real_path)
        make_folders(self._files, os.path.dirname(path))
        text = "".join(f"{one}\n" for one in [*known, store_id]).encode()
        replace_file(self._files, path, text, sync=True, beside=spare(self.folder))

    def _place_file(self, real_path: str) -> str:
        return f"{self.folder}/places/{canonical.sha256(os.fsencode(real_path))[:32]}"

    def _must(self) -> bytes:
        key = self.key()
        if key is None:
            raise missing_key(self.folder)
        return key

    @staticmethod
    def _proof(key: bytes, store_id: str, first: str) -> str:
        return canonical.mac(key, "tallystick/owner/1", f"{store_id}\n{first}")[:_HALF]


def missing_key(folder: str) -> Refusal:
    """The refusal of every write where no key is seen."""
    return Refusal(
        "key.missing",
        f"this home has no key ({folder}/key), so it can read this store and not write into it",
        "run `tallystick init` outside any sandbox to make one",
    )
