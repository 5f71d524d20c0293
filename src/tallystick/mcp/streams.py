"""Keeps the wire clean: whatever the process or its children print goes to stderr, and nothing but us reads stdin."""

from __future__ import annotations

import fcntl
import os


def claim() -> tuple[int, int]:
    """Takes the standard streams for the protocol; gives a descriptor to read from and one to write to.

    Both are private duplicates that children do not inherit. Descriptor 0 then reads as empty, 1 is stderr (or nothing,
    where stderr is closed). Raises `OSError` when stdin or stdout is not open at all.
    """
    reading, writing = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in (0, 1))
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
    os.close(nothing)
    return reading, writing
