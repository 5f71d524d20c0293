"""A program: plays sessions with the official Python client, as it is written on its standard input, and prints what
came of them. Run as a process of its own, so that the packages it loads are not the tests'.

Input: {"server": {"command", "args", "cwd", "env"}, "sessions": [{"role", "era", "calls": [[tool, arguments]]}]}.
Output, one for each session: {"version", "server", "instructions", "tools", "answers": [{"isError", "text",
"structured"}]}. A client that asks for no introduction says "" for the server. The programs for Node.js beside this
one do the same.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import TextContent

#: The client's own words for an era: "legacy" begins with the handshake.
MODES = {"auto": "auto", "handshake": "legacy", "stateless": "2026-07-28"}


async def session(server: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """One connection from beginning to end."""
    words = [*server["args"], *(["--role", wanted["role"]] if wanted["role"] else [])]
    parameters = StdioServerParameters(command=server["command"], args=words, env=server["env"], cwd=server["cwd"])
    async with Client(stdio_client(parameters), mode=MODES[wanted["era"]]) as client:
        listed = await client.list_tools()
        answers = []
        for tool, arguments in wanted["calls"]:
            result = await client.call_tool(tool, arguments)
            text = result.content[0]
            assert isinstance(text, TextContent)
            facts = result.structured_content
            answers.append({"isError": bool(result.is_error), "text": text.text, "structured": facts})
        return {
            "version": client.session.protocol_version,
            "server": client.server_info.name if client.server_info else "",
            "instructions": client.instructions or "",
            "tools": [tool.name for tool in listed.tools],
            "answers": answers,
        }


async def main() -> None:
    """Every session of the plan, one after the other."""
    plan = json.load(sys.stdin)
    print(json.dumps([await session(plan["server"], wanted) for wanted in plan["sessions"]]))


anyio.run(main)
