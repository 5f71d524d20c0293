"""Runs checks for the use cases: opens a place, asks for trust before anything runs, and proves or sees red there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.evidence import locks
from tallystick.evidence.bench import Bench, Watch
from tallystick.evidence.check_run import CheckRun
from tallystick.evidence.checks import CheckResult, plan, verdict_of
from tallystick.evidence.lockset import State, changed, in_test_folder, lock_set, place_of
from tallystick.evidence.origin import needed
from tallystick.evidence.packages import project_packages
from tallystick.evidence.places import Ground, Places
from tallystick.evidence.project import project_tree
from tallystick.evidence.reds import Past, RedRun, red_run
from tallystick.evidence.relevant import counts
from tallystick.evidence.runners import Runner, Tree, find_runner, project_runner
from tallystick.evidence.stack import Proof, Stack
from tallystick.evidence.standing import Standing, required_ids
from tallystick.evidence.test_files import files_of
from tallystick.evidence.text_diff import unified
from tallystick.evidence.trust import TrustTable
from tallystick.journal.blobs import Blobs
from tallystick.ledger.model import Criterion, Red
from tallystick.ledger.requirement import parse
from tallystick.limits import CITED_FILE
from tallystick.settings import Settings
from tallystick.system.durable import read_file
from tallystick.system.files import Files
from tallystick.system.trees import Trees, differing

#: A difference is shown up to so many lines.
_DIFF_LINES = 400


class SeenRed(NamedTuple):
    """What a run that looked for red found of one criterion: what each id is, the red to record (None where it does not
    count), and whether every test of it is green already."""

    found: RedRun
    red: Red | None
    green: bool


class Prover:
    """Runs the checks of one work tree. `trees` is None where there is no repository; `head` names its commit."""

    def __init__(
        self,
        files: Files,
        tree: str,
        blobs: Blobs,
        env: Mapping[str, str],
        places: Places,
        trees: Trees | None,
        settings: Callable[[], Settings],
        trust: TrustTable,
        head: Callable[[], str | None],
        cache: Callable[[], str],
    ) -> None:
        """`settings` are the project's, or a refusal; `cache` names a folder of ours that may be lost."""
        self._cache = cache
        self._was: dict[tuple[str | None, ...], str | None] = {}
        self.blobs = blobs
        self._files = files
        self._tree = tree
        self._env = env
        self._places = places
        self._trees = trees
        self._settings = settings
        self._trust = trust
        self._head = head

    def prove(
        self, feature: str, criteria: Sequence[Criterion], watch: Watch, base: frozenset[str] = frozenset()
    ) -> CheckRun:
        """Prove `criteria` as far as can be. `base` are digests of commands that are trusted besides.

        Raises `Refusal`: "trust.needed" before anything runs, "check.needs", "check.no_runner", "interrupted".
        """
        run = watch.run or new_run_id()
        with self._bench(criteria, watch, base) as (bench, runner):
            stacked = Stack(bench, self._files, self.blobs, feature, run, self._head(), self._cache()).prove(
                criteria, runner
            )
            judged = {one.id: one for one in criteria}
            facts = self._facts(bench.ground, stacked.results)
            return CheckRun(run, stacked.plan, stacked.results, judged, stacked.proofs, bench.took_s, *facts)._replace(
                bound=stacked.bound,
                settings=bench.settings,
                setup=bench.setup,
                irrelevant=bench.irrelevant,
            )

    def see_red(self, feature: str, criteria: Sequence[Criterion], watch: Watch) -> tuple[CheckRun, dict[str, SeenRed]]:
        """Run the tests of `criteria` as they lie now and say which are red for a good reason. Raises as `prove`."""
        run = watch.run or new_run_id()
        with self._bench(criteria, watch, frozenset()) as (bench, runner):
            stack = Stack(bench, self._files, self.blobs, feature, run, self._head(), self._cache())
            asked = {one.id: [parse(entry) for entry in one.evidence_required or ()] for one in criteria}
            planned = plan(asked, runner)
            stack.installed(planned)  # so that the next proof finds it known
            results = tuple(bench.run(step) for step in planned.steps)
            proofs = {name: Proof(verdict_of(planned, name, results), "claimed") for name in planned.parts}
            judged = {one.id: one for one in criteria}
            facts = self._facts(bench.ground, results)
            ran = CheckRun(run, planned, results, judged, proofs, bench.took_s, *facts)._replace(commit=self._head())
            ran = ran._replace(settings=bench.settings, setup=bench.setup)
            state = stack.state()
            if state is None:
                return ran, {}
            looked = [one for one in criteria if one.id in planned.parts]
            return ran, {one.id: self._seen(one, ran, bench, state) for one in looked}

    def _seen(self, one: Criterion, ran: CheckRun, bench: Bench, state: State) -> SeenRed:
        """What a run that looked for red says of one criterion."""
        parts = ran.plan.parts[one.id]
        found = red_run(parts, dict(enumerate(ran.results)), frozenset(bench.packages), state)
        read = [ran.results[part.step].recorded(part.ids) for part in parts]
        support = frozenset(name for recorded in read if recorded for name in recorded.read)
        ids = (*required_ids(one), *found.ids)
        red = None
        if found.counts:
            places = frozenset((place_of(name, state), files_of(name, state.names)) for name in ids)
            lock = state.once(("lock", places, support), lambda: locks.keep(self.blobs, lock_set(ids, state, support)))
            red = self._again(one, Red(ran.id, one.digest, bench.tree, ran.commit, lock, found.ids), state)
        green = bool(found.bad) and all(bad.code == "red.green" for bad in found.bad.values())
        return SeenRed(found, red, green and not found.ids)

    def static(self, feature: str, criteria: Sequence[Criterion]) -> dict[str, Standing]:
        """How criteria stand by their locks alone, in the work tree as it lies there; nothing is laid out or run."""
        settings = self._settings()
        with self._places.open(settings.verify._replace(mode="in-place")) as ground:
            rows = self._trees.rows(ground.tree or "") if self._trees is not None else None
            bench = Bench(ground, self._trees, self._env, settings, (), Watch())
            stack = Stack(bench, self._files, self.blobs, feature, "", None, "")
            state = None if rows is None else locks.state_of_copy(self._files, rows, self._tree)
            return stack.standings(criteria, state)

    def was(self, red: Red, tree: str) -> str | None:
        """The name of what has changed between a red and `tree`, kept so that any copy can make it red again."""
        if self._trees is None:
            return None
        key = (red.tree, red.commit, red.was, tree)
        if key not in self._was:
            self._was[key] = Past(self._trees, self.blobs).keep(red, tree)
        return self._was[key]

    def lock_now(self, criterion: Criterion) -> str | None:
        """The name of the lock set of a criterion's tests as they lie now, kept; None where it was never red."""
        red = criterion.red or criterion.seen
        if red is None or self._trees is None:
            return None
        with self._places.open(self._settings().verify) as ground:
            rows = self._trees.rows(ground.tree or "") if ground.copy else None
            if rows is None:
                return None
            state = locks.state_of_copy(self._files, rows, ground.copy)
            before = locks.load(self.blobs, red.lock)
            support = [one.path for one in before.locks if one.kind == "support"] if before is not None else []
            return locks.keep(self.blobs, lock_set(required_ids(criterion) or red.ids, state, support))

    def diff(self, criterion: Criterion) -> list[str]:
        """How the tests of a criterion, as they lie now, differ from those that were red; what a person has not looked
        at yet where they do not."""
        red = criterion.red or criterion.seen
        lock = locks.load(self.blobs, red.lock) if red is not None else None
        if red is None or lock is None or self._trees is None:
            return []
        paths = sorted({one.path for one in lock.locks})
        then = Past(self._trees, self.blobs).contents(red, paths)
        now = {path: self._read(path) for path in paths}
        lines = [line for path in paths for line in unified(path, then.get(path), now[path], _DIFF_LINES)]
        kept = self.blobs.find(red.diff) if red.diff and not lines else None
        return (lines if kept is None else kept.decode("utf-8", "replace").split("\n"))[:_DIFF_LINES]

    def _read(self, path: str) -> bytes | None:
        try:
            return read_file(self._files, f"{self._tree}/{path}", CITED_FILE, within=self._tree)
        except Refusal:
            return None

    def state(self) -> str | None:
        """One word for what lies in the work tree now; None where there is no repository, or git cannot say."""
        if self._trees is None:
            return None
        with self._places.open(self._settings().verify._replace(mode="in-place")) as ground:
            rows = self._trees.rows(ground.tree or "")
            return None if rows is None else locks.state_digest(rows)

    def _again(self, criterion: Criterion, red: Red, state: State) -> Red:
        """A red that takes the place of an older one after work had begun says which tests have changed since."""
        was = criterion.red
        before = locks.load(self.blobs, was.lock) if was is not None else None
        if was is None or before is None:
            return red
        if not (criterion.passes or criterion.attempts or self._has_begun(was.tree, red.tree)):
            return red
        return red._replace(moved=tuple(one.path for one in changed(before, state)))

    def _has_begun(self, before: str, now: str) -> bool:
        """Whether a file that is of no tests differs between two states, or nobody knows."""
        then, rows = (self._trees.rows(one) if self._trees is not None else None for one in (before, now))
        if then is None or rows is None:
            return True
        return any(counts(name) and not in_test_folder(name) for name in differing(then, rows))

    @contextmanager
    def _bench(
        self, criteria: Sequence[Criterion], watch: Watch, base: frozenset[str]
    ) -> Iterator[tuple[Bench, Runner | None]]:
        settings = self._settings()
        asked = needed(settings, {"": criteria}, confined=self._places.whole)
        self._trust.require(asked, base)
        project = project_tree(self._files, self._tree)
        packages = tuple(sorted(project_packages(project)))
        with self._places.open(settings.verify) as ground:
            yield Bench(ground, self._trees, self._env, settings, packages, watch), _runner(settings, project, criteria)

    def _facts(
        self, ground: Ground, results: Sequence[CheckResult]
    ) -> tuple[str | None, str | None, str, str, int, bool]:
        """Tree, state, environment, confinement, when it began, and whether it ran in a copy."""
        rows = self._trees.rows(ground.tree) if self._trees is not None and ground.tree else None
        state = None if rows is None else locks.state_digest(rows)
        reports = [result.ran.report for result in results]
        recorded = [one.recorded for one in reports if one is not None and one.recorded is not None]
        installed = sorted({distribution for one in recorded for distribution in one.distributions})
        pythons = sorted({result.ran.python for result in results})
        told: list[Json] = [ground.confined, pythons, [list(distribution) for distribution in installed]]
        environment = canonical.sha256(canonical.encode(told))
        return ground.tree, state, environment, ground.confined, ground.began_ns, bool(ground.home)


def _runner(settings: Settings, project: Tree, criteria: Sequence[Criterion]) -> Runner | None:
    """The runner of the project's tests: that of its own command, else the one that is found by its files.

    Raises `Refusal` "check.no_runner" where some test ids are to be run by a command that starts none that is known.
    """
    if not settings.tests.command:
        return find_runner(project)
    return project_runner(settings.tests.command) if any(required_ids(one) for one in criteria) else None


def new_run_id() -> str:
    """A run id: `r-` and eight base-32 characters (surface)."""
    import base64
    import os

    return "r-" + base64.b32encode(os.urandom(5)).decode().lower()
