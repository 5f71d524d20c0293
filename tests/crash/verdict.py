"""What a process that starts afterwards makes of a disk: the facts in it, what `audit` says, whether one can go on."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.handoff.notes import notes_of
from tallystick.handoff.output.model import outputs_of
from tallystick.ledger.model import ledger_of
from tallystick.wiring import outputs
from tests.crash.scenes import FEATURE, VIEW, Scene
from tests.crash.stage import YOU, app, on
from tests.simdisk import SimDisk

Facts = tuple[object, ...]


class Verdict(NamedTuple):
    """`facts` is all that was recorded, `audit` the status of an audit, `onward` those of a next mark and an audit."""

    facts: Facts
    audit: int
    onward: tuple[int, int]


def facts(disk: SimDisk) -> Facts:
    """Everything that was recorded and what is wrong with it, as a process that starts now reads it."""
    here = app(disk)
    try:
        if here.store.id() is None:
            return (here.home.key() is not None,)
        found: list[object] = []
        for feature in here.store.features():
            snapshot = here.store.snapshot(feature)
            if not snapshot.exists:  # its first record was never finished
                continue
            ledger = ledger_of(snapshot)
            found.append((feature, ledger.created_at, ledger.abandoned, tuple(ledger.criteria.values())))
            found.append((tuple(notes_of(snapshot)), tuple(finding.code for finding in snapshot.grave)))
            kept = [version for versions in outputs_of(snapshot).values() for version in versions]
            found.append(tuple((one, outputs(here).content(feature, one)) for one in kept))
        if not found:
            return (here.home.key() is not None,)
        return (*found, frozenset(here.store.members().state.accepted))
    except Refusal as refusal:
        return (refusal.code,)


def _verdict(disk: SimDisk) -> Verdict:
    seen = facts(disk)
    audit = on(disk, "audit").status
    copy = disk.settled()
    if FEATURE in str(seen):
        onward = on(copy, "ledger", "fail", FEATURE, "AC1", "--error", "onward", caller=YOU._replace(at=60)).status
    else:
        onward = on(copy, "ledger", "init", FEATURE, "criteria.md", caller=YOU._replace(at=60)).status
    return Verdict(seen, audit, (onward, on(copy, "audit").status))


class Judge:
    """Judges the disks that a scene may leave, each tree of files once.

    `old` and `new` are the verdicts before and after an undisturbed run; `between` are the facts in the middle of a
    run that records twice, or that makes a key first.
    """

    def __init__(self, scene: Scene) -> None:
        self._known: dict[int, Verdict] = {}
        disk = scene.disk
        self.old = self.of(disk)
        answer = on(disk, *scene.words, caller=scene.caller)
        assert answer.status == scene.status, answer
        self.new = self.of(disk)
        self.view = disk.tree().get(VIEW)
        self.between: list[Facts] = []
        if scene.halfway is not None:
            halfway = scene.halfway().settled()
            assert on(halfway, *scene.words, caller=scene.caller).status == 0
            self.between.append(facts(halfway))
        if self.old.facts == (False,):
            self.between.append((True,))

    def of(self, disk: SimDisk) -> Verdict:
        """The verdict on `disk`, which is not changed."""
        key = hash(tuple(disk.tree().items()))
        if key not in self._known:
            self._known[key] = _verdict(disk)
        return self._known[key]

    def wrong(self, disk: SimDisk, acknowledged: bool) -> str:
        """What is wrong with `disk`: it must be as before the command or as after it, after it where acknowledged."""
        seen = self.of(disk)
        if acknowledged and seen.facts != self.new.facts:
            return f"acknowledged and not there: {seen.facts}"
        if seen.facts not in (self.old.facts, self.new.facts, *self.between):
            return f"neither the state before nor after: {seen.facts}"
        if seen.audit not in (self.old.audit, self.new.audit):
            return f"the audit ends with {seen.audit}"
        if seen.onward not in (self.old.onward, self.new.onward):
            return f"the next mark and its audit end with {seen.onward}"
        return ""
