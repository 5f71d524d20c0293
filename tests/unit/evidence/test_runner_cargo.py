"""Holds how Rust's tests are started and how cargo's lines are read: real output that was captured, lines that a test
wrote to be taken for the harness' own, and what never counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.evidence.runners import RUNNERS, find_runner, runner_for_command, runner_for_ids
from tallystick.evidence.runners.base import Interpreter, Tree
from tallystick.evidence.runners.cargo_report import read_cargo
from tallystick.evidence.runners.cargo_runner import CARGO, ids_command
from tallystick.evidence.runners.report import Report
from tallystick.evidence.selectors import in_scope

CAPTURED = Path(__file__).parent / "captured"
HEAD = "     Running unittests src/lib.rs (target/debug/deps/shop-2e50b2037bf21912)\n\n"


def captured(name: str) -> Report:
    """The report of output that was captured."""
    return read_cargo((CAPTURED / name).read_bytes())


def lines(*said: str) -> Report:
    """The report of one test binary that printed these lines."""
    return read_cargo((HEAD + "".join(f"{line}\n" for line in said)).encode())


def summary(passed: int, failed: int = 0, ignored: int = 0) -> str:
    """The harness' last line."""
    word = "FAILED" if failed else "ok"
    return f"test result: {word}. {passed} passed; {failed} failed; {ignored} ignored; 0 measured; 0 filtered out"


# What cargo said


def test_a_real_run_is_read_whole() -> None:
    report = captured("cargo.txt")
    assert {test.id: test.outcome for test in report.tests.values()} == {
        "my_shop::tests::ignored": "skipped",
        "my_shop::tests::adds": "passed",
        "my_shop::tests::panics": "passed",
        "my_shop::tests::red": "failed",
        "cart::from_outside": "passed",
        "my_shop::src/lib.rs - total": "passed",
    }
    assert (report.runner, report.ended, report.unreadable, report.scopes) == ("cargo", True, "", ())


def test_a_failed_test_says_why_and_where() -> None:
    red = captured("cargo.txt").tests["my_shop::tests::red"]
    assert red.says.startswith("assertion `left == right` failed: totals differ\n")
    assert (red.file, red.line) == ("src/lib.rs", 15)


def test_older_words_of_a_panic_are_read_too() -> None:
    panic = "thread 'a' panicked at 'no total', src/cart.rs:7:5"
    said = ["running 1 test", "test a ... FAILED", "", "failures:", "", "---- a stdout ----", panic]
    report = lines(*said, "", "failures:", "    a", "", summary(0, 1))
    test = report.tests["shop::a"]
    assert (test.says.split("\n")[0], test.file, test.line) == ("no total", "src/cart.rs", 7)


def test_what_does_not_compile_speaks_for_every_test() -> None:
    report = captured("cargo_broken.txt")
    (scope,) = report.scopes
    assert (scope.says, scope.file, scope.line) == (
        "error[E0425]: cannot find function `missing` in this scope",
        "src/lib.rs",
        2,
    )
    assert in_scope(scope.id, "shop::t")
    assert not report.tests


def test_a_binary_that_ends_the_process_has_not_ended_the_run() -> None:
    report = captured("cargo_exits.txt")
    assert report.tests["cart::a_first"].outcome == "passed"
    assert (report.ended, report.unreadable) == (False, "")


def test_two_targets_of_one_name_share_ids_and_the_worst_counts() -> None:
    first = HEAD + f"running 1 test\ntest a ... FAILED\n\n{summary(0, 1)}\n"
    second = HEAD + f"running 1 test\ntest a ... ok\n\n{summary(1)}\n"
    for text in (first + second, second + first):
        assert read_cargo(text.encode()).tests["shop::a"].outcome == "failed"


def test_nothing_that_ran_is_nothing_reported() -> None:
    report = lines("running 0 tests", "", summary(0))
    assert (report.tests, report.ended) == ({}, True)
    assert read_cargo(b"").runner == ""


# What a test wrote


