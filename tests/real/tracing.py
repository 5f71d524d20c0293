"""Runs a command under strace: which system calls touch our files, and what happens when one of them fails."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from tests.real.project import TALLYSTICK, Said, run
from yard.probes import program

#: How each call can fail. Closing is left out: nothing is known of a descriptor whose close failed.
ERRORS: dict[str, tuple[str, ...]] = {
    "openat": ("EIO", "EACCES", "ENOSPC", "EMFILE"),
    "read": ("EIO",),
    "pread64": ("EIO",),
    "getdents64": ("EIO",),
    "newfstatat": ("EIO", "EACCES"),
    "write": ("ENOSPC", "EIO"),
    "pwrite64": ("ENOSPC", "EIO"),
    "fsync": ("EIO", "ENOSPC"),
    "ftruncate": ("EIO",),
    "rename": ("EIO", "ENOSPC"),
    "link": ("EIO", "ENOSPC"),
    "unlink": ("EIO",),
    "mkdir": ("ENOSPC", "EACCES"),
    "flock": ("ENOLCK",),
}
_LINE = re.compile(r"(\w+)\((.*)\) = [^?]")
_PATH = re.compile(r'<(/[^<>]*)>|"(/[^"]*)"')


class Failing(NamedTuple):
    """One failure: the `turn`-th `call` that touches `path` answers `error`."""

    call: str
    path: Path
    turn: int
    error: str

    def __str__(self) -> str:
        return f"{self.call} {self.turn} of {self.path} answers {self.error}"


def calls(words: tuple[str, ...], folder: Path, within: Path, log: Path) -> list[tuple[str, Path, int]]:
    """Run the command well, and tell each call of the table that touched a path below `within`, with its turn."""
    said = run(_argv(log, ",".join(ERRORS), [], words), folder)
    assert said.status == 0, said
    turns: Counter[tuple[str, Path]] = Counter()
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        found = _LINE.match(line)
        if found is None or found[1] not in ERRORS:
            continue
        for path in {Path(one or two) for one, two in _PATH.findall(found[2])}:
            if path.is_relative_to(within) and path != folder:
                turns[found[1], path] += 1
    return [(call, path, turn) for (call, path), most in sorted(turns.items()) for turn in range(1, most + 1)]


def failing(failure: Failing, words: tuple[str, ...], folder: Path, log: Path) -> Said:
    """Run the command with this one failure."""
    options = ["-P", str(failure.path), "-e", f"inject={failure.call}:error={failure.error}:when={failure.turn}"]
    return run(_argv(log, failure.call, options, words), folder)


def _argv(log: Path, traced: str, options: list[str], words: tuple[str, ...]) -> list[str]:
    assert TALLYSTICK[0] == sys.executable
    return [str(program("strace")), "-y", "-o", str(log), "-e", f"trace={traced}", *options, *TALLYSTICK, *words]
