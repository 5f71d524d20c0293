"""What lies on the simulated disk: regular files, folders and symbolic links, each in two halves.

The *visible* half is what every process sees at once (the page cache); the *durable* half is what the medium holds.
Between them stands the list of changes that no `fsync` has confirmed. A power cut (`crash.py`) plays any legal part
of that list on top of the durable half.
"""

from __future__ import annotations

import enum
import stat as modes
from typing import NamedTuple


class State(enum.Enum):
    """How far one change to a file's bytes has come.

    `DIRTY`: in memory only, the medium may or may not hold it. `SYNCED`: confirmed, it survives. `LOST`: a write that
    was under way when `fsync` failed; Linux marks such pages clean, so no later `fsync` writes them again.
    """

    DIRTY = "dirty"
    SYNCED = "synced"
    LOST = "lost"


class Write:
    """Bytes `data` put at `offset`."""

    __slots__ = ("data", "offset", "state")

    def __init__(self, offset: int, data: bytes, state: State = State.DIRTY) -> None:
        self.offset = offset
        self.data = data
        self.state = state

    def apply(self, content: bytearray) -> None:
        """Do this change to `content`; a gap before `offset` reads as zero bytes."""
        put(content, self.offset, self.data)


class Truncate:
    """The size set to `size` bytes, smaller or larger than before."""

    __slots__ = ("size", "state")

    def __init__(self, size: int) -> None:
        self.size = size
        self.state = State.DIRTY

    def apply(self, content: bytearray) -> None:
        """Do this change to `content`; what is new reads as zero bytes."""
        resize(content, self.size)


def put(content: bytearray, offset: int, data: bytes) -> None:
    """Place `data` at `offset` of `content`, filling a gap with zero bytes."""
    if offset > len(content):
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(data)] = data


def resize(content: bytearray, size: int) -> None:
    """Cut `content` to `size` bytes or fill it up with zero bytes."""
    if size < len(content):
        del content[size:]
    else:
        content.extend(bytes(size - len(content)))


class Inode:
    """What all kinds share. `links` counts visible names, `opened` open descriptors; times are nanoseconds."""

    __slots__ = ("changed", "holder", "ino", "links", "mode", "modified", "opened")
    kind = 0

    def __init__(self, ino: int, mode: int, now: int) -> None:
        self.ino = ino
        self.mode = mode
        self.links = 0
        self.opened = 0
        self.modified = now
        self.changed = now
        #: The open file that holds the kernel lock, None when it is free.
        self.holder: object | None = None

    @property
    def size(self) -> int:
        """The size in bytes that a stat shows."""
        return 0


class File(Inode):
    """A regular file: `visible` and `durable` bytes, and the `changes` that lead from one to the other."""

    __slots__ = ("changes", "durable", "scarred", "sync_failures", "visible")
    kind = modes.S_IFREG

    def __init__(self, ino: int, mode: int, now: int, content: bytes = b"") -> None:
        super().__init__(ino, mode, now)
        self.visible = bytearray(content)
        self.durable = bytearray(content)
        self.changes: list[Write | Truncate] = []
        #: True once a write was lost: from then on `changes` keeps its order, since a crash must play it again.
        self.scarred = False
        self.sync_failures = 0

    @property
    def size(self) -> int:
        """The visible size in bytes."""
        return len(self.visible)

    def change(self, change: Write | Truncate) -> None:
        """Do `change` to the visible bytes and remember that the medium has not confirmed it."""
        change.apply(self.visible)
        self.changes.append(change)

    def sync(self) -> None:
        """What a successful fsync does: every change that is still dirty becomes durable, a lost one does not."""
        if not self.scarred:
            for change in self.changes:
                change.apply(self.durable)
            self.changes.clear()
            return
        for change in self.changes:
            if change.state is State.DIRTY:
                change.state = State.SYNCED

    def lose(self) -> None:
        """What a failed fsync does: the dirty pages count as clean although the medium may not hold them.

        Truncates stay dirty: the size travels with the file system's own journal, not with the pages.
        """
        for change in self.changes:
            if isinstance(change, Write) and change.state is State.DIRTY:
                change.state = State.LOST
                self.scarred = True
        self.sync_failures += 1


class EntryChange:
    """One atomic change of names: each effect sets a name of a folder to an inode, or to None (no such name).

    Compared by identity; `number` counts the changes of one disk. A rename is one change with two effects, so a crash
    shows both of them or none.
    """

    __slots__ = ("effects", "number")

    def __init__(self, number: int, effects: tuple[Effect, ...]) -> None:
        self.number = number
        self.effects = effects


class Folder(Inode):
    """A folder: `entries` are the visible names, `durable` the confirmed ones, `changes` what is between (in order)."""

    __slots__ = ("changes", "durable", "entries", "parent")
    kind = modes.S_IFDIR

    def __init__(self, ino: int, mode: int, now: int, parent: Folder | None = None) -> None:
        super().__init__(ino, mode, now)
        self.parent: Folder = parent if parent is not None else self
        self.entries: dict[str, Inode] = {}
        self.durable: dict[str, Inode] = {}
        self.changes: dict[EntryChange, None] = {}

    @property
    def size(self) -> int:
        """Real file systems show whole blocks here; nobody may rely on it."""
        return 4096

    def sync(self) -> None:
        """What fsync of a descriptor of this folder does: every name in it becomes durable.

        The other half of a rename into or out of another folder becomes durable with it.
        """
        for change in list(self.changes):
            if change in self.changes:
                confirm(change, self)


class Effect(NamedTuple):
    """`name` in `folder` becomes `inode`."""

    folder: Folder
    name: str
    inode: Inode | None


def confirm(change: EntryChange, syncing: Folder | None = None) -> None:
    """Make `change` durable, and before it every earlier change of the same name.

    In the folder `syncing` the earlier changes are confirmed already, so it is not searched.
    """
    for folder, name, _ in change.effects:
        if folder is not syncing:
            for earlier in list(folder.changes):
                if earlier is change:
                    break
                if earlier in folder.changes and any(e.folder is folder and e.name == name for e in earlier.effects):
                    confirm(earlier, syncing)
    for folder, name, inode in change.effects:
        folder.changes.pop(change, None)
        if inode is None:
            folder.durable.pop(name, None)
        else:
            folder.durable[name] = inode


class Symlink(Inode):
    """A symbolic link to the text `target`. Only tests make one, so it is durable from the start."""

    __slots__ = ("target",)
    kind = modes.S_IFLNK

    def __init__(self, ino: int, mode: int, now: int, target: str) -> None:
        super().__init__(ino, mode, now)
        self.target = target

    @property
    def size(self) -> int:
        """The length of the target's bytes."""
        return len(self.target.encode("utf-8", "surrogateescape"))
