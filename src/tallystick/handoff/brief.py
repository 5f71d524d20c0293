"""The brief: what the next session must know, in a few hundred tokens, most important first. Pure.

It is chosen, not cut off: lines are taken in order of importance while there is room, and what was left out is counted
at the end. The same bound holds for ten criteria and for ten thousand, in every script (`cost.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tallystick.handoff.cost import cost, cut
from tallystick.handoff.notes import Note
from tallystick.ids import escaped

#: What the brief may cost by default, in tokens (promise P21).
TOKENS = 600
#: What one note, one warning or one reason may cost, and one text in the line of a criterion.
_LINE, _PART = 56, 34
_OPEN, _NOTES = "Open, tried ones first:", "Notes, newest first:"
_OUTPUTS, _TASKS = "Handed over, newest first (get_output):", "Tasks, next one first:"
#: So many outputs and tasks are offered; the rest is counted.
LISTED = 5


class Open(NamedTuple):
    """A criterion that is not done: `state` is its word, `error` what failed last."""

    id: str
    description: str
    state: str
    error: str | None


class Handed(NamedTuple):
    """An output: the newest version of one file."""

    file: str
    role: str
    task: str | None
    status: str


class Tasks(NamedTuple):
    """The board: the first few open tasks ("id title"), how many more there are, why none is free ("" = one is)."""

    first: Sequence[str]
    more: int
    says: str


class Standing(NamedTuple):
    """One feature as the brief needs it. `open` in ledger order; `stale` and `elsewhere` are counts; `outputs` are the
    newest few and `older` counts the others."""

    feature: str
    holding: int
    total: int
    open: Sequence[Open]
    stale: int
    elsewhere: int
    notes: Sequence[Note]
    warnings: Sequence[str]
    abandoned: str | None
    outputs: Sequence[Handed] = ()
    older: int = 0
    tasks: Tasks | None = None


def compose(standing: Standing, most: int = TOKENS) -> str:
    """The brief of one feature, at most `most` tokens by `cost` (title and next step always stand there)."""
    lines = [_title(standing)]
    lines += [f"! {_cut(warning)}" for warning in standing.warnings[:2]]
    if standing.stale:
        lines.append(f"To re-run: {standing.stale}; what they rest on has changed since.")
    if standing.elsewhere:
        lines.append(f"Elsewhere: {standing.elsewhere}; another copy says so, not checked here.")
    handed, tasks = [_handed(one) for one in standing.outputs], _tasks(standing.tasks)
    fixed = [*lines, _OPEN, _more(len(standing.open)), _NOTES, _older(len(standing.notes)), _next(standing)]
    fixed += [_OUTPUTS, _others(standing.older + len(handed))] if handed else []
    room = most - sum(cost(line) + 1 for line in fixed)
    tasks, room = _take(tasks, room, room // 4)
    handed, room = _take(handed, room, room // 3)
    notes, room = _take((_note(note) for note in reversed(standing.notes)), room, room // 2)
    failing, room = _take((_open(one) for one in _ordered(standing.open)), room, room)
    lines += _part(_OPEN, failing, len(standing.open), _more)
    lines += tasks
    lines += _part(_OUTPUTS, handed, len(standing.outputs) + standing.older, _others)
    lines += _part(_NOTES, notes, len(standing.notes), _older)
    lines.append(_next(standing))
    return "\n".join(lines)


def _part(title: str, lines: Sequence[str], total: int, rest: Callable[[int], str]) -> list[str]:
    """A part of the brief: its title where it has a line, and how many were left out."""
    left = [rest(total - len(lines))] if len(lines) < total else []
    return [*([title, *lines] if lines else []), *left]


def _take(lines: Iterable[str], room: int, most: int) -> tuple[list[str], int]:
    """The first of `lines` that fit into `most` tokens, and what then is left of `room`."""
    taken: list[str] = []
    for line in lines:
        price = cost(line) + 1
        if price > most:
            break
        taken.append(line)
        most -= price
        room -= price
    return taken, room


def _more(count: int) -> str:
    return f"… and {count} more open (list_failing)."


def _older(count: int) -> str:
    return f"… and {count} older note(s)."


def _others(count: int) -> str:
    return f"… and {count} more output(s) (find_outputs)."


def _handed(one: Handed) -> str:
    task = f", {_cut(one.task, 20)}" if one.task else ""
    return f"- {_cut(one.file)}: {escaped(one.status)} ({_cut(one.role, 20)}{task})"


def _tasks(tasks: Tasks | None) -> list[str]:
    """The board in lines; nothing where there is none."""
    if tasks is None:
        return []
    lines = [_TASKS, *(f"- {_cut(one)}" for one in tasks.first)] if tasks.first else []
    if tasks.more:
        lines.append(f"… and {tasks.more} more task(s).")
    return [*lines, f"Tasks: {_cut(tasks.says)}."] if tasks.says else lines


def _title(standing: Standing) -> str:
    title = f"{standing.feature}: {standing.holding} of {standing.total} hold."
    if not standing.total:
        title = f"{standing.feature}: no criteria yet."
    return title if standing.abandoned is None else f"{title} Abandoned: {_cut(standing.abandoned)}"


def _next(standing: Standing) -> str:
    if standing.abandoned is not None:
        return "Next: nothing; the feature was abandoned."
    if standing.warnings:
        return "Next: tell your user to run `tallystick audit`."
    if standing.open:
        return f"Next: work on {escaped(_ordered(standing.open)[0].id)}."
    if standing.tasks is not None and standing.tasks.first and not standing.tasks.says:
        return f"Next: {_cut(standing.tasks.first[0])}."
    if standing.stale:
        return "Next: the stale ones are marked again by the verifier."
    if not standing.total:
        return "Next: freeze its criteria (init_feature_list, or `tallystick ledger init`)."
    return "Next: nothing is left to do."


def _ordered(rows: Sequence[Open]) -> list[Open]:
    """Regressed ones first, then those that failed when tried, then the untouched, each in ledger order."""
    return sorted(rows, key=lambda one: (one.state == "failing", one.error is None))


def _open(one: Open) -> str:
    word = "" if one.state == "failing" else f" [{one.state}]"
    error = f" -- last: {_cut(one.error, _PART)}" if one.error else ""
    return f"- {escaped(one.id)}{word} {_cut(one.description, _PART)}{error}"


def _note(note: Note) -> str:
    whose = "" if note.ours else ", from another copy"
    return f"- {escaped(note.at[:16])} {_cut(note.role, 20)}{whose}: {_cut(note.text)}"


def _cut(text: str, most: int = _LINE) -> str:
    return cut(escaped(" ".join(text.split())), most)
