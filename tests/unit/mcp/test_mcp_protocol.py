"""The rules of the protocol core, one table row or test each: bytes in, events and bytes out, in both eras."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tallystick.limits import MCP_LINE
from tallystick.mcp.messages import BATCH_MESSAGES
from tallystick.mcp.protocol import Call, Cancelled, Event, Protocol
from tallystick.mcp.toolset import ServerInfo, ToolResult, ToolSpec
from tallystick.mcp.versions import HANDSHAKE, REVISIONS, STATELESS

SERVER = ServerInfo("tallystick", "1.2.3", "Tallystick", "Mark what you proved.")
PLAIN: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
TOOLS = (
    ToolSpec("mark_pass", "Mark", "Marks.", PLAIN, None, {"readOnlyHint": False}),
    ToolSpec("shape", "Shape", "Shapes.", PLAIN, {"type": "object"}),
    ToolSpec("note", "", "Notes.", PLAIN),
)
ENVELOPE: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "9"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
IDENTITY = {"io.modelcontextprotocol/serverInfo": {"name": "tallystick", "title": "Tallystick", "version": "1.2.3"}}


class Wire:
    """A protocol with a client's hand: messages in, decoded lines out, events kept."""

    def __init__(self, version: str | None = None, page: int = 100, line_limit: int = MCP_LINE) -> None:
        self.protocol = Protocol(SERVER, lambda: TOOLS, page, line_limit)
        self.events: list[Event] = []
        self.version = version
        if version in HANDSHAKE:
            client = {"name": "old", "version": "1"}
            self.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client}, "init")

    def raw(self, data: bytes) -> list[Any]:
        self.events += self.protocol.receive(data)
        return self.out()

    def out(self) -> list[Any]:
        data = self.protocol.outgoing()
        self.protocol.sent(len(data))
        assert not data or data.endswith(b"\n")
        return [json.loads(line) for line in data.splitlines()]

    def send(self, message: Any) -> list[Any]:
        return self.raw(json.dumps(message).encode() + b"\n")

    def ask(self, method: str, params: dict[str, Any] | None = None, request_id: Any = 1) -> Any:
        """One request by the rules of this wire's era; its answer, or None where there is none yet."""
        params = dict(params or {})
        if self.version in STATELESS:
            params["_meta"] = ENVELOPE | params.get("_meta", {})
        found = self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})
        assert len(found) <= 1
        return found[0] if found else None

    def begin(self, name: str = "mark_pass", request_id: Any = 1, **params: Any) -> Call:
        assert self.ask("tools/call", {"name": name} | params, request_id) is None
        call = self.events[-1]
        assert isinstance(call, Call)
        return call


ERAS = [revision.version for revision in REVISIONS]


# The handshake.


@pytest.mark.parametrize("version", HANDSHAKE)
def test_initialize_settles_on_the_revision_asked_for(version: str) -> None:
    answer = Wire().ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}})
    assert answer["result"]["protocolVersion"] == version
    assert answer["result"]["capabilities"] == {"tools": {}}
    assert answer["result"]["instructions"] == "Mark what you proved."
    titled = version >= "2025-06-18"
    assert answer["result"]["serverInfo"] == {
        "name": "tallystick",
        "version": "1.2.3",
        **({"title": "Tallystick"} if titled else {}),
    }


@pytest.mark.parametrize("version", ["2026-07-28", "2024-10-07", "1", "", "9999-99-99"])
def test_any_other_revision_is_answered_with_the_newest_handshake(version: str) -> None:
    assert Wire().ask("initialize", {"protocolVersion": version})["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("params", [{}, {"protocolVersion": 1}, {"protocolVersion": None}])
def test_initialize_without_a_revision_is_refused(params: dict[str, Any]) -> None:
    assert Wire().ask("initialize", params)["error"]["code"] == -32602


def test_initialize_is_a_handshake_even_with_the_newer_envelope() -> None:
    answer = Wire().ask("initialize", {"protocolVersion": "2025-06-18", "_meta": ENVELOPE})
    assert answer["result"]["protocolVersion"] == "2025-06-18"


def test_a_server_without_instructions_sends_none() -> None:
    protocol = Protocol(ServerInfo("bare", "1"), lambda: ())
    line = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}
    protocol.receive(json.dumps(line).encode() + b"\n")
    result = json.loads(protocol.outgoing())["result"]
    assert "instructions" not in result
    assert result["serverInfo"] == {"name": "bare", "version": "1"}


