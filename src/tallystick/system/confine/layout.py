"""Which mounts make the rules true: one list for every means that can mount. Pure.

A folder is covered, and what is visible inside it is mounted over the cover again; so the list goes from the outer
paths to the inner ones, and the more exact path wins by itself.
"""

from __future__ import annotations

from typing import NamedTuple

from tallystick.system.confine.rules import Rules, moved, within

#: Kinds of mounts. An empty folder takes mount points, then it is closed for writing; an own one stays open.
EMPTY, OWN, NOTHING, READ, WRITE = "empty", "own", "nothing", "read", "write"

#: The most that one own folder takes (it lies in memory), in bytes.
OWN_BYTES = 512 * 1024 * 1024


class Mount(NamedTuple):
    """One mount at `place`; a bind has a `source`."""

    kind: str
    place: str
    source: str = ""


class Ground(NamedTuple):
    """The rules with real paths, and what this machine has to do with them.

    `covered` are the hidden and secret paths that exist, under every name they are mounted by, and `files` those of
    them that are no folders. `own` are the folders of the system of which each program gets its own (/tmp), `closed`
    those that it finds empty (/run). `sockets` are listening outside, `resolver` is needed to look up names.
    """

    rules: Rules
    covered: tuple[str, ...]
    files: frozenset[str] = frozenset()
    own: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    sockets: tuple[str, ...] = ()
    resolver: str = ""

    @property
    def place(self) -> str:
        """Where the tree appears under a means that can mount."""
        return self.rules.mount_at or self.rules.tree


def visible(ground: Ground) -> list[Mount]:
    """What the rules make visible: binds, in the order of the rules."""
    rules = ground.rules
    found = [Mount(READ, path, path) for path in rules.read_only]
    if ground.resolver and rules.network != "loopback":
        found.append(Mount(READ, ground.resolver, ground.resolver))
    found += [Mount(WRITE, path, path) for path in (*rules.writable, rules.home)]
    found.append(Mount(WRITE, ground.place, rules.tree))
    found += [Mount(READ, place, source) for source, place in rules.binds]
    return found


def layout(ground: Ground) -> tuple[Mount, ...]:
    """The mounts for `ground`, in the order in which they are made."""
    base = [Mount(OWN, path) for path in ground.own] + [Mount(EMPTY, path) for path in ground.closed]
    binds = visible(ground)
    made = base + binds
    for path in sorted(ground.covered):
        kind = NOTHING if path in ground.files else EMPTY
        names = {moved(path, bind.source, bind.place) for bind in binds if within(path, bind.source)}
        nearest = _nearest(made, path)
        # in an own folder there is nothing of others, but what is mounted below would make the hidden one appear
        if nearest is None or (nearest.kind == OWN and any(within(bind.place, path) for bind in binds)):
            names.add(path)
        made += [Mount(kind, name) for name in sorted(names)]
    for path in ground.sockets:
        nearest = _nearest(made, path)
        if nearest is None or (nearest.kind == READ and nearest.place == nearest.source):
            made.append(Mount(NOTHING, path))
    return tuple(sorted(made, key=lambda mount: (mount.place.split("/"), mount.kind in (EMPTY, NOTHING))))


def _nearest(made: list[Mount], path: str) -> Mount | None:
    """The mount that decides what is seen at `path`; None where that is the machine's own file system."""
    around = [mount for mount in made if within(path, mount.place)]
    return max(around, key=lambda mount: len(mount.place), default=None)
