"""The unittest reporter that is carried into a check: runs tests as `python -m unittest` does and reports each one.

One file, standard library alone, Python 3.8 upwards: it runs in the project's Python, not in ours. It loads nothing of
Tallystick and stands alone, so it brings its own copy of what the pytest plugin has too. What the rows mean stands in
`report.py`. With `tallystick_ids.json` beside it exactly these dotted ids
are run; without, its arguments are those of `python -m unittest`. `tallystick_modes.json` in TMPDIR says what else a
run is for (`base.Modes`); it is taken away before any code of the project runs.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import re
import sys
import unittest
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, TracebackType
    from typing import Any

    Facts = dict[str, Any]
    Raised = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]

_MOST = 2000
_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.getcwd()
_SCOPE = re.compile(r"(setUp|tearDown)(?:Class|Module) \((.+)\)\Z")
_NO_TESTS = 5
_NAME = re.compile(r"name '(\w+)' is not defined|(?:local|free) variable '(\w+)' referenced")
_ATTRIBUTE = re.compile(r"(?:module '([\w.]+)')?.*has no attribute '(\w+)'", re.S)
_IMPORTED = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")
_COROUTINE = 0x80  # the flag of a function that was written with `async`
_MODULE_OF = type.__dict__["__module__"].__get__


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
        clean = {key: _plain(value) for key, value in facts.items()}
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


def _plain(value: Any) -> Any:
    """`value` as JSON may say it: every text in it clean."""
    if isinstance(value, str):
        return _clean(value)
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


SABOTAGED = "this run was sabotaged: every test of it fails"


class Sabotage(Exception):  # noqa: N818 - it is no error
    """What every test of a sabotaged run fails with."""


def _beside(name: str, folder: str = _HERE) -> Any:
    """The JSON in a file beside this one (or in another folder), None where there is none."""
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def _modes() -> Facts:
    folder = os.environ.get("TMPDIR", _HERE)  # not beside us: from there nothing can be taken away
    modes: Facts = _beside("tallystick_modes.json", folder) or {}
    if modes:
        os.unlink(os.path.join(folder, "tallystick_modes.json"))
    return modes


def _recorder(modes: Facts) -> Any:
    if not modes.get("record"):
        return None
    recorder, attribution = _carried("tallystick_recorder"), _carried("tallystick_attribution").Attribution
    graph = _carried("tallystick_import_graph").rows
    return recorder.Recorder(_ROOT, modes.get("packages", ()), modes.get("home", ""), attribution, graph)


def _carried(name: str) -> Any:
    """The module that lies beside this file where it is needed; nobody else finds it by its name."""
    module = importlib.import_module(name)
    del sys.modules[name]
    return module


_CHANNEL = Channel(os.environ.pop("TALLYSTICK_REPORT", None))
_MODES = _modes()
_RECORDER = _recorder(_MODES)
_INTEGRITY: Any = _carried("tallystick_integrity").Integrity(_ROOT) if _MODES.get("record") else None


class Result(unittest.TextTestResult):
    """Prints as unittest does, and says each outcome over the pipe."""

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's name
        super().startTest(test)
        _CHANNEL.row("start", {"id": test.id()})
        name, module = test._testMethodName, type(test).__module__
        path = getattr(sys.modules[module], "__file__", "")
        if _RECORDER is not None:
            _RECORDER.tests.begins(module, path)
        if _INTEGRITY is not None:
            _INTEGRITY.test(test.id(), getattr(test, name), path)
        if _MODES.get("sabotage"):
            call, when = test._callTestMethod, _MODES["sabotage"]  # type: ignore[attr-defined]
            # not the method itself: some versions of Python have looked it up already
            test._callTestMethod = lambda method: call(_sabotaged(method, when))  # type: ignore[attr-defined]

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().stopTest(test)
        if _RECORDER is not None:
            _RECORDER.tests.ends()

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().addSuccess(test)
        _say(test.id(), "passed", {})

    def addFailure(self, test: unittest.TestCase, err: Raised) -> None:  # noqa: N802
        super().addFailure(test, err)
        _say(test.id(), "failed", _failed(err[1], test))

    def addError(self, test: unittest.TestCase, err: Raised) -> None:  # noqa: N802
        super().addError(test, err)
        _say(test.id(), "failed", _failed(err[1], test))

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
            _say(test.id(), "failed", _failed(err[1], test))


class Runner(unittest.TextTestRunner):
    """unittest's own runner with our result; it says the end while nothing can change the verdict yet."""

    def _makeResult(self) -> Result:  # noqa: N802
        return Result(self.stream, bool(self.descriptions), self.verbosity)

    def run(self, test: unittest.TestSuite | unittest.TestCase) -> unittest.TextTestResult:
        result = super().run(test)
        status = (0 if result.testsRun else _NO_TESTS) if result.wasSuccessful() else 1
        if _RECORDER is not None:
            for kind, facts in _RECORDER.rows():
                _CHANNEL.row(kind, dict(facts, patched=_INTEGRITY.seen()) if kind == "loaded" else facts)
        _CHANNEL.row("end", {"status": status, "collected": result.testsRun})
        return result


