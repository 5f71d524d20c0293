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
    """What one subject does with its records; `types` are the record types it takes, each of one subject alone.

    `copy` is a state of its own with the same rows: what is applied to it must not show in the first.
    """

    @property
    def version(self) -> str: ...
    @property
    def types(self) -> frozenset[str]: ...
    def empty(self, feature: str) -> S: ...
    def copy(self, state: S) -> S: ...
    def flaw(self, record: Record) -> str | None: ...
    def apply(self, state: S, record: Record, ours: bool) -> None: ...
    def dump(self, state: S) -> Json: ...
    def load(self, feature: str, data: Json) -> S: ...


class LateFold:
    """The fold of a subject whose state is a table that starts empty: its module is imported at the first record.

    Most features have no board and no manifest, and an agent waits for every start.
    """

    def __init__(self, version: str, types: frozenset[str], module: str, name: str) -> None:
        self.version = version
        self.types = types
        self._module = module
        self._name = name
        self._found: SubjectFold[dict[str, Any]] | None = None

    def _fold(self) -> SubjectFold[dict[str, Any]]:
        if self._found is None:
            import importlib

            self._found = getattr(importlib.import_module(self._module), self._name)()
        assert self._found is not None
        return self._found

    def empty(self, feature: str) -> dict[str, Any]:
        """An empty table."""
        return {}

    def copy(self, state: dict[str, Any]) -> dict[str, Any]:
        """The same rows."""
        return self._fold().copy(state) if state else {}

    def flaw(self, record: Record) -> str | None:
        """As the fold says."""
        return self._fold().flaw(record)

    def apply(self, state: dict[str, Any], record: Record, ours: bool) -> None:
        """Hand the record on."""
        self._fold().apply(state, record, ours)

    def dump(self, state: dict[str, Any]) -> Json:
        """For a checkpoint."""
        return self._fold().dump(state) if state else None

    def load(self, feature: str, data: Json) -> dict[str, Any]:
        """From a checkpoint."""
        return {} if data is None else self._fold().load(feature, data)


class SubjectsFold:
    """The fold of all subjects together. Records that no subject takes are passed over (a later version's)."""

    def __init__(self, folds: Mapping[str, SubjectFold[Any]]) -> None:
        self._folds = folds
        self._takers = {kind: (name, fold) for name, fold in folds.items() for kind in fold.types}
        self.version = " ".join(f"{name}:{fold.version}" for name, fold in folds.items())

    def empty(self, feature: str) -> Subjects:
        """Every subject's empty state."""
        return {name: fold.empty(feature) for name, fold in self._folds.items()}

    def copy(self, state: Subjects) -> Subjects:
        """A state that may be changed without changing `state`."""
        return {name: fold.copy(state[name]) for name, fold in self._folds.items()}

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
