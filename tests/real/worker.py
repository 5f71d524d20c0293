"""A process that marks, run by itself: `python worker.py FOLDER FEATURE WORD …`.

    NAME …        pass these criteria, one after the other
    --open        pass whatever is open, in the order of the ledger
    --asked       pass each criterion whose name comes in on standard input, a line each
    --hold NAME   stop inside the commit, while the lock is held, until somebody lets it go on
    --unsynced    as --open, on a disk whose fsync does nothing: the control of the power cuts
    --nest        for each line on standard input a process of its own that works as --open, told as `born PID`,
                  and after its death as `gone PID`: hundreds of processes without hundreds of interpreter starts

Each criterion is written to standard output *after* its mark was acknowledged, so whoever reads the pipe knows what
must never be lost. A refusal goes to standard error and ends the process with 1.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence

from tallystick.errors import Refusal
from tallystick.journal.record import By, Event
from tallystick.ledger.model import Ledger
from tallystick.ledger.rules import mark_failure
from tallystick.system.files import OsFiles
from tallystick.wiring import App, assemble, this_machine

HOLDING, BORN, GONE = "holding", "born", "gone"


class UnsyncedFiles(OsFiles):
    """A disk that only says that it has synced."""

    @staticmethod
    def fsync(fd: int) -> None:
        """Do nothing."""


def acknowledge(word: str) -> None:
    """One whole line in one write: a killed process leaves no half of it."""
    os.write(1, f"{word}\n".encode())


def names(app: App, feature: str, words: Sequence[str]) -> Iterator[str]:
    """The criteria that are to be passed."""
    if words[0] == "--asked":
        for line in sys.stdin:
            yield line.rstrip("\n")
    elif words[0] in ("--open", "--unsynced"):
        found = app.ledger.show(feature).ledger.criteria
        yield from [name for name, criterion in found.items() if not criterion.passes]
    else:
        yield from words


def hold(app: App, feature: str, name: str) -> None:
    """Record a failure of `name`, and stop this very process while the lock is held."""

    def events(ledger: Ledger) -> list[Event]:
        acknowledge(HOLDING)
        os.kill(os.getpid(), signal.SIGSTOP)
        return [mark_failure(ledger, name, "held while others waited")]

    app.ledger.record(feature, "fail", name, events)
    acknowledge(name)


def nest(folder: str, feature: str) -> int:
    """Have one child for each line of standard input; each opens the store by itself."""
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            os._exit(main(folder, feature, "--open"))
        acknowledge(f"{BORN} {child}")
        os.waitpid(child, 0)
        acknowledge(f"{GONE} {child}")
    return 0


def main(folder: str, feature: str, *words: str) -> int:
    """Mark what `words` say; the exit status."""
    if words[0] == "--nest":
        return nest(folder, feature)
    machine = this_machine(os.environ)
    if words[0] == "--unsynced":
        machine = machine._replace(files=UnsyncedFiles())
    app = assemble(machine, folder, By("solo"))
    try:
        if words[0] == "--hold":
            hold(app, feature, words[1])
        else:
            for name in names(app, feature, words):
                app.ledger.mark_pass(feature, name, "proof.txt")
                acknowledge(name)
        for note in app.due.finish():
            os.write(2, f"note: {note}\n".encode())
    except Refusal as refusal:
        os.write(2, f"{refusal.code}: {refusal.message}\n".encode())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
