"""The use case behind `check` and behind the pass of a machine-checked criterion (road 1 of the architecture).

Looks without a lock and refuses cheaply, runs the frozen check (minutes, no lock), then records run and verdict in one
commit, where the rules decide again: a criterion that was amended meanwhile takes nothing from the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.evidence.check_run import SAID, CheckRun, run_event
from tallystick.evidence.checks import CheckPlace, CheckResult, execute, limits_of, plan
from tallystick.evidence.origin import needed
from tallystick.evidence.packages import project_packages
from tallystick.evidence.places import Places
from tallystick.evidence.project import project_tree
from tallystick.evidence.resting import Resting
from tallystick.evidence.runners import find_runner
from tallystick.evidence.runners.base import Modes
from tallystick.evidence.trust import TrustTable
from tallystick.evidence.verdict import Verdict
from tallystick.evidence.verified import Verified, verified
from tallystick.ids import shown, typed
from tallystick.journal.blobs import Blobs
from tallystick.journal.record import Event
from tallystick.ledger import rules
from tallystick.ledger.model import Criterion, Ledger, ledger_of
from tallystick.ledger.requirement import Paths, is_machine_check, parse
from tallystick.ledger.service import LedgerService, Receipt
from tallystick.settings import Settings
from tallystick.system.files import Files


class Watch(NamedTuple):
    """What a caller may know and do while a check runs: its output as it comes, a wish to stop it, the run's id.

    `run` is for a caller that told the id before the run has ended; otherwise the run gets a new one.
    """

    cancelled: Callable[[], bool] | None = None
    on_output: Callable[[bytes], None] | None = None
    run: str = ""


class Checked(NamedTuple):
    """One run as it was recorded: `verdicts` by criterion, `refused` why one could not be checked at all."""

    run: str
    verdicts: dict[str, Verdict]
    refused: dict[str, Refusal]
    took_s: float
    confined: str
    notes: tuple[str, ...]

    @property
    def green(self) -> bool:
        """Whether everything that was asked for holds."""
        return not self.refused and all(verdict.green for verdict in self.verdicts.values())


class EvidenceService:
    """Checks of one tree, recorded through the ledger's service. `tree_id` names the state that a check ran on."""

    def __init__(
        self,
        files: Files,
        tree: str,
        blobs: Blobs,
        ledger: LedgerService,
        env: Mapping[str, str],
        places: Places,
        resting: Resting,
        names: Callable[[], Sequence[str]],
        settings: Callable[[], Settings],
        trust: TrustTable,
    ) -> None:
        """`names` lists the files of the tree as they are now; `settings` are the project's, or a refusal."""
        self._files = files
        self._tree = tree
        self._blobs = blobs
        self._ledger = ledger
        self._env = env
        self._places = places
        self._resting = resting
        self._names = names
        self._settings = settings
        self._trust = trust

    def check(self, feature: str, names: Sequence[str], watch: Watch) -> Checked:
        """Run the checks of `names` (none: all that have one) and record the run; no criterion changes.

        Raises `Refusal`: "check.no_runner", "trust.needed", "key.missing" before anything is run.
        """
        self._ledger.permit(feature, "check", "")
        ledger = self._ready(feature)
        chosen = [rules.open_criterion(ledger, name) for name in names] or [
            one for one in ledger.criteria.values() if one.closed is None and checkable(one)
        ]
        for criterion in chosen:
            if not checkable(criterion):
                raise Refusal(
                    "check.no_tests",
                    f"{criterion.id} names no check: it is passed by citing what shows it",
                    f"tallystick ledger pass {feature} {typed(criterion.id)} --evidence PATH",
                )
        if not chosen:
            raise Refusal(
                "check.no_tests", f"no criterion of {feature} names a check", "`tests:` or `run:` makes one provable"
            )
        ran = self._run(chosen, watch)
        if not ran.results:
            raise next(iter(ran.plan.refused.values()))
        event = run_event(ran, self._blobs)
        notes = self._ledger.record(feature, "check", "", lambda _: [event]).notes
        return self._checked(ran, notes)

    def mark_pass(self, feature: str, name: str, reference: str, watch: Watch) -> tuple[Receipt, Checked | None]:
        """Pass a criterion: by running its frozen check (level *ran*), or by citing where it names none.

        A red check is recorded as a failed attempt with its run, and raises the `Refusal` that says what is red.
        """
        self._ledger.permit(feature, "pass", name)
        criterion = rules.open_criterion(ledger_of(self._ledger.snapshot(feature)), name)
        if not checkable(criterion):
            return self._ledger.mark_pass(feature, name, reference), None
        self._ready(feature)
        self._ledger.markable(feature, name)
        cited = self._words(criterion, reference)
        ran = self._run([criterion], watch)
        if criterion.id in ran.plan.refused:
            raise ran.plan.refused[criterion.id]
        verdict = ran.verdict(criterion.id)
        if not verdict.green:
            raise self._red(feature, criterion, ran, verdict)
        value = " ; ".join([f"run:{ran.id}", *(one.reference for one in cited)])
        event = run_event(ran, self._blobs, reference)
        rests_on = self._rests_on(criterion, ran)

        def decide(ledger: Ledger) -> Sequence[Event]:
            passed = rules.mark_pass(ledger, criterion, value, "ran", cited, changed=True)
            return [event, Event(passed.type, {**passed.data, "rests_on": rests_on})]

        receipt = self._ledger.record(feature, "pass", criterion.id, decide)
        checked = self._checked(ran, receipt.notes)
        return receipt._replace(notes=checked.notes), checked

    def verify(
        self, feature: str, names: Sequence[str], everything: bool, watch: Watch, base: frozenset[str]
    ) -> Verified:
        """Run again what does not hold now (`everything`: all that names a check), in one batch, and record it.

        What is green passes anew, what is red is a failed attempt. `base` are digests of commands that are trusted
        besides (`verify --trust-base`). What no machine can decide is named. Raises as `check` does.
        """
        self._ledger.permit(feature, "pass", "")
        self._ready(feature)
        rows = [row for row in self._ledger.show(feature).rows if row[1] not in ("closed", "overridden")]
        known = [rules.known_criterion(self._ledger.show(feature).ledger, name).id for name in names]
        rows = [row for row in rows if not names or row[0].id in known]
        again = [one for one, state in rows if checkable(one) and (everything or state != "holds")]
        if not again:
            return Verified(tuple(verified(one, state, None) for one, state in rows), "", 0, 0.0, "", ())
        ran = self._run(again, watch, base)
        judged = {one.id: ran.verdict(one.id) for one in again if one.id not in ran.plan.refused}
        states = {one.id: state for one, state in rows}
        green = [
            one
            for one in again
            if one.id in judged
            and judged[one.id].green
            and states[one.id] != "holds"
            and not rules.references_wanted(one)
        ]
        passing = [(one, self._words(one, ""), self._rests_on(one, ran)) for one in green]
        event = run_event(ran, self._blobs)

        def decide(ledger: Ledger) -> Sequence[Event]:
            events = [event]
            for one, cited, rests_on in passing:
                value = " ; ".join([f"run:{ran.id}", *(kept.reference for kept in cited)])
                passed = rules.mark_pass(ledger, one, value, "ran", cited, changed=True)
                events.append(Event(passed.type, {**passed.data, "rests_on": rests_on}))
            for one in again:
                if one.id in judged and not judged[one.id].green:
                    rules.unamended(ledger, one)
                    events.append(rules.mark_failure(ledger, one.id, _error(judged[one.id])))
            return events

        notes = self._ledger.record(feature, "pass", "", decide).notes
        found = tuple(verified(one, state, judged.get(one.id), ran.plan.refused.get(one.id)) for one, state in rows)
        took = sum(result.ran.took_s for result in ran.results)
        return Verified(found, ran.id, len(again), took, ran.confined, (*notes, *_outside(ran)), ran.copied)

    def _words(self, criterion: Criterion, reference: str) -> list[rules.Evidence]:
        """What the requirements in words beside a machine check need; without such the reference is only a note."""
        if not rules.references_wanted(criterion):
            return self._ledger.keep(criterion, "", least=0)
        return self._ledger.keep(criterion, reference, least=0)

    def _ready(self, feature: str) -> Ledger:
        snapshot = self._ledger.snapshot(feature)
        rules.open_ledger(ledger_of(snapshot))
        rules.unsound(snapshot.findings)
        if not self._tree:
            raise Refusal("check.no_runner", "a bare repository has no tree to run a check in", "run it in a work tree")
        self._ledger.need_key()
        return ledger_of(snapshot)

    def _run(self, criteria: Sequence[Criterion], watch: Watch, base: frozenset[str] = frozenset()) -> CheckRun:
        settings = self._settings()
        self._trust.require(needed(settings, {"": criteria}), base)
        requirements = {one.id: [parse(entry) for entry in one.evidence_required or ()] for one in criteria}
        project = project_tree(self._files, self._tree)
        planned = plan(requirements, find_runner(project))
        packages = tuple(sorted(project_packages(project)))
        with self._places.open(settings.verify) as ground:
            place = CheckPlace(ground.root, ground.confined)
            modes = Modes(alone=True, record=True, packages=packages, home=ground.home)
            results: list[CheckResult] = []
            for step in planned.steps:
                if results:
                    ground.again()
                result = execute(
                    step,
                    place,
                    self._env,
                    limits_of(settings.verify),
                    modes=modes,
                    launch=ground.launch,
                    cancelled=watch.cancelled,
                    on_output=watch.on_output,
                )
                lacks = None if result.verdict.green else ground.lacks()
                if lacks is not None:
                    raise _needs(lacks, ground.confined)
                results.append(result)
        name, copied = watch.run or new_run_id(), bool(ground.home)
        judged = {one.id: one for one in criteria}
        return CheckRun(name, planned, tuple(results), judged, ground.tree, ground.confined, ground.began_ns, copied)

    def _rests_on(self, criterion: Criterion, ran: CheckRun) -> str:
        """The list of files that the pass of a criterion rests on: what its own runs read, or what it declares."""
        steps = {part.step for part in ran.plan.parts[criterion.id]}
        reports = [ran.results[step].ran.report for step in sorted(steps)]
        recorded = [report.recorded if report is not None else None for report in reports]
        entries = [parse(entry) for entry in criterion.evidence_required or ()]
        paths = [glob for entry in entries if isinstance(entry, Paths) for glob in entry.globs]
        return self._resting.keep(self._names(), recorded, (), paths, ran.began_ns)

    def _red(self, feature: str, criterion: Criterion, ran: CheckRun, verdict: Verdict) -> Refusal:
        """Record the failed attempt with its run; the refusal that names what is red and where."""
        first = verdict.reasons[0]
        error = _error(verdict)
        event = run_event(ran, self._blobs)

        def decide(ledger: Ledger) -> Sequence[Event]:
            rules.unamended(ledger, criterion)
            return [event, rules.mark_failure(ledger, criterion.id, error)]

        receipt = self._ledger.record(feature, "pass", criterion.id, decide)
        attempts = receipt.criterion.attempts if receipt.criterion is not None else 0
        return red_refusal(criterion, ran.id, verdict, first.code, attempts)

    def _checked(self, ran: CheckRun, notes: tuple[str, ...]) -> Checked:
        judged = {name: ran.verdict(name) for name in ran.criteria if name not in ran.plan.refused}
        took = sum(result.ran.took_s for result in ran.results)
        told = (*notes, *_outside(ran), *_whose(ran))
        return Checked(ran.id, judged, dict(ran.plan.refused), took, ran.confined, told)


