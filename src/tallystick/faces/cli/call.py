"""One call of the command line: its words, its app, who calls, and which feature is meant.

The role of a person is `user`, given only where standard input and standard error are a terminal and no client's
marker variable is set; every other command line is `shell` (surface). That is a fence, not a wall: whoever runs as
the same user can take the variables away.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from tallystick.errors import Refusal
from tallystick.faces.cli.terminal import Terminal
from tallystick.ids import shown
from tallystick.journal.record import By
from tallystick.limits import INPUT_FILE
from tallystick.system.durable import read_file
from tallystick.wiring import App, Machine, assemble

if TYPE_CHECKING:
    import argparse

    from tallystick.ledger.document import Source

#: Variables that the clients set for what they start, and the client each one tells of.
MARKERS: dict[str, str] = {
    "CLAUDECODE": "claude",
    "CLAUDE_CODE_SESSION_ID": "claude",
    "CLAUDE_PROJECT_DIR": "claude",
    "CODEX_SANDBOX": "codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "codex",
    "CODEX_THREAD_ID": "codex",
    "OPENCODE": "opencode",
    "OPENCODE_PID": "opencode",
    "OPENCODE_SESSION_ID": "opencode",
    "AGENT": "agent",
}

#: An answer to a question has at most this many bytes.
_ANSWER = 100


class Input(Protocol):
    """Standard input, as bytes."""

    def read(self, size: int = -1, /) -> bytes: ...


class Streams(NamedTuple):
    """What a call can read, and whether a person sits before it."""

    stdin: Input | None
    interactive: bool

    @staticmethod
    def of_process() -> Streams:
        """The standard streams of this process."""
        interactive = sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()
        return Streams(None if sys.stdin is None else sys.stdin.buffer, interactive)


class Call:
    """What a command's function gets."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        terminal: Terminal,
        machine: Machine,
        streams: Streams,
        cwd: Callable[[], str],
    ) -> None:
        self.arguments: Any = arguments
        self.terminal = terminal
        self.machine = machine
        self._streams = streams
        self._cwd = cwd
        self._app: App | None = None

    @property
    def app(self) -> App:
        """The app of the repository that is meant, put together at the first use."""
        if self._app is None:
            root = self.arguments.root
            if root == "":  # a shell variable that nobody set, say: never the folder one happens to stand in
                raise Refusal("store.place", "--root names no folder", "give --root a folder that exists")
            folder = root if root is not None and os.path.isabs(root) else os.path.join(self.folder(), root or "")
            self._app = assemble(self.machine, folder, self.by())
        return self._app

    def by(self) -> By:
        """Who calls."""
        env = self.machine.env
        client = next((name for marker, name in MARKERS.items() if env.get(marker)), None)
        role = "user" if self._streams.interactive and client is None else "shell"
        session = env.get("CLAUDE_CODE_SESSION_ID") or env.get("CODEX_THREAD_ID") or env.get("OPENCODE_SESSION_ID")
        return By(role, None, client, session)

    def finish(self) -> tuple[str, ...]:
        """What is due after the answer; notes for a person."""
        if self._app is None:
            return ()
        damage = self._app.settings.damage()
        return (*self._app.due.finish(), *((damage.message,) if damage is not None else ()))

    def confirmed(self, question: str) -> bool:
        """Whether the person at the terminal answers yes; anything else is a no. The question goes where errors go."""
        self.terminal.tell(question)
        said = b""
        while self._streams.stdin is not None and len(said) < _ANSWER and not said.endswith(b"\n"):
            letter = self._streams.stdin.read(1)
            if not letter:
                break
            said += letter
        return said.strip().lower() in (b"y", b"yes")

    def feature(self) -> str:
        """The feature that is meant: as said, else as the settings say, the only open one, or the branch's."""
        said = self.arguments.words
        if isinstance(said, list):
            said = said[0] if said else None
        return said if said is not None else self._default()

    def feature_and_word(self) -> tuple[str, str]:
        """A feature and one more word; a single word belongs to the feature that is meant anyway."""
        words = self.arguments.words
        if len(words) > 2:
            raise Refusal("usage", f"one word too many: {shown(words[2])}", "quote a name that holds blanks")
        if len(words) == 2:
            return words[0], words[1]
        return self._default(), words[0]

    def feature_and_criteria(self) -> tuple[str, list[str]]:
        """A feature and any number of criteria; a first word that is no feature is a criterion."""
        words = list(self.arguments.words)
        if words and words[0] in self.app.ledger.features():
            return words[0], words[1:]
        return self._default(), words

    def source(self, name: str) -> Source:
        """The criteria in an input file that the user named; `-` is standard input."""
        from tallystick.ledger.document import source

        return source(self.read(name), "standard input" if name == "-" else name)

    def read(self, name: str) -> bytes:
        """The bytes of an input file that the user named; `-` is standard input. At most 16 MB."""
        if name == "-":
            if self._streams.stdin is None:
                raise Refusal("input.unreadable", "standard input is closed", "name a file")
            data = self._streams.stdin.read(INPUT_FILE + 1)
            if len(data) > INPUT_FILE:
                raise Refusal(
                    "input.too_large",
                    f"standard input has more than {INPUT_FILE:,} bytes",
                    "split the feature, or pass less",
                )
            return data
        found = read_file(self.machine.files, os.path.join(self.folder(), name), INPUT_FILE)
        if found is None:
            raise Refusal(
                "input.unreadable", f"{shown(name)} is not there", "name a file that exists, or - for standard input"
            )
        return found

    def folder(self) -> str:
        """The folder the caller stands in."""
        try:
            return self._cwd()
        except FileNotFoundError:
            raise Refusal("store.place", "the folder you stand in is gone", "go to one that exists") from None

    def _default(self) -> str:
        from tallystick.system.place import branch

        said = self.app.settings.default_feature()
        if said:
            return said
        ledger = self.app.ledger
        every = ledger.features()
        if len(every) == 1:
            return every[0]
        unfinished = ledger.unfinished()
        if len(unfinished) == 1:
            return unfinished[0]
        name = branch(self.machine.files, self.app.place)
        if name in unfinished:
            return str(name)
        if not every:
            return self._lying()
        raise Refusal("usage", f"which feature? There are {', '.join(unfinished[:8])}", "name it as the first word")

    def _lying(self) -> str:
        """Where nothing is recorded: the only feature that has a folder of outputs, manifest or board here."""
        from tallystick.handoff.folder import features

        there = features(self.machine.files, self.app.place.tree)
        if len(there) == 1:
            return there[0]
        if there:
            says = f"which feature? Nothing is recorded here, and there are folders of {', '.join(there[:8])}"
            raise Refusal("feature.unknown", says, "name it as the first word")
        raise Refusal(
            "feature.unknown",
            "nothing is recorded here yet",
            "name the feature, or freeze criteria with `tallystick ledger init checkout criteria.md`",
        )
