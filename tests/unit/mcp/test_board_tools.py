"""Holds the tools of the board: a connection claims as itself and remembers its fencing numbers, its writes renew what
it holds, a late one is refused, and completed is never taken for passed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick.limits import LEASE_S
from tallystick.mcp.tools import Tools
from tallystick.mcp.toolset import CallContext, ToolResult
from tests.desk import FEATURE, Desk

PLAN = {"tasks": [{"id": "a", "title": "first"}, {"id": "b", "title": "second", "acceptance_criteria": ["AC1", "AC2"]}]}


class Room:
    """A desk with a board, and connections to it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.open: list[Tools] = []
        self.calls = 0

    def connect(self, role: str = "solo") -> Tools:
        """A connection, as a process of its own would have it."""
        self.open.append(Tools(self.desk.app(role), role))
        return self.open[-1]

    def call(self, tools: Tools, name: str, **arguments: Any) -> ToolResult:
        """One call, its views written before it returns."""
        self.calls += 1
        context = CallContext(self.calls, "", "test", "1", "", "", lambda: False, lambda *_: None)
        result = tools.call(name, {"feature": FEATURE, **arguments}, context)
        tools.idle()
        return result

    def update(self, tools: Tools, task: str, to: str, **more: Any) -> dict[str, Any]:
        """What `update_task` answers, which must be no refusal."""
        result = self.call(tools, "update_task", task=task, to=to, **more)
        assert not result.is_error, result
        assert result.structured is not None
        return result.structured

    def refused(self, tools: Tools, task: str, to: str, **more: Any) -> str:
        """The code of the refusal."""
        result = self.call(tools, "update_task", task=task, to=to, **more)
        assert result.is_error, result
        assert result.structured is not None
        return str(result.structured["error"]["code"])

    def row(self, name: str) -> dict[str, Any]:
        """One task as the command line shows it."""
        rows = self.desk.ok("board", "list", "--json").document["tasks"]
        return next(row for row in rows if row["id"] == name)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """A board of two tasks; every connection is closed in the end."""
    desk = Desk(tmp_path)
    desk.freeze()
    desk.ok("board", "import", FEATURE, "-", given=json.dumps(PLAN).encode())
    made = Room(desk)
    yield made
    for tools in made.open:
        tools.close()


@pytest.mark.requirement("F4.4")
def test_one_connection_wins_and_needs_no_fence_to_go_on(room: Room) -> None:
    ann, bob = room.connect("developer"), room.connect("developer")
    said = room.update(ann, "a", "claimed")
    assert (said["task"], said["status"], said["fence"]) == ("a", "in_progress", 1)
    assert room.refused(bob, "a", "claimed") == "task.taken"
    assert room.refused(bob, "a", "completed") == "task.taken"
    assert room.update(ann, "a", "claimed")["renewed"] is True
    assert room.update(ann, "a", "completed") == {"task": "a", "status": "completed", "passes": False}
    assert room.refused(ann, "a", "completed") == "task.state"


@pytest.mark.requirement("F4.4")
def test_a_late_connection_is_refused_by_the_fence_it_remembers(room: Room) -> None:
    ann, bob = room.connect(), room.connect()
    room.update(ann, "a", "claimed")
    room.desk.clock.pause(LEASE_S + 1)
    assert room.update(bob, "a", "claimed")["fence"] == 2
    for to in ("completed", "blocked", "pending"):
        assert room.refused(ann, "a", to, reason="late") == "task.fenced"
    room.update(bob, "a", "completed")


@pytest.mark.requirement("F4.4")
def test_any_write_of_a_connection_renews_what_it_holds(room: Room) -> None:
    ann, bob = room.connect(), room.connect()
    room.update(ann, "a", "claimed")
    for _ in range(3):
        room.desk.clock.pause(LEASE_S * 0.6)
        assert not room.call(ann, "note", text="still at it").is_error
    assert room.refused(bob, "a", "claimed") == "task.taken"
    assert room.row("a")["fence"] == 1
    room.desk.clock.pause(LEASE_S * 0.6)
    room.call(bob, "note", text="somebody else's word renews nothing")
    room.call(ann, "next_task")
    room.desk.clock.pause(LEASE_S * 0.6)
    assert room.update(bob, "a", "claimed")["fence"] == 2


@pytest.mark.requirement("F4.3")
def test_completed_is_no_pass_and_the_answer_says_so(room: Room) -> None:
    tools = room.connect()
    room.desk.cite("AC1")
    room.update(tools, "b", "claimed")
    result = room.call(tools, "update_task", task="b", to="completed")
    assert result.structured == {"task": "b", "status": "completed", "passes": False, "open": ["AC2"]}
    assert "passes is false: open are AC2" in result.text
    room.desk.cite("AC2")
    assert room.row("b")["passes"] is True


@pytest.mark.requirement("F4.2")
def test_next_task_says_which_answer_it_is_and_is_never_an_error(room: Room) -> None:
    tools = room.connect()

    def answer() -> tuple[Any, Any]:
        result = room.call(tools, "next_task")
        assert result.structured is not None
        assert not result.is_error
        assert result.structured["answer"] == "task" or str(result.structured["says"]) in result.text
        return result.structured["answer"], result.structured.get("code")

    assert room.call(tools, "next_task").structured == {
        "answer": "task",
        "task": {"id": "a", "title": "first", "priority": 1},
    }
    room.update(tools, "b", "blocked", reason="no key")
    room.update(tools, "a", "claimed")
    assert answer() == ("waiting", "task.waiting")
    room.update(tools, "a", "completed")
    assert answer() == ("blocked", "task.blocked")
    room.update(tools, "b", "pending")
    room.update(tools, "b", "claimed")
    room.update(tools, "b", "completed")
    assert answer() == ("finished", None)


def test_what_is_asked_wrongly_says_what_is_wrong(room: Room) -> None:
    tools = room.connect()
    assert room.refused(tools, "nosuch", "claimed") == "task.unknown"
    assert room.refused(tools, "a", "completed") == "task.state"
    assert room.refused(tools, "a", "blocked") == "usage"
    assert room.refused(tools, "a", "pending") == "task.state"
    result = tools.call(
        "next_task", {"feature": "nosuch"}, CallContext(0, "", "", "", "", "", lambda: False, lambda *_: None)
    )
    assert result.is_error
    assert "feature.unknown" in str(result.structured)


def test_an_answer_stays_small_and_acts_on_no_terminal(room: Room) -> None:
    task = {
        "id": "c",
        "title": "\x1b[2J" * 100,
        "description": "word " * 1500,
        "priority": 0,
        "files": [f"file{at}\n" for at in range(900)],
        "acceptance_criteria": ["x" * 7000],
    }
    room.desk.ok("board", "import", "-", given=json.dumps([task]).encode())
    result = room.call(room.connect(), "next_task")
    assert len(json.dumps(result.structured)) + len(result.text) < 8000
    assert "\x1b" not in result.text
    assert "… and 890 more" in result.text