def test_a_line_that_a_test_wrote_past_the_capture_makes_the_report_unreadable() -> None:
    assert captured("cargo_forged.txt").unreadable == "line 45: my_shop announced 5 tests, named 6 and summed up 5"


@pytest.mark.parametrize(
    "said",
    [
        ("running 1 test", "test a ... ok", "test b ... ok", summary(1)),
        ("running 1 test", "test a ... ok", "test b ... ok", summary(2)),
        ("running 2 tests", "test a ... ok", summary(1)),
        ("running 1 test", "test a ... FAILED", summary(1)),
        ("running 1 test", "test a ... ignored", summary(1)),
        ("running 1 test", "test a ... ok", summary(1), summary(1)),
        ("running 1 test", "test a ... ok", HEAD.strip("\n"), "running 1 test", "test b ... ok", summary(1)),
    ],
)
def test_lines_that_do_not_agree_make_it_unreadable(said: tuple[str, ...]) -> None:
    assert lines(*said).unreadable


def test_what_a_failed_test_printed_names_no_test() -> None:
    printed = ["test tests::ghost ... ok", summary(9), "     Running tests/ghost.rs (target/debug/deps/ghost)"]
    said = ["running 1 test", "test a ... FAILED", "", "failures:", "", "---- a stdout ----", *printed]
    report = lines(*said, "", "failures:", "    a", "", summary(0, 1))
    assert (list(report.tests), report.unreadable) == (["shop::a"], "")


def test_lines_before_the_first_binary_name_no_test() -> None:
    text = f"warning: x\nrunning 1 test\ntest ghost ... ok\n{summary(1)}\n"
    assert read_cargo(text.encode()).tests == {}


# Ids and commands


@pytest.mark.parametrize(
    ("test_id", "spoken"),
    [
        ("shop::cart::tests::total", True),
        ("shop::src/lib.rs - cart::total", True),
        ("shop::*", True),
        ("my-shop::total", False),
        ("shop", False),
        ("tests/test_a.py::test_x", False),
        ("./cart::TestTotal", False),
    ],
)
def test_an_id_is_a_crate_and_a_path(test_id: str, spoken: bool) -> None:
    assert CARGO.speaks(test_id) is spoken


def test_a_form_of_two_runners_belongs_to_the_projects_own() -> None:
    assert runner_for_ids(["shop::*"], CARGO) == {"cargo": ["shop::*"]}
    assert runner_for_ids(["shop::*"], RUNNERS["unittest"]) == {"unittest": ["shop::*"]}


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (("shop::tests::a", "cart::b"), ("--tests", "--", "--exact", "tests::a", "b")),
        (("shop::tests::a", "shop::src/lib.rs - total"), ("--", "tests::a", "src/lib.rs - total")),
        (("shop::tests::*",), ("--tests", "--", "tests::")),
        (("shop::*", "shop::tests::a"), ("--",)),
    ],
)
def test_ids_run_by_their_names(ids: tuple[str, ...], words: tuple[str, ...]) -> None:
    command = ids_command(Interpreter("/bin/cargo", ""), ids, "/", "/run/carried")
    assert command.argv == ("/bin/cargo", "test", "--workspace", "--no-fail-fast", *words)
    assert command.env["CARGO_TARGET_DIR"] == "/run/tmp/cargo-target"
    assert command.env["CARGO_NET_OFFLINE"] == "true"


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("cargo test", "cargo"),
        ("cargo t --lib", "cargo"),
        ("cargo +nightly test", "cargo"),
        ("cargo build", "exit"),
        ("cargo nextest run", "exit"),
    ],
)
def test_a_command_is_cargos_where_it_tests(command: str, runner: str) -> None:
    assert runner_for_command(tuple(command.split())).name == runner


def test_words_that_open_the_lines_to_the_tests_are_left_out() -> None:
    command = CARGO.wrapped(("cargo", "test", "-q", "cart", "--", "--nocapture"), "/run/carried")
    assert command is not None
    assert command.argv == ("cargo", "test", "cart", "--")


def test_it_is_found_by_its_package() -> None:
    assert find_runner(Tree(("Cargo.toml", "src/lib.rs"), lambda _: None)) is CARGO
