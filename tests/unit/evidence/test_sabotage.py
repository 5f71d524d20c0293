"""Holds that in a sabotaged run no honest test is reported as passed, so that whoever reports one lies; and that a run
on its own sets back what the configuration adds for whole suites."""

from __future__ import annotations

import ast
import importlib.resources
from pathlib import Path

import pytest

from tallystick.evidence.checks import Step, execute
from tallystick.evidence.runners.base import Modes
from tallystick.evidence.runners.report import Report
from tests.unit.evidence.samples import VARIABLES, project

PYTEST = Step("pytest", (".venv/bin/pytest", "-q", "-Wignore", "--doctest-modules", "."), ())
UNITTEST = Step("unittest", (".venv/bin/python", "-m", "unittest", "tests.test_case"), ())
CASES = """
    import unittest
    import cart
    class CartTest(unittest.TestCase):
        def test_ok(self): self.assertEqual(cart.total([1]), 1)
        @unittest.expectedFailure
        def test_expected(self): self.fail()
        @unittest.skip("later")
        def test_skipped(self): pass
        def test_parts(self):
            with self.subTest(): pass
    class AsyncTest(unittest.IsolatedAsyncioTestCase):
        async def test_async(self): cart.total([1])
"""
HONEST = {
    "cart.py": '"""Sums.\n\n>>> 1 + 1\n2\n"""\ndef total(lines):\n    return sum(lines)\n',
    "tests/test_case.py": CASES,
    "tests/test_cart.py": """
        import pytest
        import cart
        def test_ok(): assert cart.total([1]) == 1
        @pytest.mark.parametrize("n", [1, 2])
        def test_sets(n): assert cart.total([n]) == n
        class TestTill:
            def test_it(self, tmp_path): pass
        @pytest.mark.xfail
        def test_expected(): assert 0
        @pytest.mark.xfail(raises=ValueError)
        def test_other(): pass
        def test_left(): pytest.skip("later")
    """,
}


def reported(root: Path, files: dict[str, str], sabotage: str, step: Step = PYTEST) -> Report:
    place = project(root, files)
    report = execute(step, place, VARIABLES, modes=Modes(alone=True, sabotage=sabotage)).ran.report
    assert report is not None
    return report


def passed(report: Report) -> list[str]:
    return [test.id for test in report.tests.values() if test.outcome == "passed"]


@pytest.mark.parametrize("when", ["instead", "after"])
@pytest.mark.parametrize("step", [PYTEST, UNITTEST], ids=["pytest", "unittest"])
def test_no_honest_test_passes_a_sabotaged_run(tmp_path: Path, step: Step, when: str) -> None:
    honest = reported(tmp_path, HONEST, "", step)
    sabotaged = reported(tmp_path, HONEST, when, step)
    assert len(passed(honest)) >= 3
    assert set(sabotaged.tests) == set(honest.tests)
    assert (passed(sabotaged), sabotaged.ended) == ([], True)


@pytest.mark.parametrize("when", ["instead", "after"])
def test_a_subject_that_patches_pytest_is_caught(tmp_path: Path, when: str) -> None:
    cheat = """
        from _pytest.reports import TestReport
        made = TestReport.from_item_and_call.__func__
        def always(cls, item, call):
            call.excinfo = None
            return made(cls, item, call)
        TestReport.from_item_and_call = classmethod(always)
        def total(lines): return 0
    """
    files = {"cart.py": cheat, "tests/test_cart.py": "import cart\ndef test_x(): assert cart.total([1]) == 1\n"}
    assert passed(reported(tmp_path, files, ""))  # the lie works
    assert passed(reported(tmp_path, files, when)) == ["tests/test_cart.py::test_x"]


def test_a_subject_that_patches_pytest_when_it_is_called_is_caught_after_its_call(tmp_path: Path) -> None:
    """What never runs cannot lie: only a run that fails after the tests' own code shows this one."""
    cheat = """
        from _pytest.reports import TestReport
        made = TestReport.from_item_and_call.__func__
        def always(cls, item, call):
            call.excinfo = None
            return made(cls, item, call)
        def total(lines):
            TestReport.from_item_and_call = classmethod(always)
            return 0
    """
    files = {"cart.py": cheat, "tests/test_cart.py": "import cart\ndef test_x(): assert cart.total([1]) == 1\n"}
    found = {when: len(passed(reported(tmp_path, files, when))) for when in ("", "instead", "after")}
    assert found == {"": 1, "instead": 0, "after": 1}


