"""Holds the format of a record: one canonical line whose digest and seal notice every changed byte (formats 5)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.journal.record import Record, Unreadable, authentic, canonical_line, open_line, seal
from tallystick.limits import COUNTER
from tests.unit.journal.lines import BY, KEY, OTHER_KEY, PAYLOAD, TEXT, commits, record, resealed, walked

LINE = seal(record(data={"text": 'été \u2028 \\ "x" \x07', "n": [1, 2.5, None, True]}), KEY)[1]


def opened(line: bytes) -> tuple[Record, str]:
    found = open_line(line)
    assert not isinstance(found, Unreadable), found
    return found


def fields() -> dict[str, Json]:
    """The fields of a good record, without digest and MAC."""
    value: dict[str, Json] = json.loads(seal(record(), KEY)[1])
    return {key: item for key, item in value.items() if key not in ("id", "mac")}


@pytest.mark.requirement("F5.4", "P18")
@given(PAYLOAD, BY, st.dictionaries(TEXT, TEXT, max_size=2), st.integers(1, COUNTER), st.integers(1, COUNTER))
def test_a_sealed_record_is_canonical_json_and_reads_back(
    data: dict[str, Json], by: Json, seen: dict[str, str], i: int, n: int
) -> None:
    sealed, line = seal(record(data=data, by=by, seen=seen, i=i, n=n), KEY)
    assert line.count(b"\n") == 1
    assert canonical.encode(json.loads(line)) + b"\n" == line
    assert canonical_line(line[:-1])
    read, mac = opened(line[:-1])
    assert read == sealed
    assert authentic(read, mac, KEY)
    assert not authentic(read, mac, OTHER_KEY)


@pytest.mark.requirement("F5.4")
def test_digest_and_seal_are_made_by_the_documented_rule() -> None:
    value = json.loads(LINE)
    rest = {key: item for key, item in value.items() if key not in ("id", "mac")}
    assert value["id"] == canonical.sha256(canonical.encode(rest))
    assert value["mac"] == canonical.mac(KEY, "tallystick/record/1", value["id"])
    assert sorted(value) == sorted(
        ["at", "by", "c", "data", "feature", "i", "id", "mac", "n", "prev", "seen", "store", "type", "v", "writer"]
    )


def sound(line: bytes) -> bool:
    """Whether a line is taken for a record of ours."""
    found = open_line(line)
    return not isinstance(found, Unreadable) and authentic(*found, KEY)


@pytest.mark.requirement("P11", "F5.4")
@pytest.mark.parametrize("change", [b"0", b'"', b" ", b"\xff"])
def test_every_changed_byte_is_noticed(change: bytes) -> None:
    line = LINE[:-1]
    taken = [
        at for at in range(len(line)) if line[at : at + 1] != change and sound(line[:at] + change + line[at + 1 :])
    ]
    assert taken == []


@pytest.mark.requirement("P11")
def test_every_byte_that_is_gone_added_or_flipped_is_noticed() -> None:
    line = LINE[:-1]
    changed = [line[:at] + line[at + 1 :] for at in range(len(line))]
    changed += [line[:at] + b" " + line[at:] for at in range(len(line) + 1)]
    changed += [line[:at] + bytes((line[at] ^ 0x20,)) + line[at + 1 :] for at in range(len(line))]
    assert [one for one in changed if sound(one)] == []


@given(st.binary(max_size=60))
def test_any_bytes_are_a_record_or_told_why_not(junk: bytes) -> None:
    found = open_line(junk)
    assert isinstance(found, Unreadable)
    assert found.says


@pytest.mark.requirement("F1.2")
def test_a_key_that_stands_there_twice_is_no_canonical_line() -> None:
    body = canonical.encode(fields()).replace(b'"data":{"text":"x"}', b'"data":{"text":"x","text":"y"}')
    line = resealed(body)
    assert not canonical_line(line)
    records, chain = walked(line + b"\n", key=None)
    assert records == []
    assert "canonical" in chain.damage[0].says


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"data":{', b'"data": {'), (b'"x"', b'"\\u0078"'), (b'"x"', b"NaN"), (b'"x"', b"1e999"), (b'"x"', b"1.50")],
)
def test_a_line_with_a_right_digest_that_is_not_canonical_counts_for_nothing(old: bytes, new: bytes) -> None:
    line = resealed(canonical.encode(fields()).replace(old, new))
    assert not canonical_line(line)
    records, chain = walked(line + b"\n", key=None)
    assert (records, len(chain.damage)) == ([], 1)


@pytest.mark.requirement("F1.2")
@pytest.mark.parametrize("where", ["data", "feature", "writer", "store", "type", "at"])
def test_a_lone_surrogate_makes_no_record(where: str) -> None:
    value = fields()
    value[where] = {"text": "SURROGATE"} if where == "data" else "SURROGATE"
    found = open_line(resealed(canonical.encode(value).replace(b"SURROGATE", rb"\ud800")))
    assert isinstance(found, Unreadable)
    assert "surrogate" in found.says


def test_a_seal_that_is_no_text_is_no_seal() -> None:
    forged = LINE[:-1].replace(json.loads(LINE)["mac"].encode(), rb"\ud800" * 10 + b"0000")
    assert not sound(forged)
    records, chain = walked(forged + b"\n")
    assert (records, len(chain.damage)) == ([], 1)


NO_TEXT: tuple[Json, ...] = (None, 5, [], {})
NO_PLACE: tuple[Json, ...] = (None, 0, -1, 1.0, True, "1", COUNTER + 1, [])
NO_PAIR: tuple[Json, ...] = (None, [], [1], [1, 2, 3], [2, 1], [0, 1], ["1", "1"], [True, True], {"a": 1, "b": 1})
NO_MAKER: tuple[Json, ...] = (None, 5, [], {}, "shell", {"role": 5}, {"role": None})
NO_OBJECT: tuple[Json, ...] = (None, 5, [], "x")
WRONG = [
    (key, value)
    for keys, values in (
        (("store", "feature", "writer", "prev", "at", "type"), NO_TEXT),
        (("i", "n"), NO_PLACE),
        (("c",), NO_PAIR),
        (("by",), NO_MAKER),
        (("data", "seen"), NO_OBJECT),
    )
    for key in keys
    for value in values
]


@pytest.mark.requirement("F5.4", "F5.7")
@pytest.mark.parametrize(("key", "value"), WRONG)
def test_a_field_of_a_wrong_type_makes_no_record(key: str, value: Json) -> None:
    found = open_line(resealed({**fields(), key: value}))
    assert isinstance(found, Unreadable)
    assert not found.blank_of_json


@pytest.mark.parametrize("key", sorted(fields()))
def test_a_missing_field_is_named(key: str) -> None:
    rest = fields()
    del rest[key]
    found = open_line(resealed(rest) if key != "n" else canonical.encode(rest))
    assert isinstance(found, Unreadable)
    assert key in found.says


def test_an_unknown_field_is_read_past_and_sealed_all_the_same() -> None:
    line = resealed({**fields(), "zone": {"a": 1}})
    assert sound(line)
    assert not sound(line.replace(b'"a":1', b'"a":2'))


def test_a_signature_stands_outside_the_digest() -> None:
    line = resealed(fields())
    signed = canonical.encode({**json.loads(line), "sig": "of the id"})
    assert sound(signed)
    assert not sound(signed.replace(b'"text":"x"', b'"text":"y"'))


@pytest.mark.requirement("P17")
@pytest.mark.parametrize(("version", "reads", "newer"), [(1, 1, False), (2, 1, True), (2, 2, False), (1, 2, False)])
def test_a_newer_record_says_that_it_is_newer(version: int, reads: int, newer: bool) -> None:
    found = open_line(seal(record(), KEY, version)[1][:-1], reads)
    assert (isinstance(found, Unreadable) and found.newer) is newer


@pytest.mark.parametrize("line", [b"", b"null", b"5", b"[]", b'"x"', b"{", b"\0" * 40, b"[" * 200_000, b"9" * 5000])
def test_what_is_no_object_is_told_apart_from_a_damaged_record(line: bytes) -> None:
    found = open_line(line)
    assert isinstance(found, Unreadable)
    assert found.blank_of_json


@pytest.mark.requirement("F5.7")
def test_numbers_stay_exact_in_any_reader() -> None:
    last = seal(record(n=COUNTER, i=COUNTER), KEY)[1]
    assert json.loads(last, parse_int=float)["n"] == COUNTER
    assert sound(last[:-1])
    assert len(commits(1, 2)) == 3
