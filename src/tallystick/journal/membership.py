"""What belongs to no feature: who writes into a store, and what a person accepted after a look (formats 5).

Pure, but for the random bits of a new store id. These records stand in `journal/_store/`.
"""

from __future__ import annotations

import os
import re

from tallystick.canonical import Json
from tallystick.errors import Refusal, Where
from tallystick.journal.record import FORMAT, Record

MEMBERSHIP = "_store"
_STORE_ID = re.compile(rb"tallystick ([1-9][0-9]{0,5}) ([0-9a-f]{32})\n\Z")


class Membership:
    """`joined`: writer -> what it said of itself; `accepted`: marks of findings that are notes now."""

    __slots__ = ("accepted", "joined")

    def __init__(self) -> None:
        self.joined: dict[str, dict[str, Json]] = {}
        self.accepted: dict[str, str] = {}


class MembershipFold:
    """Folds `store_joined` and `rollback_accepted`; only our own acceptances count."""

    version = "1"

    def empty(self, feature: str) -> Membership:
        """Nobody joined, nothing accepted."""
        return Membership()

    def copy(self, state: Membership) -> Membership:
        """The same, in tables of its own."""
        other = Membership()
        other.joined, other.accepted = dict(state.joined), dict(state.accepted)
        return other

    def flaw(self, record: Record) -> str | None:
        """Why the record's payload is none of these."""
        for name in ("earlier", "marks"):
            rows = record.data.get(name, [])
            if not isinstance(rows, list) or not all(isinstance(row, str) for row in rows):
                return f"has no list of texts as {name}"
        return None

    def apply(self, state: Membership, record: Record, ours: bool) -> None:
        """Take one record in."""
        if record.type == "store_joined":
            state.joined[record.writer] = record.data
        elif record.type == "rollback_accepted" and ours:
            state.accepted.update(dict.fromkeys(record.data.get("marks", ()), record.at))

    def dump(self, state: Membership) -> Json:
        """For a checkpoint."""
        return [state.joined, state.accepted]

    def load(self, feature: str, data: Json) -> Membership:
        """From a checkpoint."""
        state = Membership()
        state.joined, state.accepted = data
        return state


def new_store_id() -> str:
    """A random store id: 32 hexadecimal digits."""
    return os.urandom(16).hex()


def parse_store_id(data: bytes, path: str, version: int = FORMAT) -> str:
    """The id in a `store-id` file. Raises `Refusal` "store.damaged" for anything else, "format.newer" above us."""
    found = _STORE_ID.match(data)
    if found is None:
        raise Refusal(
            "store.damaged",
            f"{path} is no store id of Tallystick (empty, cut or another program's); nothing was changed",
            "run `tallystick audit --restore` to write it anew from the records",
            Where(path),
        )
    if int(found[1]) > version:
        raise Refusal(
            "format.newer",
            f"{path} has format {int(found[1])}, this version reads {version}; nothing was changed",
            "use the newer tallystick that made it",
            Where(path),
        )
    return found[2].decode()
