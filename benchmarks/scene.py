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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tallystick.journal.record import By
from tallystick.ledger.model import Draft
from tallystick.system.files import Files, OsFiles
from tallystick.wiring import App, assemble, this_machine

ROOT = Path(__file__).resolve().parent.parent
SMALL = 300
#: The variable that holds how many seconds each flush waits more, for the processes that are started here too.
SLOWER = "TALLYSTICK_BENCH_FLUSH_S"


class UnsyncedFiles(OsFiles):
    """The real disk without a sync, for filling a scene: nothing that is measured was written through it."""

    def fsync(self, fd: int) -> None:  # type: ignore[override]  # a static method there, as a bare system call is
        """Nothing."""


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
    app.due.finish()


def pass_many(at: Scene, feature: str, criteria: Sequence[str], files: Sequence[str]) -> None:
    """Pass `criteria`, each citing one of `files` in turn."""
    app = at.app(UnsyncedFiles())
    for number, name in enumerate(criteria):
        app.ledger.mark_pass(feature, name, files[number % len(files)])
    app.due.finish()


def fail_many(at: Scene, feature: str, amount: int, records: int) -> None:
    """`records` failed attempts, dealt round over the first `amount` criteria."""
    app = at.app(UnsyncedFiles())
    for number in range(records):
        app.ledger.mark_failure(feature, f"AC{number % amount}", "assert 2 == 1, in the cart")
    app.due.finish()
