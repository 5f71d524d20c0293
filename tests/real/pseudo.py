"""A pseudo-terminal: runs a command as if a person sat before it."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.real.project import TALLYSTICK


def on_terminal(
    words: Sequence[str], folder: Path, env: Mapping[str, str] | None = None, out: str = ""
) -> tuple[int, str]:
    """Run the command line with its streams on a terminal: exit status, and what the terminal got.

    `out` names a file that takes standard output in the terminal's place.
    """
    mine, its = pty.openpty()
    stdout = os.open(out, os.O_WRONLY | os.O_CREAT) if out else its
    surroundings = {**os.environ, "TERM": "xterm-256color", **(env or {})}
    try:
        with subprocess.Popen(
            [*TALLYSTICK, *words], cwd=folder, env=surroundings, stdin=its, stdout=stdout, stderr=its
        ) as process:
            os.close(its)
            its = -1
            return process.wait(), _all(mine)
    finally:
        for fd in {mine, its, stdout if out else -1} - {-1}:
            os.close(fd)


def _all(fd: int) -> str:
    """Everything that was written to the other side, which is closed by now."""
    pieces = []
    while True:
        try:
            piece = os.read(fd, 1 << 16)
        except OSError:  # the kernel's way to say that nobody holds the other side any more
            break
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces).decode("utf-8")
