"""Holds the keys of every `--json` answer against docs/commands.md: each command is run in process, as a person at a
terminal, in a repository of its own, and its document must have the shape that the page shows."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tallystick.faces.cli.call import Streams
from tallystick.faces.cli.commands import COMMANDS
from tallystick.faces.cli.main import carry_out
from tallystick.faces.cli.terminal import Terminal
from tallystick.wiring import this_machine
from tests.yard.source import ROOT

BLOCK = re.compile(r"<!-- shapes -->\n```text\n(.*?)```", re.S)
ROW = re.compile(r"^(?P<name>[A-Za-z][A-Za-z ]*?)  +(?P<shape>.+?)(?=^\S|\Z)", re.M | re.S)
TOKEN = re.compile(r"\.\.\.|\w+|[{}\[\],:]")

#: Commands that serve instead of answering.
SILENT = {"mcp"}

CRITERIA = """\
- [ ] AC1 the cart keeps its lines
      test report
- [ ] AC2 a command exits well
      run: true
- [ ] AC3 a coupon works once
- [ ] AC4 the mail shows VAT
- [ ] AC5 a refund is booked
      tests: test_refund.py::test_it
"""

PLAN = '{"tasks": [{"id": "task-002", "title": "pay", "blocked_by": ["cart"]}]}'

FOREIGN = """\
{"features": [
  {"id": "AC1", "description": "something else", "passes": true},
  {"id": "AC7", "description": "a page is printed", "evidence_required": ["run: true"], "passes": true}
]}
"""

OUTPUT = """\
{"feature_id": "checkout", "phase": 3, "role": "designer", "slug": "x", "status": "completed", "output": {"x": "done"}}
"""

FILES = {
    "output.md": OUTPUT,
    "criteria.md": CRITERIA,
    "more.md": "- [ ] AC9 one more\n",
    "report.txt": "passed\n",
    "test_refund.py": "def test_it():\n    assert 0\n",
    "plan.md": PLAN,
    "foreign.md": FOREIGN,
}

#: One call of each command, in an order in which each can be carried out.
CALLS = (
    ("init",),
    ("demo",),
    ("ledger", "init", "checkout", "criteria.md"),
    ("ledger", "add", "more.md"),
    ("ledger", "pass", "AC1", "--evidence", "report.txt"),
    ("ledger", "fail", "AC3", "--error", "it worked twice"),
    ("ledger", "amend", "AC3", "--text", "a coupon works once a day", "--reason", "agreed"),
    ("ledger", "override", "AC4", "--reason", "seen by hand"),
    ("trust", "--yes"),
    ("check", "AC2"),
    ("ledger", "red"),
    ("verify", "AC1"),
    ("note", "the coupons are seeded"),
    ("brief",),
    ("status",),
    ("ledger", "show"),
    ("ledger", "failing"),
    ("ledger", "get", "AC1"),
    ("audit",),
    ("version",),
    ("completions", "bash"),
    ("output", "save", "output.md"),
    ("output", "find"),
    ("output", "show", "03-designer-x.json"),
    ("manifest", "start", "implementation", "--role", "developer"),
    ("manifest", "end", "implementation", "--status", "completed"),
    ("manifest", "show"),
    ("manifest", "list"),
    ("manifest", "close", "--status", "paused"),
    ("board", "add", "Build the cart", "--id", "cart", "--criterion", "AC1"),
    ("board", "import", "plan.md"),
    ("board", "list"),
    ("board", "next"),
    ("board", "claim", "cart", "--owner", "ann"),
    ("board", "done", "cart", "--owner", "ann"),
    ("board", "block", "task-002", "--reason", "no key"),
    ("board", "unblock", "task-002"),
    ("board", "remove", "task-002"),
    ("import", "foreign.md", "--feature", "checkout"),
    ("ledger", "accept", "--reason", "agreed"),
    ("share",),
    ("abandon", "--reason", "replaced"),
)


#: The shape of what somebody else wrote.
ANYTHING = object()


class Shapes:
    """The shapes of the page, read by name; a shape is a dict of keys, a list of one shape, or None for a value."""

    def __init__(self, page: str) -> None:
        block = BLOCK.search(page)
        assert block, "docs/commands.md has no block of shapes"
        self._rows = {match["name"]: match["shape"] for match in ROW.finditer(block[1])}

    @property
    def commands(self) -> set[str]:
        """The rows that are commands."""
        return {name for name in self._rows if not name.isupper()}

    def named(self, name: str) -> Any:
        """The shape of one row."""
        return self._read(TOKEN.findall(self._rows[name]))

    def _read(self, tokens: list[str]) -> Any:
        first = tokens.pop(0)
        if first == "[":
            inner = self._read(tokens)
            assert tokens.pop(0) == "]"
            return [inner]
        if first == "any":
            return ANYTHING
        if first != "{":
            return self.named(first) if first.isupper() else None
        keys: dict[str, Any] = {}
        while tokens[0] != "}":
            word = tokens.pop(0)
            if word == "...":
                keys |= self.named(tokens.pop(0))
            elif word != ",":
                keys[word] = None
                if tokens[0] == ":":
                    tokens.pop(0)
                    keys[word] = self._read(tokens)
        tokens.pop(0)
        return keys


SHAPES = Shapes((ROOT / "docs" / "commands.md").read_text(encoding="utf-8"))


def differences(answer: Any, shape: Any, at: str = "") -> list[str]:
    """Where an answer has other keys than its shape. What is null or an empty list fits any shape."""
    if shape is ANYTHING:
        return []
    if isinstance(answer, dict):
        if not isinstance(shape, dict):
            return [f"{at or 'the answer'}: an object is not shown"]
        inner = [line for key in answer.keys() & shape.keys() for line in differences(answer[key], shape[key], key)]
        unlike = answer.keys() ^ shape.keys()
        return [*inner, *(f"{at}.{key}: {'not shown' if key in answer else 'not there'}" for key in sorted(unlike))]
    if isinstance(answer, list) and answer:
        if not isinstance(shape, list):
            return [f"{at}: a list is not shown"]
        return [line for item in answer for line in differences(item, shape[0], at)]
    return []


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What each command answers, by its name."""
    top = tmp_path_factory.mktemp("keys")
    shop = top / "shop"
    subprocess.run(["git", "init", "--quiet", str(shop)], check=True)
    for name, text in FILES.items():
        (shop / name).write_text(text, encoding="utf-8")
    env = {"HOME": str(top), "XDG_STATE_HOME": str(top / "state"), "PATH": os.environ["PATH"]}
    found = {}
    for words in CALLS:
        if words[:2] == ("ledger", "accept"):
            _amend_in_a_copy(shop, {**env, "XDG_STATE_HOME": str(top / "another-home")})
        found[_name(words)] = _answer(words, shop, env)
    return found


