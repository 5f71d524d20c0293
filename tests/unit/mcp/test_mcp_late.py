"""Holds that a connection lists its tools without opening a ledger, and opens it once, with the first call."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from tallystick.journal.home import Home
from tallystick.mcp.catalogue import OFFERED, READING, offered
from tallystick.mcp.late import LateTools
from tallystick.mcp.toolset import CallContext, ToolResult
from tallystick.system.files import OsFiles
from tests.unit.mcp.tiny_toolset import TinyToolset

CONTEXT = CallContext(1, "", "c", "1", "", "", lambda: False, lambda done, total, says: None)


class Counted(TinyToolset):
    """A tool set that counts how often it is opened and ended, and lists reading tools only."""

    def __init__(self) -> None:
        super().__init__(None)
        self.opened = self.idled = self.closed = 0

    def open(self) -> Counted:
        self.opened += 1
        return self

    def tools(self) -> Any:
        return offered("solo", writes=False)

    def idle(self) -> None:
        self.idled += 1

    def close(self) -> None:
        self.closed += 1


def late(folder: Path, inner: Counted, role: str = "verifier") -> LateTools:
    return LateTools(role, Home(OsFiles(), str(folder)), inner.open)


@pytest.mark.parametrize("role", OFFERED)
def test_with_a_key_the_list_needs_no_ledger(tmp_path: Path, role: str) -> None:
    (tmp_path / "key").write_text("ab" * 32, encoding="ascii")
    inner = Counted()
    assert late(tmp_path, inner, role).tools() == offered(role, writes=True)
    assert inner.opened == 0


@pytest.mark.parametrize("key", [None, "no key"])
def test_without_one_that_can_be_read_the_ledger_is_looked_at(tmp_path: Path, key: str | None) -> None:
    if key is not None:
        (tmp_path / "key").write_text(key, encoding="ascii")
    inner = Counted()
    names = [tool.name for tool in late(tmp_path, inner).tools()]
    assert sorted(names) == sorted(READING)
    assert inner.opened == 1


def test_it_is_opened_once_by_many_calls_at_once(tmp_path: Path) -> None:
    inner = Counted()
    tools = late(tmp_path, inner)
    told: list[ToolResult] = []
    threads = [
        threading.Thread(target=lambda: told.append(tools.call("echo", {"text": "x"}, CONTEXT))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.text for result in told] == ["x"] * 16
    tools.idle()
    tools.close()
    assert (inner.opened, inner.idled, inner.closed) == (1, 1, 1)


def test_without_a_call_there_is_nothing_to_write_and_nothing_to_end(tmp_path: Path) -> None:
    inner = Counted()
    tools = late(tmp_path, inner)
    tools.idle()
    tools.close()
    assert (inner.opened, inner.idled, inner.closed) == (0, 0, 0)
    assert (tools.is_slow("mark_pass"), tools.is_slow("brief")) == (True, False)
