"""A small project whose criteria go the whole way: frozen, seen red, built, proven; and what is said of them."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.real.project import Project, Said, run
from tests.real.pseudo import on_terminal
from tests.unit.evidence.environments import PYTEST, copy_installed, virtual

FEATURE = "checkout"
ABSENT = "def total(lines):\n    raise NotImplementedError\n"
PRESENT = "def total(lines):\n    return sum(lines)\n"
TEST = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
ID = "tests/test_cart.py::test_total"
FILES: Mapping[str, str] = {"cart.py": ABSENT, "tests/test_cart.py": TEST, ".gitignore": "__pycache__/\n"}

Text = str | bytes | None


@functools.cache
def python() -> Path:
    """The folder of a Python that has pytest and nothing else, made once for all tests of this run."""
    folder = Path(tempfile.mkdtemp(prefix="tallystick-python-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy_installed(virtual(folder), *PYTEST)
    (folder / "bin" / "python3").symlink_to("python")
    run([folder / "bin" / "python3", "-m", "compileall", "-q", folder / "lib"], folder)
    return folder / "bin"


class Work(Project):
    """A work tree in which a criterion is worked on, with a Python that has pytest first on PATH."""

    @classmethod
    def begun(cls, folder: Path, files: Mapping[str, Text] = FILES, checks: Sequence[str] = (f"tests: {ID}",)) -> Work:
        """A repository of these files, and a frozen criterion AC1, AC2 … for each of `checks`, all committed."""
        work = cls(folder, {"PATH": f"{python()}{os.pathsep}{os.environ['PATH']}"})
        folder.mkdir(parents=True)
        work.git("init", "--quiet")
        work.write(files)
        work.commit()
        given = "".join(f"- [ ] AC{at} it works\n      {check}\n" for at, check in enumerate(checks, 1))
        work.done("ledger", "init", FEATURE, "-", given=given.encode())
        work.commit()
        return work

    @classmethod
    def proven(cls, folder: Path, files: Mapping[str, Text] = FILES) -> Work:
        """The same, seen red, built, proven and committed."""
        work = cls.begun(folder, files)
        work.red()
        work.commit()
        work.write({"cart.py": PRESENT})
        assert work.verified() == "proven"
        work.commit()
        return work

    def moved(self, folder: Path, env: Mapping[str, str] | None = None) -> Work:
        """The same surroundings, seen from another folder."""
        return Work(folder, {**self.env, **(env or {})})

    def write(self, files: Mapping[str, Text]) -> None:
        """Write these files, or take them away."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))

    def commit(self, message: str = "more") -> None:
        """Commit everything that lies here."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)

    def red(self, *names: str) -> None:
        """Have the tests seen red; all of them count."""
        said = self.tally("ledger", "red", FEATURE, *names, "--json")
        assert (said.status, said.document["holds"]) == (0, True), said

    def not_red(self, *names: str) -> list[str]:
        """The codes for which a red does not count."""
        said = self.tally("ledger", "red", FEATURE, *names, "--json")
        assert said.status == 4, said
        return [reason["code"] for row in said.document["criteria"] for reason in row["reasons"]]

    def verify(self, *words: str) -> Said:
        """What `verify --json` says."""
        return self.tally("verify", FEATURE, *words, "--json")

    def verified(self, name: str = "AC1", *words: str) -> str:
        """The level at which a criterion holds after `verify`; "" where it does not."""
        row = self.row(self.verify(*words), name)
        return str(row["level"]) if row["holds"] else ""

    def why(self, name: str = "AC1", *words: str) -> tuple[int, list[str]]:
        """How `verify` ends, and the codes for which a criterion is not what it should be."""
        said = self.verify(*words)
        return said.status, [reason["code"] for reason in self.row(said, name)["reasons"]]

    @staticmethod
    def row(said: Said, name: str = "AC1") -> Any:
        """The row of a criterion in what `verify --json` said."""
        assert "criteria" in said.document, said
        return next(row for row in said.document["criteria"] if row["id"] == name)

    def get(self, name: str = "AC1") -> Any:
        """The page of a criterion, as a document."""
        return self.done("ledger", "get", FEATURE, name, "--json").document

    def person(self, *words: str) -> str:
        """A command by a person at a terminal; it must end well. What it showed."""
        status, screen = on_terminal(words, self.folder, self.env)
        assert status == 0, screen
        return screen

    def accept(self, *words: str, name: str = "AC1") -> str:
        """A person lets the tests stand as they are, or (`--tests`) takes over ids."""
        return self.person("ledger", "accept", FEATURE, name, *words, "--reason", "looked at it")

    def steps(self) -> list[list[str]]:
        """The commands of each run that was recorded."""
        runs = [record["data"] for record in self.records(FEATURE) if record["type"] == "run_recorded"]
        return [[" ".join(step["command"]) for step in run["steps"]] for run in runs]
