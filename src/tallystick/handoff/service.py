"""The use cases of a hand-off: write a note, compose the brief of a feature."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.handoff.brief import TOKENS, Open, Standing, compose
from tallystick.handoff.notes import notes_of, write
from tallystick.journal.record import Event
from tallystick.ledger import rules
from tallystick.ledger.model import Ledger
from tallystick.ledger.service import LedgerService, Receipt, Shown


def note(ledger: LedgerService, feature: str, text: str) -> Receipt:
    """Leave a note for the next session; durable when it returns. Raises "feature.unknown" where nothing is frozen."""
    event = write(text)

    def decide(state: Ledger) -> Sequence[Event]:
        rules.open_ledger(state)
        return [event]

    return ledger.record(feature, "note", "", decide)


def brief(ledger: LedgerService, feature: str, most: int = TOKENS) -> str:
    """The brief of a feature as it stands in this tree. Writes nothing."""
    return compose(standing(ledger.show(feature)), most)


def standing(shown: Shown) -> Standing:
    """What the brief needs of a ledger."""
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
    )
