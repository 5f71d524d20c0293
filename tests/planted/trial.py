"""Plants one fault in a copy of the project and runs the tests that must find it there.

The project itself is never changed. A trial counts only if the tests ran and failed: a module that cannot be imported
is red for the wrong reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.planted.plants import Plant
from yard.console import ROOT

_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".git", ".dev", "node_modules")
_TESTS_FAILED, _NO_END = 1, -1
#: Long enough for a busy machine; a trial takes seconds.
_LIMIT_S = 300


class Ran(NamedTuple):
    """One run of pytest: its exit status, the ids that failed, all that it wrote."""

    status: int
    failed: tuple[str, ...]
    output: str


class Trial(NamedTuple):
    """What came of one plant. `missing` says what is wrong with it, "" where the fault was found and named."""

    plant: Plant
    missing: str

    @property
    def line(self) -> str:
        """One line for people, which names the promise."""
        return f"{self.plant.promise} {'red' if not self.missing else 'NOT FOUND'}: {self.plant.breaks}" + (
            f" ({self.missing})" if self.missing else ""
        )


def copy(folder: Path) -> Path:
    """A copy of the project below `folder`."""
    place = folder / "project"
    shutil.copytree(ROOT, place, ignore=_LEFT_OUT, symlinks=True)
    return place


def run(place: Path, tests: Iterable[str]) -> Ran:
    """Run `tests` in the copy. Chance is fixed (as on the server), so that what is found is found every time."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTEST_ADDOPTS")}
    words = [sys.executable, "-m", "pytest", "-q", "-rf", "--tb=short", *dict.fromkeys(tests)]
    try:
        ran = subprocess.run(
            words, cwd=place, env={**kept, "CI": "1"}, capture_output=True, text=True, timeout=_LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Ran(_NO_END, (), f"it did not end within {_LIMIT_S} s")
    lines = ran.stdout.splitlines()
    failed = tuple(line.removeprefix("FAILED ").partition(" - ")[0] for line in lines if line.startswith("FAILED "))
    return Ran(ran.returncode, failed, ran.stdout + ran.stderr)


def unfit(plant: Plant, place: Path) -> str:
    """Why the plant does not fit the code as it is, "" where it does."""
    path = place / "src" / "tallystick" / plant.file
    times = path.read_text(encoding="utf-8").count(plant.old) if path.is_file() else 0
    return "" if times == 1 else f"{plant.file} has the text to change {times} times: bring the plant up to date"


def trial(plant: Plant, place: Path, promise: str) -> Trial:
    """Plant the fault in the copy, run its tests, take it out again. `promise` is what the requirement says."""
    wrong = unfit(plant, place)
    if wrong:
        return Trial(plant, wrong)
    path = place / "src" / "tallystick" / plant.file
    sound = path.read_text(encoding="utf-8")
    try:
        _write(path, sound.replace(plant.old, plant.new))
        ran = run(place, plant.tests)
    finally:
        _write(path, sound)
    quiet = [test for test in plant.tests if not any(_is_of(failed, test) for failed in ran.failed)]
    if ran.status != _TESTS_FAILED or quiet:
        return Trial(
            plant, f"exit status {ran.status}, still green: {', '.join(quiet) or 'none'}\n{ran.output[-2000:]}"
        )
    if f"{plant.promise}: {promise}" not in ran.output:
        return Trial(plant, "no failure says which promise is broken: mark its tests with the requirement")
    return Trial(plant, "")


def _is_of(failed: str, test: str) -> bool:
    return failed == test or failed.startswith((f"{test}[", f"{test}::"))


def _write(path: Path, text: str) -> None:
    """Write a module, and take away what Python compiled of it before: two writes may bear the same time."""
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()
