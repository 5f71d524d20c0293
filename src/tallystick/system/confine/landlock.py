"""The order for our own launcher, which shuts in by Landlock, and by namespaces where they can be made. Pure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tallystick.system.confine.layout import OWN_BYTES, READ, Ground, layout, visible

#: Since 3 a file cannot be emptied by its name (Linux 6.2): below it the user's files would not be safe.
LEAST_ABI = 3
LAUNCHER = os.path.join(os.path.dirname(__file__), "launcher.py")


def order(ground: Ground, folder: str, *, namespaces: bool) -> dict[str, Any]:
    """What `launcher.main` is told. Without namespaces nothing can be covered, so what is hidden is left out of what
    is granted: `shut` are the paths between the granted ones."""
    shown = visible(ground)
    if namespaces:
        mounts = [tuple(mount) for mount in layout(ground)]
        read = ["/"]
        write = [mount.place for mount in shown if mount.kind != READ] + list(ground.own)
        shut: list[str] = []
    else:
        mounts = []
        read = ["/", *(mount.source for mount in shown if mount.kind == READ)]
        write = [mount.source for mount in shown if mount.kind != READ]
        shut = [*ground.covered, *ground.own, *ground.closed, "/dev"]
    return {
        "namespaces": namespaces,
        "network": ground.rules.network == "loopback",
        "mounts": mounts,
        "own_bytes": OWN_BYTES,
        "read": read,
        "write": write,
        "shut": shut,
        "folder": folder,
    }


def landlock(python: str, command: Sequence[str], ground: Ground, folder: str, *, namespaces: bool) -> tuple[str, ...]:
    """The arguments that run `command` in `folder` under the launcher, by the interpreter `python` (our own)."""
    import binascii
    import marshal

    told = binascii.b2a_base64(marshal.dumps(order(ground, folder, namespaces=namespaces)), newline=False)
    return (python, "-I", "-S", "-B", LAUNCHER, told.decode("ascii"), "--", *command)
