"""The pytest plugin that is carried into a check: it says over an inherited pipe what became of each test.

One file, standard library and pytest alone, Python 3.8 and pytest 7 upwards: it runs in the project's Python, not in
ours. What the rows mean stands in `report.py`. It loads nothing of Tallystick.

With `tallystick_ids.json` beside it, exactly these ids are run (the command then names their files): one that does
not exist keeps none of the others from running, and what the project's configuration adds for its whole suite
(workers, repeated attempts, a coverage threshold) does not bend the verdict on a few.

`tallystick_modes.json` in TMPDIR says what else a run is for (`base.Modes`): alone, recorded, sabotaged. It is taken
away before any code of the project runs, and nothing in the environment tells one kind of run from another.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import re
import sys
import warnings
from types import ModuleType

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import CodeType, TracebackType
    from typing import Any

    Facts = dict[str, Any]

_MOST = 2000
_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.getcwd()
_NAME = re.compile(r"name '(\w+)' is not defined|(?:local|free) variable '(\w+)' referenced")
_ATTRIBUTE = re.compile(r"(?:module '([\w.]+)')?.*has no attribute '(\w+)'", re.S)
_IMPORTED = re.compile(r"cannot import name '(\w+)' from (?:partially initialized module )?'([\w.]+)'")
_MODULE_OF = type.__dict__["__module__"].__get__
#: What undoes a word of the configuration where its plugin is loaded: by the option that the plugin defines.
_ALONE = (("numprocesses", "-n0"), ("reruns", "--reruns=0"), ("retries", "--retries=0"))
_CHOSEN_ONLY = (("cov_fail_under", "--cov-fail-under=0"),)


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


class Chosen:
    """What is to run: plain ids, `a::*` for everything in a, `a[*]` for every parameter set of a."""

    def __init__(self, ids: list[str]) -> None:
        self._plain = frozenset(ids)
        self._inside = tuple(one[:-1] for one in ids if one.endswith("::*"))
        self._sets = tuple(one[:-2] for one in ids if one.endswith("[*]"))

    def __contains__(self, nodeid: str) -> bool:
        some = nodeid.startswith(self._sets) and nodeid.endswith("]")
        return some or nodeid in self._plain or nodeid.startswith(self._inside)


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
_IDS = _beside("tallystick_ids.json")
_CHOSEN = None if _IDS is None else Chosen(_IDS)
_MODES = _modes()
_RECORDER = _recorder(_MODES)
_INTEGRITY: Any = _carried("tallystick_integrity").Integrity(_ROOT) if _MODES.get("record") else None
_CHANNEL.row(
    "begin",
    {
        "runner": "pytest",
        "version": pytest.__version__,
        "python": platform.python_version(),
        "executable": sys.executable,
    },
)


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> Generator[None, Any, None]:
    """Set back what the configuration adds for a whole suite; note a conftest that cannot be imported."""
    known = vars(early_config.known_args_namespace)
    if _CHOSEN is not None and "cov_fail_under" in known:
        known["cov_fail_under"] = 0  # its plugin goes by what was read so far, not by the words as they end up
    if not any(word.startswith("--confcutdir") for word in args):
        _cut(early_config, known)
    words: list[str] = []
    if _CHOSEN is not None or _MODES.get("alone"):
        words += [word for option, word in _ALONE if option in known]
    if _CHOSEN is not None:
        words += [word for option, word in _CHOSEN_ONLY if option in known]
    if _MODES.get("alone"):
        words += ["--maxfail=0", "--continue-on-collection-errors"]
    end = args.index("--") if "--" in args else len(args)
    args[end:end] = words
    outcome = yield
    if outcome.excinfo is not None:
        _conftest(outcome.excinfo[1])


def _cut(config: pytest.Config, known: Facts) -> None:
    """Let the conftests down from the project's top be loaded and none above it: where a file that says nothing about
    tests, or one outside, would set another border."""
    if not _relative(_options_file(config)):
        known["confcutdir"] = _ROOT


def pytest_configure() -> None:
    """From now on no code of the project finds us by our name."""
    sys.modules.pop(__name__, None)


def pytest_internalerror(excinfo: Any) -> None:
    """Note a conftest that cannot be imported where older versions of pytest give up at it."""
    _conftest(excinfo.value)


def _conftest(error: BaseException) -> None:
    """Say that everything below the folder of a conftest is not collected."""
    path = getattr(error, "path", None)
    if type(error).__name__ == "ConftestImportFailure" and error.__cause__ is not None and path is not None:
        facts = dict(_exception(error.__cause__), **_failure(error.__cause__, str(path)))
        scope = os.path.dirname(_relative(str(path)))
        _CHANNEL.row("scope", dict(facts, id=scope, phase="collect", outcome="failed"))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what was asked for."""
    if _CHOSEN is None:
        return
    left = [item for item in items if item.nodeid not in _CHOSEN]
    if left:
        items[:] = [item for item in items if item.nodeid in _CHOSEN]
        config.hook.pytest_deselected(items=left)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, None]:
    """Note what exception kept a file or class from being collected; and which files are collected at all."""
    if _RECORDER is not None and isinstance(collector, pytest.File) and os.path.isfile(collector.path):
        _RECORDER.tests.knows(collector.nodeid, str(collector.path))
    outcome = yield
    report = outcome.get_result()
    call = getattr(report, "call", None)
    if call is not None and call.excinfo is not None:
        error = call.excinfo.value
        error = error.__cause__ or error
        report.tallystick = dict(_exception(error), **_failure(error, str(getattr(collector, "path", ""))))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Say what was not collected."""
    if report.outcome != "passed":
        _CHANNEL.row("scope", dict(_facts(report), id=report.nodeid, phase="collect", outcome=report.outcome))


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, None]:
    """Say whose test it is that reads what is read now."""
    if _RECORDER is not None:
        _RECORDER.tests.begins(item.nodeid.partition("::")[0], str(getattr(item, "path", "")))
    yield
    if _RECORDER is not None:
        _RECORDER.tests.ends()


def pytest_runtest_logstart(nodeid: str) -> None:
    """Say that a test begins."""
    _CHANNEL.row("start", {"id": nodeid})


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    """In a sabotaged run, let the test fail: whoever reports it as passed does not tell what happened."""
    if _INTEGRITY is not None:
        _INTEGRITY.item(item)
    if _MODES.get("sabotage"):
        item.runtest = _sabotaged(item.runtest, _MODES["sabotage"])  # type: ignore[method-assign]
    yield


def _sabotaged(test: Callable[[], None], when: str) -> Callable[[], None]:
    def fail() -> None:
        sabotaged = pytest.fail.Exception("this run was sabotaged: every test of it fails", pytrace=False)
        if when == "after":
            try:
                test()
            except (KeyboardInterrupt, pytest.exit.Exception):
                raise
            except BaseException as ended:
                raise sabotaged from ended
        raise sabotaged

    return fail


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Note the exception itself; a report's text is for people."""
    outcome = yield
    report = outcome.get_result()
    if report is not None and call.excinfo is not None and report.outcome != "passed":
        facts = _exception(call.excinfo.value)
        if report.outcome == "failed":
            facts["says"] = call.excinfo.exconly(tryshort=True)
            facts.update(_failure(call.excinfo.value, str(getattr(item, "path", ""))))
        report.tallystick = facts


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say how one part of a test went."""
    facts = {} if report.outcome == "passed" else _facts(report)
    _CHANNEL.row("test", dict(facts, id=report.nodeid, phase=report.when, outcome=report.outcome))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Say that the run came to its end, before anybody else can change its status; before that, what it read."""
    if _RECORDER is not None:
        for plugin in session.config.pluginmanager.get_plugins():
            _INTEGRITY.plugin(plugin)
        for kind, facts in _RECORDER.rows(_plugins(session.config)):
            if kind == "loaded":
                outside = [*facts["outside"], *_options_outside(session.config)]
                facts = dict(facts, outside=outside, patched=_INTEGRITY.seen())
            _CHANNEL.row(kind, facts)
    _CHANNEL.row("end", {"status": int(exitstatus), "collected": session.testscollected})


