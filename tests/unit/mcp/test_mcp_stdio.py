"""The stdio carrier, with a real process and real pipes: what is on the wire, what runs beside what, and every end."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.agents.scripted.client import Client, ServerGone
from tallystick.errors import Refusal
from tallystick.limits import MCP_LINE
from tallystick.mcp import stdio
from tests.unit.mcp.tiny_toolset import SERVER, TinyToolset

ARGV = [sys.executable, str(Path(__file__).with_name("tiny_toolset.py"))]
#: Only a server that hangs ever meets this; no test depends on how long anything takes.
BACKSTOP_S = 60


class Log:
    """The named pipe that the tiny tool set notes events in: reading waits for the next one."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self.seen: list[str] = []
        self._fd = os.open(path, os.O_RDWR)  # also writing, so that it never ends between two notes
        self._rest = b""

    def next(self) -> str:
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self._fd], [], [], BACKSTOP_S)
            assert ready, f"nothing was noted after {self.seen}"
            self._rest += os.read(self._fd, 65_536)
        line, self._rest = self._rest.split(b"\n", 1)
        self.seen.append(line.decode())
        return self.seen[-1]

    def until(self, beginning: str) -> str:
        while not self.next().startswith(beginning):
            pass
        return self.seen[-1]

    def close(self) -> None:
        os.close(self._fd)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    found = Log(tmp_path / "log")
    yield found
    found.close()


