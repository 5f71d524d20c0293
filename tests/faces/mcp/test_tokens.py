"""Holds what agents are given to read to its bounds, in tokens, whatever the size of the ledger and whatever script it
is written in (P21); and that the estimate behind the cuts is never too low."""

from __future__ import annotations

import json

import pytest

from benchmarks import tokens
from tallystick.handoff.brief import TOKENS, Open, Standing, compose
from tallystick.handoff.cost import cost, cut
from tallystick.handoff.notes import Note
from tallystick.ledger.model import Criterion
from tallystick.limits import PAGE_ROWS
from tallystick.mcp import answers
from tests.faces.mcp.texts import TEXTS
from yard.tokens import count

pytestmark = pytest.mark.needs("node packages")

PAGE_TOKENS = 2_000


def test_the_estimate_is_never_too_low() -> None:
    counted = dict(zip(TEXTS, count(list(TEXTS.values())), strict=True))
    assert {name: (cost(text), counted[name]) for name, text in TEXTS.items() if cost(text) < counted[name]} == {}


def test_the_estimate_is_not_twice_too_high_for_what_agents_write_most() -> None:
    often = ("english", "error", "trace", "ids", "code", "json", "french", "german")
    counted = dict(zip(often, count([TEXTS[name] for name in often]), strict=True))
    assert {name for name in often if cost(TEXTS[name]) > 2 * counted[name]} == set()


@pytest.mark.parametrize("most", [5, 20, 60])
def test_a_cut_text_costs_no_more_than_it_may(most: int) -> None:
    pieces = {name: cut(text * 3, most) for name, text in TEXTS.items()}
    counted = dict(zip(pieces, count(list(pieces.values())), strict=True))
    assert {name: pieces[name] for name in pieces if counted[name] > most} == {}


def standing(text: str, size: int) -> Standing:
    rows = [Open(f"AC{number}", text, "failing", text if number % 2 else None) for number in range(size)]
    notes = [Note("2026-05-21T00:00:00.000Z", "verifier", text, True)] * 5
    return Standing("checkout", size, 2 * size, rows, size, size, notes, (text, text, text), None)


@pytest.mark.requirement("P21")
@pytest.mark.parametrize("size", [0, 1, 10, 200, 10_000])
def test_a_brief_stays_below_its_bound_in_every_script(size: int) -> None:
    briefs = {name: compose(standing(text, size)) for name, text in TEXTS.items()}
    structures = {
        name: json.dumps({"feature": "checkout", "brief": text}, ensure_ascii=False) for name, text in briefs.items()
    }
    for forms in (briefs, structures):
        counted = dict(zip(forms, count(list(forms.values())), strict=True))
        assert {name: tokens for name, tokens in counted.items() if tokens > TOKENS} == {}
    if size > 100:
        assert all(f"… and {size - text.count('- AC')} more open" in text for text in briefs.values())


@pytest.mark.requirement("P21", "L11")
def test_a_page_of_failing_criteria_stays_below_its_bound_in_every_script() -> None:
    pages = {}
    for name, text in TEXTS.items():
        rows = [(Criterion(f"AC{n}", text * 4, None, "", error=text * 4), "failing") for n in range(2 * PAGE_ROWS)]
        page = answers.failing(rows, None, 3, 4, text)
        structure = page.structured
        assert structure is not None
        assert (len(structure["features"]), structure["cursor"]) == (PAGE_ROWS, f"AC{PAGE_ROWS - 1}")
        pages[name, "structure"] = json.dumps(structure, ensure_ascii=False)
        pages[name, "text"] = page.text
    counted = dict(zip(pages, count(list(pages.values())), strict=True))
    assert {name: tokens for name, tokens in counted.items() if tokens > PAGE_TOKENS} == {}


@pytest.mark.requirement("P21")
@pytest.mark.parametrize("size", tokens.SIZES)
def test_every_answer_stays_below_its_bound_however_large_the_ledger(size: int) -> None:
    assert [row for row in tokens.measured(size) if row.verdict != "ok"] == []


@pytest.mark.requirement("P21")
def test_the_lists_of_tools_stay_below_their_bounds() -> None:
    assert [row for row in tokens.lists() if row.verdict != "ok"] == []