@pytest.mark.parametrize(
    ("method", "code"),
    [("tools/list", -32600), ("tools/call", -32600), ("resources/list", -32601), ("nonsense", -32601), ("", -32601)],
)
def test_before_the_handshake(method: str, code: int) -> None:
    wire = Wire()
    assert wire.ask(method, {"name": "mark_pass"})["error"]["code"] == code
    assert wire.events == []


def test_ping_is_answered_before_the_handshake_and_after() -> None:
    assert Wire().ask("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert Wire("2025-11-25").ask("ping", request_id="p") == {"jsonrpc": "2.0", "id": "p", "result": {}}


# The newer era.


def test_discover_tells_revisions_capabilities_and_identity() -> None:
    assert Wire("2026-07-28").ask("server/discover")["result"] == {
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "instructions": "Mark what you proved.",
        "ttlMs": 3_600_000,
        "cacheScope": "private",
        "_meta": IDENTITY,
    }


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"io.modelcontextprotocol/protocolVersion": None}, -32602),
        ({"io.modelcontextprotocol/protocolVersion": 20260728}, -32602),
        ({"io.modelcontextprotocol/clientCapabilities": None}, -32602),
        ({"io.modelcontextprotocol/clientCapabilities": []}, -32602),
        ({"io.modelcontextprotocol/clientInfo": None}, None),
        ({"io.modelcontextprotocol/clientInfo": {"name": 3}}, None),
        ({"unknown/key": {"x": 1}}, None),
    ],
)
@pytest.mark.parametrize("method", ["server/discover", "tools/list"])
def test_the_required_fields_of_an_envelope(method: str, change: dict[str, Any], code: int | None) -> None:
    answer = Wire("2026-07-28").ask(method, {"_meta": change})
    assert answer.get("error", {}).get("code") == code


def test_a_bare_discover_names_what_is_missing() -> None:
    answer = Wire().ask("server/discover")
    assert answer["error"]["code"] == -32602
    assert "io.modelcontextprotocol/protocolVersion" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("requested", "supported"),
    [
        ("2027-01-01", ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]),
        ("1900-01-01", ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]),
        ("2025-11-25", ["2026-07-28"]),
    ],
)
def test_an_unsupported_revision_is_told_what_is_supported(requested: str, supported: list[str]) -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": requested}
    assert Wire("2026-07-28").ask("tools/list", {"_meta": meta})["error"] == {
        "code": -32022,
        "message": "Unsupported protocol version",
        "data": {"supported": supported, "requested": requested},
    }


@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "subscriptions/listen", "resources/list", "tools/x"])
def test_methods_that_the_newer_era_has_not_or_we_do_not_offer(method: str) -> None:
    assert Wire("2026-07-28").ask(method)["error"]["code"] == -32601


@pytest.mark.parametrize("method", ["logging/setLevel", "resources/list", "prompts/list", "completion/complete"])
def test_methods_that_we_do_not_declare_are_unknown_in_the_older_era(method: str) -> None:
    assert Wire("2025-11-25").ask(method)["error"]["code"] == -32601


def test_both_eras_on_one_connection() -> None:
    wire = Wire("2025-06-18")
    assert wire.begin(request_id=1).protocol_version == "2025-06-18"
    modern = wire.begin(request_id=2, _meta=ENVELOPE)
    assert (modern.protocol_version, modern.client_name) == ("2026-07-28", "modern")
    assert wire.begin(request_id=3).client_name == "old"


def test_each_request_of_the_newer_era_stands_alone() -> None:
    wire = Wire("2026-07-28")
    wire.ask("server/discover")
    wire.version = None
    assert wire.ask("tools/list")["error"]["code"] == -32600


# Tools.


@pytest.mark.parametrize("version", ERAS)
def test_a_tool_is_listed_as_its_revision_knows_tools(version: str) -> None:
    result = Wire(version).ask("tools/list")["result"]
    rich, hinted, alone = version >= "2025-06-18", version >= "2025-03-26", version >= "2026-07-28"
    mark, shape, note = result["tools"]
    assert (mark["name"], mark["description"], mark["inputSchema"]) == ("mark_pass", "Marks.", PLAIN)
    assert mark.get("title") == ("Mark" if rich else None)
    assert mark.get("annotations") == ({"readOnlyHint": False} if hinted else None)
    assert shape.get("outputSchema") == ({"type": "object"} if rich else None)
    assert set(note) == {"name", "description", "inputSchema"}
    assert "nextCursor" not in result
    assert (result.get("ttlMs"), result.get("cacheScope")) == ((60_000, "private") if alone else (None, None))
    assert result.get("resultType") == ("complete" if alone else None)


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize(("page", "sizes"), [(1, [1, 1, 1]), (2, [2, 1]), (3, [3]), (4, [3])])
def test_pages_hold_every_tool_once(version: str, page: int, sizes: list[int]) -> None:
    wire = Wire(version, page)
    names: list[str] = []
    found: list[int] = []
    params: dict[str, Any] = {}
    while True:
        result = wire.ask("tools/list", params)["result"]
        found.append(len(result["tools"]))
        names += [tool["name"] for tool in result["tools"]]
        if "nextCursor" not in result:
            break
        params = {"cursor": result["nextCursor"]}
    assert found == sizes
    assert names == ["mark_pass", "shape", "note"]


