"""What a tool layer offers and what it is told: the seam between the protocol and the tools.

The protocol knows no tool. Whoever serves tools implements `Toolset` and gets everything about a call in a
`CallContext`. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from tallystick.errors import Refusal

Json = Any


class ServerInfo(NamedTuple):
    """How the server names itself, and what it tells a model about its use (`instructions`, may be empty)."""

    name: str
    version: str
    title: str = ""
    instructions: str = ""


class ToolSpec(NamedTuple):
    """One tool as it is listed; `annotations` are the hints of the protocol (`readOnlyHint` and its like).

    The input schema uses only the keywords of `schema.py`. A tool with an output schema answers its failures as text
    only: clients check whatever structure they get.
    """

    name: str
    title: str
    description: str
    input_schema: dict[str, Json]
    output_schema: dict[str, Json] | None = None
    annotations: dict[str, Json] | None = None


class ToolResult(NamedTuple):
    """The answer to one call. `text` and `structured` say the same facts: clients show a model one of the two."""

    text: str
    structured: dict[str, Json] | None = None
    is_error: bool = False


class CallContext(NamedTuple):
    """What a tool may know of a call.

    `request_id` and `tool_use_id` (empty if the client sends none) are what a retry repeats. The client's name and
    version are its own words, never a reason to trust it. `cancelled()` turns true when the client cancels the call or
    the server is about to end. `progress(done, total, message)` tells the client how far the call is, if it asked;
    `total` may be None, `done` must grow. Both callables may be used from any thread.
    """

    request_id: str | int
    tool_use_id: str
    client_name: str
    client_version: str
    protocol_version: str
    session: str
    cancelled: Callable[[], bool]
    progress: Callable[[float, float | None, str], None]


class Toolset(Protocol):
    """The tools of one role. Methods may be called from several threads at once; `tools` and `is_slow` must be quick.

    `call` gets every name that a client sends, listed or not, so that a denied name can be recorded and answered with
    the names that are offered; arguments are checked against the input schema only where the name is listed. It may
    raise `Refusal`, which becomes a tool result with `isError`.
    """

    def tools(self) -> Sequence[ToolSpec]:
        """The tools that are listed, always in the same order."""
        ...

    def is_slow(self, name: str) -> bool:
        """Whether a call of `name` may take longer than a read or a commit of the ledger; it then runs beside them."""
        ...

    def call(self, name: str, arguments: dict[str, Json], context: CallContext) -> ToolResult: ...

    def idle(self) -> None:
        """The time to write what was put off until after the answers; called within a second after the last call."""
        ...

    def close(self) -> None:
        """Ends whatever the tools still run; called once, after the last call."""
        ...


def refused(refusal: Refusal) -> ToolResult:
    """A refusal as a tool result: one line for the model, and the same document that every face sends."""
    text = f"{refusal.code}: {refusal.message}" + (f"; {refusal.hint}" if refusal.hint else "")
    return ToolResult(text, refusal.document(), is_error=True)
