"""A project to try things on: a git repository with evidence in it, and the real command line as a process of its own.

Nothing here knows how a store is built, but for `records`, which reads the journal as plain JSON lines.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from select import select
from typing import Any, NamedTuple

PROOF = "proof.txt"
TALLYSTICK = (sys.executable, "-m", "tallystick")


class Said(NamedTuple):
    """How a command ended: its exit status and both streams."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What a command with `--json` answered."""
        return json.loads(self.out)


class Struck(NamedTuple):
    """What a command that was dealt a blow had said on standard output before it, and in all."""

    before: str
    in_all: str


def criteria(count: int) -> list[str]:
    """The ids of a ledger of `count` criteria."""
    return [f"C{number:04d}" for number in range(1, count + 1)]


def checklist(names: Sequence[str]) -> str:
    """A Markdown checklist of these criteria."""
    return "".join(f"- [ ] {name} what {name} asks for\n" for name in names)


def run(
    argv: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None, given: bytes = b"", check: bool = False
) -> Said:
    """Run `argv`; `env` is added to the environment of the test. With `check` it must end well."""
    done = subprocess.run(argv, cwd=cwd, env={**os.environ, **(env or {})}, input=given, capture_output=True)
    said = Said(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "surrogateescape"))
    assert not check or said.status == 0, said
    return said


class Project:
    """One folder, the command line run in it, git run in it. `env` is added to the test's environment."""

    def __init__(self, folder: Path, env: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.env = dict(env or {})

    @classmethod
    def made(cls, folder: Path, env: Mapping[str, str] | None = None, *options: str) -> Project:
        """A new repository (`options` go to `git init`) with one commit that holds the proof."""
        project = cls(folder, env)
        folder.mkdir(parents=True, exist_ok=True)
        project.git("init", "--quiet", *options)
        (folder / PROOF).write_text("seen with these eyes\n", encoding="utf-8")
        project.git("add", PROOF)
        project.git("commit", "--quiet", "-m", "first")
        return project

    def at(self, folder: Path, env: Mapping[str, str] | None = None) -> Project:
        """The same surroundings, seen from another folder."""
        return Project(folder, {**self.env, **(env or {})})

    def git(self, *words: str) -> str:
        """Run git here; it must end well. Its standard output."""
        return run(["git", *words], self.folder, self.env, check=True).out

    def tally(self, *words: str, given: bytes = b"", env: Mapping[str, str] | None = None) -> Said:
        """Run the command line here, as a process; `env` is added to its environment."""
        return run([*TALLYSTICK, *words], self.folder, {**self.env, **(env or {})}, given)

    def struck(
        self, words: Sequence[str], once: Path, seconds: float, blow: Callable[[subprocess.Popen[bytes]], object]
    ) -> Struck:
        """Start the command line here and deal it a blow `seconds` after `once` is there, or when it has answered."""
        env = {**os.environ, **self.env}
        pipe = subprocess.PIPE
        with subprocess.Popen([*TALLYSTICK, *words], cwd=self.folder, env=env, stdout=pipe, stderr=pipe) as process:
            assert process.stdout is not None
            try:
                while not once.exists() and process.poll() is None:
                    pass  # nobody announces it, and a pause would miss the moment
                ready = select([process.stdout], [], [], seconds)[0]
                before = os.read(process.stdout.fileno(), 1 << 16) if ready else b""
            finally:
                blow(process)
            return Struck(before.decode(), before.decode() + process.communicate()[0].decode())

    def done(self, *words: str, given: bytes = b"", env: Mapping[str, str] | None = None) -> Said:
        """Run the command line here; it must end well."""
        said = self.tally(*words, given=given, env=env)
        assert said.status == 0, said
        return said

    def freeze(self, feature: str, count: int) -> list[str]:
        """A ledger of `count` criteria; their ids."""
        names = criteria(count)
        self.done("ledger", "init", feature, "-", given=checklist(names).encode())
        return names

    def mark(self, feature: str, name: str, env: Mapping[str, str] | None = None) -> Said:
        """Pass one criterion by the proof."""
        return self.tally("ledger", "pass", feature, name, "--evidence", PROOF, env=env)

    def rows(self, feature: str) -> dict[str, Any]:
        """Every criterion of the ledger as `ledger show` says it; the command must end well."""
        return {row["id"]: row for row in self.done("ledger", "show", feature, "--json").document["criteria"]}

    def passing(self, feature: str) -> set[str]:
        """The criteria that hold."""
        return {name for name, row in self.rows(feature).items() if row["state"] == "holds"}

    def audit(self, env: Mapping[str, str] | None = None) -> Said:
        """What `audit --json` says."""
        return self.tally("audit", "--json", env=env)

    @property
    def store(self) -> Path:
        """The live store of this repository."""
        common = self.git("rev-parse", "--path-format=absolute", "--git-common-dir").rstrip("\n")
        return Path(common, "tallystick")

    def records(self, feature: str) -> list[dict[str, Any]]:
        """Every record of a feature, of all writers, as it lies on disk."""
        files = sorted((self.store / "journal" / feature).glob("*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]
