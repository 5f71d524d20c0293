"""The environment of all scenes at once: they are played in threads, so it is not changed from test to test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.proof.trial import cleared


@pytest.fixture(scope="package", autouse=True)
def home() -> Iterator[None]:
    """In the place of the one for each test: every scene has a home of its own."""
    with cleared():
        yield
