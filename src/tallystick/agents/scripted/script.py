"""What a scripted agent can do, as data: a scene is one session of one agent, an act is one thing it does. Pure.

Every act that can turn out otherwise says what must come of it; whoever plays it (`player.py`) stops where that does
not come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tallystick.canonical import Json


class Expect(NamedTuple):
    """What a call must come to: accepted, or refused with the code `refused`.

    `facts` are keys of the structured answer and the values they must have, `says` what its text must hold.
    `or_refused` is a refusal that is as good, for a call whose work may have been done by one that was cut off.
    """

    refused: str = ""
    facts: Mapping[str, Json] = {}
    says: tuple[str, ...] = ()
    or_refused: str = ""


class Write(NamedTuple):
    """Whole files are written: text by path."""

    files: Mapping[str, str]


class Edit(NamedTuple):
    """One place of a file is changed: the first `old` behind `after`."""

    path: str
    old: str
    new: str
    after: str = ""


class See(NamedTuple):
    """A file holds `text` next behind `after`, or does so before long; `says` is what that means, for a person."""

    path: str
    text: str
    after: str
    says: str


class Commit(NamedTuple):
    """Everything is committed to git, by the role as author."""

    message: str


class Ask(NamedTuple):
    """A tool of the agent's own server is called."""

    tool: str
    arguments: Mapping[str, Json]
    expect: Expect


class Crash(NamedTuple):
    """The agent's server is ended with SIGKILL while it works on a call that runs a check."""

    during: Ask


Act = Write | Edit | See | Commit | Ask | Crash


class Scene(NamedTuple):
    """One session: `role` is that of the agent's connection, "" for a person without one."""

    role: str
    does: str
    acts: Sequence[Act]


def label(act: Act) -> str:
    """The act in a few words, without what came of it."""
    match act:
        case Write():
            return f"writes {', '.join(act.files)}"
        case Edit():
            return f"edits {act.path}"
        case See():
            return f"looks into {act.path.rpartition('/')[2]}"
        case Commit():
            return "commits"
        case Ask():
            return _call(act)
        case Crash():
            return _call(act.during)


def _call(ask: Ask) -> str:
    given = ask.arguments
    words = [ask.tool, given.get("feature_id") or given.get("criterion") or "", _quoted(given.get("evidence_ref"))]
    return " ".join(word for word in words if word)


def _quoted(reference: str | None) -> str:
    return f'"{reference}"' if reference and " " in reference else reference or ""
