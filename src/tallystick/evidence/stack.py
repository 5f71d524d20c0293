"""The stack of a proof: static part, proof run, sabotage run, red made again; cheapest first, each criterion by itself.

What is found wrong makes a verdict red; what only could not be shown stops the level at *ran*, with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tallystick.evidence import locks
from tallystick.evidence.bench import Bench
from tallystick.evidence.checks import CheckResult, Plan, Step, plan, verdict_of
from tallystick.evidence.flags import flags, is_subject
from tallystick.evidence.lockset import LockSet, State
from tallystick.evidence.reds import Past, RedRun, not_passed, red_run
from tallystick.evidence.runners.base import Runner
from tallystick.evidence.selectors import covers
from tallystick.evidence.standing import Past as Then
from tallystick.evidence.standing import Standing, required_ids, standing
from tallystick.evidence.text_diff import unified
from tallystick.evidence.verdict import Reason, Verdict, against
from tallystick.ids import shown
from tallystick.journal.blobs import Blobs
from tallystick.ledger.model import Criterion, Red
from tallystick.ledger.requirement import Requirement, Run, Tests, parse
from tallystick.system.files import Files

#: So many lines of a difference are kept for whoever reviews it, and so many names stand in a sentence.
_DIFF_LINES, _NAMED = 400, 3
#: Runners whose reporter tells at the end what the run read.
_RECORDED = ("pytest", "unittest")
#: A proof run that took less has its tests called in the sabotaged run too, and made to fail after that (in seconds).
_QUICK_S = 1.5


class Proof(NamedTuple):
    """What the stack found of one criterion: the verdict, the level that it reaches ("claimed" where it is red), why
    not a higher one, and its red where that was made again."""

    verdict: Verdict
    level: str
    short: tuple[Reason, ...] = ()
    red: Red | None = None
    locked: tuple[str, ...] = ()


class Stacked(NamedTuple):
    """All that was run, and the proof of each criterion that could be checked.

    `bound` are paths outside the tree that say in which environment it ran.
    """

    plan: Plan
    results: tuple[CheckResult, ...]
    proofs: dict[str, Proof]
    bound: tuple[str, ...] = ()


class Stack:
    """Proves criteria of one feature at a bench. `run` is the run's id, `head` the commit that is checked out."""

    def __init__(
        self, bench: Bench, files: Files, blobs: Blobs, feature: str, run: str, head: str | None, cache: str
    ) -> None:
        """`cache` is a folder of ours; losing it is harmless."""
        self._bench = bench
        self._files = files
        self._blobs = blobs
        self._feature = feature
        self._run = run
        self._head = head
        self._cache = cache
        self._tree = bench.tree
        self._past = Past(bench.trees, blobs) if bench.trees is not None else None
        self._locks: dict[str, LockSet | None] = {}

    def state(self) -> State | None:
        """What lies in the copy; None where the check runs in place."""
        ground, trees = self._bench.ground, self._bench.trees
        rows = trees.rows(self._tree) if trees is not None and ground.copy else None
        if rows is None:
            return None
        self._bench.lay(self._tree)
        return locks.state_of_copy(self._files, rows, ground.copy)

    def prove(self, criteria: Sequence[Criterion], found: Runner | None) -> Stacked:
        """Run whatever their proofs need. Raises what running raises; a red check is no refusal."""
        state = self.state()
        standings = self.standings(criteria, state)
        asked = {one.id: _asked(one, standings[one.id]) for one in criteria if not standings[one.id].broken}
        planned = plan(asked, found, {name: standings[name].apart for name in asked})
        patched, bound = self.installed(planned)
        results: list[CheckResult] = []
        for step in planned.steps:
            self._bench.says(_told(step, len(results), len(planned.steps)))
            results.append(self._bench.run(step))
        proofs: dict[str, Proof] = {}
        for one in criteria:
            stands = standings[one.id]
            if stands.broken:
                proofs[one.id] = Proof(against(stands.broken), "claimed")
            elif one.id in planned.parts:
                proof = _judged(stands, verdict_of(planned, one.id, results), self._unseen(one))
                wrong = [patched[part.step] for part in planned.parts[one.id] if part.step in patched]
                proofs[one.id] = Proof(against(wrong, proof.verdict), "claimed") if wrong else proof
        green = [one for one in criteria if one.id in proofs and proofs[one.id].level == "proven"]
        if state is not None:
            proofs.update(self._sabotaged(green, planned, results, standings, proofs))
        proofs.update(self._outside(planned, results, proofs))
        if state is not None:
            green = [one for one in green if proofs[one.id].level == "proven"]
            proofs.update(self._again(green, standings, proofs, found, state))
        if state is not None:
            proofs.update(self._flagged(planned, results, proofs))
        return Stacked(planned, tuple(results), proofs, bound)

    def _flagged(self, planned: Plan, results: Sequence[CheckResult], proofs: Mapping[str, Proof]) -> dict[str, Proof]:
        """The proofs of criteria whose code asks whether it is tested, with what a person should see."""
        read: dict[str, frozenset[str]] = {}
        for name, proof in proofs.items():
            if proof.verdict.green:
                recorded = [results[part.step].recorded(part.ids) for part in planned.parts[name]]
                read[name] = frozenset(file for one in recorded if one for file in one.read if is_subject(file))
        every = frozenset().union(*read.values())
        contents = self._bench.trees.contents(self._tree, every) if every and self._bench.trees is not None else {}
        asking = {one.file: one for one in flags(contents)}
        return {
            name: proofs[name]._replace(short=(*proofs[name].short, *(asking[file] for file in files & asking.keys())))
            for name, files in read.items()
            if files & asking.keys()
        }

    def installed(self, planned: Plan) -> tuple[dict[int, Reason], tuple[str, ...]]:
        """The steps whose runner is not what was installed, and what says which environment it is."""
        patched: dict[int, Reason] = {}
        bound: dict[str, None] = {}
        for number, step in enumerate(planned.steps):
            found = self._bench.installed(self._files, step, self._cache)
            if found is None:
                continue
            bound.update(dict.fromkeys(found.bound))
            if found.patched:
                more = f" and {len(found.patched) - 1} more" if len(found.patched) > 1 else ""
                patched[number] = Reason("runner.patched", f"{shown(found.patched[0], 300)}{more}")
        return patched, tuple(bound)

    def standings(self, criteria: Sequence[Criterion], state: State | None) -> dict[str, Standing]:
        """The static part: how each criterion stands in `state`, before anything is run."""
        return {one.id: self._standing(one, state) for one in criteria}

    def _standing(self, criterion: Criterion, state: State | None) -> Standing:
        red = criterion.red or criterion.seen
        if state is None or red is None or self._past is None:
            return Standing()
        past, lock = self._past, self._lock(red.lock)
        earlier = [self._lock(name) for name in (criterion.accepted, red.first) if name]
        allowed = [one for one in earlier if one is not None]
        then = None if lock is None else Then(lock, lambda names: past.contents(red, names))
        only_ids = not any(isinstance(one, Run) for one in _requirements(criterion))
        return standing(self._feature, criterion, then, allowed, state, only_ids)

    def _unseen(self, criterion: Criterion) -> tuple[Reason, ...]:
        """Why a criterion that was red once cannot be judged by that red here."""
        if criterion.red is None and criterion.seen is None:
            return ()
        if not self._bench.ground.copy:
            return (Reason("level.low", "it ran where the files lie, not in a copy of them"),)
        return (Reason("red.absent", "what was locked when it was red is not known here, so it is not judged by that"),)

    def _lock(self, name: str) -> LockSet | None:
        if name not in self._locks:
            self._locks[name] = locks.load(self._blobs, name)
        return self._locks[name]

    def _outside(self, planned: Plan, results: Sequence[CheckResult], proofs: Mapping[str, Proof]) -> dict[str, Proof]:
        """The proofs that stop at *ran*: code of the project came from elsewhere."""
        found: dict[str, Proof] = {}
        for name, proof in proofs.items():
            if proof.level != "proven":
                continue
            short = _loaded([results[part.step] for part in planned.parts[name]])
            if short:
                found[name] = proof._replace(level="ran", short=tuple(short))
        return found

    def _sabotaged(
        self,
        green: Sequence[Criterion],
        planned: Plan,
        results: Sequence[CheckResult],
        standings: Mapping[str, Standing],
        proofs: Mapping[str, Proof],
    ) -> dict[str, Proof]:
        """Run the tests of these criteria once more, each made to fail: whoever says that one passed lies. Where they
        are quick, they fail after their own code, which then may lie as it did before."""
        survived: dict[str, list[str]] = {}
        for number, step in enumerate(planned.steps):
            mine = [one for one in green if any(part.step == number for part in planned.parts[one.id])]
            if not mine:
                continue
            self._bench.says(f"making {_count(len(mine), 'criterion', 'criteria')} fail on purpose")
            ids = dict.fromkeys(
                wanted for one in mine for part in planned.parts[one.id] if part.step == number for wanted in part.ids
            )
            when = "after" if results[number].ran.took_s < _QUICK_S else "instead"
            report = self._bench.run(step._replace(ids=tuple(ids)), sabotage=when).ran.report
            tests = () if report is None else tuple(report.tests.values())
            passed = [test.id for test in tests if test.outcome == "passed"]
            for one in mine:
                red = standings[one.id].red
                wanted_ids = (*required_ids(one), *(red.ids if red is not None else ()))
                survived.setdefault(one.id, []).extend(
                    test_id for test_id in passed if any(covers(wanted, test_id) for wanted in wanted_ids)
                )
        return {
            name: Proof(against([_survived(ids)], proofs[name].verdict), "claimed")
            for name, ids in survived.items()
            if ids
        }

    def _again(
        self,
        green: Sequence[Criterion],
        standings: Mapping[str, Standing],
        proofs: Mapping[str, Proof],
        found: Runner | None,
        state: State,
    ) -> dict[str, Proof]:
        """Make the red of these criteria again where it does not stand: on the state set back to where it was seen."""
        waiting: dict[str, list[Criterion]] = {}
        made: dict[str, Proof] = {}
        for one in green:
            stands = standings[one.id]
            if not stands.again or stands.red is None or stands.locked is None or self._past is None:
                continue
            tree = self._past.set_back(stands.red, self._tree, stands.locked)
            if tree is None:
                says = "the state in which it was red is not known here, so it cannot be made red again"
                made[one.id] = proofs[one.id]._replace(level="ran", short=(Reason("red.absent", says),))
            else:
                waiting.setdefault(tree, []).append(one)
        ran: list[tuple[str, Criterion, Plan, dict[int, CheckResult]]] = []
        for tree, some in waiting.items():
            self._bench.says(f"making {_count(len(some), 'criterion', 'criteria')} red again")
            asked = {one.id: _asked(one, standings[one.id]) for one in some}
            planned = plan(asked, found, {one.id: standings[one.id].apart for one in some})
            results = {number: self._bench.run(step, tree) for number, step in enumerate(planned.steps)}
            ran += [(tree, one, planned, results) for one in some]
        self._bench.lay(self._tree)  # what is read from here on was not touched by what ran
        for tree, one, planned, results in ran:
            seen = red_run(planned.parts[one.id], results, frozenset(self._bench.packages), state)
            made[one.id] = self._remade(one, standings[one.id], proofs[one.id], seen, tree, state)
        return made

    def _remade(
        self,
        criterion: Criterion,
        stands: Standing,
        proof: Proof,
        seen: RedRun,
        tree: str,
        state: State,
    ) -> Proof:
        """The proof of a criterion whose red was made again, or could not."""
        bad = seen.reasons
        if bad:
            if stands.again == "moved":
                first = bad[0].says
                says = f"its tests changed, and they are not red without what was built: {first}"
                return Proof(against([Reason("lock.changed", says, bad[0].file)], proof.verdict), "claimed")
            return proof._replace(level="ran", short=bad)
        assert stands.locked is not None
        diff = self._diff(stands, state) if stands.moved else None
        lock = locks.keep(self._blobs, stands.locked)
        red = Red(self._run, criterion.digest, tree, self._head, lock, seen.ids, stands.moved, diff)
        return proof._replace(red=red)

    def _diff(self, stands: Standing, state: State) -> str | None:
        """What a person looks at: how the locked files differ from those that were red, kept as a blob."""
        assert stands.red is not None
        assert self._past is not None
        then = self._past.contents(stands.red, stands.moved)
        lines: list[str] = []
        for path in stands.moved:
            now = state.read(path) if path in state.names else b""
            lines += unified(path, then.get(path, b""), now or b"", _DIFF_LINES - len(lines))
        return self._blobs.keep("\n".join(lines).encode("utf-8", "backslashreplace")) if lines else None


