"""The scene of every attack: a ledger of three criteria, one passed honestly, one failed, and records to forge with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """A ledger in use."""
    return Scene(tmp_path / "desk")
