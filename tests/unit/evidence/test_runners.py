"""Holds how a project's runner is found and started, how test ids are compared, and how a report is read."""

from __future__ import annotations

import ast
import importlib.resources
import sys
from pathlib import Path

import pytest

from tallystick.canonical import encode
from tallystick.errors import Refusal
from tallystick.evidence.project import project_tree
from tallystick.evidence.runners import RUNNERS, find_runner, runner_for_command, runner_for_ids
from tallystick.evidence.runners.base import Interpreter
from tallystick.evidence.runners.pytest_runner import ids_command
from tallystick.evidence.runners.python import find_interpreter
from tallystick.evidence.runners.report import Report, read
from tallystick.evidence.selectors import base, covers, in_scope
from tallystick.system.files import OsFiles
from tests.unit.evidence.samples import check_all, project

# Ids and selectors


@pytest.mark.parametrize(
    ("selector", "test_id", "covered"),
    [
        ("a.py::x", "a.py::x", True),
        ("a.py::x", "a.py::xy", False),
        ("a.py::x", "a.py::x[1]", False),
        ("a.py::*", "a.py::x", True),
        ("a.py::*", "a.py::C::x[1]", True),
        ("a.py::*", "sub/a.py::x", False),
        ("a.py::*", "aa.py::x", False),
        ("a.py::C::*", "a.py::C::x", True),
        ("a.py::C::*", "a.py::Cx::x", False),
        ("a.py::x[*]", "a.py::x[1-2]", True),
        ("a.py::x[*]", "a.py::x", False),
        ("a.py::x[*]", "a.py::xy[1]", False),
        ("a.b::*", "a.b.C.x", True),
        ("a.b::*", "a.bc.C.x", False),
        ("::*", "a.py::x", False),
    ],
)
def test_a_selector_covers_the_ids_below_it_and_no_other(selector: str, test_id: str, covered: bool) -> None:
    assert covers(selector, test_id) is covered


def test_a_star_needs_something_before_it() -> None:
    assert (base("a.py::*"), base("a.py::x[*]"), base("a.py::x"), base("::*"), base("[*]")) == (
        "a.py",
        "a.py::x",
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("scope", "wanted", "inside"),
    [
        ("a.py", "a.py::x", True),
        ("a.py", "a.py::*", True),
        ("a.py::C", "a.py::*", True),
        ("a.py::C", "a.py::C::x", True),
        ("a.py::C", "a.py::D::x", False),
        ("tests", "tests/a.py::x", True),
        ("tests", "tests2/a.py::x", False),
        (".", "a.py::x", True),
        ("tests.a", "tests.a.C.x", True),
        ("tests.a", "tests.ab.C.x", False),
    ],
)
def test_a_scope_speaks_for_what_lies_in_it(scope: str, wanted: str, inside: bool) -> None:
    assert in_scope(scope, wanted) is inside


# Finding and starting


@pytest.mark.parametrize(
    ("name", "text", "runner"),
    [
        ("pytest.ini", "", "pytest"),
        ("tests/conftest.py", "", "pytest"),
        ("pyproject.toml", "[tool.pytest.ini_options]\n", "pytest"),
        ("setup.cfg", "[tool:pytest]\n", "pytest"),
        ("tests/test_a.py", "def test_x(): pass\n", "pytest"),
        ("tests/a_test.py", "import pytest\n", "pytest"),
        ("tests/test_a.py", "from unittest import TestCase\n", "unittest"),
        ("tests.py", "import unittest\n", "unittest"),
        ("pyproject.toml", "[project]\n", None),
        ("src/cart.py", "import unittest\n", None),
        ("node_modules/x/test_a.py", "import pytest\n", None),
        (".hidden/test_a.py", "import pytest\n", None),
    ],
)
def test_the_runner_is_found_by_what_lies_in_the_project(
    tmp_path: Path, name: str, text: str, runner: str | None
) -> None:
    project(tmp_path, {name: text}, venv=False)
    found = find_runner(project_tree(OsFiles(), str(tmp_path)))
    assert (found.name if found else None) == runner


def test_links_and_unreadable_files_find_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").symlink_to(__file__)
    (tmp_path / "test_big.py").write_bytes(b"import pytest\n" + b"#" * 1_000_001)
    (tmp_path / "loop").symlink_to(tmp_path)
    found = project_tree(OsFiles(), str(tmp_path))
    assert (found.names, found.read("test_big.py"), found.read("none.py")) == (("test_big.py",), None, None)


def test_the_form_of_an_id_tells_its_runner() -> None:
    ids = ["tests/test_a.py::test_x", "tests.test_a.Case.test_x", "README.md::README.md", "tests.test_a::*"]
    assert runner_for_ids(ids, None) == {"pytest": [ids[0], ids[2]], "unittest": [ids[1], ids[3]]}


