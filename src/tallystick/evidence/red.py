"""Whether a test is red for a good reason: because what it asks for is not there yet. Pure.

A red that would stay whatever is implemented (a typing error in the test, a fixture that nobody wrote, a module of
somebody else that is not installed) proves nothing later, so it is refused, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from tallystick.evidence.packages import is_project
from tallystick.evidence.runners.report import Failure, Report, Test
from tallystick.evidence.selectors import ALL_IN, base, covers, in_scope
from tallystick.evidence.verdict import Ran

#: Why a red does not count: one row for each code.
BAD: dict[str, str] = {
    "red.absent": "no test with this id was reported",
    "red.green": "it passes already, so it asks for nothing that is missing",
    "red.skip": "it is skipped or expected to fail, so it says nothing",
    "red.syntax": "a file that it needs is no Python",
    "red.fixture": "it asks for a fixture that nobody defines",
    "red.module": "it needs a module that is not the project's and is not there",
    "red.name": "the test file uses a name that it does not define",
    "red.setup": "it failed before or after the test for a reason that no implementation changes",
    "red.unentered": "the runner failed before any code of the test ran",
    "red.limit": "it ran into a limit",
    "red.crash": "the run broke off in it",
    "red.unclear": "it is reported as failed without an exception",
}
_LACKING = ("AttributeError", "ImportError", "NotImplementedError")
_ASSERTIONS = ("AssertionError", "doctest.DocTestFailure")
_TIMERS = ("pytest_timeout",)


class Good(NamedTuple):
    """A red that counts, and what it is red by."""

    says: str


class Bad(NamedTuple):
    """A red that does not count: a code of `BAD`, and a sentence."""

    code: str
    says: str


class RedVerdict(NamedTuple):
    """Every id that was judged, with what it is. A selector is judged by the ids that it stands for."""

    ids: dict[str, Good | Bad]

    @property
    def counts(self) -> bool:
        """Whether there are ids and all are red for a good reason."""
        return bool(self.ids) and not self.bad

    @property
    def bad(self) -> dict[str, Bad]:
        """The ids that are not."""
        return {test_id: said for test_id, said in self.ids.items() if isinstance(said, Bad)}


def classify(failure: Test, project_packages: frozenset[str]) -> Good | Bad:
    """Whether what was reported of one test, or of a scope around it, is red for a good reason."""
    for outcome, code in (("passed", "red.green"), ("skipped", "red.skip"), ("unfinished", "red.crash")):
        if failure.outcome == outcome:
            return _bad(code)
    facts = failure.failure
    if facts is None:
        return _bad("red.unclear", _first(failure))
    return _never_good(failure, facts) or _lacking(facts, project_packages) or _in_phase(failure, facts)


def judge_red(
    ran: Ran,
    ids: Iterable[str],
    project_packages: frozenset[str],
    listed: Callable[[str], Iterable[str] | None],
) -> RedVerdict:
    """What each of `ids` is in a run of ours. `listed` gives the ids in a file by its syntax tree, None where they
    cannot be read: the only ids there are where a file cannot be collected."""
    report = ran.report or Report({}, ())
    found: dict[str, Good | Bad] = {}
    for wanted in ids:
        if report.unreadable or ran.stopped:
            test = report.tests.get(wanted)
            if test is None or test.outcome == "unfinished" or report.unreadable:
                found[wanted] = _bad("red.limit" if ran.stopped else "red.crash", report.unreadable or ran.stopped)
                continue
        found.update(_of_id(report, wanted, project_packages, listed))
    return RedVerdict(found)


def _of_id(
    report: Report,
    wanted: str,
    packages: frozenset[str],
    listed: Callable[[str], Iterable[str] | None],
) -> Mapping[str, Good | Bad]:
    tests = [test for test in report.tests.values() if covers(wanted, test.id)]
    scopes = [scope for scope in report.scopes if in_scope(scope.id, wanted)]
    # a test that has been run speaks for itself; a scope speaks for those that have not
    said: dict[str, Good | Bad] = {test.id: classify(test, packages) for test in tests}
    if not scopes:
        return said or {wanted: _bad("red.absent")}
    about = classify(scopes[0], packages)
    file = wanted.partition("::")[0]
    inside = listed(file)
    if inside is None or isinstance(about, Bad):
        return said or {wanted: about if isinstance(about, Bad) else _bad("red.absent", f"{file} cannot be read")}
    names = [one for one in inside if _means(wanted, one)]
    return {**dict.fromkeys(names, about), **said} or {wanted: _bad("red.absent", f"{file} has no such test")}


def _means(wanted: str, listed: str) -> bool:
    """Whether an id of the syntax tree is one that is asked for; `name[*]` is every `name[…]`."""
    if wanted.endswith(ALL_IN):
        return covers(wanted, listed)
    start = base(listed)
    return wanted == listed or (start is not None and wanted.startswith(start + "[") and wanted.endswith("]"))


def _never_good(failure: Test, facts: Failure) -> Bad | None:
    """What counts in no phase at all."""
    if "SyntaxError" in facts.kinds and (facts.in_test or failure.phase != "call"):
        return _bad("red.syntax", _first(failure))
    if any(kind.endswith("FixtureLookupError") for kind in facts.kinds):
        return _bad("red.fixture", _first(failure))
    if "MemoryError" in facts.kinds or facts.raised.startswith(_TIMERS):
        return _bad("red.limit", _first(failure))
    if "NameError" in facts.kinds and facts.in_test:
        return _bad("red.name", facts.missing)
    return None


def _lacking(facts: Failure, packages: frozenset[str]) -> Good | Bad | None:
    """What says that something is not there: good where it is to be the project's, in every phase."""
    kind = next((kind for kind in _LACKING if kind in facts.kinds), None)
    if kind is None:
        return None
    owner = facts.raised if kind == "NotImplementedError" else facts.owner
    if owner and is_project(owner, packages):
        return Good(f"{owner} has no {facts.missing}" if facts.missing not in ("", owner) else f"{owner} is to come")
    if kind == "ImportError" and owner:
        return _bad("red.module", owner)
    return None


def _in_phase(failure: Test, facts: Failure) -> Good | Bad:
    if any(kind in facts.kinds for kind in _ASSERTIONS):
        return Good(_first(failure))
    if failure.phase != "call":
        return _bad("red.setup", _first(failure))
    return Good(_first(failure)) if facts.entered else _bad("red.unentered", _first(failure))


def _bad(code: str, told: str = "") -> Bad:
    return Bad(code, f"{BAD[code]}: {told}" if told else BAD[code])


def _first(failure: Test) -> str:
    return (failure.says.strip().split("\n", 1)[0] or failure.type)[:200]
