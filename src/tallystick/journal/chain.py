"""Walks one writer's file and says which lines are records of it, which are damaged, and where the good part ends.

Pure: bytes in, records and findings out. One verdict for every command (P6): a torn end, as a crash leaves it, is
set aside and is no error; damage anywhere else is named by line and offset, and the good records around it stay.
Only records whose digest, place in the file, feature, store and writer are right are given out; where the file is
ours (`key`), the MAC must be right too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tallystick import canonical
from tallystick.errors import Refusal, Where
from tallystick.ids import shown
from tallystick.journal.record import FIRST, FORMAT, Record, Unreadable, authentic, canonical_line, open_line
from tallystick.limits import RECORD_LINE

#: How many lines may wait to be hashed: memory stays bounded while a long file is walked.
_HASH_EVERY = 64


class Finding(NamedTuple):
    """One thing that a look at the halves found. `grave` findings hold up every gate and are named everywhere.

    `mark` identifies the very thing found, wherever the store lies, so that a person can accept it once.
    """

    code: str
    says: str
    file: str | None = None
    line: int | None = None
    offset: int | None = None
    grave: bool = True
    mark: str = ""


class Head(NamedTuple):
    """Where a chain ends: the last good record, and the bytes and lines up to its end. `at_n` is its counter."""

    i: int = 0
    id: str = FIRST
    n: int = 0
    end: int = 0
    lines: int = 0


class Identity(NamedTuple):
    """What every record of a file must say. `key` is None where the file is not ours or there is no key to check."""

    store: str
    feature: str
    writer: str
    file: str
    key: bytes | None


class Chain:
    """The walk over one file, in as many steps as it takes: `walk` continues where the last one ended.

    `head` is the end of the good part, `torn` the bytes after it that a crash left, `damage` what is wrong before.
    A record is given out only when its whole commit is there.
    """

    __slots__ = (
        "_commit",
        "_format",
        "_hash",
        "_identity",
        "_pending",
        "_unhashed",
        "_watched",
        "damage",
        "head",
        "torn",
    )

    def __init__(self, identity: Identity, head: Head, hashed: canonical.Hash, version: int = FORMAT) -> None:
        self._identity = identity
        self._format = version
        self._hash = hashed
        self._unhashed: list[bytes] = []
        self._watched: dict[int, str] = {}
        self._commit: list[tuple[Record, Head]] = []
        self._pending: list[tuple[Unreadable, int, int]] = []
        self.head = head
        self.torn = 0
        self.damage: list[Finding] = []

    def watch(self, i: int) -> None:
        """Remember the id of the record at place `i` when the walk passes it (for the anchor)."""
        if i == self.head.i:
            self._watched[i] = self.head.id
        elif i > self.head.i:
            self._watched[i] = ""

    def watched(self, i: int) -> str | None:
        """The id seen at a watched place, "" when the file ends before it, None when nothing can be said."""
        return self._watched.get(i)

    def digest(self) -> str:
        """SHA-256 over the bytes up to `head.end`."""
        for line in self._unhashed:
            self._hash.update(line)
        self._unhashed.clear()
        return self._hash.copy().hexdigest()

    def append(self, record: Record, line: bytes) -> None:
        """Take in a record that this process itself has just written at the end of the good part."""
        self._unhashed.append(line)  # hashed when a checkpoint is due, not while somebody waits for the answer
        self.head = Head(record.i, record.id, record.n, self.head.end + len(line), self.head.lines + 1)

    def walk(self, pieces: Iterable[bytes]) -> Iterator[Record]:
        """The good records in `pieces`, which begin at `head.end`. Look at `torn` and `damage` afterwards.

        Raises `Refusal` "format.newer" for a record of a newer version.
        """
        self._commit.clear()
        self._pending.clear()
        at, number, start = self.head.end, self.head.lines, self.head.end
        rest = b""
        overlong = 0
        unhashed: list[bytes] = []
        for piece in pieces:
            lines = (rest + piece).split(b"\n")
            rest = lines.pop()
            for line in lines:
                number += 1
                unhashed.append(line + b"\n")
                yield from self._line(line, at, number, unhashed, overlong)
                at += overlong + len(line) + 1
                overlong = 0
            if len(rest) > RECORD_LINE:  # no line of ours: count it, do not hold it
                overlong += len(rest)
                rest = b""
        self._end(start, at, at + overlong + len(rest), number)

    def _line(self, line: bytes, at: int, number: int, unhashed: list[bytes], overlong: int) -> Iterator[Record]:
        opened = Unreadable("is longer than a record may be", False) if overlong else open_line(line, self._format)
        if isinstance(opened, Unreadable):
            if opened.newer:
                where = Where(self._identity.file, number, at)
                raise Refusal(
                    "format.newer",
                    f"{where} {opened.says}; nothing was changed",
                    "use the newer tallystick that wrote it",
                    where,
                )
            self._pending.append((opened, number, at))
            return
        record, mac = opened
        wrong = self._misplaced(record, mac, line)
        if wrong is not None:
            self._pending.append((Unreadable(wrong, False), number, at))
            return
        self._settle(record, number, at)
        self._commit.append((record, Head(record.i, record.id, record.n, at + len(line) + 1, number)))
        if record.place[0] < record.place[1]:
            return
        for one in self._commit:
            if self._watched and one[0].i in self._watched:
                self._watched[one[0].i] = one[0].id
        self.head = self._commit[-1][1]
        self._unhashed.extend(unhashed)
        unhashed.clear()
        if len(self._unhashed) > _HASH_EVERY:
            self.digest()
        complete = [one[0] for one in self._commit]
        self._commit.clear()
        yield from complete

    def _misplaced(self, record: Record, mac: str, line: bytes) -> str | None:
        identity = self._identity
        if record.feature != identity.feature:
            return f"belongs to the feature {shown(record.feature)}: a copied record counts for nothing"
        if record.store != identity.store:
            return "belongs to another store: a copied record counts for nothing"
        if record.writer != identity.writer:
            return "names another writer than its file"
        if identity.key is not None and not authentic(record, mac, identity.key):
            return "is not sealed with this user's key: it was not written by Tallystick here"
        if identity.key is None and not canonical_line(line):
            return "is not canonical JSON: no Tallystick wrote it"
        last_i, last_n = (self._commit[-1][0].i, self._commit[-1][0].n) if self._commit else (self.head.i, self.head.n)
        if record.i <= last_i:
            return f"repeats place {record.i} of this chain"
        if record.n <= last_n:
            return f"has the counter {record.n}, which does not follow {last_n}"
        return None

    def _settle(self, record: Record, line: int, at: int) -> None:
        """A good record after trouble: what stood between is damage, since a crash only ever leaves a torn end."""
        last_i, last_id = (self._commit[-1][0].i, self._commit[-1][0].id) if self._commit else self.head[:2]
        for unreadable, number, offset in self._pending:
            self._name(unreadable.says, number, offset)
        gap = record.i - last_i - 1
        if not self._pending:
            if gap:
                self._name(f"follows a gap: {gap} record(s) before it are gone", line, at)
            elif record.prev != last_id:
                self._name(f"record {record.i} does not follow the record before it", line, at)
        if self._commit and record.place[0] != self._commit[-1][0].place[0] + 1:
            self._name(f"the commit before record {record.i} is not whole", line, at)
            self._commit.clear()
        elif not self._commit and record.place[0] != 1 and not (self._pending or gap):
            self._name(f"the commit of record {record.i} is not whole", line, at)
        self._pending.clear()

    def _end(self, start: int, at: int, size: int, number: int) -> None:
        """At the end of the file: bad lines that are no JSON at all are the torn end, all others are damage.

        Whatever has no LF is part of the torn end, however long it is. Damage is never cut away and nothing is written
        over it, so where there is some the good part is taken to end behind it; the next record follows there and
        continues the chain.
        """
        torn_from = len(self._pending)
        while torn_from and self._pending[torn_from - 1][0].blank_of_json:
            torn_from -= 1
        for unreadable, line, offset in self._pending[:torn_from]:
            self._name(unreadable.says, line, offset)
        if torn_from:
            if self._commit:
                self._name(f"the commit of record {self._commit[0][0].i} is not whole", None, None)
            behind = self._pending[torn_from] if torn_from < len(self._pending) else (None, number + 1, at)
            self.head = self.head._replace(end=behind[2], lines=behind[1] - 1)
        self.torn = size - max(self.head.end, start)

    def _name(self, says: str, line: int | None, at: int | None) -> None:
        identity = self._identity
        where = Where(identity.file, line, at)
        mark = f"{identity.feature}/{identity.writer}:{line}:{self.head.id[:16]}:{says}"
        self.damage.append(Finding("journal.damaged", f"{where} {says}", identity.file, line, at, True, mark))
