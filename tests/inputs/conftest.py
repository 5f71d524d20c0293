"""The desk of the tests of bad input: a ledger of three criteria, one of them passed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.desk import FEATURE, Desk


@pytest.fixture
def empty(tmp_path: Path) -> Desk:
    """A project without a store, a user without a key."""
    return Desk(tmp_path / "desk")


@pytest.fixture
def desk(empty: Desk) -> Desk:
    """A ledger in use."""
    empty.freeze()
    empty.cite("AC1")
    empty.ok("ledger", "fail", FEATURE, "AC2", "--error", "assert 2 == 1")
    return empty
