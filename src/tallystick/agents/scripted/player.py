"""Plays a story: each scene is an agent with its own server, which calls tools and works on the files of a project.

Nothing is pretended. The server is a process that is spoken to over its pipes, files are written, git commits, and
where the story says so the process is ended with SIGKILL. What an act comes to is compared with what the story says;
the first difference ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from tallystick.agents.scripted.client import Answer, Client, ProtocolFault, ServerGone
from tallystick.agents.scripted.script import Act, Ask, Commit, Crash, Edit, Expect, Scene, See, Write, label
from tallystick.agents.scripted.stage import Stage
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.limits import INPUT_FILE
from tallystick.system.durable import read_file

#: Seconds that something which must happen by itself gets: a check to begin, a view to be written.
_SOON_S = 20.0
_LOOK_S = 0.003
_HINT = "`tallystick demo --keep DIR` keeps what is there by then, to look at"


class Outcome(NamedTuple):
    """What an act came to: in words, as facts, and the code it was refused with ("" when it was not)."""

    says: str = ""
    facts: Mapping[str, Json] = {}
    refused: str = ""


class Watcher(Protocol):
    """Whoever looks on. Called in this order: a scene, then each of its acts and what it came to."""

    def scene(self, number: int, scene: Scene, process: int | None) -> None: ...
    def begins(self, act: Act) -> None: ...
    def ended(self, act: Act, outcome: Outcome) -> None: ...


def play(scenes: Sequence[Scene], stage: Stage, watcher: Watcher) -> None:
    """Play the scenes, one after the other.

    Raises `Refusal` "internal" at the first act that does not come to what the story says, naming scene and act.
    Whatever ends it, no process is left behind.
    """
    for number, scene in enumerate(scenes, 1):
        try:
            with Agent(scene.role, stage) as agent:
                watcher.scene(number, scene, agent.process)
                for act in scene.acts:
                    _play(agent, act, watcher)
        except (Departed, ProtocolFault, ServerGone) as error:
            who = scene.role or "somebody"
            raise Refusal("internal", f"the story broke off at step {number}, {who}: {error}", _HINT) from None


def _play(agent: Agent, act: Act, watcher: Watcher) -> None:
    watcher.begins(act)
    outcome = agent.perform(act)
    watcher.ended(act, outcome)
    if isinstance(act, Ask) and not _as_expected(outcome, act.expect):
        wanted = f"refused with {act.expect.refused}" if act.expect.refused else f"accepted with {act.expect.facts}"
        raise Departed(f"{label(act)} was to be {wanted}, and came to: {outcome.says}")


def _as_expected(outcome: Outcome, expected: Expect) -> bool:
    if expected.or_refused and outcome.refused == expected.or_refused:
        return True
    same = all(outcome.facts.get(key) == value for key, value in expected.facts.items())
    return outcome.refused == expected.refused and same and all(text in outcome.says for text in expected.says)


class Departed(Exception):  # noqa: N818 - what happened, in the words of a story
    """An act did not come to what the story says."""


class Agent:
    """One agent and its connection; without a role it is a person, who has none. A context manager."""

    def __init__(self, role: str, stage: Stage) -> None:
        self._role = role
        self._stage = stage
        self._client = None
        if role:
            self._client = Client([*stage.program, role], cwd=stage.project, env=stage.env)

    @property
    def process(self) -> int | None:
        """The process id of its server."""
        return self._client.pid if self._client is not None else None

    def perform(self, act: Act) -> Outcome:
        """Do it. Raises `Departed`, `ProtocolFault`, `ServerGone`, or a `Refusal` of the disk or of git."""
        match act:
            case Write():
                for path, text in act.files.items():
                    self._stage.write(path, text)
                return Outcome()
            case Edit():
                return self._edit(act)
            case See():
                return self._see(act)
            case Commit():
                return Outcome(self._stage.commit(self._role, act.message))
            case Ask():
                return _outcome(self._connected().call(act.tool, dict(act.arguments)))
            case Crash():
                return self._crash(act.during)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._client is not None:
            self._client.__exit__(kind, error, trace)

    def _connected(self) -> Client:
        if self._client is None:
            raise Departed("a person has no connection")
        return self._client

    def _text(self, path: str) -> str:
        return (read_file(self._stage.files, f"{self._stage.project}/{path}", INPUT_FILE) or b"").decode()

    def _edit(self, act: Edit) -> Outcome:
        before, behind, rest = (
            self._text(act.path).partition(act.after) if act.after else ("", "", self._text(act.path))
        )
        if act.old not in rest or (act.after and not behind):
            raise Departed(f"{act.path} does not hold {act.old}")
        self._stage.write(act.path, before + behind + rest.replace(act.old, act.new, 1))
        return Outcome()

    def _see(self, act: See) -> Outcome:
        """Views are written soon after the answer, so it looks again for a while."""
        if not self._before_long(lambda: act.text in self._text(act.path).partition(act.after)[2].partition("}")[0]):
            raise Departed(f"{act.path} does not hold {act.text} behind {act.after}")
        return Outcome(act.says)

    def _crash(self, ask: Ask) -> Outcome:
        """SIGKILL as soon as the check has got its folder: the call has begun then, and its check has not ended."""
        client = self._connected()
        listed = self._stage.files.listdir
        before = set(listed(self._stage.scratch))
        pending = client.begin(ask.tool, dict(ask.arguments))
        begun = self._before_long(lambda: bool(set(listed(self._stage.scratch)) - before))
        status = client.kill()
        if not begun or status != -9:
            raise Departed(f"{ask.tool} began no check to be killed in: the server ended with status {status}")
        facts: dict[str, Json] = {"killed": client.pid}
        try:
            pending.answer()
        except ServerGone:
            return Outcome(f"kill -9: process {client.pid} is gone and never answered", facts)
        return Outcome(f"kill -9: process {client.pid} is gone, a moment after its answer", facts)

    def _before_long(self, holds: Callable[[], bool]) -> bool:
        """Whether it holds, now or at some moment of the next seconds."""
        clock = self._stage.clock
        end = clock.monotonic() + _SOON_S
        while not holds():
            if clock.monotonic() > end:
                return False
            clock.pause(_LOOK_S)
        return True


def _outcome(answer: Answer) -> Outcome:
    facts: dict[str, Json] = answer.structured or {}
    refused = facts["error"]["code"] if answer.is_error else ""
    return Outcome(answer.text, facts, refused)
