"""A repository and a home made for one measurement, the app that works in them, and the disk below it.

All of it lies in one folder below `.dev`, on the disk of this checkout, and is gone afterwards: a folder in memory
would have no flush to compare with.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from tallystick.journal.record import By, Event
from tallystick.ledger import rules
from tallystick.ledger.citation import references
from tallystick.ledger.keeping import Keeper
from tallystick.ledger.model import Draft, Ledger
from tallystick.system.files import Files, OsFiles
from tallystick.system.git import Git
from tallystick.wiring import App, assemble, this_machine

T = TypeVar("T")

ROOT = Path(__file__).resolve().parent.parent
SMALL = 300
#: The variable that holds how many seconds each flush waits more, for the processes that are started here too.
SLOWER = "TALLYSTICK_BENCH_FLUSH_S"
_AT_ONCE = 100


class SlowFiles(OsFiles):
    """The real disk, with flushes that take as long as an ordinary drive's: each waits `seconds` more."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def fsync(self, fd: int) -> None:  # type: ignore[override]  # a static method there, as a bare system call is
        """Sync, then wait."""
        OsFiles.fsync(fd)
        time.sleep(self._seconds)


def disk() -> Files:
    """The disk that everything is measured on: the real one, or a slower one where `SLOWER` says so."""
    slower = float(os.environ.get(SLOWER, "0"))
    return SlowFiles(slower) if slower else OsFiles()


class CountingFiles(OsFiles):
    """The real disk, with its syncs counted."""

    def __init__(self) -> None:
        self.syncs = 0

    def fsync(self, fd: int) -> None:  # type: ignore[override]  # a static method there, as a bare system call is
        """Count, then sync."""
        self.syncs += 1
        OsFiles.fsync(fd)


class Scene:
    """One repository (`place`) and one home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.place = folder / "shop"
        (folder / "home").mkdir()
        subprocess.run(["git", "init", "--quiet", str(self.place)], env=self.environment(), check=True)

    def environment(self) -> dict[str, str]:
        """What the programs started here see: this home, our source, compiled modules allowed."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR", SLOWER) if name in os.environ}
        return {
            **kept,
            "HOME": str(self.folder / "home"),
            "XDG_STATE_HOME": str(self.folder / "home" / "state"),
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        }

    def app(self, files: Files | None = None) -> App:
        """A new app, as a process that starts now has it."""
        machine = this_machine(self.environment())._replace(files=files or disk())
        return assemble(machine, str(self.place), By("solo"))

    def write(self, name: str, size: int) -> str:
        """A file of `size` bytes in the project, its content as good as new each time; its path from the top."""
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = os.urandom((size + 1) // 2).hex()[:size]
        path.write_text(text, encoding="ascii")
        return name

    def journal(self, feature: str) -> Path:
        """The one file that holds the feature's records."""
        [found] = (self.place / ".git" / "tallystick" / "journal" / feature).iterdir()
        return found

    def forget_checkpoints(self) -> None:
        """Take the checkpoints away, so that the next process reads the journal from its beginning."""
        shutil.rmtree(self.place / ".git" / "tallystick" / "cache" / "checkpoints", ignore_errors=True)


@contextmanager
def scene() -> Iterator[Scene]:
    """A new scene, gone at the end."""
    top = ROOT / ".dev"
    top.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=top) as folder:
        yield Scene(Path(folder))


def names(amount: int, start: int = 0) -> list[str]:
    """Criterion ids: AC0, AC1 …"""
    return [f"AC{number}" for number in range(start, start + amount)]


def freeze(app: App, feature: str, amount: int) -> None:
    """A ledger of so many criteria, its view written."""
    app.ledger.freeze(feature, [Draft(name, f"criterion {name} does what it says") for name in names(amount)])
    app.ledger.finish()


def keeper(app: App) -> Keeper:
    """What keeps evidence for `app`."""
    place, machine = app.place, app.machine
    git = Git(machine.files, place.tree, place.git_dir, place.common, machine.env)
    return Keeper(machine.files, place.tree, app.store.blobs, git, machine.clock)


def pass_many(app: App, feature: str, criteria: Sequence[str], files: Sequence[str]) -> None:
    """Pass `criteria`, each citing one of `files` in turn, in few commits: the records are those of single marks."""
    keep = keeper(app)
    kept = {file: [keep.keep(one) for one in references(file)] for file in files}
    cited = [(name, files[at % len(files)]) for at, name in enumerate(criteria)]

    def event(ledger: Ledger, one: tuple[str, str]) -> Event:
        name, file = one
        return rules.mark_pass(ledger, rules.known_criterion(ledger, name), file, "cited", kept[file], False)

    record_many(app, feature, cited, event)


def fail_many(app: App, feature: str, amount: int, records: int) -> None:
    """`records` failed attempts, dealt round over the first `amount` criteria, in few commits."""
    dealt = [f"AC{number % amount}" for number in range(records)]
    record_many(
        app, feature, dealt, lambda ledger, name: rules.mark_failure(ledger, name, "assert 2 == 1, in the cart")
    )


def record_many(app: App, feature: str, items: Sequence[T], event: Callable[[Ledger, T], Event]) -> None:
    """One record for each item, a hundred to a commit."""
    for start in range(0, len(items), _AT_ONCE):
        app.ledger.record(feature, "fail", "", partial(_events, event, items[start : start + _AT_ONCE]))


def _events(event: Callable[[Ledger, T], Event], items: Sequence[T], ledger: Ledger) -> list[Event]:
    return [event(ledger, item) for item in items]
