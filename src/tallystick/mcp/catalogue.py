"""The tools that agents are offered, and which role is offered which: two tables (surface, promise P12). Pure.

The seed's six keep the seed's argument names (its `task_id` is our feature, its `feature_id` our criterion); our own
say `feature` and `criterion`. Descriptions are terse, since every agent pays for them at every start.
"""

from __future__ import annotations

from typing import Any

from tallystick.limits import CRITERIA, NOTE_CHARACTERS
from tallystick.mcp.toolset import ToolSpec

_READS = {"readOnlyHint": True, "openWorldHint": False}
#: What is not said is the protocol's default: not only reading, and for what runs a check an open world.
_WRITES = {"destructiveHint": False, "openWorldHint": False}
_RUNS = {"destructiveHint": False}


def _text(says: str = "") -> dict[str, Any]:
    return {"type": "string", "description": says} if says else {"type": "string"}


def _tool(
    name: str, says: str, hints: dict[str, Any], properties: dict[str, Any], optional: tuple[str, ...] = ()
) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": properties,
        "required": [key for key in properties if key not in optional],
        "additionalProperties": False,
    }
    return ToolSpec(name, "", says, schema, None, hints)  # a title would only say the name again, at a price


_CRITERION = {
    "type": "object",
    "properties": {
        "id": _text(),
        "description": _text(),
        "evidence_required": {
            "type": "array",
            "items": {"type": "string"},
            "description": '`tests: ["id"]`, `run: command`, or words',
        },
    },
    "required": ["id", "description"],
    "additionalProperties": True,
}

TOOLS: dict[str, ToolSpec] = {
    spec.name: spec
    for spec in (
        _tool(
            "init_feature_list",
            "Freeze the criteria of a new task. Their text never changes afterwards.",
            _WRITES,
            {
                "task_id": _text("kebab-case"),
                "features": {"type": "array", "items": _CRITERION, "minItems": 1, "maxItems": CRITERIA},
            },
        ),
        _tool(
            "list_failing",
            "What does not pass yet, 20 at a time.",
            _READS,
            {"task_id": _text(), "cursor": _text()},
            ("cursor",),
        ),
        _tool(
            "get_feature",
            "One criterion: what it asks, how it stands.",
            _READS,
            {"task_id": _text(), "feature_id": _text()},
        ),
        _tool(
            "mark_pass",
            "Pass a criterion. Its machine check is run; without one, cite a file of the project.",
            _RUNS,
            {"task_id": _text(), "feature_id": _text(), "evidence_ref": _text("path, path:line, commit:<sha>")},
        ),
        _tool(
            "mark_failure",
            "Record a failed attempt.",
            _WRITES,
            {"task_id": _text(), "feature_id": _text(), "error": _text()},
        ),
        _tool(
            "compare_runs",
            "Which test ids two runs differ in.",
            _READS,
            {"task_id": _text(), "run_a": _text("r-…"), "run_b": _text()},
        ),
        _tool(
            "amend",
            "Change a criterion visibly; its pass is dropped.",
            _WRITES,
            {
                "feature": _text(),
                "criterion": _text(),
                "change": {
                    "type": "object",
                    "properties": {
                        "text": _text(),
                        "require": {"type": "array", "items": {"type": "string"}},
                        "close": {"type": "boolean"},
                    },
                    "additionalProperties": False,
                },
                "reason": _text(),
            },
        ),
        _tool(
            "check",
            "Run a criterion's frozen check: would it pass? Changes no criterion.",
            _RUNS,
            {"feature": _text(), "criterion": _text()},
        ),
        _tool(
            "save_output",
            "Hand over what you did: header and payload.",
            _WRITES,
            {"output": {"type": "object"}},
        ),
        _tool(
            "find_outputs",
            "What agents handed over, newest first.",
            _READS,
            {
                "feature": _text(),
                "phase": _text(),
                "role": _text(),
                "task": _text(),
                "status": _text(),
                "cursor": _text(),
            },
            ("phase", "role", "task", "status", "cursor"),
        ),
        _tool(
            "get_output",
            "One output whole, in pieces if it is long.",
            _READS,
            {"feature": _text(), "file": _text(), "offset": {"type": "integer"}},
            ("offset",),
        ),
        _tool("next_task", "The most urgent free task.", _READS, {"feature": _text()}),
        _tool(
            "update_task",
            "Claim a task, or say how it ended.",
            _WRITES,
            {
                "feature": _text(),
                "task": _text(),
                "to": {"enum": ["claimed", "completed", "blocked", "pending"]},
                "reason": _text(),
            },
            ("reason",),
        ),
        _tool("brief", "What the next session must know.", _READS, {"feature": _text()}, ("feature",)),
        _tool(
            "note",
            "Leave a sentence for the next session.",
            _WRITES,
            {"feature": _text(), "text": {"type": "string", "maxLength": NOTE_CHARACTERS}},
        ),
    )
}

_ALL = ("list_failing", "get_feature", "save_output", "find_outputs", "get_output", "brief", "note")
_CHECK = (*_ALL, "check")
_TASKS = ("next_task", "update_task")

#: Which role is offered what, in this order. `solo` is a connection that names no role.
OFFERED: dict[str, tuple[str, ...]] = {
    "solo": tuple(TOOLS),
    "main": ("init_feature_list", *_CHECK, "mark_failure", *_TASKS),
    "orchestrator": (*_ALL, "compare_runs", *_TASKS),
    "spec-freezer": ("init_feature_list", *_ALL, "amend"),
    "test-author": _CHECK,
    "implementer": (*_CHECK, *_TASKS),
    "developer": (*_CHECK, *_TASKS),
    "tester": _CHECK,
    "fixer": (*_CHECK, "mark_failure", *_TASKS),
    "verifier": (*_CHECK, "mark_pass", "mark_failure", "compare_runs"),
    "lead": (*_ALL, *_TASKS),
    "reviewer": _ALL,
    "designer": _ALL,
    "test-lead": _ALL,
}

#: What is offered without the user's key: looking only.
READING = ("list_failing", "get_feature", "find_outputs", "get_output", "next_task", "brief", "compare_runs")

#: Tools whose call may run a check, hence take minutes.
SLOW = frozenset(("mark_pass", "check"))


def offered(role: str, writes: bool) -> tuple[ToolSpec, ...]:
    """The tools a connection of `role` lists; without the key the reading ones of them."""
    return tuple(TOOLS[name] for name in OFFERED[role] if writes or name in READING)
