"""The events of `go test -json` as a report. Pure. What they do not prove stands in `go_runner.py`."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from tallystick.canonical import parse
from tallystick.errors import Refusal
from tallystick.evidence.runners.report import OUTCOMES, Report, Test

_MOST = 2000
_ENDS = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_PLACE = re.compile(r"\s+([\w.-]+\.go):(\d+): ?(.*)\Z")
_COMPILED = re.compile(r"(\S+\.go):(\d+):(?:\d+:)? (.*)\Z")
_BROKEN = re.compile(r"FAIL\s+(\S+) \[(build|setup) failed\]\Z")


def read_go(data: bytes) -> Report:
    """The report that the output of a run makes; never raises. A line that begins like an event and is none, a
    test that ends without having begun, and one that begins inside another make it unreadable."""
    lines = data.split(b"\n")
    torn = lines.pop()
    run = _Run()
    for number, line in enumerate(lines, 1):
        wrong = run.take(line, number)
        if wrong:
            return run.report(unreadable=f"line {number} {wrong}")
    return run.report(torn=bool(torn))


class _Run:
    """What is known of a run after some lines of its output."""

    def __init__(self) -> None:
        self._folder = self._version = ""
        self._places: dict[str, str] = {}
        self._open: dict[str, int] = {}
        self._running: dict[str, str] = {}  # by package the test at the top that is not paused
        self._tests: dict[str, Test] = {}
        self._said: dict[str, list[str]] = {}
        self._scopes: list[Test] = []
        self._packages: dict[str, str] = {}
        self._building = ""
        self._built: dict[str, list[str]] = {}

    def take(self, line: bytes, number: int) -> str:
        """Take one line; what is wrong with it, "" if nothing is."""
        if not line.startswith(b"{"):
            self._plain(line.decode("utf-8", "replace").rstrip("\r"), number)
            return ""
        try:
            event = parse(line, "the event")
        except Refusal:
            return "is not one JSON object"
        if not all(isinstance(event.get(key, ""), str) for key in ("Action", "Package", "Test", "Output", "Dir")):
            return "is no event of Go"
        if "Action" not in event:
            if not self._packages and isinstance(event.get("ImportPath"), str):
                self._places[event["ImportPath"]] = self._place(event.get("Dir", ""))
            return ""
        return self._event(event)

    def _plain(self, line: str, number: int) -> None:
        """A line of the go command that is no event: where it stands, its version, what does not compile."""
        if number == 1:
            self._folder = line
        elif number == 2 and line.startswith("go version "):
            self._version = line.split(" ")[2]
        elif line.startswith("# "):
            self._building = line[2:].split(" ")[0]
        elif (broken := _BROKEN.match(line)) is not None:
            self._break(broken.group(1), f"{broken.group(2)} failed")
        elif self._building:
            self._built.setdefault(self._building, []).append(line)

    def _event(self, event: dict[str, Any]) -> str:
        action, package, name = event["Action"], event.get("Package", ""), event.get("Test", "")
        if action == "build-output":
            self._built.setdefault(str(event.get("ImportPath", "")).split(" ")[0], []).append(event.get("Output", ""))
            return ""
        if not package:
            return ""
        self._packages.setdefault(package, "")
        test_id = f"{self._of(package)}::{name}"
        if not name:
            if action in _ENDS:
                self._end(package, action)
        elif action in ("run", "pause", "cont"):
            wrong = "" if "/" in name else self._turn(package, name, action)
            if wrong or action != "run":
                return wrong
            self._open[test_id] = self._open.get(test_id, 0) + 1
            self._tests.setdefault(test_id, Test(test_id, "unfinished"))
        elif action == "output":
            self._say(test_id, event.get("Output", ""))
        elif action in _ENDS:
            if not self._open.get(test_id):
                return f"ends {test_id}, which had not begun"
            self._open[test_id] -= 1
            if self._running.get(package) == name:
                del self._running[package]
            self._take(test_id, _ENDS[action])
        return ""

    def _turn(self, package: str, name: str, action: str) -> str:
        """A test at the top begins, or pauses: none begins while another runs, so that would be one that was printed.

        Those that run beside each other have all begun and paused before.
        """
        running = self._running.get(package, name)
        if action == "run" and running != name:
            return f"says that {name} begins while {running} runs"
        if action == "run":
            self._running[package] = name
        elif action == "pause" and running == name:
            self._running.pop(package, None)
        return ""

    def _take(self, test_id: str, outcome: str) -> None:
        """One ending of a test: the worse of two counts."""
        before = self._tests[test_id]
        if before.outcome == "unfinished" or OUTCOMES.index(outcome) > OUTCOMES.index(before.outcome):
            says, file, line = ("", "", None) if outcome == "passed" else self._why(test_id)
            self._tests[test_id] = Test(test_id, outcome, "call", "", says, file, line)

    def _end(self, package: str, action: str) -> None:
        self._packages[package] = action
        inside = f"{self._of(package)}::"
        red = any(test.outcome == "failed" for key, test in self._tests.items() if key.startswith(inside))
        if action == "fail" and not red:
            self._break(package, "its tests ended with an error that no test had")

    def _break(self, package: str, says: str) -> None:
        """A package that failed as a whole, best by what the compiler said of it."""
        self._packages[package] = "fail"
        lines = [text for line in self._built.get(package, []) if (text := line.strip("\n"))]
        file, number = "", None
        for line in lines:
            found = _COMPILED.match(line)
            if found is not None:
                file, number, says = posixpath.normpath(found.group(1)), int(found.group(2)), found.group(3)
                break
        scope = self._of(package)
        if all(one.id != scope for one in self._scopes):
            self._scopes.append(Test(scope, "error", "collect", "", says[:_MOST], file, number))

    def _say(self, test_id: str, text: str) -> None:
        said = self._said.setdefault(test_id, [])
        if not text.startswith(("=== ", "--- ")) and sum(map(len, said)) < _MOST:
            said.append(text[:_MOST].rstrip("\n"))

    def _why(self, test_id: str) -> tuple[str, str, int | None]:
        """What a test said last of a place, or that it panicked; and all it said below that."""
        said = [line for line in self._said.get(test_id, []) if not line.lstrip().startswith("--- ")]
        places = [found for line in said if (found := _PLACE.match(line)) is not None]
        panic = next((line for line in said if line.startswith("panic: ")), "")
        head = panic or (places[-1].group(3) if places else "")
        whole = "\n".join((head, *said) if head else said)[:_MOST]
        if not places:
            return whole, "", None
        folder = test_id.partition("::")[0]
        return whole, posixpath.normpath(f"{folder}/{places[-1].group(1)}"), int(places[-1].group(2))

    def _of(self, package: str) -> str:
        """How ids name a package: by its folder. One that was not listed keeps its import path."""
        return self._places.get(package) or package

    def _place(self, folder: str) -> str:
        relative = posixpath.relpath(folder, self._folder) if folder and self._folder else ".."
        if relative.startswith(".."):
            return ""
        return "./" if relative == "." else f"./{relative}"

    def report(self, *, torn: bool = False, unreadable: str = "") -> Report:
        """All of it: a test that began once more than it ended is unfinished."""
        tests = {
            key: Test(key, "unfinished") if self._open.get(key) and test.outcome == "passed" else test
            for key, test in self._tests.items()
        }
        ended = not torn and bool(self._packages) and all(self._packages.values())
        runner = "go" if self._packages or self._version else ""
        return Report(tests, tuple(self._scopes), runner, self._version, ended=ended, unreadable=unreadable)
