"""Holds how git's machine formats are taken apart: every kind of row, names of every kind, and nothing invented."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.system.listing import (
    Entry,
    Pair,
    Tracked,
    parse_marks,
    parse_names,
    parse_raw,
    parse_settings,
    parse_status,
    quoted,
)

A, B, ZERO = "a" * 40, "b" * 40, "0" * 40
NAMES = st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=12)


def joined(*rows: str) -> str:
    return "".join(f"{row}\0" for row in rows)


@given(NAMES)
def test_status_tells_every_kind_of_row(name: str) -> None:
    status = parse_status(
        joined(
            f"# branch.oid {A}",
            "# branch.head main",
            "# stash 3",
            f"1 .M N... 100644 100644 100755 {A} {A} {name}",
            f"1 D. N... 100644 000000 000000 {A} {ZERO} x{name}",
            f"1 .A N... 000000 000000 100644 {ZERO} {ZERO} y{name}",
            f"1 .D S.M. 160000 160000 000000 {A} {A} z{name}",
            f"u UU N... 100644 100644 100644 100644 {ZERO} {A} {B} u{name}",
            f"u DU N... 100644 000000 100644 100644 {A} {ZERO} {B} v{name}",
        )
    )
    assert status.head == A
    one, sub = Entry("100644", A), Entry("160000", A)
    assert status.tracked == {
        name: Tracked(one, one, "100755", False, True),
        f"x{name}": Tracked(one, None, None, True, False),
        f"y{name}": Tracked(None, None, "100644", False, True),
        f"z{name}": Tracked(sub, sub, None, False, True),
        f"u{name}": Tracked(one, one, "100644", True, True),
        f"v{name}": Tracked(None, None, "100644", True, True),
    }


def test_before_the_first_commit_there_is_no_head() -> None:
    assert parse_status(joined("# branch.oid (initial)", "# branch.head main")) == (None, {})
    assert parse_status("") == (None, {})


@given(st.lists(NAMES, max_size=5), st.lists(st.tuples(st.sampled_from("HShsM"), NAMES), max_size=5))
def test_names_are_told_from_tracked_ones_and_no_flag_is_missed(loose: list[str], kept: list[tuple[str, str]]) -> None:
    rows = [f"? {name}" for name in loose] + [f"{letter} {name}" for letter, name in kept]
    flagged = any(letter in "Shs" for letter, _ in kept)
    assert parse_names(joined(*rows)) == (tuple(loose), flagged)
    mixed = [*rows[len(loose) :], *rows[: len(loose)]]
    assert parse_names(joined(*mixed)) == (tuple(loose), flagged), "in whatever order"


def test_marks_are_flags_and_submodules() -> None:
    hidden, submodules = parse_marks(
        joined(
            f"H 100644 {A} 0\tplain\tname",
            f"H 120000 {A} 0\tlink",
            f"S 100644 {A} 0\tskipped\tS",
            f"h 100755 {B} 0\tassumed",
            f"s 120000 {B} 0\tboth",
            f"H 160000 {A} 0\tsub",
            f"h 160000 {B} 0\tsub 2",
            f"M 160000 {B} 2\tin conflict",
            f"M 100644 {B} 1\tin conflict too",
        )
    )
    assert set(hidden) == {"skipped\tS", "assumed", "both"}
    assert submodules == {"sub": Entry("160000", A), "sub 2": Entry("160000", B)}


def test_raw_rows_have_two_sides() -> None:
    text = joined(
        f":100644 100755 {A} {B} M", "x\ny", f":000000 120000 {ZERO} {B} A", ":z", f":100644 000000 {A} {ZERO} D", "d"
    )
    assert parse_raw(text) == {
        "x\ny": Pair(Entry("100644", A), Entry("100755", B)),
        ":z": Pair(None, Entry("120000", B)),
        "d": Pair(Entry("100644", A), None),
    }
    assert parse_raw("") == {}


@pytest.mark.parametrize(
    ("text", "modes", "sparse"),
    [
        ("", True, False),
        (joined("core.filemode\nfalse", "core.sparsecheckout\ntrue"), False, True),
        (joined("core.filemode\nfalse", "core.filemode\nyes"), True, False),
        (joined("core.filemode\n0", "core.sparsecheckout"), False, True),
        (joined("core.filemode\nOff"), False, False),
    ],
)
def test_settings_hold_as_git_reads_them(text: str, modes: bool, sparse: bool) -> None:
    found = parse_settings(text)
    assert (found.modes, found.sparse) == (modes, sparse)


@pytest.mark.requirement("P16")
def test_every_filter_is_switched_off_by_its_name() -> None:
    text = joined("filter.lfs.clean\ngit-lfs clean", "filter.lfs.required\ntrue", "filter.a=b.C d.process\nx\ny")
    extra = parse_settings(text).extra
    count = int(extra["GIT_CONFIG_COUNT"])
    settings = {extra[f"GIT_CONFIG_KEY_{number}"]: extra[f"GIT_CONFIG_VALUE_{number}"] for number in range(count)}
    for driver in ("filter.lfs", "filter.a=b.C d"):
        assert [settings[f"{driver}.{key}"] for key in ("clean", "process", "required")] == ["", "", "false"]


@given(st.binary(min_size=1, max_size=20))
def test_a_quoted_name_is_one_line_without_anything_to_misread(name: bytes) -> None:
    line = quoted(name.decode("utf-8", "surrogateescape"))
    assert line[:1] == line[-1:] == b'"'
    assert b"\n" not in line
    assert b'"' not in line[1:-1]
    inner = line[1:-1].replace(b"\\", b"\\x").split(b"\\x")
    plain, escapes = inner[0], inner[1:]
    assert plain + b"".join(bytes([int(part[:3], 8)]) + part[3:] for part in escapes) == name
