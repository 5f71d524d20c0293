"""Holds what the yard says about Node.js: what is missing, whether it is too old, which packages are fetched."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.yard.source import ROOT
from yard import node


def test_a_machine_without_it_is_told_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert node.lacks() == "not installed: node, npm"


@pytest.mark.parametrize(
    ("version", "lacks"),
    [
        ("v18.20.4", "Node.js 20 or later is needed, this is v18.20.4"),
        ("nonsense", "Node.js 20 or later is needed, this is nonsense"),
        ("v20.0.0", ""),
        ("v31.1.0", ""),
    ],
)
def test_an_old_one_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, lacks: str) -> None:
    for name in ("node", "npm"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {version}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert node.lacks() == lacks


def test_the_packages_have_ranges_and_no_address() -> None:
    text = node.WANTED.read_text(encoding="utf-8")
    wanted = json.loads(text)["dependencies"]
    assert all(re.fullmatch(r">=\d+\.\d+\.\d+ <\d+", spec) for spec in wanted.values())
    assert "://" not in text
    assert [path.name for path in node.WANTED.parent.glob("*lock*")] == []


@pytest.mark.parametrize(("strict", "status", "word"), [("", 0, "skipped"), ("--no-skip", 1, "cannot run whole")])
def test_without_it_its_tests_are_skipped_in_one_line_or_not_at_all(
    tmp_path: Path, strict: str, status: int, word: str
) -> None:
    program = (
        "from yard.jobs import _groups, _node_for\n"
        "from yard.console import Stop\n"
        "try:\n"
        f"    _node_for(_groups(['faces']), {bool(strict)})\n"
        "except Stop as stop:\n"
        "    raise SystemExit(str(stop))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    said = (done.stdout + done.stderr).strip().splitlines()
    assert done.returncode == status
    assert len(said) == 1
    assert word in said[0]
    assert "not installed: node, npm" in said[0]
