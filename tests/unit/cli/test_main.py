"""Holds that every end of a command is an exit status and a clear line: refusals, signals, a reader that went away,
and our own faults, whose values never reach a report."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tallystick.faces.cli.main import Terminated
from tallystick.system.files import OsFiles
from tests.desk import FEATURE, Desk
from tests.simdisk import Tap
from tests.simdisk.tap import Attempt

TALLYSTICK = (sys.executable, "-m", "tallystick")


class Raising(Tap):
    """A disk on which reading the store's id raises `error`."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(OsFiles())
        self._error = error

    def intercept(self, attempt: Attempt) -> Any:
        """Raise it there."""
        if attempt.name == "open" and attempt.path.endswith("store-id"):
            raise self._error
        return super().intercept(attempt)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A ledger in use."""
    made = Desk(tmp_path / "desk")
    made.freeze()
    return made


def test_our_own_fault_is_one_line_and_a_report_without_values(desk: Desk) -> None:
    said = desk.run("status", files=Raising(ValueError("the secret is hunter2")))
    assert (said.status, said.out) == (70, "")
    assert said.err.startswith(
        "this is our own fault (ValueError); nothing that was acknowledged is lost\nNext: please send "
    )
    [report] = (desk.home / "reports").iterdir()
    text = report.read_text(encoding="utf-8")
    assert str(report) in said.err
    assert ("hunter2" in text, "journals.py" in text, report.stat().st_mode & 0o077) == (False, True, 0)
    document = desk.run("status", "--json", files=Raising(ValueError("x"))).document
    assert document["error"]["code"] == "internal"


def test_our_own_fault_where_no_report_can_be_written_is_said_all_the_same(desk: Desk) -> None:
    (desk.home / "reports").write_bytes(b"a file")
    said = desk.run("status", files=Raising(KeyError("x")))
    assert (said.status, "could not be written" in said.err) == (70, True)


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (Terminated(), 143, "terminated"),
        (OSError(28, "full"), 1, "no room left"),
    ],
)
def test_a_signal_and_a_disk_that_fails_have_their_own_statuses(
    desk: Desk, error: BaseException, status: int, says: str
) -> None:
    if isinstance(error, OSError):
        said = desk.run("ledger", "show", "--root", str(desk.folder), files=Raising(error))
        assert (said.status, "store-id" in said.err) == (1, True)
        return
    said = desk.run("status", files=Raising(error))
    assert (said.status, says in said.err, said.out) == (status, True, "")


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux what a process waits for")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_real_signals_end_a_process_that_waits(desk: Desk, number: signal.Signals, status: int) -> None:
    argv = [*TALLYSTICK, "ledger", "add", FEATURE, "-"]
    process = subprocess.Popen(
        argv, cwd=desk.folder, env={**os.environ, **desk.env()}, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stderr is not None
    tries = 0
    with process.stdin, process.stderr:
        while b"pipe" not in Path(f"/proc/{process.pid}/wchan").read_bytes():
            tries += 1
            assert tries < 3000, "it never came to reading its input"
            time.sleep(0.01)
        process.send_signal(number)
        said = process.stderr.read()
    assert (process.wait(), said.count(b"\n"), b"the state is whole" in said) == (status, 1, True)


def test_a_reader_that_went_away_is_no_fault_of_ours(desk: Desk) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [*TALLYSTICK, "ledger", "show"],
        cwd=desk.folder,
        env={**os.environ, **desk.env()},
        stdout=write,
        stderr=subprocess.PIPE,
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_full_device_behind_the_answer_is_named(desk: Desk) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*TALLYSTICK, "ledger", "fail", "AC1", "--error", "red"],
            cwd=desk.folder,
            env={**os.environ, **desk.env()},
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert (done.returncode, b"Traceback" in done.stderr, done.stderr != b"") == (1, False, True)
    assert desk.run("ledger", "get", "AC1", "--json").document["attempts"] == 1


@pytest.mark.requirement("P18")
@pytest.mark.parametrize("locale", ["C", "POSIX", "C.UTF-8", "nosuch"])
def test_the_locale_changes_no_byte(desk: Desk, locale: str) -> None:
    """Bug reports 27: the machine's default encoding takes no part."""
    env = {**os.environ, **desk.env(), "LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
    del env["PYTHONIOENCODING"]
    for words in (["ledger", "fail", "AC1", "--error", "größer 日本 🎉"], ["ledger", "get", "AC1", "--json"]):
        done = subprocess.run([*TALLYSTICK, *words], cwd=desk.folder, env=env, capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")
    assert "größer 日本 🎉".encode() in done.stdout
    assert "größer 日本 🎉".encode() in desk.view.read_bytes()
    assert "größer 日本 🎉".encode() in desk.journal.read_bytes()


def test_closed_streams_are_no_fault_of_ours(desk: Desk) -> None:
    said = desk.run("ledger", "add", "-", given=b"")
    assert (said.status, "standard input is empty" in said.err) == (1, True)
    done = subprocess.run(
        ["sh", "-c", '"$@" ledger add - <&-', "sh", *TALLYSTICK],
        cwd=desk.folder,
        env={**os.environ, **desk.env()},
        capture_output=True,
    )
    assert (done.returncode, b"Traceback" in done.stderr, done.stderr.count(b"\n")) == (1, False, 2)
