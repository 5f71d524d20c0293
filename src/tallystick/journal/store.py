"""The store: `commit(feature, decide)` is the only way in, `snapshot(feature)` the way to look (D4).

A commit locks the feature, takes in what others wrote, lets a pure function decide, appends and syncs, moves the
anchor and unlocks. What `decide` returned is acknowledged, hence durable, when `commit` returns. Readers take no lock.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from tallystick.ids import escaped
from tallystick.journal.anchor import Anchor
from tallystick.journal.blobs import Blobs
from tallystick.journal.chain import Finding
from tallystick.journal.feature import FeatureJournal
from tallystick.journal.home import SPARE_LIFE_NS, Home, missing_key
from tallystick.journal.journals import Journals
from tallystick.journal.log import Log
from tallystick.journal.membership import MEMBERSHIP, Membership, new_store_id
from tallystick.journal.overlay import SegmentSource
from tallystick.journal.record import FORMAT, By, Event, Origin, Record, seal_events
from tallystick.journal.snapshot import Fold, Snapshot, VisitingFold
from tallystick.moment import stamp
from tallystick.system.durable import create_once, make_folders, spare, sweep
from tallystick.system.files import Files
from tallystick.system.locks import Clock, Lock

S = TypeVar("S")
A = TypeVar("A")
T = TypeVar("T")


class Decision(NamedTuple, Generic[A]):
    """What a pure decision yields: events to record (none = nothing changes) and the caller's own answer."""

    events: tuple[Event, ...]
    answer: A


class Committed(NamedTuple, Generic[A]):
    """An acknowledged commit: its records, the decision's answer, and notes a person should see."""

    records: tuple[Record, ...]
    answer: A
    notes: tuple[str, ...]


class Root(NamedTuple):
    """Where a store lies: its folder, the folder above it that was there before us, and its real path."""

    folder: str
    top: str


