"""Holds the order and the verdicts of the stack: what is broken is not run, what survives sabotage lies, what was red
must run, and a red that does not stand is made again on the state set back; each by what a scripted run reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tallystick.evidence import locks
from tallystick.evidence.bench import Bench, Watch
from tallystick.evidence.checks import CHECK_LIMITS, CheckResult, Step
from tallystick.evidence.lockset import State, lock_set
from tallystick.evidence.places import Ground
from tallystick.evidence.runners.pytest_runner import PYTEST
from tallystick.evidence.runners.report import Failure, Recorded, Report, Test
from tallystick.evidence.stack import Proof, Stack, Stacked
from tallystick.evidence.verdict import Ran, judge
from tallystick.ledger.model import Criterion, Draft, Red
from tallystick.settings import Settings
from tallystick.system.files import OsFiles
from tallystick.system.process import Finished
from tests.unit.evidence.test_reds import Desk

ID = "tests/test_cart.py::test_total"
TEST = b"from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
THEN = {"cart.py": b"", "tests/test_cart.py": TEST}
NOW = {"cart.py": b"def total(lines):\n    return sum(lines)\n", "tests/test_cart.py": TEST}
DRAFT = Draft("AC1", "the total is right", (f"tests: {ID}",))
FAILURE = Failure(("AssertionError", "Exception", "BaseException"), in_test=True, entered=True)

#: What a run reports: by the step, the tree ("" = the recorded one) and the way of sabotage.
Says = Callable[[Step, str, str], dict[str, str]]


def honest(_: Step, tree: str, sabotage: str) -> dict[str, str]:
    """Green with what was built, red without it, and red when it is made to fail."""
    return {ID: "failed" if tree or sabotage else "passed"}


class Scripted(Bench):
    """A bench that runs nothing: what a run reports is said by the test."""

    says_of: Says = staticmethod(honest)
    recorded: Recorded | None = Recorded(("cart.py",))
    took_each_s = 0.5

    def started(self) -> list[tuple[tuple[str, ...], bool, str]]:
        """Each run: its ids, whether it was on another tree, and how it was sabotaged."""
        runs: list[tuple[tuple[str, ...], bool, str]] = self.__dict__.setdefault("runs", [])
        return runs

    def run(self, step: Step, tree: str = "", *, sabotage: str = "") -> CheckResult:
        """Report what the test says."""
        self.started().append((step.ids, bool(tree), sabotage))
        tests = {
            name: Test(name, outcome, "call", says="no", failure=FAILURE if outcome == "failed" else None)
            for name, outcome in self.says_of(step, tree, sabotage).items()
        }
        red = any(test.outcome != "passed" for test in tests.values())
        report = Report(tests, (), "pytest", ended=True, status=int(red), recorded=self.recorded)
        ran = Ran(
            "pytest",
            ("pytest",),
            "",
            report,
            int(red),
            None,
            "",
            CHECK_LIMITS,
            b"",
            0,
            "",
            self.took_each_s,
            0,
            "a fake",
        )
        return CheckResult(ran, judge(ran, step.ids))

    def installed(self, *_: Any) -> None:
        """Nothing is looked at."""


class Scene:
    """One criterion whose test was red in THEN and is proven in `now`."""

    def __init__(self, desk: Desk, folder: Path, now: Mapping[str, bytes] = NOW, *, copy: bool = True) -> None:
        self.desk = desk
        self.then = desk.commit(THEN)
        self.tree = desk.commit(dict(now))
        for name, data in now.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        lock = lock_set([ID], State(frozenset(THEN), frozenset(), THEN.get))
        self.red = Red("r-1", DRAFT.digest, self.then, None, locks.keep(desk.blobs, lock), (ID,))
        self.criterion = Criterion(*DRAFT, DRAFT.digest, red=self.red)
        never = lambda *_, **__: Finished(0, None, b"")  # noqa: E731
        ground = Ground("/shop", "/shop", self.tree, "a fake", 0, never, copy=str(folder))
        ground = ground if copy else ground._replace(copy="", home="")
        self.bench = Scripted(ground, desk.trees, {}, Settings(), ("cart",), Watch())

    def prove(self, *criteria: Criterion, says: Says = honest) -> Stacked:
        """The proofs of these (none: the one)."""
        self.bench.says_of = says
        stack = Stack(self.bench, OsFiles(), self.desk.blobs, "checkout", "r-2", None, "/cache")
        return stack.prove(criteria or (self.criterion,), PYTEST)

    def proof(self, criterion: Criterion | None = None, says: Says = honest) -> Proof:
        """The proof of the one."""
        return self.prove(criterion or self.criterion, says=says).proofs["AC1"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"))


@pytest.fixture
def scene(desk: Desk, tmp_path: Path) -> Scene:
    return Scene(desk, tmp_path)


def formatted(desk: Desk, folder: Path) -> Scene:
    """The same with a test that a formatter went over."""
    return Scene(desk, folder, {**NOW, "tests/test_cart.py": b"# laid out anew\n" + TEST})


def why(proof: Proof) -> tuple[str, list[str]]:
    return proof.level, [reason.code for reason in (*proof.verdict.reasons, *proof.short)]


def test_a_red_that_stands_needs_a_proof_run_and_a_sabotaged_one(scene: Scene) -> None:
    assert why(scene.proof()) == ("proven", [])
    assert scene.bench.started() == [((ID,), False, ""), ((ID,), False, "after")]


def test_slow_tests_are_not_called_in_the_sabotaged_run(scene: Scene) -> None:
    scene.bench.took_each_s = 60.0
    assert why(scene.proof()) == ("proven", [])
    assert scene.bench.started()[1] == ((ID,), False, "instead")


def test_what_was_never_red_only_ran_and_is_not_sabotaged(scene: Scene) -> None:
    assert why(scene.proof(scene.criterion._replace(red=None))) == ("ran", [])
    assert len(scene.bench.started()) == 1


def test_what_is_red_is_red_and_nothing_more_is_run(scene: Scene) -> None:
    assert why(scene.proof(says=lambda *_: {ID: "failed"})) == ("claimed", ["check.red"])
    assert len(scene.bench.started()) == 1


def test_who_passes_when_made_to_fail_lies(scene: Scene) -> None:
    assert why(scene.proof(says=lambda *_: {ID: "passed"})) == ("claimed", ["sabotage.survived"])


def test_another_test_that_passes_when_made_to_fail_is_nobodys_concern(scene: Scene) -> None:
    def says(step: Step, tree: str, sabotage: str) -> dict[str, str]:
        return {**honest(step, tree, sabotage), "tests/test_other.py::test_x": "passed"}

    assert why(scene.proof(says=says)) == ("proven", [])


def test_what_was_red_must_have_run(scene: Scene) -> None:
    red = scene.red._replace(ids=(ID, "tests/test_cart.py::test_more"))
    command = scene.criterion._replace(evidence_required=("run: pytest",), red=red)
    level, codes = why(scene.proof(command))
    assert (level, "ids.missing" in codes) == ("claimed", True)


def test_a_moved_lock_is_made_red_again_on_the_state_set_back(desk: Desk, tmp_path: Path) -> None:
    scene = formatted(desk, tmp_path)
    trees: list[str] = []

    def says(step: Step, tree: str, sabotage: str) -> dict[str, str]:
        trees.append(tree)
        return honest(step, tree, sabotage)

    proof = scene.proof(says=says)
    assert why(proof) == ("proven", [])
    assert desk.lies(trees[2]) == {**THEN, "tests/test_cart.py": b"# laid out anew\n" + TEST}
    assert proof.red is not None
    assert (proof.red.run, proof.red.tree, proof.red.ids) == ("r-2", trees[2], (ID,))
    assert proof.red.moved == ("tests/test_cart.py",)
    assert proof.red.lock != scene.red.lock
    assert b"+# laid out anew" in (desk.blobs.get(proof.red.diff or "") or b"")


def test_a_moved_lock_that_is_not_red_again_is_a_changed_test(desk: Desk, tmp_path: Path) -> None:
    proof = formatted(desk, tmp_path).proof(says=lambda _, __, sabotage: {ID: "failed" if sabotage else "passed"})
    assert why(proof) == ("claimed", ["lock.changed"])
    assert proof.red is None


def test_a_red_of_elsewhere_that_is_not_red_here_stops_at_ran(scene: Scene) -> None:
    there = scene.criterion._replace(red=None, seen=scene.red)
    assert why(scene.proof(there)) == ("proven", [])
    assert why(scene.proof(there, lambda _, __, sabotage: {ID: "failed" if sabotage else "passed"})) == (
        "ran",
        ["red.green"],
    )


def test_a_state_that_is_not_known_here_stops_at_ran_and_is_named(scene: Scene) -> None:
    there = scene.criterion._replace(red=None, seen=scene.red._replace(tree="f" * 40))
    assert why(scene.proof(there)) == ("ran", ["red.absent"])
    unlocked = scene.criterion._replace(red=scene.red._replace(lock="f" * 64))
    assert why(scene.proof(unlocked)) == ("ran", ["red.absent"])


def test_a_changed_test_is_not_even_run(desk: Desk, tmp_path: Path) -> None:
    scene = Scene(desk, tmp_path, {**NOW, "tests/test_cart.py": TEST.replace(b"== 3", b"> 0")})
    assert why(scene.proof()) == ("claimed", ["lock.changed"])
    assert scene.bench.started() == []


def test_strangers_are_set_aside_for_whom_they_are_strangers(desk: Desk, tmp_path: Path) -> None:
    scene = Scene(desk, tmp_path, {**NOW, "tests/conftest.py": b"x = 1\n"})
    never_red = Draft("AC2", "another", (f"tests: {ID}",))
    stacked = scene.prove(scene.criterion, Criterion(*never_red, never_red.digest))
    assert [step.without for step in stacked.plan.steps] == [("tests/conftest.py",), ()]
    assert {name: proof.level for name, proof in stacked.proofs.items()} == {"AC1": "proven", "AC2": "ran"}


@pytest.mark.parametrize(
    ("recorded", "code"),
    [
        (Recorded(outside=("/elsewhere/cart.py",)), "import.outside"),
        (Recorded(patched=("_pytest.runner.call was replaced",)), "runner.patched"),
        (None, "runner.patched"),
    ],
    ids=["outside", "patched", "cut short"],
)
def test_what_a_run_tells_of_itself_stops_it_at_ran(scene: Scene, recorded: Recorded | None, code: str) -> None:
    scene.bench.recorded = recorded
    assert why(scene.proof()) == ("ran", [code])


def test_in_place_it_only_ran_and_says_so_where_it_was_red(desk: Desk, tmp_path: Path) -> None:
    scene = Scene(desk, tmp_path, copy=False)
    assert why(scene.proof()) == ("ran", ["level.low"])
    assert why(scene.proof(scene.criterion._replace(red=None))) == ("ran", [])


def test_one_that_cannot_be_checked_holds_no_other_up(scene: Scene) -> None:
    other = Draft("AC2", "another", ("held-out",))
    kept = Draft("AC3", "a third", ("run: make test",))
    stacked = scene.prove(scene.criterion, *(Criterion(*one, one.digest) for one in (other, kept)))
    assert stacked.proofs["AC1"].level == "proven"
