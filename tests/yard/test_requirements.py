"""Holds requirements.toml and the tests together, both ways: every row has tests that exist or says what is planned,
every marker names a row, and the number of planned rows never grows."""

from __future__ import annotations

import subprocess
from collections import Counter

import pytest

from tests.yard.source import ROOT
from yard.requirements import SOURCES, Requirements, current, node_ids, parsed

HISTORY = 50


def _committed() -> list[Requirements]:
    """The file as the last commits that touched it left it, newest first; nothing outside a git repository."""
    git = ["git", "-c", "safe.directory=*", "-C", str(ROOT)]
    listed = subprocess.run(
        [*git, "log", f"-{HISTORY}", "--format=%H", "--", "requirements.toml"], capture_output=True, text=True
    )
    versions = []
    for commit in listed.stdout.split():
        shown = subprocess.run([*git, "show", f"{commit}:requirements.toml"], capture_output=True, text=True)
        if shown.returncode == 0:
            versions.append(parsed(shown.stdout))
    return versions


def test_every_promise_has_a_row() -> None:
    promises = [row.id for row in current().rows if row.source == "promise"]
    assert promises == [f"P{number}" for number in range(1, 23)]


def test_every_row_is_whole_and_has_an_id_of_its_own() -> None:
    rows = current().rows
    assert [name for name, times in Counter(row.id for row in rows).items() if times > 1] == []
    assert [row.id for row in rows if not row.says.endswith(".") or row.source not in SOURCES] == []


def test_every_row_has_a_test_or_says_what_is_planned() -> None:
    marked = {row for rows in node_ids().values() for row in rows}
    bare = [row.id for row in current().rows if not row.tests and not row.planned and row.id not in marked]
    assert bare == [], "rows with neither tests nor planned"


def test_every_test_that_a_row_names_exists() -> None:
    there = node_ids()
    lost = [f"{row.id}: {test}" for row in current().rows for test in row.tests if test.partition("[")[0] not in there]
    assert lost == []


def test_every_row_that_a_test_names_exists() -> None:
    ids = {row.id for row in current().rows}
    strays = [f"{test}: {row}" for test, rows in node_ids().items() for row in rows if row not in ids]
    assert strays == []


def test_the_number_of_planned_rows_stays_below_its_ceiling() -> None:
    requirements = current()
    assert len(requirements.planned) <= requirements.planned_ceiling


def test_the_ceiling_never_rose() -> None:
    ceilings = [current().planned_ceiling, *(version.planned_ceiling for version in _committed())]
    assert ceilings == sorted(ceilings), "newest first: the ceiling may only be lowered"


@pytest.mark.parametrize(
    "text",
    [
        'planned_ceiling = 1\n[[requirement]]\nid = "P1"\nsays = "x"\n',
        'planned_ceiling = 1\n[[requirement]]\nid = "P1"\nsays = "x"\nsource = "promise"\ntest = []\n',
    ],
    ids=["a missing key", "a misspelt key"],
)
def test_a_row_with_wrong_keys_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="requirement P1"):
        parsed(text)
