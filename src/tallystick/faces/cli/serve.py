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
from tallystick.journal.home import Home
from tallystick.ledger.permissions import ROLES
from tallystick.mcp.late import LateTools
from tallystick.mcp.stdio import serve as carry
from tallystick.mcp.toolset import ServerInfo
from tallystick.system.files import OsFiles
from tallystick.system.place import find_place, home_folder
from tallystick.waits import answer_wait, lock_wait

if TYPE_CHECKING:
    from tallystick.faces.cli.call import Call
    from tallystick.mcp.toolset import Toolset

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
    session, wait = env.get("CLAUDE_CODE_SESSION_ID", ""), answer_wait(env)
    files, folder = OsFiles(), root or os.getcwd()
    lock_wait(env)  # what cannot be served is told now, not at the first call
    find_place(files, folder)

    def opened() -> Toolset:
        from tallystick.journal.record import By
        from tallystick.mcp.tools import Tools
        from tallystick.wiring import assemble, this_machine

        return Tools(assemble(this_machine(env), folder, By(role, None, None, session or None)), role, wait)

    info = ServerInfo("tallystick", __version__, "Tallystick", INSTRUCTIONS)
    return carry(LateTools(role, Home(files, home_folder(env)), opened), info, session)


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
