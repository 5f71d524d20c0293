"""Holds what may happen to a manifest, on records alone: the first start makes it, nothing is begun or ended twice in
silence, what failed stays, and another copy's records are shown and decide nothing."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.handoff.manifest.model import Manifest, PhasesFold, RecordedFile, manifest_of
from tallystick.handoff.manifest.phases import named
from tallystick.handoff.manifest.rules import End, Start, close, end, start
from tallystick.journal.record import FIRST, By, Event, Record
from tallystick.journal.snapshot import Snapshot

SHOP = "shop"
MINE, THEIRS = "a" * 32, "b" * 32


class Journal:
    """Records of one feature, folded; each a minute after the one before."""

    def __init__(self) -> None:
        self.fold = PhasesFold()
        self.state: dict[str, Any] = self.fold.empty(SHOP)
        self.count = 0

    @property
    def manifest(self) -> Manifest | None:
        """As it stands; seen through a checkpoint, which must not make a difference."""
        dumped = json.loads(canonical.encode(self.fold.dump(self.state)))
        assert self.fold.load(SHOP, dumped) == self.state
        return manifest_of(Snapshot(SHOP, {"phases": self.state}, self.count, {}, (), True, 0))

    @property
    def there(self) -> Manifest:
        """The manifest, which is there."""
        found = self.manifest
        assert found is not None
        return found

    def add(self, events: tuple[Event, ...], ours: bool = True) -> int:
        """Fold these events; how many there were."""
        for event in events:
            self.count += 1
            at, data = f"2026-05-21T00:{self.count:02d}:00.000Z", json.loads(json.dumps(event.data))
            record = Record(
                "5" * 32, SHOP, MINE if ours else THEIRS, self.count, (1, 1), self.count, f"{self.count:064x}", FIRST,
                {}, at, By("shell"), event.type, data,
            )  # fmt: skip
            assert self.fold.flaw(record) is None
            before = copy.deepcopy(self.state)
            other = self.fold.copy(self.state)
            self.fold.apply(other, record, ours)
            assert self.state == before, "a copy shares its rows"
            self.state = other
        return len(events)

    def start(self, phase: str, **said: Any) -> int:
        """Begin a phase."""
        return self.add(start(SHOP, self.manifest, Start(phase, **said)))

    def end(self, phase: str, status: str = "completed", **said: Any) -> int:
        """End one."""
        return self.add(end(SHOP, self.manifest, End(phase, status, **said)))

    def close(self, status: str) -> int:
        """Close the manifest."""
        return self.add(close(SHOP, self.manifest, status))

    def states(self) -> dict[str, str]:
        """The phases that are not pending."""
        return {one.phase.name: one.status for one in self.there.phases if one.status != "pending"}


def refused(act: Any, *words: Any, **said: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        act(*words, **said)
    assert caught.value.hint
    return caught.value


@pytest.fixture
def journal() -> Journal:
    return Journal()


def test_the_first_start_makes_the_manifest(journal: Journal) -> None:
    journal.start("implementation", layout=16, work_type="SMALL", ui=True, description="pay as guest")
    head = journal.there.head
    assert (head.layout, head.work_type, head.ui, head.description) == (16, "SMALL", True, "pay as guest")
    assert (head.status, head.created_at) == ("running", "2026-05-21T00:01:00.000Z")
    assert [entry.phase.name for entry in journal.there.phases][:5] == [
        "setup", "triage", "codebase-discovery", "skill-discovery", "design-system",
    ]  # fmt: skip
    assert journal.states() == {"implementation": "running"}


def test_seventeen_phases_unless_said(journal: Journal) -> None:
    journal.start("12")
    assert journal.states() == {"code-quality": "running"}


def test_the_same_start_again_records_nothing(journal: Journal) -> None:
    assert journal.start("8", role="developer", agent_id="dev-1") == 1
    assert journal.start("08", agent_id="dev-1") == 0


def test_a_phase_that_somebody_else_runs_is_refused_by_name(journal: Journal) -> None:
    journal.start("8", agent_id="dev-1")
    refusal = refused(journal.start, "8", agent_id="dev-2")
    assert refusal.code == "phase.state"
    assert '"dev-1"' in refusal.message


def test_a_completed_phase_is_begun_again_only_when_that_is_said(journal: Journal) -> None:
    journal.start("8")
    journal.end("8")
    assert "--again" in refused(journal.start, "8").hint
    assert journal.start("8", again=True) == 1
    [first, second] = journal.there.entry(named("8", 17)).attempts
    assert (first.status, second.status) == ("completed", "running")


def test_what_failed_stays_beside_a_later_attempt(journal: Journal) -> None:
    journal.start("8")
    journal.end("8", "failed", reason="no network")
    assert journal.states() == {"implementation": "failed"}
    journal.start("8")
    journal.end("8")
    entry = journal.there.entry(named("8", 17))
    assert [(one.status, one.reason) for one in entry.attempts] == [("failed", "no network"), ("completed", None)]
    journal.start("9")
    journal.end("9")
    assert journal.there.entry(named("8", 17)) == entry


def test_an_end_needs_a_start(journal: Journal) -> None:
    assert refused(journal.end, "8").code == "phase.state"
    journal.start("7")
    assert "manifest start shop implementation" in refused(journal.end, "8").hint


def test_the_same_end_again_records_nothing_and_another_is_refused(journal: Journal) -> None:
    journal.start("8")
    assert journal.end("8", "failed", reason="x") == 1
    assert journal.end("8", "failed", reason="x") == 0
    assert refused(journal.end, "8", "completed").code == "phase.state"


def test_a_skipped_phase_says_why_and_needs_no_start(journal: Journal) -> None:
    journal.start("8")
    assert refused(journal.end, "9", "skipped").code == "input.invalid"
    assert refused(journal.end, "9", "skipped", reason=" ").code == "input.invalid"
    journal.end("9", "skipped", reason="nothing to simplify")
    assert journal.states() == {"implementation": "running", "simplification": "skipped"}
    assert journal.start("9") == 1


def test_a_manifest_is_completed_only_when_nothing_runs_or_failed(journal: Journal) -> None:
    assert refused(journal.close, "completed").code == "phase.state"
    journal.start("8")
    assert "still runs" in refused(journal.close, "completed").message
    journal.end("8", "failed")
    assert "8 implementation failed" in refused(journal.close, "completed").message
    assert journal.close("failed") == 1
    assert journal.close("failed") == 0
    journal.start("8")
    assert journal.there.head.status == "running"
    journal.end("8")
    journal.close("completed")
    assert "--status paused" in refused(journal.start, "9").hint
    journal.close("paused")
    journal.start("9")
    assert journal.there.head.status == "running"


@pytest.mark.parametrize(
    "other", [{"layout": 16}, {"work_type": "LARGE"}, {"description": "else"}, {"ui": True}], ids=str
)
def test_a_later_start_does_not_make_it_another_manifest(journal: Journal, other: dict[str, Any]) -> None:
    journal.start("8", layout=17, work_type="SMALL", description="pay")
    assert refused(journal.start, "9", **other).code == "phase.state"
    assert journal.start("9", layout=17, work_type="SMALL", description="pay") == 1


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"role": "no role!"}, "input.invalid"),
        ({"agent_id": ""}, "input.invalid"),
        ({"agent_id": "x" * 300}, "input.too_large"),
        ({"agent_id": "\udcff"}, "input.invalid"),
        ({"description": "x" * 8001}, "input.too_large"),
        ({"description": "\ud800"}, "input.invalid"),
    ],
    ids=str,
)
def test_bad_words_are_refused(journal: Journal, said: dict[str, Any], code: str) -> None:
    assert refused(journal.start, "8", **said).code == code
    journal.start("8")
    assert refused(journal.end, "8", "failed", reason="x" * 2001).code == "input.too_large"


def test_the_current_phase_is_the_last_that_runs_else_the_last_that_ended(journal: Journal) -> None:
    def current() -> str:
        entry = journal.there.current
        assert entry is not None
        return entry.phase.name

    journal.start("3")
    journal.start("8")
    assert current() == "implementation"
    journal.end("8")
    assert current() == "codebase-discovery"
    journal.end("3")
    assert current() == "codebase-discovery"
    assert journal.there.head.updated_at == "2026-05-21T00:04:00.000Z"


def test_another_copys_records_are_shown_and_decide_nothing(journal: Journal) -> None:
    other = Journal()
    other.start("8", layout=16, work_type="LARGE", description="theirs", agent_id="dev-9")
    theirs = start(SHOP, None, Start("8", layout=16, work_type="LARGE", description="theirs", agent_id="dev-9"))
    ended = end(SHOP, other.manifest, End("8", "completed"))
    journal.add(theirs, ours=False)
    journal.add(ended, ours=False)
    journal.add((Event("manifest_closed", {"status": "completed"}),), ours=False)
    entry = journal.there.entry(named("8", 16))
    assert entry.status == "completed"
    assert entry.current is not None
    assert not entry.current.ours
    assert journal.start("8") == 1  # not again, not refused: nobody here did it
    assert (journal.there.head.layout, journal.there.head.work_type, journal.there.head.ours) == (16, "LARGE", True)
    journal.add((Event("phase_ended", {"phase": "implementation", "status": "failed"}),), ours=False)
    journal.add((Event("manifest_closed", {"status": "failed"}),), ours=False)
    assert journal.states() == {"implementation": "running"}
    assert journal.there.head.status == "running"


def test_an_end_whose_beginning_is_not_here_is_passed_over(journal: Journal) -> None:
    journal.add((Event("phase_ended", {"phase": "testing", "status": "failed"}),), ours=False)
    assert journal.manifest is None


GOOD: dict[str, dict[str, Any]] = {
    "phase_started": {
        "phase": "testing", "number": 14, "layout": 17, "role": "tester", "active": ["testing"], "ui": False,
    },
    "phase_ended": {
        "phase": "testing", "status": "failed", "reason": None, "files_count": 1, "claimed": {"approved": True},
        "files": [RecordedFile("a", "created", 1, "d", "t", None, None, ("staged",), added=1).row()],
    },
    "manifest_closed": {"status": "paused"},
}  # fmt: skip


@pytest.mark.parametrize("kind", GOOD)
def test_a_payload_of_any_other_shape_is_a_flaw(kind: str) -> None:
    def flaw(data: dict[str, Any]) -> str | None:
        record = Record(
            "5" * 32, SHOP, THEIRS, 1, (1, 1), 1, "0" * 64, FIRST, {}, "2026-05-21T00:00:00.000Z", By("x"), kind, data
        )
        return PhasesFold().flaw(record)

    assert flaw(GOOD[kind]) is None
    assert flaw({}) is not None
    for key in GOOD[kind]:
        for wrong in ({"approved": 1, "digest": 1}, [[1]], 1.5j, b"x"):
            assert flaw({**GOOD[kind], key: wrong}) is not None, (key, wrong)
    if kind == "phase_ended":
        [row] = GOOD[kind]["files"]
        for key in row:
            assert flaw({**GOOD[kind], "files": [{**row, key: {"a": 1}}]}) is not None, key
