"""Holds what the hand-written pages say about formats and tests against the code: record fields and types, excluded
lines, the example of a view, and that every test a page points at is there."""

from __future__ import annotations

import ast
import json
import re

import pytest

from tallystick.journal.record import By, Record, seal
from tallystick.ledger.document import render
from tallystick.ledger.model import Criterion, Draft, Ledger
from tallystick.ledger.views import EXCLUDED
from tests.yard.source import ROOT, called, package
from yard import pages

FORMATS = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
NAMED_TEST = re.compile(r"`(tests/[\w/.]+)`")


def section(title: str) -> str:
    """The text below one heading of the page on formats, up to the next."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", FORMATS, re.M | re.S)
    assert found, f"docs/formats.md has no section {title}"
    return found[1]


def first_cells(text: str) -> set[str]:
    """The names in the first column of the tables of a section."""
    rows = re.findall(r"^\| (`[^|]+`) \|", text, re.M)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_every_field_of_a_record_is_explained() -> None:
    record = Record("s", "f", "w", 1, (1, 1), 1, "", "p", {}, "t", By("shell"), "note_written", {})
    _, line = seal(record, b"k" * 32)
    assert first_cells(section("A record")) == {*json.loads(line), "sig"}


def test_every_record_type_is_explained_and_no_other() -> None:
    written = {
        ast.literal_eval(node.args[0])
        for module in package().values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and called(node) == "Event"
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }
    assert first_cells(section("Record types")) == written


def test_the_excluded_lines_are_shown() -> None:
    shown = re.search(r"```text\n# views of tallystick.*?\n(.*?)```", section("Places"), re.S)
    assert shown
    assert tuple(shown[1].splitlines()) == EXCLUDED


def test_the_example_of_a_view_is_what_is_written() -> None:
    shown = re.search(r"```json\n(.*?)```", section("The view"), re.S)
    assert shown
    ledger = Ledger("checkout")
    ledger.created_at = "2026-05-21T00:00:00.000Z"
    draft = Draft("AC1", "the cart keeps its lines", ("test report",))
    ledger.criteria["AC1"] = Criterion(
        *draft, draft.digest, passes=True, passed_at="2026-05-21T00:01:00.000Z", evidence_ref="reports/cart.txt"
    )
    assert shown[1].encode() == render(ledger)


@pytest.mark.parametrize("page", pages.documents(), ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_test_that_a_page_names_is_there(page: object) -> None:
    text = (ROOT / str(page)).read_text(encoding="utf-8")
    assert [name for name in NAMED_TEST.findall(text) if not (ROOT / name).exists()] == []
