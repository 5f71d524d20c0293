"""Holds `tallystick board …` at the command line: the six exit statuses, who a command line is, board files that lie
there already in any state, and what a list shows."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import Refusal
from tallystick.faces.cli.board import seconds_in
from tests.desk import FEATURE, Desk
from tests.unit.board.boards import code

BOARD = f".jonggrang/.output/features/{FEATURE}/jonggrang-tasks.json"
PLAN = {"tasks": [{"id": "a", "title": "first"}, {"id": "b", "title": "second", "blocked_by": ["a"]}]}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with the criteria AC1 to AC3 and the tasks a and b, b behind a."""
    made = Desk(tmp_path)
    made.freeze()
    made.ok("board", "import", FEATURE, "-", given=json.dumps(PLAN).encode())
    return made


def claim(desk: Desk, *words: str) -> Any:
    """What `board claim` answers."""
    return desk.ok("board", "claim", *words, "--json").document


def lying(desk: Desk) -> Any:
    """The board file."""
    return json.loads((desk.folder / BOARD).read_bytes())


@pytest.mark.requirement("F4.2")
def test_every_answer_of_next_has_its_exit_status_and_only_a_task_is_printed(desk: Desk) -> None:
    said = desk.run("board", "next")
    assert (said.status, said.out.split("\n")[0], said.err) == (0, "a   first", "")
    fence = claim(desk)["fence"]
    for words, status in (
        ([], 3),
        (["block", "a", "--fence", str(fence), "--reason", "no key"], 5),
        (["unblock", "a"], 0),
    ):
        if words:
            desk.ok("board", *words)
        said, machine = desk.run("board", "next"), desk.run("board", "next", "--json")
        assert (said.status, machine.status) == (status, status)
        assert (said.out == "") == (status != 0)
        assert (machine.document["answer"] == "task") == (status == 0)
        assert (machine.document["task"] is None) == (status != 0)
    for name in ("a", "b"):
        desk.ok("board", "done", name, "--fence", str(claim(desk, name)["fence"]))
    said = desk.run("board", "next")
    assert (said.status, said.out, said.err) == (0, "", "nothing is left to do: 2 of 2 tasks are done\n")
    assert desk.run("board", "claim").out == ""
    assert claim(desk)["task"] is None


@pytest.mark.requirement("F4.2")
@pytest.mark.parametrize(
    ("tasks", "status", "says"),
    [
        ([{"id": "a", "blocked_by": ["b"]}, {"id": "b", "blocked_by": ["a"]}], 8, "in a circle: a -> b -> a"),
        ([{"id": "a", "blocked_by": ["gone"]}], 8, "not on the board"),
        ([{"id": "a", "status": "waiting", "error_log": ["pay?"]}, {"id": "b", "blocked_by": ["a"]}], 6, "a person"),
        ([{"id": "a", "status": "blocked"}], 5, "a is blocked"),
        ([{"id": "a", "status": "skipped"}], 0, "nothing is left"),
    ],
)
def test_a_board_that_somebody_else_wrote_is_answered_as_it_lies_there(
    tmp_path: Path, tasks: Any, status: int, says: str
) -> None:
    desk = Desk(tmp_path)
    data = json.dumps({"feature": FEATURE, "tasks": tasks})
    desk.put(BOARD, data)
    said = desk.run("board", "next", FEATURE)
    assert (said.status, said.out) == (status, "")
    assert says in said.err
    assert f"{BOARD} is not taken in yet" in said.err
    assert desk.run("board", "list", FEATURE).status == 0
    assert (desk.folder / BOARD).read_text() == data, "reading writes nothing"
    assert not desk.store.exists()
    assert desk.run("board", "claim", FEATURE).status == (1 if status == 8 else status)
    assert "board remove" not in said.err, "a file that is not taken in is mended, nothing of it can be removed"


