"""Holds what a person at a terminal gets and may do: decisions are hers alone and recorded as hers (P12, P20), colour
is for terminals that want it, stored text never acts on one (P18), and signals and closed pipes end with a status and
no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tallystick.faces.cli.call import MARKERS
from tests.real.project import TALLYSTICK, Project
from tests.real.pseudo import on_terminal
from tests.real.worker import HOLDING
from tests.real.writers import Writer, working

AMEND = ("ledger", "amend", "checkout", "C0001", "--text", "another text", "--reason", "agreed on Monday")
OVERRIDE = ("ledger", "override", "checkout", "C0002", "--reason", "checked by hand")
DECISIONS = {"criterion_amended": AMEND, "override_recorded": OVERRIDE}


@pytest.mark.requirement("P12", "P20")
@pytest.mark.parametrize("kind", DECISIONS)
def test_a_person_at_a_terminal_decides(project: Project, kind: str) -> None:
    project.freeze("checkout", 2)
    status, screen = on_terminal(DECISIONS[kind], project.folder)
    assert status == 0, screen
    record = project.records("checkout")[-1]
    assert (record["type"], record["by"]["role"]) == (kind, "user")
    assert record["data"]["reason"] in DECISIONS[kind]


@pytest.mark.requirement("P12")
@pytest.mark.parametrize("kind", DECISIONS)
def test_a_pipe_is_no_person(project: Project, kind: str) -> None:
    project.freeze("checkout", 2)
    rows = project.rows("checkout")
    said = project.tally(*DECISIONS[kind])
    assert (said.status, said.out) == (1, "")
    assert "ask your user" in said.err
    assert project.records("checkout")[-1]["type"] == "pass_refused"
    assert project.rows("checkout") == rows


@pytest.mark.requirement("P12")
@pytest.mark.parametrize("marker", MARKERS)
def test_a_client_at_a_terminal_is_no_person(project: Project, marker: str) -> None:
    project.freeze("checkout", 2)
    status, screen = on_terminal(OVERRIDE, project.folder, {marker: "1"})
    assert status == 1
    assert "ask your user" in screen
    refused = project.records("checkout")[-1]
    assert (refused["type"], refused["by"]["role"]) == ("pass_refused", "shell")


def test_colour_is_for_a_terminal_that_wants_it(project: Project) -> None:
    names = project.freeze("checkout", 2)
    project.mark("checkout", names[0])
    assert "\x1b[" in on_terminal(("status",), project.folder)[1]
    assert "\x1b[" not in on_terminal(("status",), project.folder, {"NO_COLOR": "1"})[1]
    assert "\x1b[" not in on_terminal(("status",), project.folder, {"TERM": "dumb"})[1]
    assert "\x1b[" not in on_terminal(("status", "--json"), project.folder)[1]
    assert "\x1b[" not in project.done("status").out
    piped = project.folder.parent / "piped"
    on_terminal(("status",), project.folder, out=str(piped))
    assert "\x1b[" not in piped.read_text(encoding="utf-8")


@pytest.mark.requirement("P18")
def test_stored_text_never_acts_on_the_terminal(project: Project) -> None:
    """Colours, titles, cursor moves, bells, right-to-left marks: shown as escapes wherever they are stored."""
    nasty = "\x1b[31mred\x1b]0;title\x07 \x9b2J \u202egnp.exe \r overwritten"
    lines = f"- [ ] C1 {nasty.replace(chr(13), '')}\n- [ ] C2 plain\n"
    project.done("ledger", "init", "checkout", "-", given=lines.encode())
    project.done("ledger", "fail", "checkout", "C2", "--error", nasty)
    evidence = "evil\x1b[31m.txt"
    (project.folder / evidence).write_text("bytes", encoding="utf-8")
    project.done("ledger", "pass", "checkout", "C1", "--evidence", evidence)
    for words in (
        ("status",),
        ("ledger", "show", "checkout"),
        ("ledger", "failing", "checkout"),
        ("ledger", "get", "checkout", "C1"),
        ("ledger", "get", "checkout", "C2"),
        ("ledger", "get", "checkout", nasty),
        (nasty,),
        ("audit",),
    ):
        screen = on_terminal(words, project.folder, {"NO_COLOR": "1"})[1]
        assert not set(screen) & set("\x1b\x07\x9b\u202e"), words
        assert "\r" not in screen.replace("\r\n", "\n"), words
    assert project.rows("checkout")["C2"]["last_attempt_error"] == nasty  # it round-trips all the same


@pytest.mark.parametrize(
    ("number", "status", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_ends_with_its_status_and_a_whole_state(
    project: Project, number: signal.Signals, status: int, word: str
) -> None:
    """The signal arrives while the command waits for a lock that a stopped process holds."""
    first, second = project.freeze("checkout", 2)
    with working([Writer(project.folder, "checkout", "--hold", first)]) as (holder,):
        holder.until(HOLDING)
        holder.stopped()
        with subprocess.Popen(
            [*TALLYSTICK, "ledger", "fail", "checkout", second, "--error", "x"],
            cwd=project.folder,
            stderr=subprocess.PIPE,
            preexec_fn=_deaf_to_nothing,
        ) as waiting:
            _until_it_waits(waiting.pid, project.store / "locks" / "checkout")
            waiting.send_signal(number)
            said = waiting.communicate()[1].decode()
        assert (waiting.returncode, said) == (status, f"{word}; the state is whole\n")
        holder.send(signal.SIGCONT)
        assert holder.end() == (0, "")
    assert project.rows("checkout")[second]["last_attempt_error"] is None
    assert project.audit().status == 0


def _deaf_to_nothing() -> None:
    """A test runner in the background may ignore the keyboard's interrupt; its children must not."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _until_it_waits(pid: int, lock: Path) -> None:
    """Until the process has the lock file open: from then on it tries again and again."""
    wanted = lock.stat()
    while True:
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            try:
                found = fd.stat()
            except FileNotFoundError:
                continue
            if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
                return


