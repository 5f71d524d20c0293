"""Holds the table of limits in the documents against the code: the page is read as a person reads it, not generated
again, so that a mistake in the generator shows too."""

from __future__ import annotations

import re

import pytest

from tallystick import limits
from tests.yard.source import ROOT

PAGE = ROOT / "docs" / "formats.md"
ROW = re.compile(r"^\| `(?P<name>[A-Z_]+)` \| (?P<value>.+?) \|$", re.M)
UNITS = {"MB": 1_000_000, "bytes": 1, "characters": 1, "s": 1, "levels": 1, "rows": 1, "": 1}


def _number(words: str) -> float:
    """What `16 MB`, `8,000 characters` or `2^53 - 1` says as a number of the unit the code uses."""
    if words == "2^53 - 1":
        return 2**53 - 1
    digits, _, unit = words.partition(" ")
    return float(digits.replace(",", "")) * UNITS[unit]


@pytest.mark.requirement("F5.18")
def test_the_documents_show_the_limits_of_the_code() -> None:
    assert PAGE.is_file(), "docs/formats.md is missing: it holds the generated part `limits`"
    shown = {match["name"]: _number(match["value"]) for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))}
    in_code = {name: float(value) for name, value in vars(limits).items() if name.isupper() and name != "MB"}
    assert shown == in_code


@pytest.mark.parametrize(
    ("words", "number"),
    [("16 MB", 16e6), ("8,000 characters", 8000), ("64", 64), ("60 s", 60), ("2^53 - 1", 9007199254740991)],
)
def test_a_row_reads_as_the_number_it_says(words: str, number: float) -> None:
    assert _number(words) == number
