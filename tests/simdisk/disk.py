"""The simulated disk: where processes come from, where the power is cut, and what a test does to it by hand.

What a test does by hand (`put`, `remove`, `move`, `symlink`, `chmod`) stands for what happened long ago or outside of
the code under test, so it is durable at once. None of it is thread-safe.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable

from tests.simdisk.crash import Fate, Salvage, evict
from tests.simdisk.inode import Effect, File, Folder, Symlink, Truncate, Write, confirm
from tests.simdisk.process import Process
from tests.simdisk.tree import Tree, failure, split


class SimDisk(Tree):
    """An in-memory disk of one machine. `process()` gives a `Files`; `crash(seed)` gives the disk after a power cut."""

    def process(self) -> Process:
        """A new process: a `Files` with descriptors and locks of its own."""
        return Process(self)

    # --- power

    def crash(self, seed: int, survival: float | None = None) -> SimDisk:
        """The disk as it may be found after a power cut now; all of it is durable, nothing is open or locked.

        This disk stays as it is, so one moment can be cut with many seeds. `survival` fixes the probability of each
        unconfirmed piece: 0.0 leaves only what is durable, 1.0 everything visible. Without, the seed draws it.
        """
        salvage = Salvage(self.root, Fate(seed, survival))
        disk = SimDisk(self._grain)
        disk.root = salvage.root
        disk._ticks = self._ticks
        disk._last_ino = max(salvage.inos)
        return disk

    def settled(self) -> SimDisk:
        """A copy of the visible state, all of it durable: the disk after an orderly shutdown."""
        return self.crash(0, survival=1.0)

    def outcomes(self, path: str, seeds: Iterable[int] = range(150)) -> set[bytes | None]:
        """What a file may be found to hold after a power cut now, by many seeds; None where it is gone."""
        found: set[bytes | None] = set()
        for seed in seeds:
            try:
                found.add(self.crash(seed).content(path))
            except FileNotFoundError:
                found.add(None)
        return found

    def drop_caches(self, seed: int) -> None:
        """Let the system forget clean pages: bytes that a failed fsync lost then read as the medium holds them.

        Dirty bytes stay. Files without a failed sync are not touched.
        """
        fate = Fate(seed, None)
        for path, kind in self.tree().items():
            if isinstance(kind, bytes) and (file := self._file_at(path)).scarred:
                fate.turn()
                evict(file, fate)

    # --- by hand

    def content(self, path: str) -> bytes:
        """The visible bytes of a file."""
        return bytes(self._file_at(path).visible)

    def tree(self, path: str = "/") -> dict[str, bytes | str | None]:
        """Everything visible below `path`: path to bytes of a file, target of a symbolic link, None of a folder."""
        found: dict[str, bytes | str | None] = {}
        inode = self.find(path)
        rest = [(path.rstrip("/"), inode)]
        while rest:
            at, inode = rest.pop()
            if isinstance(inode, Folder):
                found[at or "/"] = None
                rest.extend((f"{at}/{name}", entry) for name, entry in inode.entries.items())
            elif isinstance(inode, Symlink):
                found[at] = inode.target
            elif isinstance(inode, File):
                found[at] = bytes(inode.visible)
        return dict(sorted(found.items()))

    def folders(self, path: str) -> None:
        """Make folder `path` and its missing parents."""
        at = ""
        for name in split(path):
            at = f"{at}/{name}"
            if self.locate(at).inode is None:
                self.mkdir(at, 0o755)
                self._settle(at)

    def put(self, path: str, data: bytes, mode: int = 0o644) -> None:
        """Set the content of a file in place, or make it and its folders."""
        self.folders(path.rpartition("/")[0])
        place = self.locate(path)
        inode = place.inode or self.new_file(place, path, mode)
        if not isinstance(inode, File):
            raise failure(errno.EISDIR, path)
        inode.change(Truncate(0))
        inode.change(Write(0, data))
        inode.sync()
        inode.modified = inode.changed = self.now()
        self._settle(path)

    def symlink(self, target: str, path: str) -> None:
        """Make a symbolic link at `path` that names `target`."""
        place = self.locate(path, follow=False)
        if place.inode is not None:
            raise failure(errno.EEXIST, path)
        link = Symlink(self._new_ino(), 0o777, self.now(), target)
        confirm(self._enter(Effect(place.folder, place.name, link)))

    def chmod(self, path: str, mode: int) -> None:
        """Set the permission bits. They are shown by a stat; the disk does not enforce them, as for root."""
        inode = self.find(path)
        inode.mode = mode & 0o7777
        inode.changed = self.now()

    def remove(self, path: str) -> None:
        """Take away a file, or a folder with everything in it; open descriptors keep what they have."""
        place = self.locate(path, follow=False)
        if place.inode is None:
            raise failure(errno.ENOENT, path)
        if isinstance(place.inode, Folder):
            for name in list(place.inode.entries):
                self.remove(f"{path.rstrip('/')}/{name}")
        confirm(self._enter(Effect(place.folder, place.name, None)))

    def move(self, old: str, new: str) -> None:
        """Move a file or a whole folder to the free path `new`."""
        source, target = self.locate(old, follow=False), self.locate(new, follow=False)
        if source.inode is None:
            raise failure(errno.ENOENT, old)
        if target.inode is not None:
            raise failure(errno.EEXIST, new)
        moved = source.inode
        change = self._enter(Effect(target.folder, target.name, moved), Effect(source.folder, source.name, None))
        if isinstance(moved, Folder):
            moved.parent = target.folder
        confirm(change)

    def _file_at(self, path: str) -> File:
        inode = self.find(path)
        if not isinstance(inode, File):
            raise failure(errno.EISDIR, path)
        return inode

    def _settle(self, path: str) -> None:
        """Make the name at `path` durable, as an fsync of its folder would, and no other."""
        folder, name, _ = self.locate(path)
        for change in list(folder.changes):
            if any(effect.folder is folder and effect.name == name for effect in change.effects):
                confirm(change)
