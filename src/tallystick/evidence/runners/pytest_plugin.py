"""The pytest plugin that is carried into a check: it says over an inherited pipe what became of each test.

One file, standard library and pytest alone, Python 3.8 and pytest 7 upwards: it runs in the project's Python, not in
ours. What the rows mean stands in `report.py`. It loads nothing of Tallystick.

With `tallystick_ids.json` beside it, exactly these ids are run (the command then names their files): one that does
not exist keeps none of the others from running, and what the project's configuration adds for its whole suite
(workers, repeated attempts, a coverage threshold) does not bend the verdict on a few.
"""

from __future__ import annotations

import json
import os
import platform
import sys

import pytest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from types import TracebackType
    from typing import Any

    Facts = dict[str, Any]

_MOST = 2000
_HERE = os.path.dirname(os.path.abspath(__file__))
_ROOT = os.getcwd()


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


class Chosen:
    """What is to run: plain ids, `a::*` for everything in a, `a[*]` for every parameter set of a."""

    def __init__(self, ids: list[str]) -> None:
        self._plain = frozenset(ids)
        self._inside = tuple(one[:-1] for one in ids if one.endswith("::*"))
        self._sets = tuple(one[:-2] for one in ids if one.endswith("[*]"))

    def __contains__(self, nodeid: str) -> bool:
        some = nodeid.startswith(self._sets) and nodeid.endswith("]")
        return some or nodeid in self._plain or nodeid.startswith(self._inside)


def _chosen() -> Chosen | None:
    try:
        with open(os.path.join(_HERE, "tallystick_ids.json"), encoding="utf-8") as file:
            return Chosen(json.load(file))
    except FileNotFoundError:
        return None


_CHANNEL = Channel(os.environ.pop("TALLYSTICK_REPORT", None))
_CHOSEN = _chosen()
_CHANNEL.row(
    "begin",
    {
        "runner": "pytest",
        "version": pytest.__version__,
        "python": platform.python_version(),
        "executable": sys.executable,
    },
)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Where ids are asked for: one process, one attempt, no threshold meant for the whole suite."""
    if _CHOSEN is None:
        return
    loaded = early_config.pluginmanager.has_plugin
    if loaded("xdist"):
        args.append("-n0")
    if loaded("rerunfailures"):
        args.append("--reruns=0")
    if loaded("pytest_cov"):
        args.append("--cov-fail-under=0")


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
def pytest_make_collect_report() -> Generator[None, Any, None]:
    """Note what exception kept a file or class from being collected."""
    outcome = yield
    report = outcome.get_result()
    call = getattr(report, "call", None)
    if call is not None and call.excinfo is not None:
        error = call.excinfo.value
        report.tallystick = _exception(error.__cause__ or error)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Say what was not collected."""
    if report.outcome != "passed":
        _CHANNEL.row("scope", dict(_facts(report), id=report.nodeid, phase="collect", outcome=report.outcome))


def pytest_runtest_logstart(nodeid: str) -> None:
    """Say that a test begins."""
    _CHANNEL.row("start", {"id": nodeid})


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Note the exception itself; a report's text is for people."""
    outcome = yield
    report = outcome.get_result()
    if report is not None and call.excinfo is not None and report.outcome != "passed":
        facts = _exception(call.excinfo.value)
        if report.outcome == "failed":
            facts["says"] = call.excinfo.exconly(tryshort=True)
        report.tallystick = facts


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Say how one part of a test went."""
    facts = {} if report.outcome == "passed" else _facts(report)
    _CHANNEL.row("test", dict(facts, id=report.nodeid, phase=report.when, outcome=report.outcome))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Say that the run came to its end, before anybody else can change its status."""
    _CHANNEL.row("end", {"status": int(exitstatus), "collected": session.testscollected})


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
    name = kind.__qualname__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__qualname__
    facts: Facts = {"type": name, "says": f"{kind.__name__}: {error}"}
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


def _relative(path: str) -> str:
    """`path` from the project's top folder; "" for what lies outside."""
    whole = os.path.abspath(os.path.join(_ROOT, path))
    inside = whole.startswith(_ROOT.rstrip(os.sep) + os.sep)
    return os.path.relpath(whole, _ROOT).replace(os.sep, "/") if inside else ""
