"""A foreign file or folder, read with suspicion: sizes, numbers and links are looked at before anything is parsed.

No link leads out of it, nothing that is no regular file is waited for, and all that is read together has a bound.
Nothing here writes.
"""

from __future__ import annotations

import os
import stat as modes

from tallystick.errors import Refusal, Where
from tallystick.ids import escaped, shown
from tallystick.limits import IMPORT_BYTES, IMPORT_FILES, INPUT_FILE
from tallystick.system.durable import each_entry, read_file
from tallystick.system.files import Files


class TooMuch(Refusal):
    """The source as a whole is larger than an import looks at."""

    def __init__(self, said: str, what: str) -> None:
        super().__init__(
            "input.too_large",
            f"{shown(said)} holds more than {what}",
            "import its features one by one, each by its own folder",
        )


_OUTSIDE = "leads outside the source by a symbolic link"


class Source:
    """One source, named as the user named it. `real` is where it lies; `place_of` the labels of what was read."""

    def __init__(self, files: Files, path: str, said: str) -> None:
        """Raises `Refusal` "input.unreadable" where nothing is there, or neither a file nor a folder."""
        self._files = files
        self.said = said
        if not said:  # a shell variable that nobody set, say: never the folder one happens to stand in
            raise Refusal("usage", "the source names nothing", "name a folder or a file that exists")
        try:
            self.real = files.realpath(path)
            mode = files.stat(self.real).st_mode
        except (OSError, ValueError):
            raise Refusal(
                "input.unreadable", f"{shown(said)} is not there", "name a folder or a file that exists"
            ) from None
        if not modes.S_ISDIR(mode) and not modes.S_ISREG(mode):
            raise Refusal(
                "input.unreadable", f"{shown(said)} is neither a folder nor a regular file", "name one of these"
            )
        self.is_folder = modes.S_ISDIR(mode)
        self.name = os.path.basename(self.real)
        self._top = self.real if self.is_folder else os.path.dirname(self.real)
        self.parent = os.path.basename(os.path.dirname(self.real))
        self.grandparent = os.path.basename(os.path.dirname(os.path.dirname(self.real)))
        self._seen = self._read = self._bytes = 0
        self._places: dict[str, str] = {}

    def path(self, inner: str) -> str:
        """The real path of what lies at `inner` below the source's folder."""
        return self._files.realpath(os.path.join(self._top, inner) if inner else self._top)

    def place_of(self, label: str) -> str:
        """The real path of what was read and named so, "" for nothing."""
        return self._places.get(label, "")

    def beside(self, inner: str) -> str:
        """What the user would type to name that place of the source."""
        return os.path.join(self.said, inner) if inner else self.said

    def label(self, inner: str) -> str:
        """How a file of the source is named: with the source's own name, and bytes that are no UTF-8 escaped."""
        top = os.path.basename(self._top) if self.is_folder else ""
        name = "/".join(filter(None, (top, inner)))
        return escaped(os.fsencode(name).decode("utf-8", "backslashreplace"))

    def names(self, inner: str) -> list[str]:
        """What lies in a folder of the source, sorted; nothing where there is none.

        Raises `Refusal` "input.unreadable" where it leads outside, `TooMuch`.
        """
        path = self.path(inner)
        if not self._inside(path):
            label = self.label(inner)
            raise Refusal("input.unreadable", f"{label} {_OUTSIDE}", "take it out of the source", Where(label))
        try:
            found = each_entry(self._files, path, lambda name: True)
        except Refusal as refusal:
            if isinstance(refusal.__cause__, NotADirectoryError):
                return []
            raise
        self._seen += len(found) if inner else 0  # a project's own top folder may hold whatever it likes
        if self._seen > IMPORT_FILES:
            raise TooMuch(self.said, f"{IMPORT_FILES:,} files where stores lie")
        return found

    def has(self, inner: str) -> bool:
        """Whether anything of that name is there, whatever it is."""
        try:
            self._files.lstat(os.path.join(self._top, inner))
        except (OSError, ValueError):
            return False
        return True

    def read(self, inner: str) -> bytes | None:
        """The bytes of one file, None where there is none. Raises `Refusal` with the file's label, `TooMuch`."""
        label = self.label(inner)
        self._places[label] = self.path(inner)
        try:
            data = read_file(self._files, os.path.join(self._top, inner), INPUT_FILE, within=self._top)
        except Refusal as refusal:
            reason = _OUTSIDE if refusal.code == "evidence.outside" else ""
            tail = reason or refusal.message.partition(os.path.join(self._top, inner))[2].strip() or refusal.message
            code = "input.unreadable" if reason else refusal.code
            raise Refusal(code, f"{label} {tail}", "take it out of the source", Where(label)) from None
        self._read += 1
        self._bytes += len(data or b"")
        if self._read > IMPORT_FILES or self._bytes > IMPORT_BYTES:
            raise TooMuch(self.said, f"{IMPORT_FILES:,} files or {IMPORT_BYTES:,} bytes to import")
        return data

    def _inside(self, path: str) -> bool:
        return path == self._top or path.startswith(self._top.rstrip("/") + "/")
