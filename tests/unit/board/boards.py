"""Boards for tests: tasks as the rules make them, and a clock of whole seconds, without a disk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tallystick.board import plan, rules
from tallystick.board.answer import Answer, next_of
from tallystick.board.model import Board, BoardFold, Draft, Task, live
from tallystick.board.rules import Hand
from tallystick.errors import Refusal
from tallystick.journal.record import FIRST, By, Event, Record
from tallystick.moment import stamp

START_NS = 1_779_321_600_000_000_000


def moment(second: float) -> str:
    """The stamp of a second of the test's time."""
    return stamp(START_NS + round(second * 1000) * 1_000_000)


def record(event: Event, n: int, at: str = "") -> Record:
    """One record of that event."""
    at = at or moment(n)
    return Record("5" * 32, "checkout", "a" * 32, n, (1, 1), n, f"{n:064x}", FIRST, {}, at, By("solo"), *event)


class Table:
    """A board that is written to; `second` is now."""

    def __init__(self, *drafts: Draft) -> None:
        self.fold = BoardFold()
        self.state: Board = {}
        self.records: list[Record] = []
        self.second = 0.0
        if drafts:
            self.commit(*plan.add(self.state, drafts, None, self.now))

    @property
    def now(self) -> str:
        """This moment."""
        return moment(self.second)

    @property
    def tasks(self) -> Board:
        """The tasks that are there."""
        return live(self.state)

    def commit(self, *events: Event, ours: bool = True) -> None:
        """Record these events."""
        for event in events:
            self.records.append(record(event, len(self.records) + 1, self.now))
            assert self.fold.flaw(self.records[-1]) is None, event
            self.fold.apply(self.state, self.records[-1], ours)

    def claim(self, name: str, owner: str = "ann", lease: float = 60, fence: int | None = None) -> int:
        """Claim a task; its fence."""
        until = rules.later(self.now, lease)
        self.commit(rules.claim(self.state, name, Hand(owner, fence), until, self.now))
        return self.state[name].fence

    def done(self, name: str, owner: str = "ann", fence: int | None = None) -> None:
        """Complete a task."""
        self.commit(rules.complete(self.state, name, Hand(owner, fence), self.now))

    def block(self, name: str, owner: str = "ann", fence: int | None = None, to: str = "blocked") -> None:
        """Stop a task."""
        self.commit(rules.stop(self.state, name, Hand(owner, fence), "no key", self.now, to))

    def release(self, name: str, owner: str = "ann", fence: int | None = None, reason: str | None = None) -> None:
        """Put a task back."""
        self.commit(rules.release(self.state, name, Hand(owner, fence), reason, self.now))

    def remove(self, name: str, with_dependants: bool = False) -> None:
        """Take a task off."""
        self.commit(*plan.remove(self.state, name, with_dependants, self.now))

    def add(self, *drafts: Draft) -> None:
        """Put tasks on."""
        self.commit(*plan.add(self.state, drafts, None, self.now))

    def next(self) -> Answer:
        """What to work on next."""
        return next_of(self.tasks, self.now)

    def task(self, name: str) -> Task:
        """One task."""
        return self.state[name]


def draft(name: str, *blockers: str, priority: int | None = None, **more: Any) -> Draft:
    """A task that waits for these."""
    return Draft(name, f"what {name} is about", priority=priority, blocked_by=blockers, **more)


def chain(names: Sequence[str]) -> list[Draft]:
    """Tasks, each waiting for the one before."""
    return [draft(name, *names[:at][-1:]) for at, name in enumerate(names)]


def code(work: Any) -> str:
    """The code of the refusal that `work()` ends in, "" where it ends well."""
    try:
        work()
    except Refusal as refusal:
        return refusal.code
    return ""
