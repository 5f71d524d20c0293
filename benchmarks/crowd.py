"""Sixteen processes on one ledger, each marking criteria of its own, against one process alone on such a ledger.

Run as a program it is one of the processes: it opens the store with one mark, says so, waits for the word to begin,
marks its share, and prints when each mark began and was acknowledged, and what was refused.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import NamedTuple

from benchmarks.scene import SMALL, Scene, disk, freeze, names, scene
from benchmarks.table import Row
from benchmarks.timing import Sample, median, milliseconds
from tallystick.errors import Refusal
from tallystick.journal.record import By
from tallystick.wiring import assemble, this_machine

PART = "Sixteen running processes marking one ledger, 50 criteria each, against one process"
PROCESSES, SHARE = 16, 50
_ROUNDS = 3
_EVIDENCE = "proof/report.txt"


class Crowd(NamedTuple):
    """What one crowd did: when each acknowledged mark began and ended (seconds), and how many were refused."""

    marks: tuple[tuple[float, float], ...]
    refused: int

    @property
    def rate(self) -> float:
        """Acknowledged marks in a second, from the first beginning to the last end."""
        return len(self.marks) / (max(end for _, end in self.marks) - min(begin for begin, _ in self.marks))

    @property
    def waits(self) -> Sample:
        """How long each mark took."""
        return Sample(tuple(end - begin for begin, end in self.marks))


def rows() -> list[Row]:
    """All rows of this part, each the middle of its rounds."""
    ones: list[Crowd] = []
    crowds: list[Crowd] = []
    kept: list[int] = []
    with scene() as at:
        at.write(_EVIDENCE, SMALL)
        for turn in range(_ROUNDS):
            for processes, found in ((1, ones), (PROCESSES, crowds)):
                feature = f"ledger-{turn}-{processes}"
                app = at.app()
                freeze(app, feature, PROCESSES * (SHARE + 1))
                found.append(crowd(at, feature, processes))
                if processes > 1:
                    seen = at.app().ledger.show(feature)
                    kept.append(sum(criterion.passes for criterion, _ in seen.rows))
    acknowledged = sum(len(one.marks) + PROCESSES for one in crowds)
    lost = acknowledged - sum(kept)
    refused = sum(one.refused for one in crowds)
    rate = median([many.rate / one.rate for many, one in zip(crowds, ones, strict=True)])
    rates = f"{median([one.rate for one in crowds]):.0f} marks/s against {median([one.rate for one in ones]):.0f}"
    tail = median([one.waits.quantile(0.99) / one.waits.median for one in crowds])
    waits = crowds[-1].waits
    last = f"{milliseconds(waits.quantile(0.99))} against {milliseconds(waits.median)} in the last round"
    return [
        Row(PART, "marks lost", float(lost), 0, f"{acknowledged:,} acknowledged, {sum(kept):,} kept"),
        Row(PART, "marks refused", float(refused), 0, f"of {_ROUNDS * PROCESSES * SHARE:,}"),
        Row(PART, "rate of sixteen / rate of one", rate, 0.4, rates, at_least=True),
        Row(PART, "p99 / median of a mark", tail, 40, last),
    ]


def crowd(at: Scene, feature: str, processes: int) -> Crowd:
    """Start so many processes, let them begin at once, and gather what they say."""
    share = SHARE if processes > 1 else 4 * SHARE
    command = [sys.executable, "-m", "benchmarks.crowd", str(at.place), feature]
    started = [
        subprocess.Popen(
            [*command, str(number * (share + 1)), str(share)],
            env=at.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    for process in started:
        assert process.stdout is not None
        process.stdout.readline()
    for process in started:
        assert process.stdin is not None
        process.stdin.write("begin\n")
        process.stdin.flush()
    said = [json.loads(process.communicate()[0]) for process in started]
    marks = tuple((begin, end) for one in said for begin, end in one["marks"])
    return Crowd(marks, sum(one["refused"] for one in said))


def worker(place: str, feature: str, start: int, share: int) -> None:
    """One process of the crowd."""
    app = assemble(this_machine(os.environ)._replace(files=disk()), place, By("solo"))
    app.ledger.mark_pass(feature, f"AC{start}", _EVIDENCE)
    print("ready", flush=True)
    sys.stdin.readline()
    marks: list[tuple[float, float]] = []
    refused = 0
    for name in names(share, start + 1):
        begin = time.monotonic()
        try:
            app.ledger.mark_pass(feature, name, _EVIDENCE)
        except Refusal:
            refused += 1
        else:
            marks.append((begin, time.monotonic()))
    print(json.dumps({"marks": marks, "refused": refused}))


if __name__ == "__main__":
    worker(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
