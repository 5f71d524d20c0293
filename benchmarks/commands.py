"""Whole commands as a person or a hook starts them, against the start of a Python that does nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.scene import SMALL, Scene, fail_many, freeze, names, pass_many, scene
from benchmarks.table import Row
from benchmarks.timing import Sample, in_turn

TASKS = 2_000
#: `board next` on a board of two thousand tasks: 150 ms where Python starts in 15.
BOARD_BOUND = 10
PART = "Whole commands, against python -c pass"
WORDS = {"ledger failing --json": ("ledger", "failing", "--json"), "status": ("status",)}
SIZES = (200, 10_000)
#: At most so many times the start of Python, and at ten thousand criteria at most twice that.
BOUNDS = {200: 6, 10_000: 12}
_ROUNDS = 25
_FILES = 50
#: What the installed command does.
_START = "import sys; from tallystick.faces.cli.main import run; sys.exit(run())"


def rows() -> list[Row]:
    """All rows of this part; half of the criteria pass, on fifty files that are cited in turn."""
    with scene() as small, scene() as large, scene() as board:
        places = dict(zip(SIZES, (small, large), strict=True))
        boarded(board)
        works = {"": starting(small), f"board next, {TASKS:,} tasks": partial(command, board, ("board", "next"))}
        for size, at in places.items():
            filled(at, size)
            for name, words in WORDS.items():
                works[f"{name}, N = {size:,}"] = partial(command, at, words)
        for work in works.values():
            work()  # compiles what is not compiled yet
        times = in_turn(works, _ROUNDS)
    start = times.pop("")
    bounds = [BOARD_BOUND, *(BOUNDS[size] for size in SIZES for _ in WORDS)]
    return [
        Row(PART, name, one.median / start.median, bound, f"{one} against {start}")
        for (name, one), bound in zip(times.items(), bounds, strict=True)
    ]


def filled(at: Scene, size: int) -> None:
    """A ledger of `size` criteria, half passed, one failed anew, with view and checkpoint as commands leave them."""
    freeze(at.app(), "checkout", size)
    files = [at.write(f"proof/{number}.txt", SMALL) for number in range(_FILES)]
    pass_many(at, "checkout", names(size // 2), files)
    fail_many(at, "checkout", size, 1)


def boarded(at: Scene) -> None:
    """A board of two thousand tasks, a third of them done, most waiting for another."""
    tasks = [
        {
            "id": f"task-{number:04d}",
            "title": f"what task {number} is about",
            "description": "a few words about what is to do, and what is not",
            "priority": number % 5 + 1,
            "blocked_by": [f"task-{number - 1:04d}"] if number % 4 else [],
            "status": "completed" if number < TASKS // 3 else "pending",
        }
        for number in range(TASKS)
    ]
    (at.place / "plan.json").write_text(json.dumps({"tasks": tasks}))
    command(at, ("board", "import", "checkout", "plan.json"))


def command(at: Scene, words: tuple[str, ...]) -> None:
    """Run one command as a process, its output thrown away."""
    ran([sys.executable, "-c", _START, *words], at, at.place)


def starting(at: Scene) -> partial[None]:
    """Start a Python that does nothing, in the same surroundings."""
    return partial(ran, [sys.executable, "-c", "pass"], at, at.place)


def ran(argv: list[str], at: Scene, folder: Path) -> None:
    """Run to the end, which must be a good one."""
    subprocess.run(argv, cwd=folder, env=at.environment(), stdout=subprocess.DEVNULL, check=True)


def start_of_python(rounds: int) -> Sample:
    """The start alone, for the line about the machine."""
    with scene() as at:
        return in_turn({"start": starting(at)}, rounds)["start"]
