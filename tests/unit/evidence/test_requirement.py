"""Holds how one entry of `evidence_required` is read: what is a machine check, what is words, what is refused."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.ledger.requirement import (
    File,
    Paths,
    Requirement,
    Reserved,
    Run,
    Words,
    is_machine_check,
    parse,
)
from tallystick.ledger.requirement import Tests as NamedTests


@pytest.mark.parametrize(
    ("entry", "meant"),
    [
        ("run: pytest -q", Run(("pytest", "-q"))),
        ("run:make test", Run(("make", "test"))),
        ("run: python -c 'print(1); x = 2 > 1'", Run(("python", "-c", "print(1); x = 2 > 1"))),
        ('run: grep "a|b" "two words"', Run(("grep", "a|b", "two words"))),
        (r"run: echo \| \$(x) \&", Run(("echo", "|", "$(x)", "&"))),
        ("run: tool ''", Run(("tool", ""))),
        ("run: tool \\ ", Run(("tool", " "))),
        ("run: tool\n", Run(("tool",))),
        ("run: env CI=1 make", Run(("env", "CI=1", "make"))),
        ("run: ./check.sh # not a comment", Run(("./check.sh", "#", "not", "a", "comment"))),
        ("tests: tests/test_cart.py::test_total", NamedTests(("tests/test_cart.py::test_total",))),
        ("tests: tests/test_cart.py::test_p[a b, c]", NamedTests(("tests/test_cart.py::test_p[a b, c]",))),
        ('tests: ["a.py::x", "b.py::y", "a.py::x"]', NamedTests(("a.py::x", "b.py::y"))),
        ("tests: tests/test_cart.py::*", NamedTests(("tests/test_cart.py::*",))),
        ("file: docs/shot.png", File("docs/shot.png")),
        ("file: docs/with blank.png", File("docs/with blank.png")),
        ("paths: src/** 'docs/my file.md'", Paths(("src/**", "docs/my file.md"))),
        ('paths: ["src/**", "a b"]', Paths(("src/**", "a b"))),
        ("coverage: 80", Reserved("coverage", "80")),
        ("image: shot.png", Reserved("image", "shot.png")),
        ("  run: true", Run(("true",))),
        ("screenshot of the empty cart", Words("screenshot of the empty cart")),
        ("it runs: fast", Words("it runs: fast")),
        ("see https://example.org/run:1", Words("see https://example.org/run:1")),
        ("test: by hand", Words("test: by hand")),
    ],
)
def test_an_entry_is_what_its_prefix_says(entry: str, meant: Requirement) -> None:
    assert parse(entry) == meant


@pytest.mark.parametrize("entry", ["run: x", "tests: a.py::x", 'tests: ["a.B.c"]'])
def test_a_machine_decides_commands_and_tests(entry: str) -> None:
    assert is_machine_check(parse(entry))


@pytest.mark.parametrize("entry", ["a word", "file: x", "paths: x", "coverage: 80"])
def test_a_machine_decides_nothing_else(entry: str) -> None:
    assert not is_machine_check(parse(entry))


@pytest.mark.parametrize(
    ("entry", "operator"),
    [
        ("run: a | b", "|"),
        ("run: a && b", "&&"),
        ("run: a || b", "|"),
        ("run: a & ", "&"),
        ("run: a; b", ";"),
        ("run: a > out", ">"),
        ("run: a 2>&1", ">"),
        ("run: a < in", "<"),
        ("run: echo `b`", "`"),
        ("run: echo $(b)", "$("),
        ('run: echo "$(b)"', "$("),
        ('run: echo "`b`"', "`"),
        ("run: a\nb", "a line end"),
    ],
)
def test_what_only_a_shell_can_do_is_refused_with_a_way_out(entry: str, operator: str) -> None:
    with pytest.raises(Refusal, match="there is no shell") as caught:
        parse(entry)
    assert operator in caught.value.message
    assert "script" in caught.value.hint


@pytest.mark.parametrize(
    "entry",
    [
        "Run: pytest", "RUN: x", "Tests: a.py::x", "run : x", "FILE: x", "Paths: x", "Coverage: 80", "IMAGE:x",
        "run:", "run:   ", "tests:", "file: ", "paths:", "coverage:", "", "  ",
        "run: 'open", 'run: "open', "run: back\\", "run: ''", "run: A=1 make", "run: a\0b",
        "tests: []", "tests: [1]", 'tests: [""]', 'tests: ["a"', 'tests: ["a", ["b"]]', "tests: -x", "tests: --pdb",
        'tests: ["a\\nb"]', "tests: a\tb",
        "file: /etc/passwd", "file: ../x", "file: a/../../x", "file: ~/x", "file: C:/x", "file: \\\\host\\x",
        "paths: /etc/**", "paths: ok ../x", "paths: 'open", "file: a\0b",
    ],
)  # fmt: skip
def test_an_entry_that_nobody_could_check_is_refused_by_name(entry: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse(entry)
    assert caught.value.code == "input.invalid"
    assert caught.value.message.startswith('the entry "')
    assert caught.value.hint


def test_a_prefix_in_the_wrong_case_names_the_right_one() -> None:
    with pytest.raises(Refusal, match="written run:"):
        parse("Run: pytest")


_PLAIN = st.text(alphabet="ab *=-_/.[]\\'\"#$%é", max_size=30).filter(lambda text: "$(" not in text)


@given(_PLAIN)
def test_words_are_split_as_the_standard_library_splits_them(text: str) -> None:
    try:
        expected = shlex.split(f"x {text}")
    except ValueError:
        with pytest.raises(Refusal):
            parse(f"run: x {text}")
    else:
        assert parse(f"run: x {text}") == Run(tuple(expected))


@given(st.sampled_from(["", "run: ", "tests: ", "file:", "paths: ", "image: ", "Run: "]), st.text())
def test_any_text_is_read_or_refused(prefix: str, text: str) -> None:
    try:
        meant: object = parse(prefix + text)
    except Refusal as refusal:
        meant = refusal.code
    assert meant in ("input.invalid", Words(text)) or (prefix and not isinstance(meant, Words))
