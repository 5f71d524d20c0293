"""The store: `commit(feature, decide)` is the only way in, `snapshot(feature)` the way to look (D4).

A commit locks the feature, takes in what others wrote, lets a pure function decide, appends and syncs, moves the
anchor and unlocks. What `decide` returned is acknowledged, hence durable, when `commit` returns. Readers take no lock.
"""

from __future__ import annotations

import _thread
import os
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from tallystick.errors import Refusal, Where
from tallystick.journal import checkpoint as checkpoints
from tallystick.journal.anchor import Anchor
from tallystick.journal.blobs import Blobs
from tallystick.journal.chain import Finding
from tallystick.journal.feature import FeatureJournal, Fold, Identities, Snapshot, VisitingFold
from tallystick.journal.home import Home, missing_key
from tallystick.journal.log import Log
from tallystick.journal.membership import MEMBERSHIP, Membership, MembershipFold, new_store_id, parse_store_id
from tallystick.journal.record import FORMAT, By, Event, Record, seal
from tallystick.limits import COUNTER, RECORD_LINE
from tallystick.moment import stamp
from tallystick.system.durable import create_once, make_folders, read_file
from tallystick.system.files import Files
from tallystick.system.locks import Clock, Lock

S = TypeVar("S")
A = TypeVar("A")

