"""Fixtures of the tests that run the real thing: processes, git, the kernel's locks, disks and terminals."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with one commit and a proof to cite."""
    return Project.made(tmp_path / "shop")
