"""The simulated disk's tree of names: walking a path, entering and removing names, as POSIX and Linux define it.

Every mistake is an `OSError` with the errno that Linux gives. Each change of names is one `EntryChange` in the list of
what the medium has not confirmed.
"""

from __future__ import annotations

import errno
import functools
import heapq
import os
from typing import NamedTuple

from tests.simdisk.inode import Effect, EntryChange, File, Folder, Inode, Symlink

NAME_BYTES = 255
PATH_BYTES = 4096
LINKS_FOLLOWED = 40
START_NS = 1_600_000_000_000_000_000
TICK_NS = 4_000_000
UMASK = 0o022


class Place(NamedTuple):
    """Where a path leads: `name` in `folder`, and the inode there, None when the name is free.

    `name` is empty where the path ends in the root, "." or "..": such a place can be opened but not renamed.
    """

    folder: Folder
    name: str
    inode: Inode | None


def failure(code: int, path: str | None = None) -> OSError:
    """The error the system call would raise, in its own subclass, naming `path`."""
    return OSError(code, os.strerror(code), path)


@functools.lru_cache(maxsize=8192)
def split(path: str) -> tuple[str, ...]:
    """The components of `path`; raises what the system raises for a text that cannot be a path."""
    data = path.encode() if path.isascii() else os.fsencode(path)
    if b"\0" in data:
        raise ValueError("embedded null byte")
    if len(data) >= PATH_BYTES:
        raise failure(errno.ENAMETOOLONG, path)
    names = tuple(name for name in path.split("/") if name)
    if any(len(os.fsencode(name)) > NAME_BYTES for name in names):
        raise failure(errno.ENAMETOOLONG, path)
    return names


