"""Holds that nothing is lost of what a quick tool prints at the very moment at which we look whether it has ended."""

from __future__ import annotations

import os
import time

import pytest

from tallystick.system.process.pump import Pump
from tallystick.system.process.quick import collect

ANSWER = b"nothing is missing\n" * 3000
#: No process has it: the kernel's ids are smaller.
NOBODY = 1 << 30


class Idle(Pump):
    """Looks at the pipes without waiting for any."""

    def turn(self, wait_s: float) -> int:
        return super().turn(0)


class Late:
    """A tool that prints its answer and ends while we look at it, after we looked at its pipe."""

    pid = NOBODY
    returncode = 0

    def __init__(self, pipe: int, stays_open: bool) -> None:
        self._pipe = pipe
        self._stays_open = stays_open

    def poll(self) -> int:
        os.write(self._pipe, ANSWER)
        if not self._stays_open:
            os.close(self._pipe)
        return 0

    def wait(self, timeout: float | None = None) -> int:
        return 0


@pytest.mark.parametrize(
    "stays_open", [False, True], ids=["all of it ended", "something it left behind holds the pipe"]
)
@pytest.mark.parametrize(("limit", "stopped"), [(len(ANSWER), ""), (len(ANSWER) - 1, "output")])
def test_what_is_printed_between_two_looks_is_taken(stays_open: bool, limit: int, stopped: str) -> None:
    pump, out, err = Idle(), bytearray(), bytearray()
    mine, its = os.pipe()
    pump.read(mine, out.extend)
    try:
        told = collect(Late(its, stays_open), pump, [mine], (out, err), time.monotonic() + 60, limit)
    finally:
        pump.close()
        if stays_open:
            os.close(its)
    assert (told, bytes(out), bytes(err)) == (stopped, ANSWER, b"")
