"""Holds that nothing a client writes, leaves out or leaves unread ends the server or harms the ledger: after each of
these the next call is answered and the ledger is whole (P2, P15)."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Sequence
from typing import Any

import pytest

from tallystick.agents.scripted.client import Client, ProtocolFault
from tallystick.limits import MCP_LINE
from tests.faces.mcp.shop import BACKSTOP_S, FEATURE, Shop, accepted, criterion, freeze, get, mark, refused, until
from tests.real.project import PROOF, criteria

NAMES = criteria(10)
LAST = NAMES[-1]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
}


def line(request_id: Any, method: str, **params: Any) -> bytes:
    """One request of the newer era as a line."""
    whole = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": META}}
    return json.dumps(whole).encode() + b"\n"


def call(request_id: Any, tool: str, arguments: Any) -> bytes:
    """A tool call as a line."""
    return line(request_id, "tools/call", name=tool, arguments=arguments)


def answers(client: Client, names: Sequence[Any]) -> list[dict[str, Any]]:
    """The answers to lines that were written raw, in the order of `names`."""

    def found() -> dict[Any, dict[str, Any]]:
        return {note.get("id"): note for note in list(client.notes)}

    until(lambda: all(name in found() for name in names))
    return [found()[name] for name in names]


def alive(shop: Shop, client: Client) -> None:
    """The server answers, marks the last criterion, ends well, and the ledger is whole."""
    accepted(client.call("list_failing", {"task_id": FEATURE}))
    accepted(client.call(*mark(LAST)))
    assert client.close() == 0
    assert LAST in shop.viewed()
    shop.whole()


@pytest.fixture
def opened(shop: Shop) -> Client:
    """A connection to a ledger of ten criteria."""
    client = shop.connect()
    freeze(client, *map(criterion, NAMES))
    return client


GARBAGE = {
    "no JSON": b"nonsense\n",
    "a half line": b'{"jsonrpc":"2.0","id":7,"method":"tools/call","par\n',
    "nothing": b"\n\n  \n\t\n",
    "NUL": b"\0\0\0\n",
    "no UTF-8": b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\xff\xfe"}}\n',
    "a number": b"7\n",
    "an empty object": b"{}\n",
    "an empty array": b"[]\n",
    "a batch": b'[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","id":8,"method":"ping"}]\n',
    "NaN": b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":NaN}}\n',
    "a key twice": b'{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}\n',
    "too deep": b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":' + b"[" * 5000 + b"]" * 5000 + b"}}\n",
    "another version": b'{"jsonrpc":"1.0","id":7,"method":"ping"}\n',
    "no method": b'{"jsonrpc":"2.0","id":7}\n',
    "a method that is none": line(7, "tools/destroy"),
    "an id that is none": b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}\n',
    "params that are none": b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}\n',
    "a call without a name": line(7, "tools/call", arguments={}),
    "a response to nothing": b'{"jsonrpc":"2.0","id":7,"result":{}}\n',
    "a cancellation of nothing": b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}\n',
    "a notification of nothing": b'{"jsonrpc":"2.0","method":"notifications/nothing"}\n',
    "an old server's question": b'Content-Length: 20\r\n\r\n{"jsonrpc":"2.0"}\r\n',
}


@pytest.mark.parametrize("what", GARBAGE)
def test_a_line_that_is_no_message_harms_nothing(shop: Shop, opened: Client, what: str) -> None:
    for _ in range(3):
        opened.send_raw(GARBAGE[what])
    alive(shop, opened)
    for note in opened.notes:
        assert note["jsonrpc"] == "2.0"
        assert "error" in note or note.get("result") is not None


@pytest.mark.parametrize("method", ["tools/list", "tools/call", "resources/list", "logging/setLevel", "shutdown"])
def test_a_method_before_initialize_is_answered_with_what_to_do(shop: Shop, method: str) -> None:
    server = subprocess.Popen(shop.server(), cwd=shop.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    said, _ = server.communicate(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method}).encode() + b"\n", BACKSTOP_S)
    assert server.returncode == 0
    [answer] = map(json.loads, said.splitlines())
    assert answer["id"] == 1
    assert answer["error"]["code"] in (-32600, -32601)
    assert not shop.store.exists()


WRONG: list[tuple[str, Any]] = [
    ("mark_pass", {}),
    ("mark_pass", {"task_id": FEATURE}),
    ("mark_pass", {"task_id": FEATURE, "feature_id": 1, "evidence_ref": PROOF}),
    ("mark_pass", {"task_id": FEATURE, "feature_id": ["C0001"], "evidence_ref": PROOF}),
    ("mark_pass", {"task_id": FEATURE, "feature_id": "C0001", "evidence_ref": None}),
    ("mark_pass", {"task_id": FEATURE, "feature_id": "C0001", "evidence_ref": PROOF, "role": "verifier"}),
    ("mark_pass", {"task_id": FEATURE, "feature_id": "C0001", "evidence_ref": PROOF, "passes": True}),
    ("mark_pass", {"feature": FEATURE, "criterion": "C0001", "evidence_ref": PROOF}),
    ("mark_pass", {"task_id": FEATURE, "feature_id": "C0001\0", "evidence_ref": PROOF}),
    ("mark_pass", {"task_id": FEATURE, "feature_id": "C0001", "evidence_ref": "proof\0.txt"}),
    ("mark_pass", {"task_id": FEATURE, "feature_id": "C0001", "evidence_ref": "x" * 5000}),
    ("mark_pass", [FEATURE, "C0001", PROOF]),
    ("mark_pass", "checkout C0001"),
    ("mark_failure", {"task_id": FEATURE, "feature_id": "C0001", "error": ""}),
    ("list_failing", {"task_id": FEATURE, "cursor": 20}),
    ("list_failing", {"task_id": FEATURE, "limit": 10}),
    ("init_feature_list", {"task_id": "new", "features": {}}),
    ("init_feature_list", {"task_id": "new", "features": ["AC1"]}),
    ("init_feature_list", {"task_id": "new", "features": [{"id": "AC1"}]}),
    (
        "init_feature_list",
        {"task_id": "new", "features": [{"id": "AC1", "description": "x", "evidence_required": "y"}]},
    ),
    ("init_feature_list", {"task_id": "new", "features": [{"id": "AC1", "description": "x" * 8001}]}),
    ("init_feature_list", {"task_id": "new", "features": [{"id": "AC1", "description": " "}]}),
    ("init_feature_list", {"task_id": "new", "features": [criterion(f"C{number}") for number in range(10_001)]}),
    ("amend", {"feature": FEATURE, "criterion": "C0001", "change": {"passes": True}, "reason": "x"}),
    ("amend", {"feature": FEATURE, "criterion": "C0001", "change": {}, "reason": "x"}),
    ("note", {"feature": FEATURE, "text": ""}),
    ("note", {"feature": FEATURE, "text": "x" * 2001}),
    ("compare_runs", {"task_id": FEATURE, "run_a": "r-1", "run_b": "../x"}),
    ("brief", {"feature": ""}),
    ("", {}),
    ("mark_pass ", {}),
]


@pytest.mark.requirement("P15")
@pytest.mark.parametrize(("tool", "arguments"), WRONG, ids=range(len(WRONG)))
def test_wrong_arguments_are_refused_by_name_and_change_nothing(
    shop: Shop, opened: Client, tool: str, arguments: Any
) -> None:
    before = shop.records(FEATURE)
    answer = opened.call(tool, arguments)
    if (tool, arguments) != ("brief", {"feature": ""}):
        assert answer.is_error, answer.text
        assert answer.structured["error"]["message"]
    assert len(json.dumps(answer.structured)) < 1_500
    assert shop.records(FEATURE) == before
    assert not (shop.store / "journal" / "new").exists()
    alive(shop, opened)


def test_every_mistake_of_a_call_is_named_as_it_was_sent(shop: Shop, opened: Client) -> None:
    given = {"task_id": 7, "feature_id": "C0001", "refrence": PROOF}
    refused(opened.call("mark_pass", given), "usage", "task_id must be a string", "evidence_ref is missing", "refrence")
    assert refused(opened.call("list_failing", {"task_id": FEATURE, "cursor": "C99"}), "usage", "cursor", "C99")
    alive(shop, opened)


@pytest.mark.requirement("P15")
@pytest.mark.parametrize("size", [MCP_LINE + 1, 10_000_000])
def test_a_line_beyond_the_limit_is_refused_whole(shop: Shop, opened: Client, size: int) -> None:
    big = call("big", "note", {"feature": FEATURE, "text": "x" * size})
    opened.send_raw(big)
    [answer] = answers(opened, ["big"])
    assert answer["result"]["isError"] is True
    assert answer["result"]["structuredContent"]["error"]["code"] == "input.too_large"
    alive(shop, opened)
    assert shop.facts("note_written") == []


def test_a_line_of_the_largest_size_is_read(shop: Shop, opened: Client) -> None:
    rows = [criterion(f"C{number}", text="x" * 7_000) for number in range(1_000)]
    accepted(opened.call("init_feature_list", {"task_id": "large", "features": rows}))
    facts = accepted(opened.call("list_failing", {"task_id": "large"})).structured
    assert facts["cursor"] == "C19"
    alive(shop, opened)


def test_a_message_in_pieces_is_one_message(shop: Shop, opened: Client) -> None:
    whole = call("slow", *mark("C0001"))
    for start in range(0, len(whole), 7):
        opened.send_raw(whole[start : start + 7])
    [answer] = answers(opened, ["slow"])
    assert answer["result"]["isError"] is False
    alive(shop, opened)


def test_calls_out_of_order_are_answered_each_by_its_id(shop: Shop, opened: Client) -> None:
    opened.send_raw(
        call("a", "get_feature", {"task_id": "later", "feature_id": "AC1"})
        + call("b", *mark("AC1", feature="later"))
        + call("c", "init_feature_list", {"task_id": "later", "features": [criterion("AC1")]})
        + call("d", "get_feature", {"task_id": "later", "feature_id": "AC1"})
        + line("e", "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        + line("f", "tools/list")
        + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    )
    found = answers(opened, "abcdef")
    assert [row["result"].get("isError") for row in found[:4]] == [True, True, False, False]
    assert found[4]["result"]["protocolVersion"] == "2025-11-25"
    assert found[5]["result"]["tools"]
    alive(shop, opened)


def test_a_request_id_in_flight_is_refused_and_the_first_call_is_answered(shop: Shop, opened: Client) -> None:
    opened.send_raw(b"".join(call("same", *mark(name)) for name in criteria(3)))
    until(lambda: len(opened.notes) == 3)
    marked = [note for note in opened.notes if "result" in note]
    failed = [note for note in opened.notes if "error" in note]
    assert all(note["id"] == "same" for note in marked)
    assert {note["error"]["code"] for note in failed} <= {-32600}
    assert len(shop.facts("pass_recorded")) == len(marked) >= 1
    alive(shop, opened)


def test_a_request_id_that_was_answered_may_be_used_for_another_call(shop: Shop, opened: Client) -> None:
    for name in criteria(2):
        opened.notes = []
        opened.send_raw(call("same", *mark(name)))
        [answer] = answers(opened, ["same"])
        assert answer["result"]["structuredContent"] == {
            "feature_id": name,
            "passes": True,
            "level": "cited",
            "evidence_ref": PROOF,
        }
    alive(shop, opened)


def test_a_batch_of_the_revision_that_has_batches(shop: Shop) -> None:
    with shop.connect(era="2025-03-26") as client:
        freeze(client, *map(criterion, NAMES))
        messages = [
            {"jsonrpc": "2.0", "id": f"b{at}", "method": "tools/call", "params": {"name": tool, "arguments": given}}
            for at, (tool, given) in enumerate([mark("C0001"), mark("C0001"), mark("C0002"), ("nothing", {})])
        ]
        client.send_raw(json.dumps([*messages, {"jsonrpc": "2.0", "method": "x"}, 7]).encode() + b"\n")
        until(lambda: bool(client.notes))
        batch: Any = client.notes[0]
        results = {row["id"]: row["result"]["isError"] for row in batch if "result" in row}
        assert results["b0"] is not results["b1"]  # one of the two marks of one criterion
        assert (results["b2"], results["b3"]) == (False, True)
        alive(shop, client)


def test_a_revision_that_is_not_spoken_is_answered_with_those_that_are(shop: Shop, opened: Client) -> None:
    opened.version = "2031-01-01"
    pending = opened.request("tools/list", {"_meta": {**META, "io.modelcontextprotocol/protocolVersion": "2031-01-01"}})
    with pytest.raises(ProtocolFault) as fault:
        pending.body()
    opened.version = "2026-07-28"
    assert fault.value.code == -32022
    assert "2026-07-28" in fault.value.data["supported"]
    alive(shop, opened)


# Clients that stop.


def test_a_client_that_stops_reading_loses_no_mark(shop: Shop) -> None:
    names = criteria(500)
    with shop.connect() as client:
        freeze(client, *map(criterion, names))
    server = subprocess.Popen(shop.server(), cwd=shop.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None
    assert server.stdout is not None
    lines = b"".join(call(at, *mark(name)) for at, name in enumerate(names))
    os.set_blocking(server.stdin.fileno(), False)
    while lines and select.select([], [server.stdin], [], 2.0)[1]:
        lines = lines[os.write(server.stdin.fileno(), lines[:4096]) :]
    os.set_blocking(server.stdin.fileno(), True)
    server.stdin.write(lines)
    server.stdin.close()
    told = {row["id"] for row in map(json.loads, server.stdout.read().splitlines()) if not row["result"]["isError"]}
    assert server.wait(BACKSTOP_S) == 0
    server.stdout.close()
    assert told == set(range(500))
    assert shop.viewed() == set(names)
    shop.whole()


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("marks", [1, 5])
def test_stdin_closed_in_the_middle_of_a_mark(shop: Shop, opened: Client, marks: int) -> None:
    names = criteria(marks)
    pending = opened.begin_all([mark(name) for name in names])
    assert opened.close() == 0
    told = {name for name, one in zip(names, pending, strict=True) if not one.answer().is_error}
    assert told == set(names)
    assert shop.viewed() == told
    shop.whole()


def test_stdin_closed_in_the_middle_of_a_line(shop: Shop, opened: Client) -> None:
    opened.send_raw(call("half", *mark("C0001"))[:-40])
    assert opened.close() == 0
    assert shop.viewed() == set()
    shop.whole()


def test_a_client_that_goes_away_without_a_word(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, *map(criterion, NAMES))
    reading, writing = os.pipe()
    server = subprocess.Popen(shop.server(), cwd=shop.folder, stdin=subprocess.PIPE, stdout=writing)
    os.close(writing)
    os.close(reading)
    assert server.stdin is not None
    server.stdin.write(call(1, *mark("C0001")) + call(2, *mark("C0002")))
    server.stdin.flush()
    assert server.wait(BACKSTOP_S) == 0
    server.stdin.close()
    with shop.connect() as client:
        alive(shop, client)


def test_a_failed_mark_between_good_ones_changes_nothing_of_them(shop: Shop, opened: Client) -> None:
    mixed = [mark("C0001"), mark("C9999"), mark("C0002", "looks good"), mark("C0003")]
    told = [answer.is_error for answer in opened.call_all(mixed)]
    assert told == [False, True, True, False]
    assert [get(opened, name)["passes"] for name in criteria(3)] == [True, False, True]
    alive(shop, opened)
