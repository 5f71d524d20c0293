"""A desk to try the command line at, in process and without git: a project, a user's half, a clock that is set.

Each call of `run` is a process of its own as far as the store can tell: nothing is kept between two calls, every
descriptor is closed at the end. `refused` holds what every refusal owes: nothing changed, one line, a next step, the
exit status and the error document of the tables.
"""

from __future__ import annotations

import io
import json
import os
import stat as modes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tallystick.errors import CODES
from tallystick.faces.cli.call import Streams
from tallystick.faces.cli.main import carry_out
from tallystick.faces.cli.terminal import Terminal
from tallystick.ids import escaped
from tallystick.journal.record import FORMAT, By
from tallystick.system.confine.means import Means
from tallystick.system.files import Files, OsFiles
from tallystick.wiring import App, Machine, assemble
from tests.simdisk import Tap

FEATURE = "checkout"
COMMIT = "c0ffee" + "0" * 34
CHECKLIST = "- [ ] AC1 the cart keeps its lines\n- [ ] AC2 a guest can pay\n- [ ] AC3 the mail shows VAT\n"
_START_NS = 1_779_321_600_000_000_000  # 2026-05-21T00:00:00Z


class Said(NamedTuple):
    """How a command ended: its exit status and both streams."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What a command with `--json` answered."""
        return json.loads(self.out)


class Error(NamedTuple):
    """What a refusal said; `where` is its place, None or an object of file, line and offset."""

    code: str
    message: str
    hint: str
    where: Any


class SetClock:
    """A clock that only tests move: each look at it is a millisecond later, each pause as long as it says."""

    def __init__(self) -> None:
        self.ns = _START_NS
        self.seconds = 0.0

    def now(self) -> int:
        """The wall clock, in nanoseconds."""
        self.ns += 1_000_000
        return self.ns

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return self.seconds

    def pause(self, seconds: float) -> None:
        """Let time go by."""
        self.seconds += seconds
        self.ns += int(seconds * 1e9)


class KnownCommits:
    """A stand-in for git: the commits of a list."""

    def __init__(self, *known: str) -> None:
        self.known = list(known)
        self.kept: list[str] = []

    def commit(self, name: str) -> str | None:
        """The commit that the name begins, HEAD is the first."""
        if name == "HEAD":
            return self.known[0] if self.known else None
        return next((one for one in self.known if one.startswith(name)), None)

    def hold(self, commit: str) -> None:
        """Keep it."""
        self.kept.append(commit)

    def held(self, commit: str) -> bool:
        """Whether it is there or kept."""
        return commit in self.known or commit in self.kept


class Mortal(Tap):
    """The files of one process: when it ends, so do its descriptors. It waits for no disk: no power is cut here."""

    def fsync(self, fd: int) -> None:
        """Nothing; what survives a power cut is held elsewhere."""

    def end(self) -> None:
        """Close what is still open."""
        for fd in list(self.paths):
            self._close(fd)


