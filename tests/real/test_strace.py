"""Holds that every system call may fail: the command says so in one clear line and by the table of exit statuses, never
"ok" after a sync that failed, and leaves the state before or after (P1, P2, P3). Needs strace."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tallystick.audit import inspect
from tallystick.errors import LOOK, REFUSED
from tallystick.journal.record import By
from tallystick.wiring import assemble, this_machine
from tests.real.project import PROOF, Project, Said, checklist
from tests.real.tracing import ERRORS, Failing, calls, failing

SAMPLE = 20
State = dict[str, str]
pytestmark = pytest.mark.needs("strace")

PASS = ("ledger", "pass", "checkout", "AC2", "--evidence", PROOF)
FAIL = ("ledger", "fail", "checkout", "AC1", "--error", "the cart shows 2 items")
INIT = ("ledger", "init", "later", "criteria.md")
READING = (("status", "--json"), ("ledger", "show", "checkout", "--json"))


class Bench(NamedTuple):
    """A project and a copy of it with its home, which is put back before each try, at the same path."""

    top: Path
    spare: Path
    project: Project

    def put_back(self) -> None:
        """As it was before the last command."""
        shutil.rmtree(self.top)
        shutil.copytree(self.spare, self.top, symlinks=True)

    def keep(self) -> None:
        """This is how it is put back from now on."""
        shutil.copytree(self.top, self.spare, symlinks=True)

    @property
    def log(self) -> Path:
        """Where strace writes."""
        return self.spare.with_name("strace.log")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A project with one ledger, one pass and one failure; home and repository lie in one folder."""
    top = tmp_path / "top"
    monkeypatch.setenv("XDG_STATE_HOME", str(top / "state"))
    project = Project.made(top / "shop", None, "--template=")
    (project.folder / "criteria.md").write_text(checklist(["AC1", "AC2", "AC3"]), encoding="utf-8")
    project.done("ledger", "init", "checkout", "criteria.md")
    project.done("ledger", "pass", "checkout", "AC1", "--evidence", PROOF)
    project.done("ledger", "fail", "checkout", "AC3", "--error", "not yet")
    bench = Bench(top, tmp_path / "spare", project)
    bench.keep()
    return bench


def _state(project: Project) -> State:
    """What a process that starts now reads: each criterion of each ledger with its state; no damage."""
    app = assemble(this_machine(os.environ), str(project.folder), By("solo"))
    report = inspect(app, None)
    assert report.holds, report.findings
    shown = [app.ledger.show(feature) for feature in app.ledger.features()]
    return {
        f"{one.ledger.feature} {criterion.id}": f"{state} {criterion.error}"
        for one in shown
        for criterion, state in one.rows
    }


def _check_words(said: Said, failure: Failing) -> None:
    """One clear line and a next step, and an exit status of the table."""
    lines = said.err.splitlines()
    assert "Traceback" not in said.err, f"{failure}\n{said.err}"
    assert said.status in (0, REFUSED, LOOK), f"{failure}: {said}"
    if said.status:
        assert 1 <= len(lines) <= 2, f"{failure}: {said}"
        assert all(len(line) < 500 for line in lines), f"{failure}: {said}"


def _sample(bench: Bench, words: tuple[str, ...]) -> list[Failing]:
    """A seeded choice of what may fail while this command runs; each kind of call is in it."""
    seen = calls(words, bench.project.folder, bench.top, bench.log)
    every = [Failing(*one, error) for one in seen for error in ERRORS[one[0]]]
    chance = random.Random(" ".join(words))
    chosen = chance.sample(every, min(SAMPLE, len(every)))
    for call in {failure.call for failure in every} - {failure.call for failure in chosen}:
        chosen.append(chance.choice([failure for failure in every if failure.call == call]))
    return chosen


@pytest.mark.requirement("P1", "P2", "P3")
@pytest.mark.parametrize("words", [PASS, FAIL, INIT], ids=lambda words: " ".join(words[:2]))
def test_a_call_of_a_writing_command_fails(bench: Bench, words: tuple[str, ...]) -> None:
    before = _state(bench.project)
    sample = _sample(bench, words)
    after = _state(bench.project)
    assert after != before
    for failure in sample:
        bench.put_back()
        said = failing(failure, words, bench.project.folder, bench.log)
        _check_words(said, failure)
        found = _state(bench.project)
        if said.status == 0:
            assert found == after, f"{failure}: {said}"
        else:
            assert said.out == "", f"{failure}: {said}"
            assert found in (before, after), f"{failure}: {said}"
        if "nothing was recorded" in said.err:
            assert found == before, f"{failure}: {said}"