def _judged(stands: Standing, verdict: Verdict, unseen: tuple[Reason, ...]) -> Proof:
    """The proof of a criterion by its proof run alone; *proven* is what the rest of the stack may still take away.

    `unseen` says why it is not judged by its red where it was red once.
    """
    locked = () if stands.locked is None else tuple(one.path for one in stands.locked.locks)
    if not verdict.green:
        return Proof(verdict, "claimed", locked=locked)
    if stands.red is None:
        return Proof(verdict, "ran", unseen, locked=locked)
    lost = not_passed(stands.red, verdict.passed) if stands.again != "amended" else []
    if lost:
        told = ", ".join(shown(one, 150) for one in lost[:_NAMED])
        says = f"{told} {'was' if len(lost) == 1 else 'were'} red and did not run now"
        return Proof(against([Reason("ids.missing", says, lost[0].partition("::")[0])], verdict), "claimed")
    return Proof(verdict, "proven", locked=locked)


def _loaded(results: Iterable[CheckResult]) -> list[Reason]:
    """What keeps a run from showing more than that it ran: the modules and files of the project that came from outside
    the tree, the tests and parts of the runner that the project's own code replaced, an end before all was said."""
    reports = [one for result in results if (one := result.ran.report) is not None]
    recorded = [one.recorded for one in reports if one.recorded is not None]
    outside = sorted({name for one in recorded for name in one.outside})
    patched = sorted({says for one in recorded for says in one.patched})
    found: list[Reason] = []
    if outside:
        says = f"{shown(outside[0], 200)}{_more(outside)} was loaded from outside the tree that was run"
        found.append(Reason("import.outside", says))
    if patched:
        found.append(Reason("runner.patched", f"{shown(patched[0], 300)}{_more(patched)}"))
    if any(one.recorded is None and one.runner in _RECORDED for one in reports):
        found.append(Reason("runner.patched", "the run ended before its reporter could say what it had read"))
    return found


def _more(names: Sequence[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def _survived(ids: Sequence[str]) -> Reason:
    first = shown(ids[0], 200)
    says = f"{first} was reported as passed in a run in which every test was made to fail"
    return Reason("sabotage.survived", says, ids[0].partition("::")[0])


def _requirements(criterion: Criterion) -> list[Requirement]:
    return [parse(entry) for entry in criterion.evidence_required or ()]


def _asked(criterion: Criterion, stands: Standing) -> list[Requirement]:
    """What is run for a criterion: what it names, or only the ids that were red where its test files have grown."""
    every = _requirements(criterion)
    if not stands.ids:
        return every
    return [Tests(stands.ids), *(one for one in every if not isinstance(one, Tests))]


def _told(step: Step, at: int, of: int) -> str:
    """What is run next, for whoever waits."""
    what = _count(len(step.ids), "test id", "test ids") if step.ids else " ".join(step.argv)[:60]
    return f"run {at + 1} of {of}: {step.runner}, {what}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
