"""What the yard prints and how it starts programs: short lines, colour on a terminal only, honest statuses."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

#: The checkout this yard stands in.
ROOT = Path(__file__).resolve().parent.parent

_BOLD, _YELLOW, _RED = "1", "33", "31"


class Stop(Exception):  # noqa: N818 - it ends a job, and says why
    """A job cannot go on. The text is one line for the person who called it."""


def _painted(text: str, colour: str) -> str:
    plain = not sys.stdout.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return text if plain else f"\x1b[{colour}m{text}\x1b[0m"


def say(text: str) -> None:
    """One line about what is being done."""
    print(_painted(text, _BOLD), flush=True)


def skipped(text: str) -> None:
    """One line about what this machine cannot do."""
    print(_painted(f"skipped  {text}", _YELLOW), flush=True)


def failed(text: str) -> None:
    """One line about what ended the job, on stderr."""
    print(_painted(text, _RED), file=sys.stderr, flush=True)


def run(argv: Sequence[str | Path], extra: Mapping[str, str] | None = None, cwd: Path = ROOT) -> int:
    """Runs a program with its output shown as it comes; `extra` is added to the environment. Returns its status."""
    return subprocess.run([str(word) for word in argv], cwd=cwd, env={**os.environ, **(extra or {})}).returncode


def run_quietly(argv: Sequence[str | Path]) -> tuple[int, str]:
    """Runs a program with its output kept: (status, everything it printed). A missing program is status 127."""
    try:
        done = subprocess.run(
            [str(word) for word in argv],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        return 127, str(error)
    return done.returncode, done.stdout