def checkable(criterion: Criterion) -> bool:
    """Whether a machine decides it: then it passes by being run alone."""
    return any(is_machine_check(parse(entry)) for entry in criterion.evidence_required or ())


def _whose(ran: CheckRun) -> list[str]:
    """Whose the checks were that another key froze."""
    names = [shown(name).strip('"') for name, one in ran.criteria.items() if one.foreign]
    if not names:
        return []
    told = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return [f"{told}: frozen by another key; run because a person trusted that command here"]


def red_refusal(criterion: Criterion, run_id: str, verdict: Verdict, code: str, attempts: int) -> Refusal:
    """What the screen of a refused mark says: which of its tests are red, where, and what comes next."""
    total = len(verdict.red) + len(verdict.passed) + len(verdict.missing)
    told = verdict.reasons[0].says
    if verdict.red:
        told = f"{len(verdict.red)} of its {total} tests {'is' if len(verdict.red) == 1 else 'are'} red"
        told = "its test is red" if total == 1 else told
    lines = [f"{criterion.id} is not passed: {told}."]
    for one in verdict.red[:3]:
        place = f" ({one.file}:{one.line})" if one.file and one.line else ""
        first = one.says.strip().split("\n")[0][:120] if one.says.strip() else one.outcome
        lines.append(f"  {one.id}  {first}{place}")
    if len(verdict.red) > 3:
        lines.append(f"  … and {len(verdict.red) - 3} more")
    lines.append(f"Kept as run {run_id}; recorded as failed attempt {attempts}.")
    red = [{"id": one.id, "says": one.says[:SAID], "file": one.file, "line": one.line} for one in verdict.red[:5]]
    facts: dict[str, object] = {
        "run": run_id,
        "red": red,
        "red_more": len(verdict.red) - len(red),
        "missing": list(verdict.missing[:5]),
        "attempts": attempts,
    }
    hint = f"end your report with {shown(criterion.id).strip(chr(34))} open; the fixer changes the code, not the test"
    return Refusal(code, "\n".join(lines), hint, facts=facts)


def _needs(name: str, confined: str) -> Refusal:
    """A check that is neither green nor red: it could not reach what it needs."""
    return Refusal(
        "check.needs",
        f"the check needs {shown(name, 300)}, which it cannot reach because it is shut in ({confined})",
        'allow it below [verify] in .tallystick/config.toml (allow, network), or run it with mode = "in-place"',
    )


def _error(verdict: Verdict) -> str:
    """A failed attempt in words."""
    return "; ".join(reason.says for reason in verdict.reasons[:3]) or "the check is red"


def _outside(ran: CheckRun) -> tuple[str, ...]:
    """A note where code of the project came from outside the tree that was run."""
    if not ran.outside:
        return ()
    more = f" and {len(ran.outside) - 1} more" if len(ran.outside) > 1 else ""
    return (f"import.outside: {ran.outside[0]}{more} was loaded from outside the tree that was run",)


def new_run_id() -> str:
    """A run id: `r-` and eight base-32 characters (surface)."""
    import base64
    import os

    return "r-" + base64.b32encode(os.urandom(5)).decode().lower()
