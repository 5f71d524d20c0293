"""Holds the estimate of a text's cost and the cut by it: never above the bound, never more cut than needed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.handoff.cost import cost, cut

ANY = st.text(max_size=200)


@given(ANY, st.integers(4, 60))
def test_a_cut_costs_no_more_than_it_may_and_is_a_beginning(text: str, most: int) -> None:
    kept = cut(text, most)
    assert cost(kept) <= most
    assert kept == text or (kept.endswith("…") and text.startswith(kept[:-1]))


@given(ANY, st.integers(4, 60))
def test_what_fits_is_not_cut(text: str, most: int) -> None:
    if cost(text) <= most:
        assert cut(text, most) == text


@given(ANY, ANY)
def test_more_text_never_costs_much_less(one: str, other: str) -> None:
    assert cost(one + other) >= max(cost(one), cost(other)) // 2


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 1), ("a", 2), ("the cart", 4), ("12345", 3), ("\n\n", 3), ("é", 2), ("カ", 3), ("🛒", 4), ("\0", 2)],
)
def test_costs_by_example(text: str, tokens: int) -> None:
    assert cost(text) == tokens


def test_a_long_text_is_cut_between_words() -> None:
    assert cut("the cart keeps every line after a reload", 12) == "the cart keeps every line…"
