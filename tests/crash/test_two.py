"""Two processes on one disk (P1, P4, P5): at every call of one the other runs a whole command; each call of one fails
while the other goes on; the power goes at every moment while both have been at work for a while.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

from tallystick.errors import Refusal
from tallystick.journal.record import By, Record
from tallystick.system.files import Files
from tallystick.wiring import App, assemble
from tests.crash.moments import Moments
from tests.crash.scenes import FEATURE, frozen, worked
from tests.crash.stage import TREE, YOU, Answer, app, done, machine, on, tally
from tests.crash.verdict import facts
from tests.simdisk import WAYS, Attempt, Fault, Faulty, Kill, Killed, SimDisk, Tap

OTHERS = (
    ("ledger", "pass", "AC3", "--evidence", "large.txt"),
    ("ledger", "fail", "AC3", "--error", "no bill came"),
    ("ledger", "add", "more.md"),
    ("ledger", "init", "refund", "more.md"),
    ("audit", "--restore"),
)
OUTER = ("ledger", "pass", FEATURE, "AC2", "--evidence", "proof.txt")
READERS = (("status",), ("ledger", "show"), ("ledger", "failing"), ("brief",), ("audit",))


class Interrupted(Tap):
    """Before its `nth` call `meanwhile` happens."""

    def __init__(self, files: Files, nth: int, meanwhile: Callable[[], object]) -> None:
        super().__init__(files)
        self._nth = nth
        self._meanwhile = meanwhile
        self.calls = 0

    def intercept(self, attempt: Attempt) -> Any:
        """Carry out the call, after what happens meanwhile."""
        self.calls += 1
        if self.calls == self._nth:
            self._meanwhile()
        return attempt.do(*attempt.args)


def run_into(answers: list[Answer], files: Files, words: tuple[str, ...]) -> None:
    """Run a command and put its answer into `answers`."""
    answers.append(tally(files, *words))


def calls_of(words: tuple[str, ...]) -> int:
    """How many calls the command makes."""
    process = Faulty(worked().settled().process())
    tally(process, *words)
    return len(process.log)


@pytest.mark.requirement("P4", "P5")
@pytest.mark.parametrize("words", OTHERS, ids=["pass", "fail", "add", "freeze", "restore"])
def test_a_command_between_any_two_calls_of_another_loses_nothing(words: tuple[str, ...]) -> None:
    alone, both = worked().settled(), worked().settled()
    for disk in (alone, both):
        done(disk, *OUTER)
    done(both, *words)
    expected = {False: facts(alone), True: facts(both)}
    wrong = []
    for nth in range(1, calls_of(OUTER) + 1):
        disk = worked().settled()
        inner: list[Answer] = []
        process = Interrupted(disk.process(), nth, functools.partial(run_into, inner, disk.process(), words))
        outer = tally(process, *OUTER)
        (answer,) = inner
        entered = answer.status == 0
        busy = "was held by process" in answer.err
        if outer.status or not (entered or busy) or facts(disk) != expected[entered] or on(disk, "audit").status:
            wrong.append((nth, outer, answer))
    assert wrong == []


@pytest.mark.requirement("P4")
@pytest.mark.parametrize("words", READERS, ids=["status", "show", "failing", "brief", "audit"])
def test_a_reader_between_any_two_calls_of_a_writer_sees_before_or_after_and_takes_no_lock(
    words: tuple[str, ...],
) -> None:
    after = worked().settled()
    done(after, *OUTER)
    truths = {on(disk, *words, "--json").out for disk in (worked().settled(), after)}
    wrong = []
    for nth in range(1, calls_of(OUTER) + 1):
        disk = worked().settled()
        reader = Faulty(disk.process())
        inner: list[Answer] = []
        process = Interrupted(disk.process(), nth, functools.partial(run_into, inner, reader, (*words, "--json")))
        assert tally(process, *OUTER).status == 0
        (answer,) = inner
        behind = answer.out.replace('"view.behind"', "") != answer.out  # the view comes after the answer
        if answer.status or reader.count("try_lock") or (answer.out not in truths and not behind):
            wrong.append((nth, answer))
    assert wrong == []


class Marks:
    """Two processes that have been at work for a while, and what they were told."""

    def __init__(self, disk: SimDisk, first: Files, second: Files) -> None:
        self.disk = disk
        self.apps: tuple[App, App] = (_assembled(first), _assembled(second))
        self.tried: list[str] = []
        self.acknowledged: list[str] = []

    def mark(self, who: int, text: str) -> None:
        """One attempt of process `who`; a refusal of the disk or its death is no acknowledgement."""
        self.tried.append(text)
        try:
            self.apps[who].ledger.mark_failure(FEATURE, "AC1", text)
        except (Refusal, Killed):
            return
        self.acknowledged.append(text)

    def wrong(self, disk: SimDisk) -> str:
        """What is wrong with `disk` for a process that starts now."""
        found: list[str] = []
        here = app(disk)

        def visit(record: Record, _ours: bool) -> None:
            if record.type == "failure_recorded":
                found.append(record.data["error"])

        snapshot = here.store.snapshot(FEATURE)
        here.store.history(FEATURE, visit)
        if snapshot.grave:
            return str(snapshot.grave)
        if not set(self.acknowledged) <= set(found) <= set(self.tried) or len(found) != len(set(found)):
            return f"acknowledged {self.acknowledged}, tried {self.tried}, found {found}"
        return ""


def _assembled(files: Files) -> App:
    return assemble(machine(files, YOU), TREE, By("shell"))


@pytest.mark.requirement("P1", "P4")
def test_a_power_cut_at_any_moment_of_two_processes_keeps_every_mark() -> None:
    disk = frozen().settled()
    wrong: list[str] = []
    ready: list[Marks] = []

    def look() -> None:
        for marks in ready:
            moment = len(wrong)
            outcomes = [disk.settled(), disk.crash(0, survival=0.0), *(disk.crash(6 * moment + n) for n in range(6))]
            wrong.append("; ".join(filter(None, map(marks.wrong, outcomes))))

    marks = Marks(disk, Moments(disk.process(), look), Moments(disk.process(), look))
    ready.append(marks)
    for number in range(10):
        marks.mark((0, 1, 1, 0, 0)[number % 5], f"mark {number} {'x' * (number * 97)}")
    look()
    assert len(marks.acknowledged) == 10
    assert len(wrong) > 10
    assert [one for one in wrong if one] == []


@pytest.mark.requirement("P1", "P4", "P5")
def test_every_failing_call_of_one_process_leaves_the_other_whole() -> None:
    """Process 0 marks, has one call fail in some way (death included), process 1 marks, process 0 tries again."""
    disk = frozen().settled()
    clean = Faulty(disk.process())
    marks = Marks(disk, clean, disk.process())
    marks.mark(0, "first")
    begin = len(clean.log)
    marks.mark(0, "second")
    wrong: list[tuple[object, ...]] = []
    faults = [Fault(way, nth) for nth in range(begin + 1, len(clean.log) + 1) for way in WAYS[clean.log[nth - 1].name]]
    for fault in faults:
        disk = frozen().settled()
        process = Faulty(disk.process(), [fault])
        marks = Marks(disk, process, disk.process())
        for who, text in ((0, "first"), (0, "second"), (1, "third"), (0, "fourth"), (1, "fifth")):
            marks.mark(who, text)
        survivors = {"first", "third", "fifth"} | (set() if isinstance(fault.action, Kill) else {"fourth"})
        if not process.struck or not survivors <= set(marks.acknowledged):
            wrong.append((fault, "only acknowledged", marks.acknowledged))
        for outcome in (disk.settled(), disk.crash(0, survival=0.0), disk.crash(1), disk.crash(2)):
            if found := marks.wrong(outcome):
                wrong.append((fault, found, clean.log[fault.nth - 1][:2]))
    assert wrong == []
