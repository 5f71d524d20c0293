"""The command line on a simulated machine: one call of `tally` is one process from its start to its end.

A project lies at `TREE`, the user's half below `HOME`. The clock stands still while a command runs, so the same
command on the same disk records the same bytes, whatever went wrong before.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tallystick.faces.cli.call import Streams
from tallystick.faces.cli.main import carry_out
from tallystick.faces.cli.terminal import Terminal
from tallystick.journal.record import FORMAT, By
from tallystick.system.files import Files
from tallystick.wiring import App, Machine, assemble
from tests.simdisk import Faulty, Killed, SimDisk

TREE = "/shop"
GIT = f"{TREE}/.git"
STORE = f"{GIT}/tallystick"
STATE = "/user/state"
HOME = f"{STATE}/tallystick"
HEAD = "a" * 40
START = 1_700_000_000_000_000_000
KILLED = -9


class StillClock:
    """A clock that only moves where somebody waits."""

    def __init__(self, seconds: float = 0) -> None:
        self._now = START + int(seconds * 1e9)
        self._waited = 0.0

    def now(self) -> int:
        return self._now

    def monotonic(self) -> float:
        return self._waited

    def pause(self, seconds: float) -> None:
        self._waited += seconds


class OneCommit:
    """A repository with one commit, which is never lost."""

    def commit(self, name: str) -> str | None:
        return HEAD if name == "HEAD" or HEAD.startswith(name) else None

    def hold(self, commit: str) -> None:
        assert commit == HEAD

    def held(self, commit: str) -> bool:
        return commit == HEAD


class Page(io.StringIO):
    """An output that tells `heard` when its first bytes are out: from then on somebody may act on them."""

    def __init__(self, heard: Callable[[], None]) -> None:
        super().__init__()
        self._heard = heard

    def flush(self) -> None:
        if self.getvalue():
            self._heard()


class Answer(NamedTuple):
    """How a command ended: its status (`KILLED` for a killed one) and what it wrote."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The answer of a command that ran with --json."""
        return json.loads(self.out)

    @property
    def code(self) -> str:
        """The code of a refusal, "" where there was none."""
        return str(self.document["error"]["code"]) if self.status and self.out.startswith('{\n  "error"') else ""


class Caller(NamedTuple):
    """Who calls, from where and when: `person` sits at a terminal, `at` is in seconds after the start."""

    person: bool = True
    folder: str = TREE
    state: str = STATE
    at: float = 0
    version: int = FORMAT

    @property
    def env(self) -> Mapping[str, str]:
        """The environment."""
        return {"XDG_STATE_HOME": self.state, "TALLYSTICK_LOCK_WAIT_S": "2"}


YOU = Caller()
AGENT = Caller(person=False)


def machine(files: Files, caller: Caller = YOU) -> Machine:
    """What a process of that caller stands on."""
    return Machine(files, StillClock(caller.at), caller.env, OneCommit(), caller.version)


def tally(
    files: Files, *words: str, caller: Caller = YOU, stdin: bytes = b"", heard: Callable[[], None] = lambda: None
) -> Answer:
    """Carry out `tallystick WORDS` as a process whose disk is `files`; `heard` is called when its answer is out."""
    out, err = Page(heard), Page(lambda: None)
    terminal = Terminal(out, err, caller.env, "--json" in words)
    streams = Streams(io.BytesIO(stdin), caller.person)
    try:
        status = carry_out(words, terminal, machine(files, caller), streams, lambda: caller.folder)
    except Killed:
        status = KILLED
    return Answer(status, out.getvalue(), err.getvalue())


def on(disk: SimDisk, *words: str, caller: Caller = YOU) -> Answer:
    """`tally` in a process of its own that nothing disturbs."""
    process = Faulty(disk.process())
    answer = tally(process, *words, caller=caller)
    process.kill()
    return answer


def app(disk: SimDisk, caller: Caller = YOU) -> App:
    """The app as a process that starts now has it."""
    return assemble(machine(disk.process(), caller), caller.folder, By("user" if caller.person else "shell"))


def empty() -> SimDisk:
    """A machine with a repository that Tallystick never saw."""
    disk = SimDisk()
    disk.folders("/user")
    for folder in ("objects", "refs", "info"):
        disk.folders(f"{GIT}/{folder}")
    disk.put(f"{GIT}/HEAD", b"ref: refs/heads/main\n")
    disk.put(f"{GIT}/info/exclude", b"*.o\n")
    disk.put("/proc/self/mountinfo", b"1 1 8:1 / / rw - ext4 /dev/sda1 rw\n")
    disk.put(f"{TREE}/criteria.md", b"- [ ] AC1 the cart is kept\n- [ ] AC2 one can pay\n- [ ] AC3 a bill comes\n")
    disk.put(f"{TREE}/more.md", b"- [ ] AC4 the bill is a PDF\n- [ ] AC5 the PDF is signed\n")
    disk.put(f"{TREE}/proof.txt", b"3 passed\n")
    disk.put(f"{TREE}/large.txt", b"all passed\n" * 2000)
    return disk


def done(disk: SimDisk, *words: str, caller: Caller = YOU) -> Answer:
    """`on` for what must succeed."""
    answer = on(disk, *words, caller=caller)
    assert answer.status == 0, (words, answer)
    return answer
