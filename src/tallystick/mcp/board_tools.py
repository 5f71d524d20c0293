"""The tools `next_task` and `update_task`. A connection claims as one owner and remembers its own fencing numbers, so
that an agent names none; each write of it renews what it holds. Sub-agents that share a connection share its claims.
"""

from __future__ import annotations

import os

from tallystick.board.answer import CODES, Answer
from tallystick.board.holder import Holder, hold
from tallystick.board.model import Task
from tallystick.board.rules import Hand
from tallystick.board.service import BoardService, Receipt
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.handoff.cost import cut
from tallystick.ids import escaped
from tallystick.limits import LEASE_S
from tallystick.mcp.toolset import ToolResult
from tallystick.wiring import App, boards

#: What the texts of an answer may cost, in tokens.
_TITLE, _DESCRIPTION, _ENTRY, _SAYS = 40, 400, 24, 72
_ENTRIES = 10


def next_task(app: App, arguments: dict[str, Json]) -> ToolResult:
    """The most urgent task that can be worked on, or which of the other answers it is; never an error."""
    answer, seen = boards(app).next(arguments["feature"])
    grave = seen.snapshot.grave
    facts: dict[str, Json] = {"answer": answer.kind, "task": None}
    lines = []
    if answer.task is not None:
        facts["task"] = _facts(answer.task)
        lines = _lines(facts["task"])
    else:
        facts |= {"code": CODES.get(answer.kind), "says": cut(escaped(answer.says), _SAYS)}
        lines = [_words(answer), facts["says"]]
    if grave:
        facts["warning"] = cut(escaped(grave[0].says), _SAYS)
        lines.append(f"! {facts['warning']}")
    return ToolResult("\n".join(lines), facts)


def update_task(app: App, arguments: dict[str, Json]) -> ToolResult:
    """Claim a task, or say how it ended."""
    feature, name, to = (arguments[key] for key in ("feature", "task", "to"))
    reason = arguments.get("reason")
    holder = hold(app.recording, f"{app.recording.by.role}/{os.urandom(6).hex()}")
    service = boards(app)
    if to == "claimed":
        return _claimed(service, holder, feature, name)
    hand = Hand(holder.owner, holder.fences.get((feature, name)))
    if to == "completed":
        receipt = service.done(feature, name, hand)
        result = _ended(receipt, service.open_criteria(feature, receipt.tasks[0]))
    elif to == "blocked":
        if not reason:
            raise Refusal("usage", "a blocked task needs a reason", "say in `reason` what it waits for")
        result = _moved(service.block(feature, name, hand, reason))
    else:
        result = _moved(service.unblock(feature, name, hand, reason))
    holder.fences.pop((feature, name), None)
    return result


def _claimed(service: BoardService, holder: Holder, feature: str, name: str) -> ToolResult:
    receipt, _ = service.claim(feature, name, Hand(holder.owner), LEASE_S)
    assert receipt is not None
    task = receipt.tasks[0]
    again = holder.fences.get((feature, task.id)) == task.fence
    holder.fences[feature, task.id] = task.fence
    facts: dict[str, Json] = {"task": task.id, "status": task.status, "until": task.until, "fence": task.fence}
    word = "is yours"
    if again:  # a sub-agent on the same connection may be the one that claimed it
        facts["renewed"] = True
        word = "was claimed by this connection already; renewed"
    return ToolResult(f"{task.id} {word} until {task.until} (fence {task.fence}); each write renews it.", facts)


def _moved(receipt: Receipt) -> ToolResult:
    task = receipt.tasks[0]
    facts: dict[str, Json] = {"task": task.id, "status": task.status, "passes": receipt.passes}
    return ToolResult(f"{task.id} is {task.status}.", facts)


def _ended(receipt: Receipt, left: list[str]) -> ToolResult:
    """A completed task, and whether it passes: that is for its criteria to say."""
    task = receipt.tasks[0]
    facts: dict[str, Json] = {"task": task.id, "status": task.status, "passes": receipt.passes}
    text = f"{task.id} is completed; it passes."
    if left:
        facts["open"] = _entries(left)
        text = f"{task.id} is completed, but passes is false: open are {', '.join(facts['open'])}."
    elif not receipt.passes:
        text = f"{task.id} is completed; passes is false, since it names no criterion that could show it."
    return ToolResult(text, facts)


def _facts(task: Task) -> dict[str, Json]:
    """One task, its texts cut; what is empty is left out."""
    fields: dict[str, Json] = {
        "id": task.id,
        "title": cut(task.title, _TITLE),
        "description": cut(task.description, _DESCRIPTION),
        "priority": task.priority,
        "role": task.role,
        "skill": task.skill,
        "files": _entries(task.files),
        "acceptance_criteria": _entries(task.acceptance_criteria),
        "elsewhere": task.elsewhere,
        "last_error": cut(task.error_log[-1], _SAYS) if task.error_log else None,
    }
    return {key: value for key, value in fields.items() if value not in (None, "", [])}


def _lines(facts: dict[str, Json]) -> list[str]:
    head = f"{facts['id']} {escaped(' '.join(facts['title'].split()))} (priority {facts['priority']})"
    lines = [head]
    if "description" in facts:
        lines.append(escaped(facts["description"], keep="\n\t"))
    for key in ("role", "skill", "files", "acceptance_criteria", "elsewhere", "last_error"):
        if key in facts:
            value = facts[key]
            text = ", ".join(value) if isinstance(value, list) else escaped(" ".join(str(value).split()))
            lines.append(f"{key}: {text}")
    return lines


def _entries(texts: list[str] | tuple[str, ...]) -> list[Json]:
    """The first of some texts, each cut to a line, and a last entry that counts the rest."""
    shown: list[Json] = [cut(escaped(" ".join(text.split())), _ENTRY) for text in texts[:_ENTRIES]]
    return [*shown, f"… and {len(texts) - _ENTRIES} more"] if len(texts) > _ENTRIES else shown


def _words(answer: Answer) -> str:
    return {
        "finished": "Every task is done.",
        "waiting": "Nothing is free now; this is not the end.",
        "cycle": "Nothing can ever be free as the board stands.",
        "person": "A person has to decide.",
        "blocked": "What is left is blocked.",
    }[answer.kind]