@pytest.mark.parametrize("test_id", ["test_total", "tests/test_a.py", "suite > does it", "a..b", "::x"])
def test_an_id_in_no_known_form_is_refused_with_the_projects_own_form(test_id: str) -> None:
    with pytest.raises(Refusal) as caught:
        runner_for_ids([test_id], RUNNERS["unittest"])
    assert caught.value.code == "check.no_runner"
    assert test_id in caught.value.message
    assert RUNNERS["unittest"].form in caught.value.hint
    assert RUNNERS["pytest"].form not in caught.value.hint


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("pytest -q", "pytest"),
        (".venv/bin/pytest", "pytest"),
        ("python -m pytest tests", "pytest"),
        ("python3.12 -m pytest", "pytest"),
        ("python3 -m unittest discover", "unittest"),
        ("python -I -m pytest", "exit"),
        ("python pytest.py", "exit"),
        ("tox -- pytest", "exit"),
        ("make", "exit"),
    ],
)
def test_a_command_is_its_runners_only_where_that_is_plain(command: str, runner: str) -> None:
    assert runner_for_command(tuple(command.split())).name == runner


def test_a_frozen_command_keeps_its_own_words_in_their_order() -> None:
    command = RUNNERS["pytest"].wrapped(("python", "-m", "pytest", "-k", "cart"), "/own")
    assert command is not None
    assert command.argv[:3] == ("python", "-m", "pytest")
    assert command.argv[-2:] == ("-k", "cart")
    assert command.env == {"PYTHONPATH": "/own"}


def test_files_that_are_not_there_keep_no_other_from_running(tmp_path: Path) -> None:
    project(tmp_path, {"a.py": "", "@b.py": ""}, venv=False)

    def argv(*ids: str) -> tuple[str, ...]:
        return ids_command(Interpreter("python", ""), ids, str(tmp_path), "/own").argv

    assert argv("a.py::x", "none.py::x", "@b.py::x", "a.py::y")[-2:] == ("a.py", "./@b.py")
    assert argv("none.py::x")[-1] == "none.py"


def test_the_projects_own_python_comes_first(tmp_path: Path) -> None:
    elsewhere = tmp_path / "bin"
    project(tmp_path, {"bin/python3": "#!/bin/sh\n"}, venv=False)
    (elsewhere / "python3").chmod(0o755)
    assert find_interpreter(str(tmp_path), str(elsewhere)) == Interpreter(f"{elsewhere}/python3", "python3 on PATH")
    project(tmp_path, {})
    assert find_interpreter(str(tmp_path), str(elsewhere)) == Interpreter(
        f"{tmp_path}/.venv/bin/python", ".venv/bin/python"
    )


def test_no_python_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal) as caught:
        find_interpreter(str(tmp_path), str(tmp_path))
    assert caught.value.code == "check.no_runner"


# Reading a report


def rows(*said: dict[str, object]) -> Report:
    """The report of these rows."""
    return read(b"".join(encode(row) + b"\n" for row in said))


def part(test_id: str, phase: str, outcome: str, **more: object) -> dict[str, object]:
    """A row about a part of a test."""
    return {"row": "test", "id": test_id, "phase": phase, "outcome": outcome, **more}


@pytest.mark.parametrize(
    ("said", "outcome", "phase"),
    [
        ([("setup", "passed"), ("call", "passed"), ("teardown", "passed")], "passed", "call"),
        ([("setup", "passed"), ("call", "failed"), ("teardown", "passed")], "failed", "call"),
        ([("setup", "failed"), ("teardown", "passed")], "error", "setup"),
        ([("setup", "passed"), ("call", "passed"), ("teardown", "failed")], "error", "teardown"),
        ([("setup", "skipped"), ("teardown", "passed")], "skipped", "setup"),
        ([("setup", "passed"), ("call", "skipped"), ("teardown", "passed")], "skipped", "call"),
        ([("setup", "passed")], "unfinished", "setup"),
        ([("call", "failed"), ("call", "passed")], "failed", "call"),
        ([("call", "passed"), ("call", "failed")], "failed", "call"),
        ([("call", "rerun"), ("call", "passed")], "failed", "call"),
    ],
)
def test_a_test_is_as_good_as_its_worst_part(said: list[tuple[str, str]], outcome: str, phase: str) -> None:
    report = rows({"row": "start", "id": "t"}, *(part("t", *one) for one in said))
    assert (report.tests["t"].outcome, report.tests["t"].phase) == (outcome, phase)


def test_a_whole_report_is_read() -> None:
    report = rows(
        {"row": "begin", "runner": "pytest", "version": "9", "python": "3.12", "executable": "/p", "later": [1]},
        part("t", "call", "failed", type="KeyError", says="k", file="a.py", line=3, later={}),
        {"row": "start", "id": "u"},
        {"row": "scope", "id": "b.py", "phase": "collect", "outcome": "failed", "type": "ImportError", "line": -1},
        {"row": "end", "status": 1, "collected": 2},
    )
    assert (report.runner, report.version, report.python, report.executable) == ("pytest", "9", "3.12", "/p")
    assert report.tests["t"][1:7] == ("failed", "call", "KeyError", "k", "a.py", 3)
    assert (report.scopes[0].id, report.scopes[0].outcome, report.scopes[0].line) == ("b.py", "error", None)
    assert (report.ended, report.status, report.seen, report.running, report.unreadable) == (True, 1, 1, ("u",), "")


