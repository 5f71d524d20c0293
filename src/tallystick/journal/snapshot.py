"""What is known of one feature at one moment, and what a subject does with the records that lead there. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.journal.chain import Finding
from tallystick.journal.home import Home
from tallystick.journal.record import Record

S = TypeVar("S")


class Fold(Protocol[S]):
    """What a subject does with records. `apply` changes `state` in place; `version` grows when the fold changes.

    `ours` is False for a record of another key: it may be shown, and counts for nothing that a gate asks. `flaw` says
    why a payload cannot be applied; it is asked of every record whose seal cannot be checked here.
    """

    @property
    def version(self) -> str: ...
    def empty(self, feature: str) -> S: ...
    def copy(self, state: S) -> S: ...
    def flaw(self, record: Record) -> str | None: ...
    def apply(self, state: S, record: Record, ours: bool) -> None: ...
    def dump(self, state: S) -> Json: ...
    def load(self, feature: str, data: Json) -> S: ...


class VisitingFold:
    """A fold without a state, for reading the history as such."""

    version = ""

    def __init__(self, visit: Callable[[Record, bool], None], flaw: Callable[[Record], str | None]) -> None:
        self._visit = visit
        self._flaw = flaw

    def empty(self, feature: str) -> None:
        return None

    def copy(self, state: None) -> None:
        return None

    def flaw(self, record: Record) -> str | None:
        return self._flaw(record)

    def apply(self, state: None, record: Record, ours: bool) -> None:
        self._visit(record, ours)

    def dump(self, state: None) -> None:
        return None

    def load(self, feature: str, data: object) -> None:
        return None


class Snapshot(NamedTuple, Generic[S]):
    """One feature at one moment. `n` is its highest counter, `heads` every writer's last record id ("<store>/<writer>"
    where it came in a segment).

    `checkable` is False where this home has no key: then everything is as recorded and no gate counts it.
    `torn` counts bytes that a crash left behind the last record.
    """

    feature: str
    state: S
    n: int
    heads: dict[str, str]
    findings: tuple[Finding, ...]
    checkable: bool
    torn: int

    @property
    def exists(self) -> bool:
        """Whether the feature has any record or any sign of one."""
        return bool(self.heads) or bool(self.findings)

    @property
    def recorded(self) -> bool:
        """Whether this store itself has a record of it; all else that is known came in segments."""
        return any("/" not in name for name in self.heads)

    @property
    def grave(self) -> tuple[Finding, ...]:
        """The findings that hold up a gate."""
        return tuple(finding for finding in self.findings if finding.grave)

    def head(self) -> str:
        """One digest for the state of all files: over the sorted heads (surface: `head.id`)."""
        return canonical.sha256("".join(f"{writer} {self.heads[writer]}\n" for writer in sorted(self.heads)).encode())


class Identities(NamedTuple):
    """Who is who in this store, for this home: `own` is the writer of this place, "" without a key."""

    store: str
    own: str
    home: Home
