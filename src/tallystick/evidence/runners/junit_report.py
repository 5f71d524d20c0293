"""A JUnit XML file as a report. Pure, and made for files that somebody wrote in order to be believed.

Nothing is green by default: a file that cannot be read whole, that is not UTF-8, that declares a document type, names a
test twice, or counts otherwise than it names is unreadable. So is one above 32 MB. What was in such a file counts for
nothing at all.

A test's id is `classname::name`, or its name where it has no class.
"""

from __future__ import annotations

import posixpath

from tallystick.evidence.runners.report import Report, Test
from tallystick.limits import MB

MOST_BYTES = 32 * MB
_MOST = 2000
_MOST_TESTS = 200_000
_DEEPEST = 50
_UTF8 = ("utf-8", "utf8", "us-ascii", "ascii")
#: What an element below a test says became of it; without one it passed.
_OUTCOMES = {"failure": "failed", "error": "error", "skipped": "skipped"}
#: The attribute of a suite that counts what kind of these.
_COUNTS = {"tests": "", "failures": "failure", "errors": "error", "skipped": "skipped"}
_SUITES = ("testsuite", "testsuites")


class Unreadable(Exception):  # noqa: N818 - it is a finding
    """What is wrong with a file, in words."""


def read_junit(data: bytes) -> Report:
    """The report that a file makes; never raises. No bytes are a runner that reported nothing."""
    if not data.strip():
        return Report({}, ())
    reading = _Reading()
    try:
        _parse(data, reading)
    except Unreadable as wrong:
        return Report({}, (), "junit", ended=True, unreadable=str(wrong))
    return Report(reading.tests, tuple(reading.scopes), "junit", ended=True)


def _parse(data: bytes, reading: _Reading) -> None:
    """Read all of `data` into `reading`; nothing in it may mean anything but itself. Raises `Unreadable`."""
    from xml.parsers import expat

    if len(data) > MOST_BYTES:
        raise Unreadable(f"it is larger than {MOST_BYTES // MB} MB")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8 at byte {error.start}") from None
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.XmlDeclHandler = _declared
    parser.StartDoctypeDeclHandler = _typed
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.text
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise Unreadable(f"it is no whole XML: {error}") from None


def _declared(version: str, encoding: str | None, standalone: int) -> None:
    del version, standalone
    if encoding is not None and encoding.lower() not in _UTF8:
        raise Unreadable(f"it says that it is written in {encoding[:40]}, not in UTF-8")


def _typed(name: str, system: str | None, public: str | None, internal: bool) -> None:
    del name, system, public, internal
    raise Unreadable("it declares a document type")


class _Suite:
    """An open suite: what it says it holds, and what was found in it, directly and in all."""

    def __init__(self, attributes: dict[str, str]) -> None:
        self.said = {key: attributes[key] for key in _COUNTS if key in attributes}
        self.own = dict.fromkeys(_COUNTS.values(), 0)
        self.all = dict.fromkeys(_COUNTS.values(), 0)

    def wrong(self) -> str:
        """The first count that is neither of the two, in words; "" where all agree."""
        for key, kind in _COUNTS.items():
            said = self.said.get(key, "")
            if said and said not in (str(self.own[kind]), str(self.all[kind])):
                return f"{key} is {said[:20]}, and {self.all[kind]} are named"
        return ""


class _Reading:
    """What was read up to one place of the file."""

    def __init__(self) -> None:
        self.tests: dict[str, Test] = {}
        self.scopes: list[Test] = []
        self._open: list[str] = []
        self._suites: list[_Suite] = []
        self._test: Test | None = None
        self._kinds: set[str] = set()
        self._words: list[str] | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        if not self._open and name not in _SUITES:
            raise Unreadable(f"it is no JUnit report but a document of {name[:40]}")
        above = self._open[-1] if self._open else ""
        self._open.append(name)
        if len(self._open) > _DEEPEST:
            raise Unreadable(f"it nests deeper than {_DEEPEST} levels")
        if name in _SUITES:
            self._suites.append(_Suite(attributes))
        elif name == "testcase":
            self._begin(above, attributes)
        elif name in _OUTCOMES and above in ("testcase", *_SUITES):
            self._say(name, attributes)

    def end(self, name: str) -> None:
        """An element ends."""
        self._open.pop()
        if name in _SUITES:
            self._end_suite()
        elif name == "testcase" and self._test is not None:
            self._end_test(self._test)
        elif name in _OUTCOMES and self._words is not None:
            words, self._words = "".join(self._words).strip(), None
            if self._test is not None and words not in self._test.says:
                self._test = self._test._replace(says="\n".join(filter(None, (self._test.says, words)))[:_MOST])

    def text(self, words: str) -> None:
        """Characters inside an element."""
        if self._words is not None and sum(map(len, self._words)) < _MOST:
            self._words.append(words[:_MOST])

    def _begin(self, above: str, attributes: dict[str, str]) -> None:
        name, kind = attributes.get("name", ""), attributes.get("classname", "")
        if above not in _SUITES or not name:
            raise Unreadable("it has a test that lies in no suite or has no name")
        test_id = f"{kind}::{name}" if kind else name
        if test_id in self.tests:
            raise Unreadable(f"it names {test_id[:200]} twice")
        if len(self.tests) >= _MOST_TESTS:
            raise Unreadable(f"it names more than {_MOST_TESTS} tests")
        file, line = attributes.get("file", ""), attributes.get("line", "")
        inside = not posixpath.isabs(file) and not posixpath.normpath(file).startswith("..")
        number = int(line) if line.isascii() and line.isdigit() and len(line) < 10 else 0
        self._test = Test(test_id, "passed", "call", file=file[:_MOST] if inside else "", line=number or None)
        self._kinds = set()

    def _say(self, name: str, attributes: dict[str, str]) -> None:
        """What became of a test, or that a whole suite failed. The worst of several counts."""
        says, kind = attributes.get("message", "")[:_MOST], attributes.get("type", "")[:200]
        self._words = []
        if self._test is None:
            if name != "skipped":
                self.scopes.append(Test("", "error", "setup", kind, says or "a whole suite failed"))
            return
        self._kinds.add(name)
        if name != "skipped" or self._test.outcome == "passed":
            worst = "error" if "error" in self._kinds else _OUTCOMES[name]
            self._test = self._test._replace(outcome=worst, type=kind, says=says)

    def _end_test(self, test: Test) -> None:
        self.tests[test.id] = test
        self._test = None
        for place, suite in enumerate(reversed(self._suites)):
            for kind in ("", *self._kinds):
                suite.all[kind] += 1
                suite.own[kind] += place == 0

    def _end_suite(self) -> None:
        wrong = self._suites.pop().wrong()
        if wrong:
            raise Unreadable(f"its counts disagree: {wrong}")
