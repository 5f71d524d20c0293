"""Holds the measure of likeness: whole for the same bytes, the larger file counts, the best pairs go first.

That it is git's own is held against git in `tests/real/test_changes.py`.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.system.similarity import ENOUGH, pairs, pieces, similarity

LINES = st.lists(st.sampled_from([b"a\n", b"bb\n", b"c" * 70 + b"\n", b"\n", b"d"]), min_size=1, max_size=30)


def score(old: bytes, new: bytes) -> float:
    return similarity(pieces(old), pieces(new), max(len(old), len(new)))


@given(LINES, LINES)
def test_it_is_a_share_and_the_same_both_ways(one: list[bytes], other: list[bytes]) -> None:
    old, new = b"".join(one), b"".join(other)
    assert 0.0 <= score(old, new) <= 1.0
    assert score(old, new) == score(new, old)
    assert score(old, old) == 1.0


@given(st.binary(max_size=300))
def test_the_pieces_are_all_of_the_file(data: bytes) -> None:
    found = pieces(data)
    assert sum(found.values()) == len(data if b"\0" in data else data.replace(b"\r\n", b"\n"))
    assert all(len(piece) <= 64 and b"\n" not in piece[:-1] for piece in found)


@pytest.mark.parametrize(
    ("old", "new", "share"),
    [
        (b"a\nb\n", b"b\na\n", 1.0),
        (b"a\nb\n", b"a\nc\n", 0.5),
        (b"a\n", b"a\n" * 4, 0.25),
        (b"a\r\nb\r\n", b"a\nb\n", 4 / 6),
        (b"\0a\r\n", b"\0a\n", 0.0),
        (b"x" * 128, b"x" * 64 + b"y" * 64, 0.5),
        (b"", b"a\n", 0.0),
        (b"", b"", 0.0),
    ],
)
def test_the_larger_file_is_the_whole(old: bytes, new: bytes, share: float) -> None:
    assert score(old, new) == pytest.approx(share)


def test_the_best_pair_goes_first_and_each_is_used_once() -> None:
    text = [b"line %d\n" % number for number in range(20)]
    gone = {"a": b"".join(text), "b": b"".join(text[:15])}
    made = {"x": b"".join(text[:19]), "y": b"".join(text[:14]), "z": b"".join(text[:18])}
    assert pairs(gone, made) == {"x": "a", "y": "b"}


def test_of_equals_the_one_of_the_same_name_is_taken() -> None:
    text = b"".join(b"line %d\n" % number for number in range(20))
    assert pairs({"a/two": text, "a/one": text}, {"b/one": text + b"x\n", "b/two": text + b"y\n"}) == {
        "b/one": "a/one",
        "b/two": "a/two",
    }


def test_below_half_and_empty_files_are_no_pair() -> None:
    text = [b"line %d\n" % number for number in range(20)]
    less = b"".join(text[:9]) + b"other %d\n" * 13
    assert score(b"".join(text), less) < ENOUGH
    assert pairs({"a": b"".join(text)}, {"b": less}) == {}
    assert pairs({"a": b""}, {"b": b""}) == {}
    assert pairs({}, {"b": b"x"}) == pairs({"a": b"x"}, {}) == {}
