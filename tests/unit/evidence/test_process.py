"""Holds what becomes of a program that we start: its limits, its end and the end of all it started, its output."""

from __future__ import annotations

import hashlib
import os
import select
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.system.process import Finished, Limits, capture, find_program, run
from tallystick.system.process.kept import Kept

LIMITS = Limits(wall_s=60, output=1_000_000, report=1_000_000, grace_s=10)
HASTY = LIMITS._replace(wall_s=0.3)
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who belongs to whom")


def start(*argv: str, limits: Limits = LIMITS, given: bytes | None = None, report_as: str = "") -> Finished:
    """A run at the top of the file system with nothing but PATH."""
    return run(argv, "/", {"PATH": os.environ["PATH"]}, limits, input=given, report_as=report_as)


def python(code: str, limits: Limits = LIMITS, report_as: str = "") -> Finished:
    """A run of a few lines of Python."""
    return start(sys.executable, "-c", code, limits=limits, report_as=report_as)


def shell(script: str, limits: Limits = LIMITS) -> Finished:
    """A run of a shell script."""
    return start("sh", "-c", script, limits=limits)


def until(lines: int, argv: list[str]) -> Finished:
    """A run that is cancelled once so many lines were printed."""
    seen: list[bytes] = []
    env = {"PATH": os.environ["PATH"]}
    hasty = LIMITS._replace(grace_s=0.1)
    return run(argv, "/", env, hasty, on_output=seen.append, cancelled=lambda: b"".join(seen).count(b"\n") >= lines)


def begin(doing: Callable[..., Finished], program: str, folder: str) -> Finished:
    """Start a program by `run` or by `capture`."""
    env = {"PATH": os.environ["PATH"]}
    return run([program], folder, env, LIMITS) if doing is run else capture([program], folder, env)


def gone(pid: int) -> bool:
    """Whether there is no process of that number, not even a dead one that nobody collected."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def ends(pid: int) -> bool:
    """Whether a process that we cannot wait for comes to its end, which may be a moment away."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ready, _, _ = select.select([watched], [], [], 60)
    os.close(watched)
    return bool(ready)


# What a program gets


def test_status_and_output_come_back_in_the_order_of_printing() -> None:
    done = shell("echo one; echo two >&2; echo three; exit 7")
    assert (done.status, done.signal, done.stopped, done.out) == (7, None, "", b"one\ntwo\nthree\n")
    assert (done.total, done.digest) == (14, hashlib.sha256(done.out).hexdigest())
    assert not done.ok


def test_a_signal_is_told_from_a_status() -> None:
    done = shell("kill -SEGV $$")
    assert (done.status, done.signal) == (None, signal.SIGSEGV)


def test_it_sees_exactly_the_variables_it_was_given(tmp_path: Path) -> None:
    done = run(["env"], str(tmp_path), {"PATH": os.environ["PATH"], "NAME": "värde"}, LIMITS)
    assert sorted(done.out.decode().split("\n")) == ["", "NAME=värde", f"PATH={os.environ['PATH']}"]


def test_it_starts_in_the_folder_it_was_given(tmp_path: Path) -> None:
    assert run(["pwd", "-P"], str(tmp_path), {"PATH": os.environ["PATH"]}, LIMITS).out.decode() == f"{tmp_path}\n"


def test_it_reads_nothing_unless_something_is_given() -> None:
    assert start("cat").out == b""


def test_it_reads_what_it_is_given_though_pipes_are_small() -> None:
    data = b"0123456789" * 50_000
    done = start("cat", given=data)
    assert (done.total, done.digest) == (len(data), hashlib.sha256(data).hexdigest())


def test_input_that_nobody_reads_is_no_error() -> None:
    assert start("true", given=b"x" * 1_000_000).ok


def test_it_has_no_terminal() -> None:
    done = shell("cat < /dev/tty")
    assert done.status != 0
    assert b"/dev/tty" in done.out


def test_signals_act_as_in_a_fresh_process() -> None:
    assert python("import signal; print(signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN)").out == b"True\n"
    assert shell("yes | head -n 1; true").out == b"y\n"


@on_linux
def test_it_inherits_no_descriptor_but_its_own() -> None:
    done = python("import os; print(sorted(int(fd) for fd in os.listdir('/proc/self/fd'))[:-1])")
    assert done.out == b"[0, 1, 2]\n"


def test_it_leads_a_session_of_its_own() -> None:
    assert python("import os; print(os.getsid(0) == os.getpgid(0) == os.getpid())").out == b"True\n"


def test_what_it_reports_comes_back_apart_from_what_it_prints() -> None:
    code = "import os; os.write(int(os.environ['CHANNEL']), b'row'); print('printed')"
    done = python(code, report_as="CHANNEL")
    assert (done.out, done.report) == (b"printed\n", b"row")