def test_a_board_that_lies_there_is_taken_in_by_the_first_change(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.put(".jonggrang/jonggrang-tasks.json", json.dumps({"feature": FEATURE, "branch": "x", **PLAN}))
    assert [row["id"] for row in desk.ok("board", "list", FEATURE, "--json").document["tasks"]] == ["a", "b"]
    assert claim(desk, FEATURE)["task"] == "a"
    assert [(row["id"], row["status"]) for row in lying(desk)["tasks"]] == [("a", "in_progress"), ("b", "pending")]
    assert lying(desk)["branch"] == "main"
    assert json.loads((desk.folder / ".jonggrang/jonggrang-tasks.json").read_text())["branch"] == "x"
    assert desk.refused("board", "list", "other").code == "feature.unknown"


UNREADABLE = {
    "half": b'{"feature": "checkout", "tasks": [{"id": "a"',
    "another shape": b'{"tasks": 5}',
    "twice": b'{"tasks": [], "tasks": []}',
}


@pytest.mark.requirement("O15")
@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_board_that_cannot_be_read_is_neither_empty_nor_replaced(tmp_path: Path, kind: str) -> None:
    desk = Desk(tmp_path)
    path = desk.put(BOARD, UNREADABLE[kind])
    for words in (("list", FEATURE), ("next", FEATURE), ("claim", FEATURE), ("add", FEATURE, "more")):
        error = desk.refused("board", *words)
        assert error.code == "input.invalid"
        assert BOARD in error.message
    desk.freeze()
    assert path.read_bytes() == UNREADABLE[kind]


@pytest.mark.parametrize("kind", ["link out", "pipe", "folder", "half"])
def test_what_lies_in_the_place_of_the_board_file_is_named_and_left(desk: Desk, kind: str) -> None:
    path = desk.folder / BOARD
    path.unlink()
    other = desk.base / "other.json"
    other.write_text("{}")
    if kind == "link out":
        path.symlink_to(other)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(UNREADABLE["half"])
    before = desk.tree()[str(path.relative_to(desk.base))]
    said = desk.ok("board", "claim")
    assert said.err.startswith("note: "), "the claim stands, and the file is named"
    assert "jonggrang-tasks.json" in said.err
    assert desk.tree()[str(path.relative_to(desk.base))] == before
    assert other.read_text() == "{}"
    assert desk.run("board", "next").status == 3


def test_a_board_file_changed_by_hand_is_written_anew_and_its_bytes_are_kept(desk: Desk) -> None:
    path = desk.folder / BOARD
    path.write_text(path.read_text().replace('"pending"', '"completed"'))
    assert desk.run("board", "next").out.startswith("a "), "a file is no record"
    said = desk.ok("board", "claim")
    assert "was changed by hand and written anew" in said.err
    assert [row["status"] for row in lying(desk)["tasks"]] == ["in_progress", "pending"]


@pytest.mark.requirement("F4.4")
def test_two_command_lines_of_one_shell_are_two_and_one_wins(desk: Desk) -> None:
    first = claim(desk, "a")
    error = desk.refused("board", "claim", "a")
    assert (error.code, error.message) == (
        "task.taken",
        f'a was taken by "{first["owner"]}", until {first["until"]}',
    )
    assert claim(desk, "a", "--fence", "1", "--for", "2h")["fence"] == 1


@pytest.mark.requirement("F4.4")
def test_without_a_fence_the_session_is_the_owner(desk: Desk) -> None:
    there = {"CLAUDE_CODE_SESSION_ID": "s 1\n"}
    said = desk.run("board", "claim", "a", "--json", env=there).document
    assert said["owner"].startswith("claude-s_1_/")
    assert desk.refused("board", "done", "a").code == "task.taken"
    assert desk.refused("board", "done", "a", "--owner", "bob").code == "task.taken"
    assert desk.run("board", "done", "a", env=there).status == 0
    claim(desk, "b", "--owner", "ann")
    desk.ok("board", "unblock", "b", "--owner", "ann")
    assert claim(desk, "b", "--owner", "bob")["fence"] == 2


@pytest.mark.requirement("F4.4")
def test_a_lease_runs_out_and_the_late_holder_is_fenced(desk: Desk) -> None:
    late = claim(desk, "a", "--for", "90s")
    desk.clock.pause(90)
    assert "lapsed" in desk.ok("board", "list").out
    assert claim(desk)["fence"] == 2
    error = desk.refused("board", "done", "a", "--fence", str(late["fence"]))
    assert (error.code, error.message) == ("task.fenced", "a was claimed since: you show fence 1, it is at 2")
    desk.clock.pause(3600)
    desk.ok("board", "done", "a", "--fence", "2")


@pytest.mark.requirement("F4.3")
def test_done_says_what_still_keeps_it_from_passing(desk: Desk) -> None:
    desk.ok("board", "add", "Pay", "--id", "pay", "--criterion", "AC1", "--criterion", "AC2")
    desk.cite("AC1")
    fence = str(claim(desk, "pay")["fence"])
    said = desk.ok("board", "done", "pay", "--fence", fence, "--json").document
    assert (said["status"], said["passes"], said["open"]) == ("completed", False, ["AC2"])
    assert [row["passes"] for row in lying(desk)["tasks"]] == [False, False, False]
    desk.cite("AC2")
    assert [row["passes"] for row in lying(desk)["tasks"]] == [False, False, True]
    assert "passes " in desk.ok("board", "list").out
    desk.put("proof.txt", "changed since\n")
    assert not any(row["passes"] for row in desk.ok("board", "list", "--json").document["tasks"]), "stale is no pass"


def test_a_list_comes_by_twenty(desk: Desk) -> None:
    tasks = [{"id": f"t{at}", "title": f"number {at}"} for at in range(30)]
    desk.ok("board", "import", "-", given=json.dumps(tasks).encode())
    first = desk.ok("board", "list", "--json").document
    assert (len(first["tasks"]), first["more"], first["counts"]["total"]) == (20, 12, 32)
    rest = desk.ok("board", "list", "--after", first["tasks"][-1]["id"], "--json").document
    assert [row["id"] for row in rest["tasks"]] == [f"t{at}" for at in range(18, 30)]
    assert desk.refused("board", "list", "--after", "nosuch").code == "usage"
    assert "… 12 more: tallystick board list checkout --after t17" in desk.ok("board", "list").out


def test_stored_text_acts_on_no_terminal(desk: Desk) -> None:
    title = "-t\x1b]0;x\x07\u202e\n'\""
    desk.ok("board", "add", "--id", "x", "--description", "\x1b[2J\nb", "--file=-rf", "--", title)
    claim(desk, "a")
    for words in (("board", "list"), ("board", "next")):
        said = desk.run(*words)
        assert not {"\x1b", "\x07", "\u202e"} & {*said.out, *said.err}
    assert "  -t\\x1b]0;x\\x07\\u202e '\"" in desk.ok("board", "list").out


def test_what_is_imported_came_with_ticks_that_count_for_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.freeze()
    desk.put("old.json", json.dumps([{"id": "a", "title": "t", "status": "completed", "passes": True}]))
    said = desk.ok("board", "import", FEATURE, "old.json")
    assert "1 came with `passes`; that is somebody's word" in said.err
    row = desk.ok("board", "list", "--json").document["tasks"][0]
    assert (row["status"], row["passes"]) == ("completed", False)


def test_a_plan_is_imported_from_the_features_own_folder_and_about_no_other(desk: Desk) -> None:
    name = "07-lead-architecture-plan.json"
    desk.put(
        f"{os.path.dirname(BOARD)}/{name}", json.dumps({"feature_id": FEATURE, "output": {"tasks": [{"id": "c"}]}})
    )
    assert desk.ok("board", "import", name, "--json").document["added"] == ["c"]
    desk.put("plan.json", json.dumps({"feature_id": "auth", "output": {"tasks": [{"id": "d"}]}}))
    assert desk.refused("board", "import", "plan.json").code == "input.invalid"
    assert desk.refused("board", "import", "missing.json").code == "input.unreadable"
    assert desk.refused("board", "import", "-", given=b'[{"id": "a"}]').code == "task.exists"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("add", "t", "--blocked-by", "nosuch"), "input.invalid"),
        (("add", "t", "--id", "b"), "task.exists"),
        (("add", "t", "--id=-x"), "input.invalid"),
        (("add", "t", "--priority", "high"), "usage"),
        (("add", " \n"), "input.invalid"),
        (("remove", "a"), "task.state"),
        (("remove", "nosuch"), "task.unknown"),
        (("claim", "b"), "task.state"),
        (("claim", "a", "--for", "soon"), "usage"),
        (("claim", "a", "--for", "25h"), "usage"),
        (("claim", "a", "--for", "0s"), "usage"),
        (("claim", "a", "--owner", "a\nb"), "input.invalid"),
        (("claim", "a", "--fence", "7"), "task.fenced"),
        (("claim", "nosuch", "a"), "feature.unknown"),
        (("done", "a"), "task.state"),
        (("done", "a", "--fence", "x"), "usage"),
        (("block", "a", "--reason", " "), "input.invalid"),
        (("unblock", "a"), "task.state"),
    ],
)
def test_what_is_refused_changes_nothing(desk: Desk, words: tuple[str, ...], expected: str) -> None:
    assert desk.refused("board", *words).code == expected


