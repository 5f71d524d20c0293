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
    """The last run of ours that spoke about a criterion.

    `digest` is its text then, `state` what lay in the tree, `environment` what it ran in ("" = not known); `called`
    whether a test failed in its own call. `flaky`: runs of the same three went two ways.
    `since` is the commit that was checked out when the first of the runs was made that went like this one.
    """

    run: str
    green: bool
    at: str
    role: str
    digest: str = ""
    state: str = ""
    environment: str = ""
    called: bool = False
    flaky: bool = False
    since: str | None = None


Runs = dict[str, LastRun]


def runs_of(snapshot: Snapshot[Subjects]) -> Runs:
    """The last runs in a feature's state, by criterion."""
    runs: Runs = snapshot.state[SUBJECT]
    return runs


def flaky_now(before: LastRun | None, now: LastRun) -> bool:
    """Whether a check is flaky after `now`: of two runs that had everything in common one failed in a test's own call
    and the other did not. It stays so until one of the three is another."""
    if before is None or not now.state:
        return False
    if (before.digest, before.state, before.environment) != (now.digest, now.state, now.environment):
        return False
    failed = now if before.green else before
    return before.flaky or (before.green != now.green and failed.called)


class RunsFold:
    """Folds `run_recorded`. Another key's runs prove nothing here and are not remembered."""

    version = "2"
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
        if not ours:
            return
        data = record.data
        called, digests = data.get("called", ()), data.get("digests", {})
        place = (data.get("state") or "", data.get("environment", ""))
        for name, verdict in data["verdicts"].items():
            digest = digests.get(name, "")
            now = LastRun(data["run"], verdict == "green", record.at, record.by.role, digest, *place, name in called)
            before = state.get(name)
            like = before is not None and before.green == now.green and before.digest == digest
            since = before.since if like and before is not None else data.get("commit")
            state[name] = now._replace(flaky=flaky_now(before, now), since=since)

    def dump(self, state: Runs) -> Json:
        """For a checkpoint."""
        return state

    def load(self, feature: str, data: Json) -> Runs:
        """From a checkpoint."""
        return {criterion: LastRun(*row) for criterion, row in data.items()}