def test_output_is_seen_while_it_runs() -> None:
    seen: list[bytes] = []
    run(["printf", "some"], "/", {"PATH": os.environ["PATH"]}, LIMITS, on_output=seen.append)
    assert b"".join(seen) == b"some"


def test_escape_codes_and_broken_characters_come_back_as_they_were() -> None:
    done = shell(r"printf '\033[31mred\033[0m \377\n'")
    assert done.out == b"\x1b[31mred\x1b[0m \xff\n"
    assert done.text() == "\x1b[31mred\x1b[0m \\xff\n"


@pytest.mark.parametrize("argv", [["no-such-program"], ["/"], [__file__]], ids=["missing", "a folder", "no program"])
def test_a_program_that_cannot_start_is_refused_by_name(argv: list[str]) -> None:
    for doing in (run, capture):
        with pytest.raises(Refusal, match="cannot be started") as caught:
            begin(doing, argv[0], "/")
        assert caught.value.code == {run: "check.no_runner", capture: "git.missing"}[doing]
        assert argv[0][-20:] in caught.value.message


def test_a_folder_that_is_not_there_is_refused_by_name() -> None:
    for doing in (run, capture):
        with pytest.raises(Refusal, match="/no/such/folder"):
            begin(doing, "true", "/no/such/folder")


# Limits


def test_one_that_hangs_is_ended_at_its_time() -> None:
    done = start("sleep", "600", limits=HASTY)
    assert (done.stopped, done.signal) == ("time", signal.SIGTERM)
    assert done.stopped == "time"


def test_one_that_ignores_the_polite_signal_is_killed() -> None:
    done = until(1, ["sh", "-c", "trap '' TERM; echo here; while :; do sleep 600; done"])
    assert (done.stopped, done.signal, done.out) == ("cancelled", signal.SIGKILL, b"here\n")


def test_a_gigabyte_of_output_ends_at_the_limit_and_little_of_it_is_kept() -> None:
    tracemalloc.start()
    done = shell("yes | head -c 1000000000", LIMITS._replace(keep=10_000))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.stopped == "output"
    assert 1_000_000 < done.total < 2_000_000
    assert len(done.out) < 10_100
    assert b"bytes left out here" in done.out
    assert most < 1_000_000


def test_a_report_that_grows_without_end_is_ended() -> None:
    code = "import os\nwhile True: os.write(int(os.environ['CHANNEL']), b'x' * 4096)"
    done = python(code, LIMITS._replace(report=10_000), report_as="CHANNEL")
    assert done.stopped == "report"


@on_linux
def test_memory_is_limited() -> None:
    done = python("print(len(bytearray(1_000_000_000)))", LIMITS._replace(memory=400_000_000))
    assert done.status == 1
    assert b"MemoryError" in done.out


def test_the_size_of_a_file_is_limited(tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'big')!r}, 'wb').write(bytes(1_000_000))"
    assert b"File too large" in python(code, LIMITS._replace(file=100_000)).out
    assert (tmp_path / "big").stat().st_size <= 100_000


def test_it_leaves_no_core_dump() -> None:
    assert shell("ulimit -c").out == b"0\n"


def test_whoever_asked_may_change_his_mind() -> None:
    asked: list[int] = []

    def cancelled() -> bool:
        asked.append(1)
        return len(asked) > 1

    env = {"PATH": os.environ["PATH"]}
    assert run(["sleep", "600"], "/", env, LIMITS, cancelled=cancelled).stopped == "cancelled"


# The end of everything it started


def test_what_it_left_running_is_ended_after_a_good_end() -> None:
    done = shell("sleep 600 & echo $!")
    assert (done.status, done.stopped, done.left) == (0, "", 0)
    assert gone(int(done.out))


@on_linux
def test_a_daemon_that_forked_twice_is_ended() -> None:
    done = python(
        """
import os, time
here, there = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(there, b"%d" % os.getpid())
        time.sleep(600)
    os._exit(0)
os.wait()
print(os.read(here, 20).decode())
"""
    )
    assert (done.status, done.strays, done.left) == (0, 1, 0)
    assert gone(int(done.out))


@on_linux
def test_one_that_flees_from_process_to_process_is_ended() -> None:
    done = python(
        """
import os
if os.fork() == 0:
    while True:
        if os.getpgrp() != os.getpid():
            os.setsid()
        if os.fork():
            os._exit(0)
""",
        LIMITS._replace(grace_s=0.1),
    )
    assert (done.status, done.left) == (0, 0)


@on_linux
def test_a_crowd_is_ended_at_the_limit() -> None:
    code = "import os, time\nfor _ in range(6): os.fork()\nos.write(1, b'%d\\n' % os.getpid())\ntime.sleep(600)"
    done = until(64, [sys.executable, "-c", code])
    assert (done.stopped, done.left) == ("cancelled", 0)
    assert all(gone(int(pid)) for pid in done.out.split())


