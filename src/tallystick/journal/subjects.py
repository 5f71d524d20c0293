"""Several subjects in one journal: each folds the record types it names, into a state of its own.

The store keeps one state for a feature, a table from subject name to that subject's state; a subject reaches its own
by a typed accessor beside its fold (`ledger.model.ledger_of`), and knows none of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from tallystick.canonical import Json
from tallystick.journal.record import Record

S = TypeVar("S")

Subjects = dict[str, Any]


class SubjectFold(Protocol[S]):
    """What one subject does with its records; `types` are the record types it takes, each of one subject alone."""

    @property
    def version(self) -> str: ...
    @property
    def types(self) -> frozenset[str]: ...
    def empty(self, feature: str) -> S: ...
    def flaw(self, record: Record) -> str | None: ...
    def apply(self, state: S, record: Record, ours: bool) -> None: ...
    def dump(self, state: S) -> Json: ...
    def load(self, feature: str, data: Json) -> S: ...


class SubjectsFold:
    """The fold of all subjects together. Records that no subject takes are passed over (a later version's)."""

    def __init__(self, folds: Mapping[str, SubjectFold[Any]]) -> None:
        self._folds = folds
        self._takers = {kind: (name, fold) for name, fold in folds.items() for kind in fold.types}
        self.version = " ".join(f"{name}:{fold.version}" for name, fold in folds.items())

    def empty(self, feature: str) -> Subjects:
        """Every subject's empty state."""
        return {name: fold.empty(feature) for name, fold in self._folds.items()}

    def flaw(self, record: Record) -> str | None:
        """Why the subject that takes this type cannot apply the record, None when it can."""
        taker = self._takers.get(record.type)
        return taker[1].flaw(record) if taker is not None else None

    def apply(self, state: Subjects, record: Record, ours: bool) -> None:
        """Hand one record to the subject that takes its type."""
        taker = self._takers.get(record.type)
        if taker is not None:
            taker[1].apply(state[taker[0]], record, ours)

    def dump(self, state: Subjects) -> Json:
        """For a checkpoint."""
        return {name: fold.dump(state[name]) for name, fold in self._folds.items()}

    def load(self, feature: str, data: Json) -> Subjects:
        """From a checkpoint of the same version."""
        return {name: fold.load(feature, data[name]) for name, fold in self._folds.items()}
