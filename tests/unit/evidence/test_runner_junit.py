"""Holds that a JUnit file is read whole or not at all: whatever somebody writes into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.errors import Refusal
from tallystick.evidence.runners import RUNNERS, project_runner, runner_for_command, runner_for_ids
from tallystick.evidence.runners.base import Interpreter
from tallystick.evidence.runners.junit_report import MOST_BYTES, read_junit
from tests.unit.evidence.samples import check_one, codes, project

CASE = '<testcase classname="cart" name="total"/>'


def test_a_report_is_read_whole() -> None:
    report = read_junit(
        b'<?xml version="1.0" encoding="UTF-8"?><testsuites tests="4" failures="1" errors="1" skipped="1">'
        b'<testsuite name="cart" tests="4" failures="1" errors="1" skipped="1">'
        b'<testcase classname="cart" name="total" file="tests/cart.js" line="3"/>'
        b'<testcase classname="cart" name="red"><failure message="3 != 4" type="AssertionError">at cart:7</failure>'
        b'</testcase><testcase classname="cart" name="broke"><error message="b"/></testcase>'
        b'<testcase name="later"><skipped/></testcase></testsuite></testsuites>'
    )
    assert {test.id: test.outcome for test in report.tests.values()} == {
        "cart::total": "passed",
        "cart::red": "failed",
        "cart::broke": "error",
        "later": "skipped",
    }
    red, total = report.tests["cart::red"], report.tests["cart::total"]
    assert (red.says, red.type, total.file, total.line) == ("3 != 4\nat cart:7", "AssertionError", "tests/cart.js", 3)
    assert (report.runner, report.ended, report.unreadable) == ("junit", True, "")


def test_a_suite_that_failed_as_a_whole_speaks_for_everything() -> None:
    report = read_junit(f'<testsuite>{CASE}<error message="set-up"/></testsuite>'.encode())
    assert [(scope.id, scope.says) for scope in report.scopes] == [("", "set-up")]


def test_a_test_with_two_endings_has_the_worse_one() -> None:
    both = '<testcase name="a"><skipped/><failure/></testcase><testcase name="b"><failure/><skipped/></testcase>'
    report = read_junit(f"<testsuite>{both}</testsuite>".encode())
    assert [test.outcome for test in report.tests.values()] == ["failed", "failed"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f'<!DOCTYPE x [<!ENTITY a "aaaa">]><testsuite>{CASE}</testsuite>', "document type"),
        (f'<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite>{CASE}</testsuite>', "document type"),
        (f"<testsuite>{CASE}&unknown;</testsuite>", "no whole XML"),
        (f"<testsuite>{CASE}", "no whole XML"),
        (f"<testsuite>{CASE}</testsuite><testsuite/>", "no whole XML"),
        ('<testsuite><testcase name="\x1b[32m"/></testsuite>', "no whole XML"),
        ('<testsuite><testcase name="a&#27;"/></testsuite>', "no whole XML"),
        (f"<testsuite>{CASE}{CASE}</testsuite>", "names cart::total twice"),
        (f"<suites>{CASE}</suites>", "document of suites"),
        (f"<html>{CASE}</html>", "document of html"),
        ("<testsuite><testcase/></testsuite>", "no name"),
        (f"<testsuite><x>{CASE}</x></testsuite>", "lies in no suite"),
        (f'<testsuite tests="2">{CASE}</testsuite>', "counts disagree: tests is 2, and 1"),
        (f'<testsuite tests="1" failures="1">{CASE}</testsuite>', "failures is 1, and 0"),
        (f'<testsuites errors="3"><testsuite>{CASE}</testsuite></testsuites>', "errors is 3"),
        (f'<testsuite tests="one">{CASE}</testsuite>', "tests is one"),
        (f'<?xml version="1.0" encoding="latin-1"?><testsuite>{CASE}</testsuite>', "written in latin-1"),
        ("<testsuite>" * 60 + "</testsuite>" * 60, "deeper"),
    ],
)
def test_what_is_no_report_is_unreadable_and_nothing_in_it_counts(text: str, says: str) -> None:
    report = read_junit(text.encode())
    assert says in report.unreadable
    assert (report.tests, report.runner) == ({}, "junit")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1"])
def test_another_encoding_is_unreadable(encoding: str) -> None:
    text = '<testsuite><testcase name="größe"/></testsuite>'
    assert "not UTF-8" in read_junit(text.encode(encoding)).unreadable


def test_more_than_a_report_needs_is_unreadable_before_it_is_parsed() -> None:
    assert "larger than" in read_junit(b" " * MOST_BYTES + b"<testsuite/>").unreadable


def test_no_file_is_no_report() -> None:
    report = read_junit(b"")
    assert (report.runner, report.tests, report.unreadable) == ("", {}, "")


def test_a_place_outside_the_project_is_not_named() -> None:
    places = [("/etc/passwd", "1"), ("../x", "1"), ("a.js", "9" * 40)]
    cases = "".join(f'<testcase name="{at}" file="{file}" line="{line}"/>' for at, (file, line) in enumerate(places))
    read = read_junit(f"<testsuite>{cases}</testsuite>".encode()).tests
    assert [(read[str(at)].file, read[str(at)].line) for at in range(3)] == [("", 1), ("", 1), ("a.js", None)]


# Real commands

WRITES = 'printf \'<testsuite tests="%s"><testcase classname="cart" name="total">%s</testcase></testsuite>\' '


@pytest.mark.parametrize(
    ("script", "green", "first"),
    [
        (WRITES + '1 "" > "$1"', True, ""),
        (WRITES + '1 "" > "$1"; exit 3', False, "check.red"),
        (WRITES + '1 "<failure/>" > "$1"', False, "check.red"),
        (WRITES + '2 "" > "$1"', False, "check.unreadable"),
        ("exit 0", False, "check.no_tests"),
        (WRITES + '1 "" > other; ln -s "$PWD/other" "$1"', False, "check.no_tests"),
        ('head -c 40000000 /dev/zero > "$1"', False, "check.unreadable"),
    ],
)
def test_a_command_is_judged_by_the_file_that_it_writes(tmp_path: Path, script: str, green: bool, first: str) -> None:
    place = project(tmp_path, {"run.sh": script + "\n"}, venv=False)
    result = check_one(place, "run: sh run.sh {report}")
    assert (result.verdict.green, (codes(result.verdict) or [""])[0]) == (green, first)
    assert result.ran.runner == "junit"


def test_ids_of_any_form_are_run_by_the_projects_own_command_that_names_the_place() -> None:
    found = project_runner(("mocha", "--reporter-option", "output={report}"))
    assert runner_for_ids(["cart::total", "any words"], found) == {"junit": ["cart::total", "any words"]}
    assert found.by_command is not None
    command = found.by_command(("mocha", "{report}"), ("cart::total",), "/", "/run/carried")
    assert command is not None
    assert command.argv[-2:] == ("mocha", "/run/tmp/tallystick-junit.xml")


def test_ids_without_such_a_command_are_refused() -> None:
    junit = RUNNERS["junit"]
    assert junit.ids_command is not None
    with pytest.raises(Refusal) as caught:
        junit.ids_command(Interpreter("", ""), ("cart::total",), "/", "/run/carried")
    assert "tests.command" in caught.value.hint


def test_only_a_command_that_names_the_place_is_read_so() -> None:
    assert runner_for_command(("mocha", "--reporter-option", "output={report}")).name == "junit"
    assert runner_for_command(("mocha",)).name == "exit"
    assert not RUNNERS["junit"].speaks("cart::total")
