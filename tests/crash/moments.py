"""Looks at a disk at every moment of a command: what a kill leaves there, and what a power cut leaves."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from posixpath import dirname
from typing import Any

from tallystick.system.files import Files
from tests.simdisk import Attempt, Call, Tap

#: The calls that change what is on a disk or what of it is durable.
CHANGING = {"write", "pwrite", "truncate", "fsync", "mkdir", "rename", "link", "unlink"}
_MAKING = os.O_CREAT | os.O_TRUNC


def changes(call: Attempt | Call) -> bool:
    """Whether the call may change something."""
    return call.name in CHANGING or (call.name == "open" and bool(call.args[1] & _MAKING))


def side_by_side(one: Attempt | Call | None, other: Attempt | Call) -> bool:
    """Whether both make a folder in the same folder. Of a long row of such, the first and the last tell all."""
    return one is not None and one.name == other.name == "mkdir" and dirname(one.path) == dirname(other.path)


def telling(log: Sequence[Call]) -> Iterator[tuple[int, Call]]:
    """The calls of a log with their numbers (from 1), without the middle of a row of folders made side by side."""
    for nth, call in enumerate(log, 1):
        before = log[nth - 2] if nth > 1 else None
        if not (side_by_side(before, call) and nth < len(log) and side_by_side(call, log[nth])):
            yield nth, call


class Moments(Tap):
    """Calls `look` at every moment at which the disk is another one: before the first call, after each that changes."""

    def __init__(self, files: Files, look: Callable[[], None]) -> None:
        super().__init__(files)
        self._look = look
        self._last: Attempt | None = None
        self._due = False
        look()

    def intercept(self, attempt: Attempt) -> Any:
        """Look if that is due, carry out the call, then look, or let it wait inside a row of folders."""
        row = side_by_side(self._last, attempt)
        if self._due and not row:
            self._look()
            self._due = False
        self._last = attempt
        try:
            return attempt.do(*attempt.args)
        finally:
            if row:
                self._due = True
            elif changes(attempt):
                self._look()
