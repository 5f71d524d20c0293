"""The unittest reporter that is carried into a check: runs tests as `python -m unittest` does and reports each one.

One file, standard library alone, Python 3.8 upwards: it runs in the project's Python, not in ours. It loads nothing of
Tallystick and stands alone, so it brings its own copy of what the pytest plugin has too. What the rows mean stands in
`report.py`. With `tallystick_ids.json` beside it exactly these dotted ids
are run; without, its arguments are those of `python -m unittest`.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import re
import sys
import unittest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any

    Facts = dict[str, Any]
    Raised = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]

_MOST = 2000
_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.getcwd()
_SCOPE = re.compile(r"(setUp|tearDown)(?:Class|Module) \((.+)\)\Z")
_NO_TESTS = 5


class Channel:
    """The pipe to whoever asked. Taken out of the environment at once: what a test starts does not inherit it."""

    def __init__(self, number: str | None) -> None:
        self._fd = -1
        if number is not None:
            self._fd = int(number)
            os.set_inheritable(self._fd, False)
            self._same = os.fstat(self._fd)
            self._process = os.getpid()

    def row(self, kind: str, facts: Facts) -> None:
        """Write one row. A process that a test forked says nothing, nor do we once a test closed the pipe."""
        if self._fd < 0 or os.getpid() != self._process:
            return
        clean = {key: _clean(value) if isinstance(value, str) else value for key, value in facts.items()}
        data = json.dumps(dict(clean, row=kind)).encode("ascii") + b"\n"
        try:
            if not os.path.samestat(os.fstat(self._fd), self._same):
                raise OSError("another file has our number now")
            while data:
                data = data[os.write(self._fd, data) :]
        except OSError:
            self._fd = -1


def _clean(text: str) -> str:
    """`text` as real characters (a lone surrogate is written out), cut to what one row may say."""
    return text[:_MOST].encode("utf-8", "backslashreplace").decode("utf-8")


_CHANNEL = Channel(os.environ.pop("TALLYSTICK_REPORT", None))


class Result(unittest.TextTestResult):
    """Prints as unittest does, and says each outcome over the pipe."""

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's name
        super().startTest(test)
        _CHANNEL.row("start", {"id": test.id()})

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().addSuccess(test)
        _say(test.id(), "passed", {})

    def addFailure(self, test: unittest.TestCase, err: Raised) -> None:  # noqa: N802
        super().addFailure(test, err)
        _say(test.id(), "failed", _exception(err[1]))

    def addError(self, test: unittest.TestCase, err: Raised) -> None:  # noqa: N802
        super().addError(test, err)
        _say(test.id(), "failed", _exception(err[1]))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        super().addSkip(test, reason)
        _say(test.id(), "skipped", {"says": f"Skipped: {reason}"})

    def addExpectedFailure(self, test: unittest.TestCase, err: Raised) -> None:  # noqa: N802
        super().addExpectedFailure(test, err)
        _say(test.id(), "skipped", dict(_exception(err[1]), says="expected to fail"))

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().addUnexpectedSuccess(test)
        _say(test.id(), "failed", {"says": "it is marked as expected to fail, and passed"})

    def addSubTest(  # noqa: N802
        self, test: unittest.TestCase, subtest: unittest.TestCase, err: Raised | None
    ) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            _say(test.id(), "failed", _exception(err[1]))


class Runner(unittest.TextTestRunner):
    """unittest's own runner with our result; it says the end while nothing can change the verdict yet."""

    def _makeResult(self) -> Result:  # noqa: N802
        return Result(self.stream, bool(self.descriptions), self.verbosity)

    def run(self, test: unittest.TestSuite | unittest.TestCase) -> unittest.TextTestResult:
        result = super().run(test)
        status = (0 if result.testsRun else _NO_TESTS) if result.wasSuccessful() else 1
        _CHANNEL.row("end", {"status": status, "collected": result.testsRun})
        return result


def main() -> None:
    """Run the chosen ids, or what the arguments ask for; exits 0, 1 (red) or 5 (no test)."""
    sys.path[0] = _ROOT
    version = platform.python_version()
    _CHANNEL.row("begin", {"runner": "unittest", "version": version, "python": version, "executable": sys.executable})
    try:
        with open(os.path.join(_HERE, "tallystick_ids.json"), encoding="utf-8") as file:
            ids: list[str] = json.load(file)
    except FileNotFoundError:
        unittest.main(module=None, argv=["python -m unittest", *sys.argv[1:]], testRunner=Runner)
        return
    result = Runner().run(_suite(ids))
    sys.exit((0 if result.testsRun else _NO_TESTS) if result.wasSuccessful() else 1)


def _suite(ids: list[str]) -> unittest.TestSuite:
    """The tests of all ids, each once, those of one class together; what cannot be loaded is said and left out."""
    found: dict[str, unittest.TestCase] = {}
    for wanted in sorted(ids):
        name = wanted[:-3] if wanted.endswith("::*") else wanted
        try:
            _import(name)
            loaded = unittest.defaultTestLoader.loadTestsFromName(name)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a module of the project may raise anything
            outcome = "skipped" if isinstance(error, unittest.SkipTest) else "failed"
            _CHANNEL.row("scope", dict(_exception(error), id=name, phase="collect", outcome=outcome))
            continue
        for test in _tests(loaded):
            if type(test).__module__ != "unittest.loader":  # its stand-in for a name that is not there
                found[test.id()] = test
    return unittest.TestSuite(found.values())


def _import(name: str) -> None:
    """Import the module that a dotted name begins with; raises what that raises. That there is no such module is no
    error here: then the id is simply not reported."""
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        module = ".".join(parts[:end])
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            return
        if end < len(parts) and isinstance(getattr(sys.modules[module], parts[end], None), type):
            return


def _tests(suite: Any) -> Iterator[unittest.TestCase]:
    if isinstance(suite, unittest.TestCase):
        yield suite
    else:
        for part in suite:
            yield from _tests(part)


def _say(test_id: str, outcome: str, facts: Facts) -> None:
    """Say an outcome. What unittest reports under the name of a class or module set-up belongs to a scope."""
    scope = _SCOPE.match(test_id)
    if scope is None:
        _CHANNEL.row("test", dict(facts, id=test_id, phase="call", outcome=outcome))
    else:
        phase = "setup" if scope.group(1) == "setUp" else "teardown"
        _CHANNEL.row("scope", dict(facts, id=scope.group(2), phase=phase, outcome=outcome))


def _exception(error: BaseException | None) -> Facts:
    """Name, words and place of an exception: the innermost line of it that lies in the project."""
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__qualname__
    facts: Facts = {"type": name, "says": f"{kind.__name__}: {error}"}
    if isinstance(error, AssertionError):
        facts["says"] = str(error) or "AssertionError"
    if isinstance(error, SyntaxError) and error.filename:
        facts.update(file=_relative(error.filename), line=error.lineno)
        return facts
    step: TracebackType | None = None if error is None else error.__traceback__
    while step is not None:
        file = _relative(step.tb_frame.f_code.co_filename)
        if file and "site-packages" not in file:
            facts.update(file=file, line=step.tb_lineno)
        step = step.tb_next
    return facts


def _relative(path: str) -> str:
    """`path` from the project's top folder; "" for what lies outside."""
    whole = os.path.abspath(os.path.join(_ROOT, path))
    inside = whole.startswith(_ROOT.rstrip(os.sep) + os.sep)
    return os.path.relpath(whole, _ROOT).replace(os.sep, "/") if inside else ""


if __name__ == "__main__":
    main()
