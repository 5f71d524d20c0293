"""What a power cut may leave of the changes that no fsync confirmed.

The outcomes are those of a journaling file system with delayed allocation (ext4 in its default mode), taken in their
widest legal sense:

* Names: a change survives only with every earlier change of the same name; a rename survives whole or not at all.
  Names without a common one survive independently, in any selection.
* Bytes: each sector of 512 bytes holds what it held after some change, whatever the neighbours hold; so a write may be
  torn. A sector never shows a later write without the earlier ones.
* Size: it grows by single writes in their order, or inside a write to a sector's end, whether or not the bytes
  came along: what is missing reads as zero bytes. Bytes cut off by a truncate that survived never come back.
* A write that a failed fsync lost may be there, torn or not, beneath what came later.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

from tests.simdisk.inode import EntryChange, File, Folder, Inode, State, Symlink, Truncate, Write, put, resize

SECTOR = 512
BLOCK = 4096
_MOODS = (0.0, 0.1, 0.5, 0.9, 1.0)


class Fate:
    """Draws what survives: each unconfirmed piece with probability `survival`, or by a mood of its own per file."""

    def __init__(self, seed: int, survival: float | None) -> None:
        self.random = random.Random(seed)
        self._survival = survival
        self._now = 0.0
        self.turn()

    def turn(self) -> None:
        """A new object: unless the survival is fixed, it gets its own probability."""
        self._now = self.random.choice(_MOODS) if self._survival is None else self._survival

    def survives(self) -> bool:
        """The next draw."""
        return self.random.random() < self._now


class Piece(NamedTuple):
    """The part of a write that lies in one sector."""

    sector: int
    offset: int
    data: bytes


def pieces(offset: int, data: bytes) -> Iterator[Piece]:
    """`data` at `offset` cut at the sectors' borders."""
    at = 0
    while at < len(data):
        sector = (offset + at) // SECTOR
        end = (sector + 1) * SECTOR - offset
        yield Piece(sector, offset + at, data[at:end])
        at = end


