"""Holds that the protocol authors' own Python client lists and calls every tool of every role, in both eras."""

from __future__ import annotations

import sys

import pytest

from tests.faces.mcp.official import HERE, assert_surface
from tests.faces.mcp.shop import Shop

pytestmark = pytest.mark.needs("official client")


@pytest.mark.requirement("P12", "L13")
def test_every_tool_of_every_role_in_both_eras(shop: Shop) -> None:
    eras = {"auto": "2026-07-28", "handshake": "2025-11-25", "stateless": "2026-07-28"}
    assert_surface([sys.executable, str(HERE / "official_client.py")], shop, eras)
