"""Holds that a difference is shown as a unified one, bounded, with nothing in it that a terminal acts on."""

from __future__ import annotations

from difflib import unified_diff

from hypothesis import given
from hypothesis import strategies as st

from tallystick.evidence.text_diff import lines_differ, unified

TEXT = b"".join(b"line %d\n" % at for at in range(30))


def test_the_lines_around_a_change_are_shown() -> None:
    after = TEXT.replace(b"line 10\n", b"line ten\n").replace(b"line 29\n", b"")
    assert unified("tests/test_a.py", TEXT, after, 100) == [
        "--- tests/test_a.py",
        "+++ tests/test_a.py",
        "@@ -8,7 +8,7 @@",
        " line 7",
        " line 8",
        " line 9",
        "-line 10",
        "+line ten",
        " line 11",
        " line 12",
        " line 13",
        "@@ -27,4 +27,3 @@",
        " line 26",
        " line 27",
        " line 28",
        "-line 29",
    ]
    assert lines_differ(TEXT, after) == 2


def test_a_file_that_appears_or_goes() -> None:
    assert unified("a", None, b"x\n", 9) == ["--- /dev/null", "+++ a", "@@ -0,0 +1 @@", "+x"]
    assert unified("a", b"x", None, 9) == [
        "--- a", "+++ /dev/null", "@@ -1 +0,0 @@", "-x", "\\ No newline at end of file",
    ]  # fmt: skip
    assert unified("a", b"x\n", b"x\n", 9) == []
    assert (lines_differ(None, b"x\n"), lines_differ(b"x\ny", None), lines_differ(b"x", b"x\n")) == (1, 2, 1)


def test_what_is_no_text_is_escaped_and_long_lines_are_cut() -> None:
    said = unified("a\x1b", b"", b"\xff\x1b[2J\xe2\x80\xae ok\r\n" + b"x" * 5_000, 9)
    assert said[1] == "+++ a\\x1b"
    assert said[3] == "+\\xff\\x1b[2J\\u202e ok\\r"
    assert said[4].endswith("x…")
    assert len(said[4]) < 500


def test_no_more_lines_than_asked_for() -> None:
    said = unified("a", b"", TEXT, 10)
    assert len(said) == 10
    assert said[-1] == "… 24 more lines"
    assert unified("a", b"", TEXT, 0) == []


def test_a_large_file_is_one_block() -> None:
    old, new = b"a\n" * 200_000, b"b\n" * 200_000
    assert lines_differ(b"x\n" + old, b"x\n" + new) == 200_000
    assert unified("a", b"x\n" + old, b"x\n" + new, 4)[2] == "@@ -1,200001 +1,200001 @@"


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=30)


@given(LINES, LINES)
def test_it_is_what_the_standard_library_says_where_nothing_is_cut(old: list[str], new: list[str]) -> None:
    said = unified("f", "".join(old).encode(), "".join(new).encode(), 1_000)
    wanted = [line.rstrip("\n") for line in unified_diff(old, new, "f", "f")]
    assert (
        sum(line[0] == "-" for line in said) - sum(line[0] == "+" for line in said) == len(old) - len(new) or not said
    )
    assert bool(said) == bool(wanted)
    assert rebuilt(said, old) == new


def rebuilt(said: list[str], old: list[str]) -> list[str]:
    """`old` with a unified difference applied."""
    made: list[str] = []
    at = 0
    for line in said[2:]:
        if line.startswith("@@"):
            start, _, count = line.split(" ")[1].removeprefix("-").partition(",")
            begin = int(start) - (count != "0")
            made += old[at:begin]
            at = begin
        elif line[0] == "+":
            made.append(line[1:] + "\n")
        else:
            assert old[at] == line[1:] + "\n"
            made += old[at : at + 1] if line[0] == " " else []
            at += 1
    return made + old[at:]


@given(st.binary(max_size=300), st.binary(max_size=300), st.integers(0, 20))
def test_any_bytes_are_shown_in_printable_lines(before: bytes, after: bytes, most: int) -> None:
    said = unified("f", before, after, most)
    assert len(said) <= most
    assert not any(character in line for line in said for character in "\n\r\x1b\x00")
    assert (lines_differ(before, after) == 0) == (before == after)
