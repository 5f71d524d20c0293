"""The protocol core: bytes in, events and bytes out. No IO, no clock, no thread.

A carrier feeds `receive` with whatever arrived, does what the events say, reports results with `answer`, and sends
what `outgoing` gives it. Everything that needs no tool is answered here: the handshake, discovery, lists, pings, and
every kind of bad message. One connection serves both eras (`versions.py`): a request is read by the rules of the era
that it shows itself.

What goes wrong with a call becomes a tool result with `isError` wherever the call can be told, since that is what a
model gets to read; only what is no call becomes a JSON-RPC error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tallystick.errors import Refusal
from tallystick.ids import shown
from tallystick.limits import MCP_LINE
from tallystick.mcp import envelope, messages, replies, versions
from tallystick.mcp.envelope import Speaker, Wrong
from tallystick.mcp.framing import Line, LineReader, Oversized
from tallystick.mcp.messages import Batch, Malformed, Message, Notification, Request, RequestId
from tallystick.mcp.toolset import ServerInfo, ToolResult, ToolSpec, refused

Json = Any

#: Tools in one page of `tools/list`: more than any role has, since not every client asks for a second page.
PAGE_TOOLS = 100


class Call(NamedTuple):
    """Event: a tool is called. `number` names the call to `answer` and `progress`; `size` is its line's, in bytes."""

    number: int
    request_id: RequestId
    name: str
    arguments: dict[str, Json]
    tool_use_id: str
    client_name: str
    client_version: str
    protocol_version: str
    size: int


class Cancelled(NamedTuple):
    """Event: the client no longer wants the answer of call `number`; whatever comes of it is not sent."""

    number: int


Event = Call | Cancelled


class _Outlet:
    """Where answers go: each on a line of its own, or gathered until the array of a batch is whole."""

    __slots__ = ("_gathered", "_missing", "_out")

    def __init__(self, out: bytearray, batch: int | None = None) -> None:
        self._out = out
        self._missing = batch
        self._gathered: list[bytes] = []

    def put(self, answer: bytes | None) -> None:
        """Takes one answer; None where a cancelled call stays without one."""
        if answer is not None:
            self._gathered.append(answer)
        if self._missing is not None:
            self._missing -= 1
        if self._gathered and not self._missing:
            whole = self._gathered[0] if self._missing is None else b"[" + b",".join(self._gathered) + b"]"
            self._out += whole + b"\n"
            self._gathered = []


class _Open:
    """A call that waits for its answer."""

    __slots__ = ("done", "name", "outlet", "request_id", "speaker", "token")

    def __init__(self, request: Request, name: str, speaker: Speaker, outlet: _Outlet) -> None:
        self.request_id = request.id
        self.name = name
        self.speaker = speaker
        self.outlet = outlet
        self.token = envelope.progress_token(request.params)
        self.done = float("-inf")


