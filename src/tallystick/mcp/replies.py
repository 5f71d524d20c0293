"""The bodies of results, shaped for the revision that they are read by. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tallystick.mcp import versions
from tallystick.mcp.envelope import Wrong
from tallystick.mcp.messages import INVALID_PARAMS
from tallystick.mcp.toolset import ServerInfo, ToolResult, ToolSpec
from tallystick.mcp.versions import Revision

Json = Any
Body = dict[str, Json]

#: Tools are all we offer; a list that changes is not announced, so `listChanged` is not declared.
CAPABILITIES: Body = {"tools": {}}
#: How long a client may keep what it was told, in milliseconds: the tools change when the user makes a key.
DISCOVERY_FRESH_MS = 3_600_000
TOOLS_FRESH_MS = 60_000


def handshake(server: ServerInfo, revision: Revision) -> Body:
    """The answer to `initialize`."""
    body: Body = {
        "protocolVersion": revision.version,
        "capabilities": CAPABILITIES,
        "serverInfo": _identity(server, revision),
    }
    return body | _instructions(server)


def discovery(server: ServerInfo, revision: Revision) -> Body:
    """The answer to `server/discover`. Revisions with a handshake are found by `initialize`, so they are not listed."""
    body: Body = {"supportedVersions": list(versions.STATELESS), "capabilities": CAPABILITIES}
    return complete(body | _instructions(server) | _fresh(DISCOVERY_FRESH_MS), server, revision)


def tools_page(tools: Sequence[ToolSpec], cursor: Json, page: int, server: ServerInfo, revision: Revision) -> Body:
    """One page of `tools/list`: the `page` tools after the one that `cursor` names. Raises `Wrong` for a bad cursor."""
    start = 0
    if cursor is not None:
        names = [tool.name for tool in tools]
        if cursor not in names:
            raise Wrong(INVALID_PARAMS, "this cursor is not one that tools/list gave; list again without one")
        start = names.index(cursor) + 1
    rows = tools[start : start + page]
    body: Body = {"tools": [_tool(tool, revision) for tool in rows]}
    if start + page < len(tools):
        body["nextCursor"] = rows[-1].name
    return complete(body | (_fresh(TOOLS_FRESH_MS) if revision.stateless else {}), server, revision)


def called(answer: ToolResult, spec: ToolSpec | None, server: ServerInfo, revision: Revision) -> Body:
    """The answer to `tools/call`."""
    body: Body = {"content": [{"type": "text", "text": answer.text}]}
    # Clients hold even a failure's structure against the output schema, so there it must not carry another one.
    misfit = answer.is_error and spec is not None and spec.output_schema is not None
    if answer.structured is not None and revision.structured and not misfit:
        body["structuredContent"] = answer.structured
    body["isError"] = answer.is_error
    return complete(body, server, revision)


def complete(body: Body, server: ServerInfo, revision: Revision) -> Body:
    """`body` as a whole result: in the newer era it says that it is complete and who says it."""
    if not revision.stateless:
        return body
    return {"resultType": "complete", **body, "_meta": {versions.SERVER_KEY: _identity(server, revision)}}


def _tool(tool: ToolSpec, revision: Revision) -> Body:
    body: Body = {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema}
    if revision.structured and tool.title:
        body["title"] = tool.title
    if revision.structured and tool.output_schema is not None:
        body["outputSchema"] = tool.output_schema
    if revision.annotations and tool.annotations is not None:
        body["annotations"] = tool.annotations
    return body


def _identity(server: ServerInfo, revision: Revision) -> Body:
    title = {"title": server.title} if server.title and revision.structured else {}
    return {"name": server.name, **title, "version": server.version}


def _instructions(server: ServerInfo) -> Body:
    return {"instructions": server.instructions} if server.instructions else {}


def _fresh(milliseconds: int) -> Body:
    return {"ttlMs": milliseconds, "cacheScope": "private"}