def test_a_subject_that_patches_unittest_is_caught(tmp_path: Path) -> None:
    cheat = """
        import contextlib, unittest.case
        class Outcome(unittest.case._Outcome):
            @contextlib.contextmanager
            def testPartExecutor(self, case, *args, **words):
                try:
                    yield
                except Exception:
                    pass
        unittest.case._Outcome = Outcome
        def total(lines): return 0
    """
    case = (
        "import unittest, cart\nclass T(unittest.TestCase):\n def test_x(self): self.assertEqual(cart.total([1]), 1)\n"
    )
    files = {"cart.py": cheat, "tests/test_case.py": case}
    assert passed(reported(tmp_path, files, "", UNITTEST))
    assert passed(reported(tmp_path, files, "instead", UNITTEST)) == ["tests.test_case.T.test_x"]


def test_nothing_in_environment_arguments_or_files_tells_a_sabotaged_run(tmp_path: Path) -> None:
    text = """
        import os, sys
        beside = os.environ["PYTHONPATH"]
        seen = [sorted(os.listdir(beside)), sys.argv[:1], sorted(os.environ)]
        with open("seen.txt", "a") as file:
            file.write(repr([name for name in seen[0] if "cache" not in name]) + repr(seen[1:3]) + "\\n")
        def test_x(): pass
    """
    for when in ("", "instead", "after"):
        reported(tmp_path, {"test_a.py": text}, when)
    lines = (tmp_path / "seen.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    assert len(set(lines)) == 1
    assert "modes" not in lines[0]


FAKES = """
    def pytest_addoption(parser):
        parser.getgroup("fakes")._addoption("-n", "--numprocesses", default="none")
        parser.addoption("--reruns", default="none")
    def pytest_sessionstart(session):
        with open("said.txt", "w") as file:
            option = session.config.option
            file.write(f"{option.numprocesses} {option.reruns} {option.maxfail}")
"""


@pytest.mark.parametrize(
    ("modes", "said"), [(None, "4 2 1"), (Modes(alone=True), "0 0 0")], ids=["as configured", "alone"]
)
def test_a_run_alone_sets_back_workers_reruns_and_an_early_end(tmp_path: Path, modes: Modes | None, said: str) -> None:
    files = {
        "fakes.py": FAKES,
        "pytest.ini": "[pytest]\naddopts = -p fakes -n 4 --reruns=2 -x\npythonpath = .\n",
        "test_a.py": "def test_a(): assert 0\ndef test_b(): pass\n",
        "test_broken.py": "nope\n",
    }
    place = project(tmp_path, files)
    step = Step("pytest", (".venv/bin/python", "-m", "pytest", "-q", "--", "test_a.py", "test_broken.py"), ())
    report = execute(step, place, VARIABLES, modes=modes).ran.report
    assert report is not None
    assert (tmp_path / "said.txt").read_text(encoding="utf-8") == said
    assert ("test_a.py::test_b" in report.tests) == (modes is not None)


def test_options_of_plugins_that_are_not_loaded_are_not_used(tmp_path: Path) -> None:
    report = reported(tmp_path, {"test_a.py": "def test_a(): pass\n"}, "")
    assert passed(report) == ["test_a.py::test_a"]


def test_both_reporters_know_a_failure_in_the_same_way() -> None:
    """Each stands alone in one file; what both have is the same text."""
    package = importlib.resources.files("tallystick.evidence.runners")
    found = [
        {
            node.name: ast.unparse(node)
            for node in ast.parse(package.joinpath(f"{name}.py").read_text(encoding="utf-8")).body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        }
        for name in ("pytest_plugin", "unittest_reporter")
    ]
    shared = {"Channel", "_clean", "_plain", "_beside", "_modes", "_recorder", "_failure", "_unwrapped", "_missing",
              "_owner", "_kind", "_relative"}  # fmt: skip
    assert {name: text for name, text in found[0].items() if name in shared} == {
        name: text for name, text in found[1].items() if name in shared
    }
    assert shared <= set(found[0])
