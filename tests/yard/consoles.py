"""Runs what a document shows: every command of its ```console blocks, in order, in one shell.

A command begins with `$ `, its further lines with `> `; other lines are output and not compared. A command must end
with status 0 unless the next one is `$ echo $?`, whose first line of output is then the status it must have.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^```console\n(?P<lines>.*?)^```$", re.M | re.S)
_ASKS_FOR_THE_STATUS = "echo $?"


class Command(NamedTuple):
    """One command of a page: its text, the line of the page where it stands, and the status it must have."""

    text: str
    line: int
    status: int


class Outcome(NamedTuple):
    """What became of one command. `status` is None where the shell ended before it."""

    command: Command
    status: int | None

    @property
    def as_shown(self) -> bool:
        """Whether the command ended as the page says."""
        return self.status == self.command.status


def commands(page: str) -> list[Command]:
    """The commands of a page's text, in order."""
    found: list[Command] = []
    for block in _BLOCK.finditer(page):
        first = page.count("\n", 0, block.start("lines")) + 1
        asked = False
        for number, line in enumerate(block["lines"].splitlines(), first):
            if line.startswith("$ "):
                asked = line[2:].strip() == _ASKS_FOR_THE_STATUS
                if not asked:
                    found.append(Command(line[2:], number, 0))
            elif line.startswith("> ") or line == ">":
                found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line[2:]}")
            elif asked:
                found[-1] = found[-1]._replace(status=int(line))
                asked = False
    return found


def play(shown: list[Command], place: Path, environment: Mapping[str, str]) -> tuple[list[Outcome], str]:
    """Runs the commands in one bash in the folder `place`; the outcomes, and all that was printed."""
    statuses = place.parent / f"{place.name}.statuses"
    script = f"exec 3> {str(statuses)!r}\n" + "".join(
        f"{command.text}\nshown_status=$?; echo $shown_status >&3; (exit $shown_status)\n" for command in shown
    )
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-c", script],
        cwd=place,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    seen: list[int | None] = [int(line) for line in statuses.read_text().split()]
    seen += [None] * (len(shown) - len(seen))
    return [Outcome(command, status) for command, status in zip(shown, seen, strict=True)], done.stdout