@pytest.mark.parametrize(
    "row",
    [
        b"no json", b"[]", b"1", b"{}", b'{"row":"test"}', b'{"row":"test","id":"","phase":"call","outcome":"passed"}',
        b'{"row":"test","id":"t","phase":"later","outcome":"passed"}', b'{"row":"test","id":"t","phase":"call"}',
        b'{"row":"other","id":"t"}', b'{"row":"test","id":"t","id":"u","phase":"call","outcome":"passed"}',
        b"\xff", b"",
    ],
)  # fmt: skip
def test_a_row_that_makes_no_sense_is_named(row: bytes) -> None:
    good = encode(part("t", "call", "passed")) + b"\n"
    report = read(good + row + b"\n" + good)
    assert report.unreadable.startswith("row 2 ")
    assert report.tests["t"].outcome == "passed"


def test_a_torn_last_row_is_a_run_that_was_cut_short() -> None:
    report = read(encode(part("t", "call", "passed")) + b'\n{"row":"te')
    assert (report.unreadable, report.ended, list(report.tests)) == ("", False, ["t"])
    assert read(b"") == Report({}, ())


# The plugin and the reporter themselves


def test_the_plugin_chooses_what_the_selectors_cover(tmp_path: Path) -> None:
    text = """
        import pytest
        @pytest.mark.parametrize("x", [1, "a b", "]"])
        def test_p(x): pass
        def test_pp(): pass
        class TestC:
            def test_1(self): pass
            class TestD:
                def test_2(self): pass
        class TestCC:
            def test_3(self): pass
    """
    place = project(tmp_path, {"a/test_a.py": text, "a/test_aa.py": text})
    entries = [f"tests: a/test_a.py::{one}" for one in ("test_p[*]", "test_p[a b]", "TestC::*", "test_pp")]
    verdicts = check_all(place, *entries)
    assert [len(verdict.passed) for verdict in verdicts] == [3, 1, 2, 1]
    assert {verdict.seen for verdict in verdicts} == {6}


def test_ids_count_from_the_project_wherever_pytest_finds_its_configuration(tmp_path: Path) -> None:
    place = project(tmp_path, {"part/pytest.ini": "[pytest]\n", "part/tests/test_a.py": "def test_x(): pass\n"})
    (verdict,) = check_all(place, "tests: part/tests/test_a.py::test_x")
    assert verdict.green


def test_what_the_whole_suite_is_run_with_does_not_bend_the_verdict_on_a_few(tmp_path: Path) -> None:
    ini = "[pytest]\naddopts = -x --lf --strict-markers -p no:terminal\n"
    text = "def test_red(): assert 0\ndef test_ok(): pass\n"
    place = project(tmp_path, {"pytest.ini": ini, "test_a.py": text, "test_b.py": "def test_ok(): pass\n"})
    red, ok, other = check_all(
        place, *(f"tests: {one}" for one in ("test_a.py::test_red", "test_a.py::test_ok", "test_b.py::test_ok"))
    )
    assert (red.green, ok.green, other.green) == (False, True, True)


def test_nothing_of_ours_reaches_the_programs_that_a_test_starts(tmp_path: Path) -> None:
    text = """
        import os, subprocess, sys
        def test_it():
            assert not [name for name in os.environ if name.startswith("TALLYSTICK")]
            code = "import os; print(sorted(int(fd) for fd in os.listdir('/dev/fd'))[:-1])"
            assert subprocess.check_output([sys.executable, "-c", code], close_fds=False) == b"[0, 1, 2]\\n"
    """
    place = project(tmp_path, {"test_a.py": text})
    (verdict,) = check_all(place, "tests: test_a.py::test_it")
    assert verdict.reasons == ()


@pytest.mark.parametrize("module", ["pytest_plugin", "unittest_reporter"])
def test_what_is_carried_is_one_file_of_old_python_and_loads_nothing_of_ours(module: str) -> None:
    text = importlib.resources.files("tallystick.evidence.runners").joinpath(f"{module}.py").read_text(encoding="utf-8")
    parsed = ast.parse(text, feature_version=(3, 8))
    loaded = {node.module or "" for node in ast.walk(parsed) if isinstance(node, ast.ImportFrom)}
    loaded |= {alias.name for node in ast.walk(parsed) if isinstance(node, ast.Import) for alias in node.names}
    assert {name.partition(".")[0] for name in loaded} <= sys.stdlib_module_names | {"pytest"}
