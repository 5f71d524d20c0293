"""What a proof costs: 200 criteria over one pytest suite in a tree of 2,000 files, against the suite itself."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from benchmarks.changes import git, write
from benchmarks.scene import Scene, scene
from benchmarks.table import Row, say
from benchmarks.timing import Sample, in_turn
from tallystick.journal.record import By, Record
from tallystick.ledger.model import ledger_of
from tallystick.wiring import App, assemble, prover, this_machine

PART = "A proof of 200 criteria, against the suite that they share"
FILES, MODULES, TESTS = 2_000, 20, 10
PROVEN, SHARED, STATIC = 1.3, 1.6, 0.05
_FEATURE = "checkout"
_ROUNDS = 7
_SETTINGS = '[project]\nname = "shop"\nversion = "1"\n[tool.pytest.ini_options]\npythonpath = ["src"]\n'


def rows() -> list[Row]:
    """The whole command, the proof run alone, and what is looked at before anything runs; the red was seen here."""
    if importlib.util.find_spec("pytest") is None:
        say("proof is left out: this Python has no pytest (python3 dev.py test brings one into .dev/venv)")
        return []
    with scene() as at:
        grown(at)
        tally(at, "ledger", "red", _FEATURE)
        for number in range(MODULES):
            write(at.place / f"src/shop/m{number}.py", f"def add(x):\n    return x + {number}\n")
        tally(at, "verify", _FEATURE)
        pytest = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
        works: dict[str, Callable[[], object]] = {
            "verify": partial(tally, at, "verify", "--all", _FEATURE),
            "suite": partial(run, at, pytest),
            "collecting": partial(run, at, (*pytest, "--collect-only")),
        }
        times = in_turn(works, _ROUNDS)
        app = assemble(this_machine(at.environment()), str(at.place), By("shell"))
        shared = proof_runs(app)[-_ROUNDS:]
        looked = in_turn({"static": partial(static_part, app)}, 2 * _ROUNDS)["static"]
    verify, suite, collecting = times["verify"], times["suite"], times["collecting"]
    rest = verify.median - collecting.median - 1
    one = Sample(tuple(shared))
    return [
        Row(
            PART,
            "verify, less collecting and 1 s",
            rest / suite.median,
            PROVEN,
            f"{verify} against {suite}, {collecting}",
        ),
        Row(PART, "the proof run alone", one.median / suite.median, SHARED, f"{one} against {suite}"),
        Row(PART, "the static part, of 50 ms", looked.median / STATIC, 1.0, f"{looked} for {FILES:,} files"),
    ]


def grown(at: Scene) -> None:
    """The project: mostly data, twenty modules to come, and the tests of each; frozen."""
    write(at.place / "pyproject.toml", _SETTINGS)
    write(at.place / "src/shop/__init__.py", "")
    lines = []
    for number in range(MODULES):
        tests = [f"def test_{one}():\n    assert add({one}) == {number + one}\n" for one in range(TESTS)]
        write(at.place / f"tests/test_m{number}.py", "\n".join([f"from shop.m{number} import add\n", *tests]))
        lines += [
            f"- [ ] C{number:02}{one} add\n      tests: tests/test_m{number}.py::test_{one}\n" for one in range(TESTS)
        ]
    for number in range(FILES - 2 * MODULES - 3):
        write(at.place / f"data/{number % 40}/{number}.txt", f"{number}\n" * 20)
    write(at.place / "criteria.md", "".join(lines))
    git(at, "add", "--all")
    git(at, "commit", "--quiet", "-m", "first")
    tally(at, "ledger", "init", _FEATURE, "criteria.md")


def tally(at: Scene, *words: str) -> None:
    """The command line, as a process of its own."""
    run(at, (sys.executable, "-m", "tallystick", *words))


def run(at: Scene, argv: Sequence[str]) -> None:
    """A program, to a good end."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])
    env = {**at.environment(), "PATH": path}
    subprocess.run(argv, cwd=at.place, env=env, capture_output=True, check=True)


def proof_runs(app: App) -> list[float]:
    """How long each proof run took, in seconds, as it was recorded."""
    found: list[float] = []

    def visit(record: Record, _ours: bool) -> None:
        if record.type == "run_recorded":
            steps: list[dict[str, Any]] = record.data["steps"]
            found.append(sum(step["took_ms"] for step in steps) / 1000)

    app.store.history(_FEATURE, visit)
    return found


def static_part(app: App) -> None:
    """Record the tree, and say how each criterion stands, with nothing laid out or run."""
    ledger = ledger_of(app.store.snapshot(_FEATURE))
    stands = prover(app).static(_FEATURE, list(ledger.criteria.values()))
    assert len(stands) == MODULES * TESTS
    assert all(one.red is not None and not one.broken for one in stands.values())
