"""One call is answered whatever happens in it: checked arguments, refusals, our own faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tallystick.errors import Refusal
from tallystick.mcp.dispatch import answer
from tallystick.mcp.toolset import CallContext, ToolResult, ToolSpec, refused

CONTEXT = CallContext(
    request_id=1,
    tool_use_id="",
    client_name="",
    client_version="",
    protocol_version="2025-11-25",
    session="s",
    cancelled=lambda: False,
    progress=lambda *_: None,
)
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}


class OneTool:
    """Lists `say`; raises what it is given to raise; remembers what it was called with."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.called: list[tuple[str, dict[str, Any]]] = []

    def tools(self) -> Sequence[ToolSpec]:
        return (ToolSpec("say", "Say", "Says.", SCHEMA),)

    def is_slow(self, name: str) -> bool:
        return name == "say"

    def call(self, name: str, arguments: dict[str, Any], context: CallContext) -> ToolResult:
        del context
        self.called.append((name, arguments))
        if self.error:
            raise self.error
        return ToolResult("said")

    def idle(self) -> None: ...

    def close(self) -> None: ...


def test_a_good_call_reaches_the_tool() -> None:
    tools = OneTool()
    assert answer(tools, "say", {"text": "x"}, CONTEXT) == ToolResult("said")
    assert tools.called == [("say", {"text": "x"})]


def test_a_mis_sent_call_is_answered_in_one_line_and_not_called() -> None:
    tools = OneTool()
    result = answer(tools, "say", {"txt": "x"}, CONTEXT)
    assert (result.is_error, tools.called) == (True, [])
    assert result.text == "usage: say: text is missing (a string); txt is not known here; say takes text"
    assert result.structured is not None
    assert result.structured["error"]["code"] == "usage"


def test_a_name_that_is_not_listed_goes_to_the_tools_unchecked() -> None:
    tools = OneTool()
    assert answer(tools, "hook_event", {"any": [1]}, CONTEXT) == ToolResult("said")
    assert tools.called == [("hook_event", {"any": [1]})]


def test_a_refusal_becomes_a_result_with_code_reason_and_next_step() -> None:
    refusal = Refusal("pass.already", "AC1 was marked by v at noon", "get_feature shows it", facts={"again": False})
    result = answer(OneTool(refusal), "say", {"text": "x"}, CONTEXT)
    assert result == refused(refusal)
    assert result.text == "pass.already: AC1 was marked by v at noon; get_feature shows it"
    assert result.structured == refusal.document()
    assert result.is_error


def test_our_own_fault_is_told_here_and_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    result = answer(OneTool(KeyError("lost")), "say", {"text": "x"}, CONTEXT)
    assert result.is_error
    assert result.text == "internal: our own fault in say: KeyError: 'lost'"
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("tallystick: the tool say: KeyError: 'lost' (")
    assert told.err.count("\n") == 1
