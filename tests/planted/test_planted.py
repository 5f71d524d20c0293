"""Holds that the suite is worth its name: with one fault planted for each promise, its tests turn red and name it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planted.plants import PLANTS, Plant
from tests.planted.trial import copy, run, trial
from yard.requirements import current, node_ids

#: Promises of parts that are not built yet; a plant for each comes with its part.
NOT_YET = {"P14"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project to plant faults in."""
    return copy(tmp_path_factory.mktemp("planted"))


def test_every_promise_that_is_built_has_a_plant() -> None:
    promises = {row.id for row in current().rows if row.source == "promise"}
    assert {plant.promise for plant in PLANTS} | NOT_YET == promises
    assert NOT_YET.isdisjoint(plant.promise for plant in PLANTS)


def test_every_test_of_a_plant_exists() -> None:
    there = node_ids()
    named = {test.partition("[")[0] for plant in PLANTS for test in plant.tests}
    assert sorted(named - set(there)) == []
    assert all(plant.tests for plant in PLANTS)


def test_without_a_fault_they_are_green(place: Path) -> None:
    sound = run(place, [test for plant in PLANTS for test in plant.tests])
    assert sound.status == 0, sound.output
    assert "skipped" not in sound.output


@pytest.mark.parametrize("plant", PLANTS, ids=[plant.promise for plant in PLANTS])
def test_a_planted_fault_turns_its_tests_red_and_is_named(place: Path, plant: Plant) -> None:
    says = {row.id: row.says for row in current().rows}
    assert trial(plant, place, says[plant.promise]).missing == ""
