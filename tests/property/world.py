"""The world of the property test: a repository with a linked worktree on a simulated disk, and whoever works there.

A command runs in a process of its own, or in a server that stays; each may be killed, and the power may go.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tallystick.errors import Refusal
from tallystick.handoff import service as handoff
from tallystick.handoff.notes import notes_of
from tallystick.journal.record import By
from tallystick.ledger.model import Criterion, Draft, ledger_of
from tallystick.wiring import App, assemble
from tests.crash.stage import KILLED, START, Caller, machine, tally
from tests.property.model import stamp
from tests.simdisk import Attempt, Fault, Faulty, SimDisk

STATE = "/user/state"
TREES = ("shop", "side")
FILES = ("a.txt", "b.txt", "large.txt")
LARGE = b"all passed\n" * 1700


class End(NamedTuple):
    """How a command ended: "" when it was acknowledged, a refusal's code, or "killed". `notes` were told beside it."""

    code: str
    notes: str = ""


class Mortal(Faulty):
    """A process that may die in the middle of reading a file piece by piece; what it left open is closed already."""

    def intercept(self, attempt: Attempt) -> Any:
        """As `Faulty`, but for the closing of a descriptor that died with the process."""
        if attempt.name == "close" and attempt.args[0] not in self.paths:
            return None
        return super().intercept(attempt)


class World:
    """Files, processes and time. `base` is where the repository lies now."""

    def __init__(self) -> None:
        self.disk = SimDisk()
        self.base = "/a"
        self.seconds = 0
        self.trees: dict[str, dict[str, bytes]] = {tree: {} for tree in TREES}
        self._servers: dict[str, App] = {}
        self.disk.folders("/user")
        for folder in ("objects", "refs", "info", "worktrees/side"):
            self.disk.folders(f"/a/shop/.git/{folder}")
        self.disk.put("/a/shop/.git/HEAD", b"ref: refs/heads/main\n")
        self.disk.put("/a/shop/.git/worktrees/side/HEAD", b"ref: refs/heads/side\n")
        self.disk.put("/a/shop/.git/worktrees/side/commondir", b"../..\n")
        self.disk.put("/a/side/.git", b"gitdir: ../shop/.git/worktrees/side\n")
        for tree in TREES:
            for name in FILES:
                self.write(tree, name, LARGE if name == "large.txt" else b"3 passed\n")

    # --- places and time

    @property
    def store(self) -> str:
        """The live store."""
        return f"{self.base}/shop/.git/tallystick"

    @property
    def now(self) -> str:
        """The moment at which commands run now, as they record it."""
        return stamp(START + self.seconds * 1_000_000_000)

    def view(self, tree: str, feature: str) -> str:
        """Where a view lies."""
        return f"{self.base}/{tree}/.agent/tasks/{feature}/feature_list.json"

    def lying(self, tree: str, feature: str) -> bytes | None:
        """What lies there."""
        found = self.disk.tree().get(self.view(tree, feature))
        return found if isinstance(found, bytes) else None

    def caller(self, tree: str, state: str = STATE) -> Caller:
        """A person in that tree."""
        return Caller(folder=f"{self.base}/{tree}", state=state, at=self.seconds)

    def write(self, tree: str, name: str, content: bytes | None) -> None:
        """Somebody edits a file of the project, or takes it away."""
        path = f"{self.base}/{tree}/{name}"
        if content is not None:
            self.disk.put(path, content)
            self.trees[tree][name] = content
        elif self.trees[tree].pop(name, None) is not None:
            self.disk.remove(path)

    def remove(self, path: str) -> None:
        """Take away a file or folder, if it is there."""
        if path in self.disk.tree():
            self.disk.remove(path)

    def move(self) -> None:
        """The whole repository goes elsewhere."""
        old, self.base = self.base, "/b" if self.base == "/a" else "/a"
        self._servers.clear()
        self.disk.move(old, self.base)

    def cut_power(self, seed: int) -> None:
        """Every process dies, and the disk keeps what a power cut leaves."""
        self._servers.clear()
        self.disk = self.disk.crash(seed)

    # --- commands

    def command(self, tree: str, words: tuple[str, ...], plan: tuple[Fault, ...] = ()) -> End:
        """Run `tallystick WORDS --json` in a process of its own, whose disk does what `plan` says."""
        process = Mortal(self.disk.process(), plan)
        stdin = b"".join(f"- [ ] {name} {words[-1]}\n".encode() for name in words[-2].split())
        out: list[bool] = []
        takes_file = words[:2] in (("ledger", "init"), ("ledger", "add"))
        typed = (*words[:-2], "-") if takes_file else words
        answer = tally(process, *typed, "--json", caller=self.caller(tree), stdin=stdin, heard=lambda: out.append(True))
        process.kill()
        if answer.status == KILLED:
            return End("" if out else "killed", "killed")
        assert answer.status != 70, answer
        return End(answer.code, answer.err)

    def serve(self, tree: str, act: str, feature: str, name: str, word: str) -> End:
        """The same act by the server of that tree, which stays between the commands."""
        if tree not in self._servers:
            caller = self.caller(tree)
            self._servers[tree] = assemble(machine(self.disk.process(), caller), caller.folder, By("user"))
        app = self._servers[tree]
        app.machine.clock._now = START + self.seconds * 1_000_000_000  # type: ignore[attr-defined]
        drafts = [Draft(one, word) for one in name.split()]
        ledger = app.ledger
        acts = {
            "init": lambda: ledger.freeze(feature, drafts),
            "add": lambda: ledger.add(feature, drafts),
            "pass": lambda: ledger.mark_pass(feature, name, word),
            "fail": lambda: ledger.mark_failure(feature, name, word),
            "amend": lambda: ledger.amend(feature, name, word, False, "agreed"),
            "close": lambda: ledger.close(feature, name, word),
            "override": lambda: ledger.override(feature, name, word),
            "abandon": lambda: ledger.abandon(feature, word),
            "note": lambda: handoff.note(ledger, feature, word),
        }
        try:
            receipt = acts[act]()
        except Refusal as refusal:
            return End(refusal.code)
        return End("", "; ".join((*receipt.notes, *app.due.finish())))

    def stop(self) -> None:
        """The servers end."""
        self._servers.clear()

    # --- looking

    def fresh(self, tree: str = "shop", disk: SimDisk | None = None) -> App:
        """The app as a process that starts now has it."""
        caller = self.caller(tree)
        return assemble(machine((disk or self.disk).process(), caller), caller.folder, By("shell"))

    def served(self, feature: str) -> list[Recorded]:
        """The state that each running server has of a feature, brought up to date."""
        return [recorded(app, feature) for app in self._servers.values()]


