"""The journal of one feature as a process holds it: every writer's chain, folded into one state, kept up to date.

Reading takes no lock and writes nothing. The own anchor is read before the journal, so that a record that is written
meanwhile can never look like a roll-back. The state is handed out as it is, not copied: whoever gets it only reads.
What segments of the tree say beyond it is laid over a copy: live records come first, in whatever order both were made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from tallystick import canonical
from tallystick.journal.anchor import Anchor
from tallystick.journal.chain import Chain, Finding, Head, Identity
from tallystick.journal.checkpoint import Checkpoint, Part
from tallystick.journal.log import Extent, Log
from tallystick.journal.overlay import NOTHING, Beyond, Overlay
from tallystick.journal.record import Record, Unreadable, open_line
from tallystick.journal.segments import chain_of
from tallystick.journal.snapshot import Fold, Identities, Snapshot
from tallystick.limits import COUNTER_JUMP

S = TypeVar("S")

#: How much of a file's end is read at first, in bytes.
_TAIL = 64 * 1024


class FeatureJournal(Generic[S]):
    """All chains of one feature and the state they fold into."""

    def __init__(
        self, log: Log, feature: str, fold: Fold[S], who: Identities, version: int, overlay: Overlay | None = None
    ) -> None:
        self._overlay = overlay
        self._log = log
        self._fold = fold
        self._who = who
        self._version = version
        self.feature = feature
        self.forget()

    def forget(self) -> None:
        """Start from nothing at the next refresh."""
        self.chains: dict[str, Chain] = {}
        self._extents: dict[str, Extent] = {}
        self._last = (0, "")
        self._told: dict[str, str] = {}
        self._rolled: tuple[Finding, ...] = ()
        self._aside: dict[str, Finding] = {}
        self._memo: Snapshot[S] | None = None
        self._beyond: Beyond = NOTHING
        self._n = 0
        self.state: S = self._fold.empty(self.feature)
        self.loaded = False
        self.unsaved = 0

    def refresh(self, checkpoint: Checkpoint | None = None) -> None:
        """Take in what was written since the last call; start again from nothing when something was replaced.

        `checkpoint` (already checked for its seal) shortens the first load.
        """
        try:
            self._refresh(checkpoint)
        except BaseException:
            self.forget()  # a walk that was broken off has moved chains whose records are not folded
            raise

    def _refresh(self, checkpoint: Checkpoint | None) -> None:
        # The anchor comes first: a record written between the two looks must never seem to be missing.
        anchor = None if self.loaded else self._anchor()
        extents = self._look()
        if self.loaded and not self._still(extents):
            self.forget()
            anchor = self._anchor()
            extents = self._look()
        if not self.loaded:
            self._load(extents, checkpoint, anchor)
        elif extents != self._extents:
            self._take_in(extents)
        elif self._overlay is None:
            return
        beyond = NOTHING if self._overlay is None else self._overlay.look(self._places, self._n)
        if extents != self._extents or beyond is not self._beyond or self._memo is None:
            self._extents, self._beyond, self._memo = extents, beyond, None

    @property
    def n(self) -> int:
        """The highest counter that is known, here or from a segment."""
        return max(self._n, self._beyond.n)

    @property
    def beyond(self) -> tuple[Record, ...]:
        """The records that lie in segments alone, in their order."""
        return self._beyond.records

    def _places(self) -> dict[str, int]:
        """How far each chain of this store goes."""
        return {chain_of(self._who.store, writer): chain.head.i for writer, chain in self.chains.items()}

    def snapshot(self) -> Snapshot[S]:
        """What is known now; call `refresh` first."""
        if self._memo is None:
            self._memo = self._snapshot()
        return self._memo

    def _snapshot(self) -> Snapshot[S]:
        state, flawed = self._laid_over()
        findings = [finding for chain in self.chains.values() for finding in chain.damage]
        findings += self._aside.values()
        return Snapshot(
            self.feature,
            state,
            self.n,
            {writer: chain.head.id for writer, chain in self.chains.items() if chain.head.i} | self._beyond.heads,
            (*findings, *self._rolled, *self._beyond.findings, *flawed),
            bool(self._who.own),
            sum(chain.torn for chain in self.chains.values()),
        )

    def _laid_over(self) -> tuple[S, list[Finding]]:
        """The state with what segments say beyond it, and what of that cannot be taken in."""
        if not self._beyond.records:
            return self.state, []
        state = self._fold.copy(self.state)
        flawed: list[Finding] = []
        for record in self._beyond.records:
            flaw = self._fold.flaw(record)
            if flaw is None:
                self._fold.apply(state, record, False)
            elif not flawed:
                says = f"{self.feature}: record {record.i} of another copy {flaw}; it counts for nothing"
                flawed.append(Finding("segment.damaged", says, grave=False, mark=f"flaw:{record.id}"))
        return state, flawed

    @property
    def rolled_back(self) -> bool:
        """Whether the anchor saw records that are gone or replaced: then it must not be moved."""
        return bool(self._rolled)

    def seen(self) -> dict[str, str]:
        """Other writers' heads that changed since this writer's last record."""
        own = self._who.own
        return {
            writer: chain.head.id
            for writer, chain in self.chains.items()
            if writer != own and chain.head.i and self._told.get(writer) != chain.head.id
        }

    def own_chain(self) -> Chain:
        """The chain of this place's writer, made when it writes for the first time."""
        own = self._who.own
        if own not in self.chains:
            self.chains[own] = self._chain(own, Head(), canonical.hasher())
        return self.chains[own]

    def lines(self, writer: str, first: int) -> list[bytes]:
        """The lines of a writer's file that were read, LF included, from the record at place `first` on.

        Read from the end, so that the last few cost the same however long the file is.
        """
        end, back = self.chains[writer].head.end, 0
        while True:
            back = min(end, max(2 * back, _TAIL))
            data = b"".join(self._log.read(self.feature, writer, end - back))[:back]
            lines = data.splitlines(keepends=True)
            if back == end:
                return lines
            begun = open_line(lines[1][:-1]) if len(lines) > 1 else None
            if isinstance(begun, tuple) and not isinstance(begun, Unreadable) and begun[0].i <= first:
                return lines[1:]

    def extent(self) -> Extent | None:
        """This place's own log as it was seen at the last refresh."""
        return self._extents.get(self._who.own)

    def appended(self, records: Iterable[tuple[Record, bytes]], extent: Extent) -> None:
        """Take in what this process has just appended durably; its log lies at `extent` now."""
        chain = self.own_chain()
        for record, line in records:
            chain.append(record, line)
            self.unsaved += len(line)
            self._fold_in(record)
        chain.torn = 0
        self._extents[self._who.own] = extent
        self._memo = None
        if self._overlay is not None:
            self._beyond = self._overlay.look(self._places, self._n)

    def checkpoint(self) -> Checkpoint | None:
        """The state to save, None when something is amiss: a short cut must not hide it."""
        if self._rolled or self._aside or any(chain.damage for chain in self.chains.values()):
            return None
        parts = {writer: Part(chain.head, chain.digest()) for writer, chain in self.chains.items()}
        state = self._fold.dump(self.state)
        return Checkpoint(self._who.store, self.feature, self._fold.version, parts, self._last, self._told, state)

    def _look(self) -> dict[str, Extent]:
        found = {writer: self._log.extent(self.feature, writer) for writer in self._log.writers(self.feature)}
        return {writer: extent for writer, extent in found.items() if extent is not None}

    def _still(self, extents: dict[str, Extent]) -> bool:
        """Whether every file read so far still has what was read of it."""
        return all(
            writer in extents
            and extents[writer].identity == held.identity
            and extents[writer].end >= self.chains[writer].head.end
            for writer, held in self._extents.items()
        )

    def _anchor(self) -> Anchor | None:
        return self._who.home.anchors.read(self._who.own, self.feature) if self._who.own else None

    def _load(self, extents: dict[str, Extent], checkpoint: Checkpoint | None, anchor: Anchor | None) -> None:
        own = self._who.own
        if checkpoint is not None and self._resume(checkpoint, extents):
            self._last, self._told = checkpoint.last, dict(checkpoint.told)
            self._n = checkpoint.last[0]
        if anchor is not None and own in extents:
            if own not in self.chains:
                self.chains[own] = self._chain(own, Head(), canonical.hasher())
            self.chains[own].watch(anchor.i)
        self.loaded = True
        self._take_in(extents)
        if anchor is not None:
            self._compare(anchor)

    def _resume(self, checkpoint: Checkpoint, extents: dict[str, Extent]) -> bool:
        """Start from a checkpoint if it is of this store and fold and the files still begin with its bytes."""
        who = self._who
        if (checkpoint.store, checkpoint.feature, checkpoint.fold) != (who.store, self.feature, self._fold.version):
            return False
        chains: dict[str, Chain] = {}
        for writer, part in checkpoint.parts.items():
            if writer not in extents or extents[writer].end < part.head.end:
                return False
            hashed, left = canonical.hasher(), part.head.end
            for piece in self._log.read(self.feature, writer, 0):
                hashed.update(piece[:left])
                left -= min(left, len(piece))
                if not left:
                    break
            if hashed.copy().hexdigest() != part.digest:
                return False
            chains[writer] = self._chain(writer, part.head, hashed)
        self.chains = chains
        self.state = self._fold.load(self.feature, checkpoint.state)
        return True

    def _take_in(self, extents: dict[str, Extent]) -> None:
        news: list[Iterator[Record]] = []
        for writer in extents:
            if writer not in self.chains:
                self.chains[writer] = self._chain(writer, Head(), canonical.hasher())
            chain = self.chains[writer]
            if extents[writer].end > chain.head.end:
                self.unsaved += extents[writer].end - chain.head.end
                news.append(chain.walk(self._log.read(self.feature, writer, chain.head.end)))
            else:
                chain.torn = 0
        if len(news) == 1:
            ordered: Iterable[Record] = news[0]
        else:
            import heapq

            ordered = heapq.merge(*news, key=lambda record: (record.n, record.writer))
        for record in ordered:
            if (record.n, record.writer) < self._last:
                # A file joined that reaches further back than what is folded: only a new fold gets the order right.
                anchor = self._anchor()
                self.forget()
                self._load(extents, None, anchor)
                return
            self._fold_in(record)

    def _fold_in(self, record: Record) -> None:
        who = self._who
        own = record.writer == who.own
        if own:
            self._told.update(record.seen)
        # Without a key nothing can be told apart: everything is shown as recorded, and no gate counts it.
        ours = own or not who.own or who.home.owns(who.store, record.writer)
        if not ours and record.n > self._n + COUNTER_JUMP:
            # A counter of another key that leaps past everything known would use ours up: it takes no part.
            self._set_aside(record, f"the counter of record {record.i} leaps to {record.n}; what follows is set aside")
            return
        flaw = None if ours and who.own else self._fold.flaw(record)
        if flaw is not None:
            self._set_aside(record, f"record {record.i} {flaw}; it counts for nothing")
            return
        self._fold.apply(self.state, record, ours)
        self._last = (record.n, record.writer)
        self._n = max(self._n, record.n)

    def _set_aside(self, record: Record, says: str) -> None:
        """Name a record whose seal nobody here can check and that takes no part; the first one of each writer."""
        file = self._log.name(self.feature, record.writer)
        mark = f"{self.feature}/{record.writer}^{record.i}:{record.id}"
        self._aside.setdefault(record.writer, Finding("journal.damaged", f"{file}: {says}", file, mark=mark))

    def _chain(self, writer: str, head: Head, hashed: canonical.Hash) -> Chain:
        who = self._who
        key = who.home.key() if writer == who.own or who.home.owns(who.store, writer) else None
        identity = Identity(who.store, self.feature, writer, self._log.name(self.feature, writer), key)
        return Chain(identity, head, hashed, self._version)

    def _compare(self, anchor: Anchor) -> None:
        """Whether the own file still has the record that the anchor remembers, at its place."""
        own = self._who.own
        file = self._log.name(self.feature, own)
        chain = self.chains.get(own)
        found = chain.watched(anchor.i) if chain is not None else ""
        if found is None or found == anchor.id:
            return
        mark = f"{self.feature}/{own}@{anchor.i}:{anchor.id}"
        if found:
            says = f"{file} has another record at place {anchor.i} than the one written here"
            self._rolled = (Finding("anchor.fork", says, file, None, None, True, mark),)
        else:
            have = chain.head.i if chain is not None else 0
            says = f"{file} ends at record {have}; {anchor.i} were written here, the last {anchor.i - have} are gone"
            self._rolled = (Finding("anchor.rolled_back", says, file, None, None, True, mark),)