@pytest.mark.requirement("P2", "P3")
def test_a_call_of_the_first_command_fails(bench: Bench) -> None:
    """The first command of a new user makes key, store and ledger: whatever fails, a second try succeeds."""
    shutil.rmtree(bench.project.store)
    shutil.rmtree(bench.top / "state")
    shutil.rmtree(bench.spare)
    bench.keep()
    sample = _sample(bench, INIT)
    after = _state(bench.project)
    for failure in sample:
        bench.put_back()
        said = failing(failure, INIT, bench.project.folder, bench.log)
        _check_words(said, failure)
        if said.status:
            again = bench.project.tally(*INIT)
            assert again.status == 0 or "has been frozen already" in again.err, f"{failure}: {said}\n{again}"
        assert _state(bench.project) == after, f"{failure}: {said}"


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("words", READING, ids=lambda words: words[0])
def test_a_call_of_a_reading_command_fails(bench: Bench, words: tuple[str, ...]) -> None:
    """It says so, or it answers what is true: never an empty default."""
    truth = _told(bench.project.done(*words).document)
    for failure in _sample(bench, words):
        said = failing(failure, words, bench.project.folder, bench.log)
        assert "Traceback" not in said.err
        assert said.status in (0, REFUSED, LOOK), f"{failure}: {said}"
        if set(said.document) == {"error"}:
            assert said.status != 0
            continue
        told = _told(said.document)
        # What a pass cites and cannot be read is to be run again; nothing else reads otherwise than it is.
        assert told in (truth, sorted(state.replace("holds", "stale") for state in truth)), f"{failure}: {said}"
        assert said.status in (0, LOOK)
        assert (said.status == LOOK) == ("view.damaged" in said.err), f"{failure}: {said}"


def _told(document: Any) -> list[str]:
    """Every criterion with its state, or how many are in which state."""
    if "criteria" in document:
        return sorted(f"{row['state']} {row['id']} {row['last_attempt_error']}" for row in document["criteria"])
    counts = document["features"][0]["counts"]
    words = {"passing": "holds"}
    return sorted(f"{words.get(word, word)} {number}" for word, number in counts.items() if number)


@pytest.mark.requirement("P4", "P16")
@pytest.mark.parametrize("words", READING, ids=lambda words: words[0])
def test_a_reader_takes_no_lock_and_writes_nothing(bench: Bench, words: tuple[str, ...]) -> None:
    seen = {call for call, _, _ in calls(words, bench.project.folder, bench.top, bench.log)}
    assert seen <= {"openat", "read", "pread64", "getdents64", "newfstatat"}


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
def test_never_ok_after_a_failed_sync_of_the_journal(bench: Bench, error: str) -> None:
    before = _state(bench.project)
    (journal,) = (bench.project.store / "journal" / "checkout").iterdir()
    size = journal.stat().st_size
    said = failing(Failing("fsync", journal, 1, error), PASS, bench.project.folder, bench.log)
    assert (said.status, said.out) == (1, "")
    assert said.err.splitlines()[0].startswith(f"{journal}: recording failed, ")
    assert said.err.splitlines()[0].endswith("; nothing was recorded")
    assert journal.stat().st_size == size
    assert _state(bench.project) == before
    assert bench.project.done(*PASS).out == f"AC2 passes, cited: {PROOF}\n"


@pytest.mark.requirement("P1")
def test_one_sync_and_no_second_try(bench: Bench) -> None:
    """A mark costs one sync; one that failed is not tried again on the same descriptor."""
    (journal,) = (bench.project.store / "journal" / "checkout").iterdir()
    syncs = [one for one in calls(PASS, bench.project.folder, bench.top, bench.log) if one[0] == "fsync"]
    assert syncs == [("fsync", journal, 1)]
    bench.put_back()
    failing(Failing("fsync", journal, 1, "EIO"), PASS, bench.project.folder, bench.log)
    assert bench.log.read_text(encoding="utf-8").count("fsync(") == 1


@pytest.mark.requirement("P4", "P5")
def test_no_mark_without_a_lock(bench: Bench) -> None:
    """A file system without locks is named; the view's own lock holds nothing up."""
    before = _state(bench.project)
    locks = bench.project.store / "locks"
    said = failing(Failing("flock", locks / "checkout", 1, "ENOLCK"), PASS, bench.project.folder, bench.log)
    assert (said.status, said.out) == (1, "")
    assert said.err.startswith(f"{locks / 'checkout'}: locking failed, this file system offers no locks\n")
    assert _state(bench.project) == before
    said = failing(Failing("flock", locks / "checkout.view", 1, "ENOLCK"), PASS, bench.project.folder, bench.log)
    assert (said.status, said.out) == (0, f"AC2 passes, cited: {PROOF}\n")
    assert said.err.startswith("note: ")


def test_a_failure_is_really_injected(bench: Bench) -> None:
    """The control: with the table of calls pointed at nothing that is touched, the command succeeds."""
    nothing = Failing("fsync", bench.top / "absent", 1, "EIO")
    assert failing(nothing, PASS, bench.project.folder, bench.log).status == 0