class Recorded(NamedTuple):
    """All that is recorded of a feature."""

    created_at: str | None
    abandoned: str | None
    criteria: tuple[Criterion, ...]
    notes: tuple[str, ...]


def recorded(app: App, feature: str) -> Recorded:
    """What that process reads; there is no damage in it."""
    snapshot = app.store.snapshot(feature)
    ledger = ledger_of(snapshot)
    assert snapshot.grave == (), snapshot.grave
    notes = tuple(note.text for note in notes_of(snapshot))
    return Recorded(ledger.created_at, ledger.abandoned, tuple(ledger.criteria.values()), notes)


def words_of(act: str, feature: str, name: str, word: str) -> tuple[str, ...]:
    """The command line of an act; for `init` and `add` the last two words become the file on standard input."""
    options = {
        "pass": ("--evidence", word),
        "fail": ("--error", word),
        "amend": ("--text", word, "--reason", "agreed"),
        "close": ("--close", "--reason", word),
        "override": ("--reason", word),
    }
    if act in ("init", "add"):
        return ("ledger", act, feature, name, word)
    if act == "abandon":
        return ("abandon", feature, "--reason", word)
    if act == "note":
        return ("note", feature, word)
    return ("ledger", "amend" if act == "close" else act, feature, name, *options[act])


def document(view: bytes | None) -> list[dict[str, object]]:
    """The rows of a view; none where it is not there or a power cut left no more than a part of it."""
    try:
        rows: list[dict[str, object]] = json.loads((view or b"").decode())["features"]
    except ValueError:
        return []
    return rows
