"""Whatever bytes come in, in whatever pieces, the protocol lives, says only whole JSON lines, and answers on."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tallystick.mcp.protocol import Call, Cancelled, Event, Protocol
from tallystick.mcp.toolset import ServerInfo, ToolResult, ToolSpec

SPEC = ToolSpec("note", "Note", "Notes.", {"type": "object", "properties": {}}, None, {})
HELLO = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {"protocolVersion": "2025-03-26"}}
META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | st.just(META),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=10,
)
_METHODS = st.sampled_from(
    ["initialize", "ping", "server/discover", "tools/list", "tools/call", "notifications/cancelled", "x"]
)
_PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.just("note") | _JSON,
        "arguments": _JSON,
        "cursor": _JSON,
        "requestId": st.integers(0, 3) | _JSON,
        "protocolVersion": st.sampled_from(["2025-03-26", "2025-11-25", "x"]) | _JSON,
        "_meta": st.just(META) | _JSON,
    },
)
_MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | _JSON,
        "id": st.integers(0, 3) | _JSON,
        "method": _METHODS | _JSON,
        "params": _PARAMS | _JSON,
        "result": _JSON,
    },
)
_LINE = (_MESSAGE | st.lists(_MESSAGE, max_size=4) | _JSON).map(lambda value: json.dumps(value).encode())
_STREAM = st.lists(_LINE | st.binary(max_size=60), max_size=12).map(lambda lines: b"\n".join(lines) + b"\n")


def _talk(stream: bytes, cuts: list[int]) -> tuple[bytes, list[Event]]:
    """Feeds `stream` cut at `cuts`, answers every second call at once and the others at the end."""
    protocol = Protocol(ServerInfo("tallystick", "1"), lambda: (SPEC,), line_limit=500)
    protocol.receive(json.dumps(HELLO).encode() + b"\n")
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    events: list[Event] = []
    for start, end in pairwise(places):
        events += protocol.receive(stream[start:end])
    events += protocol.end()
    for event in events:
        if isinstance(event, Call):
            protocol.progress(event.number, 1, 2, "half")
            protocol.answer(event.number, ToolResult("noted", {}))
    return protocol.outgoing(), events


@given(_STREAM)
def test_nothing_kills_it_and_every_line_it_says_is_json(stream: bytes) -> None:
    said, events = _talk(stream + b'\n{"jsonrpc":"2.0","id":"last","method":"ping"}\n', [])
    lines = [json.loads(line) for line in said.splitlines()]
    assert {"jsonrpc": "2.0", "id": "last", "result": {}} in lines
    for line in lines:
        for message in line if isinstance(line, list) else [line]:
            assert message["jsonrpc"] == "2.0"
            assert ("result" in message) + ("error" in message) + ("method" in message) == 1
    assert all(isinstance(event, Cancelled) or isinstance(event.arguments, dict) for event in events)


@given(_STREAM, st.lists(st.integers(0, 1500), max_size=20))
def test_the_pieces_do_not_matter(stream: bytes, cuts: list[int]) -> None:
    assert _talk(stream, cuts) == _talk(stream, [])


@given(st.binary(max_size=400))
def test_bytes_of_any_kind(stream: bytes) -> None:
    said, _ = _talk(stream, [])
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in said.splitlines())
