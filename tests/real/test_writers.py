"""Holds that any number of processes write one ledger at once: nothing lost, nothing refused, no place used twice;
whoever is stopped keeps its lock, whoever is killed blocks nobody (P1, P4, P5)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from pathlib import Path

import pytest

from tallystick.journal.record import By
from tallystick.wiring import assemble, this_machine
from tests.real.project import PROOF, TALLYSTICK, Project
from tests.real.worker import HOLDING
from tests.real.writers import Writer, readable, working

PROCESSES, MARKS = 16, 50
_IDLE_S = 0.05


def _shares(names: list[str]) -> list[list[str]]:
    return [names[start : start + MARKS] for start in range(0, len(names), MARKS)]


def _each_place_once(project: Project, feature: str) -> None:
    records = project.records(feature)
    assert len({record["id"] for record in records}) == len(records)
    assert len({record["n"] for record in records}) == len(records)
    places: dict[str, list[int]] = {}
    for record in records:
        places.setdefault(record["writer"], []).append(record["i"])
    assert all(taken == list(range(1, len(taken) + 1)) for taken in places.values())


@pytest.mark.requirement("P1", "P4")
def test_sixteen_processes_mark_fifty_criteria_each(project: Project) -> None:
    names = project.freeze("checkout", PROCESSES * MARKS)
    with working(Writer(project.folder, "checkout", *share) for share in _shares(names)) as writers:
        assert [writer.end() for writer in writers] == [(0, "")] * PROCESSES
        acknowledged = [name for writer in writers for name in writer.acknowledged]
    assert sorted(acknowledged) == names
    assert project.passing("checkout") == set(names)
    assert project.audit().document == {"holds": True, "anchored": True, "findings": []}
    _each_place_once(project, "checkout")
    view = json.loads((project.folder / ".agent/tasks/checkout/feature_list.json").read_bytes())
    assert all(row["passes"] for row in view["features"])


@pytest.mark.requirement("P4")
def test_sixteen_command_lines_at_once(project: Project) -> None:
    names = project.freeze("checkout", PROCESSES)
    started = [
        subprocess.Popen(
            [*TALLYSTICK, "ledger", "pass", "checkout", name, "--evidence", PROOF],
            cwd=project.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in names
    ]
    ended = [(process.communicate(), process.returncode) for process in started]
    assert ended == [((f"{name} passes, cited: {PROOF}\n".encode(), b""), 0) for name in names]
    assert project.passing("checkout") == set(names)
    assert project.audit().status == 0
    _each_place_once(project, "checkout")


@pytest.mark.requirement("P1", "P5")
@pytest.mark.parametrize("seed", [1, 2])
def test_stopped_and_killed_among_them(project: Project, seed: int) -> None:
    """Chance stops, resumes and kills; those who are left finish, and heirs mark what the dead left open."""
    chance = random.Random(seed)
    names = project.freeze("checkout", PROCESSES * MARKS)
    moments = sorted(chance.sample(range(PROCESSES * MARKS * 3 // 4), 24))
    total, killed = 0, 0
    with working(Writer(project.folder, "checkout", *share) for share in _shares(names)) as writers:
        while any(writer.open for writer in writers):
            ready = readable(writers, _IDLE_S)
            total += sum(len(writer.read()) for writer in ready)
            if not ready:  # whoever was stopped may hold the lock, and nobody takes it from him
                for writer in writers:
                    writer.send(signal.SIGCONT)
            while moments and total >= moments[0]:
                moments.pop(0)
                victim = chance.choice([writer for writer in writers if writer.open])
                number = chance.choice([signal.SIGSTOP, signal.SIGSTOP, signal.SIGKILL])
                killed += number == signal.SIGKILL
                victim.send(number)
        ends = [writer.end() for writer in writers]
        acknowledged = {name for writer in writers for name in writer.acknowledged}
    assert killed > 0
    assert all(end in ((0, ""), (-signal.SIGKILL, "")) for end in ends)
    recorded = project.passing("checkout")
    assert acknowledged <= recorded
    assert len(recorded - acknowledged) <= killed  # a mark that was durable when its process died unheard
    assert project.audit().document["holds"]
    left = [name for name in names if name not in recorded]
    with working([Writer(project.folder, "checkout", *left)]) as (heir,):
        assert heir.end() == (0, "")
    assert project.passing("checkout") == set(names)
    _each_place_once(project, "checkout")


@pytest.mark.requirement("P3", "P4")
def test_a_reader_among_writers_sees_whole_records_and_never_waits(project: Project) -> None:
    """Whoever reads while others write gets what was acknowledged before, and never less than a moment ago."""
    names = project.freeze("checkout", 4 * MARKS)
    seen, looks = 0, 0
    with working(Writer(project.folder, "checkout", *share) for share in _shares(names)) as writers:
        while any(writer.open for writer in writers):
            for writer in readable(writers, _IDLE_S):
                writer.read()
            acknowledged = sum(len(writer.acknowledged) for writer in writers)
            shown = assemble(this_machine(os.environ), str(project.folder), By("solo")).ledger.show("checkout")
            assert shown.snapshot.findings == ()
            now = sum(state == "holds" for _, state in shown.rows)
            assert max(seen, acknowledged) <= now
            seen, looks = now, looks + 1
        assert [writer.end() for writer in writers] == [(0, "")] * 4
    assert seen == len(names)
    assert looks > 4


@pytest.mark.requirement("P5")
def test_the_lock_of_a_stopped_holder_is_never_taken(project: Project) -> None:
    first, second = project.freeze("checkout", 2)
    with working([Writer(project.folder, "checkout", "--hold", first)]) as (holder,):
        holder.until(HOLDING)
        holder.stopped()
        waited = project.mark("checkout", second, {"TALLYSTICK_LOCK_WAIT_S": "0.2"})
        assert (waited.status, waited.out) == (1, "")
        assert f"process {holder.process.pid} " in waited.err.splitlines()[0]
        assert project.passing("checkout") == set()  # a reader waits for nobody
        holder.send(signal.SIGCONT)
        assert holder.end() == (0, "")
    assert project.rows("checkout")[first]["last_attempt_error"] == "held while others waited"
    assert project.mark("checkout", second).status == 0


@pytest.mark.requirement("P5")
def test_a_holder_that_dies_blocks_nobody(project: Project) -> None:
    first, second = project.freeze("checkout", 2)
    with working([Writer(project.folder, "checkout", "--hold", first)]) as (holder,):
        holder.until(HOLDING)
        holder.stopped()
        holder.kill()
    assert project.mark("checkout", second, {"TALLYSTICK_LOCK_WAIT_S": "0"}).status == 0
    assert project.rows("checkout")[first]["last_attempt_error"] is None
    assert project.audit().status == 0


@pytest.mark.requirement("P4")
@pytest.mark.parametrize("gone", ["locks/checkout", "locks", "cache"])
def test_a_running_writer_goes_on_when_derived_files_are_taken_away(project: Project, gone: str) -> None:
    names = project.freeze("checkout", 4)
    with working([Writer(project.folder, "checkout", "--asked")]) as (writer,):
        writer.ask(names[0])
        _away(project.store / gone)
        assert project.mark("checkout", names[1]).status == 0
        writer.ask(names[2])
        assert project.mark("checkout", names[3]).status == 0
        assert writer.end() == (0, "")
    assert project.passing("checkout") == set(names)
    assert project.audit().document["holds"]
    _each_place_once(project, "checkout")


def _away(path: Path) -> None:
    """Move it out of sight, as somebody who tidies up does."""
    os.rename(path, path.with_name(f"{path.name}.moved"))
