"""A tiny tool set for the tests of the carrier; run as a program it serves itself over stdio.

Its tools: `echo` gives its text back, `print` writes to stdout and lets a child read stdin and write to stdout, `fail`
raises, `refuse` refuses, `shape` has an output schema; the slow `wait` reports progress until the file it is given
appears or it is cancelled, the slow `stubborn` waits for its file only. What happens is noted in the file (a named
pipe, say) that the environment variable TINY_LOG names, one line each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from tallystick.errors import Refusal
from tallystick.mcp.stdio import serve
from tallystick.mcp.toolset import CallContext, ServerInfo, ToolResult, ToolSpec

SERVER = ServerInfo("tiny", "1.0", "Tiny", "Call echo.")
TEXT = {"type": "string"}
_CHILD = "import sys; print('the child read', repr(sys.stdin.read()))"


def _spec(name: str, required: tuple[str, ...] = (), output: dict[str, Any] | None = None) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": dict.fromkeys(required, TEXT),
        "required": list(required),
        "additionalProperties": False,
    }
    return ToolSpec(name, name.title(), f"The tool {name}.", schema, output, {"readOnlyHint": True})


TOOLS = (
    _spec("echo", ("text",)),
    _spec("wait", ("file",)),
    _spec("stubborn", ("file",)),
    _spec("print"),
    _spec("fail"),
    _spec("refuse"),
    _spec("shape", (), {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}),
)


class TinyToolset:
    """See the module. `log` is the path that events are noted at, if any."""

    def __init__(self, log: str | None) -> None:
        self._log = log

    def tools(self) -> Sequence[ToolSpec]:
        return TOOLS

    def is_slow(self, name: str) -> bool:
        return name in ("wait", "stubborn")

    def call(self, name: str, arguments: dict[str, Any], context: CallContext) -> ToolResult:
        self._note(f"{name} {context.request_id} {context.client_name} {context.session} {context.tool_use_id}".strip())
        text = str(arguments.get("text", ""))
        if self.is_slow(name):
            return self._wait(name, arguments["file"], context)
        if name == "print":
            print("this is no protocol line", flush=True)
            os.write(1, b"nor is this\n")
            subprocess.run([sys.executable, "-c", _CHILD], check=True)
        elif name == "fail":
            raise RuntimeError("nobody expected this")
        elif name == "refuse":
            raise Refusal("pass.already", "AC1 was marked already", "call get_feature")
        elif name == "shape":
            return ToolResult("n is 3", {"n": 3})
        elif name != "echo":
            names = ", ".join(tool.name for tool in TOOLS)
            raise Refusal("role.denied", f"{name} is not offered here", f"offered: {names}")
        return ToolResult(text, {"text": text})

    def _wait(self, name: str, file: str, context: CallContext) -> ToolResult:
        done = 0
        while not os.path.exists(file):
            if name == "wait" and context.cancelled():
                self._note("cancelled")
                return ToolResult("cancelled", is_error=True)
            done += 1
            context.progress(done, None, "still waiting")
            time.sleep(0.002)
        return ToolResult("waited", {"done": done})

    def idle(self) -> None:
        self._note("idle")

    def close(self) -> None:
        self._note("close")

    def _note(self, line: str) -> None:
        if self._log:
            with open(self._log, "a", encoding="utf-8") as file:
                file.write(line + "\n")


if __name__ == "__main__":
    sys.exit(serve(TinyToolset(os.environ.get("TINY_LOG")), SERVER, "session-1"))
