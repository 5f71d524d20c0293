"""Ledgers for tests: records as the rules make them, without a disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tallystick.journal.record import FIRST, By, Event, Record
from tallystick.ledger import rules
from tallystick.ledger.fold import LedgerFold
from tallystick.ledger.model import Draft, Ledger
from tallystick.ledger.rules import Evidence
from tallystick.moment import stamp

FEATURE = "checkout"
DRAFTS = (Draft("AC1", "the cart keeps its lines"), Draft("AC2", "a guest can pay"), Draft("AC3", "the mail shows VAT"))
EVIDENCE = Evidence(
    "proof.txt", {"kind": "file", "ref": "proof.txt", "target": "proof.txt", "digest": "0" * 64, "size": 3}
)


class Book:
    """A ledger and the records that led to it."""

    def __init__(self, drafts: Sequence[Draft] = DRAFTS) -> None:
        self.fold = LedgerFold()
        self.ledger = Ledger(FEATURE)
        self.records: list[Record] = []
        self.commit(rules.freeze(self.ledger, drafts, None))

    def commit(self, *events: Event, role: str = "shell", ours: bool = True) -> None:
        """Record these events in one commit."""
        for position, event in enumerate(events, 1):
            n = len(self.records) + 1
            at = stamp(1_779_321_600_000_000_000 + n * 1_000_000_000)
            place, by = (position, len(events)), By(role)
            self.records.append(
                Record("5" * 32, FEATURE, "a" * 32, n, place, n, f"{n:064x}", FIRST, {}, at, by, event.type, event.data)
            )
            self.fold.apply(self.ledger, self.records[-1], ours)

    def mark_pass(self, name: str, changed: bool = False) -> None:
        """Pass a criterion by citing."""
        seen = rules.open_criterion(self.ledger, name)
        self.commit(rules.mark_pass(self.ledger, seen, "proof.txt", "cited", [EVIDENCE], changed))

    def fail(self, name: str, error: str = "red") -> None:
        """Record a failed attempt."""
        self.commit(rules.mark_failure(self.ledger, name, error))

    def replay(self, visit: Callable[[Record, bool], None]) -> None:
        """Hand out the history."""
        for record in self.records:
            visit(record, True)
