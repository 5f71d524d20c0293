"""The use cases of a hand-off: write a note, gather what the brief of a feature needs."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.handoff.brief import LISTED, Handed, Open, Standing, Tasks
from tallystick.handoff.notes import notes_of, write
from tallystick.ids import feature_id
from tallystick.journal.record import Event
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.store import Decision
from tallystick.journal.subjects import Subjects
from tallystick.ledger import rules
from tallystick.ledger.model import Ledger, ledger_of
from tallystick.ledger.service import LedgerService, Receipt, Shown


def note(ledger: LedgerService, feature: str, text: str) -> Receipt:
    """Leave a note for the next session; durable when it returns. Raises "feature.unknown" where there is nothing."""
    event = write(text)
    snapshot = ledger.snapshot(feature_id(feature))
    if ledger_of(snapshot).created_at is None and snapshot.exists:  # outputs or tasks, and no criteria yet
        committed = ledger.recording.commit(feature, "note", lambda snapshot, now: Decision((event,), None))
        return Receipt(feature, None, committed.notes)

    def decide(state: Ledger) -> Sequence[Event]:
        rules.open_ledger(state)
        return [event]

    return ledger.record(feature, "note", "", decide)


def standing(shown: Shown, tasks: Tasks | None = None) -> Standing:
    """What the brief needs of a feature."""
    handed, older = _handed(shown.snapshot)
    words = [state for _, state in shown.rows]
    rows = [
        Open(criterion.id, criterion.description, state, criterion.error)
        for criterion, state in shown.rows
        if state in ("failing", "regressed", "flaky")
    ]
    warnings = [finding.says for finding in shown.snapshot.findings if finding.grave]
    if shown.view.finding is not None and shown.view.kind in ("edited", "damaged"):
        warnings.append(shown.view.finding.says)
    return Standing(
        shown.ledger.feature,
        words.count("holds") + words.count("overridden"),
        len(words) - words.count("closed"),
        rows,
        words.count("stale"),
        words.count("elsewhere"),
        notes_of(shown.snapshot),
        warnings,
        shown.ledger.abandoned,
        handed,
        older,
        tasks,
    )


def _handed(snapshot: Snapshot[Subjects]) -> tuple[list[Handed], int]:
    """The newest outputs, and how many there are beside them."""
    if not snapshot.state.get("outputs"):
        return [], 0
    from tallystick.handoff.output.model import current, outputs_of

    newest = sorted(
        (current(versions) for versions in outputs_of(snapshot).values()), key=lambda one: one.at, reverse=True
    )
    handed = [Handed(one.file, one.role, one.task_id, one.status) for one in newest[:LISTED]]
    return handed, len(newest) - len(handed)
