"""Looks at a disk at every moment of a command: what a kill leaves there, and what a power cut leaves."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tallystick.system.files import Files
from tests.simdisk import Attempt, Call, Tap

#: The calls that change what is on a disk or what of it is durable.
CHANGING = {"write", "pwrite", "truncate", "fsync", "mkdir", "rename", "link", "unlink"}
_MAKING = os.O_CREAT | os.O_TRUNC


def changes(call: Attempt | Call) -> bool:
    """Whether the call may change something."""
    return call.name in CHANGING or (call.name == "open" and bool(call.args[1] & _MAKING))


class Moments(Tap):
    """Calls `look` at every moment at which the disk is another one: before the first call, after each that changes."""

    def __init__(self, files: Files, look: Callable[[], None]) -> None:
        super().__init__(files)
        self._look = look
        look()

    def intercept(self, attempt: Attempt) -> Any:
        """Carry out the call, then look."""
        try:
            return attempt.do(*attempt.args)
        finally:
            if changes(attempt):
                self._look()
