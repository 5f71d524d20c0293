"""What the surface promises: which role is offered which tools, and one good call of each tool. Written out here, not
taken from the server."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tallystick.agents.scripted.client import Client
from tests.faces.mcp.shop import Shop, accepted, criterion, freeze
from tests.real.project import PROOF

READING = ("list_failing", "get_feature", "find_outputs", "get_output", "brief")
EVERYBODY = (*READING, "save_output", "note")
RUNNERS = (*EVERYBODY, "check")
TASKS = ("next_task", "update_task")

#: Without a role it is `solo`: one agent alone.
OFFERED: dict[str, tuple[str, ...]] = {
    "": (
        *RUNNERS, *TASKS, "init_feature_list", "mark_pass", "mark_failure", "compare_runs", "amend",
    ),
    "solo": (
        *RUNNERS, *TASKS, "init_feature_list", "mark_pass", "mark_failure", "compare_runs", "amend",
    ),
    "main": (*RUNNERS, *TASKS, "init_feature_list", "mark_failure"),
    "orchestrator": (*EVERYBODY, *TASKS, "compare_runs"),
    "spec-freezer": (*EVERYBODY, "init_feature_list", "amend"),
    "test-author": RUNNERS,
    "implementer": (*RUNNERS, *TASKS),
    "developer": (*RUNNERS, *TASKS),
    "tester": RUNNERS,
    "fixer": (*RUNNERS, *TASKS, "mark_failure"),
    "verifier": (*RUNNERS, "mark_pass", "mark_failure", "compare_runs"),
    "lead": (*EVERYBODY, *TASKS),
    "reviewer": EVERYBODY,
    "designer": EVERYBODY,
    "test-lead": EVERYBODY,
}  # fmt: skip

#: The seed's tools with the seed's arguments, and ours.
ARGUMENTS: dict[str, tuple[set[str], set[str]]] = {
    "init_feature_list": ({"task_id", "features"}, set()),
    "list_failing": ({"task_id"}, {"cursor"}),
    "get_feature": ({"task_id", "feature_id"}, set()),
    "mark_pass": ({"task_id", "feature_id", "evidence_ref"}, set()),
    "mark_failure": ({"task_id", "feature_id", "error"}, set()),
    "compare_runs": ({"task_id", "run_a", "run_b"}, set()),
    "amend": ({"feature", "criterion", "change", "reason"}, set()),
    "check": ({"feature", "criterion"}, set()),
    "save_output": ({"output"}, set()),
    "find_outputs": ({"feature"}, {"phase", "role", "task", "status", "cursor"}),
    "get_output": ({"feature", "file"}, {"offset"}),
    "next_task": ({"feature"}, set()),
    "update_task": ({"feature", "task", "to"}, {"reason"}),
    "brief": (set(), {"feature"}),
    "note": ({"feature", "text"}, set()),
}

GROUND = "ground"
SESSIONS = 64


class Call(NamedTuple):
    """One call, and what its structured answer must hold."""

    tool: str
    arguments: dict[str, Any]
    facts: dict[str, Any]


def prepare(shop: Shop) -> tuple[str, str]:
    """The ledger that `calls` are about, with criteria enough for many sessions; two runs to compare."""
    with shop.connect() as client:
        words = [criterion(f"{kind}{number}") for kind in ("W", "A") for number in range(SESSIONS)]
        checked = [criterion(f"R{number}", "run: true") for number in range(SESSIONS)]
        freeze(client, criterion("K", "run: true"), criterion("F"), *words, *checked, feature=GROUND)
        first, second = (_check(client) for _ in range(2))
    tasks = [{"id": f"T{number}", "title": "something to do"} for number in range(SESSIONS)]
    shop.done("board", "import", GROUND, "-", given=json.dumps(tasks).encode())
    return first, second


def _check(client: Client) -> str:
    run: str = accepted(client.call("check", {"feature": GROUND, "criterion": "K"})).structured["run"]
    return run


def _payload(craft: str) -> dict[str, Any]:
    """What a role hands over, as short as its rules allow."""
    payloads: dict[str, dict[str, Any]] = {
        "lead": {"work_type": "SMALL", "tasks": [], "tech_decisions": [], "risk_factors": []},
        "developer": {"task_id": None, "files_modified": [], "files_created": [], "summary": "done", "notes": ""},
        "reviewer": {"approved": True, "score": 9, "violations": [], "warnings": [], "required_fixes": []},
        "test-lead": {"coverage_target": 80, "test_groups": []},
        "tester": {
            "tests_passed": True, "total": 1, "passed": 1, "failed": 0, "coverage": None, "failed_tests": [],
        },
    }  # fmt: skip
    return payloads.get(craft, {})


def calls(role: str, number: int, runs: tuple[str, str]) -> list[Call]:
    """A good call of every tool of a role; `number` tells sessions apart, since a pass is marked once."""
    row = {"task_id": GROUND, "feature_id": f"W{number}"}
    ours = {"feature": GROUND, "criterion": "K"}
    made = {"task_id": f"made-{number}", "features": [criterion("AC1")]}
    # A connection of a role hands over what that role did; one agent alone may speak for anybody.
    craft = "designer" if role in ("", "solo", "main") else role
    output = {"feature_id": GROUND, "phase": 20, "role": craft, "slug": f"s{number}", "status": "completed"}
    file = f"20-{craft}-s{number}.json"
    every = (
        Call("init_feature_list", made, {"task_id": f"made-{number}", "frozen": 1, "with_check": 0}),
        Call("list_failing", {"task_id": GROUND}, {"stale": 0, "elsewhere": 0}),
        Call("get_feature", row, {"id": f"W{number}", "passes": False, "state": "failing"}),
        Call("mark_pass", {**row, "evidence_ref": PROOF}, {"passes": True, "level": "cited", "evidence_ref": PROOF}),
        Call("mark_pass", {**row, "feature_id": f"R{number}", "evidence_ref": ""}, {"passes": True, "level": "ran"}),
        Call("mark_failure", {"task_id": GROUND, "feature_id": "F", "error": "2 != 3"}, {"recorded": True}),
        Call("compare_runs", {"task_id": GROUND, "run_a": runs[0], "run_b": runs[1]}, {"now_red": [], "missing": []}),
        Call(
            "amend",
            {"feature": GROUND, "criterion": f"A{number}", "change": {"text": "better said"}, "reason": "agreed"},
            {"criterion": f"A{number}", "amendments": 1},
        ),
        Call("check", ours, {"holds": True}),
        Call("save_output", {"output": {**output, "output": _payload(craft)}}, {"file": file, "version": 1}),
        Call("find_outputs", {"feature": GROUND, "role": "nobody"}, {"outputs": [], "cursor": None, "more": 0}),
        Call("get_output", {"feature": GROUND, "file": file}, {"version": 1, "versions": 1, "offset": 0, "more": None}),
        Call("next_task", {"feature": GROUND}, {"answer": "task"}),
        Call(
            "update_task",
            {"feature": GROUND, "task": f"T{number}", "to": "claimed"},
            {"task": f"T{number}", "status": "in_progress", "fence": 1},
        ),
        Call(
            "update_task",
            {"feature": GROUND, "task": f"T{number}", "to": "completed"},
            {"status": "completed", "passes": False},
        ),
        Call("brief", {"feature": GROUND}, {"feature": GROUND}),
        Call("note", {"feature": GROUND, "text": f"session {number} was here"}, {"noted": True}),
    )
    return [call for call in every if call.tool in OFFERED[role]]
