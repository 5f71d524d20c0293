"""Every command dies at every moment, by a kill or by a power cut (P1, P2, P5): what was acknowledged is there, nothing
stands between before and after, a torn end is at most a note, and whoever comes next can go on.

A kill leaves what is visible, so it is looked at without a process dying: between two calls that change nothing the
disk is the same one. Each power cut is drawn with several seeds; one of them leaves only what was confirmed.
"""

from __future__ import annotations

import pytest

from tests.crash.moments import Moments
from tests.crash.scenes import WRITING, Scene, named
from tests.crash.stage import tally
from tests.crash.verdict import Judge
from tests.simdisk import Fault, Faulty, Kill, SimDisk

SEEDS = 4


@pytest.mark.requirement("P1", "P2")
@pytest.mark.parametrize("scene", WRITING, ids=named(WRITING))
def test_death_at_any_moment_leaves_the_state_before_or_after(scene: Scene) -> None:
    judge = Judge(scene)
    disk = scene.disk
    acknowledged: list[bool] = []
    wrong: list[str] = []

    def look() -> None:
        moment = len(wrong)
        outcomes = [disk.settled(), disk.crash(moment, survival=0.0)]
        outcomes += [disk.crash(SEEDS * moment + seed) for seed in range(SEEDS)]
        found = [judge.wrong(outcome, bool(acknowledged)) for outcome in outcomes]
        wrong.append("; ".join(filter(None, found)))

    process = Moments(disk.process(), look)
    answer = tally(process, *scene.words, caller=scene.caller, heard=lambda: acknowledged.append(True))
    look()
    assert answer.status == scene.status
    assert [one for one in wrong if one] == []


@pytest.mark.requirement("P2", "P5")
def test_a_killed_process_says_nothing_more_and_holds_nothing() -> None:
    """The control: a kill is no error that the command could answer, and its locks are free at once."""
    (scene,) = (scene for scene in WRITING if scene.name == "pass")
    disk: SimDisk = scene.disk
    process = Faulty(disk.process(), [Fault(Kill(), call="write", path="/journal/")])
    answer = tally(process, *scene.words)
    assert (answer.out, answer.err) == ("", "")
    assert process.struck
    assert tally(disk.process(), *scene.words).status == 0
