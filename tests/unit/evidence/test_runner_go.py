"""Holds how Go's tests are started and how its events are read: what Go said, in output that was captured, and what a
test printed to be taken for it. That real ones run stands in `tests/real/test_other_runners.py`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tallystick.errors import Refusal
from tallystick.evidence.runners import RUNNERS, find_runner, runner_for_command, runner_for_ids
from tallystick.evidence.runners.base import Interpreter, Tree
from tallystick.evidence.runners.go_report import read_go
from tallystick.evidence.runners.go_runner import GO, ids_command, program
from tallystick.evidence.runners.report import Report
from tallystick.evidence.selectors import covers, in_scope

CAPTURED = Path(__file__).parent / "captured"
HEAD = b'/project\ngo version go1.24.1 linux/arm64\n{"ImportPath":"example.org/shop/cart","Dir":"/project/cart"}\n'
PACKAGE = "example.org/shop/cart"


def events(*said: tuple[str, str] | tuple[str, str, str], head: bytes = HEAD) -> Report:
    """The report of these events of one package: action, test, output."""
    lines = []
    for action, test, *output in said:
        row = {"Action": action, "Package": PACKAGE, **({"Test": test} if test else {})}
        lines.append(json.dumps({**row, **({"Output": output[0]} if output else {})}).encode() + b"\n")
    return read_go(head + b"".join(lines))


def outcomes(report: Report) -> dict[str, str]:
    """What became of each test."""
    return {test.id: test.outcome for test in report.tests.values()}


# What Go said


def test_a_real_run_is_read_whole() -> None:
    report = read_go((CAPTURED / "go.txt").read_bytes())
    assert outcomes(report) == {
        "./::TestRoot": "passed",
        "./::TestExit": "failed",
        "./cart::TestTotal": "passed",
        "./cart::TestRed": "failed",
        "./cart::TestSkip": "skipped",
        "./cart::TestSub": "failed",
        "./cart::TestSub/two_lines": "passed",
        "./cart::TestSub/bad": "failed",
        "./panics::TestOk": "passed",
        "./panics::TestP": "failed",
    }
    assert (report.runner, report.version, report.ended, report.unreadable) == ("go", "go1.19.8", True, "")


def test_a_failed_test_says_why_and_where() -> None:
    report = read_go((CAPTURED / "go.txt").read_bytes())
    red, panicked = report.tests["./cart::TestRed"], report.tests["./panics::TestP"]
    assert (red.says.split("\n")[0], red.file, red.line) == ("want 3", "cart/cart_test.go", 10)
    assert panicked.says.startswith("panic: boom")


def test_what_does_not_compile_speaks_for_its_package_alone() -> None:
    (scope,) = read_go((CAPTURED / "go.txt").read_bytes()).scopes
    assert (scope.id, scope.outcome, scope.says) == ("./broken", "error", "undefined: Missing")
    assert (scope.file, scope.line) == ("broken/b_test.go", 5)
    assert in_scope(scope.id, "./broken::TestX")
    assert not in_scope(scope.id, "./broken/inner::TestX")
    assert not in_scope("./", "./cart::TestX")


def test_newer_words_for_a_failed_build_are_read_too() -> None:
    said = [
        {"ImportPath": f"{PACKAGE} [{PACKAGE}.test]", "Action": "build-output", "Output": f"# {PACKAGE}\n"},
        {"ImportPath": PACKAGE, "Action": "build-output", "Output": "cart/a_test.go:6:9: undefined: Total\n"},
        {"ImportPath": PACKAGE, "Action": "build-fail"},
        {"Action": "start", "Package": PACKAGE},
        {"Action": "fail", "Package": PACKAGE, "Elapsed": 0, "FailedBuild": PACKAGE},
    ]
    report = read_go(HEAD + b"".join(json.dumps(row).encode() + b"\n" for row in said))
    (scope,) = report.scopes
    assert (scope.id, scope.says, scope.file, scope.line) == ("./cart", "undefined: Total", "cart/a_test.go", 6)


def test_a_package_that_fails_without_a_red_test_is_red() -> None:
    report = events(("run", "TestA"), ("pass", "TestA"), ("fail", ""))
    assert [scope.id for scope in report.scopes] == ["./cart"]


def test_a_run_that_breaks_off_has_not_ended() -> None:
    whole = (CAPTURED / "go.txt").read_bytes()
    cut = read_go(whole[: whole.index(b'"Action":"pass","Package":"example.org/shop/cart"') + 20])
    assert (cut.ended, cut.unreadable) == (False, "")
    assert "unfinished" in outcomes(cut).values()
    assert not read_go(b"").runner


# What a test printed


def test_an_event_that_a_test_prints_is_only_its_output() -> None:
    printed = '{"Action":"pass","Package":"example.org/shop/cart","Test":"TestB"}\n'
    report = events(("run", "TestA"), ("output", "TestA", printed), ("pass", "TestA"), ("pass", ""))
    assert outcomes(report) == {"./cart::TestA": "passed"}


def test_a_frame_that_a_test_prints_makes_the_report_unreadable() -> None:
    report = read_go((CAPTURED / "go_forged.txt").read_bytes())
    assert report.unreadable == "line 12 says that TestGhost begins while TestForge runs"
    assert "./forges::TestGhost" not in report.tests


def test_an_end_without_a_beginning_makes_it_unreadable() -> None:
    assert "had not begun" in events(("pass", "TestB")).unreadable
    twice = events(("run", "TestA"), ("pass", "TestA"), ("pass", "TestA"))
    assert "had not begun" in twice.unreadable


def test_a_test_is_as_good_as_its_worst_run() -> None:
    again = [("run", "TestA"), ("pass", "TestA"), ("run", "TestA")]
    assert outcomes(events(*again)) == {"./cart::TestA": "unfinished"}
    assert outcomes(events(*again, ("fail", "TestA"))) == {"./cart::TestA": "failed"}
    assert outcomes(events(*again, ("pass", "TestA"))) == {"./cart::TestA": "passed"}


def test_tests_beside_each_other_and_subtests_are_no_forgery() -> None:
    beside = [("run", "TestA"), ("pause", "TestA"), ("run", "TestB"), ("run", "TestB/x"), ("pause", "TestB")]
    report = events(*beside, ("cont", "TestA"), ("cont", "TestB"), ("pass", "TestA"), ("pass", "TestB/x"))
    assert (report.unreadable, report.tests["./cart::TestA"].outcome) == ("", "passed")


@pytest.mark.parametrize("line", [b'{"Action":\n', b'{"Action":5}\n', b'{"Action":"run","Action":"pass"}\n'])
def test_a_broken_event_makes_it_unreadable(line: bytes) -> None:
    assert read_go(HEAD + line).unreadable.startswith("line 4 is no")


def test_a_package_is_listed_only_before_the_first_test() -> None:
    late = b'{"ImportPath":"example.org/shop/other","Dir":"/project/cart"}\n'
    first = b'{"Action":"run","Package":"example.org/shop/other","Test":"TestA"}\n'
    assert list(read_go(HEAD + first + late).tests) == ["example.org/shop/other::TestA"]


# Ids and commands


@pytest.mark.parametrize(
    ("test_id", "spoken"),
    [
        ("./cart::TestTotal", True),
        ("./::TestTotal", True),
        ("./cart::TestTotal/two_lines", True),
        ("./cart/inner::ExampleTotal", True),
        ("./cart::*", True),
        ("cart::TestTotal", False),
        ("./cart::helper", False),
        ("./cart", False),
        ("cart.py::TestTotal", False),
    ],
)
def test_an_id_is_a_package_and_a_test(test_id: str, spoken: bool) -> None:
    assert GO.speaks(test_id) is spoken
    if spoken:
        assert runner_for_ids([test_id], RUNNERS["pytest"]) == {"go": [test_id]}


def test_a_star_covers_the_tests_of_one_package() -> None:
    assert covers("./cart::*", "./cart::TestTotal/x")
    assert not covers("./cart::*", "./cart/inner::TestTotal")


def test_ids_run_once_and_by_their_names() -> None:
    ids = ("./cart::TestA/x", "./cart::TestB", "./ship::TestA")
    argv = ids_command(Interpreter("/usr/bin/go", ""), ids, "/", "/own").argv
    assert argv[:2] == ("sh", "-c")
    assert argv[3:] == ("/usr/bin/go", "-count=1", "-run", "^(TestA|TestB)$", "./cart", "./ship")
    assert "-run" not in ids_command(Interpreter("go", ""), ("./cart::*", "./ship::TestA"), "/", "/own").argv


def test_a_check_fetches_nothing() -> None:
    env = ids_command(Interpreter("go", ""), ("./cart::TestA",), "/", "/own").env
    assert (env["GOPROXY"], env["GOTOOLCHAIN"], env["GOENV"]) == ("off", "local", "off")


@pytest.mark.parametrize(
    ("command", "runner"),
    [("go test ./...", "go"), ("/opt/go/bin/go test -run X", "go"), ("go vet", "exit"), ("make test", "exit")],
)
def test_a_command_is_gos_where_it_tests(command: str, runner: str) -> None:
    assert runner_for_command(tuple(command.split())).name == runner


def test_it_is_found_by_its_module_and_needs_its_program(tmp_path: Path) -> None:
    assert find_runner(Tree(("go.mod", "cart/cart_test.go"), lambda _: None)) is GO
    with pytest.raises(Refusal) as caught:
        program("/", str(tmp_path))
    assert (caught.value.code, "go" in caught.value.message) == ("check.no_runner", True)
