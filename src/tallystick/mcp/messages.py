"""JSON-RPC 2.0 as MCP narrows it: what one line says, and how answers are written.

Reading never raises: whatever a line holds, it becomes a request, a notification, a batch, a response (which nobody
here waits for) or a `Malformed` that says what to answer. Pure.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.mcp.framing import Oversized

Json = Any
RequestId = str | int

#: The error codes of JSON-RPC, and the one of MCP that a server without client capabilities needs.
PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
UNSUPPORTED_PROTOCOL_VERSION = -32022

#: Messages in one batch: a bound on what one line can make us answer.
BATCH_MESSAGES = 100

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class Request(NamedTuple):
    """A message that is to be answered."""

    id: RequestId
    method: str
    params: dict[str, Json]


class Notification(NamedTuple):
    """A message that is never answered."""

    method: str
    params: dict[str, Json]


class Response(NamedTuple):
    """An answer to a request of ours; there are none, so it is passed over."""


class Malformed(NamedTuple):
    """A message to be answered with an error. `id` and `method` are what could still be told of it.

    `refusal` is the code that a tool call is refused with, where what a model wrote may be the reason.
    """

    id: RequestId | None
    method: str
    code: int
    message: str
    refusal: str = ""


Message = Request | Notification | Response | Malformed


class Batch(NamedTuple):
    """Several messages in one array."""

    messages: list[Message]


def read(line: bytes) -> Message | Batch:
    """What a line (without its end) says."""
    try:
        value = canonical.parse(line, "the message")
    except Refusal as refusal:
        from tallystick.mcp.fragments import Sender  # late: most clients never send such a line

        sender = Sender.of_line(line)
        return Malformed(sender.id, sender.method, PARSE_ERROR, refusal.message, refusal.code)
    if not isinstance(value, list):
        return _message(value)
    if not 1 <= len(value) <= BATCH_MESSAGES:
        wrong = f"a batch holds 1 to {BATCH_MESSAGES} messages, this one {len(value)}"
        return Malformed(None, "", INVALID_REQUEST, wrong)
    return Batch([_message(item) for item in value])


def too_long(line: Oversized, limit: int) -> Malformed:
    """What to answer to a line that was dropped for its length."""
    from tallystick.mcp.fragments import Sender

    sender = Sender(line.head, line.tail)
    told = f"the message has {line.size} bytes, at most {limit}; nothing was changed"
    return Malformed(sender.id, sender.method, INVALID_REQUEST, told, "input.too_large")


def _message(value: Json) -> Message:
    if not isinstance(value, dict):
        return Malformed(None, "", INVALID_REQUEST, "a message is a JSON object")
    name, method, params = value.get("id"), value.get("method"), value.get("params")
    known = name if is_id(name) else None
    shown = method if isinstance(method, str) else ""
    if "method" not in value and ("result" in value or "error" in value):
        return Response()
    if "id" in value and known is None:
        return Malformed(None, shown, INVALID_REQUEST, "the id of a request is a string or an integer")
    if value.get("jsonrpc") != "2.0":
        return Malformed(known, shown, INVALID_REQUEST, 'a message says "jsonrpc": "2.0"')
    if not isinstance(method, str):
        return Malformed(known, shown, INVALID_REQUEST, "a message names its method as a string")
    if params is None:
        params = {}
    if not isinstance(params, dict):
        return Malformed(known, shown, INVALID_PARAMS, "the params of a message are an object")
    return Notification(method, params) if known is None else Request(known, method, params)


def is_id(value: Json) -> bool:
    """Whether `value` may name a request (or a progress token): a string or an integer."""
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def result(name: RequestId, body: dict[str, Json]) -> bytes:
    """The answer to request `name`. Raises `ValueError` or `TypeError` for what JSON cannot say."""
    return _encode({"jsonrpc": "2.0", "id": name, "result": body})


def error(name: RequestId | None, code: int, message: str, data: Json = None) -> bytes:
    """An error. Without a readable id it says `null`, as JSON-RPC 2.0 demands."""
    body = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return _encode({"jsonrpc": "2.0", "id": name, "error": body})


def notification(method: str, params: dict[str, Json]) -> bytes:
    """A message of ours that nobody answers."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def _encode(message: dict[str, Json]) -> bytes:
    # A file name may hold bytes that are no text; as a lone surrogate it must not end the connection.
    return _ENCODER.encode(message).encode("utf-8", "replace")
