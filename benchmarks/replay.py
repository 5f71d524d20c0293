"""From the files to the state: ten thousand records with a checkpoint and without, and how much memory that takes.

Run as a program it is one reader: it opens the store, takes one snapshot, and prints how long that took and how far
its memory grew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.commands import starting
from benchmarks.scene import SMALL, Scene, fail_many, freeze, names, pass_many, scene
from benchmarks.table import Row
from benchmarks.timing import Sample, median, took
from tallystick.journal.record import By
from tallystick.wiring import assemble, this_machine

PART = "From the files to the state, in a new process"
FEATURE = "checkout"
RECORDS = 10_000
#: The promise is 100 ms where an empty Python starts in 15 ms; a slower machine is measured by its own start.
BOUND = 100 / 15
GROWTH = 1.5
_ROUNDS = 7


class Reading(NamedTuple):
    """What one reader says: seconds to the state, bytes its memory grew, and the counter of the last record."""

    seconds: float
    grew: int
    n: int


def rows() -> list[Row]:
    """All rows of this part."""
    found = []
    for amount in (1_000, 10_000):
        with scene() as at:
            freeze(at.app(), FEATURE, amount)
            files = [at.write(f"proof/{number}.txt", SMALL) for number in range(50)]
            pass_many(at, FEATURE, names(amount // 2), files)
            fail_many(at, FEATURE, amount, RECORDS - amount // 2 - 1)
            start = starting(at)
            for what, before, bound in (
                ("with a checkpoint", _nothing, BOUND),
                ("without", at.forget_checkpoints, None),
            ):
                readings, starts = turns(at, before, start)
                name = f"{RECORDS:,} records, N = {amount:,}, {what} / python -c pass"
                measured = readings.median / starts.median
                found.append(Row(PART, name, measured, bound, f"{readings} against {starts}"))
    return [*found, memory()]


def memory() -> Row:
    """How far memory grows on ten times the records of the same state, read from their beginning."""
    grew: dict[int, list[int]] = {RECORDS: [], 10 * RECORDS: []}
    with scene() as short, scene() as long:
        scenes = {RECORDS: short, 10 * RECORDS: long}
        for records, at in scenes.items():
            freeze(at.app(), FEATURE, 1_000)
            fail_many(at, FEATURE, 1_000, records)
            at.forget_checkpoints()
        for _ in range(3):
            for records, at in scenes.items():
                grew[records].append(reading(at).grew)
    few, many = (median([float(one) for one in grew[records]]) for records in scenes)
    beside = f"peak grew by {many / 1e6:.1f} MB with {10 * RECORDS:,} records, {few / 1e6:.1f} MB with {RECORDS:,}"
    return Row(PART, "memory, ten times the records of the same state", many / few, GROWTH, beside)


def turns(at: Scene, before: Callable[[], None], start: Callable[[], None]) -> tuple[Sample, Sample]:
    """Readers and empty starts in turn; `before` is done before each reader."""
    readings, starts = [], []
    for _ in range(_ROUNDS):
        before()
        readings.append(reading(at).seconds)
        starts.append(took(start))
    return Sample(tuple(readings)), Sample(tuple(starts))


def reading(at: Scene) -> Reading:
    """What one reader says."""
    argv = [sys.executable, "-m", "benchmarks.replay", str(at.place)]
    done = subprocess.run(argv, env=at.environment(), stdout=subprocess.PIPE, check=True)
    return Reading(*json.loads(done.stdout))


def read_once(place: str) -> Reading:
    """One look at the ledger, by a process that has seen nothing yet."""
    app = assemble(this_machine(os.environ), place, By("solo"))
    before = peak()
    begin = time.perf_counter()
    snapshot = app.store.snapshot(FEATURE)
    seconds = time.perf_counter() - begin
    return Reading(seconds, peak() - before, snapshot.n)


def peak() -> int:
    """The most memory this process has held so far, in bytes."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            [line] = [line for line in status if line.startswith("VmHWM:")]
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(line.split()[1]) * 1024


def _nothing() -> None:
    return


if __name__ == "__main__":
    print(json.dumps(read_once(sys.argv[1])))
