"""The id and method of a line that is not parsed are the outermost ones or none, never ones from inside an argument."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.mcp.fragments import Sender
from tallystick.mcp.framing import EDGE

_CALL = '"method":"tools/call"'
_LONG = '"' + "x" * 3 * EDGE + '"'


@pytest.mark.parametrize(
    ("line", "request_id", "method"),
    [
        ('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{', 7, "tools/call"),
        ('{"id":"seven","method":"ping"', "seven", "ping"),
        (f'{{"id":7,{_CALL},"params":{{"arguments":{{"text":{_LONG}}}}}}}', 7, "tools/call"),
        (f'{{{_CALL},"params":{{"arguments":{{"text":{_LONG}}}}},"jsonrpc":"2.0","id":7}}', 7, "tools/call"),
        (f'{{"params":{{"arguments":{{"text":{_LONG}}}}},"jsonrpc":"2.0","id":"7",{_CALL}}}', "7", "tools/call"),
        ('{"id":7,"params":' + "[" * 9999 + "]" * 9999 + f",{_CALL}}}", 7, "tools/call"),
        ('{"params":{"id":3,"method":"x"}}', None, ""),
        ('{"params":{"text":"\\"}},\\"id\\":3}"},"method":"ping"}', None, "ping"),
        (f'{{{_CALL},"params":{{"text":{_LONG},"id":5}}}}', None, "tools/call"),
        ('{"id":null,"method":3}', None, ""),
        ('{"id":true}', None, ""),
        ('{"id":1.5}', None, ""),
        ('{"id":{"id":4}}', None, ""),
        ("not json at all", None, ""),
        ('"id":3', None, ""),
        ("", None, ""),
        ("}}}}]]]", None, ""),
    ],
)
def test_the_sender_of_a_broken_line(line: str, request_id: object, method: str) -> None:
    sender = Sender.of_line(line.encode())
    assert (sender.id, sender.method) == (request_id, method)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.just("id"), inner, max_size=3),
    max_leaves=12,
)


@given(st.integers() | st.text(max_size=10), _JSON, st.permutations(["jsonrpc", "id", "method", "params"]))
def test_whatever_the_order_the_outermost_id_is_found(request_id: str | int, params: object, order: list[str]) -> None:
    message = {"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params}
    line = json.dumps({key: message[key] for key in order}).encode()
    sender = Sender.of_line(line)
    assert sender.id == request_id or len(line) > EDGE
    assert sender.method == "tools/call"


@given(st.binary(max_size=200))
def test_no_bytes_make_it_fail(line: bytes) -> None:
    sender = Sender.of_line(line)
    assert sender.id is None or isinstance(sender.id, (int, str))