@pytest.mark.parametrize("cursor", ["nonsense", "", 3, {}, ["mark_pass"]])
def test_a_cursor_that_we_never_gave_is_refused(cursor: Any) -> None:
    assert Wire("2025-11-25").ask("tools/list", {"cursor": cursor})["error"]["code"] == -32602


def test_a_call_carries_everything_a_tool_may_know() -> None:
    wire = Wire("2026-07-28")
    meta = {"claudecode/toolUseId": "toolu_1", "progressToken": "p"}
    call = wire.begin("anything", "id-1", arguments={"a": 1}, _meta=meta)
    assert call == Call(
        number=1,
        request_id="id-1",
        name="anything",
        arguments={"a": 1},
        tool_use_id="toolu_1",
        client_name="modern",
        client_version="9",
        protocol_version="2026-07-28",
        size=call.size,
    )
    assert call.size > 100


@pytest.mark.parametrize("arguments", [{}, {"arguments": None}, {"arguments": {}}])
def test_missing_arguments_are_no_arguments(arguments: dict[str, Any]) -> None:
    assert Wire("2025-11-25").begin(**arguments).arguments == {}


@pytest.mark.parametrize("version", ERAS)
def test_a_result_is_shaped_for_its_revision(version: str) -> None:
    wire = Wire(version)
    wire.protocol.answer(wire.begin(request_id=5).number, ToolResult("kept", {"again": True}))
    (answer,) = wire.out()
    expected: dict[str, Any] = {"content": [{"type": "text", "text": "kept"}], "isError": False}
    if version >= "2025-06-18":
        expected["structuredContent"] = {"again": True}
    if version in STATELESS:
        expected |= {"resultType": "complete", "_meta": IDENTITY}
    assert answer == {"jsonrpc": "2.0", "id": 5, "result": expected}


@pytest.mark.parametrize(("name", "kept"), [("mark_pass", True), ("shape", False), ("unlisted", True)])
def test_a_failure_carries_structure_only_where_no_output_schema_forbids_it(name: str, kept: bool) -> None:
    wire = Wire("2025-11-25")
    wire.protocol.answer(wire.begin(name).number, ToolResult("no", {"error": {}}, is_error=True))
    (answer,) = wire.out()
    assert answer["result"]["isError"] is True
    assert ("structuredContent" in answer["result"]) is kept


@pytest.mark.parametrize("bad", [float("nan"), {1, 2}, b"x"])
def test_a_result_that_json_cannot_say_becomes_our_own_fault(bad: Any) -> None:
    wire = Wire("2025-11-25")
    wire.protocol.answer(wire.begin().number, ToolResult("kept", {"value": bad}))
    (answer,) = wire.out()
    assert answer["result"]["isError"] is True
    assert answer["result"]["content"][0]["text"].startswith("internal: ")


def test_a_result_with_bytes_that_are_no_text_keeps_the_line_whole() -> None:
    wire = Wire("2025-11-25")
    wire.protocol.answer(wire.begin().number, ToolResult("name \udcff and \u2028 and \n", {}))
    (answer,) = wire.out()
    assert answer["result"]["content"][0]["text"] == "name ? and \u2028 and \n"


def test_answers_may_come_in_any_order() -> None:
    wire = Wire("2025-11-25")
    calls = [wire.begin(request_id=request_id) for request_id in (1, "1", 2)]
    for call in reversed(calls):
        wire.protocol.answer(call.number, ToolResult(str(call.number)))
    assert [(answer["id"], answer["result"]["content"][0]["text"]) for answer in wire.out()] == [
        (2, "3"),
        ("1", "2"),
        (1, "1"),
    ]


