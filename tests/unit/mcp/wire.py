"""A protocol core with a client's hand, for its tests: messages in, decoded lines out."""

from __future__ import annotations

import json
from typing import Any

from tallystick.limits import MCP_LINE
from tallystick.mcp.protocol import Call, Event, Protocol
from tallystick.mcp.toolset import ServerInfo, ToolSpec
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
