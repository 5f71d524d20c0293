"""A simulated disk for tests: visible and durable state apart, seeded power cuts, planned faults at every call.

How it is used:

    disk = SimDisk()
    files = disk.process()                      # a `Files`; several processes share the visible state
    faulty = Faulty(files, [Fault(LoseSync(), call="fsync", path="/journal/")])
    ...                                         # run the code under test on `faulty` or `files`
    after = disk.crash(seed=7)                  # the disk as found after a power cut
"""

from __future__ import annotations

from tests.simdisk.disk import SimDisk
from tests.simdisk.faults import (
    WAYS,
    Action,
    Busy,
    Call,
    Fail,
    Fault,
    Faulty,
    Kill,
    LoseSync,
    Short,
    Torn,
    every_fault,
)
from tests.simdisk.process import Killed, Process, SimStat
from tests.simdisk.tap import Attempt, Tap

__all__ = [
    "WAYS",
    "Action",
    "Attempt",
    "Busy",
    "Call",
    "Fail",
    "Fault",
    "Faulty",
    "Kill",
    "Killed",
    "LoseSync",
    "Process",
    "Short",
    "SimDisk",
    "SimStat",
    "Tap",
    "Torn",
    "every_fault",
]
