"""The tools of a connection until the first call: a client that only looks what is offered waits for no ledger.

A session starts its servers and asks what they offer, often many at once; what a call needs is loaded with the first.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.mcp.catalogue import SLOW, offered

if TYPE_CHECKING:
    from tallystick.journal.home import Home
    from tallystick.mcp.toolset import CallContext, ToolResult, Toolset, ToolSpec


class LateTools:
    """A `Toolset` for `role` that is opened with the first call. `home` tells whether there is a key."""

    def __init__(self, role: str, home: Home, opened: Callable[[], Toolset]) -> None:
        self._role = role
        self._home = home
        self._open = opened
        self._mutex = _thread.allocate_lock()
        self._tools: Toolset | None = None

    def tools(self) -> Sequence[ToolSpec]:
        """What the role lists: with the user's key all of its tools; without one it takes a look at the store."""
        if self._tools is None and self._has_key():
            return offered(self._role, writes=True)
        return self._opened().tools()

    def is_slow(self, name: str) -> bool:
        """Whether the call may run a check."""
        return name in SLOW

    def call(self, name: str, arguments: dict[str, Json], context: CallContext) -> ToolResult:
        """Carry one call out."""
        return self._opened().call(name, arguments, context)

    def idle(self) -> None:
        """Write what was put off."""
        if self._tools is not None:
            self._tools.idle()

    def close(self) -> None:
        """End what still runs."""
        if self._tools is not None:
            self._tools.close()

    def _has_key(self) -> bool:
        try:
            return self._home.key() is not None
        except Refusal:
            return False

    def _opened(self) -> Toolset:
        with self._mutex:
            if self._tools is None:
                self._tools = self._open()
            return self._tools
