"""What a confined program may do, and what it takes to start it so. Pure."""

from __future__ import annotations

from typing import NamedTuple

LOOPBACK, ALL = "loopback", "all"


class Rules(NamedTuple):
    """What a program may read, write and reach; every path is absolute.

    The more exact path wins: a tree inside a hidden home is visible, a hidden folder inside the tree is not. All else
    is readable and not writable, but for temporary folders, devices and sockets of the system, which are never seen.

    `tree` may be written; it appears at `mount_at` ("": where it is). `home` is an empty folder of the program's own;
    `writable` are further folders or files (a temporary folder, an allowed socket), `read_only` what stays readable
    inside a hidden place (a tool chain). `hidden` are files and folders that nobody sees into, such as the user's
    home; nothing inside of `secret` (the keys, the store) can be made visible again by any other rule or link.
    `binds` are pairs (source, place): a folder shown once more, read-only, at a place below `mount_at`. With `network`
    "loopback" the program talks to nobody but itself.
    """

    tree: str
    home: str
    writable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    network: str = LOOPBACK
    mount_at: str = ""
    binds: tuple[tuple[str, str], ...] = ()


class Wrapped(NamedTuple):
    """What to hand to `system.process.run`, and where the program finds its tree.

    `cwd` is the folder to start `argv` in, `place` where the program sees the tree (`mount_at` only where the means
    can mount). `doubts` are sentences on what could not be shut in this case.
    """

    argv: tuple[str, ...]
    cwd: str
    place: str
    doubts: tuple[str, ...] = ()


def within(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or lies below it; both normal and absolute."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def moved(path: str, source: str, place: str) -> str:
    """The name of `path`, which lies within `source`, where `source` appears at `place`."""
    return (place.rstrip("/") + path[len(source.rstrip("/")) :]) or "/"
