"""Holds that the inspector's command line lists and calls every tool of every role, and that its strict look at the
tools' schemas finds nothing, in both eras."""

from __future__ import annotations

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import pytest

from tests.faces.mcp.shop import Shop
from tests.faces.mcp.surface import OFFERED, Call, calls, prepare
from yard.node import FOLDER

pytestmark = pytest.mark.needs("node packages")

INSPECTOR = FOLDER / "node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js"
ERAS = ("legacy", "modern")
#: Each word is a process of Node.js that starts a server; so many at once.
AT_ONCE = 3
#: The inspector's exit status for a result with `isError`.
IS_ERROR = 5


class Word(NamedTuple):
    """One command of the inspector: `call` None lists the tools."""

    role: str
    era: str
    call: Call | None


class Said(NamedTuple):
    """What the inspector said, and its exit status."""

    status: int
    result: Any
    err: str


def inspect(shop: Shop, word: Word) -> Said:
    """Run the inspector's command line once."""
    argv = ["node", str(INSPECTOR), "--format", "json", "--protocol-era", word.era, "--cwd", str(shop.folder)]
    argv += ["--connect-timeout", "0"]  # a busy machine is no defect
    if word.call is None:
        argv += ["--strict", "--method", "tools/list"]
    else:
        argv += ["--method", "tools/call", "--tool-name", word.call.tool]
        argv += ["--tool-args-json", json.dumps(word.call.arguments)]
    for name in ("PATH", "HOME", "XDG_STATE_HOME", "PYTHONPATH"):
        argv += ["-e", f"{name}={os.environ[name]}"]
    done = subprocess.run([*argv, "--", *shop.server(word.role)], capture_output=True, text=True)
    result = json.loads(done.stdout)["result"] if done.stdout else None
    return Said(done.returncode, result, done.stderr)


def kept(call: Call) -> bool:
    """Whether a call needs the connection of the one before, which holds the lease; here each has its own."""
    return call.tool == "update_task" and call.arguments["to"] == "completed"


@pytest.mark.requirement("P12", "L13")
def test_every_tool_of_every_role(shop: Shop) -> None:
    runs = prepare(shop)
    rounds = [[Word("", era, None)] for era in ERAS]
    for number, role in enumerate(name for name in OFFERED if name):
        era = ERAS[number % 2]
        rounds.append(
            [Word(role, era, None), *(Word(role, era, call) for call in calls(role, number, runs) if not kept(call))]
        )
    with ThreadPoolExecutor(AT_ONCE) as pool:  # the calls of one role build on each other, those of two do not
        said = list(pool.map(lambda words: [(word, inspect(shop, word)) for word in words], rounds))
    for word, answer in (pair for pairs in said for pair in pairs):
        assert (answer.status, answer.err) == (0, ""), (word, answer)
        if word.call is None:
            assert sorted(tool["name"] for tool in answer.result["tools"]) == sorted(OFFERED[word.role]), word
        else:
            facts = answer.result["structuredContent"]
            assert {key: facts[key] for key in word.call.facts} == word.call.facts, word
    shop.whole()


@pytest.mark.parametrize("era", ERAS)
def test_a_refusal_is_a_result_that_the_inspector_tells_apart(shop: Shop, era: str) -> None:
    said = inspect(shop, Word("verifier", era, Call("list_failing", {"task_id": "nosuch"}, {})))
    assert said.status == IS_ERROR
    assert said.result["structuredContent"]["error"]["code"] == "feature.unknown"
