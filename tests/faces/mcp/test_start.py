"""Holds what the start of a server and an ordinary call do without: no git process, no write before the first mark."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.faces.mcp.shop import FEATURE, Shop, accepted, criterion, every_file, freeze, mark


def test_neither_the_start_nor_an_ordinary_call_runs_git(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"), criterion("AC2"))
    called = shop.folder.parent / "git was called"
    shop.program("bin/git", f"echo \"$@\" >> '{called}'; exec '{shutil.which('git')}' \"$@\"")
    with shop.connect(PATH=f"{shop.folder}/bin{os.pathsep}{os.environ['PATH']}") as client:
        client.list_tools()
        accepted(client.call("list_failing", {"task_id": FEATURE}))
        accepted(client.call("get_feature", {"task_id": FEATURE, "feature_id": "AC1"}))
        accepted(client.call("brief", {}))
        accepted(client.call(*mark("AC1")))
        accepted(client.call("mark_failure", {"task_id": FEATURE, "feature_id": "AC2", "error": "x"}))
        accepted(client.call("note", {"feature": FEATURE, "text": "x"}))
        assert not called.exists()
        accepted(client.call("init_feature_list", {"task_id": "other", "features": [criterion("AC1")]}))
        assert called.exists()  # the freeze records the commit


def test_looking_writes_nothing(shop: Shop, home: Path) -> None:
    before = every_file(shop.folder, home)
    for role in ("", "verifier", "implementer"):
        with shop.connect(role) as client:
            client.list_tools()
            accepted(client.call("brief", {}))
            assert client.call("list_failing", {"task_id": FEATURE}).is_error
            assert client.call("get_feature", {"task_id": FEATURE, "feature_id": "AC1"}).is_error
    assert every_file(shop.folder, home) == before
    with shop.connect() as client:
        freeze(client, criterion("AC1"), criterion("AC2"))
        accepted(client.call(*mark("AC1")))
    before = every_file(shop.folder, home)
    with shop.connect("implementer") as client:
        for tool in ("list_failing", "brief"):
            accepted(client.call(tool, {"task_id": FEATURE} if tool == "list_failing" else {"feature": FEATURE}))
        accepted(client.call("get_feature", {"task_id": FEATURE, "feature_id": "AC1"}))
    assert every_file(shop.folder, home) == before
