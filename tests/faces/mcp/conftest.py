"""The shop that every test of this face stands in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faces.mcp.shop import Shop


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    """A shop of its own for each test, its servers ended with it. No server may have said a word on stderr."""
    opened = Shop.opened(tmp_path / "shop")
    yield opened
    opened.close()
    assert opened.said() == ""