def _amend_in_a_copy(shop: Path, env: dict[str, str]) -> None:
    """Another copy of the repository amends a criterion, and what it says of that comes back here."""
    copy = shop.parent / "copy"
    subprocess.run(["git", "init", "--quiet", str(copy)], check=True)
    shutil.copytree(shop / ".tallystick", copy / ".tallystick")
    _answer(("ledger", "amend", "AC1", "--text", "another text", "--reason", "agreed"), copy, env)
    shutil.copytree(copy / ".tallystick", shop / ".tallystick", dirs_exist_ok=True)


def _name(words: tuple[str, ...]) -> str:
    return next(command.name for command in COMMANDS if words[: len(command.words)] == command.words)


def _answer(words: tuple[str, ...], shop: Path, env: dict[str, str]) -> Any:
    out, err = io.StringIO(), io.StringIO()
    inputs = [str(shop / word) if word.endswith(".md") else word for word in words]
    argv = [*inputs, "--root", str(shop), "--json"]
    status = carry_out(argv, Terminal(out, err, env, True), this_machine(env), Streams(None, True), lambda: str(shop))
    assert status == 0, f"{' '.join(words)}: {out.getvalue()}{err.getvalue()}"
    return json.loads(out.getvalue())


def test_every_command_has_a_row_and_a_call() -> None:
    names = {command.name for command in COMMANDS} - SILENT
    assert SHAPES.commands == names
    assert {_name(words) for words in CALLS} == names


@pytest.mark.parametrize("name", sorted(SHAPES.commands))
def test_an_answer_has_the_keys_that_are_shown(name: str, answers: dict[str, Any]) -> None:
    assert differences(answers[name], SHAPES.named(name)) == []


def test_the_comparison_sees_what_differs() -> None:
    shape = {"a": [{"b": None}], "c": None}
    assert differences({"a": [{"b": 1}], "c": 2}, shape) == []
    assert differences({"a": [{"b": 1, "x": 2}]}, shape) == ["a.x: not shown", ".c: not there"]
    assert differences({"a": [], "c": {"d": 1}}, shape) == ["c: an object is not shown"]