class Protocol:
    """One connection. `tools` gives the tools that are listed, `server` is how we name ourselves."""

    __slots__ = ("_calls", "_events", "_limit", "_lines", "_names", "_number", "_out", "_page", "_server", "_size",
                 "_speaker", "_tools")  # fmt: skip

    def __init__(
        self,
        server: ServerInfo,
        tools: Callable[[], Sequence[ToolSpec]],
        page: int = PAGE_TOOLS,
        line_limit: int = MCP_LINE,
    ) -> None:
        self._server = server
        self._tools = tools
        self._page = page
        self._limit = line_limit
        self._lines = LineReader(line_limit)
        self._speaker: Speaker | None = None  # what a handshake settled
        self._calls: dict[int, _Open] = {}
        self._names: dict[RequestId, int] = {}  # which call a request id in flight belongs to
        self._number = 0
        self._size = 0  # of the line that is being read
        self._out = bytearray()
        self._events: list[Event] = []

    def receive(self, data: bytes) -> list[Event]:
        """Reads what arrived, in pieces of any size, and says what is to be done."""
        return self._read(self._lines.feed(data))

    def end(self) -> list[Event]:
        """Reads what the stream ended with, if its last line has no end."""
        return self._read(self._lines.end())

    def answer(self, number: int, answer: ToolResult) -> None:
        """Gives call `number` its result. One that was cancelled in the meantime stays without."""
        call = self._forget(number)
        if call is None:
            return
        try:
            whole = self._called(call.request_id, answer, call.name, call.speaker)
        except (TypeError, ValueError) as error:
            fault = Refusal("internal", f"the answer of {call.name} cannot be written as JSON: {error}")
            whole = self._called(call.request_id, refused(fault), call.name, call.speaker)
        call.outlet.put(whole)

    def progress(self, number: int, done: float, total: float | None, message: str) -> None:
        """Tells the client how far call `number` is, if it asked and if that is further than it was told before."""
        call = self._calls.get(number)
        if call is None or call.token is None or not call.done < done < float("inf"):
            return
        call.done = done
        params: dict[str, Json] = {"progressToken": call.token, "progress": done}
        if total is not None and done <= total < float("inf"):
            params["total"] = total
        if message and call.speaker.revision.annotations:
            params["message"] = message
        self._out += messages.notification("notifications/progress", params) + b"\n"

    @property
    def waiting(self) -> int:
        """How many bytes wait for the client."""
        return len(self._out)

    def outgoing(self, most: int | None = None) -> bytes:
        """The next bytes for the client, at most `most`. They stay until `sent` says that they went."""
        return bytes(self._out[:most])

    def sent(self, count: int) -> None:
        """Forgets the first `count` bytes of `outgoing`."""
        del self._out[:count]

    # Reading: lines, then messages, then requests by method.

    def _read(self, lines: Sequence[Line | Oversized]) -> list[Event]:
        for line in lines:
            if isinstance(line, Oversized):
                self._malformed(messages.too_long(line, self._limit), _Outlet(self._out))
                continue
            if not line.data.strip():
                continue
            self._size = len(line.data)
            message = messages.read(line.data)
            if isinstance(message, Batch):
                self._batch(message)
            else:
                self._message(message, _Outlet(self._out))
        events, self._events = self._events, []
        return events

    def _batch(self, batch: Batch) -> None:
        if self._speaker is None or not self._speaker.revision.batches:
            wrong = "only revision 2025-03-26 has batches; send one message a line"
            self._out += messages.error(None, messages.INVALID_REQUEST, wrong) + b"\n"
            return
        outlet = _Outlet(self._out, sum(isinstance(message, (Request, Malformed)) for message in batch.messages))
        for message in batch.messages:
            if isinstance(message, Request) and message.method == "initialize":
                wrong = "initialize is no part of a batch"
                message = Malformed(message.id, message.method, messages.INVALID_REQUEST, wrong)
            self._message(message, outlet)

    def _message(self, message: Message, outlet: _Outlet) -> None:
        if isinstance(message, Request):
            self._request(message, outlet)
        elif isinstance(message, Malformed):
            self._malformed(message, outlet)
        elif isinstance(message, Notification) and message.method == "notifications/cancelled":
            self._cancelled(message)
        # Other notifications ask for nothing, and a response answers nothing that we asked.

    def _malformed(self, message: Malformed, outlet: _Outlet) -> None:
        # An id in flight belongs to a call whose own answer is to come.
        request_id = None if message.id in self._names else message.id
        if message.refusal and request_id is not None and message.method == "tools/call":
            speaker = self._speaker or Speaker(versions.NEWEST)
            refusal = Refusal(message.refusal, message.message, "mend the message and call again")
            outlet.put(self._called(request_id, refused(refusal), "", speaker))
        else:
            outlet.put(messages.error(request_id, message.code, message.message))

    def _cancelled(self, message: Notification) -> None:
        request_id = message.params.get("requestId")
        number = self._names.get(request_id) if isinstance(request_id, (str, int)) else None
        if number is not None:
            call = self._forget(number)
            if call is not None:
                call.outlet.put(None)
                self._events.append(Cancelled(number))

    def _request(self, request: Request, outlet: _Outlet) -> None:
        try:
            if request.id in self._names:
                raise Wrong(messages.INVALID_REQUEST, "this request id is in flight; its own answer is still to come")
            stateless = request.method == "server/discover" or versions.VERSION_KEY in envelope.meta(request.params)
            stateless = stateless and request.method != "initialize"
            speaker = envelope.enveloped(request.params) if stateless else self._speaker
            method = _METHODS[stateless].get(request.method)
            if method is None:
                raise Wrong(messages.METHOD_NOT_FOUND, f"no such method: {shown(request.method)}")
            if speaker is None and request.method not in _BEFORE_THE_HANDSHAKE:
                wrong = f"initialize first, or send {versions.VERSION_KEY} in _meta"
                raise Wrong(messages.INVALID_REQUEST, wrong)
            body = method(self, request, speaker or Speaker(versions.NEWEST), outlet)
            if body is not None:
                outlet.put(messages.result(request.id, body))
        except Wrong as wrong:
            outlet.put(messages.error(request.id, wrong.code, wrong.message, wrong.data))

    # The methods. Each gives the body of its result, or None where the answer comes later.

    def _initialize(self, request: Request, speaker: Speaker, outlet: _Outlet) -> replies.Body:
        del speaker, outlet
        self._speaker = envelope.introduced(request.params)
        return replies.handshake(self._server, self._speaker.revision)

    def _discover(self, request: Request, speaker: Speaker, outlet: _Outlet) -> replies.Body:
        del request, outlet
        return replies.discovery(self._server, speaker.revision)

    def _ping(self, request: Request, speaker: Speaker, outlet: _Outlet) -> replies.Body:
        del request, speaker, outlet
        return {}

    def _tools_list(self, request: Request, speaker: Speaker, outlet: _Outlet) -> replies.Body:
        del outlet
        cursor = request.params.get("cursor")
        return replies.tools_page(self._tools(), cursor, self._page, self._server, speaker.revision)

    def _tools_call(self, request: Request, speaker: Speaker, outlet: _Outlet) -> None:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        if not isinstance(name, str):
            raise Wrong(messages.INVALID_PARAMS, "tools/call names its tool as a string")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            refusal = Refusal("usage", f"{shown(name)}: arguments must be an object", "send the arguments by name")
            outlet.put(self._called(request.id, refused(refusal), name, speaker))
            return
        self._number += 1
        self._calls[self._number] = _Open(request, name, speaker, outlet)
        self._names[request.id] = self._number
        self._events.append(
            Call(
                number=self._number,
                request_id=request.id,
                name=name,
                arguments=arguments,
                tool_use_id=envelope.tool_use_id(request.params),
                client_name=speaker.client_name,
                client_version=speaker.client_version,
                protocol_version=speaker.revision.version,
                size=self._size,
            )
        )

    def _called(self, request_id: RequestId, answer: ToolResult, name: str, speaker: Speaker) -> bytes:
        spec = next((tool for tool in self._tools() if tool.name == name), None)
        return messages.result(request_id, replies.called(answer, spec, self._server, speaker.revision))

    def _forget(self, number: int) -> _Open | None:
        call = self._calls.pop(number, None)
        if call is not None:
            del self._names[call.request_id]
        return call


_Method = Callable[[Protocol, Request, Speaker, _Outlet], "replies.Body | None"]

#: What may be asked before a handshake by a request that does not stand alone.
_BEFORE_THE_HANDSHAKE = frozenset({"initialize", "ping"})
#: The methods of either era: False with a handshake, True where each request stands alone.
_METHODS: dict[bool, dict[str, _Method]] = {
    False: {
        "initialize": Protocol._initialize,
        "ping": Protocol._ping,
        "tools/list": Protocol._tools_list,
        "tools/call": Protocol._tools_call,
    },
    True: {
        "server/discover": Protocol._discover,
        "tools/list": Protocol._tools_list,
        "tools/call": Protocol._tools_call,
    },
}
