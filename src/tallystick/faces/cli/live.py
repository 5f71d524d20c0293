"""How a scripted story looks while it is played: a line for each act, completed when it has come to something.

The same text with and without a terminal; only colour and the short rest before each scene need one.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from tallystick.agents.scripted.player import Outcome
from tallystick.agents.scripted.script import Act, Ask, Commit, Crash, Edit, Scene, label
from tallystick.canonical import Json
from tallystick.faces.cli.terminal import Terminal, safe
from tallystick.system.locks import Clock

#: Seconds of rest before each scene, where a person looks on.
_REST_S = 0.3
_WIDTH = 80
_INDENT = 6
_LABEL = 19


class Live:
    """Shows a story on `terminal`, and remembers it: `steps` is what `--json` says of it."""

    def __init__(self, terminal: Terminal, clock: Clock) -> None:
        self._terminal = terminal
        self._clock = clock
        self.steps: list[dict[str, Json]] = []
        self.refusals = self.kills = self.edits = 0
        self._begun = False

    def scene(self, number: int, scene: Scene, process: int | None) -> None:
        """A new session; `process` is the id of its server."""
        self.steps.append(
            {"step": number, "role": scene.role or None, "does": scene.does, "process": process, "acts": []}
        )
        if self._terminal.watched:
            self._clock.pause(_REST_S)
        paint = self._terminal.paint
        who = scene.role or "by hand"
        title = f"{number:>2}  {paint(f'{who:<13}', 'strong')} {scene.does}"
        self._terminal.piece(f"\n{title}\n")
        if process is not None:
            self._line(paint(f"process {process}: tallystick mcp --role {scene.role}", "dim"))
        if self._terminal.json:
            self._terminal.progress(f"{number:>2}  {who:<13} {scene.does} …")

    def begins(self, act: Act) -> None:
        """The act is shown before it is done."""
        self._begun = True
        self._terminal.piece(f"{'':{_INDENT}}{label(act)}")

    def ended(self, act: Act, outcome: Outcome) -> None:
        """What it came to, on the same line; what was refused in the words that the agent reads."""
        word, colour = _word(act, outcome)
        gap = " " * max(2, _LABEL - len(label(act))) if word else ""
        self._terminal.piece(f"{gap}{self._terminal.paint(word, colour)}\n")
        self._begun = False
        for text, tint in _below(act, outcome):
            self._line(self._terminal.paint(text, tint), 2)
        self.refusals += bool(outcome.refused)
        self.kills += isinstance(act, Crash)
        self.edits += isinstance(act, Edit) and self.steps[-1]["role"] is None
        row = {"act": label(act), "says": outcome.says, "refused": outcome.refused or None}
        self.steps[-1]["acts"].append(row)

    def break_off(self) -> None:
        """Ends the line that was begun, if one was."""
        if self._begun:
            self._terminal.piece("\n")
            self._begun = False

    def _line(self, text: str, further: int = 0) -> None:
        self._terminal.piece(f"{'':{_INDENT + further}}{text}\n")


def _word(act: Act, outcome: Outcome) -> tuple[str, str]:
    """What an act came to in a few words, and their colour."""
    if isinstance(act, Crash):
        return outcome.says, "bad"
    if outcome.refused:
        return "refused", "bad"
    if isinstance(act, Ask) and act.tool in _ANSWERS:
        text, colour = _ANSWERS[act.tool](outcome.facts)
        return safe(text, _WIDTH - _INDENT - _LABEL), colour
    if isinstance(act, Commit):
        return f"{outcome.says}  {act.message}", "dim"
    return ("", "dim") if isinstance(act, Ask) else (outcome.says, "good")


def _below(act: Act, outcome: Outcome) -> list[tuple[str, str]]:
    """The lines below an act: what was changed, and what the agent reads where that is more than a word."""
    if isinstance(act, Edit):
        return [(f"- {act.old}", "bad"), (f"+ {act.new}", "good")]
    if not isinstance(act, Ask):
        return []
    if outcome.refused or act.tool == "brief":
        return [(line, "plain") for said in outcome.says.split("\n") for line in _wrapped(said)]
    more = act.arguments.get("text") or outcome.facts.get("warning") or outcome.facts.get("last_attempt_error")
    return [(line, "plain") for line in _wrapped(more or "")]


def _wrapped(line: str) -> list[str]:
    return textwrap.wrap(line, _WIDTH - _INDENT - 2, subsequent_indent="    ", break_long_words=False)


Facts = Mapping[str, Any]


def _frozen(facts: Facts) -> tuple[str, str]:
    return f"{facts['frozen']} criteria frozen, {facts['with_check']} name a check", "good"


def _checked(facts: Facts) -> tuple[str, str]:
    if facts["holds"]:
        return "would pass", "good"
    return f"red: {facts['red'][0]['says'] if facts['red'] else facts['reasons'][0]}", "warn"


def _passed(facts: Facts) -> tuple[str, str]:
    return f"passes, {facts['level']}", "good"


def _failing(facts: Facts) -> tuple[str, str]:
    return f"open: {', '.join(row['id'] for row in facts['features'])}", "warn"


def _standing(facts: Facts) -> tuple[str, str]:
    return (f"{facts['state']}, {facts['level']}", "good") if facts["passes"] else (facts["state"], "warn")


_ANSWERS: dict[str, Callable[[Facts], tuple[str, str]]] = {
    "init_feature_list": _frozen,
    "check": _checked,
    "mark_pass": _passed,
    "list_failing": _failing,
    "get_feature": _standing,
    "note": lambda _: ("kept for whoever comes next", "good"),
}
