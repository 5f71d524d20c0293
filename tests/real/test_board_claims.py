"""Holds that of any number of processes that claim one task at the same moment one wins, each time, and the others are
told who (bug-report kind: a counter that hands one number to two)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real.project import TALLYSTICK, Project

CLAIMER = Path(__file__).with_name("claimer.py")
ROUNDS = 200


@contextmanager
def claimers(project: Project, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """So many processes that wait to be told a task; none outlives the block."""
    words = [sys.executable, "-S", str(CLAIMER), str(project.folder), "checkout"]
    pipe = subprocess.PIPE
    started = [
        subprocess.Popen([*words, f"owner-{at}"], env={**os.environ, **project.env}, stdin=pipe, stdout=pipe)
        for at in range(count)
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def contested(processes: list[subprocess.Popen[bytes]], name: str, first: int) -> list[str]:
    """What each of them says of one task that all are told at once, one after the other from `first` on."""
    for process in (*processes[first:], *processes[:first]):
        assert process.stdin is not None
        process.stdin.write(f"{name}\n".encode())
        process.stdin.flush()
    said = []
    for process in processes:
        assert process.stdout is not None
        said.append(process.stdout.readline().decode().rstrip("\n"))
    return said


@pytest.mark.requirement("F4.4", "P4")
@pytest.mark.parametrize("count", [2, 5])
def test_one_winner_each_time(project: Project, count: int) -> None:
    tasks = [{"id": f"t{at}", "title": "the one that all want"} for at in range(ROUNDS)]
    project.done("board", "import", "checkout", "-", given=json.dumps(tasks).encode())
    winners = set()
    with claimers(project, count) as processes:
        for at, task in enumerate(tasks):
            said = contested(processes, task["id"], at % count)
            assert sorted(said) == ["task.taken"] * (count - 1) + [f"won {task['id']} 1"]
            winners.add(said.index(f"won {task['id']} 1"))
    assert len(winners) > 1, "the same process won every round: they never met"
    claimed = [record["data"] for record in project.records("checkout") if record["type"] == "task_claimed"]
    assert sorted((one["task"], one["fence"]) for one in claimed) == sorted((task["id"], 1) for task in tasks)
    assert project.audit().document["holds"]


def test_five_command_lines_of_one_shell_are_five(project: Project) -> None:
    project.done("board", "add", "checkout", "the one that all want")
    started = [
        subprocess.Popen(
            [*TALLYSTICK, "board", "claim", "checkout", "task-001", "--json"],
            cwd=project.folder,
            env={**os.environ, **project.env},
            stdout=subprocess.PIPE,
        )
        for _ in range(5)
    ]
    said = [(json.loads(process.communicate()[0]), process.returncode) for process in started]
    assert sorted(status for _, status in said) == [0, 1, 1, 1, 1]
    assert [document["error"]["code"] for document, status in said if status] == ["task.taken"] * 4


def test_what_another_copy_added_is_claimed_here_once(project: Project, tmp_path: Path) -> None:
    """Its word of who works there counts for nothing here; the task itself is known, and a claim of it is a lease."""
    for title in ("first", "second"):
        project.done("board", "add", "checkout", title)
    project.done("board", "claim", "checkout", "task-001")
    project.git("add", "-A", ".tallystick")
    project.git("commit", "--quiet", "-m", "what was done")
    project.git("clone", "--quiet", str(project.folder), str(tmp_path / "copy"))
    copy = project.at(tmp_path / "copy")
    rows = copy.done("board", "list", "checkout", "--json").document["tasks"]
    assert [(row["id"], row["ours"], row["status"], row["elsewhere"]) for row in rows] == [
        ("task-001", False, "pending", "in_progress"),
        ("task-002", False, "pending", None),
    ]
    assert copy.done("board", "claim", "checkout", "task-001", "--json").document["fence"] == 1
    assert copy.tally("board", "claim", "checkout", "task-001").status == 1
    copy.done("board", "remove", "checkout", "task-002")
    rows = copy.done("board", "list", "checkout", "--json").document["tasks"]
    assert [(row["id"], row["ours"], row["held"]) for row in rows] == [("task-001", True, True)]
    copy.git("rm", "-r", "--quiet", ".tallystick")
    assert copy.tally("board", "claim", "checkout", "task-001").status == 1