class Desk:
    """`folder` is the project, `home` the user's half, `store` where the live store will be."""

    def __init__(self, base: Path, git: bool = True) -> None:
        self.base = Path(os.path.realpath(base))
        self.folder = self.base / "shop"
        self.home = self.base / "state" / "tallystick"
        self.clock = SetClock()
        self.commits = KnownCommits(COMMIT)
        self.means: Callable[[], Means] | None = None
        self.folder.mkdir(parents=True)
        self.store = self.folder / ".tallystick" / "store"
        if git:
            self.store = self.folder / ".git" / "tallystick"
            (self.folder / ".git" / "objects").mkdir(parents=True)
            (self.folder / ".git" / "refs").mkdir()
            self.put(".git/HEAD", "ref: refs/heads/main\n")
        self.put("proof.txt", "12 passed\n")
        self.put("criteria.md", CHECKLIST)

    # -- the project by hand ------------------------------------------------------------------------------------

    @property
    def view(self) -> Path:
        """The view of the feature."""
        return self.folder / ".agent" / "tasks" / FEATURE / "feature_list.json"

    @property
    def journal(self) -> Path:
        """The one journal file of the feature."""
        [found] = (self.store / "journal" / FEATURE).glob("*.jsonl")
        return found

    @property
    def members(self) -> Path:
        """The one journal file of the store itself."""
        [found] = (self.store / "journal" / "_store").glob("*.jsonl")
        return found

    @property
    def anchor(self) -> Path:
        """The one anchor of the feature."""
        [found] = (self.home / "anchors").glob(f"*/{FEATURE}")
        return found

    def put(self, name: str, data: str | bytes) -> Path:
        """Write a file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def tree(self) -> dict[str, tuple[str, bytes]]:
        """Every name below the base with its kind and bits, and its bytes (a link's are where it leads)."""
        found: dict[str, tuple[str, bytes]] = {}
        for folder, names, files in os.walk(self.base):
            for name in (*names, *files):
                path = os.path.join(folder, name)
                mode = os.lstat(path).st_mode
                data = b""
                if modes.S_ISLNK(mode):
                    data = os.fsencode(os.readlink(path))
                elif modes.S_ISREG(mode):
                    data = Path(path).read_bytes()
                found[os.path.relpath(path, self.base)] = (modes.filemode(mode), data)
        return found

    # -- the command line ---------------------------------------------------------------------------------------

    def env(self) -> dict[str, str]:
        """The environment of a call."""
        return {"HOME": str(self.base), "XDG_STATE_HOME": str(self.home.parent), "PATH": os.environ["PATH"]}

    def machine(
        self, files: Files | None = None, version: int = FORMAT, env: Mapping[str, str] | None = None
    ) -> Machine:
        """What a call stands on."""
        env = {**self.env(), **(env or {})}
        return Machine(files or OsFiles(), self.clock, env, self.commits, version, self.means)

    def run(
        self,
        *words: str,
        given: bytes = b"",
        person: bool = False,
        env: Mapping[str, str] | None = None,
        version: int = FORMAT,
        files: Files | None = None,
        folder: Path | None = None,
    ) -> Said:
        """Carry out one command; a `person` sits at a terminal, `files` stands in for the disk."""
        out, err = io.StringIO(), io.StringIO()
        process = Mortal(files or OsFiles())
        machine = self.machine(process, version, env)
        terminal = Terminal(out, err, machine.env, "--json" in words)
        streams = Streams(io.BytesIO(given), person)
        try:
            status = carry_out(words, terminal, machine, streams, lambda: str(folder or self.folder))
        finally:
            process.end()
        return Said(status, out.getvalue(), err.getvalue())

    def ok(self, *words: str, given: bytes = b"", person: bool = False) -> Said:
        """Carry out a command that must succeed."""
        said = self.run(*words, given=given, person=person)
        assert said.status == 0, said
        return said

    def refused(
        self,
        *words: str,
        given: bytes = b"",
        person: bool = False,
        env: Mapping[str, str] | None = None,
        version: int = FORMAT,
        files: Files | None = None,
    ) -> Error:
        """Carry out a command that must be refused, in both forms, and hold what every refusal owes."""
        before = self.tree()
        plain = self.run(*words, given=given, person=person, env=env, version=version, files=files)
        after_plain = self.tree()
        said = self.run("--json", *words, given=given, person=person, env=env, version=version, files=files)
        assert said.status != 0, said
        left = changes(before, after_plain) or changes(before, self.tree())
        assert not left, f"a refusal changed {left}"
        assert set(said.document["error"]) == {"code", "message", "hint", "where"}, said
        error = Error(**said.document["error"])
        assert (plain.status, said.status) == (CODES[error.code].exit,) * 2
        assert error.where is None or set(error.where) == {"file", "line", "offset"}
        assert (plain.out, said.err) == ("", "")
        assert plain.err.split("\n") == [escaped(error.message), f"Next: {escaped(error.hint)}", ""]
        assert 0 < len(error.message) < 1000
        assert error.hint
        return error

    def app(self, role: str = "solo") -> App:
        """The app as a process that starts now has it."""
        return assemble(self.machine(), str(self.folder), By(role))

    # -- the story ----------------------------------------------------------------------------------------------

    def freeze(self, checklist: str = CHECKLIST, feature: str = FEATURE) -> None:
        """Freeze a ledger."""
        self.ok("ledger", "init", feature, "-", given=checklist.encode())

    def cite(self, name: str, reference: str = "proof.txt", feature: str = FEATURE) -> Said:
        """Pass a criterion."""
        return self.ok("ledger", "pass", feature, name, "--evidence", reference)

    def states(self, feature: str = FEATURE) -> dict[str, str]:
        """Each criterion's state, as `ledger show` says it, damaged or not."""
        shown = self.run("ledger", "show", feature, "--json").document
        return {row["id"]: row["state"] for row in shown["criteria"]}

    def counted(self, feature: str = FEATURE) -> list[str]:
        """The criteria that `ledger show` says hold."""
        return [name for name, state in self.states(feature).items() if state == "holds"]

    def findings(self, *words: str) -> list[str]:
        """The codes of what `audit` (or another command) found."""
        return [finding["code"] for finding in self.run(*(words or ("audit",)), "--json").document["findings"]]


def changes(
    before: Mapping[str, tuple[str, bytes]], after: Mapping[str, tuple[str, bytes]]
) -> dict[str, tuple[object, object]]:
    """What differs between two trees: name -> before and after."""
    return {
        name: (before.get(name), after.get(name))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    }