class Store(Generic[S]):
    """One store as one process (and its threads) uses it."""

    def __init__(
        self,
        files: Files,
        root: Root,
        log: Log,
        home: Home,
        fold: Fold[S],
        clock: Clock,
        lock_wait_s: float,
        version: int = FORMAT,
        born: Callable[[], None] = lambda: None,
        segments: SegmentSource | None = None,
        shared: str = "",
    ) -> None:
        """`born` runs before the store is made, in the process that makes it; again where that came to nothing."""
        self._files = files
        self._journals = Journals(files, root.folder, log, home, fold, version, segments)
        self._log = log
        self._clock = clock
        self._wait = lock_wait_s
        self._version = version
        self._born = born
        # One thread writes at a time; the state itself is held only while it is read or changed, never while waiting.
        self._writing = _thread.allocate_lock()
        self._mutex = _thread.allocate_lock()
        self._locks: dict[str, Lock] = {}
        self._joined = False
        self._spares = f"{root.folder}/tmp"
        self.root = root
        self.home = home
        self.blobs = Blobs(files, f"{root.folder}/blobs", self._spares, shared)

    # -- looking ------------------------------------------------------------------------------------------------

    def id(self) -> str | None:
        """The store id, None where no store was made yet. Raises `Refusal` when it cannot be read."""
        return self._journals.id()

    def features(self) -> list[str]:
        """Every feature with records, or with an anchor that remembers some."""
        with self._mutex:
            self._journals.exchanged()
            shared = [] if self._journals.segments is None else self._journals.segments.features()
            if self._journals.id() is None:
                return sorted(shared)
            own, anchors, logged = self._journals.identities().own, self.home.anchors, self._log.features()
            logged = [*{*logged, *shared}]
            rest = {*anchors.features(own)} - {*logged, MEMBERSHIP} if own else ()
            # An anchor that remembers nothing was opened by a command that ended before its first record.
            return sorted((*logged, *(name for name in rest if anchors.read(own, name) is not None)))

    def snapshot(self, feature: str) -> Snapshot[S]:
        """The feature as it stands now; without a store or records it is the empty state."""
        with self._mutex:
            self._journals.exchanged()
            snapshot = self._journals.refresh(self._journals.feature(feature))
            if not self._journals.identities().store:  # nobody wrote here yet: with a key one could
                return snapshot._replace(checkable=self.home.key() is not None)
            return snapshot

    def peek(self, feature: str) -> Snapshot[S]:
        """The feature as this process last saw it, without looking again: for cheap refusals before a commit."""
        with self._mutex:
            journal = self._journals.seen(feature)
            if journal is not None:
                return self._journals.accepting(journal.snapshot())
        return self.snapshot(feature)

    def members(self) -> Snapshot[Membership]:
        """Who writes here and what a person accepted; the store must exist."""
        with self._mutex:
            return self._journals.refresh(self._journals.membership())

    def anchored(self, feature: str) -> bool:
        """Whether this home remembers a record of this place's writer, or that writer has none to remember."""
        own = self._journals.identities().own
        if self._log.extent(feature, own) is None:
            return True
        return self.home.anchors.read(own, feature) is not None

    def read_journal(self, feature: str, take: Callable[[FeatureJournal[S]], A]) -> A:
        """What `take` makes of the journal as it stands now; it must not keep it."""
        with self._mutex:
            self._journals.exchanged()
            journal = self._journals.feature(feature)
            self._journals.refresh(journal)
            return take(journal)

    def history(self, feature: str, visit: Callable[[Record, bool], None]) -> None:
        """Hand every record of `feature` to `visit`, in order, each with whether it is ours. Memory stays bounded.

        What lies in segments alone comes at its place in the order.
        """
        with self._mutex:
            journal = self._journals.feature(feature)
            self._journals.refresh(journal)
            beyond = [record for record in reversed(journal.beyond) if self._journals.fold.flaw(record) is None]

            def merged(record: Record, ours: bool) -> None:
                while beyond and (beyond[-1].n, beyond[-1].writer) < (record.n, record.writer):
                    visit(beyond.pop(), False)
                visit(record, ours)

            fold = VisitingFold(merged, self._journals.fold.flaw)
            FeatureJournal(self._log, feature, fold, self._journals.identities(), self._version).refresh()
            while beyond:
                visit(beyond.pop(), False)

    # -- writing ------------------------------------------------------------------------------------------------

    def commit(self, feature: str, by: By, decide: Callable[[Snapshot[S], str], Decision[A]]) -> Committed[A]:
        """Record what `decide(snapshot, now)` yields, atomically and durably.

        Raises whatever `decide` raises (nothing is recorded then) and `Refusal` for a missing key, a busy lock,
        a disk that refuses. `now` is RFC 3339 in UTC with milliseconds. Other threads read while this one waits.
        """
        with self._writing:
            notes = self._open_for_writing()
            return self._commit(self._journals.feature(feature), by, decide, notes)

    def accept(self, by: By, reason: str, findings: tuple[Finding, ...]) -> None:
        """A person has looked at these findings and goes on: they are notes from now on, for ever visible.

        Where records of this place were rolled back, its anchors start again from what is there.
        """
        marks = [finding.mark for finding in findings]
        data = {"reason": reason, "marks": marks, "says": [escaped(finding.says) for finding in findings]}
        with self._writing:
            self._open_for_writing()
            accepted = Decision((Event("rollback_accepted", data),), None)
            self._commit(self._journals.membership(), by, lambda members, now: accepted, ())
            for feature in (*self._log.features(), *self.home.anchors.features(self._journals.identities().own)):
                self._anchor_anew(self._journals.feature(feature), marks)
            with self._mutex:
                self._journals.forget()

    def now(self) -> str:
        """This moment, as a commit would write it down."""
        return stamp(self._clock.now())

    def flush(self) -> None:
        """Write the checkpoints that are due. Nothing is lost when this never runs."""
        with self._mutex:
            self._journals.save(self._spares)

    # -- inside -------------------------------------------------------------------------------------------------

    def _open_for_writing(self) -> tuple[str, ...]:
        """Make store and key where they may be made, and join the store; notes for the answer, once."""
        if not self._journals.exchanged() and self._joined:
            return ()
        self._require_key()
        notes: tuple[str, ...] = ()
        if self.id() is None or not self._has_joined():
            make_folders(self._files, self._spares)
            birth = self._lock("_birth")
            birth.acquire()
            try:
                self._make()
                notes = self._join()
            finally:
                birth.release()
        sweep(self._files, self._spares, self._clock.now() - SPARE_LIFE_NS)
        self._joined = True
        return notes

    def _make(self) -> None:
        if self.id() is not None:
            return
        self._born()  # first: whoever dies or is refused here leaves no store that would never be seen to
        text = f"tallystick {self._version} {new_store_id()}\n".encode()
        create_once(self._files, f"{self.root.folder}/store-id", text, beside=spare(self._spares))
        self._journals.exchanged()

    def _commit(
        self,
        journal: FeatureJournal[T],
        by: By,
        decide: Callable[[Snapshot[T], str], Decision[A]],
        notes: tuple[str, ...],
    ) -> Committed[A]:
        lock = self._lock(journal.feature)
        lock.acquire(lambda: self._catch_up(journal))
        try:
            with self._mutex:
                return self._commit_locked(journal, by, decide, notes)
        finally:
            lock.release()

    def _catch_up(self, journal: FeatureJournal[T]) -> None:
        """Take in what others write while they hold the lock, so that less is left to do once it is ours."""
        with self._mutex:
            self._journals.refresh(journal)

    def _commit_locked(
        self,
        journal: FeatureJournal[T],
        by: By,
        decide: Callable[[Snapshot[T], str], Decision[A]],
        notes: tuple[str, ...],
    ) -> Committed[A]:
        own = self._journals.identities().own
        snapshot = self._journals.refresh(journal)
        now = stamp(self._clock.now())
        decision = decide(snapshot, now)
        if not decision.events:
            return Committed((), decision.answer, notes)
        self.home.anchors.ready(own, journal.feature)
        sealed = self._seal(journal, by, now, decision.events)
        aside = self._set_torn_aside(journal)
        try:
            data = sealed[0][1] if len(sealed) == 1 else b"".join(line for _, line in sealed)
            extent = self._log.append(journal.feature, own, None if aside else journal.extent(), data)
            journal.appended(sealed, extent)
        except BaseException:
            journal.forget()
            raise
        last = sealed[-1][0]
        # After a roll-back that nobody accepted the anchor stays: it is what remembers the lost records.
        if not journal.rolled_back and not self.home.anchors.write(own, journal.feature, Anchor(last.i, last.id)):
            notes = (*notes, "the anchor in the user's half could not be written; the record itself is durable")
        return Committed(tuple(record for record, _ in sealed), decision.answer, (*notes, *aside))

    def _anchor_anew(self, journal: FeatureJournal[S], marks: list[str]) -> None:
        """Where a roll-back was among what a person accepted: both slots of the anchor name the present head."""
        lock = self._lock(journal.feature)
        lock.acquire()
        try:
            with self._mutex:
                self._journals.refresh(journal)
                if journal.rolled_back and any(finding.mark in marks for finding in journal.snapshot().findings):
                    own, head = self._journals.identities().own, journal.own_chain().head
                    self.home.anchors.ready(own, journal.feature)
                    self.home.anchors.restart(own, journal.feature, Anchor(head.i, head.id))
        finally:
            lock.release()

    def _seal(
        self,
        journal: FeatureJournal[T],
        by: By,
        now: str,
        events: tuple[Event, ...],
    ) -> list[tuple[Record, bytes]]:
        who, key, head = self._journals.identities(), self.home.key(), journal.own_chain().head
        if key is None or not who.own:
            raise missing_key(self.home.folder)
        origin = Origin(who.store, journal.feature, who.own, head.i, head.id, journal.n, journal.seen())
        return seal_events(origin, by, now, events, key, self._version)

    def _set_torn_aside(self, journal: FeatureJournal[T]) -> tuple[str, ...]:
        """Keep the bytes a crash left, by digest, and cut them off, so that the next record has its own line."""
        chain = journal.own_chain()
        if not chain.torn:
            return ()
        own, end = self._journals.identities().own, chain.head.end
        tail = b"".join(self._log.read(journal.feature, own, end))
        digest = self.blobs.keep(tail)
        self._log.cut(journal.feature, own, end)
        return (f"{len(tail)} bytes of an unfinished record were set aside as sha256:{digest[:16]}…",)

    def _require_key(self) -> None:
        if self.home.key() is not None:
            return
        if self.id() is not None and (self._log.features() or self._log.writers(MEMBERSHIP)):
            raise missing_key(self.home.folder)
        self.home.make_key()

    def _has_joined(self) -> bool:
        """Whether this place's writer has a whole record of its own; a file alone may be what a crash left."""
        with self._mutex:
            members = self._journals.refresh(self._journals.membership())
            return self._journals.identities().own in members.heads

    def _join(self) -> tuple[str, ...]:
        """Write `store_joined` once for each writer, and say so when another store was at this place before."""
        if self._has_joined():
            return ()
        who = self._journals.identities()
        path = self._files.realpath(self.root.folder)
        earlier = [one for one in self.home.earlier_stores(path) if one != who.store]
        self.home.remember_store(path, who.store)
        self.home.settle(self._clock.now())
        data: dict[str, object] = {"path": escaped(path), "earlier": earlier}
        by = By("shell")
        joined = Decision((Event("store_joined", data),), None)
        self._commit(self._journals.membership(), by, lambda members, now: joined, ())
        if not earlier:
            return ()
        return (f"an earlier store was at this place ({earlier[-1][:8]}…); nothing was carried over from it",)

    def _lock(self, feature: str) -> Lock:
        if feature not in self._locks:
            path = f"{self.root.folder}/locks/{feature}"
            self._locks[feature] = Lock(self._files, path, self._clock, self._wait)
        return self._locks[feature]

    def close(self) -> None:
        """Let all descriptors go."""
        self._log.close()
        self.home.anchors.close()
        for lock in self._locks.values():
            lock.close()
