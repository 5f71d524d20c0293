"""The last answers of calls that wrote something, so that a retry gets the receipt instead of doing it again."""

from __future__ import annotations

import _thread
from typing import TYPE_CHECKING

from tallystick import canonical
from tallystick.canonical import Json

if TYPE_CHECKING:
    from tallystick.mcp.toolset import CallContext, ToolResult

_REMEMBERED = 64


class Receipts:
    """Answers by the ids that a retry repeats: the request's, and the model's tool use where the client sends it."""

    def __init__(self) -> None:
        self._mutex = _thread.allocate_lock()
        self._kept: dict[str, ToolResult] = {}

    def find(self, name: str, arguments: dict[str, Json], context: CallContext) -> ToolResult | None:
        """The answer this very call had, None when it is new."""
        with self._mutex:
            return next((self._kept[key] for key in _keys(name, arguments, context) if key in self._kept), None)

    def keep(self, name: str, arguments: dict[str, Json], context: CallContext, result: ToolResult) -> None:
        """Remember an answer; the oldest are forgotten."""
        with self._mutex:
            for key in _keys(name, arguments, context):
                self._kept[key] = result
            while len(self._kept) > _REMEMBERED:
                del self._kept[next(iter(self._kept))]


def _keys(name: str, arguments: dict[str, Json], context: CallContext) -> list[str]:
    """The call by its ids, each with all its words: an id alone might be used for another call."""
    words = canonical.sha256(canonical.encode([name, arguments]))
    keys = [f"request {context.request_id!r} {words}"]
    if context.tool_use_id:
        keys.append(f"use {context.tool_use_id} {words}")
    return keys
