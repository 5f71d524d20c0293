"""The table of trusted commands in the user's half (promise P13): by place, exactly the commands that a person trusted.

A place is the real path of git's common folder, so all linked worktrees share one answer and a copy asks again. The
file is written whole, beside and in its place, synced, for its owner alone. One that cannot be read is named and
never replaced; until it is mended nothing is trusted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal, Where
from tallystick.evidence.origin import ORIGINS, Command, waits
from tallystick.ledger.permissions import denied
from tallystick.limits import TRUST_FILE
from tallystick.system.durable import make_folders, read_file, replace_file, spare
from tallystick.system.files import Files
from tallystick.system.locks import Clock, Lock

_VERSION = 1


class Trusted(NamedTuple):
    """One command that a person trusted, and when."""

    command: Command
    at: str


class TrustTable:
    """What the user's half at `home` trusts of the repository at the real path `place`."""

    def __init__(self, files: Files, home: str, place: str, clock: Clock, lock_wait_s: float) -> None:
        self._files = files
        self._home = home
        self._place = place
        self._clock = clock
        self._wait = lock_wait_s
        self.path = f"{home}/trust.json"

    def entries(self) -> list[Trusted]:
        """What is trusted here. Raises `Refusal` "trust.damaged" for a file that is there and is no such table."""
        return self._rows(self._places())

    def missing(self, commands: Sequence[Command], also: frozenset[str] = frozenset()) -> list[Command]:
        """Those of `commands` that nobody trusted here; `also` are digests that count as trusted for this call.

        Raises `Refusal` "trust.damaged". The file is read only where there is something to ask for.
        """
        left = [command for command in commands if command.digest not in also]
        known = {one.command.digest for one in self.entries()} if left else set()
        return [command for command in left if command.digest not in known]

    def require(self, commands: Sequence[Command], also: frozenset[str] = frozenset()) -> None:
        """Raise `Refusal` "trust.needed" unless all of `commands` are trusted here, or "trust.damaged"."""
        left = self.missing(commands, also)
        if left:
            raise waits(left)

    def trust(self, commands: Sequence[Command], role: str, at: str) -> None:
        """Trust exactly these commands here; durable when it returns. Only a person may.

        Raises `Refusal`: "role.denied", "trust.damaged", "home.unwritable", "lock.busy".
        """
        self._change(role, lambda rows: [*rows, *(Trusted(one, at) for one in commands)])

    def revoke(self, role: str) -> list[Command]:
        """Trust nothing here any more; the commands that were trusted. Refusals as for `trust`."""
        before = self._change(role, lambda rows: [])
        return [one.command for one in before]

    def _change(self, role: str, decide: Callable[[list[Trusted]], list[Trusted]]) -> list[Trusted]:
        """Write what `decide` makes of the rows of this place, under a lock; the rows that were there."""
        refusal = denied("trust", role)
        if refusal is not None:
            raise refusal
        self._make_home()
        lock = Lock(self._files, f"{self._home}/trust.lock", self._clock, self._wait)
        lock.acquire()
        try:
            places = self._places()
            before = self._rows(places)
            after: dict[str, Trusted] = {}
            for one in decide(before):
                after.setdefault(one.command.digest, one)
            places.pop(self._key(), None)
            if after:
                rows = [{**one.command.document(), "at": one.at} for one in after.values()]
                path = os.fsencode(self._place).decode("utf-8", "backslashreplace")
                places[self._key()] = {"path": path, "commands": rows}
            data = canonical.encode({"version": _VERSION, "places": places}) + b"\n"
            replace_file(self._files, self.path, data, sync=True, beside=spare(self._home))
        finally:
            lock.close()
        return before

    def _make_home(self) -> None:
        try:
            make_folders(self._files, self._home)
        except Refusal as refusal:
            hint = "set XDG_STATE_HOME to a folder that can be written"
            raise Refusal("home.unwritable", refusal.message, hint) from refusal

    def _places(self) -> dict[str, Json]:
        try:
            data = read_file(self._files, self.path, TRUST_FILE)
            if data is None:
                return {}
            document = canonical.parse(data, self.path)
        except Refusal as refusal:
            raise self._damaged(refusal.message.partition(";")[0]) from refusal
        if not isinstance(document, dict) or not isinstance(document.get("places"), dict):
            raise self._damaged(f"{self.path} is no table of trusted commands")
        if document.get("version") != _VERSION:
            raise self._damaged(f"{self.path} was written by another version of Tallystick")
        places: dict[str, Json] = document["places"]
        return places

    def _rows(self, places: dict[str, Json]) -> list[Trusted]:
        place = places.get(self._key(), {"commands": []})
        rows = place.get("commands") if isinstance(place, dict) else None
        if not isinstance(rows, list):
            raise self._damaged(f"{self.path} has no commands for {self._place}")
        found = [_trusted(row) for row in rows]
        if None in found:
            raise self._damaged(f"{self.path} has a command for {self._place} that is not as it was written")
        return [one for one in found if one is not None]

    def _key(self) -> str:
        return canonical.sha256(os.fsencode(self._place))[:32]

    def _damaged(self, says: str) -> Refusal:
        return Refusal(
            "trust.damaged",
            f"{says}; nothing counts as trusted",
            "put the file back from a backup, or move it aside and trust again with `tallystick trust`",
            Where(self.path),
        )


def _trusted(row: Json) -> Trusted | None:
    """One row as it was written, None for anything else: the digest is computed again, never believed."""
    if not isinstance(row, dict):
        return None
    origin, folder, at = row.get("origin"), row.get("folder"), row.get("at")
    argv, rights, names = row.get("argv", ()), row.get("rights", ()), row.get("criteria", ())
    if origin not in ORIGINS or not isinstance(folder, str) or not isinstance(at, str):
        return None
    if not (_texts(argv) and _texts(rights) and _texts(names)):
        return None
    command = Command(origin, tuple(argv), folder, tuple(rights), tuple(names))
    return Trusted(command, at) if command.digest == row.get("digest") else None


def _texts(value: Json) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)
