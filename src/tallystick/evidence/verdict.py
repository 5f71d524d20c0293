"""What a run of a check says about the ids that were asked for. Pure: facts in, a verdict out.

Green needs all of it: the run came to its own end within its limits, at least one test was reported, every id asked
for was reported passed in all its parts, and the exit status is 0 or explained. An exit status is *explained* by a
test or scope that was reported red: several criteria share a run, and the red of one is not the red of another. One
that nothing explains is red for all, since something that we did not see went wrong (a plugin, a crash at the end).
The other way round an exit status of 0 makes nothing green.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tallystick.evidence.runners.report import Report, Test
from tallystick.evidence.selectors import base, covers, in_scope
from tallystick.ids import shown
from tallystick.limits import MB
from tallystick.system.process import Limits

_TAIL_CHARACTERS = 2_000
_LINE_CHARACTERS = 300
_RED = ("failed", "error", "unfinished")


class Reason(NamedTuple):
    """Why a check is not green: a stable code, a sentence, a place in the project where one is known.

    `next` is the one command that helps, where there is one.
    """

    code: str
    says: str
    file: str = ""
    line: int | None = None
    next: str = ""


class RedTest(NamedTuple):
    """A test that was asked for and is not passed. `outcome` is failed, error, skipped or unfinished."""

    id: str
    says: str
    file: str
    line: int | None
    outcome: str
    phase: str
    type: str


class Ran(NamedTuple):
    """The facts of one run, before anybody judges them.

    `command` is what was asked for (for ids: the runner and the ids), `python` which interpreter ran it and why that
    one ("" where no runner of ours did), `report` None where only the exit status speaks. `output` is what was kept
    of `output_total` printed bytes, `output_digest` is over all of them. `confined` is how far it was shut in.
    """

    runner: str
    command: tuple[str, ...]
    python: str
    report: Report | None
    status: int | None
    signal: int | None
    stopped: str
    limits: Limits
    output: bytes
    output_total: int
    output_digest: str
    took_s: float
    strays: int
    confined: str

    @property
    def tail(self) -> str:
        """The end of the output as text. What in it could act on a terminal is still in it: escape it when showing."""
        return self.output.decode("utf-8", "backslashreplace")[-_TAIL_CHARACTERS:]


class Verdict(NamedTuple):
    """Green or red for some ids, and why. `seen` counts the tests of the run that were reported to their end."""

    run: str
    reasons: tuple[Reason, ...]
    red: tuple[RedTest, ...]
    missing: tuple[str, ...]
    passed: tuple[str, ...]
    seen: int

    @property
    def green(self) -> bool:
        """Whether it holds."""
        return self.run == "green"


def judge(ran: Ran, ids: tuple[str, ...]) -> Verdict:
    """The verdict on `ids` (selectors may be among them); without ids, on the command as a whole."""
    report = ran.report
    if report is None:
        reasons = [*_stopped(ran), *_exit(ran, "it")]
        return _verdict(reasons, (), (), (), 0)
    sorted_out = [_of_id(report, wanted) for wanted in ids] if ids else [_of_all(report)]
    red = tuple(dict.fromkeys(_red(test, ran) for bad, _ in sorted_out for test in bad))
    passed = tuple(dict.fromkeys(test.id for _, good in sorted_out for test in good))
    missing = tuple(wanted for wanted, (bad, good) in zip(ids, sorted_out, strict=False) if not bad and not good)
    reasons = [*_stopped(ran)] or [*_unreadable(ran, report)]
    reasons += [Reason("check.red", f"{test.id}: {_first_line(test.says)}", test.file, test.line) for test in red]
    if not ran.stopped:
        reasons += _unreported(ran, report, missing)
        if not ids and not red and not passed and not reasons:
            says = f"{report.seen} tests were skipped and none passed"
            reasons.append(Reason("check.no_tests", says))
    if not reasons and not _explained(report):
        reasons += _exit(ran, "every test asked for passed, but the run")
    return _verdict(reasons, red, missing, passed, report.seen)


def against(reasons: Iterable[Reason], verdict: Verdict | None = None) -> Verdict:
    """A verdict that is red for these reasons, whatever else was seen; `verdict` where it was run at all."""
    before = verdict or Verdict("red", (), (), (), (), 0)
    return before._replace(run="red", reasons=(*reasons, *before.reasons))


def merge(verdicts: Iterable[Verdict]) -> Verdict:
    """One verdict for a criterion that several runs speak about: green when all are, and there is one."""
    several = list(verdicts)
    if not several:
        return _verdict([Reason("check.no_tests", "nothing was run")], (), (), (), 0)
    return _verdict(
        [reason for one in several for reason in one.reasons],
        tuple(test for one in several for test in one.red),
        tuple(wanted for one in several for wanted in one.missing),
        tuple(test_id for one in several for test_id in one.passed),
        sum(one.seen for one in several),
    )


def _verdict(
    reasons: list[Reason], red: tuple[RedTest, ...], missing: tuple[str, ...], passed: tuple[str, ...], seen: int
) -> Verdict:
    return Verdict("red" if reasons else "green", tuple(reasons), red, missing, passed, seen)


def _of_id(report: Report, wanted: str) -> tuple[list[Test], list[Test]]:
    """What was reported of one id or selector: not passed, and passed. A scope around it speaks for it."""
    if base(wanted) is None:
        tests = [report.tests[wanted]] if wanted in report.tests else []
    else:
        tests = [test for test_id, test in report.tests.items() if covers(wanted, test_id)]
    bad = [test for test in tests if test.outcome != "passed"]
    bad += [scope._replace(id=wanted) for scope in report.scopes if in_scope(scope.id, wanted)]
    return bad, [] if bad and base(wanted) is None else [test for test in tests if test.outcome == "passed"]


def _of_all(report: Report) -> tuple[list[Test], list[Test]]:
    """What a command reported as a whole. It may skip tests, if others pass."""
    bad = [test for test in (*report.tests.values(), *report.scopes) if test.outcome in _RED]
    return bad, [test for test in report.tests.values() if test.outcome == "passed"]


def _red(test: Test, ran: Ran) -> RedTest:
    says = test.says
    if test.outcome == "unfinished":
        cause = "the run was stopped" if ran.stopped else f"the run {_ending(ran)}"
        says = f"it had begun and not ended when {cause}"
    elif not says:
        says = test.type or f"reported as {test.outcome}"
    return RedTest(test.id, says, test.file, test.line, test.outcome, test.phase, test.type)


def _stopped(ran: Ran) -> Iterator[Reason]:
    """The reason of a run that did not come to its own end, with what was running then."""
    if not ran.stopped:
        return
    limits = ran.limits
    code, says = {
        "time": ("check.timeout", f"it was ended at its time limit of {limits.wall_s:g} s"),
        "output": ("check.timeout", f"it printed more than {limits.output / MB:g} MB and was ended"),
        "report": ("check.timeout", f"its report became larger than {limits.report / MB:g} MB and it was ended"),
        "cancelled": ("check.timeout", "it was ended because the call was cancelled"),
        "lost": ("check.unreadable", "the process that watches over it was killed, so how it ended is unknown"),
    }[ran.stopped]
    running = ran.report.running if ran.report is not None else ()
    yield Reason(code, f"{says}, while {running[0]} was running" if running else says)


def _unreadable(ran: Ran, report: Report) -> Iterator[Reason]:
    if report.unreadable:
        yield Reason("check.unreadable", f"the report of {ran.runner} cannot be read: {report.unreadable}")
    elif report.runner and not report.ended and report.seen:
        yield Reason(
            "check.unreadable", f"the run of {ran.runner} broke off: it {_ending(ran)} before its last test was over"
        )


def _unreported(ran: Ran, report: Report, missing: tuple[str, ...]) -> Iterator[Reason]:
    """The reasons for tests that nothing was said about."""
    if not report.tests and not report.scopes:
        yield Reason("check.no_tests", f"no test was reported: {ran.runner} {_ending(ran)}{_last_words(ran)}")
    for wanted in missing:
        none = "no test with the id" if base(wanted) is None else "no test that belongs to"
        yield Reason("ids.missing", f"{none} {shown(wanted, 200)} was reported")


def _exit(ran: Ran, what: str) -> Iterator[Reason]:
    if ran.status != 0 and not ran.stopped:
        yield Reason("check.red", f"{what} {_ending(ran)}{_last_words(ran)}")


def _explained(report: Report) -> bool:
    return any(test.outcome in _RED for test in (*report.tests.values(), *report.scopes))


def _ending(ran: Ran) -> str:
    if ran.signal is not None:
        return f"was ended by signal {ran.signal}"
    return f"exited with status {ran.status}"


def _last_words(ran: Ran) -> str:
    """The last line that was printed, better the last that speaks of an error, to go behind a sentence."""
    lines = [line.strip() for line in ran.tail.split("\n") if line.strip()]
    said = [line for line in lines if "error" in line.lower()] or lines
    return f": {said[-1][:_LINE_CHARACTERS]}" if said else ""


def _first_line(text: str) -> str:
    return text.split("\n", 1)[0][:_LINE_CHARACTERS]