def main() -> None:
    """Run the chosen ids, or what the arguments ask for; exits 0, 1 (red) or 5 (no test)."""
    sys.path[0] = _ROOT
    version = platform.python_version()
    _CHANNEL.row("begin", {"runner": "unittest", "version": version, "python": version, "executable": sys.executable})
    ids: list[str] | None = _beside("tallystick_ids.json")
    if ids is None:
        unittest.main(module=None, argv=["python -m unittest", *sys.argv[1:]], testRunner=Runner)
        return
    result = Runner().run(_suite(ids))
    sys.exit((0 if result.testsRun else _NO_TESTS) if result.wasSuccessful() else 1)


def _suite(ids: list[str]) -> unittest.TestSuite:
    """The tests of all ids, each once, those of one class together; what cannot be loaded is said and left out."""
    found: dict[str, unittest.TestCase] = {}
    for wanted in sorted(ids):
        name = wanted[:-3] if wanted.endswith("::*") else wanted
        file = _module_file(name)
        if _RECORDER is not None and file:
            _RECORDER.tests.knows(_dotted(file), file)
        try:
            _import(name)
            loaded = unittest.defaultTestLoader.loadTestsFromName(name)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a module of the project may raise anything
            outcome = "skipped" if isinstance(error, unittest.SkipTest) else "failed"
            facts = _exception(error)
            if outcome == "failed":
                facts.update(_failure(error, file))
            _CHANNEL.row("scope", dict(facts, id=name, phase="collect", outcome=outcome))
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


def _sabotaged(test: Callable[[], Any], when: str) -> Callable[[], Any]:
    """A test that fails: instead of its own code, or after it."""

    def fail() -> None:
        if when == "after":
            try:
                test()
            except KeyboardInterrupt:
                raise
            except BaseException as ended:
                raise Sabotage(SABOTAGED) from ended
        raise Sabotage(SABOTAGED)

    async def fail_too() -> None:
        if when == "after":
            try:
                await test()
            except KeyboardInterrupt:
                raise
            except BaseException as ended:
                raise Sabotage(SABOTAGED) from ended
        raise Sabotage(SABOTAGED)

    code = getattr(test, "__code__", None)
    return fail_too if code is not None and code.co_flags & _COROUTINE else fail


def _failed(error: BaseException | None, test: unittest.TestCase) -> Facts:
    """The facts of a failed test. What unittest puts in the place of a class or module has no file of its own."""
    if error is None:
        return {}
    module = sys.modules.get(type(test).__module__)
    scope = _SCOPE.match(test.id())
    file = _module_file(scope.group(2)) if scope else getattr(module, "__file__", "")
    return dict(_exception(error), **_failure(error, file or ""))


