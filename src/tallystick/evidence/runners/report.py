"""What a reporter of ours says about a test run: rows in, one value out. Pure.

Each row is one JSON object on a line, written to an inherited pipe while the run goes on, so that a run that dies
keeps what it had reported. Keys that this version does not know are left alone.

| `row` | says | keys |
|---|---|---|
| begin | the runner has started | runner, version, python, executable |
| start | a test begins | id |
| test | one part of a test is over | id, phase (setup, call, teardown), outcome (passed, failed, skipped, rerun) |
| scope | something around tests failed or was skipped | id, phase (collect, setup, teardown), outcome |
| files | files of the tree that a recorded run opened | how (read, written), files |
| rests | which of them, by their place among those read, rest on which | on, tests, everyones |
| names | top-level names of modules that it looked for | names |
| loaded | where its code came from | the fields of `Recorded` but the above |
| end | the runner itself came to its end | status, collected |

A row of a failure or a skip also holds `type` (the exception's name), `says`, `file` and `line`; one of a failure the
fields of `Failure`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tallystick.canonical import parse
from tallystick.errors import Refusal
from tallystick.evidence.selectors import base

#: From good to bad: a test is as good as the worst that was said about it.
OUTCOMES = ("passed", "skipped", "unfinished", "failed", "error")
_PHASES = ("collect", "setup", "call", "teardown")
_SAID = ("passed", "failed", "skipped", "rerun")


class Failure(NamedTuple):
    """The class of a failure, by the exception itself.

    `kinds` are the exception's classes from its own to BaseException, those that are not built in with their module.
    `missing` is the name, attribute or module that was looked up in vain, `owner` the module that should have had it;
    `raised` the module whose code raised. `in_test`: that was the test file itself; `entered`: code of the project
    had begun to run at all.
    """

    kinds: tuple[str, ...]
    missing: str = ""
    owner: str = ""
    raised: str = ""
    in_test: bool = False
    entered: bool = False


class Distribution(NamedTuple):
    """An installed distribution that something was loaded from: `record` is the digest of its RECORD, at `path`."""

    name: str
    version: str
    record: str
    path: str


class Recorded(NamedTuple):
    """What a recorded run read, and where its code came from. Files of the tree by their names from its top.

    `read` are files opened or imported, `written` those that the run wrote first. `names` are the top-level modules
    looked for, found or not, `roots` the folders of the tree in which they are looked for. `outside`: modules and
    files of the project that lie outside the tree, `elsewhere` code that is neither the project's nor a
    distribution's, with its digest. `start`: files that run at every start of the interpreter, with theirs. `plugins`
    of the runner. `programs` were started beside the run. `partial` is why `read` is not the whole ("" where it is):
    bound, names, forks, programs. `patched` says in words which tests, or parts of the runner, the project's own code
    replaced.

    Files by their place in `read`: `rests` are rows of a file and of what it needs by itself, `tests` the beginning of
    the ids of a test file and that file, `everyones` what every test needs. Without `tests` nothing is told apart.
    """

    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    elsewhere: tuple[tuple[str, str], ...] = ()
    distributions: tuple[Distribution, ...] = ()
    start: tuple[tuple[str, str], ...] = ()
    plugins: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    partial: str = ""
    patched: tuple[str, ...] = ()
    rests: tuple[tuple[int, ...], ...] = ()
    tests: tuple[tuple[str, int], ...] = ()
    everyones: tuple[int, ...] = ()

    def of(self, ids: Iterable[str]) -> Recorded:
        """What these ids alone rest on: all of their test files. The whole where one of them is not known, where no id
        is named, or where nobody could tell what belongs to which test."""
        starts = {number for one in ids for number in self._files_of(one)}
        if self.partial or not starts or -1 in starts:
            return self
        needs = {row[0]: row[1:] for row in self.rests}
        found = starts.union(self.everyones)
        left = list(found)
        while left:
            new = set(needs.get(left.pop(), ())) - found
            found |= new
            left += new
        read = tuple(name for number, name in enumerate(self.read) if number in found)
        return self._replace(read=read, rests=(), tests=(), everyones=())

    def _files_of(self, wanted: str) -> list[int]:
        """The test files of an id or selector, -1 for one that is not known."""
        start = base(wanted) or wanted
        inside = (f"{start}::", f"{start}.", f"{start}/") if start != wanted else ()
        found = [
            number
            for prefix, number in self.tests
            if start == prefix or start.startswith((f"{prefix}::", f"{prefix}.")) or prefix.startswith(inside)
        ]
        return found or [-1]


class Test(NamedTuple):
    """One test, or one scope: its outcome (a word of `OUTCOMES`) and, unless it passed, where and why.

    "error" is a failure outside the test's own call, "unfinished" one that began and was never heard of again.
    `file` is relative to the project, "" when unknown; `line` counts from 1. `failure` is None unless an exception was
    seen.
    """

    id: str
    outcome: str
    phase: str = ""
    type: str = ""
    says: str = ""
    file: str = ""
    line: int | None = None
    failure: Failure | None = None


class Report(NamedTuple):
    """A whole run. `runner` is "" when the runner never started, `ended` is whether it came to its own end.

    `unreadable` says what is wrong with the rows, "" if nothing is. `status` is the exit status the runner announced
    before anybody could change it. `recorded` is None unless the run was recorded to its end.
    """

    tests: dict[str, Test]
    scopes: tuple[Test, ...]
    runner: str = ""
    version: str = ""
    python: str = ""
    executable: str = ""
    ended: bool = False
    status: int | None = None
    unreadable: str = ""
    recorded: Recorded | None = None

    @property
    def seen(self) -> int:
        """How many tests were reported to their end."""
        return sum(test.outcome != "unfinished" for test in self.tests.values())

    @property
    def running(self) -> tuple[str, ...]:
        """The tests that had begun and were not heard of again."""
        return tuple(test.id for test in self.tests.values() if test.outcome == "unfinished")


EMPTY = Report({}, ())


def read(data: bytes) -> Report:
    """The report that the rows in `data` make; never raises. A torn last row is a run that was cut short."""
    tests: dict[str, Test] = {}
    scopes: list[Test] = []
    facts: dict[str, Any] = {}
    lines = data.split(b"\n")
    lines.pop()  # "" after a whole last row, else a torn one
    for number, line in enumerate(lines, 1):
        try:
            row = parse(line, "the report")
        except Refusal:
            return Report(tests, tuple(scopes), unreadable=f"row {number} is not one JSON object")
        wrong = _take(row, tests, scopes, facts)
        if wrong:
            return Report(tests, tuple(scopes), unreadable=f"row {number} {wrong}")
    if not facts.pop("recorded_whole", False):
        facts.pop("recorded", None)
    return Report(tests, tuple(scopes), **facts)


def _take(row: Any, tests: dict[str, Test], scopes: list[Test], facts: dict[str, Any]) -> str:
    """Add one row to what is known; what is wrong with it, "" if nothing is."""
    kind = row.get("row") if isinstance(row, dict) else None
    if kind == "begin":
        facts.update({key: _text(row, key) for key in ("runner", "version", "python", "executable")})
        return ""
    if kind == "end":
        status = row.get("status")
        facts.update(ended=True, status=status if isinstance(status, int) else None)
        return ""
    if kind in ("files", "rests", "names", "loaded"):
        return _record(row, facts)
    test_id = _text(row, "id") if kind in ("start", "test", "scope") else ""
    if kind == "start" and test_id:
        tests.setdefault(test_id, Test(test_id, "unfinished"))
        return ""
    if kind not in ("test", "scope") or not (test_id or kind == "scope"):
        return "says nothing that this version knows"
    if row.get("phase") not in _PHASES or row.get("outcome") not in _SAID:
        return "names no phase or no outcome"
    said = _test(row, test_id)
    if kind == "scope":
        scopes.append(said)
    else:
        tests[test_id] = _worse(tests.get(test_id), said)
    return ""


def _test(row: dict[str, Any], test_id: str) -> Test:
    phase, outcome = row["phase"], row["outcome"]
    if outcome == "passed":
        return Test(test_id, "passed" if phase == "call" else "unfinished", phase)
    if outcome != "skipped":
        outcome = "failed" if phase == "call" else "error"
    line = row.get("line")
    return Test(
        test_id,
        outcome,
        phase,
        _text(row, "type"),
        _text(row, "says"),
        _text(row, "file"),
        line if isinstance(line, int) and line > 0 else None,
        _failure(row),
    )


def _failure(row: dict[str, Any]) -> Failure | None:
    kinds = _texts(row, "kinds")
    if not kinds:
        return None
    missing, owner, raised = (_text(row, key) for key in ("missing", "owner", "raised"))
    return Failure(kinds, missing, owner, raised, row.get("in_test") is True, row.get("entered") is True)


def _record(row: dict[str, Any], facts: dict[str, Any]) -> str:
    """Add one row about a recorded run; what is wrong with it, "" if nothing is."""
    before: Recorded = facts.setdefault("recorded", Recorded())
    if row["row"] == "names":
        facts["recorded"] = before._replace(names=before.names + _texts(row, "names"))
        return ""
    if row["row"] == "rests":
        return _rest(row, facts)
    if row["row"] == "files":
        how = row.get("how")
        if how == "read":
            facts["recorded"] = before._replace(read=before.read + _texts(row, "files"))
        elif how == "written":
            facts["recorded"] = before._replace(written=before.written + _texts(row, "files"))
        return "" if how in ("read", "written") else "does not say what was done with the files"
    facts["recorded"] = before._replace(
        roots=_texts(row, "roots"),
        outside=_texts(row, "outside"),
        elsewhere=tuple((path, digest) for path, digest in _lists(row, "elsewhere", 2)),
        start=tuple((path, digest) for path, digest in _lists(row, "start", 2)),
        plugins=_texts(row, "plugins"),
        programs=_texts(row, "programs"),
        distributions=tuple(Distribution(*one) for one in _lists(row, "distributions", 4)),
        partial=_text(row, "partial"),
        patched=_texts(row, "patched"),
    )
    facts["recorded_whole"] = True
    return ""


def _rest(row: dict[str, Any], facts: dict[str, Any]) -> str:
    """Add one row about which files rest on which; what is wrong with it, "" if nothing is."""
    before: Recorded = facts["recorded"]
    on, tests, everyones = (row.get(key, []) for key in ("on", "tests", "everyones"))
    places = range(len(before.read))
    if not isinstance(on, list) or not isinstance(tests, list) or not isinstance(everyones, list):
        return "does not say what rests on what"
    fits = all(isinstance(one, list) and one for one in on)
    named = all(isinstance(one, list) and len(one) == 2 and isinstance(one[0], str) for one in tests)
    if not fits or not named:
        return "does not say what rests on what"
    numbers = [*(number for one in on for number in one), *(number for _, number in tests), *everyones]
    if not all(type(number) is int and number in places for number in numbers):
        return "names a file that was not read"
    facts["recorded"] = before._replace(
        rests=(*before.rests, *map(tuple, on)),
        tests=(*before.tests, *map(tuple, tests)),
        everyones=(*before.everyones, *everyones),
    )
    return ""


def _texts(row: dict[str, Any], key: str) -> tuple[str, ...]:
    value = row.get(key)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _lists(row: dict[str, Any], key: str, length: int) -> list[list[str]]:
    """The lists of `length` texts below `key`."""
    value = row.get(key)
    found = [one for one in value if isinstance(one, list)] if isinstance(value, list) else []
    return [one for one in found if len(one) == length and all(isinstance(text, str) for text in one)]


def _worse(before: Test | None, now: Test) -> Test:
    """The worse of two sayings about one test. That its set-up or its clearing up went well adds nothing."""
    if before is None or before.outcome == "unfinished":
        return now
    if now.outcome == "unfinished":
        return before
    return now if OUTCOMES.index(now.outcome) > OUTCOMES.index(before.outcome) else before


def _text(row: dict[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) else ""
