"""What the protocol core answers to messages that are none, to broken lines and to batches: one clear error, once."""

from __future__ import annotations

from typing import Any

import pytest

from tallystick.limits import MCP_LINE
from tallystick.mcp.messages import BATCH_MESSAGES
from tallystick.mcp.protocol import Call
from tallystick.mcp.toolset import ToolResult
from tests.unit.mcp.wire import ERAS, Wire

# Bad messages.

BAD: list[tuple[str, Any, int]] = [
    ("this is not JSON", None, -32700),
    ('{"jsonrpc":"2.0","id":3,"method":"ping"', 3, -32700),
    ('{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":NaN}}', 3, -32700),
    ('{"jsonrpc":"2.0","id":3,"method":"ping","method":"ping"}', 3, -32700),
    ('{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":"\\ud800"}}', 3, -32700),
    ('{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":' + "[" * 65 + "]" * 65 + "}}", 3, -32700),
    ('{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":' + "[" * 50_000 + "]" * 50_000 + "}}", 3, -32700),
    ('{"jsonrpc":"2.0","id":3,"method":"ping"}{"jsonrpc":"2.0","id":4,"method":"ping"}', 3, -32700),
    ("3", None, -32600),
    ('"ping"', None, -32600),
    ("null", None, -32600),
    ("{}", None, -32600),
    ('{"jsonrpc":"2.0","id":3}', 3, -32600),
    ('{"jsonrpc":"2.0","id":3,"method":4}', 3, -32600),
    ('{"jsonrpc":"1.0","id":3,"method":"ping"}', 3, -32600),
    ('{"id":3,"method":"ping"}', 3, -32600),
    ('{"jsonrpc":"2.0","id":null,"method":"ping"}', None, -32600),
    ('{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, -32600),
    ('{"jsonrpc":"2.0","id":true,"method":"ping"}', None, -32600),
    ('{"jsonrpc":"2.0","id":[1],"method":"ping"}', None, -32600),
    ('{"jsonrpc":"2.0","id":3,"method":"ping","params":[1]}', 3, -32602),
    ('{"jsonrpc":"2.0","id":3,"method":"ping","params":"x"}', 3, -32602),
    ("[]", None, -32600),
    ('[{"jsonrpc":"2.0","id":3,"method":"ping"}]', None, -32600),
]


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25", "2024-11-05"])
@pytest.mark.parametrize(("line", "request_id", "code"), BAD, ids=range(len(BAD)))
def test_a_bad_line_gets_one_clear_error_and_the_next_line_its_answer(
    version: str, line: str, request_id: Any, code: int
) -> None:
    wire = Wire(version)
    (answer,) = wire.raw(line.encode() + b"\n")
    assert (answer["id"], answer["error"]["code"]) == (request_id, code)
    assert answer["error"]["message"]
    assert "\n" not in answer["error"]["message"]
    assert wire.ask("tools/list")["result"]["tools"]
    assert wire.events == []


def test_bytes_that_are_no_utf8() -> None:
    (answer,) = Wire().raw(b'{"jsonrpc":"2.0","id":3,"method":"\xff"}\n')
    assert (answer["id"], answer["error"]["code"]) == (3, -32700)


@pytest.mark.parametrize("line", [b"\n", b"  \n", b"\r\n", b"\n\n\n"])
def test_blank_lines_are_passed_over(line: bytes) -> None:
    assert Wire().raw(line) == []


@pytest.mark.parametrize("end", [b"\r\n", b" \n", b"\t\n"])
def test_blanks_before_the_line_end_do_no_harm(end: bytes) -> None:
    assert Wire().raw(b'{"jsonrpc":"2.0","id":3,"method":"ping"}' + end)[0]["result"] == {}


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed", "params": None},
        {"jsonrpc": "2.0", "method": "nonsense"},
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "mark_pass"}},
        {"jsonrpc": "2.0", "id": 9, "result": {}},
        {"jsonrpc": "2.0", "id": 9, "error": {"code": 1, "message": "x"}},
    ],
)
def test_notifications_and_responses_are_never_answered(message: dict[str, Any]) -> None:
    wire = Wire("2025-11-25")
    assert wire.send(message) == []
    assert wire.events == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"arguments":{"x":"\\udfff"}}}', "input.invalid"),
        ('{"method":"tools/call","params":{"x":' + "[" * 99 + "]" * 99 + '},"jsonrpc":"2.0","id":3}', "input.invalid"),
        ('{"jsonrpc":"2.0","id":3,"method":"tools/call","params":"' + "x" * 99_999 + '"}', "input.too_large"),
        ('{"method":"tools/call","params":{"x":"' + "x" * 99_999 + '"},"jsonrpc":"2.0","id":3}', "input.too_large"),
    ],
)
@pytest.mark.parametrize("version", ["2026-07-28", "2025-06-18", None])
def test_a_call_that_cannot_be_read_is_answered_to_the_model(version: str | None, line: str, code: str) -> None:
    wire = Wire(version, line_limit=50_000)
    (answer,) = wire.raw(line.encode() + b"\n")
    assert answer["id"] == 3
    assert answer["result"]["isError"] is True
    assert answer["result"]["structuredContent"]["error"]["code"] == code
    assert answer["result"]["content"][0]["text"].startswith(code)
    assert wire.events == []