@pytest.mark.parametrize(
    "words", [("ledger", "show", "checkout"), ("--help",), ("ledger", "show", "checkout", "--json")]
)
def test_a_reader_that_goes_away(project: Project, words: tuple[str, ...]) -> None:
    project.freeze("checkout", 3000)
    with subprocess.Popen(
        [*TALLYSTICK, *words], cwd=project.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        said = process.stderr.read()
    assert said == b""
    assert process.returncode == 1


@pytest.mark.requirement("P1")
def test_an_answer_that_cannot_be_written_takes_nothing_back(project: Project) -> None:
    """Standard output on a full disk: what was recorded stands, and nobody is told that it does not."""
    (name,) = project.freeze("checkout", 1)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*TALLYSTICK, "ledger", "fail", "checkout", name, "--error", "seen"],
            cwd=project.folder,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    said = done.stderr.decode()
    assert done.returncode == 1
    assert "Traceback" not in said
    assert said.splitlines()[0].startswith("standard output: ")
    assert "stands" in said.splitlines()[0]
    assert project.rows("checkout")[name]["last_attempt_error"] == "seen"


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
def test_closed_standard_streams(project: Project, closed: tuple[int, ...]) -> None:
    """The command does its work, and no file of ours gets a closed stream's number."""
    (name,) = project.freeze("checkout", 1)
    shell = " ".join([*(f"{number}>&-" for number in closed)])
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m tallystick ledger fail checkout {name} --error seen {shell}', sys.executable],
        cwd=project.folder,
        env=os.environ,
        capture_output=True,
    )
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout == (b"" if 1 in closed else f"{name} failed, attempt 1: seen\n".encode())
    assert project.rows("checkout")[name]["last_attempt_error"] == "seen"
    assert project.audit().document["findings"] == []
