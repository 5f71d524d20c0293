"""Holds the one way to write JSON canonically and the one way to read it strictly: what another reader could
understand differently is refused with its place (formats: strict in what we write)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.limits import NESTING

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def refusal(data: bytes) -> Refusal:
    with pytest.raises(Refusal) as caught:
        canonical.parse(data, "x.json")
    assert caught.value.code == "input.invalid"
    assert caught.value.message.startswith("x.json")
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 400
    return caught.value


@pytest.mark.requirement("F5.4", "P18")
@given(JSON)
def test_one_value_has_one_form_and_reads_back(value: Json) -> None:
    data = canonical.encode(value)
    assert data == json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    assert canonical.parse(data, "x.json") == value
    assert canonical.encode(canonical.parse(json.dumps(value, indent=3).encode(), "x.json")) == data
    assert b"\n" not in data


@pytest.mark.requirement("F1.2")
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), "\ud800", {"\udfff": 1}, [["\udc00"]]])
def test_what_json_cannot_say_is_never_written(value: Json) -> None:
    with pytest.raises(ValueError):
        canonical.encode(value)


@pytest.mark.requirement("F1.2", "F1.4")
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is not JSON"),
        (b"{", "x.json:1"),
        (b"{\n\n  1}", "x.json:3"),
        (b'{"a": 1, "a": 1}', 'the key "a" twice'),
        (b'[{"b": {"a": 1, "a": 2}}]', "twice"),
        (b'{"\\u0061": 1, "a": 2}', "twice"),
        (b"NaN", "NaN"),
        (b"[Infinity]", "Infinity"),
        (b"[-Infinity]", "-Infinity"),
        (b"[1e999]", "too large"),
        (b"[-1e999]", "too large"),
        (rb'"\ud800"', "surrogate"),
        (rb'{"\udfff": 1}', "surrogate"),
        (rb'"\ud83d\ud83d\ude00"', "surrogate"),
        (b'"\xff"', "UTF-8"),
        (b'"\xed\xa0\x80"', "UTF-8"),
        (b'"\xc0\x80"', "UTF-8"),
        (b'"a\nb"', "x.json:1"),
        (b'"\0"', ""),
        (b"[1,]", ""),
        (b"{'a': 1}", ""),
        (b"[] []", ""),
        (b"// no\n{}", ""),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", ""),
        (b"9" * 5000, ""),
        ('{"a": 1}'.encode("utf-16"), "UTF-8"),
        (b'{"' + b"k" * 100_000 + b'": 1, "' + b"k" * 100_000 + b'": 2}', "twice"),
    ],
)
def test_what_another_reader_could_understand_differently_is_refused(data: bytes, says: str) -> None:
    assert says in refusal(data).message


@pytest.mark.requirement("F1.3")
@pytest.mark.parametrize("data", [b'{"a":1}', b'\xef\xbb\xbf{"a":1}', b'{\r\n"a"\r\n:\t1}\r\n', b' \n{"\\u0061":1}'])
def test_marks_and_line_ends_are_no_matter(data: bytes) -> None:
    assert canonical.parse(data, "x.json") == {"a": 1}


@pytest.mark.requirement("P15")
def test_depth_is_measured_before_anything_is_parsed() -> None:
    canonical.parse(b"[" * NESTING + b"]" * NESTING, "x.json")
    for data in (b"[" * (NESTING + 1) + b"]" * (NESTING + 1), b"[" * 1_000_000, b'{"a":' * 1_000_000, b"[{" * 500_000):
        assert "deeper" in refusal(data).message


@given(st.recursive(st.just("x"), lambda inner: st.lists(inner, min_size=1, max_size=2), max_leaves=12))
def test_brackets_in_texts_do_not_count(value: Json) -> None:
    def deep(one: Json) -> int:
        return 1 + max(map(deep, one)) if isinstance(one, list) else 0

    data = json.dumps(value).encode()
    assert not canonical.deeper(data, deep(value))
    assert canonical.deeper(data, deep(value) - 1) is (deep(value) > 0)
    assert not canonical.deeper(json.dumps([json.dumps(value) + '"[[[\\']).encode(), 1)


@given(st.binary(max_size=60))
def test_any_bytes_are_json_or_refused(data: bytes) -> None:
    try:
        said = repr(canonical.parse(data, "x.json"))
    except Refusal as found:
        said = found.message
    assert said


def test_a_mac_is_for_one_key_one_purpose_and_one_text() -> None:
    macs = {canonical.mac(key, purpose, text) for key in (b"a", b"b") for purpose in ("p", "q") for text in ("x", "y")}
    assert len(macs) == 8
    assert canonical.same(canonical.mac(b"a", "p", "x"), canonical.mac(b"a", "p", "x"))
    assert not canonical.same("a", "\udcff")
