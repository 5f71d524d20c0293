"""Outputs: finding those of one feature among a hundred thousand, and the memory that a large one takes.

Run as a program it is one writer: it saves the output on its standard input and prints how far its memory grew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial

from benchmarks.commands import command
from benchmarks.replay import peak
from benchmarks.scene import Scene, UnsyncedFiles, scene
from benchmarks.table import Row
from benchmarks.timing import in_turn
from tallystick.handoff.output.header import file_name, header_of
from tallystick.handoff.output.model import Kept, saved
from tallystick.journal.record import By
from tallystick.journal.store import Decision
from tallystick.wiring import assemble, outputs, this_machine

PART = "Outputs"
FEATURES, EACH = 1_000, 100
#: No scan of the others: the same time, but for noise.
FIND_BOUND = 1.25
LARGE = 5_000_000
#: Memory for each byte that is saved: the document, its text, its bytes, what is masked.
MEMORY_BOUND = 10.0
_ROUNDS = 15


def rows() -> list[Row]:
    """All rows of this part."""
    with scene() as few, scene() as many:
        for at, features in ((few, 1), (many, FEATURES)):
            for number in range(features):
                fill(at, f"f{number:04d}")
        words = ("output", "find", "f0000", "--json")
        works = {name: partial(command, at, words) for name, at in (("few", few), ("many", many))}
        for work in works.values():
            work()
        times = in_turn(works, _ROUNDS)
        small, large = (grown(few, size) for size in (1_000, LARGE))
    one, other = times["few"], times["many"]
    name = f"output find, {FEATURES * EACH:,} outputs in {FEATURES:,} features / {EACH} in one"
    beside = f"peak grew by {large / 1e6:.1f} MB, by {small / 1e6:.1f} MB for a small one"
    return [
        Row(PART, name, other.median / one.median, FIND_BOUND, f"{other} against {one}"),
        Row(
            PART,
            f"memory for each byte of an output of {LARGE // 10**6} MB",
            (large - small) / LARGE,
            MEMORY_BOUND,
            beside,
        ),
    ]


def document(feature: str, number: int, says: str) -> dict[str, object]:
    """A developer's output."""
    task = f"task-{number:03d}"
    work = {"task_id": task, "files_modified": [], "files_created": [], "summary": says, "notes": ""}
    head = {"jonggrang-output": True, "feature_id": feature, "phase": 8, "role": "developer", "task_id": task}
    return {**head, "agent_id": "a", "timestamp": "2026-05-21T00:00:00Z", "status": "completed", "output": work}


def fill(at: Scene, feature: str) -> None:
    """A hundred outputs of one feature, in one commit."""
    app = at.app(UnsyncedFiles())
    events = []
    for number in range(EACH):
        one = document(feature, number, "it works")
        header = header_of(one)
        kept = Kept(header, json.dumps(one).encode(), {})
        events.append(saved(file_name(header), kept))
    app.recording.commit(feature, "output", lambda snapshot, now: Decision(tuple(events), None))
    app.store.flush()
    app.store.close()


def grown(at: Scene, size: int) -> int:
    """How far the memory of a process grows that saves an output of so many bytes."""
    given = json.dumps(document("large", size, "word " * (size // 5))).encode()
    argv = [sys.executable, "-m", "benchmarks.outputs", str(at.place)]
    done = subprocess.run(argv, input=given, env=at.environment(), stdout=subprocess.PIPE, check=True)
    return int(done.stdout)


def save_once(place: str) -> int:
    """Save what stands on standard input; by how many bytes the peak grew beyond what was read."""
    app = assemble(this_machine(os.environ), place, By("solo"))
    given = sys.stdin.buffer.read()
    before = peak()
    outputs(app).save(given)
    return peak() - before


if __name__ == "__main__":
    print(save_once(sys.argv[1]))
