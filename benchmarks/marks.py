"""One acknowledged mark through a running process, against a bare append + fsync of the same bytes.

Small evidence travels inside the record, so both sides flush once. Larger evidence is kept as a file of its own; the
bare side then appends record and evidence in one go, which is the least that could keep both.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.scene import SMALL, CountingFiles, Scene, disk, freeze, scene
from benchmarks.table import Row
from benchmarks.timing import Sample, took
from tallystick.limits import INLINE_EVIDENCE

PART = "A mark through a running process, against a bare append + fsync of the same bytes"
LARGE = 4 * INLINE_EVIDENCE
_PAIRS = 100


class Case(NamedTuple):
    """One row: a ledger of `amount` criteria, evidence of `size` bytes, and the bound of the ratio."""

    amount: int
    size: int
    bound: float

    @property
    def what(self) -> str:
        """The row's name."""
        evidence = {SMALL: "", INLINE_EVIDENCE: ", 16 kB of evidence"}.get(self.size, ", a new file of 64 kB")
        return f"N = {self.amount:,}{evidence}"


CASES = (
    Case(10, SMALL, 2),
    Case(200, SMALL, 2),
    Case(10_000, SMALL, 2),
    Case(200, INLINE_EVIDENCE, 2),
    Case(10_000, INLINE_EVIDENCE, 2),
    Case(200, LARGE, 5),
    Case(10_000, LARGE, 5),
)


def rows() -> list[Row]:
    """All rows of this part."""
    found = []
    for case in CASES:
        with scene() as at:
            bare, mark = measured(at, case, _PAIRS)
        found.append(Row(PART, case.what, mark.median / bare.median, case.bound, f"{mark} against {bare}"))
    for size, bound, what in (
        (SMALL, 1.0, "syncs of a mark"),
        (INLINE_EVIDENCE, 1.0, "syncs of a mark, 16 kB of evidence"),
        (LARGE, None, "syncs of a mark, a new file of 64 kB"),
    ):
        with scene() as at:
            found.append(Row(PART, what, syncs(at, size), bound, "counted in the process"))
    return found


def measured(at: Scene, case: Case, pairs: int) -> tuple[Sample, Sample]:
    """Bare appends and marks in turn: (bare, mark). The first mark of each ledger is not counted: it opens files."""
    app = at.app()
    bare_of: list[float] = []
    mark_of: list[float] = []
    bare: Bare | None = None
    ledger = 0
    while len(mark_of) < pairs:
        feature = f"ledger-{ledger}"
        freeze(app, feature, case.amount)
        for number in range(min(case.amount, pairs + 1)):
            cited = at.write(f"proof/{ledger}-{number}.txt", case.size)
            settle(at, cited)
            mark = partial(app.ledger.mark_pass, feature, f"AC{number}", cited)
            if bare is None or not number:
                mark()
                bare = bare or Bare(at.folder / "bare", record_of(at, feature), case.size)
            else:
                bare_of.append(took(bare.append))
                mark_of.append(took(mark))
        ledger += 1
    if bare is not None:
        bare.close()
    return Sample(tuple(bare_of)), Sample(tuple(mark_of))


class Bare:
    """What a mark is compared with: append the bytes of one to an open file, and sync it."""

    def __init__(self, path: Path, record: bytes, size: int) -> None:
        self._data = record if size <= INLINE_EVIDENCE else record + os.urandom(size)
        self._files = disk()
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append(self) -> None:
        """Append and sync."""
        os.write(self._fd, self._data)
        self._files.fsync(self._fd)

    def close(self) -> None:
        """Let the descriptor go."""
        os.close(self._fd)


def syncs(at: Scene, size: int) -> float:
    """How many syncs one mark takes, counted over twenty."""
    files = CountingFiles()
    app = at.app(files)
    freeze(app, "checkout", 200)
    app.ledger.mark_pass("checkout", "AC0", at.write("proof/0.txt", size))
    before = files.syncs
    for number in range(1, 21):
        app.ledger.mark_pass("checkout", f"AC{number}", at.write(f"proof/{number}.txt", size))
    return (files.syncs - before) / 20


def record_of(at: Scene, feature: str) -> bytes:
    """The last line of the feature's journal: a mark's record."""
    return at.journal(feature).read_bytes().splitlines(keepends=True)[-1]


def settle(at: Scene, name: str) -> None:
    """Sync a file that the project's own tools wrote, so that no later flush pays for it."""
    fd = os.open(at.place / name, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
