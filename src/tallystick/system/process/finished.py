"""What a program may use, and what is known of one that has ended."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """What one program and everything it starts may use together; sizes are bytes, times are seconds.

    `output` counts what is printed (both streams), `report` what is written to the report descriptor, `keep` how much
    of the output stays in memory (its beginning and its end). `memory` is address space of each process and `file`
    the size of each file it writes; 0 leaves these two as they are. `grace_s` is the time between the polite signal
    and the one that cannot be refused.
    """

    wall_s: float
    output: int
    report: int = 0
    memory: int = 0
    file: int = 0
    keep: int = 256 * 1024
    grace_s: float = 2.0


class Finished(NamedTuple):
    """A program that has ended.

    Of `status` (0-255) and `signal` one is None; both are when nobody can say any more. `stopped` says which limit
    ended it: "" (it ended by itself), "time", "output", "report", "cancelled" or "lost" (whoever watched over it was
    killed). After `capture`, `out` and `err` are the two streams; after `run`, `out` is both in the order they were
    printed: whole, or beginning and end around one line that counts what was left out between them, and `total` and
    `digest` (SHA-256) are over every byte that was read. `strays` counts the processes it left behind, which were
    ended; `left` those that could not be ended.
    """

    status: int | None
    signal: int | None
    out: bytes
    err: bytes = b""
    stopped: str = ""
    took_s: float = 0.0
    total: int = 0
    digest: str = ""
    report: bytes = b""
    strays: int = 0
    left: int = 0

    @property
    def ok(self) -> bool:
        """It ended by itself, with status 0."""
        return self.status == 0 and not self.stopped

    def text(self) -> str:
        """`out` as text; bytes that are no UTF-8 read as `\\xNN`. Escape codes in it are data: show them escaped."""
        return self.out.decode("utf-8", "backslashreplace")