def test_a_line_over_the_limit_without_an_id_gets_an_error_that_names_the_limit() -> None:
    (answer,) = Wire().raw(b"x" * (MCP_LINE + 1) + b"\n")
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert str(MCP_LINE) in answer["error"]["message"]


def test_a_broken_line_never_answers_for_a_call_in_flight() -> None:
    wire = Wire("2025-11-25")
    wire.begin(request_id=3)
    (answer,) = wire.raw(b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{\n')
    assert answer["id"] is None


def test_a_whole_message_at_the_end_counts_and_half_a_one_does_not() -> None:
    wire = Wire("2025-11-25")
    wire.raw(b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"note"}}')
    assert wire.events == []
    assert [event.name for event in wire.protocol.end() if isinstance(event, Call)] == ["note"]
    wire.raw(b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"no')
    assert wire.protocol.end() == []
    assert (wire.events, wire.out()[0]["result"]["isError"]) == ([], True)


# Batches: revision 2025-03-26 only.


def _ping(request_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": "ping"}


@pytest.mark.parametrize("version", [None, *(version for version in ERAS if version != "2025-03-26")])
def test_no_other_revision_has_batches(version: str | None) -> None:
    wire = Wire(version)
    (answer,) = wire.send([_ping(1), {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "note"}}])
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    assert wire.events == []


def test_a_batch_is_answered_as_one_when_its_last_answer_is_there() -> None:
    wire = Wire("2025-03-26")
    call = {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "note"}}
    quiet = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert wire.send([_ping(1), call | {"id": 2}, quiet, 3, call | {"id": 4}, _ping(None)]) == []
    first, second = (event for event in wire.events if isinstance(event, Call))
    wire.protocol.answer(second.number, ToolResult("second"))
    assert wire.out() == []
    wire.protocol.answer(first.number, ToolResult("first"))
    (answers,) = wire.out()
    assert [answer["id"] for answer in answers] == [1, None, None, 4, 2]


def test_a_batch_does_not_wait_for_a_cancelled_call() -> None:
    wire = Wire("2025-03-26")
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "note"}}
    assert wire.send([_ping(1), call]) == []
    (answers,) = wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
    assert [answer["id"] for answer in answers] == [1]


def test_a_batch_of_notifications_is_not_answered() -> None:
    assert Wire("2025-03-26").send([{"jsonrpc": "2.0", "method": "notifications/initialized"}] * 3) == []


def test_initialize_is_no_part_of_a_batch() -> None:
    initialize = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
    (answers,) = Wire("2025-03-26").send([initialize, _ping(2)])
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32600, None]


def test_one_id_twice_in_a_batch() -> None:
    wire = Wire("2025-03-26")
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "note"}}
    assert wire.send([call, call]) == []
    (event,) = wire.events
    assert isinstance(event, Call)
    wire.protocol.answer(event.number, ToolResult("once"))
    (answers,) = wire.out()
    assert [answer["id"] for answer in answers] == [2, 2]
    assert [("error" in answer) for answer in answers] == [True, False]


def test_a_batch_is_bounded() -> None:
    wire = Wire("2025-03-26")
    assert len(wire.send([_ping(number) for number in range(BATCH_MESSAGES)])[0]) == BATCH_MESSAGES
    assert wire.send([_ping(number) for number in range(BATCH_MESSAGES + 1)])[0]["error"]["code"] == -32600
