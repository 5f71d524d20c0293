"""Where the settings of a project lie: read when they are asked for, and only if the file is there.

A long-lived process sees a change: the file is read again when its name, size or times differ. Nothing is written.
"""

from __future__ import annotations

import stat as modes
from typing import TYPE_CHECKING

from tallystick.canonical import Json
from tallystick.errors import Refusal, Where
from tallystick.limits import SETTINGS_FILE
from tallystick.system.durable import read_file
from tallystick.system.faults import explained
from tallystick.system.files import Files

if TYPE_CHECKING:
    from tallystick.settings import Settings

#: The digest of the effective settings of a project that has no such file: nothing is computed for it.
USUAL = "21c1c597ecf7cca6a0173dec72812a68eb98d16e8ca9f940c0e7802e56a2c17d"
#: `settings.FILE`; that module is imported only where there is something to parse.
SETTINGS = ".tallystick/config.toml"


class SettingsFile:
    """The settings of one work tree ("" = none, as in a bare repository: every key has its default)."""

    def __init__(self, files: Files, tree: str) -> None:
        self._files = files
        self._tree = tree
        self._seen: tuple[int, ...] | None = ()
        self._found: Settings | Refusal | None = None
        self._digest = ""

    def read(self) -> Settings:
        """The settings as they are now. Raises `Refusal` "settings.invalid" for a file that is there and is none."""
        from tallystick import settings

        seen = self._look()
        if seen is None:
            return settings.Settings()
        if self._found is None or seen != self._seen or modes.S_ISLNK(seen[0]):
            try:
                self._found = settings.parse(self._bytes(), settings.FILE)
            except Refusal as refusal:
                self._found = refusal
            self._seen, self._digest = seen, ""
        if isinstance(self._found, Refusal):
            raise self._found
        return self._found

    def damage(self) -> Refusal | None:
        """Why the settings cannot be read, None where they can or where there are none."""
        try:
            if self._look() is not None:
                self.read()
        except Refusal as refusal:
            return refusal
        return None

    def checked(self) -> str:
        """The policy for machine checks; that of no settings where they cannot be read. Cheap where there are none."""
        return self.read().policy.checked if self._look() is not None and self.damage() is None else "auto"

    def effective(self) -> dict[str, Json]:
        """What a check depends on beyond the tree, as it is now; that of no settings where they cannot be read."""
        from tallystick import effective, settings

        return effective.effective(settings.Settings() if self.damage() is not None else self.read())

    def digest(self) -> str | None:
        """The digest of `effective`, None where the settings cannot be read. Cheap where there are none."""
        if self.damage() is not None:
            return None
        if self._look() is None:
            return USUAL
        if not self._digest:
            from tallystick import effective

            self._digest = effective.digest(self.effective())
        return self._digest

    def default_feature(self) -> str:
        """The feature that is meant where none is named, "" where the settings do not say, or cannot be read."""
        return "" if self.damage() is not None or self._look() is None else self.read().feature

    def _look(self) -> tuple[int, ...] | None:
        """What tells one state of the file from another; None where there is none."""
        if not self._tree:
            return None
        path = f"{self._tree}/{SETTINGS}"
        try:
            status = self._files.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _refused(explained(error, path, "looking there").message) from error
        return status.st_mode, status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns

    def _bytes(self) -> bytes:
        try:
            data = read_file(self._files, f"{self._tree}/{SETTINGS}", SETTINGS_FILE, within=self._tree)
        except Refusal as refusal:
            raise _refused(refusal.message) from refusal
        if data is None:
            raise _refused(f"{SETTINGS} is a symbolic link that leads nowhere")
        return data


def _refused(says: str) -> Refusal:
    hint = f"put a plain file at {SETTINGS}; every key in it is optional"
    return Refusal("settings.invalid", says, hint, Where(SETTINGS))
