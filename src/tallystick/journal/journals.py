"""The journals of one store as one process holds them: its id, who writes here, each feature's folded state.

Only looks; `store.py` writes on top of it. Everything is begun again when the store is taken away, another stands in
its place, or this home gets its key.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from tallystick.errors import Refusal, Where
from tallystick.journal import checkpoint as checkpoints
from tallystick.journal.feature import FeatureJournal
from tallystick.journal.home import Home
from tallystick.journal.log import Log
from tallystick.journal.membership import MEMBERSHIP, Membership, MembershipFold, parse_store_id
from tallystick.journal.overlay import Overlay, SegmentSource
from tallystick.journal.record import FORMAT
from tallystick.journal.snapshot import Fold, Identities, Snapshot
from tallystick.system.durable import read_file, spare
from tallystick.system.files import Files

S = TypeVar("S")
T = TypeVar("T")

#: A checkpoint is written anew once this many bytes stand behind the last one.
_CHECKPOINT_AFTER = 128 * 1024


def read_store_id(files: Files, path: str) -> bytes | None:
    """What the file says, None where there is none; empty for what is no file of ours (a folder, a pipe, a huge one).

    Raises `Refusal` where the system refuses: the file may be whole, and hidden from this process.
    """
    try:
        return read_file(files, path, 4096)
    except Refusal as refusal:
        if isinstance(refusal.__cause__, OSError):
            raise
        return b""


class Journals(Generic[S]):
    """Not for two threads at once: the store holds its mutex around every call."""

    def __init__(
        self,
        files: Files,
        folder: str,
        log: Log,
        home: Home,
        fold: Fold[S],
        version: int = FORMAT,
        segments: SegmentSource | None = None,
    ) -> None:
        self.segments = segments
        self._files = files
        self.folder = folder
        self._home = home
        self.fold = fold
        self._version = version
        self._who: Identities | None = None
        self._features: dict[str, FeatureJournal[S]] = {}
        self._members: FeatureJournal[Membership] | None = None
        self._here: tuple[int, int, int] | None = None
        self.log = log

    def id(self) -> str | None:
        """The store id, None where no store was made yet. Raises `Refusal` when it cannot be read."""
        path = f"{self.folder}/store-id"
        data = read_store_id(self._files, path)
        if data is not None:
            return parse_store_id(data, path, self._version)
        if self.log.features():
            raise Refusal(
                "store.damaged",
                f"{path} is gone although there are records beside it; nothing was changed",
                "run `tallystick audit --restore` to write it anew from the records",
                Where(path),
            )
        return None

    def exchanged(self) -> bool:
        """Whether another store stands here than at the last call, or the key appeared: then all is forgotten."""
        try:
            status = self._files.stat(f"{self.folder}/store-id")
            here: tuple[int, int, int] | None = (status.st_dev, status.st_ino, status.st_mtime_ns)
        except OSError:
            here = None
        keyed = self._who is not None and not self._who.own and self._home.key() is not None
        if here == self._here and not keyed:
            return False
        self.forget()
        self._here = here
        return True

    def identities(self) -> Identities:
        """The store's id and the writer of this place; both "" where there is no store or no key."""
        if self._who is None:
            store = self.id() or ""
            own = ""
            if store and self._home.key() is not None:
                own = self._home.writer(store, self._files.realpath(self.folder))
            self._who = Identities(store, own, self._home)
        return self._who

    def feature(self, feature: str) -> FeatureJournal[S]:
        """The journal of one feature, as this process last saw it."""
        if feature not in self._features:
            overlay = None if self.segments is None else Overlay(self.segments, feature)
            who = self.identities()
            self._features[feature] = FeatureJournal(self.log, feature, self.fold, who, self._version, overlay)
        return self._features[feature]

    def membership(self) -> FeatureJournal[Membership]:
        """The journal of what belongs to no feature."""
        if self._members is None:
            self._members = FeatureJournal(self.log, MEMBERSHIP, MembershipFold(), self.identities(), self._version)
        return self._members

    def seen(self, feature: str) -> FeatureJournal[S] | None:
        """The journal of one feature if this process has read it, without looking again."""
        journal = self._features.get(feature)
        return journal if journal is not None and journal.loaded else None

    def refresh(self, journal: FeatureJournal[T]) -> Snapshot[T]:
        """Take in what was written meanwhile; findings that a person accepted are notes."""
        key, ready = self._home.key(), None
        if not journal.loaded and key is not None and journal.feature != MEMBERSHIP:
            ready = checkpoints.load(self._files, self._checkpoint_path(journal.feature), key)
        journal.refresh(ready)
        return self.accepting(journal.snapshot())

    def accepting(self, snapshot: Snapshot[T]) -> Snapshot[T]:
        """The snapshot with the findings a person has accepted turned into notes."""
        if not snapshot.findings:
            return snapshot
        members = self.membership()
        members.refresh()
        accepted = members.snapshot().state.accepted
        return snapshot._replace(
            findings=tuple(
                finding._replace(grave=False) if finding.mark in accepted else finding for finding in snapshot.findings
            )
        )

    def save(self, spares: str) -> None:
        """Write the checkpoints that are due. Nothing is lost when this never runs."""
        key = self._home.key()
        if key is None:
            return
        for journal in self._features.values():
            if journal.loaded and journal.unsaved >= _CHECKPOINT_AFTER:
                ready = journal.checkpoint()
                if ready is not None:
                    path = self._checkpoint_path(journal.feature)
                    checkpoints.save(self._files, path, ready, key, spare(spares))
                    journal.unsaved = 0

    def forget(self) -> None:
        """Begin again at the next look."""
        self._who = None
        self._features.clear()
        self._members = None

    def _checkpoint_path(self, feature: str) -> str:
        return f"{self.folder}/cache/checkpoints/{feature}"
