"""The one way in for every subject: may this role do it, is the store sound for it, commit, note what is due.

Ledger, outputs, manifest and board all record through here, so that roles (P12) and damage are judged in one place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tallystick.errors import Refusal
from tallystick.ids import feature_id
from tallystick.journal.due import Due
from tallystick.journal.record import By, Event
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.store import Committed, Decision, Store
from tallystick.journal.subjects import Subjects
from tallystick.ledger import rules
from tallystick.ledger.model import ledger_of
from tallystick.ledger.permissions import denied

A = TypeVar("A")

#: Record types with words that somebody said, and the fields those stand in: secrets are taken out of them (P19).
#: The text of a criterion is not among them, since its digest is what a pass is given for.
SAID: dict[str, tuple[str, ...]] = {
    "failure_recorded": ("error",),
    "note_written": ("text",),
    "run_recorded": ("steps", "note"),
    "phase_started": ("description",),
    "phase_ended": ("reason",),
    "task_added": ("task",),
    "task_moved": ("reason",),
    **dict.fromkeys(
        ("accepted", "criterion_amended", "criterion_closed", "feature_abandoned", "override_recorded"), ("reason",)
    ),
}

#: What works on every store that can be written, damaged or not (P20); an output that is refused would be lost.
UNDAUNTED = ("fail", "override", "abandon", "output")


class Recording:
    """Records for one doer into one store."""

    def __init__(self, store: Store[Subjects], due: Due, by: By) -> None:
        self.store = store
        self.due = due
        self.by = by
        #: Features of which other copies do not know everything yet. What a mere check recorded can wait (D3).
        self.unshared: set[str] = set()
        #: Those that somebody asked to share, whatever the settings say.
        self.asked: set[str] = set()

    def commit(
        self, feature: str, act: str, decide: Callable[[Snapshot[Subjects], str], Decision[A]], name: str = ""
    ) -> Committed[A]:
        """Record what `decide(snapshot, now)` yields, if the role may `act` and the store is sound for it.

        Durable when it returns. `name` is what the act is about, for the record of a refusal. In a feature without
        records `decide` is asked before a key, a store or a lock file is made for it.
        """
        self.permit(feature, act, name)

        def sound(snapshot: Snapshot[Subjects], now: str) -> Decision[A]:
            if act not in UNDAUNTED:
                rules.unsound(snapshot.findings)
            return decide(snapshot, now)

        return self.append(feature, act, sound)

    def append(self, feature: str, act: str, decide: Callable[[Snapshot[Subjects], str], Decision[A]]) -> Committed[A]:
        """As `commit`, where `decide` asks for role and soundness itself."""
        if not self.store.peek(feature).recorded:
            decide(self.store.snapshot(feature), self.store.now())

        def said(snapshot: Snapshot[Subjects], now: str) -> Decision[A]:
            decision = decide(snapshot, now)
            return decision._replace(events=tuple(_masked(event) for event in decision.events))

        committed = self.store.commit(feature, self.by, said)
        self.due.touch(feature)
        if act != "check":
            self.unshared.add(feature)
        return committed

    def permit(self, feature: str, act: str, name: str = "") -> None:
        """Raise "role.denied" where the role may not, and leave one record of it where there is a ledger."""
        feature_id(feature)
        refusal = denied(act, self.by.role)
        if refusal is not None:
            self.record_denial(feature, name, act, refusal)
            raise refusal

    def record_denial(self, feature: str, name: str, act: str, refusal: Refusal) -> None:
        """Leave one record of what a role was refused, where there is a ledger and a store that can be written."""
        try:
            snapshot = self.store.snapshot(feature_id(feature))
            ledger = ledger_of(snapshot)
            if ledger.created_at is not None and snapshot.checkable:
                event = rules.refused(ledger, name, act, refusal)
                self.store.commit(feature, self.by, lambda snapshot, now: Decision((event,), None))
        except Refusal:  # it stays refused, whether or not a trace could be left
            return


def _masked(event: Event) -> Event:
    """The event without secrets in what somebody said."""
    fields = SAID.get(event.type, ())
    if not any(event.data.get(name) for name in fields):
        return event
    from tallystick.masking.secrets import masked_value

    said = {name: event.data[name] for name in fields if event.data.get(name)}
    if event.type == "task_added":  # ids, blockers and criteria are references: they stay what they point at
        task = said["task"]
        words = {name: masked_value(task[name], ())[0] for name in ("title", "description") if task[name]}
        return Event(event.type, {**event.data, "task": {**task, **words}})
    return Event(event.type, {**event.data, **{name: masked_value(value, ())[0] for name, value in said.items()}})
