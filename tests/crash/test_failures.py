"""Every IO call of every command fails in every way that Linux has (P2, P3): the command says so in one clear line, no
answer looks like a success that is none, and a process that comes afterwards finds the state before or the state after.
"""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Iterator

import pytest

from tallystick.errors import CODES
from tests.crash.moments import changes, telling
from tests.crash.scenes import PASS, READING, VIEW, WRITING, Scene, named, worked
from tests.crash.stage import HOME, TREE, Answer, on, tally
from tests.crash.verdict import Judge
from tests.simdisk import WAYS, Call, Fail, Fault, Faulty, Kill, LoseSync, SimDisk

LASTING = (Fail(errno.EACCES), Fail(errno.EROFS))
STATUSES = {0, *(row.exit for row in CODES.values())} - {CODES["internal"].exit}


def log_of(scene: Scene, *more: str) -> Faulty:
    """An undisturbed run with every call in its log."""
    process = Faulty(scene.disk.process())
    assert tally(process, *scene.words, *more, caller=scene.caller).status == scene.status
    return process


def failures(scene: Scene) -> Iterator[tuple[Fault, Call, bool]]:
    """Each call in each way but death, or in as many ways as the scene says, so that all of them take their turn.

    In turn with words for people and with a document. A permission that is denied for what was there before is denied
    for good: such a fault strikes again and again.
    """
    log, there = log_of(scene).log, scene.disk.tree()
    as_json = itertools.cycle((False, True))
    seen: set[tuple[str, str, object]] = set()
    for nth, call in telling(log):
        ways = [action for action in WAYS[call.name] if not isinstance(action, Kill)]
        for turn in range(min(len(ways), scene.ways)):
            action = ways[(nth * scene.ways + turn) % len(ways)]
            if action in LASTING and call.path in there:
                if (call.name, call.path, action) not in seen:
                    yield Fault(action, 1, call.name, call.path, len(log)), call, next(as_json)
                seen.add((call.name, call.path, action))
            else:
                yield Fault(action, nth), call, next(as_json)


def wrong_answer(answer: Answer, as_json: bool) -> str:
    """What is wrong with how a refusal is put: one line, its status by the table, nothing that looks like an answer."""
    if answer.status not in STATUSES or "Traceback" in answer.out + answer.err:
        return "a fault of our own"
    if as_json:
        error = answer.document.get("error")
        if error is None:
            return ""
        by_table = answer.status == CODES[error["code"]].exit
        one_line = error["message"].strip() and "\n" not in error["message"]
        return "" if by_table and one_line else "a refusal off the table"
    if answer.status and not answer.out:
        first, *rest = [*answer.err.splitlines(), ""][:-1] or [""]
        if not first.strip() or not all(line.startswith(("Next: ", "note: ")) for line in rest):
            return "not one clear line"
    return ""


def truths(scene: Scene, fault: Fault, call: Call) -> list[str]:
    """The answers that are true where `call` fails: the one of an undisturbed run, and what caution makes of it.

    What a pass rests on counts as changed where it cannot be read. A home that may not be read has no anchor.
    """
    disks = [scene.disk]
    if call.path == f"{TREE}/proof.txt":
        disks.append(scene.disk)
        disks[-1].remove(call.path)
    if "/anchors/" in call.path and fault.action == Fail(errno.EACCES):
        disks.append(scene.disk)
        disks[-1].remove(f"{HOME}/anchors")
    return [on(disk, *scene.words, "--json", caller=scene.caller).out for disk in disks]


class Ear:
    """Hears when an answer is out, and keeps what a power cut at that moment leaves: only what was confirmed."""

    def __init__(self, disk: SimDisk) -> None:
        self._disk = disk
        self.heard: list[SimDisk] = []

    def hear(self) -> None:
        """The answer is out."""
        self.heard.append(self._disk.crash(0, survival=0.0))


def told(wrong: str, fault: Fault, call: Call, answer: Answer) -> str:
    """One line about a run that went wrong, "" about any other."""
    return wrong and f"{wrong}: call {fault.nth}, {call.name} {call.path}, {fault.action}: {answer}"


@pytest.mark.requirement("P2")
@pytest.mark.parametrize("scene", WRITING, ids=named(WRITING))
def test_a_writing_command_fails_whole_or_not_at_all(scene: Scene) -> None:
    judge = Judge(scene)
    seen: list[str] = []
    for fault, call, as_json in failures(scene):
        disk = scene.disk
        ear = Ear(disk)
        process = Faulty(disk.process(), [fault])
        words = (*scene.words, "--json") if as_json else scene.words
        answer = tally(process, *words, caller=scene.caller, heard=ear.hear)
        process.kill()
        succeeded = answer.status == 0
        wrong = wrong_answer(answer, as_json) or judge.wrong(disk, succeeded)
        if succeeded:
            wrong = wrong or judge.wrong(ear.heard[0], True)
            if not answer.err and disk.tree().get(VIEW) != judge.view:
                wrong = wrong or "the view is not current, and nothing was said"
        if isinstance(fault.action, LoseSync):
            wrong = wrong or next(filter(None, (judge.wrong(disk.crash(seed), succeeded) for seed in range(3))), "")
        seen.append(told(wrong or ("" if process.struck else "not reached"), fault, call, answer))
    assert [one for one in seen if one] == []


@pytest.mark.requirement("P1")
def test_after_a_failed_sync_nothing_is_acknowledged_and_the_file_is_not_synced_again() -> None:
    """What a failed sync lost, a later one does not bring back, and the kernel would call it a success."""
    clean = Faulty(worked().settled().process())
    tally(clean, *PASS)
    for nth in range(1, clean.count("fsync") + 1):
        process = Faulty(worked().settled().process(), [Fault(LoseSync(), nth, "fsync")])
        answer = tally(process, *PASS)
        synced = [call.path for call in process.log if call.name == "fsync"]
        assert (answer.status, answer.out) == (1, "")
        assert synced.count(synced[nth - 1]) == 1


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("scene", READING, ids=named(READING))
def test_a_reading_command_shows_the_truth_or_says_why_not(scene: Scene) -> None:
    truth = on(scene.disk, *scene.words, "--json", caller=scene.caller).out
    seen: list[str] = []
    for fault, call, _ in failures(scene):
        process = Faulty(scene.disk.process(), [fault])
        answer = tally(process, *scene.words, "--json", caller=scene.caller)
        wrong = wrong_answer(answer, True)
        says_so = answer.err or "not checkable here" in answer.out or "segment.damaged" in answer.out
        if not answer.status and answer.out != truth and not says_so:
            wrong = "" if answer.out in truths(scene, fault, call) else "another answer"
        seen.append(told(wrong, fault, call, answer))
    assert [one for one in seen if one] == []


@pytest.mark.requirement("P16", "P4")
@pytest.mark.parametrize("scene", READING, ids=named(READING))
def test_looking_changes_nothing_and_takes_no_lock(scene: Scene) -> None:
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
    log = log_of(scene).log
    assert [call for call in log if changes(call) or call.name == "try_lock"] == []
    assert [call for call in log if call.name == "open" and call.args[1] & writing] == []
