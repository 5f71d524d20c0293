"""Holds what segments add to a live journal: a union that no order of files changes, whatever copies of each record lie
there, and that nothing known, damaged or leaping takes part in (D3, D6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.journal import segments
from tallystick.journal.overlay import Overlay
from tallystick.journal.segments import chain_of
from tallystick.limits import COUNTER_JUMP
from tests.unit.journal.lines import FEATURE, STORE, WRITER, commits

CHAIN = chain_of(STORE, WRITER)
LINES = commits(1, 2, 1, 3, 1)


class Pile:
    """Segments in memory."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.opened: list[str] = []

    def features(self) -> list[str]:
        return [FEATURE]

    def names(self, feature: str) -> tuple[str, ...]:
        return tuple(sorted(self.files))

    def head(self, feature: str, name: str) -> bytes:
        return self.files[name].partition(b"\n")[0]

    def read(self, feature: str, name: str) -> bytes:
        self.opened.append(name)
        if self.files[name] == b"unreadable":
            raise Refusal("input.unreadable", "it is no regular file")
        return self.files[name]

    def path(self, feature: str, name: str) -> str:
        return f"/tree/{name}"


def segment(first: int, last: int) -> tuple[str, bytes]:
    """Name and bytes of a segment with the records of these places."""
    return segments.render(FEATURE, {CHAIN: (first, last)}, LINES[first - 1 : last])


spans = st.lists(
    st.tuples(st.integers(1, len(LINES)), st.integers(0, 4)).map(lambda one: (one[0], min(len(LINES), sum(one)))),
    max_size=6,
)


@pytest.mark.requirement("F5.15")
@given(spans, st.integers(0, len(LINES)))
def test_what_is_beyond_is_the_union_without_what_is_known(pieces: list[tuple[int, int]], known: int) -> None:
    files = dict(segment(*piece) for piece in pieces)
    beyond = Overlay(Pile(files), FEATURE).look(lambda: {CHAIN: known} if known else {}, known)
    places = {place for first, last in pieces for place in range(first, last + 1) if place > known}
    assert [record.i for record in beyond.records] == sorted(places)
    gaps = bool(places) and sorted(places) != list(range(known + 1, known + 1 + len(places)))
    assert ["incomplete" in finding.code for finding in beyond.findings] == ([True] if gaps else [])
    assert not any(finding.grave for finding in beyond.findings)


def test_a_segment_of_which_everything_is_known_is_not_even_read() -> None:
    pile = Pile(dict([segment(1, 3), segment(4, 6)]))
    overlay = Overlay(pile, FEATURE)
    assert [record.i for record in overlay.look(lambda: {CHAIN: 3}, 3).records] == [4, 5, 6]
    assert pile.opened == [segment(4, 6)[0]]
    assert overlay.look(lambda: {CHAIN: 6}, 6).records == ()


def test_new_files_and_files_that_went_are_noticed() -> None:
    pile = Pile({})
    overlay = Overlay(pile, FEATURE)
    assert overlay.look(dict, 0).records == ()
    pile.files.update([segment(1, 2)])
    assert len(overlay.look(dict, 0).records) == 2
    pile.files.clear()
    assert overlay.look(dict, 0).records == ()


@pytest.mark.requirement("F5.14")
def test_a_leap_of_the_counter_is_set_aside_with_all_that_follows() -> None:
    far = commits(1, 1, n=COUNTER_JUMP + 3, writer="b" * 32)[:1]
    leap = segments.render(FEATURE, {chain_of(STORE, "b" * 32): (1, 1)}, far)
    beyond = Overlay(Pile(dict([segment(1, 2), leap])), FEATURE).look(dict, 0)
    assert ([record.i for record in beyond.records], beyond.n) == ([1, 2], 2)
    assert ["leaps" in finding.says for finding in beyond.findings] == [True]


@pytest.mark.requirement("P3")
@given(st.binary(max_size=200) | st.sampled_from([LINES[0], b"unreadable", segment(1, 4)[1][:-5]]))
def test_any_bytes_are_named_and_never_stop_the_rest(junk: bytes) -> None:
    beyond = Overlay(Pile(dict([segment(1, 2), ("e" * 32 + ".jsonl", junk)])), FEATURE).look(dict, 0)
    assert [record.i for record in beyond.records][:2] == [1, 2]
    assert any(finding.code == "segment.damaged" for finding in beyond.findings)


@pytest.mark.parametrize(
    "held", [[], {"x": [1, 2]}, {CHAIN: [2, 1]}, {CHAIN: [0, 1]}, {CHAIN: [1]}, {CHAIN: ["1", 2]}, {CHAIN: [True, 2]}]
)
def test_a_head_of_another_shape_holds_nothing(held: object) -> None:
    from tallystick.canonical import encode

    name = f"{3:032x}.jsonl"
    head = encode({"segment": 1, "feature": FEATURE, "id": name[:32], "held": held})
    assert segments.read_head(head + b"\n", FEATURE, name) is None
