"""What a verification found of each criterion, and the one exit status that follows. Pure."""

from __future__ import annotations

from typing import NamedTuple

from tallystick.errors import BROKEN, DONE, NOT_DONE, Refusal, exit_status
from tallystick.evidence.stack import Proof
from tallystick.evidence.verdict import Reason, Verdict
from tallystick.ledger.model import LEVELS, Criterion, least_level


class Row(NamedTuple):
    """One criterion: whether it holds now, at which level, whether it was run, and why it does not hold."""

    criterion: Criterion
    holds: bool
    level: str
    verdict: Verdict | None
    reasons: tuple[Reason, ...]

    @property
    def status(self) -> int:
        """What it adds to the exit status: a red re-run weighs more than what nobody could run."""
        if self.holds:
            return DONE
        broken = self.verdict is not None and not self.verdict.green
        return BROKEN if broken or any(reason.code == "check.flaky" for reason in self.reasons) else NOT_DONE


class Verified(NamedTuple):
    """All rows in ledger order; `run` is "" where nothing had to be run, `again` counts what was.

    `copied` is whether it ran in a fresh copy of the tree, not where the files lie.
    """

    rows: tuple[Row, ...]
    run: str
    again: int
    took_s: float
    confined: str
    notes: tuple[str, ...]
    copied: bool = False

    @property
    def holds(self) -> bool:
        """Whether everything does."""
        return all(row.holds for row in self.rows)

    @property
    def status(self) -> int:
        """The one exit status."""
        return exit_status([row.status for row in self.rows])


_WORDS = {
    "stale": ("stale.file", "what it cites has changed: cite it again"),
    "elsewhere": ("mac.foreign", "another copy of this repository says so; nothing here shows it"),
    "failing": ("evidence.missing", "nothing shows it yet"),
    "regressed": ("evidence.missing", "it failed since it passed"),
    "flaky": ("evidence.missing", "it is green one time and red another"),
}


def verified(
    criterion: Criterion, state: str, proof: Proof | None, refused: Refusal | None, flaky: bool, checked: str = "auto"
) -> Row:
    """The row of a criterion that was in `state`; without a `proof` it was not run. `checked` is the policy."""
    if proof is not None:
        from tallystick.ledger.rules import references_wanted

        verdict = proof.verdict
        if not verdict.green:
            return Row(criterion, False, "claimed", verdict, tuple(verdict.reasons))
        if state != "holds" and references_wanted(criterion):
            says = "its check is green; what it asks for in words must be cited: tallystick ledger pass"
            return Row(criterion, False, "claimed", verdict, (Reason("evidence.missing", says),))
        if flaky:
            says = "it is green one time and red another, with nothing changed in between"
            return Row(criterion, False, proof.level, verdict, (Reason("check.flaky", says),))
        least = least_level(criterion._replace(red=criterion.red or proof.red), checked)
        if LEVELS.index(proof.level) < LEVELS.index(least):
            low = Reason("level.low", f"it is {proof.level}, and {least} is asked for")
            return Row(criterion, False, proof.level, verdict, (low, *proof.short))
        return Row(criterion, True, proof.level, verdict, proof.short)
    if refused is not None:
        return Row(criterion, False, "claimed", None, (Reason(refused.code, refused.message),))
    if state == "holds":
        return Row(criterion, True, criterion.level, None, ())
    return Row(criterion, False, "claimed", None, (Reason(*_WORDS[state]),))
