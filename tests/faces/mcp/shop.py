"""A small shop to keep a ledger of: a real git repository with code, tests and a proof in it, and agents' connections.

Everything goes through `tallystick mcp` as a process of its own, spoken to by the scripted client, which shares no code
with the server.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from tallystick.agents.scripted.client import Answer, Client
from tests.real.project import PROOF, TALLYSTICK, Project

FEATURE = "checkout"
#: Only what hangs ever meets this; no test depends on how long anything takes.
BACKSTOP_S = 30.0

#: What the shop is made of. The tests fail in `total` until the sum is right.
WRONG, RIGHT = "def total(prices):\n    return len(prices)\n", "def total(prices):\n    return sum(prices)\n"
TESTS = """\
import unittest

from cart import total


class Cart(unittest.TestCase):
    def test_empty(self):
        self.assertEqual(total([]), 0)

    def test_total(self):
        self.assertEqual(total([1, 2]), 3)
"""
EMPTY_ID, TOTAL_ID = "test_cart.Cart.test_empty", "test_cart.Cart.test_total"

Json = Any


class Shop(Project):
    """The repository. `connections` are closed by the fixture, whatever a test leaves open."""

    def __init__(self, folder: Path, env: Mapping[str, str] | None = None) -> None:
        super().__init__(folder, env)
        self.connections: list[Client] = []

    @classmethod
    def opened(cls, folder: Path) -> Self:
        """A shop with wrong code, right tests and a proof, all committed. Its Python is the one of this test run."""
        shop = cls(folder)
        folder.mkdir()
        shop.git("init", "--quiet")
        shop.write(PROOF, "seen with these eyes\n")
        shop.write("cart.py", WRONG)
        shop.write("test_cart.py", TESTS)
        shop.write(".gitignore", ".venv\n")
        shop.git("add", ".")
        shop.git("commit", "--quiet", "-m", "first")
        (folder / ".venv").symlink_to(sys.prefix)
        return shop

    def write(self, name: str, text: str) -> None:
        """A file of the project."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def program(self, name: str, script: str) -> None:
        """A shell script in the project."""
        self.write(name, f"#!/bin/sh\n{script}\n")
        (self.folder / name).chmod(0o755)

    def server(self, role: str = "") -> list[str]:
        """The command of a server for `role`."""
        return [*TALLYSTICK, "mcp", *(["--role", role] if role else [])]

    def connect(self, role: str = "", era: str = "auto", **env: str) -> Client:
        """A connection of that role; solo without one. What the server says on stderr fails the test when it ends."""
        said = self.folder.parent / f"stderr-{len(self.connections)}"
        surroundings = {**os.environ, **self.env, **env}
        with said.open("wb") as file:
            client = Client(self.server(role), cwd=str(self.folder), env=surroundings, era=era, stderr=file.fileno())
        self.connections.append(client)
        return client

    def said(self) -> str:
        """All that servers have said on stderr so far."""
        return "".join(path.read_text() for path in sorted(self.folder.parent.glob("stderr-*")))

    def close(self) -> None:
        """End every server that still runs."""
        for client in self.connections:
            client.__exit__(None, None, None)

    def view(self, feature: str = FEATURE) -> Json:
        """The ledger's file as it lies in the tree."""
        return json.loads((self.folder / f".agent/tasks/{feature}/feature_list.json").read_bytes())

    def viewed(self, feature: str = FEATURE) -> set[str]:
        """The criteria that the ledger's file shows as passing; none while there is no file."""
        try:
            return {row["id"] for row in self.view(feature)["features"] if row["passes"]}
        except FileNotFoundError:
            return set()

    def facts(self, kind: str, feature: str = FEATURE) -> list[Json]:
        """The payload of every record of one type, as it lies on disk."""
        return [record["data"] for record in self.records(feature) if record["type"] == kind]

    def whole(self) -> None:
        """Raises unless the ledger holds together, by its own audit."""
        assert self.audit().document == {"holds": True, "anchored": True, "findings": []}


