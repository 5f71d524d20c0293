"""Holds that no kill at any moment loses an acknowledged mark or leaves a state that cannot be read (P1, P2, P5).

Each kill has a process of its own. The moments come from a seeded chance: some before the first mark (while the
interpreter starts, or the store is opened), most within a few milliseconds after an acknowledgement.
"""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import pytest

from tallystick.journal.record import By
from tallystick.ledger.service import Shown
from tallystick.wiring import assemble, this_machine
from tests.real.project import Project, checklist, criteria
from tests.real.worker import BORN, GONE
from tests.real.writers import Writer, moment, working

KILLS_EACH, LEDGERS, COLD_KILLS, FIRST_HOURS = 30, 8, 36, 24  # 300 in all
_COLD_S, _WARM_S, _MARK_S, _INIT_S = 0.09, 0.02, 0.0025, 0.012


class Tally:
    """What was acknowledged so far, and how many died: what the ledger must hold at least, and may hold at most."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.acknowledged: set[str] = set()
        self.deaths = 0

    def check(self, fresh: list[str]) -> None:
        """After one more death: everything acknowledged holds, and one mark more for each death at most."""
        self.acknowledged |= set(fresh)
        self.deaths += 1
        holding = {criterion.id for criterion, state in _look(self.project).rows if state == "holds"}
        assert self.acknowledged <= holding
        assert len(holding - self.acknowledged) <= self.deaths  # durable when its process died, and never heard of

    def check_end(self) -> None:
        """All halves fit together, and work goes on."""
        audit = self.project.audit()
        assert (audit.status, audit.document["holds"]) == (0, True), audit
        last = list(self.project.rows("checkout"))[-1]
        assert self.project.mark("checkout", last).status == 0


def _look(project: Project) -> Shown:
    """The ledger as a process that starts now reads it; nothing is amiss."""
    shown = assemble(this_machine(os.environ), str(project.folder), By("solo")).ledger.show("checkout")
    assert shown.snapshot.findings == ()
    assert shown.view.kind in ("absent", "behind", "current")
    return shown


@pytest.mark.requirement("P1", "P2")
@pytest.mark.parametrize("seed", range(LEDGERS))
def test_killed_while_marking(project: Project, seed: int) -> None:
    chance = random.Random(seed)
    project.freeze("checkout", KILLS_EACH * 12)
    tally = Tally(project)
    with working([Writer(project.folder, "checkout", "--nest")]) as (nest,):
        for _ in range(KILLS_EACH):
            nest.acknowledged.clear()
            nest.tell("one more")
            pid = _born(nest, marks=chance.randrange(4))
            moment(nest, chance.uniform(0, _MARK_S) if len(nest.acknowledged) > 1 else chance.uniform(0, _WARM_S))
            os.kill(pid, signal.SIGKILL)
            nest.until(f"{GONE} {pid}")
            tally.check([word for word in nest.acknowledged if " " not in word])
        assert nest.end() == (0, "")
    assert len(tally.acknowledged) > KILLS_EACH // 2, "the moments came too early to say anything"
    tally.check_end()


def _born(nest: Writer, marks: int) -> int:
    """The next child's process id, once it has acknowledged so many marks."""
    while len(nest.acknowledged) <= marks:
        assert nest.read()
        assert not any(word.startswith(GONE) for word in nest.acknowledged), "it ended by itself"
    return int(next(word for word in nest.acknowledged if word.startswith(BORN)).split()[1])


@pytest.mark.requirement("P1", "P2")
def test_killed_from_the_start_of_the_interpreter_on(project: Project) -> None:
    chance = random.Random(COLD_KILLS)
    project.freeze("checkout", COLD_KILLS * 12)
    tally = Tally(project)
    for _ in range(COLD_KILLS):
        with working([Writer(project.folder, "checkout", "--open")]) as (writer,):
            moment(writer, chance.uniform(0, _COLD_S))
            writer.kill()
        tally.check(writer.acknowledged)
    tally.check_end()


@pytest.mark.requirement("P2", "P20")
@pytest.mark.parametrize("seed", range(FIRST_HOURS))
def test_killed_while_store_and_key_are_made(tmp_path: Path, seed: int) -> None:
    """The first command of a new user, killed: the ledger is there whole or not at all, and a second try succeeds."""
    project = Project.made(tmp_path / "shop")
    names = criteria(40)
    (project.folder / "criteria.md").write_text(checklist(names), encoding="utf-8")
    words = ("ledger", "init", "checkout", "criteria.md")
    seconds = random.Random(seed).uniform(0, _INIT_S)
    half = Path(os.environ["XDG_STATE_HOME"], "tallystick")  # the first thing that it makes
    acknowledged = project.struck(words, half, seconds, lambda process: process.kill()).in_all
    again = project.tally(*words)
    assert again.status == 1 if acknowledged else again.status in (0, 1), again
    assert "has been frozen already" in again.err if again.status else again.err == ""
    assert [criterion.id for criterion, _ in _look(project).rows] == names
    assert project.mark("checkout", names[0]).status == 0
    assert project.audit().document["holds"]