class Tree:
    """Folders and what is in them. `grain` is how many changes share one time stamp, as a coarse clock makes them.

    `full` and `read_only` turn the whole disk into one without room, or one mounted read-only.
    """

    def __init__(self, grain: int = 1) -> None:
        self.full = False
        self.read_only = False
        self._grain = grain
        self._ticks = 0
        self._last_ino = 1
        self._free_inos: list[int] = []
        self.root = Folder(self._new_ino(), 0o755, self.now())
        self.root.links = 1

    def now(self) -> int:
        """The time of the logical clock in nanoseconds; it advances with each change, not with the world's clock."""
        self._ticks += 1
        return START_NS + self._ticks // self._grain * TICK_NS

    # --- walking

    def locate(self, path: str, *, follow: bool = True) -> Place:
        """Walk `path`; with `follow` a symbolic link at its end is followed too."""
        if not path.startswith("/"):
            if not path:
                raise failure(errno.ENOENT, path)
            raise ValueError(f"the simulated disk takes absolute paths only, not {path!r}")
        rest = list(split(path)[::-1])
        whole = path.endswith("/")
        hops = 0
        parent = self.root
        at: Inode = parent
        name = ""
        while rest:
            if not isinstance(at, Folder):
                raise failure(errno.ENOTDIR, path)
            name = rest.pop()
            if name in (".", ".."):
                at, name = (at if name == "." else at.parent), ""
                continue
            parent = at
            child = parent.entries.get(name)
            if child is None:
                if rest:
                    raise failure(errno.ENOENT, path)
                return Place(parent, name, None)
            if isinstance(child, Symlink) and (rest or follow or whole):
                hops += 1
                if hops > LINKS_FOLLOWED:
                    raise failure(errno.ELOOP, path)
                at, name = (self.root if child.target.startswith("/") else parent), ""
                whole = whole or (not rest and child.target.endswith("/"))
                rest.extend(split(child.target)[::-1])
                continue
            at = child
        if whole and not isinstance(at, Folder):
            raise failure(errno.ENOTDIR, path)
        return Place(parent, name, at)

    def name(self, path: str) -> Place:
        """The place that a change of names means: the last component itself, whatever it is and slash or no slash."""
        return self.locate(path.rstrip("/") or path, follow=False)

    def find(self, path: str, *, follow: bool = True) -> Inode:
        """The inode at `path`; raises FileNotFoundError when there is none."""
        inode = self.locate(path, follow=follow).inode
        if inode is None:
            raise failure(errno.ENOENT, path)
        return inode

    def realpath(self, path: str) -> str:
        """`path` with every symbolic link resolved as far as it exists, as `os.path.realpath` does without strict."""
        rest = list(split(path)[::-1])
        done: list[str] = []
        hops = 0
        while rest:
            name = rest.pop()
            if name == "..":
                del done[-1:]
            elif name != ".":
                try:
                    inode = self.locate("/" + "/".join([*done, name]), follow=False).inode
                except OSError:
                    inode = None
                if isinstance(inode, Symlink) and hops < LINKS_FOLLOWED:
                    hops += 1
                    if inode.target.startswith("/"):
                        done.clear()
                    rest.extend(split(inode.target)[::-1])
                else:
                    done.append(name)
        return "/" + "/".join(done)

    def names(self, inode: Inode) -> list[str]:
        """Every visible path of `inode` without symbolic links."""
        found: list[str] = []
        rest: list[tuple[str, Inode]] = [("", self.root)]
        while rest:
            path, at = rest.pop()
            if at is inode:
                found.append(path or "/")
            if isinstance(at, Folder):
                rest.extend((f"{path}/{name}", entry) for name, entry in at.entries.items())
        return sorted(found)

    # --- changing names

    def writable(self, path: str | None = None) -> None:
        """Raise EROFS on a read-only disk."""
        if self.read_only:
            raise failure(errno.EROFS, path)

    def new_file(self, place: Place, path: str, mode: int) -> File:
        """A new empty file at the free `place`; its name is durable only after fsync of the folder."""
        self._room(path)
        inode = File(self._new_ino(), mode & ~UMASK & 0o7777, self.now())
        self._enter(Effect(place.folder, place.name, inode))
        return inode

    def mkdir(self, path: str, mode: int) -> None:
        """Make a folder; its name is durable only after fsync of the folder that holds it."""
        place = self.name(path)
        if place.inode is not None:
            raise failure(errno.EEXIST, path)
        self._room(path)
        made = Folder(self._new_ino(), mode & ~UMASK & 0o7777, self.now(), place.folder)
        self._enter(Effect(place.folder, place.name, made))

    def link(self, old: str, new: str) -> None:
        """A second name for a file."""
        inode = self.find(old, follow=False)
        place = self.name(new)
        if place.inode is not None:
            raise failure(errno.EEXIST, new)
        if new.endswith("/"):
            raise failure(errno.ENOENT, new)
        if isinstance(inode, Folder):
            raise failure(errno.EPERM, old)
        self._room(new)
        self._enter(Effect(place.folder, place.name, inode))

    def unlink(self, path: str) -> None:
        """Take a name away; open descriptors keep the file."""
        place = self.name(path)
        if place.inode is None:
            raise failure(errno.ENOENT, path)
        if isinstance(place.inode, Folder):
            raise failure(errno.EISDIR, path)
        if path.endswith("/"):
            raise failure(errno.ENOTDIR, path)
        self.writable(path)
        self._enter(Effect(place.folder, place.name, None))

    def rename(self, old: str, new: str) -> None:
        """Give `old` the name `new`, replacing in one step what stood there.

        A folder that would get another parent is refused with EXDEV, as an overlay file system does.
        """
        source, target = self.name(old), self.name(new)
        moved, replaced = source.inode, target.inode
        if not source.name or not target.name:
            raise failure(errno.EBUSY, old)
        if moved is None:
            raise failure(errno.ENOENT, old)
        if not isinstance(moved, Folder) and (old.endswith("/") or new.endswith("/")):
            raise failure(errno.ENOTDIR, new)
        if moved in _above(target.folder):
            raise failure(errno.EINVAL, new)
        if replaced in _above(source.folder):
            raise failure(errno.ENOTEMPTY, new)
        if moved is replaced:
            return
        if isinstance(moved, Folder):
            if replaced is not None and not isinstance(replaced, Folder):
                raise failure(errno.ENOTDIR, new)
            if isinstance(replaced, Folder) and replaced.entries:
                raise failure(errno.ENOTEMPTY, new)
            if source.folder is not target.folder:
                raise failure(errno.EXDEV, new)
        elif isinstance(replaced, Folder):
            raise failure(errno.EISDIR, new)
        self._room(new)
        # The new name first, so that the inode is never without a name.
        self._enter(Effect(target.folder, target.name, moved), Effect(source.folder, source.name, None))

    def _enter(self, *effects: Effect) -> EntryChange:
        """Do one atomic change of names and remember it as unconfirmed."""
        now = self.now()
        change = EntryChange(self._ticks, effects)
        for folder, name, inode in effects:
            before = folder.entries.pop(name, None)
            if inode is not None:
                folder.entries[name] = inode
                inode.links += 1
                inode.changed = now
            folder.changes[change] = None
            folder.modified = folder.changed = now
            if before is not None:
                before.links -= 1
                before.changed = now
                self.release(before)
        return change

    def _room(self, path: str) -> None:
        """Raise EROFS or ENOSPC where the disk takes no new name."""
        self.writable(path)
        if self.full:
            raise failure(errno.ENOSPC, path)

    # --- inode numbers

    def release(self, inode: Inode) -> None:
        """Free the number of an inode without names and descriptors; the next new file gets it, as on ext4."""
        if not inode.links and not inode.opened:
            heapq.heappush(self._free_inos, inode.ino)

    def _new_ino(self) -> int:
        if self._free_inos:
            return heapq.heappop(self._free_inos)
        self._last_ino += 1
        return self._last_ino


def _above(folder: Folder) -> list[Inode]:
    """`folder` and every folder above it."""
    found: list[Inode] = [folder]
    while folder is not folder.parent:
        folder = folder.parent
        found.append(folder)
    return found
