"""The board as a file: `jonggrang-tasks.json` written from tasks, and read in every shape that is about. Pure.

Written are the seed's keys in the seed's order. Read are the board file, the old one at the root, a lead's plan (an
output, or its payload) and a bare list of tasks: missing fields have their defaults, unknown ones are passed over,
`in_progress` is nobody's lease here and reads as pending, `passes` is only counted: it is somebody's word. What a file
says wrong is told all at once, each with its place, and nothing of it is taken.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tallystick import canonical
from tallystick.board.model import Draft, Task, is_task_id
from tallystick.canonical import Json
from tallystick.errors import Refusal, Where
from tallystick.ids import shown
from tallystick.limits import COUNTER, TASKS

FILE = "jonggrang-tasks.json"
#: Where older versions kept the one board of a project.
ROOT_FILE = ".jonggrang/jonggrang-tasks.json"
_STATUSES = {
    **dict.fromkeys(("pending", "todo", "open", "in_progress", "in-progress", "running"), "pending"),
    **dict.fromkeys(("completed", "complete", "done"), "completed"),
    **{word: word for word in ("blocked", "waiting", "skipped")},
}
_PRIORITIES = {"critical": 1, "high": 1, "medium": 2, "low": 3}
_SHOWN = 5


class Found(NamedTuple):
    """What a file holds: the feature it names (or None), its tasks, and how many it says have passed."""

    feature: str | None
    drafts: tuple[Draft, ...]
    ticked: int


def render(feature: str, branch: str | None, tasks: Iterable[Task], passes: Callable[[Task], bool]) -> bytes:
    """The file: two-space indent, final LF; `acceptance_criteria` only where a task names some."""
    rows = [row(task, passes(task)) for task in tasks]
    document = {"feature": feature, "branch": branch, "tasks": rows}
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


def row(task: Task, passes: bool) -> dict[str, Json]:
    """One task with the documented keys."""
    fields: dict[str, Json] = {
        "id": task.id,
        "title": task.title,
        "description": task.description,
        "priority": task.priority,
        "status": task.status,
        "role": task.role,
        "skill": task.skill,
        "files": list(task.files),
        "blocked_by": list(task.blocked_by),
        "passes": passes,
        "started_at": task.started_at,
        "completed_at": task.completed_at,
        "error_log": list(task.error_log),
    }
    if task.acceptance_criteria:
        fields["acceptance_criteria"] = list(task.acceptance_criteria)
    return fields


def read(data: bytes, file: str) -> Found:
    """The tasks in a file. Raises `Refusal` "input.invalid" with every mistake of it and, where it is no JSON, the
    line; never returns an empty board in place of one that cannot be read.
    """
    value = canonical.parse(data, file)
    feature: Json = None
    if isinstance(value, dict):
        feature = value.get("feature", value.get("feature_id"))
        payload = value.get("output")
        value = payload.get("tasks") if isinstance(payload, dict) else value.get("tasks")
    mistakes: dict[str, None] = {}  # each once, in order
    if feature is not None and not isinstance(feature, str):
        mistakes["feature is no text"] = None
    if not isinstance(value, list):
        raise _invalid(file, ["tasks is no list: this is neither a board nor a plan"])
    if len(value) > TASKS:
        raise Refusal("input.too_large", f"{file} has {len(value):,} tasks, the limit is {TASKS:,}", "split it")
    drafts = [_Reader(task, f"tasks[{at}]", mistakes).draft() for at, task in enumerate(value)]
    seen: set[str] = set()
    for at, draft in enumerate(drafts):
        if draft.id and draft.id.lower() in seen:
            mistakes[f"tasks[{at}].id: {draft.id} stands there twice"] = None
        seen.add(draft.id.lower())
    if mistakes:
        raise _invalid(file, list(mistakes))
    ticked = sum(1 for task in value if task.get("passes") is True)
    return Found(feature, tuple(drafts), ticked)


class _Reader:
    """Reads one task; what is wrong with it goes to `mistakes`, with its path."""

    def __init__(self, value: Json, at: str, mistakes: dict[str, None]) -> None:
        self._at = at
        self._mistakes = mistakes
        self._task: dict[str, Json] | None = value if isinstance(value, dict) else None
        if self._task is None:
            mistakes[f"{at} is no object"] = None

    def draft(self) -> Draft:
        """The task, with defaults in place of what is missing or wrong."""
        if self._task is None:
            return Draft("", "")
        name = self._text("id")
        if not is_task_id(name):
            self._wrong("id", f"{shown(name)} is no task id (letters, digits, '.', '_', '-')" if name else "is missing")
        status = _STATUSES.get(self._text("status").strip().lower() or "pending", "")
        if not status:
            self._wrong("status", f"{shown(self._text('status'))} is none of {', '.join(_STATUSES)}")
        errors = self._texts("error_log")
        description = self._text("description")
        title = self._text("title") or description.strip().partition("\n")[0][:200] or name
        return Draft(
            name,
            title,
            description,
            self._priority(),
            self._text("role") or None,
            self._text("skill") or self._text("skill_hint") or None,
            self._texts("files"),
            self._texts("blocked_by") or self._texts("depends_on") or self._texts("dependencies"),
            self._texts("acceptance_criteria"),
            status or "pending",
            errors[-1][:500] if errors and status in ("blocked", "waiting") else None,
        )

    def _text(self, key: str) -> str:
        value = (self._task or {}).get(key)
        if value is None or isinstance(value, str):
            return value or ""
        if key == "id" and type(value) is int:
            return str(value)
        self._wrong(key, "is no text")
        return ""

    def _texts(self, key: str) -> tuple[str, ...]:
        value = (self._task or {}).get(key)
        if value is None:
            return ()
        if isinstance(value, str):
            value = [value] if value else []
        if not isinstance(value, list):
            self._wrong(key, "is no list of texts")
            return ()
        return tuple(text for at, entry in enumerate(value) if (text := self._entry(entry, f"{key}[{at}]")))

    def _entry(self, entry: Any, key: str) -> str:
        """A text; of an object the one that names it; a number that names a task."""
        if isinstance(entry, dict):
            entry = next((entry[name] for name in ("id", "path", "message", "error") if name in entry), None)
        if type(entry) is int:
            return str(entry)
        if isinstance(entry, str) and entry.strip():
            return entry
        self._wrong(key, "is no text")
        return ""

    def _priority(self) -> int | None:
        value = (self._task or {}).get("priority")
        if value is None:
            return None
        if isinstance(value, str):
            word = value.strip().lower()
            value = _PRIORITIES.get(word, int(word) if word.isascii() and word.isdigit() and len(word) < 16 else value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is int and 0 <= value <= COUNTER:
            return value
        self._wrong("priority", f"{shown(str(value))} is no number from 0 on")
        return None

    def _wrong(self, key: str, says: str) -> None:
        text = f"{self._at}.{key} {says}" if says.startswith("is ") else f"{self._at}.{key}: {says}"
        self._mistakes[text] = None


def _invalid(file: str, mistakes: list[str]) -> Refusal:
    more = f" … ({len(mistakes)} mistakes in all)" if len(mistakes) > _SHOWN else ""
    return Refusal(
        "input.invalid",
        f"{file}: {'; '.join(mistakes[:_SHOWN])}{more}; nothing was taken from it",
        "mend the file and try again",
        Where(file),
        {"mistakes": mistakes},
    )
