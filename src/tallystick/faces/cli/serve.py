"""`tallystick mcp`: the server for agents, over standard input and output.

Started often and waited for, so it comes here without argparse: `main` hands the words straight to `serve`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tallystick import __version__
from tallystick.errors import Refusal
from tallystick.ids import shown
from tallystick.journal.record import By
from tallystick.ledger.permissions import ROLES
from tallystick.mcp.stdio import serve as carry
from tallystick.mcp.tools import Tools
from tallystick.mcp.toolset import ServerInfo
from tallystick.wiring import answer_wait, assemble, this_machine

if TYPE_CHECKING:
    from tallystick.faces.cli.call import Call

INSTRUCTIONS = (
    "Criteria are frozen; only mark_pass passes one, and it runs the criterion's own check. Start with brief."
)


def mcp(call: Call) -> int:
    """Serve until standard input ends."""
    return serve(call.arguments.role or "solo", call.arguments.root, call.machine.env)


def serve(role: str, root: str | None, env: Mapping[str, str]) -> int:
    """Serve one connection as `role` for the repository at `root` (default: where the process stands).

    The variable TALLYSTICK_ANSWER_S shortens how long a call waits for its check (45 s), for a client that is less
    patient: an unfinished check then answers *running* sooner, and the same call picks it up.
    """
    if role not in ROLES:
        raise Refusal("usage", f"there is no role {shown(role)}", f"one of {', '.join(sorted(ROLES))}")
    session = env.get("CLAUDE_CODE_SESSION_ID", "")
    app = assemble(this_machine(env), root or os.getcwd(), By(role, None, None, session or None))
    info = ServerInfo("tallystick", __version__, "Tallystick", INSTRUCTIONS)
    return carry(Tools(app, role, answer_wait(env)), info, session)


def words(argv: Sequence[str]) -> tuple[str, str | None] | None:
    """Role and root out of `mcp [--role ROLE] [--root DIR]`; None for anything else, which argparse then explains."""
    rest = list(argv)
    found: dict[str, str] = {}
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if name not in ("--role", "--root") or (not value and not rest):
            return None
        found[name] = value or rest.pop(0)
    return found.get("--role", "solo"), found.get("--root")
