"""The lines of `cargo test` as a report. Pure. What they do not prove stands in `cargo_runner.py`.

A test's id is its crate, `::` and its path; for an example in the documentation its file and item, without the line
number, so that several of one item are one id. The crate is the name of the test binary: two targets of one name
share their ids, and the worst outcome counts.
"""

from __future__ import annotations

import re

from tallystick.evidence.runners.report import OUTCOMES, Report, Test

_MOST = 2000
_BINARY = re.compile(r"\s+Running (?:.* )?\(?(\S+?)\)?\Z")
_HASH = re.compile(r"-[0-9a-f]{16}(\.exe)?\Z")
_DOCUMENTATION = re.compile(r"\s+Doc-tests (\S+)\Z")
_RUNNING = re.compile(r"running (\d+) tests?\Z")
_TEST = re.compile(r"test (.+) \.\.\. (ok|FAILED|ignored|bench:)(?:, (.*)| .*)?\Z")
_SUMMARY = re.compile(r"test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured;")
_ADDED = re.compile(r"( \(line \d+\))?( - (should panic|compile fail|compile))?\Z")
_BLOCK = re.compile(r"---- (.+) stdout ----\Z")
_PANIC = re.compile(r"thread .* panicked at (?:'(.*)', )?([^\s:']+):(\d+):\d+:?\Z")
_COMPILER = re.compile(r"error(\[E\d+\])?: ")
_ARROW = re.compile(r"\s*--> (\S+?):(\d+):\d+\Z")
_OUTCOMES = {"ok": "passed", "FAILED": "failed", "ignored": "skipped", "bench:": "passed"}
_SUMMED = ("passed", "failed", "skipped")


def read_cargo(data: bytes) -> Report:
    """The report that the output of a run makes; never raises. A binary whose lines, announcement and summary do not
    agree makes it unreadable, one without a summary is one that broke off."""
    run = _Run()
    lines = [line.rstrip("\r") for line in data.decode("utf-8", "replace").split("\n")]
    for number, line in enumerate(lines, 1):
        wrong = run.take(line)
        if wrong:
            return run.report(unreadable=f"line {number}: {wrong}")
    return run.report()


class _Run:
    """What is known of a run after some lines of its output."""

    def __init__(self) -> None:
        self._tests: dict[str, Test] = {}
        self._crate = ""
        self._crates: dict[str, bool] = {}  # whether all that its binary announced was summed up
        self._announced = -1
        self._named: list[str] = []  # the outcomes of this binary, in the order of its lines
        self._listing = False
        self._block = ""
        self._blocks: dict[str, list[str]] = {}
        self._compiler = ""
        self._compiler_at: tuple[str, int | None] = ("", None)

    def take(self, line: str) -> str:
        """Take one line; what is wrong with it, "" if nothing is."""
        binary = _BINARY.match(line) or _DOCUMENTATION.match(line)
        if binary is not None and not self._block:
            return self._begin(_HASH.sub("", binary.group(1).replace("\\", "/").rpartition("/")[2]))
        if not self._crate:
            self._compile(line)
            return ""
        running = _RUNNING.match(line)
        if running is not None and self._announced < 0:
            self._announced, self._listing, self._named = int(running.group(1)), True, []
            self._crates[self._crate] = False
        elif self._listing and line in ("failures:", "successes:"):
            self._listing = False
        elif not self._block and (summary := _SUMMARY.match(line)) is not None:
            return self._sum_up([int(one) for one in summary.groups()])
        elif self._listing:
            found = _TEST.match(line)
            if found is not None:
                self._one(found.group(1), found.group(2), found.group(3) or "")
        elif self._announced >= 0:
            self._detail(line)
        return ""

    def _begin(self, crate: str) -> str:
        if self._announced >= 0:
            return f"the tests of {self._crate} have no summary"
        self._crate = crate.replace("-", "_")
        self._crates.setdefault(self._crate, True)
        return ""

    def _one(self, name: str, word: str, reason: str) -> None:
        outcome = _OUTCOMES[word]
        self._named.append(outcome)
        test_id = self._id(name)
        before = self._tests.get(test_id)
        if before is None or OUTCOMES.index(outcome) > OUTCOMES.index(before.outcome):
            says = f"ignored: {reason}" if outcome == "skipped" and reason else ""
            self._tests[test_id] = Test(test_id, outcome, "call", "", says)

    def _sum_up(self, counts: list[int]) -> str:
        """The end of a binary: three numbers that must be the same."""
        if self._announced < 0:
            return "a summary of tests that nobody announced"
        passed, failed, skipped, measured = counts
        named = [self._named.count(outcome) for outcome in _SUMMED]
        if named != [passed + measured, failed, skipped] or sum(named) != self._announced:
            return f"{self._crate} announced {self._announced} tests, named {sum(named)} and summed up {sum(counts)}"
        self._crates[self._crate] = True
        self._announced, self._listing, self._block = -1, False, ""
        return ""

    def _detail(self, line: str) -> None:
        """A line of what failed tests said, below the name of each."""
        block = _BLOCK.match(line)
        if block is not None:
            self._block = self._id(block.group(1))
            self._blocks.setdefault(self._block, [])
        elif line in ("failures:", "successes:"):
            self._block = ""
        elif self._block and sum(map(len, self._blocks[self._block])) < _MOST:
            self._blocks[self._block].append(line[:_MOST])

    def _compile(self, line: str) -> None:
        """The first error of a compiler, and where."""
        if not self._compiler and _COMPILER.match(line):
            self._compiler = line[:_MOST]
        elif self._compiler and not self._compiler_at[0] and (arrow := _ARROW.match(line)) is not None:
            self._compiler_at = (arrow.group(1), int(arrow.group(2)))

    def _id(self, name: str) -> str:
        return f"{self._crate}::{_ADDED.sub('', name, count=1)}"

    def _why(self, test: Test) -> Test:
        """A failed test with what it said: where it panicked, and all of it."""
        lines = [line for line in self._blocks.get(test.id, []) if line.strip()]
        for at, line in enumerate(lines):
            panic = _PANIC.match(line)
            if panic is not None:
                head = panic.group(1) or (lines[at + 1] if at + 1 < len(lines) else "")
                says = "\n".join((head, *lines))[:_MOST]
                return test._replace(says=says, file=panic.group(2), line=int(panic.group(3)))
        return test._replace(says="\n".join(lines)[:_MOST])

    def report(self, *, unreadable: str = "") -> Report:
        """All of it. Where no binary was started, what the compiler said speaks for every test."""
        tests = {key: self._why(test) if test.outcome == "failed" else test for key, test in self._tests.items()}
        scopes = []
        if self._compiler and not self._crates:
            file, line = self._compiler_at
            scopes.append(Test("", "error", "collect", "", self._compiler, file, line))
        ended = bool(self._crates) and all(self._crates.values())
        return Report(tests, tuple(scopes), "cargo" if self._crates else "", ended=ended, unreadable=unreadable)
