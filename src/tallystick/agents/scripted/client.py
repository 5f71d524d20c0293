"""A small MCP client over stdio, for scripted agents and for tests. Standard library only.

It speaks the newest revision and falls back to the `initialize` handshake where a server knows no other, or begins with
the handshake when told to. Calls may overlap: `begin` writes one and gives a `Pending`, `call_all` writes many at once.
It shares no code with our server on purpose: the two check each other.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from tallystick.canonical import parse
from tallystick.errors import Refusal

Json = Any

STATELESS = "2026-07-28"
HANDSHAKE = "2025-11-25"
#: Seconds to wait for an answer unless the caller says otherwise.
PATIENCE_S = 60.0
#: Seconds that a server gets to end after its stdin was closed, before it is killed.
FAREWELL_S = 15.0

_META = "io.modelcontextprotocol/"


class ProtocolFault(Exception):  # noqa: N818 - what the server answered, named as the protocol's, not Python's
    """The server answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class ServerGone(Exception):  # noqa: N818
    """The server ended, or did not answer in time, before the answer was there."""


class Answer(NamedTuple):
    """The result of a tool call. `raw` is the whole result as it came."""

    text: str
    structured: Json
    is_error: bool
    raw: dict[str, Json]


class Pending:
    """A request that was written. `id` is its request id."""

    __slots__ = ("_answers", "id")

    def __init__(self, request_id: int) -> None:
        self.id = request_id
        self._answers: queue.SimpleQueue[dict[str, Json] | None] = queue.SimpleQueue()

    def settle(self, message: dict[str, Json] | None) -> None:
        """Hands in the answer; None when there will be none."""
        self._answers.put(message)

    def body(self, timeout: float = PATIENCE_S) -> dict[str, Json]:
        """Waits for the result. Raises `ProtocolFault` or `ServerGone`."""
        try:
            message = self._answers.get(timeout=timeout)
        except queue.Empty:
            raise ServerGone(f"no answer to request {self.id} within {timeout:g} s") from None
        self._answers.put(message)  # whoever asks again gets the same
        if message is None:
            raise ServerGone(f"the server ended before it answered request {self.id}")
        if "error" in message:
            fault = message["error"]
            raise ProtocolFault(fault["code"], fault["message"], fault.get("data"))
        found: dict[str, Json] = message["result"]
        return found

    def answer(self, timeout: float = PATIENCE_S) -> Answer:
        """Waits for the result of a tool call."""
        body = self.body(timeout)
        text = "\n".join(block["text"] for block in body.get("content", ()) if block.get("type") == "text")
        return Answer(text, body.get("structuredContent"), bool(body.get("isError")), body)


