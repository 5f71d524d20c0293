"""Holds that a pass which we ran rests on the environment that it ran in: an upgrade makes it stale and the way back
makes it hold; what the run never used, and byte code, do not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.real.project import Project
from tests.unit.evidence.environments import PYTEST, copy_installed, install, virtual

FEATURE = "checkout"


@pytest.mark.requirement("P10")
def test_a_pass_is_stale_when_what_it_used_is_another(project: Project) -> None:
    site = virtual(project.folder / ".venv")
    copy_installed(site, *PYTEST)
    record = install(site, "left_pad", "1.2", {"left_pad.py": "WIDTH = 3\n"}) / "RECORD"
    text = "import left_pad\n\ndef test_width():\n    assert left_pad.WIDTH == 3\n"
    (project.folder / "test_pad.py").write_text(text, encoding="utf-8")
    (project.folder / ".gitignore").write_text(".venv/\n__pycache__/\n", encoding="utf-8")
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "the pad")
    project.done("ledger", "init", FEATURE, "-", given=b"- [ ] AC1 it pads\n      tests: test_pad.py::test_width\n")
    project.done("ledger", "pass", FEATURE, "AC1")
    assert project.passing(FEATURE) == {"AC1"}

    install(site, "unrelated", "1", {"unrelated.py": "", "unrelated.pth": "import sys\n"})
    python = str(project.folder / ".venv/bin/python")
    subprocess.run([python, "-c", "import left_pad, _pytest.runner"], check=True, env={"PATH": os.environ["PATH"]})
    assert (site / "__pycache__").is_dir()
    assert project.passing(FEATURE) == {"AC1"}

    newer = record.parent.with_name("left_pad-1.3.dist-info")
    record.parent.rename(newer)
    assert project.rows(FEATURE)["AC1"]["state"] == "stale"
    assert "left_pad 1.2 (environment)" in project.done("ledger", "get", FEATURE, "AC1").out
    newer.rename(record.parent)
    assert project.passing(FEATURE) == {"AC1"}


@pytest.mark.requirement("P10")
def test_an_installed_file_of_nobody_is_bound_by_its_bytes(project: Project) -> None:
    site = virtual(project.folder / ".venv")
    loose = Path(site, "loose.py")
    loose.write_text("WIDTH = 3\n", encoding="utf-8")
    lines = "import unittest\nimport loose\n\n\nclass PadTest(unittest.TestCase):\n    def test_width(self):\n"
    (project.folder / "test_pad.py").write_text(f"{lines}        self.assertTrue(loose.WIDTH)\n", encoding="utf-8")
    (project.folder / ".gitignore").write_text(".venv/\n__pycache__/\n", encoding="utf-8")
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "the pad")
    given = b"- [ ] AC1 it pads\n      tests: test_pad.PadTest.test_width\n"
    project.done("ledger", "init", FEATURE, "-", given=given)
    project.done("ledger", "pass", FEATURE, "AC1")
    assert project.passing(FEATURE) == {"AC1"}
    loose.write_text("WIDTH = 4\n", encoding="utf-8")
    assert f"{loose} (environment)" in project.done("ledger", "get", FEATURE, "AC1").out
