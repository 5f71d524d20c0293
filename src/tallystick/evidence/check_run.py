"""One run of frozen checks: what it was, and how it stands in the journal (`run_recorded`)."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.evidence.checks import CheckResult, Plan, verdict_of
from tallystick.evidence.verdict import Verdict
from tallystick.journal.blobs import Blobs
from tallystick.journal.record import Event
from tallystick.ledger.model import Criterion
from tallystick.limits import INLINE_EVIDENCE

#: Characters of what a test said, and modules loaded from outside that are recorded by name.
SAID, _NAMED = 400, 20


class CheckRun(NamedTuple):
    """A run before it is recorded: on the recorded state `tree`, shut in by `confined`, begun at `began_ns`. `copied`
    is whether that was a fresh copy of the tree."""

    id: str
    plan: Plan
    results: tuple[CheckResult, ...]
    criteria: dict[str, Criterion]
    tree: str | None
    confined: str
    began_ns: int
    copied: bool

    @property
    def outside(self) -> list[str]:
        """Modules and files of the project that were loaded from outside the tree that was run."""
        reports = [result.ran.report for result in self.results]
        found = {
            name for one in reports if one is not None and one.recorded is not None for name in one.recorded.outside
        }
        return sorted(found)

    def verdict(self, criterion: str) -> Verdict:
        """What the run says of one criterion."""
        return verdict_of(self.plan, criterion, self.results)


def run_event(ran: CheckRun, blobs: Blobs, note: str = "") -> Event:
    """`run_recorded`: which criteria, by which commands, on which tree, what was seen, the output by digest.

    Output that is too long for the record is kept as a blob, masked, before this returns.
    """
    judged = {name: ran.verdict(name) for name in ran.criteria if name not in ran.plan.refused}
    data: dict[str, Json] = {
        "run": ran.id,
        "verdicts": {name: "green" if verdict.green else "red" for name, verdict in judged.items()},
        "digests": {name: criterion.digest for name, criterion in ran.criteria.items()},
        "tree": ran.tree,
        "confined": ran.confined,
        "outside": ran.outside[:_NAMED],
        "note": note[:SAID],
        "steps": [_step(result, blobs) for result in ran.results],
    }
    return Event("run_recorded", data)


def _step(result: CheckResult, blobs: Blobs) -> dict[str, Json]:
    ran, verdict = result
    row: dict[str, Json] = {
        "command": list(ran.command),
        "python": ran.python,
        "status": ran.status,
        "signal": ran.signal,
        "stopped": ran.stopped,
        "took_ms": int(ran.took_s * 1000),
        "green": list(verdict.passed),
        "red": [{"id": one.id, "says": one.says[:SAID], "file": one.file, "line": one.line} for one in verdict.red],
        "missing": list(verdict.missing),
        "output": {"sha256": ran.output_digest, "size": ran.output_total},
    }
    if len(ran.output) <= INLINE_EVIDENCE:
        row["output"]["text"] = ran.output.decode("utf-8", "backslashreplace")
    else:
        from tallystick.masking.secrets import masked

        text = masked(ran.output.decode("utf-8", "backslashreplace"), ()).text
        row["output"]["kept"] = blobs.keep(text.encode())
    return row
