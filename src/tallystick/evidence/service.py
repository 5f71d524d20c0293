"""The use case behind `check` and behind the pass of a machine-checked criterion (road 1 of the architecture).

Looks without a lock and refuses cheaply, runs the frozen check (minutes, no lock), then records run and verdict in one
commit, where the rules decide again: a criterion that was amended meanwhile takes nothing from the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.evidence.bench import Watch
from tallystick.evidence.check_run import CheckRun, run_event
from tallystick.evidence.model import runs_of
from tallystick.evidence.passing import Passing, born_green, flaky
from tallystick.evidence.proving import Prover, SeenRed, new_run_id
from tallystick.evidence.resting import Resting
from tallystick.evidence.runners import runner_for_command
from tallystick.evidence.said import in_words, outside, red_refusal, whose
from tallystick.evidence.stack import Proof
from tallystick.evidence.verdict import Verdict
from tallystick.evidence.verified import Verified, verified
from tallystick.ids import typed
from tallystick.journal.record import Event
from tallystick.ledger import rules
from tallystick.ledger.model import Criterion, Ledger, below, ledger_of
from tallystick.ledger.requirement import Run, Tests, is_machine_check, parse
from tallystick.ledger.service import LedgerService, Receipt

__all__ = ["Checked", "EvidenceService", "RedLook", "Watch", "checkable", "new_run_id"]


class Checked(NamedTuple):
    """One run as it was recorded: proofs by criterion, `refused` why one could not be checked at all.

    `seen` is what a test author's run saw of red, by criterion.
    """

    run: str
    proofs: dict[str, Proof]
    refused: dict[str, Refusal]
    took_s: float
    confined: str
    notes: tuple[str, ...]
    seen: Mapping[str, SeenRed] = {}

    @property
    def green(self) -> bool:
        """Whether everything that was asked for holds."""
        return not self.refused and all(proof.verdict.green for proof in self.proofs.values())


class RedLook(NamedTuple):
    """What a look for red found, by criterion; `refused` why one could not be checked at all. `born` were green on the
    very state that was frozen."""

    run: str
    seen: dict[str, SeenRed]
    refused: dict[str, Refusal]
    born: frozenset[str]
    took_s: float
    confined: str
    notes: tuple[str, ...]

    @property
    def counts(self) -> bool:
        """Whether everything that was asked for is red for a good reason."""
        return not self.refused and all(one.red is not None for one in self.seen.values())


class EvidenceService:
    """Checks of one tree, recorded through the ledger's service."""

    def __init__(
        self, tree: str, ledger: LedgerService, prover: Prover, resting: Resting, names: Callable[[], Sequence[str]]
    ) -> None:
        """`names` lists the files of the tree as they are now."""
        self._tree = tree
        self._ledger = ledger
        self._prover = prover
        self._resting = resting
        self._names = names

    def check(self, feature: str, names: Sequence[str], watch: Watch) -> Checked:
        """Run the checks of `names` (none: all that have one) and record the run; no criterion passes by it.

        A test author's run looks for red, as `see_red` does.

        Raises `Refusal`: "check.no_runner", "trust.needed", "key.missing" before anything is run.
        """
        self._ledger.permit(feature, "check", "")
        if self._ledger.by.role == "test-author":
            look, ran = self._look_for_red(feature, self._chosen(feature, names), watch)
            return self._checked(ran, look.notes)._replace(seen=look.seen)
        ran = self._prover.prove(feature, self._chosen(feature, names), watch)
        if not ran.proofs:
            raise next(iter(ran.plan.refused.values()))
        event = run_event(ran, self._prover.blobs)
        notes = self._ledger.record(feature, "check", "", lambda _: [event]).notes
        return self._checked(ran, notes)

    def see_red(self, feature: str, names: Sequence[str], watch: Watch) -> RedLook:
        """Run the tests of `names` (none: all that have tests and do not pass) before what they ask for is built.

        What is red for a good reason is recorded with all that must not change from now on: only after that a pass is
        *proven*. Raises as `check` does.
        """
        self._ledger.permit(feature, "red", "")
        return self._look_for_red(feature, self._chosen(feature, names, for_red=not names), watch)[0]

    def _look_for_red(self, feature: str, chosen: Sequence[Criterion], watch: Watch) -> tuple[RedLook, CheckRun]:
        ran, seen = self._prover.see_red(feature, chosen, watch)
        if not seen:
            lacking = Refusal("check.no_runner", "a red needs a copy of the tree, and there is none", "git init")
            raise next(iter(ran.plan.refused.values()), lacking)
        event = run_event(ran, self._prover.blobs)

        def decide(ledger: Ledger) -> Sequence[Event]:
            events = [event]
            for name, one in seen.items():
                red = born_green(ran, ran.criteria[name]) if one.green and ran.state == ledger.state else one.red
                if red is not None:
                    events.append(rules.red_seen(ledger, ran.criteria[name], red))
            return events

        notes = self._ledger.record(feature, "red", "", decide).notes
        told, frozen = (*notes, *whose(ran)), ledger_of(self._ledger.snapshot(feature))
        born = frozenset(name for name in seen if frozen.criteria[name].born_green)
        return RedLook(ran.id, seen, dict(ran.plan.refused), born, ran.took_s, ran.confined, told), ran

    def mark_pass(self, feature: str, name: str, reference: str, watch: Watch) -> tuple[Receipt, Checked | None]:
        """Pass a criterion: by proving its frozen check, or by citing where it names none.

        A red check is recorded as a failed attempt with its run, and raises the `Refusal` that says what is red.
        """
        self._ledger.permit(feature, "pass", name)
        criterion = rules.open_criterion(ledger_of(self._ledger.snapshot(feature)), name)
        if not checkable(criterion):
            return self._ledger.mark_pass(feature, name, reference), None
        self._ready(feature)
        self._ledger.markable(feature, name)
        cited = self._words(criterion, reference)
        ran = self._prover.prove(feature, [criterion], watch)
        if criterion.id in ran.plan.refused:
            raise ran.plan.refused[criterion.id]
        proof = ran.proofs[criterion.id]
        if not proof.verdict.green:
            raise self._red(feature, criterion, ran, proof.verdict)
        event = run_event(ran, self._prover.blobs, reference)
        passing = self._passing(feature, ran).of(criterion, cited)
        receipt = self._ledger.record(feature, "pass", criterion.id, lambda ledger: [event, *passing(ledger)])
        self._resting.renew()
        checked = self._checked(ran, receipt.notes)
        return receipt._replace(notes=checked.notes), checked

    def verify(
        self,
        feature: str,
        names: Sequence[str],
        everything: bool,
        watch: Watch,
        base: frozenset[str],
        level: str = "",
    ) -> Verified:
        """Run again what does not hold now (`everything`: all that names a check), in one batch, and record it.

        What is green passes anew, what is red is a failed attempt. `base` are digests of commands that are trusted and
        of effective settings that count besides (`verify --trust-base`), `level` is the least that counts this time
        ("" = as the policy says). What no machine can decide is named. Raises as `check` does.
        """
        checked = level or self._ledger.checked()
        self._ledger.permit(feature, "pass", "")
        self._ready(feature, base)
        rows = [
            (one, "failing" if state == "holds" and below(one, checked) else state)
            for one, state in self._ledger.show(feature).rows
            if state not in ("closed", "overridden")
        ]
        known = [rules.known_criterion(self._ledger.show(feature).ledger, name).id for name in names]
        rows = [row for row in rows if not names or row[0].id in known]
        again = [one for one, state in rows if checkable(one) and (everything or state != "holds")]
        if not again:
            return Verified(tuple(verified(one, state, None, None, False) for one, state in rows), "", 0, 0.0, "", ())
        ran = self._prover.prove(feature, again, watch, base)
        states = {one.id: state for one, state in rows}
        green = [
            one
            for one in again
            if one.id in ran.proofs
            and ran.verdict(one.id).green
            and (states[one.id] != "holds" or _is_news(ran.proofs[one.id], one))
            and not rules.references_wanted(one)
        ]
        recorder = self._passing(feature, ran)
        passing = [recorder.of(one, self._words(one, "")) for one in green]
        event, both_ways = run_event(ran, self._prover.blobs), recorder.flaky

        def decide(ledger: Ledger) -> Sequence[Event]:
            events = [event]
            for passed in passing:
                events += passed(ledger)
            for one in again:
                if one.id in ran.proofs and not ran.verdict(one.id).green:
                    rules.unamended(ledger, one)
                    events.append(_failed(ledger, one.id, ran.verdict(one.id), one.id in both_ways))
            return events

        notes = self._ledger.record(feature, "pass", "", decide).notes
        self._resting.renew()
        found = tuple(
            verified(one, state, ran.proofs.get(one.id), ran.plan.refused.get(one.id), one.id in both_ways, checked)
            for one, state in rows
        )
        return Verified(found, ran.id, len(again), ran.took_s, ran.confined, (*notes, *outside(ran)), ran.copied)

    def accept(self, feature: str, name: str, tests: Sequence[str], reason: str) -> Receipt:
        """Let the tests of a criterion stand as they are now, or take over ids that tests have got (`tests`).

        A person decides it; what was shown before does not count for what is new: the next proof makes the red again.
        """
        self._ledger.permit(feature, "accept", name)
        criterion = rules.open_criterion(ledger_of(self._ledger.snapshot(feature)), name)
        required = _with_ids(criterion, tests) if tests else criterion.evidence_required
        lock = self._prover.lock_now(criterion._replace(evidence_required=required))

        def decide(ledger: Ledger) -> Sequence[Event]:
            events = [rules.amend(ledger, criterion.id, None, required, reason)] if tests else []
            return [*events, rules.accept_tests(ledger, criterion.id, lock, reason)]

        return self._ledger.record(feature, "accept", criterion.id, decide)

    def diff(self, criterion: Criterion) -> list[str]:
        """How the tests of a criterion differ from those that were seen red, as lines; runs nothing."""
        return self._prover.diff(criterion)

    def _chosen(self, feature: str, names: Sequence[str], for_red: bool = False) -> list[Criterion]:
        """The criteria that are meant, each with a check; `for_red` those that do not pass and whose tests are told
        apart. Raises where a named one has none, or none is left."""
        ledger = self._ready(feature)
        chosen = [rules.open_criterion(ledger, name) for name in names] or [
            one
            for one in ledger.criteria.values()
            if one.closed is None and checkable(one) and not (for_red and (one.passes or not names_tests(one)))
        ]
        for criterion in chosen:
            if not checkable(criterion):
                raise Refusal(
                    "check.no_tests",
                    f"{criterion.id} names no check: it is passed by citing what shows it",
                    f"tallystick ledger pass {feature} {typed(criterion.id)} --evidence PATH",
                )
        if not chosen:
            which, what = ("no open criterion", "tests") if for_red else ("no criterion", "a check")
            raise Refusal(
                "check.no_tests", f"{which} of {feature} names {what}", "`tests:` or `run:` makes one provable"
            )
        return chosen

    def _passing(self, feature: str, ran: CheckRun) -> Passing:
        before = runs_of(self._ledger.snapshot(feature))
        return Passing(ran, self._prover, self._resting, self._names(), before)

    def _words(self, criterion: Criterion, reference: str) -> list[rules.Evidence]:
        """What the requirements in words beside a machine check need; without such the reference is only a note."""
        if not rules.references_wanted(criterion):
            return self._ledger.keep(criterion, "", least=0)
        return self._ledger.keep(criterion, reference, least=0)

    def _ready(self, feature: str, base: frozenset[str] = frozenset()) -> Ledger:
        snapshot = self._ledger.snapshot(feature)
        rules.open_ledger(ledger_of(snapshot))
        rules.unsound(snapshot.findings)
        if not self._tree:
            raise Refusal("check.no_runner", "a bare repository has no tree to run a check in", "run it in a work tree")
        self._ledger.need_key()
        self._ledger.unweakened(feature, base)
        return ledger_of(snapshot)

    def _red(self, feature: str, criterion: Criterion, ran: CheckRun, verdict: Verdict) -> Refusal:
        """Record the failed attempt with its run; the refusal that names what is red and where."""
        event = run_event(ran, self._prover.blobs)
        went_both_ways = criterion.id in flaky(ran, runs_of(self._ledger.snapshot(feature)))

        def decide(ledger: Ledger) -> Sequence[Event]:
            rules.unamended(ledger, criterion)
            return [event, _failed(ledger, criterion.id, verdict, went_both_ways)]

        receipt = self._ledger.record(feature, "pass", criterion.id, decide)
        attempts = receipt.criterion.attempts if receipt.criterion is not None else 0
        return red_refusal(criterion, ran.id, verdict, verdict.reasons[0], attempts)

    def _checked(self, ran: CheckRun, notes: tuple[str, ...]) -> Checked:
        told = (*notes, *outside(ran), *whose(ran))
        return Checked(ran.id, dict(ran.proofs), dict(ran.plan.refused), ran.took_s, ran.confined, told)


