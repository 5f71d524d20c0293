"""Holds what a check says: green only for ids that were seen to pass, a clear reason for anything else, and nothing
that an unruly program or a dishonest project does to get another answer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import Refusal
from tallystick.evidence.checks import Part, Plan, Step, execute, plan, verdict_of
from tallystick.evidence.verdict import Verdict
from tallystick.ledger.requirement import parse
from tallystick.system.process import Finished, run
from tests.unit.evidence.samples import VARIABLES, check_all, check_one, codes, program, project

CART = {
    "cart.py": """
        def total(lines):
            return sum(lines)
        def coupon(code):
            raise KeyError(code)
    """,
    "tests/test_cart.py": """
        import pytest
        from cart import coupon, total

        def test_total():
            assert total([1, 2]) == 3
        def test_red():
            assert total([1, 2]) == 4, "escape \\x1b[31m and \\udcff"
        def test_coupon():
            coupon("TWICE")
        @pytest.mark.skip(reason="later")
        def test_skipped(): pass
        @pytest.mark.xfail
        def test_expected_to_fail(): assert 0
        @pytest.mark.xfail
        def test_better_than_expected(): pass
        @pytest.fixture
        def broken(): raise ValueError("no cart")
        def test_setup(broken): pass
        @pytest.fixture
        def breaking():
            yield
            raise ValueError("no end")
        def test_teardown(breaking): pass
    """,
    "tests/test_import.py": "from cart import refund\ndef test_x(): pass\n",
    "tests/test_syntax.py": "def test_x(: pass\n",
    "tests/test_left_out.py": "import pytest\npytest.skip('not here', allow_module_level=True)\n",
    "tests/__init__.py": "",
    "tests/test_case.py": """
        import unittest
        class CartTest(unittest.TestCase):
            def test_ok(self): pass
            def test_red(self): self.assertEqual(1, 2)
            def test_error(self): {}["x"]
            @unittest.skip("later")
            def test_skipped(self): pass
            @unittest.expectedFailure
            def test_expected_to_fail(self): self.fail()
            @unittest.expectedFailure
            def test_better_than_expected(self): pass
            def test_parts(self):
                for number in range(3):
                    with self.subTest(number=number):
                        self.assertNotEqual(number, 1)
        class BrokenTest(unittest.TestCase):
            @classmethod
            def setUpClass(cls): raise RuntimeError("no class")
            def test_x(self): pass
        class LeavingTest(unittest.TestCase):
            @classmethod
            def tearDownClass(cls): raise RuntimeError("no end")
            def test_x(self): pass
    """,
}
GREEN = [("test_cart.py::test_total", "test_case.CartTest.test_ok"), ("test_cart.py::test_better_than_expected", None)]
RED = [
    # pytest id, unittest id, what is said, file, line, outcome, phase
    ("test_cart.py::test_red", "", "escape", "tests/test_cart.py", 8, "failed", "call"),
    ("test_cart.py::test_coupon", "", "KeyError: 'TWICE'", "cart.py", 5, "failed", "call"),
    ("test_cart.py::test_skipped", "", "later", "tests/test_cart.py", 11, "skipped", "setup"),
    ("test_cart.py::test_expected_to_fail", "", "expected to fail", "tests/test_cart.py", 14, "skipped", "call"),
    ("test_cart.py::test_setup", "", "no cart", "tests/test_cart.py", 18, "error", "setup"),
    ("test_cart.py::test_teardown", "", "no end", "tests/test_cart.py", 23, "error", "teardown"),
    ("test_import.py::test_x", "", "refund", "tests/test_import.py", 1, "error", "collect"),
    ("test_import.py::*", "", "refund", "tests/test_import.py", 1, "error", "collect"),
    ("test_syntax.py::test_x", "", "SyntaxError", "tests/test_syntax.py", 1, "error", "collect"),
    ("test_left_out.py::test_x", "", "not here", "tests/test_left_out.py", 2, "skipped", "collect"),
    ("", "test_case.CartTest.test_red", "1 != 2", "tests/test_case.py", 5, "failed", "call"),
    ("", "test_case.CartTest.test_error", "KeyError: 'x'", "tests/test_case.py", 6, "failed", "call"),
    ("", "test_case.CartTest.test_skipped", "later", "", None, "skipped", "call"),
    ("", "test_case.CartTest.test_expected_to_fail", "expected to fail", "tests/test_case.py", 10, "skipped", "call"),
    ("", "test_case.CartTest.test_better_than_expected", "and passed", "", None, "failed", "call"),
    ("", "test_case.CartTest.test_parts", "1 == 1", "tests/test_case.py", 16, "failed", "call"),
    ("", "test_case.BrokenTest.test_x", "no class", "tests/test_case.py", 19, "error", "setup"),
    ("", "test_case.LeavingTest.test_x", "no end", "tests/test_case.py", 23, "error", "teardown"),
    ("", "test_import.X.test_x", "refund", "tests/test_import.py", 1, "error", "collect"),
    ("", "test_syntax::*", "SyntaxError", "tests/test_syntax.py", 1, "error", "collect"),
]
MISSING = [
    "tests/test_cart.py::test_none", "tests/test_none.py::test_x", "tests/test_cart.py::test_total[*]",
    "tests.test_case.CartTest.test_none", "tests.test_case.NoneTest.test_x", "tests.test_none.X.test_x", "none.none",
]  # fmt: skip


def _full(pytest_id: str, dotted: str | None) -> str:
    return f"tests/{pytest_id}" if pytest_id else f"tests.{dotted}"


@pytest.fixture(scope="module")
def cart(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """The verdict on every id of the sample, from one run for each runner."""
    ids = [_full(*one[:2]) for one in RED] + MISSING
    ids += [_full(one, None) for one, _ in GREEN] + [_full("", dotted) for _, dotted in GREEN if dotted]
    place = project(tmp_path_factory.mktemp("cart"), CART)
    return dict(zip(ids, check_all(place, *(f"tests: {one}" for one in ids)), strict=True))


@pytest.mark.parametrize(
    "test_id",
    [
        "tests/test_cart.py::test_total",
        "tests/test_cart.py::test_better_than_expected",
        "tests.test_case.CartTest.test_ok",
    ],
)
def test_an_id_that_was_seen_to_pass_is_green_though_others_are_red(cart: dict[str, Verdict], test_id: str) -> None:
    assert cart[test_id][:5] == ("green", (), (), (), (test_id,))


@pytest.mark.parametrize("row", RED, ids=lambda row: row[0] or row[1])
def test_an_id_that_did_not_pass_says_why_and_where(
    cart: dict[str, Verdict], row: tuple[str, str, str, str, int | None, str, str]
) -> None:
    test_id = _full(*row[:2])
    verdict = cart[test_id]
    (red,) = verdict.red
    assert (verdict.run, verdict.missing, codes(verdict)) == ("red", (), ["check.red"])
    assert row[2] in red.says
    assert (red.id, red.file, red.line, red.outcome, red.phase) == (test_id, *row[3:])
    assert (verdict.reasons[0].file, verdict.reasons[0].line) == (red.file, red.line)


@pytest.mark.parametrize("test_id", MISSING)
def test_an_id_that_was_not_reported_is_missing(cart: dict[str, Verdict], test_id: str) -> None:
    assert (cart[test_id].run, codes(cart[test_id]), cart[test_id].missing) == ("red", ["ids.missing"], (test_id,))
    assert test_id in cart[test_id].reasons[0].says


def test_real_characters_only_are_kept_of_what_a_test_says(cart: dict[str, Verdict]) -> None:
    says = cart["tests/test_cart.py::test_red"].red[0].says
    assert "\x1b[31m and \\udcff" in says
    assert says.encode("utf-8")


# Planning


def test_criteria_share_a_run_wherever_they_can() -> None:
    planned = plan(
        {
            "AC1": [parse("tests: a.py::x"), parse("run: make")],
            "AC2": [parse('tests: ["a.py::y", "a.py::x", "m.C.x"]'), parse("a word"), parse("file: x")],
            "AC3": [parse("run: make"), parse("run: pytest -q")],
            "AC4": [parse("a word")],
            "AC5": [parse("coverage: 80"), parse("tests: a.py::z")],
        }
    )
    steps = (
        Step("pytest", (), ("a.py::x", "a.py::y")),
        Step("unittest", (), ("m.C.x",)),
        Step("exit", ("make",), ()),
        Step("pytest", ("pytest", "-q"), ()),
    )
    parts = {
        "AC1": (Part(0, ("a.py::x",)), Part(2, ())),
        "AC2": (Part(0, ("a.py::y", "a.py::x")), Part(1, ("m.C.x",))),
        "AC3": (Part(2, ()), Part(3, ())),
        "AC4": (),
    }
    assert planned[:2] == (steps, parts)
    assert {criterion: refusal.code for criterion, refusal in planned.refused.items()} == {"AC5": "check.unsupported"}


def test_a_criterion_holds_when_all_its_runs_do(tmp_path: Path) -> None:
    place = project(tmp_path, {"test_a.py": "def test_x(): pass\n"})
    planned = plan(
        {
            "both": [parse("tests: test_a.py::test_x"), parse("run: true")],
            "one": [parse("tests: test_a.py::test_x"), parse("run: false")],
        }
    )
    results = [execute(step, place, VARIABLES) for step in planned.steps]
    assert verdict_of(planned, "both", results).green
    assert codes(verdict_of(planned, "one", results)) == ["check.red"]


def test_a_criterion_that_nothing_ran_for_is_not_green() -> None:
    assert codes(verdict_of(Plan((), {"AC1": ()}, {}), "AC1", [])) == ["check.no_tests"]


# Commands


@pytest.mark.parametrize(
    ("entry", "run", "found"),
    [
        ("run: true", "green", []),
        ("run: sh -c 'echo no cart; exit 3'", "red", ["check.red"]),
        ("run: sh -c 'kill -9 $$'", "red", ["check.red"]),
        ("run: pytest -q tests/test_cart.py -k total", "green", []),
        ("run: python -m pytest tests/test_cart.py -k 'total or better'", "green", []),
        ("run: pytest tests/test_cart.py -k nosuch", "red", ["check.no_tests"]),
        ("run: pytest tests/test_cart.py -k skipped", "red", ["check.no_tests"]),
        ("run: pytest tests/test_cart.py -k 'total or test_red'", "red", ["check.red"]),
        ("run: pytest --no-such-option", "red", ["check.no_tests"]),
        ("run: pytest tests/test_import.py", "red", ["check.red"]),
        ("run: python -m unittest tests.test_case.CartTest.test_ok", "green", []),
        ("run: python -m unittest -v tests.test_case.CartTest.test_red", "red", ["check.red"]),
        ("run: python -m unittest discover -s none -t .", "red", ["check.no_tests"]),
        ("run: python -m unittest discover -p 'nosuch*.py'", "red", ["check.no_tests"]),
    ],
)
def test_a_command_is_green_by_its_status_and_by_the_tests_it_ran(
    tmp_path: Path, entry: str, run: str, found: list[str]
) -> None:
    verdict = check_one(project(tmp_path, CART), entry).verdict
    assert (verdict.run, codes(verdict)) == (run, found)


def test_a_red_command_says_its_status_and_its_last_words(tmp_path: Path) -> None:
    verdict = check_one(project(tmp_path, {}), "run: sh -c 'echo error: no cart; echo bye; exit 3'").verdict
    assert verdict.reasons[0].says == "it exited with status 3: error: no cart"


def test_a_status_that_no_red_test_explains_is_red(tmp_path: Path) -> None:
    conftest = "def pytest_sessionfinish(session): session.exitstatus = 9\n"
    place = project(tmp_path, {"conftest.py": conftest, "test_a.py": "def test_x(): pass\n"})
    verdict = check_one(place, "tests: test_a.py::test_x").verdict
    assert (codes(verdict), verdict.passed) == (["check.red"], ("test_a.py::test_x",))
    assert "status 9" in verdict.reasons[0].says


# What is recorded of a run


def test_a_run_tells_its_facts(tmp_path: Path) -> None:
    result = check_one(project(tmp_path, CART), "tests: tests/test_cart.py::test_total")
    ran = result.ran
    assert (ran.runner, ran.command, ran.confined) == (
        "pytest",
        ("pytest", "tests/test_cart.py::test_total"),
        "unsandboxed",
    )
    assert (ran.status, ran.signal, ran.stopped, ran.strays) == (0, None, "", 0)
    assert "(.venv/bin/python)" in ran.python
    assert "pytest" in ran.python
    assert "1 passed" in ran.tail
    assert (ran.output_total, len(ran.output_digest)) == (len(ran.output), 64)
    assert ran.took_s > 0


def test_it_writes_nothing_into_the_tree(tmp_path: Path) -> None:
    place = project(tmp_path, CART)
    before = sorted(tmp_path.rglob("*"))
    check_all(place, "tests: tests/test_cart.py::test_total", "tests: tests.test_case.CartTest.test_ok", "run: pytest")
    assert sorted(tmp_path.rglob("*")) == before


def test_it_sees_few_variables_and_a_home_of_its_own(tmp_path: Path) -> None:
    result = check_one(project(tmp_path, {}), "run: sh -c 'env; ls -A $HOME $TMPDIR; touch $HOME/x $TMPDIR/y'")
    seen = dict(line.split("=", 1) for line in result.ran.tail.splitlines() if "=" in line)
    assert {*seen} - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH", "LANG", "HOME", "TMPDIR", "PYTHONDONTWRITEBYTECODE"}
    assert seen["PATH"] == f"{tmp_path}/.venv/bin:{VARIABLES['PATH']}"
    assert seen["HOME"] != seen["TMPDIR"]
    assert result.verdict.green
    assert not os.path.exists(os.path.dirname(seen["HOME"]))


def test_a_missing_program_and_a_missing_runner_are_refused(tmp_path: Path) -> None:
    place = project(tmp_path, {"test_a.py": "def test_x(): pass\n"})
    with pytest.raises(Refusal, match="no-such-program") as caught:
        check_one(place, "run: no-such-program")
    assert caught.value.code == "check.no_runner"
    bare = '#!/bin/sh\ncase "$*" in *"-m pytest"*) echo "No module named pytest"; exit 1;; *find_spec*) exit 1;; esac\n'
    program(tmp_path / ".venv/bin/python", bare)
    with pytest.raises(Refusal, match="pytest is not installed") as caught:
        check_one(place, "tests: test_a.py::test_x")
    assert caught.value.code == "check.no_runner"
    assert "-m pip install pytest" in caught.value.hint


def test_a_cancelled_check_is_no_verdict(tmp_path: Path) -> None:
    step = Step("exit", ("sleep", "600"), ())
    with pytest.raises(Refusal) as caught:
        execute(step, project(tmp_path, {}), VARIABLES, cancelled=lambda: True)
    assert caught.value.code == "interrupted"


# Unruly programs


def test_a_test_that_hangs_is_named(tmp_path: Path) -> None:
    text = """
        import pathlib, time
        def test_ok(): pass
        def test_hang():
            pathlib.Path("hanging").touch()
            time.sleep(600)
    """
    place = project(tmp_path, {"test_a.py": text})

    def launch(*words: Any, **more: Any) -> Finished:
        """The real thing; its time is over as soon as the test hangs."""
        more["cancelled"] = (tmp_path / "hanging").exists
        return run(*words, **more)._replace(stopped="time")

    verdict = execute(Step("pytest", (), ("test_a.py::*",)), place, VARIABLES, launch=launch).verdict
    assert codes(verdict) == ["check.timeout", "check.red"]
    assert "time limit of 600 s, while test_a.py::test_hang was running" in verdict.reasons[0].says
    assert [red.id for red in verdict.red] == ["test_a.py::test_hang"]


def test_a_gigabyte_of_output_is_ended(tmp_path: Path) -> None:
    result = check_one(project(tmp_path, {}), "run: sh -c 'yes | head -c 1000000000'")
    assert codes(result.verdict) == ["check.timeout"]
    assert "more than 20 MB" in result.verdict.reasons[0].says
    assert len(result.ran.output) < 300_000


@pytest.mark.parametrize(
    "body",
    [
        "open('/dev/tty')",
        "assert input()",
    ],
)
def test_a_test_that_wants_somebody_at_the_keyboard_is_red(tmp_path: Path, body: str) -> None:
    place = project(tmp_path, {"test_a.py": f"def test_x(): {body}\n", "pytest.ini": "[pytest]\naddopts = -s\n"})
    verdict = check_one(place, "tests: test_a.py::test_x").verdict
    assert codes(verdict) == ["check.red"]
    assert verdict.red[0].outcome == "failed"


def test_output_that_is_no_text_and_acts_on_terminals_is_kept_as_it_is(tmp_path: Path) -> None:
    result = check_one(project(tmp_path, {}), r"run: printf '\033[2J\033]0;title\a\377\376'")
    assert result.verdict.green
    assert result.ran.output == b"\x1b[2J\x1b]0;title\x07\xff\xfe"
    assert result.ran.tail.endswith("\\xff\\xfe")


def test_a_process_that_a_test_forked_says_nothing(tmp_path: Path) -> None:
    text = """
        import os
        def test_x():
            if os.fork() == 0:
                assert 0  # and goes on as a second pytest, to its own end
            assert os.wait()[1] != 0
        def test_y(): pass
    """
    verdict = check_one(project(tmp_path, {"test_a.py": text}), "tests: test_a.py::*").verdict
    assert (verdict.run, verdict.seen) == ("green", 2)


def test_a_server_that_a_test_left_running_is_ended(tmp_path: Path) -> None:
    text = "import subprocess\ndef test_x(): subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
    result = check_one(project(tmp_path, {"test_a.py": text}), "tests: test_a.py::test_x")
    assert (result.verdict.green, result.ran.strays) == (True, 1)


# Dishonest projects

RED_TEST = "def test_x(): assert 0\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"conftest.py": "import os; os._exit(0)\n"}, ["check.no_tests", "ids.missing"]),
        (
            {"conftest.py": "import os\ndef pytest_collection_finish(): os._exit(0)\n"},
            ["check.no_tests", "ids.missing"],
        ),
        ({"conftest.py": "import os\ndef pytest_runtest_setup(): os._exit(0)\n"}, ["check.red"]),
        ({"conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 0\n"}, ["check.red"]),
        ({"conftest.py": "import os\ndef pytest_sessionfinish(): os._exit(0)\n"}, ["check.red"]),
        ({"conftest.py": "import os\ndef pytest_unconfigure(): os._exit(0)\n"}, ["check.red"]),
        (
            {"conftest.py": "def pytest_collection_modifyitems(items): items.clear()\n"},
            ["check.no_tests", "ids.missing"],
        ),
        ({"pytest.ini": "[pytest]\naddopts = -k nosuch\n"}, ["check.no_tests", "ids.missing"]),
        ({"pytest.ini": "[pytest]\naddopts = --collect-only\n"}, ["check.no_tests", "ids.missing"]),
        ({"pytest.ini": "[pytest]\naddopts = --ignore=test_a.py\n"}, ["check.red"]),
        ({"test_a.py": "import pytest\n@pytest.mark.xfail\ndef test_x(): assert 0\n"}, ["check.red"]),
        ({"test_a.py": "import pytest\npytest.importorskip('nosuch')\ndef test_x(): pass\n"}, ["check.red"]),
        ({"test_a.py": "import pytest\ndef test_x(): pytest.exit('done', 0)\n"}, ["check.red"]),
    ],
)
def test_a_project_that_ends_well_without_passing_gains_nothing(
    tmp_path: Path, files: dict[str, str], found: list[str]
) -> None:
    report = '<testsuite tests="1" failures="0"><testcase classname="test_a" name="test_x"/></testsuite>'
    place = project(tmp_path, {"test_a.py": RED_TEST, "junit.xml": report, "report.xml": report, **files})
    verdict = check_one(place, "tests: test_a.py::test_x").verdict
    assert codes(verdict) == found
    assert verdict.passed == ()


def test_a_run_that_breaks_off_after_the_wanted_tests_is_no_proof(tmp_path: Path) -> None:
    text = "import os\ndef test_x(): pass\ndef teardown_module(): os._exit(0)\n"
    verdict = check_one(project(tmp_path, {"test_a.py": text}), "tests: test_a.py::test_x").verdict
    assert (codes(verdict), verdict.run) == (["check.unreadable"], "red")


def test_a_command_whose_red_tests_end_well_is_red(tmp_path: Path) -> None:
    conftest = "def pytest_sessionfinish(session): session.exitstatus = 0\n"
    result = check_one(project(tmp_path, {"conftest.py": conftest, "test_a.py": RED_TEST}), "run: pytest")
    assert (result.ran.status, codes(result.verdict)) == (0, ["check.red"])


def test_a_report_that_somebody_spoilt_is_unreadable(tmp_path: Path) -> None:
    text = """
        import gc, os
        def test_x():
            channel = next(one for one in gc.get_objects() if type(one).__name__ == "Channel" and hasattr(one, "_fd"))
            os.write(channel._fd, b"no row\\n")
    """
    verdict = check_one(project(tmp_path, {"test_a.py": text}), "tests: test_a.py::test_x").verdict
    assert codes(verdict)[0] == "check.unreadable"


def test_a_test_that_closes_the_channel_proves_nothing_and_gets_no_row_of_ours(tmp_path: Path) -> None:
    text = """
        import os
        HELD = []
        def test_x():
            os.closerange(3, 100)
            HELD.extend(os.open("own", os.O_RDWR | os.O_CREAT | os.O_APPEND) for _ in range(97))
    """
    place = project(tmp_path, {"test_a.py": text, "pytest.ini": "[pytest]\naddopts = -s\n"})
    assert codes(check_one(place, "tests: test_a.py::test_x").verdict) == ["check.red"]
    assert (tmp_path / "own").read_bytes() == b""


def test_a_unittest_that_ends_the_run_well_gains_nothing(tmp_path: Path) -> None:
    text = "import os, unittest\nclass X(unittest.TestCase):\n    def test_x(self): os._exit(0)\n"
    place = project(tmp_path, {"test_a.py": text, "test_b.py": "import os; os._exit(0)\n"})
    assert codes(check_one(place, "tests: test_a.X.test_x").verdict) == ["check.red"]
    assert codes(check_one(place, "tests: test_b.X.test_x").verdict) == ["check.no_tests", "ids.missing"]
