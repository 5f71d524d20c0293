"""How a board is put into JSON and into lines for people."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.board.document import row
from tallystick.board.model import Task
from tallystick.board.service import Seen
from tallystick.canonical import Json
from tallystick.faces.cli.terminal import Terminal, safe
from tallystick.ids import typed

_COLOURS = {"completed": "good", "blocked": "bad", "waiting": "warn", "in_progress": "strong"}
_WORDS = {"in_progress": "in work"}
_WIDTH = 100


def document(task: Task, seen: Seen, now: str) -> dict[str, Json]:
    """One task with the keys of the file, its lease, and what it waits for."""
    return {
        **row(task, seen.passes(task)),
        "acceptance_criteria": list(task.acceptance_criteria),
        "waits_for": _waits(task, seen),
        "owner": task.owner,
        "until": task.until,
        "held": task.held(now),
        "fence": task.fence,
        "ours": task.ours,
        "elsewhere": task.elsewhere,
    }


def _waits(task: Task, seen: Seen) -> list[str]:
    return [name for name in task.blocked_by if name not in seen.tasks or not seen.tasks[name].done]


def counts(seen: Seen, now: str) -> dict[str, int]:
    """How many tasks are in which state; `blocked` counts those that wait for a person too."""
    tasks = seen.tasks.values()
    return {
        "total": len(tasks),
        "done": sum(task.done for task in tasks),
        "held": sum(task.held(now) for task in tasks),
        "blocked": sum(task.status in ("blocked", "waiting") for task in tasks),
        "passing": sum(seen.passes(task) for task in tasks),
    }


def title(seen: Seen, now: str) -> str:
    """`checkout   3 of 7 tasks done`, with what is in work, stopped and passing."""
    numbers = counts(seen, now)
    if not seen.tasks:
        return f"{seen.feature}   no tasks"
    parts = [f"{seen.feature}   {numbers['done']} of {numbers['total']} tasks done"]
    words = {"held": "in work", "blocked": "stopped", "passing": "passing"}
    return " · ".join([*parts, *(f"{numbers[key]} {word}" for key, word in words.items() if numbers[key])])


def table(tasks: Sequence[Task], seen: Seen, terminal: Terminal, now: str) -> list[str]:
    """One line for each task: status, priority, id, title; below it what holds it up."""
    ids = min(max(len(task.id) for task in tasks), 24) if tasks else 0
    lines = []
    for task in tasks:
        waits = _waits(task, seen) if not task.done else []
        word = _WORDS.get(task.status, task.status)
        if task.status == "in_progress" and not task.held(now):
            word = "lapsed"
        elif task.status == "completed" and seen.passes(task):
            word = "passes"
        colour = _COLOURS.get(task.status, "dim" if waits else "plain")
        title = safe(task.title, _WIDTH - ids - 20)
        lines.append(
            f"  {terminal.paint(f'{word:<10}', colour)} {task.priority:>3}  {safe(task.id, 24):<{ids}}  {title}"
        )
        beside = _beside(task, waits, now)
        if beside:
            lines.append(f"  {'':<10} {'':>3}  {'':<{ids}}  {terminal.paint(safe(beside, _WIDTH - ids - 20), 'dim')}")
    return lines


def _beside(task: Task, waits: list[str], now: str) -> str:
    """What a person wants to know of a task that is not simply free or done."""
    parts = []
    if task.held(now):
        parts.append(f"{task.owner} until {task.until}")
    if task.status in ("blocked", "waiting") and task.error_log:
        parts.append(task.error_log[-1])
    if waits:
        parts.append(f"waits for {', '.join(waits[:4])}" + (f" and {len(waits) - 4} more" if len(waits) > 4 else ""))
    if task.elsewhere is not None and task.elsewhere != task.status:
        parts.append(f"{task.elsewhere} elsewhere: another copy says so")
    return "; ".join(parts)


def page(task: Task, seen: Seen) -> list[str]:
    """The task to work on, as a person reads it."""
    lines = [f"{task.id}   {safe(task.title)}"]
    if task.description:
        lines += ["", *(f"  {safe(line)}" for line in task.description.splitlines()[:40])]
    facts = {
        "role": task.role or "",
        "skill": task.skill or "",
        "files": ", ".join(task.files[:10]),
        "criteria": ", ".join(task.acceptance_criteria[:10]),
        "elsewhere": f"{task.elsewhere}, another copy says" if task.elsewhere else "",
    }
    lines += [f"  {key:<10} {safe(text, 200)}" for key, text in facts.items() if text]
    return [*lines, "", f"Next     tallystick board claim {seen.feature} {typed(task.id)}"]
