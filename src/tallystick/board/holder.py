"""What one connection holds: the owner it claims as, and the fencing number of each of its claims.

A connection that stays open remembers these itself, so that an agent need not; a command line shows them each time.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from tallystick.ledger.recording import Recording


class Holder:
    """`fences`: (feature, task) -> the number its claim was given."""

    __slots__ = ("fences", "owner")

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.fences: dict[tuple[str, str], int] = {}


#: Gone with the connection's `Recording`.
_HOLDERS: WeakKeyDictionary[Recording, Holder] = WeakKeyDictionary()


def holder_of(recording: Recording) -> Holder | None:
    """What claims through `recording`, None where nothing ever did."""
    return _HOLDERS.get(recording)


def hold(recording: Recording, owner: str) -> Holder:
    """What claims through `recording` from now on, as `owner` where it has none yet."""
    return _HOLDERS.setdefault(recording, Holder(owner))
