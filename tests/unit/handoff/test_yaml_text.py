"""Holds that YAML is read strictly, alike by both parsers of PyYAML, and that what we write is read back as it was by
YAML 1.1 (PyYAML as everybody calls it) and by our own reader, whatever the text looks like."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.handoff.manifest.yaml_text import read_yaml, write_yaml
from tallystick.limits import INPUT_FILE, NESTING

FILE = "MANIFEST.yaml"
PARSERS: dict[str, type[Any]] = {"pure": yaml.BaseLoader}
if yaml.__with_libyaml__:
    PARSERS["fast"] = yaml.CBaseLoader

TEXTS = (
    "8", "6.5", "08", "no", "No", "yes", "on", "OFF", "y", "N", "true", "False", "null", "NULL", "~", "", " ", "1e3",
    "1E3", "0x1f", "0o17", "010", "1_000", "10:00", "1:2:3", "190:20:30", ".inf", "-.INF", ".nan", "+1", "-", "--",
    "---", "...", "- a", "? a", ": a", "a: b", "a:", "a #b", "#a", " a", "a ", "\ta", "a\tb", "a\nb", "a\r\nb", "\n",
    "a\x85b", "a\u2028b", "a\u2029b", "\ufeffa", "a\ufeff", "😀", "é", "日本", "\x00", "\x07", "\x7f", "\xa0", "\ufffe",
    "\u202e", "2024-01-01", "2024-01-01T00:00:00Z", "2024-1-1 1:1:1", "@a", "`a`", "&a", "*a", "!a", "!!str a", "|",
    ">", "%a", "'", '"', "\\", "[a]", "{a}", "a, b", "=", "<<", "a]", "sha256:ab", "C:\\x", "x" * 3000, "a  b", "a - b",
)  # fmt: skip

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=40)
    | st.sampled_from(TEXTS)
)
keys = st.text(max_size=20) | st.sampled_from(TEXTS)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4))


@given(values)
@example({text: text for text in TEXTS})
@example([[[]], [{}], {"a": [{"b": []}, [1, [2]]]}])
@example({"k" * 5000: {"a": 1}, "z" * 1100: [1], "y" * 1024: 0})
def test_what_is_written_is_read_back_by_every_reader(value: Any) -> None:
    text = write_yaml(value)
    assert yaml.safe_load(text) == value
    for parser in PARSERS.values():
        assert read_yaml(text.encode(), FILE, parser) == value


@given(st.text(max_size=60))
def test_no_written_text_acts_on_a_terminal(text: str) -> None:
    assert all(character.isprintable() or character == "\n" for character in write_yaml([text]) if character < "\xa0")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {"\udfff": 1}, [["a\ud83d"]]])
def test_what_json_cannot_say_is_not_written(value: Any) -> None:
    with pytest.raises(ValueError, match=r"no number|surrogate"):
        write_yaml(value)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10:00", "10:00"), ("no", "no"), ("yes", "yes"), ("on", "on"), ("2024-01-01", "2024-01-01"), ("0o17", 15),
        ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"), ("010", 10), ("1e3", 1000.0), ("0x1f", 31), ("~", None),
        ("True", True), ("FALSE", False), ("tRUE", "tRUE"), ("1_000", "1_000"), ("-.5", -0.5), ("''", ""), ("", None),
        ("'8'", "8"), ('"no"', "no"), ("|\n  a\n  b\n", "a\nb\n"), (">-\n  a\n  b\n", "a b"),
    ],
)  # fmt: skip
def test_scalars_are_those_of_yaml_1_2(text: str, value: object, parser: str) -> None:
    read = read_yaml(f"a: {text}".encode(), FILE, PARSERS[parser])["a"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("parser", PARSERS)
def test_keys_are_text_as_it_is_written(parser: str) -> None:
    data = b'8: a\n6.5: b\n"12": c\nno: d\n1e3: e\n~: f\n'
    assert list(read_yaml(data, FILE, PARSERS[parser])) == ["8", "6.5", "12", "no", "1e3", "~"]


@pytest.mark.parametrize("parser", PARSERS)
def test_byte_order_mark_line_ends_directive_and_nothing_are_fine(parser: str) -> None:
    assert read_yaml(b"\xef\xbb\xbf%YAML 1.2\r\n---\r\na: 1\r\nb: [x, y]\r\n", FILE, PARSERS[parser]) == {
        "a": 1,
        "b": ["x", "y"],
    }
    assert read_yaml(b"", FILE, PARSERS[parser]) is None
    assert read_yaml(b"# nothing\n", FILE, PARSERS[parser]) is None


BROKEN: dict[str, tuple[bytes, int, str]] = {
    "anchor": (b"a: 1\nb: &x 2\n", 2, "anchor"),
    "alias": (b"a: 1\nb: *x\n", 2, "alias"),
    "billion laughs": (b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", 1, "anchor"),
    "tag": (b"a: 1\n\nb: !!python/object/apply:os.system [true]\n", 3, "tag"),
    "plain tag": (b"a: !!str 1\n", 1, "tag"),
    "bare tag": (b"a: ! x\n", 1, "tag"),
    "merge key": (b"a:\n  <<: {b: 1}\n", 2, "merge key"),
    "duplicate key": (b"a: 1\nb: 2\na: 3\n", 3, "twice"),
    "duplicate key in two spellings": (b'8: 1\n"8": 2\n', 2, "twice"),
    "two documents": (b"a: 1\n---\nb: 2\n", 2, "more than one document"),
    "a list as key": (b"a: 1\n? [b]\n: c\n", 2, "no text"),
    "tab": (b"a:\n\tb: 1\n", 2, "not YAML"),
    "unclosed": (b"a: [1, 2\n", 2, "not YAML"),
    "not UTF-8": (b"a: 1\nb: \xff\n", 2, "UTF-8"),
    "control": (b"a: 1\nb: x\x07\n", 2, "U+0007"),
    "NUL": (b"a: 1\n\x00\n", 2, "U+0000"),
    "not a number": (b"a:\n  .nan\n", 2, "no number"),
    "too large": (b"a: 1e999\n", 1, "too large"),
    "endless": (b"a: " + b"9" * 5000, 1, "digits"),
    "UTF-16": ("a: 1".encode("utf-16"), 1, "UTF-8"),
}


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("name", BROKEN)
def test_what_is_refused_names_file_line_and_reason_in_one_line(name: str, parser: str) -> None:
    data, line, says = BROKEN[name]
    with pytest.raises(Refusal) as caught:
        read_yaml(data, FILE, PARSERS[parser])
    assert caught.value.code == "input.invalid"
    assert caught.value.where is not None
    assert (caught.value.where.file, caught.value.where.line) == (FILE, line)
    assert says in caught.value.message
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 300


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("deep", ["{}[{}]", "flow", "block"])
def test_depth_is_bounded_without_recursion(deep: str, parser: str) -> None:
    def nested(levels: int) -> bytes:
        if deep == "block":
            return "".join(f"{' ' * level}a:\n" for level in range(levels)).encode()
        if deep == "flow":
            return b"[" * levels + b"]" * levels
        return b"".join((b"[", b"{a: ")[level % 2] for level in range(levels)) + b"".join(
            (b"]", b"}")[level % 2] for level in reversed(range(levels))
        )

    read_yaml(nested(NESTING), FILE, PARSERS[parser])
    for levels in (NESTING + 1, 5000):
        with pytest.raises(Refusal, match=r"nests deeper than 64 levels|nesting depth"):
            read_yaml(nested(levels), FILE, PARSERS[parser])


def test_a_lone_surrogate_is_refused() -> None:
    for parser in PARSERS.values():
        with pytest.raises(Refusal, match=r"surrogate|Unicode"):
            read_yaml(b'a: "\\ud800"', FILE, parser)


def test_what_is_larger_than_the_limit_is_not_parsed() -> None:
    with pytest.raises(Refusal) as caught:
        read_yaml(b"#" * (INPUT_FILE + 1), FILE)
    assert caught.value.code == "input.too_large"
    assert "16,000,001" in caught.value.message


@given(st.binary(max_size=80) | st.text(alphabet="ab:-[]{}\"'&*!|># \n\t%@`?,~\\0", max_size=40).map(str.encode))
def test_any_bytes_are_read_or_refused_in_one_line(data: bytes) -> None:
    refusals = []
    for parser in PARSERS.values():
        try:
            read_yaml(data, FILE, parser)
        except Refusal as refusal:
            refusals.append(refusal)
    assert [one for one in refusals if one.code != "input.invalid" or "\n" in one.message] == []