class Client:
    """One server process and the connection to it; usable as a context manager.

    `era` is "auto" (newest first, then the handshake) or a protocol revision. `stderr` is a descriptor for what the
    server prints, None lets it through to ours. `notes` collects what the server sent that answers nothing of ours.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        era: str = "auto",
        name: str = "tallystick-scripted",
        stderr: int | None = None,
    ) -> None:
        self.notes: list[dict[str, Json]] = []
        self.discovered: dict[str, Json] = {}
        self._name = name
        self._waiting: dict[int, Pending] = {}
        self._last_id = 0
        self._ended = False
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            list(argv), cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, bufsize=0
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in = self._process.stdin
        self._out = self._process.stdout
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.version = self._meet(era)
        except BaseException:
            self.kill()
            raise

    # Tools.

    def list_tools(self) -> list[dict[str, Json]]:
        """Every tool, all pages."""
        tools: list[dict[str, Json]] = []
        cursor: dict[str, Json] = {}
        while True:
            page = self.request("tools/list", cursor).body()
            tools += page["tools"]
            if "nextCursor" not in page:
                return tools
            cursor = {"cursor": page["nextCursor"]}

    def call(self, name: str, arguments: dict[str, Json], timeout: float = PATIENCE_S) -> Answer:
        """Calls a tool and waits for its answer."""
        return self.begin(name, arguments).answer(timeout)

    def begin(self, name: str, arguments: dict[str, Json], tool_use_id: str = "", progress: bool = False) -> Pending:
        """Writes a call and does not wait. With `progress` the server may report under the request id as token."""
        return self.begin_all([(name, arguments)], tool_use_id, progress)[0]

    def begin_all(
        self, calls: Sequence[tuple[str, dict[str, Json]]], tool_use_id: str = "", progress: bool = False
    ) -> list[Pending]:
        """Writes many calls in one piece."""
        lines, pending = [], []
        for name, arguments in calls:
            one = self._expect()
            meta: dict[str, Json] = {"claudecode/toolUseId": tool_use_id} if tool_use_id else {}
            if progress:
                meta["progressToken"] = one.id
            lines.append(self._line(one.id, "tools/call", {"name": name, "arguments": arguments}, meta))
            pending.append(one)
        self.send_raw(b"".join(lines))
        return pending

    def call_all(self, calls: Sequence[tuple[str, dict[str, Json]]], timeout: float = PATIENCE_S) -> list[Answer]:
        """Writes many calls in one piece and waits for all answers, given in the order of the calls."""
        return [one.answer(timeout) for one in self.begin_all(calls)]

    def cancel(self, pending: Pending) -> None:
        """Tells the server that nobody waits for this answer any more."""
        self._waiting.pop(pending.id, None)
        self.notify("notifications/cancelled", {"requestId": pending.id})

    # Messages of any kind.

    def request(self, method: str, params: dict[str, Json]) -> Pending:
        """Writes a request of any method."""
        pending = self._expect()
        self.send_raw(self._line(pending.id, method, params, {}))
        return pending

    def notify(self, method: str, params: dict[str, Json]) -> None:
        """Writes a notification."""
        self.send_raw(_encoded({"jsonrpc": "2.0", "method": method, "params": params}))

    def send_raw(self, data: bytes) -> None:
        """Writes bytes as they are. Raises `ServerGone` when nobody reads them."""
        with self._lock:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._in.fileno(), view) :]
            except (OSError, ValueError) as error:
                raise ServerGone(f"the server no longer reads: {error}") from None

    # The process.

    @property
    def pid(self) -> int:
        """The process id of the server."""
        return self._process.pid

    def signal(self, number: int) -> None:
        """Sends the server a signal."""
        self._process.send_signal(number)

    def kill(self) -> int:
        """Ends the server with SIGKILL, as a crash would; gives its exit status."""
        self._process.kill()
        return self._reap()

    def close(self) -> int:
        """Closes the server's stdin and waits until it has ended; gives its exit status."""
        with self._lock:
            self._in.close()
        return self.wait()

    def wait(self, timeout: float = FAREWELL_S) -> int:
        """Waits for the end of the server, at most `timeout` seconds; then kills it. Gives its exit status."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
        except BaseException:  # interrupted once more while it ended: then at once
            self._process.kill()
            self._reap()
            raise
        return self._reap()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self.close()
        else:
            self._reap()

    def _reap(self) -> int:
        status = self._process.wait()
        self._in.close()
        self._reader.join(FAREWELL_S)  # a grandchild may still hold the pipe open
        if not self._reader.is_alive():
            self._out.close()
        return status

    # The beginning of a connection, and its reading side.

    def _meet(self, era: str) -> str:
        self.version = STATELESS if era == "auto" else era
        if self.version == STATELESS:
            try:
                self.discovered = self.request("server/discover", {}).body()
            except ProtocolFault:
                # Only a server without the newer era answers its first question with any error (specification, stdio).
                if era != "auto":
                    raise
            if era != "auto" or STATELESS in self.discovered.get("supportedVersions", ()):
                return STATELESS
            self.version = HANDSHAKE
        params = {
            "protocolVersion": self.version,
            "capabilities": {},
            "clientInfo": {"name": self._name, "version": "1"},
        }
        self.discovered = self.request("initialize", params).body()
        self.notify("notifications/initialized", {})
        settled: str = self.discovered["protocolVersion"]
        return settled

    def _expect(self) -> Pending:
        with self._lock:
            self._last_id += 1
            pending = Pending(self._last_id)
            if self._ended:
                pending.settle(None)
            else:
                self._waiting[pending.id] = pending
        return pending

    def _line(self, request_id: int, method: str, params: dict[str, Json], meta: dict[str, Json]) -> bytes:
        if self.version == STATELESS:
            meta = meta | {
                f"{_META}protocolVersion": self.version,
                f"{_META}clientInfo": {"name": self._name, "version": "1"},
                f"{_META}clientCapabilities": {},
            }
        whole = params | ({"_meta": meta} if meta else {})
        return _encoded({"jsonrpc": "2.0", "id": request_id, "method": method, "params": whole})

    def _read(self) -> None:
        """In the reader thread: hands every answer to the one who waits for it, until the server's stdout ends."""
        pieces: list[bytes] = []
        while chunk := self._out.read(65_536):
            pieces.append(chunk)
            if b"\n" in chunk:
                *lines, rest = b"".join(pieces).split(b"\n")
                pieces = [rest]
                for line in lines:
                    self._take(line)
        with self._lock:
            self._ended = True
            left = list(self._waiting.values())
        for pending in left:
            pending.settle(None)

    def _take(self, line: bytes) -> None:
        try:
            message = parse(line, "the server's line")
        except Refusal as refusal:
            message = {"unreadable": refusal.message}
        request_id = message.get("id") if isinstance(message, dict) else None
        pending = self._waiting.pop(request_id, None) if isinstance(request_id, int) else None
        if pending is None:
            self.notes.append(message)
        else:
            pending.settle(message)


def _encoded(message: dict[str, Json]) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