#: A checkpoint is written anew once this many bytes stand behind the last one.
_CHECKPOINT_AFTER = 128 * 1024


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
    ) -> None:
        """`born` runs once, in the process that makes the store, before its first record."""
        self._files = files
        self._log = log
        self._fold = fold
        self._clock = clock
        self._wait = lock_wait_s
        self._version = version
        self._born = born
        self._mutex = _thread.allocate_lock()
        self._who: Identities | None = None
        self._journals: dict[str, FeatureJournal[S]] = {}
        self._members: FeatureJournal[Membership] | None = None
        self._locks: dict[str, Lock] = {}
        self._joined = False
        self._born_as: tuple[int, int] | None = None
        self.root = root
        self.home = home
        self.blobs = Blobs(files, f"{root.folder}/blobs")

    # -- looking ------------------------------------------------------------------------------------------------

    def id(self) -> str | None:
        """The store id, None where no store was made yet. Raises `Refusal` when it cannot be read."""
        path = f"{self.root.folder}/store-id"
        data = read_file(self._files, path, 4096)
        if data is not None:
            return parse_store_id(data, path, self._version)
        if self._log.features():
            raise Refusal(
                "store.damaged",
                f"{path} is gone although there are records beside it; nothing was changed",
                "run `tallystick audit --restore` to write it anew from the records",
                Where(path),
            )
        return None

    def features(self) -> list[str]:
        """Every feature with records, or with an anchor that remembers some."""
        if self.id() is None:
            return []
        own = self._identities().own
        anchored = self.home.anchors.features(own) if own else []
        return sorted({*self._log.features(), *(name for name in anchored if name != MEMBERSHIP)})

    def snapshot(self, feature: str) -> Snapshot[S]:
        """The feature as it stands now; without a store or records it is the empty state."""
        with self._mutex:
            self._notice_exchange()
            if self._who is None and self.id() is None:
                empty = self._fold.empty(feature)
                return Snapshot(feature, empty, 0, {}, (), self.home.key() is not None, 0)
            journal = self._journal(feature)
            self._refresh(journal)
            return self._accepting(journal.snapshot())

    def peek(self, feature: str) -> Snapshot[S]:
        """The feature as this process last saw it, without looking again: for cheap refusals before a commit."""
        with self._mutex:
            journal = self._journals.get(feature)
            if journal is not None and journal.loaded:
                return self._accepting(journal.snapshot())
        return self.snapshot(feature)

    def members(self) -> Snapshot[Membership]:
        """Who writes here and what a person accepted; the store must exist."""
        with self._mutex:
            return self._members_now()

    def anchored(self, feature: str) -> bool:
        """Whether this home remembers a record of this place's writer, or that writer has none to remember."""
        own = self._identities().own
        if self._log.extent(feature, own) is None:
            return True
        return self.home.anchors.read(own, feature) is not None

    def history(self, feature: str, visit: Callable[[Record, bool], None]) -> None:
        """Hand every record of `feature` to `visit`, in order, each with whether it is ours. Memory stays bounded."""
        with self._mutex:
            FeatureJournal(self._log, feature, VisitingFold(visit), self._identities(), self._version).refresh()

    # -- writing ------------------------------------------------------------------------------------------------

    def commit(self, feature: str, by: By, decide: Callable[[Snapshot[S], str], Decision[A]]) -> Committed[A]:
        """Record what `decide(snapshot, now)` yields, atomically and durably.

        Raises whatever `decide` raises (nothing is recorded then) and `Refusal` for a missing key, a busy lock,
        a disk that refuses. `now` is RFC 3339 in UTC with milliseconds.
        """
        notes = self.open_for_writing()
        with self._mutex:
            journal = self._journal(feature)
            return self._commit(journal, by, lambda now: decide(self._accepting(journal.snapshot()), now), notes)

    def open_for_writing(self) -> tuple[str, ...]:
        """Make store and key where they may be made, and join the store; notes for the answer, once."""
        with self._mutex:
            self._notice_exchange()
            if self._joined:
                return ()
            self._require_key()
            make_folders(self._files, self.root.folder)
            if self.id() is None:
                text = f"tallystick {self._version} {new_store_id()}\n".encode()
                beside = f"{self.root.folder}/.store-id.{os.getpid()}"
                if create_once(self._files, f"{self.root.folder}/store-id", text, beside=beside):
                    self._born()
                self._forget_all()
            notes = self._join()
            self._joined = True
            return notes

    def accept(self, by: By, reason: str, findings: tuple[Finding, ...]) -> None:
        """A person has looked at these findings and goes on: they are notes from now on, for ever visible."""
        self.open_for_writing()
        marks = [finding.mark for finding in findings]
        data = {"reason": reason, "marks": marks, "says": [finding.says for finding in findings]}
        with self._mutex:
            members = self._membership()
            self._commit(members, by, lambda now: Decision((Event("rollback_accepted", data),), None), ())
            self._forget_all()

    def flush(self) -> None:
        """Write the checkpoints that are due. Nothing is lost when this never runs."""
        key = self.home.key()
        if key is None:
            return
        with self._mutex:
            for journal in self._journals.values():
                if journal.loaded and journal.unsaved >= _CHECKPOINT_AFTER:
                    ready = journal.checkpoint()
                    if ready is not None:
                        path = self._checkpoint_path(journal.feature)
                        checkpoints.save(self._files, path, ready, key, f"{path}.{os.getpid()}")
                        journal.unsaved = 0

    # -- inside -------------------------------------------------------------------------------------------------

    def _commit(
        self,
        journal: FeatureJournal[S] | FeatureJournal[Membership],
        by: By,
        decide: Callable[[str], Decision[A]],
        notes: tuple[str, ...],
    ) -> Committed[A]:
        own = self._identities().own
        lock = self._lock(journal.feature)
        lock.acquire()
        try:
            self._refresh(journal)
            now = stamp(self._clock.now())
            decision = decide(now)
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
            settled = not journal.rolled_back or self._all_accepted(journal.snapshot().findings)
            if settled and not self.home.anchors.write(own, journal.feature, Anchor(last.i, last.id)):
                notes = (*notes, "the anchor in the user's half could not be written; the record itself is durable")
            return Committed(tuple(record for record, _ in sealed), decision.answer, (*notes, *aside))
        finally:
            lock.release()

    def _seal(
        self,
        journal: FeatureJournal[S] | FeatureJournal[Membership],
        by: By,
        now: str,
        events: tuple[Event, ...],
    ) -> list[tuple[Record, bytes]]:
        who = self._identities()
        key = self.home.key()
        if key is None or journal.n + len(events) > COUNTER:
            raise missing_key(self.home.folder)
        head = journal.own_chain().head
        i, prev, n, seen = head.i, head.id, journal.n, journal.seen()
        sealed: list[tuple[Record, bytes]] = []
        for position, event in enumerate(events, 1):
            i, n = i + 1, n + 1
            record = Record(
                who.store, journal.feature, who.own, i, (position, len(events)), n, "", prev, seen, now, by, *event
            )
            record, line = seal(record, key, self._version)
            if len(line) > RECORD_LINE:
                raise Refusal(
                    "input.too_large", f"one record would have {len(line):,} bytes, the limit is {RECORD_LINE:,}", ""
                )
            sealed.append((record, line))
            prev, seen = record.id, {}
        return sealed

    def _set_torn_aside(self, journal: FeatureJournal[S] | FeatureJournal[Membership]) -> tuple[str, ...]:
        """Keep the bytes a crash left, by digest, and cut them off, so that the next record has its own line."""
        chain = journal.own_chain()
        if not chain.torn:
            return ()
        own, end = self._identities().own, chain.head.end
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

    def _join(self) -> tuple[str, ...]:
        """Write `store_joined` once for each writer, and say so when another store was at this place before."""
        who = self._identities()
        if self._log.extent(MEMBERSHIP, who.own) is not None:
            return ()
        path = self._files.realpath(self.root.folder)
        earlier = [one for one in self.home.earlier_stores(path) if one != who.store]
        self.home.remember_store(path, who.store)
        self.home.settle()
        data: dict[str, object] = {"path": path, "earlier": earlier}
        by = By("shell")
        joined = Decision((Event("store_joined", data),), None)
        self._commit(self._membership(), by, lambda now: joined, ())
        if not earlier:
            return ()
        return (f"an earlier store was at this place ({earlier[-1][:8]}…); nothing was carried over from it",)

    def _notice_exchange(self) -> None:
        """Begin again when the store was taken away or another stands in its place since the last call."""
        try:
            status = self._files.stat(f"{self.root.folder}/store-id")
            here: tuple[int, int] | None = (status.st_dev, status.st_ino)
        except OSError:
            here = None
        if here != self._born_as:
            self._forget_all()
            self._joined = False
            self._born_as = here

    def _identities(self) -> Identities:
        if self._who is None:
            store = self.id() or ""
            own = ""
            if store and self.home.key() is not None:
                own = self.home.writer(store, self._files.realpath(self.root.folder))
            self._who = Identities(store, own, self.home)
        return self._who

    def _lock(self, feature: str) -> Lock:
        if feature not in self._locks:
            path = f"{self.root.folder}/locks/{feature}"
            self._locks[feature] = Lock(self._files, path, self._clock, self._wait)
        return self._locks[feature]

    def _journal(self, feature: str) -> FeatureJournal[S]:
        if feature not in self._journals:
            self._journals[feature] = FeatureJournal(self._log, feature, self._fold, self._identities(), self._version)
        return self._journals[feature]

    def _membership(self) -> FeatureJournal[Membership]:
        if self._members is None:
            self._members = FeatureJournal(self._log, MEMBERSHIP, MembershipFold(), self._identities(), self._version)
        return self._members

    def _members_now(self) -> Snapshot[Membership]:
        members = self._membership()
        members.refresh()
        return members.snapshot()

    def _refresh(self, journal: FeatureJournal[S] | FeatureJournal[Membership]) -> None:
        key = self.home.key()
        ready = None
        if not journal.loaded and key is not None and journal.feature != MEMBERSHIP:
            ready = checkpoints.load(self._files, self._checkpoint_path(journal.feature), key)
        journal.refresh(ready)

    def _accepting(self, snapshot: Snapshot[S]) -> Snapshot[S]:
        """The snapshot with the findings a person has accepted turned into notes."""
        if not snapshot.findings:
            return snapshot
        accepted = self._members_now().state.accepted
        return snapshot._replace(
            findings=tuple(
                finding._replace(grave=False) if finding.mark in accepted else finding for finding in snapshot.findings
            )
        )

    def _all_accepted(self, findings: tuple[Finding, ...]) -> bool:
        accepted = self._members_now().state.accepted
        return all(finding.mark in accepted for finding in findings)

    def _checkpoint_path(self, feature: str) -> str:
        return f"{self.root.folder}/cache/checkpoints/{feature}"

    def _forget_all(self) -> None:
        self._who = None
        self._journals.clear()
        self._members = None

    def close(self) -> None:
        """Let all descriptors go."""
        self._log.close()
        self.home.anchors.close()
        for lock in self._locks.values():
            lock.close()
