"""Answers one call: checks its arguments, calls the tool, and turns whatever goes wrong into a tool result."""

from __future__ import annotations

import sys
from typing import Any

from tallystick.errors import Refusal
from tallystick.mcp import schema
from tallystick.mcp.toolset import CallContext, ToolResult, Toolset, refused

Json = Any


def answer(toolset: Toolset, name: str, arguments: dict[str, Json], context: CallContext) -> ToolResult:
    """The result of calling `name`; never raises, so that one bad call cannot end the connection.

    A name that is not listed goes to the tool set unchecked: it alone knows whether the role is denied it, whether it
    is callable all the same, and what to record.
    """
    try:
        spec = next((tool for tool in toolset.tools() if tool.name == name), None)
        if spec is not None:
            schema.check(name, spec.input_schema, arguments)
        return toolset.call(name, arguments, context)
    except Refusal as refusal:
        return refused(refusal)
    except Exception as error:  # noqa: BLE001 - the last line of defence: told to the client and on stderr
        report(f"the tool {name}", error)
        return refused(Refusal("internal", f"our own fault in {name}: {type(error).__name__}: {error}"))


def report(where: str, error: Exception) -> None:
    """One line on stderr about what no answer can tell.

    It has a refusal's words, or the kind and the innermost place of an error that nobody expected.
    """
    if isinstance(error, Refusal):
        told = f"{error.code}: {error.message}"
    else:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = f" ({trace.tb_frame.f_code.co_filename}:{trace.tb_lineno})" if trace is not None else ""
        told = f"{type(error).__name__}: {error}{place}"
    print(f"tallystick: {where}: {told}", file=sys.stderr, flush=True)
