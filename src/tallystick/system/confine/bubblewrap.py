"""How bubblewrap is called. Pure.

Capabilities are dropped always: started by root it keeps them all, and one `umount` inside would give back what is
hidden. Root without capabilities still owns the kernel's settings under /proc/sys, and bubblewrap leaves those
writable for it (the pattern for core dumps starts a program *outside*), so for root /proc is closed for writing.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.system.confine.layout import EMPTY, NOTHING, OWN, OWN_BYTES, READ, Ground, layout

NAMESPACES = (
    "--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
)  # fmt: skip
ALWAYS = ("--die-with-parent", "--new-session", "--cap-drop", "ALL")


def bubblewrap(
    program: str, command: Sequence[str], ground: Ground, folder: str, *, root: bool, sized: bool
) -> tuple[str, ...]:
    """The arguments that run `command` in `folder` under the bubblewrap at `program`.

    `root` says that we are the superuser, `sized` that this version can limit a folder in memory.
    """
    size = ("--size", str(OWN_BYTES)) if sized else ()
    argv = [program, *NAMESPACES, *ALWAYS]
    if ground.rules.network == "loopback":
        argv.append("--unshare-net")
    argv += ["--ro-bind", "/", "/", "--dev", "/dev", *size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]
    argv += ["--proc", "/proc", *(("--remount-ro", "/proc") if root else ())]
    mounts = layout(ground)
    for mount in mounts:
        if mount.kind == OWN:
            argv += [*size, "--tmpfs", mount.place]
        elif mount.kind == EMPTY:
            argv += ["--tmpfs", mount.place]
        elif mount.kind == NOTHING:
            argv += ["--ro-bind", "/dev/null", mount.place]
        else:
            argv += ["--ro-bind" if mount.kind == READ else "--bind", mount.source, mount.place]
    for mount in mounts:
        if mount.kind == EMPTY:
            argv += ["--remount-ro", mount.place]
    return (*argv, "--chdir", folder, "--", *command)
