"""What segments of a tree say beyond the live journal, laid over its state in memory (D3). Writes nothing.

A record that stands in the live store is known; all others are of another copy of the repository. They may define,
and are shown; nothing of them is ours, whoever's seal they carry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

from tallystick.errors import Refusal
from tallystick.journal import segments
from tallystick.journal.chain import Finding
from tallystick.journal.record import Record
from tallystick.journal.segments import chain_of
from tallystick.limits import COUNTER_JUMP, SEGMENTS


class SegmentSource(Protocol):
    """Where segments lie: the work tree, and the tree of HEAD where the work tree may not show them."""

    def features(self) -> list[str]: ...
    def names(self, feature: str) -> tuple[str, ...]: ...
    def head(self, feature: str, name: str) -> bytes: ...
    def read(self, feature: str, name: str) -> bytes: ...
    def path(self, feature: str, name: str) -> str: ...


class Beyond(NamedTuple):
    """What is known from segments alone: `records` in their order, `heads` of their chains, the highest counter."""

    records: tuple[Record, ...] = ()
    heads: dict[str, str] = {}  # noqa: RUF012 - never changed
    n: int = 0
    findings: tuple[Finding, ...] = ()


NOTHING = Beyond()


class Overlay:
    """The segments of one feature as one process reads them: each file once, since none ever changes."""

    def __init__(self, source: SegmentSource, feature: str) -> None:
        self._source = source
        self._feature = feature
        self._names: tuple[str, ...] = ()
        self._known: dict[str, int] = {}
        #: Chains of which some segment holds more than the live journal.
        self._open: set[str] = set()
        self._heads: dict[str, segments.Held | None] = {}
        self._read: dict[str, segments.Segment] = {}
        self._beyond = NOTHING

    def look(self, known: Callable[[], Mapping[str, int]], n: int) -> Beyond:
        """What lies beyond the chains in `known` (name -> last place); `n` is the live journal's counter."""
        names = self._source.names(self._feature)
        if not names and not self._names:
            return self._beyond
        chains = dict(known())
        if names != self._names or any(chains.get(one) != self._known.get(one) for one in self._open):
            self._names, self._known = names, chains
            self._open.clear()
            self._beyond = self._lay(n)
        return self._beyond

    def _lay(self, n: int) -> Beyond:
        found: dict[str, Record] = {}
        findings: list[Finding] = []
        if len(self._names) > SEGMENTS:
            says = f"{self._feature} has {len(self._names):,} segments, the limit is {SEGMENTS:,}; the rest is not read"
            findings.append(Finding("segment.damaged", says, grave=False, mark=f"many:{self._feature}"))
        for name in self._names[:SEGMENTS]:
            segment = self._segment(name)
            if segment is None:
                continue
            findings.extend(segment.findings)
            self._open.update(segment.held)
            for record in segment.records:
                if record.i > self._known.get(chain_of(record.store, record.writer), 0):
                    found[record.id] = record
        ordered = sorted(found.values(), key=lambda one: (one.n, one.writer, one.id))
        return self._ordered(ordered, n, findings)

    def _ordered(self, ordered: list[Record], n: int, findings: list[Finding]) -> Beyond:
        """The records up to a leap of the counter, which would use ours up. What begins in the middle is named."""
        taken: list[Record] = []
        heads: dict[str, str] = {}
        last: dict[str, int] = {}
        broken: set[str] = set()
        for record in ordered:
            chain = chain_of(record.store, record.writer)
            if record.n > n + COUNTER_JUMP:
                says = f"{self._feature}: the counter in a segment leaps to {record.n}; what follows is set aside"
                findings.append(Finding("segment.damaged", says, grave=False, mark=f"leap:{record.id}"))
                break
            if record.i > last.get(chain, self._known.get(chain, 0)) + 1 and chain not in broken:
                broken.add(chain)
                says = f"{self._feature}: earlier records of another copy are not here yet; shown as incomplete"
                findings.append(Finding("segment.incomplete", says, grave=False, mark=f"incomplete:{chain}"))
            n = max(n, record.n)
            last[chain] = max(record.i, last.get(chain, 0))
            heads[chain] = record.id
            taken.append(record)
        return Beyond(tuple(taken), heads, n, tuple(findings))

    def _segment(self, name: str) -> segments.Segment | None:
        """The segment if it holds anything that is not known; what cannot be read is a finding."""
        path = self._source.path(self._feature, name)
        try:
            if name not in self._heads:
                self._heads[name] = segments.read_head(self._source.head(self._feature, name), self._feature, name)
            held = self._heads[name]
            if held is not None and all(last <= self._known.get(chain, 0) for chain, (_, last) in held.items()):
                return None
            if name not in self._read:
                self._read[name] = segments.read(self._source.read(self._feature, name), self._feature, name, path)
            return self._read[name]
        except Refusal as refusal:
            finding = Finding("segment.damaged", refusal.message, path, grave=False, mark=f"{path}:{refusal.code}")
            return segments.Segment({}, (), (finding,))