@on_linux
def test_one_that_kills_its_supervisor_gains_nothing() -> None:
    done = shell("echo $$; kill -9 $PPID; exec sleep 600")
    assert (done.status, done.signal, done.stopped) == (None, None, "lost")
    assert ends(int(done.out))


@on_linux
def test_nothing_outlives_us_when_we_are_killed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    script = f"exec 9> {tmp_path}/fifo; echo here >&9; sleep 600"
    ours = (
        "from tallystick.system.process import Limits, run; "
        f"run(['sh', '-c', {script!r}], '/', {{'PATH': {os.environ['PATH']!r}}}, Limits(600, 1000, grace_s=0.1))"
    )
    with subprocess.Popen([sys.executable, "-c", ours]) as we, open(tmp_path / "fifo", "rb") as fifo:
        assert fifo.readline() == b"here\n"
        we.kill()
        ready, _, _ = select.select([fifo], [], [], 60)
        assert ready, "it is still running a minute after our end"
        assert fifo.read() == b""


@on_linux
def test_no_descriptor_is_left_open() -> None:
    before = os.listdir("/proc/self/fd")
    start("true", given=b"x", report_as="CHANNEL")
    start("sleep", "600", limits=HASTY)
    capture(["cat"], "/", {"PATH": os.environ["PATH"]}, input=b"x")
    with pytest.raises(Refusal):
        start("no-such-program")
    assert os.listdir("/proc/self/fd") == before


# A quick tool


def quick(script: str, given: bytes | None = None, timeout_s: float = 60, limit: int = 1_000_000) -> Finished:
    """A shell script by `capture`."""
    return capture(
        ["sh", "-c", script], "/", {"PATH": os.environ["PATH"]}, input=given, timeout_s=timeout_s, limit=limit
    )


def test_a_quick_tool_has_its_streams_apart() -> None:
    done = quick("echo out; echo err >&2; cat; exit 3", given=b"in")
    assert (done.status, done.out, done.err, done.stopped) == (3, b"out\nin", b"err\n", "")


def test_a_quick_tool_takes_a_large_input() -> None:
    assert quick("wc -c", given=b"x" * 500_000).out.split() == [b"500000"]


def test_a_quick_tool_has_limits_too() -> None:
    assert quick("sleep 600", timeout_s=0.1).stopped == "time"
    assert quick("exec > /dev/null 2>&1; sleep 600", timeout_s=0.1).stopped == "time"
    printed = quick("yes", limit=1000)
    assert (printed.stopped, len(printed.out)) == ("output", 1000)


def test_what_a_quick_tool_left_behind_does_not_hold_us() -> None:
    done = quick("sleep 600 & echo $!")
    os.kill(int(done.out), signal.SIGKILL)
    assert (done.status, done.stopped) == (0, "")


def test_a_program_is_found_on_the_path_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/bin/sh\n", encoding="utf-8")
    assert find_program("tool", str(tmp_path)) is None
    (tmp_path / "tool").chmod(0o755)
    assert find_program("tool", str(tmp_path)) == str(tmp_path / "tool")
    assert find_program("tool", "") is None


def test_importing_costs_nothing() -> None:
    heavy = "{'subprocess', 'selectors', 'threading', 'shutil', 'ctypes', 'tempfile'}"
    code = f"import sys, tallystick.system.process; print(sorted({heavy} & set(sys.modules)))"
    loaded = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True)
    assert loaded.stdout == "[]\n"


# What is kept of the output


@given(st.lists(st.binary(max_size=40)), st.integers(0, 60))
def test_all_output_is_counted_and_its_two_ends_are_kept(chunks: list[bytes], keep: int) -> None:
    stream = Kept(keep)
    for chunk in chunks:
        stream.add(chunk)
    whole = b"".join(chunks)
    assert (stream.total, stream.digest) == (len(whole), hashlib.sha256(whole).hexdigest())
    kept = stream.kept()
    if kept != whole:
        head, _, rest = kept.partition(b"\n[")
        count, _, tail = rest.partition(b" bytes left out here]\n")
        if b"\n[" not in whole:
            assert whole.startswith(head)
            assert whole.endswith(tail)
            assert len(head) + int(count) + len(tail) == len(whole)
        assert len(kept) <= max(keep, 8) + 40


@given(st.text(alphabet="aé€😀", max_size=60), st.integers(0, 40))
def test_no_character_is_cut_in_two(text: str, keep: int) -> None:
    stream = Kept(keep)
    stream.add(text.encode())
    assert set(stream.kept().decode("utf-8")) <= set("aé€😀\n[]0123456789 bytes left out here")
