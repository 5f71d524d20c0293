"""Holds the verdict on one writer's file: a torn end is set aside, damage anywhere else is named, good records stay."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.journal.chain import Chain, Head
from tallystick.journal.record import Record, seal
from tallystick.limits import RECORD_LINE
from tests.unit.journal.lines import FILE, KEY, OTHER_KEY, commits, places, record, walked

SIZES = (1, 2, 1, 3, 1)
LINES = commits(*SIZES)
WHOLE = b"".join(LINES)
#: Where the good part may end: after each whole commit.
ENDS = [0]
for size in SIZES:
    ENDS.append(ENDS[-1] + size)
BYTES = [sum(map(len, LINES[:end])) for end in ENDS]


def broken(line: bytes) -> bytes:
    """The line with another text in it and its old digest: still JSON."""
    return line.replace(b'"text":"record', b'"text":"RECORD')


def whole_before(cut: int) -> int:
    """How many records stand in whole commits within the first `cut` bytes."""
    return max(end for end, size in zip(ENDS, BYTES, strict=True) if size <= cut)


def named_lines(chain: Chain) -> list[int | None]:
    return [finding.line for finding in chain.damage]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(1, 400))
def test_a_whole_file_reads_back_in_pieces_of_any_size(sizes: list[int], piece: int) -> None:
    data = b"".join(commits(*sizes))
    records, chain = walked(data[at : at + piece] for at in range(0, len(data), piece))
    assert places(records) == list(range(1, sum(sizes) + 1))
    assert (chain.damage, chain.torn, chain.head.end, chain.head.lines) == ([], 0, len(data), sum(sizes))
    assert chain.digest() == canonical.sha256(data)


@pytest.mark.requirement("P2", "F5.5")
def test_cut_at_every_byte_it_is_the_state_before_or_after_a_commit() -> None:
    for cut in range(len(WHOLE) + 1):
        records, chain = walked(WHOLE[:cut])
        whole = whole_before(cut)
        assert places(records) == list(range(1, whole + 1)), cut
        assert chain.damage == [], cut
        assert (chain.head.end, chain.torn) == (BYTES[ENDS.index(whole)], cut - BYTES[ENDS.index(whole)])
        assert chain.digest() == canonical.sha256(WHOLE[: chain.head.end])


@pytest.mark.requirement("P2", "F5.5")
@pytest.mark.parametrize(
    "tail", [b"\0" * 4096, b"{", b"\xff\xfe", b"\n", b"\0\n\0\n", b"null\n[1]\n", b"<<<<<<< HEAD\n"]
)
def test_bytes_that_are_no_json_at_the_end_are_set_aside(tail: bytes) -> None:
    records, chain = walked(WHOLE + tail)
    assert (len(records), chain.damage, chain.torn) == (len(LINES), [], len(tail))
    more = b"".join(commits(1, after=chain.head))
    assert places(list(chain.walk([more]))) == [len(LINES) + 1]  # once the tail was cut off
    assert (chain.damage, chain.torn) == ([], 0)


@pytest.mark.requirement("P3", "P11", "F5.6")
def test_a_byte_flipped_anywhere_never_changes_what_is_read() -> None:
    original, _ = walked(WHOLE)
    last = len(LINES) - SIZES[-1]
    for at in range(0, len(WHOLE), 3):
        data = WHOLE[:at] + bytes((WHOLE[at] ^ 0x01,)) + WHOLE[at + 1 :]
        records, chain = walked(data)
        assert set(map(repr, records)) < set(map(repr, original)), at
        line = WHOLE[:at].count(b"\n") + 1
        if line < last or (line == last and WHOLE[at] != ord("\n")):
            assert line in named_lines(chain) or line + 1 in named_lines(chain), (at, chain.damage)
        else:
            assert chain.damage or chain.torn, at


@pytest.mark.requirement("P3", "F5.6")
@pytest.mark.parametrize("at", range(len(LINES)))
def test_a_damaged_line_is_named_by_file_line_and_offset_and_the_others_stay(at: int) -> None:
    records, chain = walked(b"".join([*LINES[:at], broken(LINES[at]), *LINES[at + 1 :]]))
    assert at + 1 not in places(records)
    assert set(range(1, len(LINES) + 1)) - set(places(records)) <= _commit_of(at + 1)
    assert chain.damage[0].line == at + 1
    assert chain.damage[0].offset == sum(map(len, LINES[:at]))
    assert chain.damage[0].says.startswith(f"{FILE}:{at + 1} ")
    assert all(finding.grave and finding.code == "journal.damaged" for finding in chain.damage)


def _commit_of(place: int) -> set[int]:
    first, behind = next((a, b) for a, b in itertools.pairwise(ENDS) if a < place <= b)
    return set(range(first + 1, behind + 1))


@pytest.mark.requirement("P3", "F5.6")
@pytest.mark.parametrize("junk", [b"\0" * 400 + b"\n", b"\0" * 400, b"hello\n", b"\n", b"{}\n", b'{"v":1}\n'])
def test_junk_in_the_middle_is_named_and_the_records_around_it_stay(junk: bytes) -> None:
    records, chain = walked(b"".join(LINES[:3]) + junk + b"".join(LINES[3:]))
    lost = 0 if junk.endswith(b"\n") else 1
    assert len(records) == len(LINES) - lost
    assert chain.damage[0].offset == BYTES[2]
    assert chain.torn == 0


def test_a_run_of_nul_in_the_middle_is_located_by_offset() -> None:
    start = BYTES[2] + 20
    data = WHOLE[:start] + b"\0" * 100 + WHOLE[start + 100 :]
    records, chain = walked(data)
    assert (places(records)[:3], chain.damage[0].line, chain.damage[0].offset) == ([1, 2, 3], 4, BYTES[2])


@pytest.mark.requirement("P11")
@pytest.mark.parametrize("at", range(len(LINES) - 1))
def test_a_removed_line_is_noticed(at: int) -> None:
    _, chain = walked(b"".join([*LINES[:at], *LINES[at + 1 :]]))
    assert named_lines(chain)[0] == at + 1


@pytest.mark.requirement("P11")
@pytest.mark.parametrize("at", range(len(LINES)))
def test_a_repeated_line_is_noticed_and_counted_once(at: int) -> None:
    records, chain = walked(b"".join([*LINES[: at + 1], LINES[at], *LINES[at + 1 :]]))
    assert chain.damage != []
    assert len(set(places(records))) == len(records)


@pytest.mark.requirement("P11")
def test_reordered_lines_are_noticed() -> None:
    chance = random.Random(7)
    for _ in range(60):
        lines = LINES[:]
        chance.shuffle(lines)
        if lines != LINES:
            records, chain = walked(b"".join(lines))
            assert chain.damage != []
            assert places(records) == sorted(set(places(records)))


def test_the_last_whole_commit_may_be_missing_for_all_that_the_file_itself_can_tell() -> None:
    records, chain = walked(b"".join(LINES[: ENDS[-2]]))
    assert (len(records), chain.damage, chain.torn) == (ENDS[-2], [], 0)  # it is the anchor that knows better


@pytest.mark.requirement("P11")
@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"feature": "refunds"}, 'feature "refunds"'),
        ({"store": "6" * 32}, "another store"),
        ({"writer": "b" * 32}, "another writer"),
    ],
)
def test_a_record_copied_from_elsewhere_counts_for_nothing(changed: dict[str, Any], says: str) -> None:
    foreign = commits(1, after=Head(1, record_at(1).id, 1), **changed)
    for key in (KEY, None):
        records, chain = walked(b"".join([LINES[0], *foreign, *LINES[1:]]), key=key)
        assert places(records) == list(range(1, len(LINES) + 1))
        assert says in chain.damage[0].says


def record_at(place: int) -> Record:
    return walked(WHOLE)[0][place - 1]


@pytest.mark.requirement("P11")
def test_a_chain_made_again_without_the_key_does_not_verify() -> None:
    forged = b"".join(commits(*SIZES, key=OTHER_KEY))
    records, chain = walked(forged)
    assert (records, len(chain.damage)) == ([], len(LINES))
    assert "not sealed" in chain.damage[0].says
    readable, open_chain = walked(forged, key=None)  # where there is no key nothing can be said
    assert (len(readable), open_chain.damage) == (len(LINES), [])


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_commit_in_the_middle_that_is_not_whole_is_damage(missing: int) -> None:
    lines = commits(1, 3, 1)
    del lines[1 + missing]
    records, chain = walked(b"".join(lines))
    assert chain.damage != []
    assert set(places(records)) <= {1, 2, 3, 4, 5}


def test_the_walk_goes_on_where_it_ended() -> None:
    records, chain = walked(WHOLE[: BYTES[3] + 30])
    assert chain.torn == 30
    rest = list(chain.walk([WHOLE[BYTES[3] :]]))
    assert places([*records, *rest]) == list(range(1, len(LINES) + 1))
    assert (chain.damage, chain.digest()) == ([], canonical.sha256(WHOLE))


def test_what_follows_damage_at_the_end_continues_the_chain() -> None:
    damaged = b"".join(LINES[:-1]) + broken(LINES[-1])
    _, chain = walked(damaged + b'{"half of a line')
    assert (chain.head.end, chain.torn, len(chain.damage)) == (len(damaged), 16, 1)
    more = b"".join(commits(1, after=chain.head))
    assert len(list(chain.walk([more]))) == 1
    again, fresh = walked(damaged + more)
    assert places(again) == list(range(1, len(LINES) + 1))
    assert fresh.damage == chain.damage


def _pieces(*parts: bytes) -> Iterator[bytes]:
    for part in parts:
        for at in range(0, len(part), 1 << 20):
            yield part[at : at + (1 << 20)]


@pytest.mark.requirement("P15")
def test_a_line_above_the_limit_is_named_and_not_held() -> None:
    junk = b"x" * (RECORD_LINE + (2 << 20)) + b"\n"
    records, chain = walked(_pieces(b"".join(LINES[:3]), junk, b"".join(LINES[3:])))
    assert len(records) == len(LINES)
    assert (chain.damage[0].line, chain.damage[0].offset) == (4, BYTES[2])
    assert "longer than a record" in chain.damage[0].says


def test_an_endless_line_at_the_end_is_a_torn_end_like_any_other() -> None:
    junk = b"\0" * (RECORD_LINE + 5)
    records, chain = walked(_pieces(WHOLE, junk))
    assert (len(records), chain.damage) == (len(LINES), [])
    assert (chain.head.end, chain.torn) == (len(WHOLE), len(junk))


@pytest.mark.requirement("P17")
def test_a_newer_record_stops_the_walk_by_name() -> None:
    newer = seal(record(i=len(LINES) + 1), KEY, 2)[1]
    with pytest.raises(Refusal) as caught:
        walked(WHOLE + newer)
    assert caught.value.code == "format.newer"
    assert f"{FILE}:{len(LINES) + 1}" in caught.value.message


def test_the_id_at_a_watched_place_is_told() -> None:
    _, chain = walked(b"")
    for place in (1, 3, 20):
        chain.watch(place)
    ids = [json.loads(line)["id"] for line in LINES]
    list(chain.walk([WHOLE]))
    assert [chain.watched(place) for place in (1, 2, 3, 20)] == [ids[0], None, ids[2], ""]
