"""The brief: what the next session must know, in a few hundred tokens, most important first. Pure.

It is chosen, not cut: each line is whole, lines are taken in order of importance while there is room, and what was
left out is counted at the end. The same bound holds for ten criteria and for ten thousand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallystick.handoff.notes import Note
from tallystick.ids import escaped

#: What the brief may cost by default, in tokens (promise P21).
TOKENS = 600
_LINE = 160


class Open(NamedTuple):
    """A criterion that is not done: `state` is its word, `error` what failed last."""

    id: str
    description: str
    state: str
    error: str | None


class Standing(NamedTuple):
    """One feature as the brief needs it. `open` in ledger order; `stale` and `elsewhere` are counts."""

    feature: str
    holding: int
    total: int
    open: Sequence[Open]
    stale: int
    elsewhere: int
    notes: Sequence[Note]
    warnings: Sequence[str]
    abandoned: str | None


def cost(text: str) -> int:
    """An upper estimate of the tokens of `text`, without a tokenizer.

    Measured with cl100k over code, prose and ids a token has 2.6 UTF-8 bytes or more, other scripts included.
    """
    return len(text.encode("utf-8", "replace")) * 10 // 26 + 1


def compose(standing: Standing, most: int = TOKENS) -> str:
    """The brief of one feature, at most `most` tokens by `cost`."""
    lines = [_title(standing)]
    lines += [f"! {_cut(warning)}" for warning in standing.warnings[:2]]
    room = most - sum(map(cost, lines)) - cost(_next(standing)) - 12
    if standing.stale:
        lines.append(f"To re-run: {standing.stale}; what they rest on has changed since.")
        room -= cost(lines[-1])
    if standing.elsewhere:
        lines.append(f"Elsewhere: {standing.elsewhere}; another copy says so, not checked here.")
        room -= cost(lines[-1])
    notes, room = _take([_note(note) for note in reversed(standing.notes)], room, room // 2)
    failing, room = _take([_open(one) for one in _ordered(standing.open)], room, room)
    if failing:
        lines += ["Open, tried ones first:", *failing]
    left = len(standing.open) - len(failing)
    if left:
        lines.append(f"… and {left} more open (list_failing).")
    if notes:
        lines += ["Notes, newest first:", *notes]
    if len(notes) < len(standing.notes):
        lines.append(f"… and {len(standing.notes) - len(notes)} older note(s).")
    lines.append(_next(standing))
    return "\n".join(lines)


def _take(lines: Sequence[str], room: int, most: int) -> tuple[list[str], int]:
    """The first of `lines` that fit into `most` tokens, and what then is left of `room`."""
    taken: list[str] = []
    for line in lines:
        if cost(line) + 1 > most:
            break
        taken.append(line)
        most -= cost(line) + 1
        room -= cost(line) + 1
    return taken, room


def _title(standing: Standing) -> str:
    title = f"{standing.feature}: {standing.holding} of {standing.total} hold."
    return title if standing.abandoned is None else f"{title} Abandoned: {_cut(standing.abandoned)}"


def _next(standing: Standing) -> str:
    if standing.abandoned is not None:
        return "Next: nothing; the feature was abandoned."
    if standing.warnings:
        return "Next: tell your user to run `tallystick audit`."
    if standing.open:
        return f"Next: work on {escaped(_ordered(standing.open)[0].id)}."
    if standing.stale:
        return "Next: the stale ones are marked again by the verifier."
    return "Next: nothing is left to do."


def _ordered(rows: Sequence[Open]) -> list[Open]:
    """Regressed ones first, then those that failed when tried, then the untouched, each in ledger order."""
    return sorted(rows, key=lambda one: (one.state == "failing", one.error is None))


def _open(one: Open) -> str:
    word = "" if one.state == "failing" else f" [{one.state}]"
    error = f" -- last: {_cut(one.error, 90)}" if one.error else ""
    return f"- {escaped(one.id)}{word} {_cut(one.description, 90)}{error}"


def _note(note: Note) -> str:
    whose = "" if note.ours else ", from another copy"
    return f"- {note.at[:16]} {note.role}{whose}: {_cut(note.text)}"


def _cut(text: str, most: int = _LINE) -> str:
    line = escaped(" ".join(text.split()))
    return line if len(line) <= most else line[: most - 1] + "…"
