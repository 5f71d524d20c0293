"""Holds which names are allowed where, and that a name in a message acts on nobody's terminal (P18)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.ids import BIDI, criterion_id, escaped, feature_id, folded, is_feature_id, shown

ANY = st.text(st.characters() | st.sampled_from(["\udcff", "\ud800", "\x1b", "\u202e", "\u2028"]), max_size=80)


@pytest.mark.requirement("F1.5")
@given(st.text("abcxyz0189-", min_size=1, max_size=70) | ANY)
def test_one_rule_for_feature_ids(text: str) -> None:
    if not is_feature_id(text):
        with pytest.raises(Refusal) as caught:
            feature_id(text)
        assert (caught.value.code, bool(caught.value.hint)) == ("input.invalid", True)
    else:
        assert feature_id(text) == text
        assert set(text) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
        assert 1 <= len(text) <= 64
        assert not text.startswith("-")


@pytest.mark.requirement("F1.5")
@pytest.mark.parametrize(
    "name", ["con", "prn", "aux", "nul", *(f"{port}{at}" for port in ("com", "lpt") for at in range(10))]
)
def test_no_feature_bears_the_name_of_a_device(name: str) -> None:
    assert not is_feature_id(name)
    assert is_feature_id(f"{name}-1")


@pytest.mark.requirement("F1.6")
@given(ANY)
def test_a_criterion_id_is_printable_or_refused_in_printable_words(text: str) -> None:
    try:
        found = criterion_id(text)
    except Refusal as refusal:
        found = refusal.message
    assert escaped(found) == found
    assert found == found.strip()


@pytest.mark.requirement("F1.6")
@given(st.text(max_size=12))
def test_folding_twice_changes_nothing_and_joins_what_looks_the_same(text: str) -> None:
    once = folded(text)
    assert folded(once) == once
    assert folded(unicodedata.normalize("NFD", text)) == folded(unicodedata.normalize("NFC", text)) == once
    assert folded(text.casefold()) == once


@pytest.mark.requirement("P18")
@given(ANY)
def test_what_is_shown_acts_on_nothing_and_can_be_written_as_utf_8(text: str) -> None:
    for said in (escaped(text), shown(text)):
        said.encode("utf-8")
        assert not any(unicodedata.category(one) in ("Cc", "Cs", "Zl", "Zp") or one in BIDI for one in said)
    assert len(shown(text)) <= 60 * 6 + 2
    assert escaped(text, keep="\n").count("\n") == text.count("\n")


@given(st.text(st.characters(categories=("L", "N", "P", "S")), max_size=40))
def test_ordinary_text_is_shown_as_it_is(text: str) -> None:
    assert escaped(text) == text
    assert shown(text) == f'"{text}"'