def test_a_board_without_a_task_is_not_finished(desk: Desk) -> None:
    desk.ok("board", "remove", "a", "--with-dependants")
    assert lying(desk)["tasks"] == []
    assert desk.ok("board", "list").out == "checkout   no tasks\n"
    assert desk.refused("board", "next").code == "task.unknown"
    assert desk.refused("board", "claim").code == "task.unknown"


def test_a_feature_may_have_tasks_and_no_ledger(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ok("board", "add", "auth", "First of all", "--criterion", "AC1")
    assert desk.ok("board", "next").out.startswith("task-001   First of all\n")
    desk.ok("board", "done", "auth", claim(desk, "auth")["task"], "--fence", "1")
    assert desk.run("board", "next", "auth").err == "nothing is left to do: 1 of 1 tasks are done\n"


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("45m", 2700), ("2h", 7200), ("1h30m", 5400), ("1h1m1s", 3661)]
)
def test_times_as_people_write_them(text: str, seconds: float) -> None:
    assert seconds_in(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "m", "-5m", "1.5h", "5 m", "1m1h", "٣m", "9999999h"])
def test_what_is_no_time(text: str) -> None:
    assert code(lambda: seconds_in(text)) == Refusal("usage", "").code


def test_a_tree_that_was_moved_is_no_edit_by_hand(desk: Desk) -> None:
    for receipt in (desk.store / "cache" / "handoff").iterdir():
        receipt.unlink()
    said = desk.ok("board", "add", FEATURE, "b")
    assert "was not written from here" in said.err
    assert "by hand" not in said.err
