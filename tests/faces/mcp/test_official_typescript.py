"""Holds that the protocol authors' own TypeScript clients list and call every tool of every role, in the eras each has:
the SDK of version 1 begins with the handshake, the client package of version 2 has both."""

from __future__ import annotations

import pytest

from tests.faces.mcp.official import assert_surface, node
from tests.faces.mcp.shop import Shop

pytestmark = pytest.mark.needs("node packages")


@pytest.mark.requirement("P12", "L13")
def test_every_tool_of_every_role_by_the_sdk_of_version_1(shop: Shop) -> None:
    assert_surface(node("sdk_v1.mjs"), shop, {"handshake": ""})


@pytest.mark.requirement("P12", "L13")
def test_every_tool_of_every_role_by_the_client_of_version_2(shop: Shop) -> None:
    eras = {"auto": "2026-07-28", "handshake": "2025-11-25", "stateless": "2026-07-28"}
    assert_surface(node("client_v2.mjs"), shop, eras)
