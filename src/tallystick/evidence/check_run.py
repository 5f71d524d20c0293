"""One run of frozen checks: what it was, and how it stands in the journal (`run_recorded`)."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.evidence.checks import CheckResult, Plan
from tallystick.evidence.model import LastRun
from tallystick.evidence.setting_up import SetUp
from tallystick.evidence.stack import Proof
from tallystick.evidence.verdict import Verdict
from tallystick.journal.blobs import Blobs
from tallystick.journal.record import Event
from tallystick.ledger.model import Criterion
from tallystick.limits import INLINE_EVIDENCE

#: Characters of what a test said, and modules loaded from outside that are recorded by name.
SAID, _NAMED = 400, 20


class CheckRun(NamedTuple):
    """A run before it is recorded: on the recorded state `tree`, shut in by `confined`, begun at `began_ns`; all its
    parts together took `took_s` seconds.

    `state` is one word for what lay in the tree, `environment` one for what it ran in: two runs with the same of both
    should go the same way. `copied` is whether it ran in a fresh copy of what lay on `commit`. `bound` are paths
    outside the tree that say which environment that was. `settings` is the
    digest of the effective settings, `setup` what made the copy ready, `irrelevant` what no proof rests on by them.
    """

    id: str
    plan: Plan
    results: tuple[CheckResult, ...]
    criteria: dict[str, Criterion]
    proofs: dict[str, Proof]
    took_s: float
    tree: str | None
    state: str | None
    environment: str
    confined: str
    began_ns: int
    copied: bool
    commit: str | None = None
    bound: tuple[str, ...] = ()
    settings: str = ""
    setup: tuple[SetUp, ...] = ()
    irrelevant: tuple[str, ...] = ()

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
        return self.proofs[criterion].verdict

    def last(self, criterion: str, role: str) -> LastRun:
        """The run as the journal will remember it of one criterion."""
        verdict, digest = self.verdict(criterion), self.criteria[criterion].digest
        return LastRun(self.id, verdict.green, "", role, digest, self.state or "", self.environment, _called(verdict))


def run_event(ran: CheckRun, blobs: Blobs, note: str = "") -> Event:
    """`run_recorded`: which criteria, by which commands, on which tree, what was seen, the output by digest.

    Output that is too long for the record is kept as a blob, masked, before this returns.
    """
    judged = {name: proof.verdict for name, proof in ran.proofs.items()}
    data: dict[str, Json] = {
        "run": ran.id,
        "verdicts": {name: "green" if verdict.green else "red" for name, verdict in judged.items()},
        "levels": {name: proof.level for name, proof in ran.proofs.items()},
        "called": [name for name, verdict in judged.items() if _called(verdict)],
        "digests": {name: criterion.digest for name, criterion in ran.criteria.items()},
        "tree": ran.tree,
        "state": ran.state,
        "commit": ran.commit,
        "environment": ran.environment,
        "settings": ran.settings,
        "confined": ran.confined,
        "outside": ran.outside[:_NAMED],
        "note": note[:SAID],
        "steps": [_step(result, blobs) for result in ran.results],
    }
    if ran.setup:
        data["setup"] = [_set_up(one, blobs) for one in ran.setup]
    return Event("run_recorded", data)


def _called(verdict: Verdict) -> bool:
    """Whether a test failed in its own call: what else goes wrong may lie in what it ran in."""
    return any(one.phase == "call" and one.outcome == "failed" for one in verdict.red)


def _step(result: CheckResult, blobs: Blobs) -> dict[str, Json]:
    ran, verdict = result
    return {
        "command": list(ran.command),
        "python": ran.python,
        "status": ran.status,
        "signal": ran.signal,
        "stopped": ran.stopped,
        "took_ms": int(ran.took_s * 1000),
        "green": list(verdict.passed),
        "red": [{"id": one.id, "says": one.says[:SAID], "file": one.file, "line": one.line} for one in verdict.red],
        "missing": list(verdict.missing),
        "output": _output(ran.output, ran.output_digest, ran.output_total, blobs),
    }


def _set_up(one: SetUp, blobs: Blobs) -> dict[str, Json]:
    ended = one.finished
    return {
        "command": list(one.argv),
        "status": ended.status,
        "took_ms": int(ended.took_s * 1000),
        "output": _output(ended.out, ended.digest, ended.total, blobs),
    }


def _output(printed: bytes, digest: str, total: int, blobs: Blobs) -> dict[str, Json]:
    """What was printed: its digest and size, and itself, as a blob where it is long."""
    row: dict[str, Json] = {"sha256": digest, "size": total}
    if len(printed) <= INLINE_EVIDENCE:
        return {**row, "text": printed.decode("utf-8", "backslashreplace")}
    from tallystick.masking.secrets import masked

    text = masked(printed.decode("utf-8", "backslashreplace"), ()).text
    return {**row, "kept": blobs.keep(text.encode())}