def _options_outside(config: pytest.Config) -> list[str]:
    """The file of options that was taken from outside the project, if one was."""
    file = _options_file(config)
    return [file] if file and not _relative(file) else []


def _options_file(config: pytest.Config) -> str:
    """The file from which options were taken, "" where there is none or it says nothing about tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions call this word old, and many projects make that an error
        names = set(config.inicfg or ())
    said = {word.partition("=")[0] for word in config.known_args_namespace.override_ini or ()}
    return str(config.inipath) if names - said else ""


def _plugins(config: pytest.Config) -> list[str]:
    """The plugins that installed distributions bring, each by its module and its distribution."""
    found = config.pluginmanager.list_plugin_distinfo()
    return [f"{getattr(plugin, '__name__', plugin)} of {dist.project_name} {dist.version}" for plugin, dist in found]


def _facts(report: Any) -> Facts:
    """What a failed or skipped report knows: the exception noted by us, else what pytest wrote down."""
    facts: Facts = dict(getattr(report, "tallystick", {}))
    written = report.longrepr
    if hasattr(report, "wasxfail"):
        facts.update(type="xfail", says="expected to fail: " + str(report.wasxfail))
    elif isinstance(written, tuple) and len(written) == 3:
        path, line, says = written
        facts.update(says=str(says), file=_relative(str(path)), line=line)
    elif not facts:
        crash = getattr(written, "reprcrash", None)
        facts.update(says=str(getattr(crash, "message", written)))
        if crash is not None:
            facts.update(file=_relative(crash.path), line=crash.lineno)
    return facts


def _exception(error: BaseException) -> Facts:
    """Name, words and place of an exception: the innermost line of it that lies in the project."""
    kind = type(error)
    facts: Facts = {"type": _kind(kind), "says": f"{kind.__name__}: {error}"}
    if isinstance(error, SyntaxError) and error.filename:
        facts.update(file=_relative(error.filename), line=error.lineno)
        return facts
    step: TracebackType | None = error.__traceback__
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
