"""What the journal remembers of runs: the last one of each criterion. Pure.

A run is recorded whole in its record (`run_recorded`); the state keeps only what every answer may ask for, so it grows
with the criteria and not with the runs. Comparing two runs reads the history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tallystick.canonical import Json
from tallystick.journal.record import Record

if TYPE_CHECKING:
    from tallystick.journal.snapshot import Snapshot
    from tallystick.journal.subjects import Subjects

SUBJECT = "runs"


class LastRun(NamedTuple):
    """The last run of ours that spoke about a criterion."""

    run: str
    green: bool
    at: str
    role: str


Runs = dict[str, LastRun]


def runs_of(snapshot: Snapshot[Subjects]) -> Runs:
    """The last runs in a feature's state, by criterion."""
    runs: Runs = snapshot.state[SUBJECT]
    return runs


class RunsFold:
    """Folds `run_recorded`. Another key's runs prove nothing here and are not remembered."""

    version = "1"
    types = frozenset(("run_recorded",))

    def empty(self, feature: str) -> Runs:
        """Nothing was run."""
        return {}

    def copy(self, state: Runs) -> Runs:
        """The same runs, in a table of its own."""
        return dict(state)

    def flaw(self, record: Record) -> str | None:
        """Why the record's payload is no run."""
        run, verdicts = record.data.get("run"), record.data.get("verdicts")
        return None if isinstance(run, str) and isinstance(verdicts, dict) else "has no run or no verdicts"

    def apply(self, state: Runs, record: Record, ours: bool) -> None:
        """Take one run in."""
        if ours:
            for criterion, verdict in record.data["verdicts"].items():
                state[criterion] = LastRun(record.data["run"], verdict == "green", record.at, record.by.role)

    def dump(self, state: Runs) -> Json:
        """For a checkpoint."""
        return state

    def load(self, feature: str, data: Json) -> Runs:
        """From a checkpoint."""
        return {criterion: LastRun(*row) for criterion, row in data.items()}
