"""The server for agents: how fast it is there, how large it is, and what a call costs once it runs.

Start to first answer is measured from outside, as a client sees it; the minimal server of the official TypeScript SDK
takes its turns in the same run where Node.js and its packages are there.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks import commands
from benchmarks.marks import Bare
from benchmarks.scene import SMALL, Scene, freeze, names, pass_many, scene
from benchmarks.table import Row, say
from benchmarks.timing import Sample, in_turn, took
from tallystick.agents.scripted.client import Client
from yard import node

PART = "The server for agents"
FEATURE = "checkout"
SIZES = (200, 10_000)
_ROUNDS, _CALLS = 25, 150
_START = "import sys; from tallystick.faces.cli.main import run; sys.exit(run())"
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
#: The first question of either era, and a first call.
_CLIENT = {"name": "bench", "version": "1"}
_HANDSHAKE = ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT})
_DISCOVER = ("server/discover", {"_meta": _META})
_CALL = ("tools/call", {"name": "list_failing", "arguments": {"task_id": FEATURE}, "_meta": _META})


def rows() -> list[Row]:
    """All rows of this part."""
    with scene() as at:
        filled(at, SIZES[0])
        starts = _starts(at)
        memory = _memory(at)
    found = [*starts, *memory]
    for size in SIZES:
        with scene() as at:
            filled(at, size)
            found += _warm(at, size)
    return found


def filled(at: Scene, size: int) -> None:
    """A ledger of `size` criteria, a quarter of them passed."""
    app = at.app()
    freeze(app, FEATURE, size)
    pass_many(at, FEATURE, names(size // 4), [at.write("proof/report.txt", SMALL)])


def first_answer(argv: list[str], at: Scene, folder: Path, question: tuple[str, object]) -> None:
    """Start a server, ask it one thing, wait for the answer, and let it end."""
    method, params = question
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n"
    server = subprocess.Popen(argv, cwd=folder, env=at.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(line)
    server.stdin.flush()
    assert b'"result"' in server.stdout.readline()
    # The end is not measured; it waits for nobody.
    server.kill()
    server.wait()
    server.stdin.close()
    server.stdout.close()


def _starts(at: Scene) -> list[Row]:
    ours = [sys.executable, "-c", _START, "mcp"]
    works: dict[str, Callable[[], object]] = {
        "": commands.starting(at),
        "handshake": partial(first_answer, ours, at, at.place, _HANDSHAKE),
        "discovery": partial(first_answer, ours, at, at.place, _DISCOVER),
        "a first call, N = 200": partial(first_answer, ours, at, at.place, _CALL),
    }
    theirs = not node.lacks() and node.fetched()
    if theirs:
        program = Path(__file__).with_name("minimal_server.mjs").read_text(encoding="utf-8")
        argv = ["node", "--input-type=module", "--eval", program]
        works["theirs"] = partial(first_answer, argv, at, node.FOLDER, _HANDSHAKE)
    else:
        say("the official SDK is not compared: python3 dev.py bench fetches the packages for Node.js")
    for work in works.values():
        work()  # compiles what is not compiled yet, and brings the files into memory
    times = in_turn(works, _ROUNDS)
    start, official = times.pop(""), times.pop("theirs", None)
    found = [
        Row(PART, f"start to {what} / python -c pass", one.median / start.median, bound, f"{one} against {start}")
        for (what, one), bound in zip(times.items(), (5, 5, None), strict=True)
    ]
    if official is not None:
        mine = times["handshake"]
        ratio = official.median / mine.median
        beside = f"{official} against {mine}; Node.js {node.node_version()}"
        found.append(Row(PART, "official TypeScript SDK's start / ours", ratio, 4, beside, at_least=True))
    return found


def _memory(at: Scene) -> list[Row]:
    """Resident memory after the first answers; nothing where /proc is not."""
    with connected(at, "-S") as client:
        client.list_tools()
        met = resident(client.pid)
        client.call("list_failing", {"task_id": FEATURE})
        client.call("mark_pass", {"task_id": FEATURE, "feature_id": "AC199", "evidence_ref": "proof/report.txt"})
        used = resident(client.pid)
    if not met:
        return []
    beside = "a Python without site packages"
    return [
        Row(PART, "resident memory after the first answer, MB", met / 1e6, 20, beside),
        Row(PART, "resident memory after a read and a mark, MB", used / 1e6, 20, f"{beside}, N = 200"),
    ]


def _warm(at: Scene, size: int) -> list[Row]:
    """Calls of a running server, each in turn with a bare flush; of a mark the flush is taken off."""
    open_ = iter(names(size - size // 4, size // 4))
    bare = Bare(at.folder / "bare", b"x" * 1024, 0)
    flushes: list[float] = []
    marks: list[float] = []
    with connected(at) as client:

        def mark() -> None:
            name = next(open_)
            given = {"task_id": FEATURE, "feature_id": name, "evidence_ref": "proof/report.txt"}
            assert not client.call("mark_pass", given).is_error

        calls = {
            "list_failing": partial(client.call, "list_failing", {"task_id": FEATURE}),
            "get_feature": partial(client.call, "get_feature", {"task_id": FEATURE, "feature_id": "AC0"}),
            "brief": partial(client.call, "brief", {"feature": FEATURE}),
        }
        mark()
        for work in calls.values():
            work()
        reads = in_turn(calls, _CALLS)
        for _ in range(min(_CALLS, size - size // 4 - 1)):
            flushes.append(took(bare.append))
            marks.append(took(mark))
    bare.close()
    flush, marked = Sample(tuple(flushes)), Sample(tuple(marks))
    over = (marked.median - flush.median) * 1000
    bound = 3 if size == SIZES[0] else None
    found = [Row(PART, f"mark_pass less one flush, ms, N = {size:,}", over, bound, f"{marked} against {flush}")]
    return found + [
        Row(PART, f"{name}, ms, N = {size:,}", one.median * 1000, bound, f"{one}, from outside")
        for name, one in reads.items()
    ]


def connected(at: Scene, *options: str) -> Client:
    """A connection to a server of this scene; `options` are Python's own."""
    return Client([sys.executable, *options, "-c", _START, "mcp"], cwd=str(at.place), env=at.environment())


def resident(pid: int) -> int:
    """The resident memory of a process in bytes, 0 where it cannot be told."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return int(status.split("VmRSS:")[1].split()[0]) * 1024