def _module_file(dotted: str) -> str:
    """The file of the module that a dotted name begins with, loaded or not; "" where there is none."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        path = os.path.join(_ROOT, *parts[:end])
        for file in (path + ".py", os.path.join(path, "__init__.py")):
            if os.path.isfile(file):
                return file
    return ""


def _dotted(file: str) -> str:
    """The dotted name of the module in a file of the project."""
    name = _relative(file)[: -len(".py")]
    return (name[: -len("/__init__")] if name.endswith("/__init__") else name).replace("/", ".")


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
    facts: Facts = {"type": _kind(kind), "says": f"{kind.__name__}: {error}"}
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


def _failure(error: BaseException, test_file: str) -> Facts:
    """The class of a failure: the exception's own classes, what was missing and where, whose code raised it.

    `in_test`: the test file itself raised it. `entered`: code of the project ran at all. `phase` is the row's own.
    """
    error = _unwrapped(error)
    missing, owner = _missing(error)
    own = _relative(test_file) if test_file else ""
    last: CodeType | None = None
    raised, entered = "", False
    step: TracebackType | None = error.__traceback__
    while step is not None:
        code, module = step.tb_frame.f_code, step.tb_frame.f_globals.get("__name__")
        file = _relative(code.co_filename)
        entered = entered or bool(file and "site-packages" not in file) or code.co_filename.startswith("<doctest ")
        if isinstance(module, str) and module != "_pytest.outcomes":
            last, raised = code, module
        step = step.tb_next
    where = "" if last is None else last.co_filename
    if isinstance(error, SyntaxError):
        where = error.filename or ""
    in_test = where.startswith("<doctest ") or bool(own and where and _relative(where) == own)
    kinds = [_kind(one) for one in type(error).__mro__[:-1]]
    facts: Facts = {"kinds": kinds[:10] + kinds[10:][-10:], "missing": missing, "owner": owner, "raised": raised}
    return dict(facts, in_test=in_test, entered=entered)


def _unwrapped(error: BaseException) -> BaseException:
    """The exception that a doctest wraps: its first failure, and what its example raised."""
    if type(error).__name__ == "MultipleDoctestFailures":
        error = getattr(error, "failures", [error])[0]
    if type(error).__name__ == "UnexpectedException":
        error = getattr(error, "exc_info", (None, error))[1]
    return error


def _missing(error: BaseException) -> tuple[str, str]:
    """What was looked up in vain, and the module that should have had it ("" for what is not known)."""
    name, text = getattr(error, "name", None), str(error)
    name = name if isinstance(name, str) else ""
    if isinstance(error, ModuleNotFoundError):
        return name, name
    if isinstance(error, ImportError):
        found = _IMPORTED.search(text)
        return (found.group(1), found.group(2)) if found else ("", name)
    if isinstance(error, NameError):
        found = _NAME.search(text)
        return name or (next(filter(None, found.groups())) if found else ""), ""
    if isinstance(error, AttributeError):
        found = _ATTRIBUTE.search(text)
        told = (found.group(2), found.group(1) or "") if found else ("", "")
        return name or told[0], _owner(error.obj) if getattr(error, "obj", None) is not None else told[1]
    return "", ""


def _owner(thing: object) -> str:
    """The module that a module, a class or an object of a class belongs to; runs no code of theirs."""
    if isinstance(thing, ModuleType):
        name = vars(thing).get("__name__")
    else:
        name = _MODULE_OF(thing if isinstance(thing, type) else type(thing))
    return name if isinstance(name, str) else ""


def _kind(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _relative(path: str) -> str:
    """`path` from the project's top folder; "" for what lies outside."""
    whole = os.path.abspath(os.path.join(_ROOT, path))
    inside = whole.startswith(_ROOT.rstrip(os.sep) + os.sep)
    return os.path.relpath(whole, _ROOT).replace(os.sep, "/") if inside else ""


if __name__ == "__main__":
    main()
