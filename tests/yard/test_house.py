"""Holds the house rules that no linter knows: sizes, docstrings, honest tests, names, words, and the doors that README
and the server's script promise."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.yard.source import ROOT, Module, assert_none, called, imports, read
from yard.groups import GROUPS
from yard.probes import PROBES

MODULE_LINES, TEST_LINES, FUNCTION_LINES = 400, 600, 60
#: What is carried into a check stands alone there: the reporters say the same things about exceptions, each by itself.
CARRIED, CARRIED_LINES = ("pytest_plugin.py", "unittest_reporter.py", "recorder.py"), 450
TRACKED_BYTES = 500_000
ROOMS_WITHOUT_A_PURPOSE = {"utils", "util", "helpers", "helper", "manager", "managers", "common", "misc", "stuff"}
README_COMMANDS = ("python3 dev.py try", "python3 dev.py test")

ASSERTING = re.compile(r"assert|raises|warns|expect|check|verify|approx|same|holds", re.I)
#: Calls that make a test depend on the clock, on luck, or on the inside of what it tests.
NOT_IN_TESTS = {
    "time.sleep": "wait for the event",
    "pytest.importorskip": "declare the need with a marker",
    "monkeypatch.setattr": "hand a fake in",
    "monkeypatch.delattr": "hand a fake in",
}
NOT_IMPORTED_IN_TESTS = {"unittest.mock", "mock"}

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:root|srv|work|Users/\w+|home/\w+)[/\w.\-]*")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
NUMBERED = re.compile(r"\b(?:issue|ticket|PR) #?\d+\b", re.I)
DESTRUCTIVE = re.compile(
    r"\brm -r|\bgit (?:reset --hard|clean|checkout --|push --force)|--force\b|\bsudo\b|\bchmod 777"
)


def _files() -> list[Path]:
    """Every file that is or would be tracked."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def _text(path: Path) -> str:
    data = path.read_bytes()
    return "" if b"\0" in data else data.decode("utf-8", errors="replace")


def _modules(*places: str) -> list[Module]:
    found = [path for place in places for path in sorted((ROOT / place).rglob("*.py"))]
    return [read(path) for path in found if ".dev" not in path.parts]


PRODUCT = _modules("src", "yard")
TESTS = _modules("tests")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _tests(module: Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node


def _polling(module: Module) -> set[ast.AST]:
    """The sleeps inside a `while`: they look again and again for an event that nobody announces."""
    loops = [node for node in ast.walk(module.tree) if isinstance(node, ast.While)]
    return {node for loop in loops for node in ast.walk(loop) if called(node) == "time.sleep"}


def _public(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    for node in body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and not node.name.startswith("_"):
            yield node


def test_a_file_is_one_room() -> None:
    lengths = [
        (one.path, one.text.count("\n"), CARRIED_LINES if str(one.path).endswith(CARRIED) else MODULE_LINES)
        for one in PRODUCT
    ]
    lengths += [(module.path, module.text.count("\n"), TEST_LINES) for module in TESTS]
    assert_none([f"{path}: {lines} lines" for path, lines, most in lengths if lines > most])


def test_a_function_fits_on_a_screen() -> None:
    long = [
        f"{module.path}:{node.lineno}: {node.name} has {node.end_lineno - node.lineno + 1} lines"
        for module in PRODUCT
        for node in ast.walk(module.tree)
        if isinstance(node, FUNCTIONS) and node.end_lineno and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
    ]
    assert_none(long)


def test_everything_public_says_what_it_is_for() -> None:
    silent = [
        f"{module.path}:{node.lineno}: {node.name}"
        for module in PRODUCT
        for node in _public(module.tree.body)
        if ast.get_docstring(node) is None
    ]
    silent += [
        f"{module.path}:1" for module in [*PRODUCT, *TESTS] if module.text and not ast.get_docstring(module.tree)
    ]
    assert_none(silent)


def test_no_room_is_named_after_nothing() -> None:
    names = {path.relative_to(ROOT).as_posix(): {*path.relative_to(ROOT).parts, path.stem} for path in _files()}
    assert [path for path, parts in names.items() if parts & ROOMS_WITHOUT_A_PURPOSE] == []


def test_every_test_can_fail() -> None:
    idle = [
        f"{module.path}:{test.lineno}: {test.name} asserts nothing"
        for module in TESTS
        for test in _tests(module)
        if not any(
            isinstance(node, (ast.Assert, ast.Raise))
            or (isinstance(node, ast.Call) and ASSERTING.search(called(node).rpartition(".")[2]))
            for node in ast.walk(test)
        )
    ]
    assert_none(idle)


def test_no_test_sleeps_patches_or_guesses() -> None:
    astray = [
        f"{module.path}:{node.lineno}: {called(node)}: {NOT_IN_TESTS[called(node)]}"
        for module in TESTS
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and called(node) in NOT_IN_TESTS and node not in _polling(module)
    ]
    astray += [
        f"{module.path}:{found.line}: {found.name}: hand a fake in"
        for module in TESTS
        for found in imports(module)
        if found.name in NOT_IMPORTED_IN_TESTS
    ]
    assert_none(astray)


def test_every_need_of_a_test_has_a_probe() -> None:
    needs = {need for group in GROUPS for need in group.needs}
    for module in TESTS:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and called(node) == "pytest.mark.needs":
                needs |= {ast.literal_eval(one) for one in node.args if not isinstance(one, ast.Starred)}
    assert needs - set(PROBES) == set()


def test_every_test_lies_in_one_group() -> None:
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").rglob("test_*.py")}
    assert folders == {group.name for group in GROUPS}


@pytest.mark.parametrize("rule", [MACHINE_PATH, UNFINISHED, NUMBERED], ids=["machine path", "unfinished", "numbered"])
def test_no_file_holds(rule: re.Pattern[str]) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in _files()
        for number, line in enumerate(_text(path).splitlines(), 1)
        if (match := rule.search(line)) and "://" not in line and path != Path(__file__)
    ]
    assert_none(found)


def test_no_message_suggests_anything_destructive() -> None:
    found = [
        f"{module.path}:{node.lineno}: {match[0]}"
        for module in _modules("src")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and (match := DESTRUCTIVE.search(node.value))
    ]
    assert_none(found)


def test_no_tracked_file_is_large() -> None:
    large = [
        f"{path.relative_to(ROOT)}: {size:,}" for path in _files() if (size := path.stat().st_size) > TRACKED_BYTES
    ]
    assert_none(large)


@pytest.mark.parametrize("command", README_COMMANDS)
def test_the_readme_names_the_command(command: str) -> None:
    readme = ROOT / "README.md"
    assert readme.is_file(), "README.md is missing"
    assert command in readme.read_text(encoding="utf-8")


def test_the_server_runs_the_readmes_own_test_command_last() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert README_COMMANDS[1] in script.rstrip().splitlines()[-1]
    assert subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], capture_output=True).stderr == b""
