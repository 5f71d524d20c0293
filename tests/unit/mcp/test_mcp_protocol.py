"""The rules of the protocol core, one table row or test each: bytes in, events and bytes out, in both eras."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tallystick.mcp.protocol import Call, Cancelled, Protocol
from tallystick.mcp.toolset import ServerInfo, ToolResult
from tallystick.mcp.versions import HANDSHAKE, STATELESS
from tests.unit.mcp.wire import ENVELOPE, ERAS, IDENTITY, PLAIN, Wire

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


# What waits for the client.


def test_bytes_stay_until_they_are_sent() -> None:
    wire = Wire()
    wire.protocol.receive(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 2)
    whole = wire.protocol.outgoing()
    assert wire.protocol.waiting == len(whole)
    assert wire.protocol.outgoing(5) == whole[:5]
    wire.protocol.sent(3)
    assert wire.protocol.outgoing() == whole[3:]