def test_an_answer_is_given_once() -> None:
    wire = Wire("2025-11-25")
    call = wire.begin()
    wire.protocol.answer(call.number, ToolResult("one"))
    wire.protocol.answer(call.number, ToolResult("two"))
    assert len(wire.out()) == 1


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize("name", [None, 3, ["x"], {}])
def test_a_call_without_a_name_is_no_call(version: str, name: Any) -> None:
    wire = Wire(version)
    assert wire.ask("tools/call", {"name": name})["error"]["code"] == -32602
    assert wire.events == []


@pytest.mark.parametrize("arguments", ["{}", [], 3, True])
def test_arguments_of_a_wrong_type_are_told_to_the_model(arguments: Any) -> None:
    wire = Wire("2025-11-25")
    answer = wire.ask("tools/call", {"name": "mark_pass", "arguments": arguments})
    assert answer["result"]["isError"] is True
    assert "arguments must be an object" in answer["result"]["content"][0]["text"]
    assert wire.events == []


# Request ids in flight, cancellation, progress.


def test_a_request_id_in_flight_is_not_taken_twice() -> None:
    wire = Wire("2025-11-25")
    call = wire.begin(request_id=7)
    answer = wire.ask("tools/call", {"name": "note"}, 7)
    assert answer["error"]["code"] == -32600
    assert wire.events == [call]
    wire.protocol.answer(call.number, ToolResult("first"))
    assert wire.out()[0]["id"] == 7
    assert wire.begin(request_id=7).number != call.number


def test_a_cancelled_call_stays_without_an_answer() -> None:
    wire = Wire("2026-07-28")
    call = wire.begin(request_id="a", _meta={"progressToken": 1})
    assert wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}}) == []
    assert wire.events[-1] == Cancelled(call.number)
    wire.protocol.progress(call.number, 1, None, "")
    wire.protocol.answer(call.number, ToolResult("late"))
    assert wire.out() == []


def test_the_answer_of_a_cancelled_call_never_reaches_a_new_call_of_the_same_id() -> None:
    wire = Wire("2025-11-25")
    old = wire.begin(request_id=1)
    wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    new = wire.begin(request_id=1)
    wire.protocol.answer(old.number, ToolResult("old"))
    wire.protocol.answer(new.number, ToolResult("new"))
    assert [answer["result"]["content"][0]["text"] for answer in wire.out()] == ["new"]


@pytest.mark.parametrize("params", [{}, {"requestId": 2}, {"requestId": "1"}, {"requestId": None}, {"requestId": []}])
def test_cancelling_what_is_not_in_flight_is_passed_over(params: dict[str, Any]) -> None:
    wire = Wire("2025-11-25")
    call = wire.begin(request_id=1)
    assert wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}) == []
    assert wire.events == [call]


@pytest.mark.parametrize("version", ERAS)
def test_progress_goes_to_the_token_that_asked_for_it(version: str) -> None:
    wire = Wire(version)
    call = wire.begin(request_id=1, _meta={"progressToken": "tok"})
    wire.protocol.progress(call.number, 1, 4, "one of four")
    message = {"message": "one of four"} if version >= "2025-03-26" else {}
    assert wire.out() == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": "tok", "progress": 1, "total": 4} | message,
        }
    ]


def test_progress_only_grows_and_ends_with_the_answer() -> None:
    wire = Wire("2025-11-25")
    call = wire.begin(_meta={"progressToken": 0})
    for done in (1, 1, 0.5, float("nan"), float("inf"), 2):
        wire.protocol.progress(call.number, done, None, "")
    assert [line["params"]["progress"] for line in wire.out()] == [1, 2]
    wire.protocol.progress(call.number, 3, float("inf"), "")
    assert wire.out()[0]["params"] == {"progressToken": 0, "progress": 3}
    wire.protocol.answer(call.number, ToolResult("done"))
    wire.out()
    wire.protocol.progress(call.number, 9, None, "")
    assert wire.out() == []


@pytest.mark.parametrize("meta", [{}, {"progressToken": None}, {"progressToken": 1.5}, {"progressToken": True}])
def test_without_a_token_there_is_no_progress(meta: dict[str, Any]) -> None:
    wire = Wire("2025-11-25")
    wire.protocol.progress(wire.begin(_meta=meta).number, 1, None, "")
    assert wire.out() == []


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


# What waits for the client.


def test_bytes_stay_until_they_are_sent() -> None:
    wire = Wire()
    wire.protocol.receive(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 2)
    whole = wire.protocol.outgoing()
    assert wire.protocol.waiting == len(whole)
    assert wire.protocol.outgoing(5) == whole[:5]
    wire.protocol.sent(3)
    assert wire.protocol.outgoing() == whole[3:]
