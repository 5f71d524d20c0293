"""Lines out of chunks: any chunking gives the same lines, and no line is ever held beyond the limit."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.mcp.framing import EDGE, Line, LineReader, Oversized


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ([b"one\n"], [b"one"]),
        ([b"one\ntwo\n"], [b"one", b"two"]),
        ([b"o", b"ne", b"\n"], [b"one"]),
        ([b"one\nhalf"], [b"one"]),
        ([b"\n\n"], [b"", b""]),
        ([b"crlf\r\n"], [b"crlf\r"]),
        ([b""], []),
    ],
)
def test_a_line_ends_at_lf_and_nowhere_else(chunks: list[bytes], lines: list[bytes]) -> None:
    reader = LineReader()
    assert [line for chunk in chunks for line in reader.feed(chunk)] == [Line(line) for line in lines]


def test_the_end_of_the_stream_ends_the_last_line_once() -> None:
    reader = LineReader()
    assert reader.feed(b"one\nhalf") == [Line(b"one")]
    assert reader.end() == [Line(b"half")]
    assert reader.end() == []


@given(st.binary(max_size=300).filter(lambda data: b"\n" not in data), st.lists(st.integers(0, 600), max_size=12))
def test_chunking_never_changes_what_is_read(piece: bytes, cuts: list[int]) -> None:
    stream = piece + b"\n" + piece[::-1] + b"\n" + piece
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    reader = LineReader(limit=100)
    found = [line for start, end in pairwise(places) for line in reader.feed(stream[start:end])]
    found += reader.end()
    whole = LineReader(limit=100)
    assert found == whole.feed(stream) + whole.end()


@pytest.mark.parametrize("chunk", [1, 7, 1000, 100_000])
def test_a_line_over_the_limit_is_dropped_but_for_its_edges(chunk: int) -> None:
    line = b"head" + b"x" * 20_000 + b"tail"
    stream = line + b"\nnext\n"
    reader = LineReader(limit=10_000)
    found = [each for at in range(0, len(stream), chunk) for each in reader.feed(stream[at : at + chunk])]
    assert found == [Oversized(line[:EDGE], line[-EDGE:], len(line)), Line(b"next")]


def test_a_line_of_exactly_the_limit_is_read() -> None:
    assert LineReader(limit=10).feed(b"x" * 10 + b"\n") == [Line(b"x" * 10)]
    assert isinstance(LineReader(limit=10).feed(b"x" * 11 + b"\n")[0], Oversized)


def test_an_endless_line_is_not_kept() -> None:
    import tracemalloc

    reader = LineReader(limit=50_000)
    chunk = b"x" * 10_000
    tracemalloc.start()
    try:
        for _ in range(2_000):
            reader.feed(chunk)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 200_000
    assert reader.feed(b"\n") == [Oversized(b"x" * EDGE, b"x" * EDGE, 20_000_000)]


@pytest.mark.parametrize("cut", [1, 499, 500, 501, 502, 520])
def test_the_edges_of_a_long_line_are_the_same_however_it_arrives(cut: int) -> None:
    line = bytes(range(97, 123)) * 20 + b"\n"
    whole = LineReader(500).feed(line)
    reader = LineReader(500)
    assert [*reader.feed(line[:cut]), *reader.feed(line[cut:])] == whole
