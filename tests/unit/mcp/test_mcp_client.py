"""The scripted client: both eras, the fall-back, protocol errors, and servers that end or stay silent."""

from __future__ import annotations

import sys

import pytest

from tallystick.agents.scripted.client import Client, ProtocolFault, ServerGone

#: A server of the older era only: any first question but `initialize` is an error to it.
OLD = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or message["method"] == "silence":
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    params = message["params"]
    if message["method"] == "initialize":
        answer["result"] = {"protocolVersion": params["protocolVersion"], "capabilities": {}, "serverInfo": {}}
    elif message["method"] == "tools/list":
        tools = [{"name": "a"}, {"name": "b"}]
        at = int(params.get("cursor", 0))
        answer["result"] = {"tools": tools[at : at + 1]} | ({} if at else {"nextCursor": "1"})
    elif message["method"] == "tools/call" and params["name"] == "die":
        sys.exit(3)
    elif message["method"] == "tools/call":
        blocks = [{"type": "text", "text": "one"}, {"type": "image", "data": ""}, {"type": "text", "text": "two"}]
        answer["result"] = {"content": blocks, "meta": params.get("_meta")}
    else:
        answer["error"] = {"code": -32601, "message": "no such method", "data": message["method"]}
    print("noise that is no JSON")
    print(json.dumps(answer), flush=True)
"""


def old(era: str = "auto") -> Client:
    return Client([sys.executable, "-c", OLD], era=era)


def test_it_falls_back_to_the_handshake() -> None:
    with old() as client:
        assert client.version == "2025-11-25"
        assert client.call("any", {}).text == "one\ntwo"


def test_a_revision_asked_for_is_not_fallen_back_from() -> None:
    with pytest.raises(ProtocolFault, match=r"no such method \(-32601\)") as caught:
        old("2026-07-28")
    assert caught.value.data == "server/discover"


def test_all_pages_are_listed() -> None:
    with old("2024-11-05") as client:
        assert client.list_tools() == [{"name": "a"}, {"name": "b"}]


def test_only_the_meta_of_its_era_is_sent() -> None:
    with old() as client:
        assert client.call("any", {}).raw["meta"] is None
        assert client.begin("any", {}, tool_use_id="t").answer().raw["meta"] == {"claudecode/toolUseId": "t"}


def test_what_answers_nothing_is_kept_as_a_note() -> None:
    with old() as client:
        client.call("any", {})
        assert all("unreadable" in note for note in client.notes)
        assert client.notes


def test_a_server_that_ends_leaves_nobody_waiting() -> None:
    client = old()
    with pytest.raises(ServerGone, match="ended before"):
        client.call("die", {})
    assert client.wait() == 3
    with pytest.raises(ServerGone):
        client.call("any", {})


def test_an_answer_that_never_comes_is_given_up() -> None:
    with old() as client, pytest.raises(ServerGone, match="no answer"):
        client.request("silence", {}).body(timeout=0.01)


def test_asking_a_pending_twice_gives_the_same() -> None:
    with old() as client:
        pending = client.begin("any", {})
        assert pending.answer() == pending.answer()


def test_a_program_that_is_not_there_is_an_error_of_the_system() -> None:
    with pytest.raises(FileNotFoundError):
        Client(["/nowhere/tallystick"])