def checkable(criterion: Criterion) -> bool:
    """Whether a machine decides it: then it passes by being run alone."""
    return any(is_machine_check(parse(entry)) for entry in criterion.evidence_required or ())


def names_tests(criterion: Criterion) -> bool:
    """Whether its check tells tests apart; of a command that only has an exit status there is no red."""
    entries = [parse(entry) for entry in criterion.evidence_required or ()]
    commands = [runner_for_command(entry.argv) for entry in entries if isinstance(entry, Run)]
    return any(isinstance(entry, Tests) for entry in entries) or any(runner.carried for runner in commands)


def _is_news(proof: Proof, criterion: Criterion) -> bool:
    """Whether a proof says something else of a criterion that holds than what its pass says."""
    return proof.red is not None or proof.level != criterion.level


def _failed(ledger: Ledger, name: str, verdict: Verdict, flaky: bool) -> Event:
    """`failure_recorded` for a verdict that is red."""
    failed = rules.mark_failure(ledger, name, in_words(verdict))
    return Event(failed.type, {**failed.data, "flaky": True}) if flaky else failed


def _with_ids(criterion: Criterion, tests: Sequence[str]) -> tuple[str, ...]:
    """The requirements of a criterion with these test ids in the place of those that it names."""
    kept = list(criterion.evidence_required or ())
    places = [at for at, entry in enumerate(kept) if entry.strip().startswith("tests:")]
    if not places:
        raise Refusal(
            "input.invalid", f"{criterion.id} names no test ids", "`tallystick ledger amend` changes what it asks for"
        )
    others = [entry for at, entry in enumerate(kept) if at not in places]
    return (*(f"tests: {one}" for one in tests), *others)