def start(log: Log | None = None, era: str = "auto") -> Client:
    env = dict(os.environ) | ({"TINY_LOG": str(log.path)} if log else {})
    return Client(ARGV, env=env, era=era, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("era", ["auto", "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_a_client_of_every_revision_lists_and_calls(era: str) -> None:
    with start(era=era) as client:
        assert client.version == ("2026-07-28" if era == "auto" else era)
        assert [tool["name"] for tool in client.list_tools()][:2] == ["echo", "wait"]
        assert client.call("echo", {"text": "hällo"}).text == "hällo"
        assert client.call("refuse", {}).is_error
        assert client.call("nowhere", {}).text.startswith("role.denied: nowhere is not offered here")


def test_the_tools_are_told_who_calls(log: Log) -> None:
    with start(log) as client:
        pending = client.begin("echo", {"text": "x"}, tool_use_id="toolu_7")
        assert pending.answer().text == "x"
        assert log.next() == f"echo {pending.id} tallystick-scripted session-1 toolu_7"
        log.until("idle")


def test_nothing_but_protocol_lines_reach_the_client_whatever_is_printed() -> None:
    with start() as client:
        assert not client.call("print", {}).is_error
        assert client.call("echo", {"text": "next"}).text == "next"
        assert client.notes == []


def test_what_is_printed_goes_to_stderr_and_children_read_no_protocol(tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("w+b") as file:
        with Client(ARGV, stderr=file.fileno()) as client:
            client.call("print", {})
        file.seek(0)
        assert file.read() == b"this is no protocol line\nnor is this\nthe child read ''\n"


def test_a_server_without_stderr_serves() -> None:
    shell = ["/bin/sh", "-c", 'exec "$0" "$@" 2>&-', *ARGV]
    with Client(shell) as client:
        assert not client.call("print", {}).is_error
        assert client.call("fail", {}).is_error


def test_quick_calls_are_answered_while_a_slow_one_runs(tmp_path: Path) -> None:
    with start() as client:
        slow = client.begin("wait", {"file": str(tmp_path / "go")}, progress=True)
        answers = client.call_all([("echo", {"text": str(number)}) for number in range(50)])
        assert [answer.text for answer in answers] == [str(number) for number in range(50)]
        (tmp_path / "go").touch()
        assert slow.answer().text == "waited"
        told = [note["params"]["progress"] for note in client.notes]
        assert told == sorted(set(told))


def test_slow_calls_run_beside_one_another(log: Log, tmp_path: Path) -> None:
    with start(log) as client:
        calls = client.begin_all([("wait", {"file": str(tmp_path / "go")})] * 10)
        for _ in calls:
            log.until("wait")
        (tmp_path / "go").touch()
        assert {call.answer().text for call in calls} == {"waited"}
        log.until("idle")


def test_quick_calls_run_in_the_order_they_came(log: Log) -> None:
    with start(log) as client:
        calls = client.begin_all([("echo", {"text": str(number)}) for number in range(100)])
        begun: list[int] = []
        while len(begun) < 100:
            if log.next() != "idle":
                begun.append(int(log.seen[-1].split()[1]))
        assert begun == [call.id for call in calls]


def test_more_calls_at_once_than_are_held_are_all_answered() -> None:
    with start() as client:
        many = 5 * stdio.CALLS
        answers = client.call_all([("echo", {"text": str(number)}) for number in range(many)])
        assert [answer.text for answer in answers] == [str(number) for number in range(many)]


def test_work_is_put_off_until_the_answers_are_given(log: Log) -> None:
    with start(log) as client:
        client.call_all([("echo", {"text": "x"})] * 100)
        assert log.until("idle") == "idle"  # it comes without anything else happening on the wire


def test_a_cancelled_call_is_told_so_and_stays_without_an_answer(log: Log, tmp_path: Path) -> None:
    with start(log) as client:
        slow = client.begin("wait", {"file": str(tmp_path / "never")})
        log.until("wait")
        client.cancel(slow)
        log.until("cancelled")
        assert client.call("echo", {"text": "after"}).text == "after"
        assert [note for note in client.notes if note.get("id") == slow.id] == []
        log.until("idle")


@pytest.mark.parametrize("size", [MCP_LINE - 1_000, MCP_LINE + 1, 10_000_000])
def test_a_long_line_is_answered_once_and_the_server_lives(size: int) -> None:
    with start() as client:
        answer = client.call("echo", {"text": "x" * size})
        assert answer.is_error is (size > MCP_LINE)
        assert answer.text.startswith("input.too_large: the message has" if size > MCP_LINE else "xxx")
        assert client.call("echo", {"text": "after"}).text == "after"


def test_broken_lines_do_not_end_the_conversation() -> None:
    with start() as client:
        client.send_raw(b"nonsense\n\n\xff\xfe\n[1]\n{}\n" + b'{"half":\n')
        assert client.call("echo", {"text": "after"}).text == "after"
        assert [note["error"]["code"] for note in client.notes] == [-32700, -32700, -32600, -32600, -32700]


# The ends.


def test_at_the_end_of_stdin_everything_sent_before_is_answered(log: Log) -> None:
    client = start(log)
    calls = client.begin_all([("echo", {"text": str(number)}) for number in range(100)])
    assert client.close() == 0
    assert [call.answer().text for call in calls] == [str(number) for number in range(100)]
    log.until("close")
    assert log.seen[-2:] == ["idle", "close"]


def test_a_whole_message_at_the_end_needs_no_line_end(log: Log) -> None:
    client = start(log, "2025-11-25")
    client.send_raw(b'{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"shape"}}')
    assert client.close() == 0
    assert log.next().startswith("shape 99")
    assert client.notes[0]["result"]["structuredContent"] == {"n": 3}


def test_the_end_of_stdin_stops_a_slow_call(log: Log, tmp_path: Path) -> None:
    client = start(log)
    slow = client.begin("wait", {"file": str(tmp_path / "never")})
    log.until("wait")
    assert client.close() == 0
    assert slow.answer().text == "cancelled"
    log.until("close")


def test_a_half_line_at_the_end_does_nothing(log: Log) -> None:
    client = start(log)
    client.send_raw(b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","argum')
    assert client.close() == 0
    assert log.next() == "close"


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_clean(log: Log, tmp_path: Path, number: int, status: int) -> None:
    client = start(log)
    client.call("echo", {"text": "x"})
    slow = client.begin("wait", {"file": str(tmp_path / "never")})
    log.until("wait")
    client.signal(number)
    assert client.wait() == status
    assert slow.answer().text == "cancelled"
    log.until("close")
    assert "idle" in log.seen


def test_a_second_signal_does_not_wait_for_a_call_that_does_not_stop(log: Log, tmp_path: Path) -> None:
    client = start(log)
    slow = client.begin("stubborn", {"file": str(tmp_path / "never")})
    log.until("stubborn")
    client.signal(signal.SIGTERM)
    client.signal(signal.SIGINT)
    assert client.wait() in (143, 130)
    log.until("close")
    with pytest.raises(ServerGone):
        slow.answer()


def test_a_client_that_is_gone_ends_it(log: Log) -> None:
    env = dict(os.environ) | {"TINY_LOG": str(log.path)}
    reading, writing = os.pipe()
    server = subprocess.Popen(ARGV, env=env, stdin=subprocess.PIPE, stdout=writing, stderr=subprocess.DEVNULL)
    assert server.stdin is not None
    os.close(writing)
    os.close(reading)
    server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    server.stdin.flush()
    assert server.wait(BACKSTOP_S) == 0
    server.stdin.close()
    assert log.next() == "close"


def test_a_client_that_stops_reading_neither_wedges_it_nor_fills_its_memory() -> None:
    server = subprocess.Popen(ARGV, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert server.stdin is not None
    assert server.stdout is not None
    os.set_blocking(server.stdin.fileno(), False)
    line = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n'
    sent = 0
    # It reads on for as long as its own bound allows, then no more: the pipe stays full.
    while select.select([], [server.stdin], [], 1.0)[1]:
        sent += os.write(server.stdin.fileno(), line * 20)
        assert sent < 50_000_000, "it reads without end although nobody reads its answers"
    status = Path(f"/proc/{server.pid}/status")
    if status.exists():
        assert int(status.read_text().split("VmRSS:")[1].split()[0]) < 40_000
    # What was sent is answered once somebody reads.
    os.set_blocking(server.stdin.fileno(), True)
    server.stdin.close()
    answers = server.stdout.read()
    assert server.wait(BACKSTOP_S) == 0
    assert answers.count(b"\n") >= sent // len(line)
    server.stdout.close()


def test_a_signal_reaches_a_server_whose_client_stopped_reading(log: Log) -> None:
    env = dict(os.environ) | {"TINY_LOG": str(log.path)}
    server = subprocess.Popen(ARGV, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert server.stdin is not None
    assert server.stdout is not None
    meta = (
        b'"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        b'"io.modelcontextprotocol/clientCapabilities":{}}'
    )
    text = b"x" * 2_000_000
    server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"')
    server.stdin.write(text + b'"},' + meta + b"}}\n")
    server.stdin.flush()
    log.until("idle")  # answered, and much more than a pipe holds
    server.send_signal(signal.SIGTERM)
    server.send_signal(signal.SIGINT)
    assert server.wait(BACKSTOP_S) in (143, 130)
    server.stdin.close()
    server.stdout.close()


def test_a_call_in_the_middle_of_which_the_server_is_killed_is_reported_as_lost(log: Log, tmp_path: Path) -> None:
    client = start(log)
    slow = client.begin("wait", {"file": str(tmp_path / "never")})
    log.until("wait")
    assert client.kill() == -signal.SIGKILL
    with pytest.raises(ServerGone):
        slow.answer()


class Grumbling(TinyToolset):
    """Its work after the answers and its end fail."""

    def idle(self) -> None:
        raise self.error

    def close(self) -> None:
        raise Refusal("disk.full", "no room left for the view")

    error: Exception = Refusal("disk.full", "no room left for the view")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Refusal("disk.full", "no room left for the view"), "work after the answers: disk.full: no room left"),
        (RuntimeError("odd"), "work after the answers: RuntimeError: odd ("),
    ],
)
def test_work_after_the_answers_that_fails_is_told_on_stderr_only(
    error: Exception, told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    tools = Grumbling(None)
    tools.error = error
    reading, sending = os.pipe()
    receiving, writing = os.pipe()
    os.write(sending, b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n')
    os.write(sending, b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"shape"}}\n')
    os.close(sending)
    assert stdio.Carrier(tools, SERVER, "s", reading, writing).run() == 0
    os.close(writing)
    assert b'"id":2,"result":{"content":[{"type":"text","text":"n is 3"}]' in os.read(receiving, 65_536)
    os.close(reading)
    os.close(receiving)
    assert told in capfd.readouterr().err


#: What no start may pay for: each of these costs a good part of what the interpreter itself costs.
HEAVY = ["argparse", "asyncio", "dataclasses", "inspect", "logging", "pathlib", "queue", "shutil", "socket"]
HEAVY += ["subprocess", "tempfile", "threading", "unittest", "uuid"]


def test_what_a_start_loads() -> None:
    program = f"import sys, tallystick.mcp.stdio; print([name for name in {HEAVY} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
