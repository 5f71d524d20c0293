"""Holds what the settings say about how a check is run: which variables it gets, by which command test ids are run,
and that a command which starts no runner that is known is refused by name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tallystick.errors import Refusal
from tallystick.evidence.checks import CheckPlace, CheckResult, Step, execute
from tallystick.evidence.environment import check_environment
from tallystick.evidence.origin import of_requirements
from tallystick.evidence.runners import RUNNERS, project_runner
from tallystick.settings import ProjectTests, Settings, Verify
from tests.unit.evidence.samples import VARIABLES, codes, program, project

SETTINGS = Settings()
TESTS = {
    "test_a.py": "def test_ok(): pass\ndef test_red(): assert 0\n",
    "test_b.py": "import unittest\nclass B(unittest.TestCase):\n    def test_ok(self): pass\n",
}
#: A launcher as package managers have one: it says that it was there, then starts what it is told.
LAUNCHER = '#!/bin/sh\nshift\n: > launched\nexec "$@"\n'


def variables(verify: Verify, given: dict[str, str]) -> dict[str, str]:
    return check_environment(given, "/p/shop", "/t/home", "/t/tmp", verify)


def test_variables_that_are_named_are_let_through_and_others_are_not() -> None:
    given = {"PATH": "/bin", "LANG": "C", "LC_ALL": "C.UTF-8", "TOKEN": "t", "OTHER": "o", "HOME": "/me"}
    usual = {"HOME": "/t/home", "TMPDIR": "/t/tmp", "PYTHONDONTWRITEBYTECODE": "1"}
    assert variables(Verify(), given) == {"PATH": "/bin", "LANG": "C", "LC_ALL": "C.UTF-8", **usual}
    assert variables(Verify(env=("PATH", "TOKEN", "ABSENT")), given) == {"PATH": "/bin", "TOKEN": "t", **usual}


def test_variables_that_are_set_win_and_the_folders_of_a_check_stay_its_own() -> None:
    found = variables(Verify(set={"LANG": "de", "CI": "1", "PATH": "/opt"}), {"PATH": "/bin", "LANG": "C"})
    assert (found["LANG"], found["CI"], found["PATH"], found["HOME"]) == ("de", "1", "/opt", "/t/home")


def run(place: CheckPlace, runner: str, command: tuple[str, ...], *ids: str, path: str = "") -> CheckResult:
    verify = Verify(set={"PYTHONPATH": path} if path else {})
    settings = Settings(tests=ProjectTests(command), verify=verify)
    return execute(Step(runner, (), ids), place, VARIABLES, settings=settings)


def test_a_python_path_that_is_set_is_kept_behind_ours(tmp_path: Path) -> None:
    files = {"lib/deep/inside.py": "", "test_a.py": "def test_x():\n    import inside\n"}
    place = project(tmp_path, files)
    assert not run(place, "pytest", (), "test_a.py::test_x").verdict.green
    assert run(place, "pytest", (), "test_a.py::test_x", path="lib/deep").verdict.green


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("uv run pytest", "pytest"),
        ("uv run --frozen --with pytest pytest -q", "pytest"),
        ("poetry run python -m pytest -q", "pytest"),
        ("coverage run -m pytest", "pytest"),
        (".venv/bin/python -m pytest", "pytest"),
        ("pytest", "pytest"),
        ("uv run python -m unittest", "unittest"),
        ("python3 -m unittest", "unittest"),
        ("cargo test --features vat", "cargo"),
        ("go test -tags vat ./...", "go"),
        ("npx vitest run --config web.ts", "vitest"),
        ("npx --no-install jest", "jest"),
    ],
)
def test_the_runner_of_a_command_is_known(command: str, runner: str) -> None:
    settings = Settings(tests=ProjectTests(tuple(command.split())))
    found = project_runner(settings.tests.command)
    assert found.name == runner
    ids = {"pytest": "t.py::test_x", "unittest": "t.T.test_x"}.get(runner, found.form)
    assert list(of_requirements([f"tests: {ids}"], settings)) == [], "the trusted command runs them"


@pytest.mark.parametrize(
    "command", ["make test", "tox -e pytest", "npm test", "uv sync", "python3 -m unittest discover"]
)
def test_a_command_that_starts_no_runner_is_refused_by_name(command: str) -> None:
    with pytest.raises(Refusal) as caught:
        project_runner(tuple(command.split()))
    assert caught.value.code == "check.no_runner"
    assert f"tests.command in .tallystick/config.toml is `{command}`" in caught.value.message


@pytest.mark.requirement("P13")
def test_ids_of_another_runner_than_the_commands_still_need_trust_for_theirs() -> None:
    settings = Settings(tests=ProjectTests(("pytest",)))
    found = list(of_requirements(["tests: ./cart::TestTotal", "tests: test_a.py::test_x"], settings))
    assert [one.argv for one in found] == [("go",)]


def test_ids_are_run_by_the_projects_own_command(tmp_path: Path) -> None:
    place = project(tmp_path, TESTS)
    program(tmp_path / ".venv/bin/uv", LAUNCHER)
    green = run(place, "pytest", ("uv", "run", "pytest", "-q"), "test_a.py::test_ok")
    assert (green.verdict.green, green.ran.command) == (True, ("uv", "run", "pytest", "-q", "test_a.py::test_ok"))
    assert (tmp_path / "launched").exists()
    assert codes(run(place, "pytest", ("uv", "run", "pytest", "-x"), "test_a.py::*").verdict) == ["check.red"]
    (tmp_path / "launched").unlink()
    by_unittest = run(place, "unittest", ("uv", "run", "python", "-m", "unittest"), "test_b.B.test_ok")
    assert (by_unittest.verdict.green, (tmp_path / "launched").exists()) == (True, True)


def test_ids_of_another_runner_are_run_without_the_command(tmp_path: Path) -> None:
    found = run(project(tmp_path, TESTS), "unittest", ("uv", "run", "pytest"), "test_b.B.test_ok")
    assert (found.verdict.green, found.ran.command) == (True, ("unittest", "test_b.B.test_ok"))


def test_a_command_of_cargo_go_or_node_keeps_its_words_and_gets_the_ids(tmp_path: Path) -> None:
    def words(name: str, command: str, *ids: str) -> str:
        by_command = RUNNERS[name].by_command
        assert by_command is not None
        found = by_command(tuple(command.split()), ids, str(tmp_path), "/t/carried")
        assert found is not None
        return " ".join(found.argv)

    assert words("cargo", "cargo +nightly test -p cart --quiet -- --nocapture", "shop::tests::total") == (
        "cargo +nightly test -p cart --no-fail-fast --tests -- --exact tests::total"
    )
    assert words("go", "go test -tags vat ./...", "./cart::TestTotal").endswith(
        "go -count=1 -tags vat -run ^(TestTotal)$ ./cart"
    )
    vitest = words("vitest", "npx vitest run --config web.ts", "a.test.ts > x")
    assert vitest.startswith("node node_modules/vitest/vitest.mjs run --retry=0")
    assert "--config web.ts" in vitest
    assert "--testNamePattern=^(x)$ a.test.ts --reporter=default" in vitest


def test_a_python_that_lies_in_the_copy_alone_is_found_there(tmp_path: Path) -> None:
    """What `verify.setup` makes lies in the copy; the check sees it at the tree's own place."""
    copy = project(tmp_path / "copy", {"test_a.py": "def test_ok(): pass\n"})
    (tmp_path / "seen").mkdir()
    place = CheckPlace(str(tmp_path / "seen"), copy=copy.root)
    asked: list[tuple[str, ...]] = []

    def launch(argv: tuple[str, ...], *_: object, **__: object) -> object:
        asked.append(argv)
        raise Refusal("interrupted", "far enough")

    with pytest.raises(Refusal, match="far enough"):
        execute(Step("pytest", (), ("test_a.py::test_ok",)), place, {"PATH": sys.prefix}, launch=launch)  # type: ignore[arg-type]
    assert asked[0][0] == f"{tmp_path}/seen/.venv/bin/python"
