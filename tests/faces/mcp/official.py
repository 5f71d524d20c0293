"""Runs the programs that play sessions with official clients, and holds what came of them against the surface."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.faces.mcp.shop import Shop
from tests.faces.mcp.surface import GROUND, OFFERED, Call, calls, prepare
from yard.node import FOLDER

HERE = Path(__file__).parent


def node(program: str) -> list[str]:
    """The command that runs a program for Node.js; to be run in the folder of its packages."""
    return ["node", "--input-type=module", "--eval", (HERE / "node" / program).read_text(encoding="utf-8")]


def assert_surface(command: Sequence[str], shop: Shop, eras: dict[str, str]) -> None:
    """Every role in every era: play it with `command`, and hold each answer against the surface.

    `eras` are the eras that the client has, each with the revision that must be settled on ("": not to be told). The
    stateless era is what "auto" finds, so asked for by name it is played for one role only.
    """
    runs = prepare(shop)
    sessions: list[tuple[str, str, list[Call]]] = []
    for era in eras:
        for role in OFFERED if era != "stateless" else ("verifier",):
            sessions.append((role, era, calls(role, len(sessions), runs)))
    argv = shop.server()
    plan = {
        "server": {"command": argv[0], "args": argv[1:], "cwd": str(shop.folder), "env": dict(os.environ)},
        "sessions": [
            {"role": role, "era": era, "calls": [[call.tool, call.arguments] for call in wanted] + FAULTS}
            for role, era, wanted in sessions
        ],
    }
    done = subprocess.run(
        command, cwd=FOLDER if command[0] == "node" else None, input=json.dumps(plan).encode(), capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    results = json.loads(done.stdout)
    assert len(results) == len(sessions)
    for (role, era, wanted), result in zip(sessions, results, strict=True):
        _holds(role, eras[era], wanted, result)
    shop.whole()


#: What every role gets to hear for calls that are none, as results and not as errors of the protocol.
FAULTS: list[list[Any]] = [
    ["list_failing", {"task_id": "nosuch"}],
    ["get_feature", {"task_id": GROUND}],
    ["nosuch", {}],
]


def _holds(role: str, version: str, wanted: list[Call], result: dict[str, Any]) -> None:
    assert result["server"] in ("tallystick", "")
    assert "mark_pass" in result["instructions"] or not result["server"]
    assert sorted(result["tools"]) == sorted(OFFERED[role])
    assert version in ("", result["version"])
    assert result.get("faults", []) == []
    good, bad = result["answers"][: len(wanted)], result["answers"][len(wanted) :]
    for call, answer in zip(wanted, good, strict=True):
        assert answer["isError"] is False, (role, call, answer)
        assert {key: answer["structured"][key] for key in call.facts} == call.facts, (role, call)
    codes = [answer["structured"]["error"]["code"] for answer in bad]
    assert [answer["isError"] for answer in bad] == [True] * len(FAULTS)
    assert codes == ["feature.unknown", "usage", "usage"]
