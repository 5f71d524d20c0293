"""Holds that honest work is proven without one false alarm: small tasks of many shapes, played by the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Future

import pytest

from tests.proof.trial import HONEST, Row, trying
from yard.probes import missing

ROWS = [pytest.param(row, id=row.name, marks=pytest.mark.needs(*row.needs)) for row in HONEST]


@pytest.fixture(scope="module")
def answers(request: pytest.FixtureRequest) -> Iterator[Mapping[str, Future[str]]]:
    """What becomes of the rows that were chosen, tried in the order of the tests."""
    mine = [item for item in request.session.items if getattr(item, "module", None) is request.module]
    chosen = [item.callspec.params["row"] for item in mine if hasattr(item, "callspec")]
    rows = [row for row in chosen if isinstance(row, Row)]
    with trying(row for row in rows if not any(map(missing, row.needs))) as found:
        yield found


def test_there_are_enough_of_them_and_each_has_its_own_name() -> None:
    assert len([row for row in HONEST if not row.cheat]) >= 40
    assert len({row.name for row in HONEST}) == len(HONEST)


@pytest.mark.requirement("P8")
@pytest.mark.parametrize("row", ROWS)
def test_it_ends_as_it_has_to(row: Row, answers: Mapping[str, Future[str]]) -> None:
    assert answers[row.name].result() == ""