class Wreck:
    """The bytes of one file being put together from what survived, change by change in their order."""

    def __init__(self, file: File, fate: Fate) -> None:
        self.content = bytearray(file.durable)
        self._size = len(file.durable)
        self._fate = fate
        #: Sectors that the medium holds in an earlier state for good.
        self._stale: set[int] = set()
        #: False once a truncate did not survive: no later change of the size does.
        self._resizes = True
        #: Blocks from here on were freed by a truncate that did not survive; what came later went to other blocks.
        self._limit: int | None = None
        for change in file.changes:
            if isinstance(change, Write):
                self._write(change)
            else:
                self._truncate(change)
        resize(self.content, self._size)

    def _write(self, write: Write) -> None:
        for piece in pieces(write.offset, write.data):
            if self._keeps(piece, write.state):
                put(self.content, piece.offset, piece.data)
        end = write.offset + len(write.data)
        if end <= self._size:
            return
        if write.state is State.SYNCED:
            self._size = end
        elif write.state is State.LOST:
            if self._resizes and self._fate.survives():
                self._size = end
        elif self._resizes:
            self._grow(write.offset, end)

    def _keeps(self, piece: Piece, state: State) -> bool:
        if state is State.SYNCED:
            return True
        if self._limit is not None and piece.offset >= self._limit:
            return False
        if state is State.LOST:
            return self._fate.survives()
        if piece.sector in self._stale:
            return False
        if self._fate.survives():
            return True
        self._stale.add(piece.sector)
        return False

    def _grow(self, start: int, end: int) -> None:
        if self._fate.survives():
            self._size = end
            return
        first = max(start, self._size) // SECTOR + 1
        borders = range(first * SECTOR, end, SECTOR)
        if borders and self._fate.survives():
            self._size = self._fate.random.choice(borders)

    def _truncate(self, truncate: Truncate) -> None:
        size = truncate.size
        block_end = -(-size // BLOCK) * BLOCK
        if truncate.state is State.SYNCED or (self._resizes and self._fate.survives()):
            del self.content[size:]
            self._size = size
            return
        self._resizes = False
        if size < len(self.content):
            # The rest of the last block is cleared in memory and may reach the medium before the new size does.
            for piece in pieces(size, bytes(min(block_end, len(self.content)) - size)):
                if self._keeps(piece, State.DIRTY):
                    put(self.content, piece.offset, piece.data)
            self._limit = block_end if self._limit is None else min(self._limit, block_end)


def evict(file: File, fate: Fate) -> None:
    """Read `file` anew from the medium, except its dirty bytes: what a failed sync lost is there or gone, for good."""
    kept: list[Write | Truncate] = []
    for change in file.changes:
        if isinstance(change, Write) and change.state is State.LOST:
            for piece in pieces(change.offset, change.data):
                if fate.survives():
                    kept.append(Write(piece.offset, piece.data, State.SYNCED))
        else:
            kept.append(change)
    file.changes = kept
    file.visible[:] = file.durable
    for change in kept:
        change.apply(file.visible)


def unconfirmed_names(root: Folder) -> list[EntryChange]:
    """Every change of names that the medium has not confirmed, oldest first, in `root` and all that lies below it."""
    found: set[EntryChange] = set()
    seen: set[int] = set()
    rest: list[Inode | None] = [root]
    while rest:
        inode = rest.pop()
        if isinstance(inode, Folder) and id(inode) not in seen:
            seen.add(id(inode))
            found.update(inode.changes)
            rest.extend(inode.durable.values())
            rest.extend(effect.inode for change in inode.changes for effect in change.effects)
    return sorted(found, key=lambda change: change.number)


def surviving_names(changes: list[EntryChange], fate: Fate) -> list[EntryChange]:
    """Those of `changes` (oldest first) that the medium holds after the cut."""
    blocked: set[tuple[int, str]] = set()
    kept: list[EntryChange] = []
    for change in changes:
        names = {(id(effect.folder), effect.name) for effect in change.effects}
        if blocked.isdisjoint(names) and fate.survives():
            kept.append(change)
        else:
            blocked |= names
    return kept


class Salvage:
    """Copies what can be reached from `root` after the cut into new inodes, all of it durable.

    `root` is the copy of the top folder, `inos` are the inode numbers in use. An inode keeps its number unless the
    number was given away again by changes of which only a part survived.
    """

    def __init__(self, root: Folder, fate: Fate) -> None:
        self._fate = fate
        self._copies: dict[int, Inode] = {}
        self._survived: dict[int, dict[str, Inode | None]] = {}
        for change in surviving_names(unconfirmed_names(root), fate):
            for folder, name, inode in change.effects:
                self._survived.setdefault(id(folder), {})[name] = inode
        self.inos: set[int] = set()
        self.root = self._folder(root, None)
        self.root.links = 1

    def _folder(self, folder: Folder, parent: Folder | None) -> Folder:
        copy = Folder(self._ino(folder), folder.mode, folder.modified, parent)
        entries: dict[str, Inode | None] = {**folder.durable, **self._survived.get(id(folder), {})}
        for name, inode in entries.items():
            if inode is not None:
                found = self._copies.get(id(inode)) or self._inode(inode, copy)
                found.links += 1
                copy.entries[name] = copy.durable[name] = found
        return copy

    def _inode(self, inode: Inode, parent: Folder) -> Inode:
        copy: Inode
        if isinstance(inode, Folder):
            copy = self._folder(inode, parent)
        elif isinstance(inode, Symlink):
            copy = Symlink(self._ino(inode), inode.mode, inode.modified, inode.target)
        elif isinstance(inode, File):
            self._fate.turn()
            copy = File(self._ino(inode), inode.mode, inode.modified, bytes(Wreck(inode, self._fate).content))
        else:
            raise TypeError(f"no such kind on this disk: {inode!r}")
        copy.changed = inode.changed
        self._copies[id(inode)] = copy
        return copy

    def _ino(self, inode: Inode) -> int:
        ino = inode.ino if inode.ino not in self.inos else max(self.inos) + 1_000_000
        self.inos.add(ino)
        return ino