def criterion(name: str, *required: str, text: str = "") -> dict[str, Json]:
    """One criterion as an agent sends it."""
    row: dict[str, Json] = {"id": name, "description": text or f"what {name} asks for"}
    return row | ({"evidence_required": list(required)} if required else {})


def freeze(client: Client, *criteria: dict[str, Json], feature: str = FEATURE) -> Answer:
    """Freeze criteria; must be accepted."""
    return accepted(client.call("init_feature_list", {"task_id": feature, "features": list(criteria)}))


def mark(name: str, reference: str = PROOF, feature: str = FEATURE) -> tuple[str, dict[str, Json]]:
    """The call that passes a criterion."""
    return "mark_pass", {"task_id": feature, "feature_id": name, "evidence_ref": reference}


def get(client: Client, name: str, feature: str = FEATURE) -> Json:
    """What `get_feature` says of a criterion."""
    return accepted(client.call("get_feature", {"task_id": feature, "feature_id": name})).structured


def accepted(answer: Answer) -> Answer:
    """The answer, which must be no refusal."""
    assert not answer.is_error, answer.text
    return answer


def refused(answer: Answer, code: str, *says: str) -> Json:
    """The facts of an answer that must be a refusal with `code`; the text and the facts both say each of `says`."""
    assert answer.is_error, answer.text
    assert answer.structured["error"]["code"] == code, answer.text
    for word in says:
        assert word in answer.text
        assert word in json.dumps(answer.structured, ensure_ascii=False)
    return answer.structured


def until(holds: Callable[[], bool], seconds: float = BACKSTOP_S) -> None:
    """Wait until `holds`, which must come about by itself; only a fault ever waits the whole time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came about"
        time.sleep(0.01)


def every_file(*folders: Path) -> dict[str, bytes | None]:
    """Every path below some folders, with the bytes of files."""
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }


class Gate:
    """A check that waits until the test lets it through, and tells when it begins and when its last process is gone.

    `check` is the requirement that runs it. With `passing` False it is red in the end.
    """

    _made = 0

    def __init__(self, shop: Shop, passing: bool = True, aside: str = "") -> None:
        """`aside` is a shell line that the check carries out before it waits."""
        Gate._made += 1
        # In place, and the pipes inside the tree: a check sees no other folder that a test could reach it by.
        folder = shop.folder / ".gates"
        folder.mkdir(exist_ok=True)
        settings = shop.folder / ".tallystick" / "config.toml"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text('[verify]\nmode = "in-place"\n', encoding="utf-8")
        self._here = folder / f"here-{Gate._made}"
        self._through = folder / f"through-{Gate._made}"
        for path in (self._here, self._through):
            os.mkfifo(path)
        self._fd = os.open(self._here, os.O_RDONLY | os.O_NONBLOCK)
        status = 0 if passing else 1
        lines = f"exec 3>'{self._here}'\n{aside}\necho here >&3\nread line < '{self._through}'\nexit {status}"
        shop.program(f"gate-{Gate._made}.sh", lines)
        self.check = f"run: ./gate-{Gate._made}.sh"

    def reached(self) -> None:
        """Wait until a check has begun."""
        while not (said := self._wait()):
            # A pipe that everybody has left stays so for whoever reads it; a new reader waits for new writers.
            before, self._fd = self._fd, os.open(self._here, os.O_RDONLY | os.O_NONBLOCK)
            os.close(before)
        assert said == b"here\n"

    def open(self) -> None:
        """Let one check through that has begun."""
        self._through.write_bytes(b"go\n")

    def gone(self) -> None:
        """Wait until no process of the check is left."""
        while self._wait():
            pass

    def close(self) -> None:
        """Let the pipe go."""
        os.close(self._fd)

    def _wait(self) -> bytes:
        waiting = select.poll()
        waiting.register(self._fd, select.POLLIN)
        assert waiting.poll(BACKSTOP_S * 1000), "nothing happened"
        return os.read(self._fd, 4096)
