"""Holds how vitest and jest are found and started, and the forms of their ids. What their reporter says of real runs
stands in `tests/real/test_other_runners.py`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tallystick.errors import Refusal
from tallystick.evidence.runners import find_runner, runner_for_command, runner_for_ids
from tallystick.evidence.runners.base import Interpreter, Runner, Tree
from tallystick.evidence.runners.node_runner import JEST, VITEST, file_of
from tallystick.evidence.selectors import covers, in_scope
from tests.unit.evidence.samples import program, project

OWN = "/run/carried"
REPORTER = f"{OWN}/tallystick_node_reporter.mjs"


@pytest.mark.parametrize(
    ("name", "text", "runner"),
    [
        ("package.json", '{"devDependencies": {"vitest": "^3"}}', VITEST),
        ("package.json", '{"dependencies": {"jest": "*"}}', JEST),
        ("package.json", '{"jest": {}}', JEST),
        ("vitest.config.ts", "", VITEST),
        ("jest.config.js", "", JEST),
        ("package.json", '{"devDependencies": {"mocha": "*"}}', None),
        ("package.json", "{broken", None),
        ("package.json", "[]", None),
        ("sub/vitest.config.ts", "", None),
    ],
)
def test_the_package_names_its_runner(name: str, text: str, runner: Runner | None) -> None:
    assert find_runner(Tree((name,), {name: text.encode()}.get)) is runner


@pytest.mark.parametrize(
    ("test_id", "spoken"),
    [
        ("src/cart.test.ts > cart > total", True),
        ("src/cart.test.ts > a > b > c", True),
        ("cart.spec.mjs > total", True),
        ("__tests__/cart.tsx > total", True),
        ("src/cart.test.ts::*", True),
        ("src/cart.test.ts", False),
        ("src/cart.test.ts > ", False),
        ("cart > total", False),
        ("tests/test_a.py::test_x", False),
        ("src/.ts > x", False),
    ],
)
def test_an_id_is_a_file_and_the_names_in_it(test_id: str, spoken: bool) -> None:
    assert (VITEST.speaks(test_id), JEST.speaks(test_id)) == (spoken, spoken)


def test_both_have_one_form_and_the_projects_own_runner_takes_it() -> None:
    test_id = "src/cart.test.ts > cart > total"
    assert runner_for_ids([test_id], JEST) == {"jest": [test_id]}
    assert runner_for_ids([test_id], None) == {"vitest": [test_id]}


def test_a_file_and_a_describe_are_scopes_of_what_lies_in_them() -> None:
    assert covers("src/cart.test.ts::*", "src/cart.test.ts > cart > total")
    assert in_scope("src/cart.test.ts", "src/cart.test.ts > cart > total")
    assert in_scope("src/cart.test.ts > cart", "src/cart.test.ts > cart > total")
    assert not in_scope("src/cart.test.ts > car", "src/cart.test.ts > cart > total")
    assert file_of("src/cart.test.ts::*") == file_of("src/cart.test.ts > a") == "src/cart.test.ts"


def words(runner: Runner, *ids: str, root: str = "/") -> tuple[str, ...]:
    """The command that runs these ids."""
    assert runner.ids_command is not None
    return runner.ids_command(Interpreter("/bin/node", ""), ids, root, OWN).argv


def test_ids_run_their_files_with_our_reporter_last() -> None:
    argv = words(JEST, "a.test.js > x", "b.test.js > y", "a.test.js > z")
    assert argv[:2] == ("/bin/node", "node_modules/jest/bin/jest.js")
    assert argv[-4:] == ("a.test.js", "b.test.js", "--reporters=default", f"--reporters={REPORTER}")
    assert words(VITEST, "a.test.js > x")[-1] == f"--reporter={REPORTER}"


def test_names_are_matched_as_they_are() -> None:
    (option,) = (one for one in words(VITEST, "a.test.js > sum (a) > n > 1+1 = 2?") if "Pattern" in one)
    pattern = re.compile(option.partition("=")[2])
    assert pattern.match("sum (a) n 1+1 = 2?")
    assert pattern.match("sum (a) n > 1+1 = 2?")
    assert not pattern.match("sum a n 11 = 2")
    assert not pattern.match("sum (a) n 1+1 = 2? too")


def test_a_selector_or_too_many_names_run_whole_files() -> None:
    assert not any("Pattern" in one for one in words(VITEST, "a.test.js::*", "b.test.js > x"))
    assert not any("Pattern" in one for one in words(VITEST, *(f"a.test.js > {at:0100}" for at in range(1000))))


def test_snapshots_are_not_written_and_configuration_is_loaded_without_writing(tmp_path: Path) -> None:
    assert VITEST.ids_command is not None
    command = VITEST.ids_command(Interpreter("node", ""), ("a.test.js > x",), str(tmp_path), OWN)
    assert command.env["CI"] == "true"
    for version, loads in (("3.1.4", False), ("3.2.0", True), ("4.1.12", True), ("10.0.0-beta.1", True)):
        project(tmp_path, {"node_modules/vitest/package.json": f'{{"version": "{version}"}}'}, venv=False)
        assert ("--configLoader=runner" in words(VITEST, "a.test.js > x", root=str(tmp_path))) is loads


@pytest.mark.parametrize(
    ("command", "runner"),
    [
        ("vitest run", "vitest"),
        ("npx vitest", "vitest"),
        ("pnpm exec vitest run", "vitest"),
        ("npm exec -- jest", "jest"),
        ("yarn jest --ci", "jest"),
        ("node_modules/.bin/jest", "jest"),
        ("node --experimental-vm-modules node_modules/jest/bin/jest.js", "jest"),
        ("vitest bench", "exit"),
        ("npm test", "exit"),
        ("pnpm -r vitest", "exit"),
        ("node script.js", "exit"),
    ],
)
def test_a_command_is_theirs_where_it_is_plain(command: str, runner: str) -> None:
    assert runner_for_command(tuple(command.split())).name == runner


def test_a_frozen_command_keeps_its_words_and_no_package_manager_stands_between() -> None:
    command = VITEST.wrapped(("npx", "vitest", "run", "src", "--", "x"), OWN)
    assert command is not None
    reporting = ("--reporter=default", f"--reporter={REPORTER}")
    assert command.argv == ("node", "node_modules/vitest/vitest.mjs", "run", "src", *reporting, "--", "x")
    own = JEST.wrapped(("node_modules/.bin/jest", "--reporters=github-actions"), OWN)
    assert own is not None
    assert own.argv == ("node_modules/.bin/jest", "--reporters=github-actions", f"--reporters={REPORTER}")


def test_it_must_be_installed_in_the_project(tmp_path: Path) -> None:
    program(tmp_path / "bin/node", "")
    assert VITEST.program is not None
    with pytest.raises(Refusal) as caught:
        VITEST.program(str(tmp_path), str(tmp_path / "bin"))
    assert (caught.value.code, "npm install" in caught.value.hint) == ("check.no_runner", True)
    project(tmp_path, {"node_modules/vitest/vitest.mjs": ""}, venv=False)
    assert VITEST.program(str(tmp_path), str(tmp_path / "bin")).path == f"{tmp_path}/bin/node"
    with pytest.raises(Refusal):
        VITEST.program(str(tmp_path), str(tmp_path))
