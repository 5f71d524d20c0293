"""Holds that what the settings promise for a check is done: commands make the fresh copy ready, variables are let
through and set, test ids are run by the project's own command; each of these waits for a person's trust."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.real.project import Project
from tests.real.pseudo import on_terminal

FEATURE = "checkout"


def settled(project: Project, settings: str, *checks: str) -> Project:
    """The project with these settings, and a criterion for each check; a person trusted what waits."""
    (project.folder / ".tallystick").mkdir(exist_ok=True)
    (project.folder / ".tallystick" / "config.toml").write_text(settings, encoding="utf-8")
    given = "".join(f"- [ ] AC{number} it works\n      {check}\n" for number, check in enumerate(checks, 1))
    project.done("ledger", "init", FEATURE, "-", given=given.encode())
    trusted(project)
    return project


def trusted(project: Project) -> None:
    status, screen = on_terminal(("trust", "--yes"), project.folder, project.env)
    assert status == 0, screen


@pytest.mark.requirement("P13")
def test_the_copy_is_made_ready_for_every_run_and_nothing_of_it_stays(project: Project) -> None:
    setup = '[verify]\nsetup = [["sh", "-c", "echo made; echo ready > made.txt"], ["test", "-e", "made.txt"]]\n'
    shop = settled(project, setup, "run: sh -c 'grep ready made.txt && rm made.txt'", "run: test -e made.txt")
    said = shop.done("verify", FEATURE)
    assert "2 of 2 hold" in said.out
    assert not (shop.folder / "made.txt").exists()
    [run] = [record["data"] for record in shop.records(FEATURE) if record["type"] == "run_recorded"]
    assert [(row["command"][0], row["status"], row["output"]["text"]) for row in run["setup"]] == [
        ("sh", 0, "made\n"),
        ("test", 0, ""),
    ]


def test_what_does_not_make_the_copy_ready_is_named_and_is_no_red_check(project: Project) -> None:
    setup = '[verify]\nsetup = [["true"], ["sh", "-c", "echo no such schema; exit 3"]]\n'
    shop = settled(project, setup, "run: true")
    for words in (("verify", FEATURE), ("check", FEATURE), ("ledger", "pass", FEATURE, "AC1")):
        said = shop.tally(*words, "--json")
        error = said.document["error"]
        assert (said.status, error["code"]) == (1, "check.setup"), said
        assert "exit 3" in error["message"]
        assert 'ended with status 3: "no such schema"' in error["message"]
        assert said.document["setup"]["output"] == "no such schema\n"
    assert [one["type"] for one in shop.records(FEATURE)] == ["ledger_frozen"]
    assert shop.rows(FEATURE)["AC1"]["last_attempt_error"] is None


@pytest.mark.requirement("P22")
@pytest.mark.needs("bubblewrap")
def test_what_makes_the_copy_ready_is_shut_in_as_a_check_is(project: Project) -> None:
    key = Path(os.environ["XDG_STATE_HOME"], "tallystick", "key")
    said = settled(project, f'[verify]\nsetup = [["cat", "{key}"]]\n', "run: true").tally("verify", "--json")
    assert (said.status, said.document["error"]["code"] in ("check.setup", "check.needs")) == (1, True), said
    assert key.read_text(encoding="utf-8").strip() not in said.out + said.err


def test_in_place_nothing_is_made_ready(project: Project) -> None:
    settings = '[verify]\nmode = "in-place"\nsetup = [["touch", "made.txt"]]\n'
    settled(project, settings, "run: test ! -e made.txt").done("verify", FEATURE)
    assert project.passing(FEATURE) == {"AC1"}


def test_variables_are_let_through_and_set(project: Project) -> None:
    settings = '[verify]\nenv = ["PATH", "TOKEN"]\nset = { GREETING = "hi" }\n'
    shop = settled(project, settings, """run: sh -c 'test "$TOKEN$GREETING$OTHER" = thi'""")
    said = shop.done("verify", FEATURE, env={"TOKEN": "t", "OTHER": "o"})
    assert "1 of 1 hold" in said.out


def test_an_environment_that_is_made_ready_is_the_one_that_runs_the_tests(project: Project) -> None:
    """Its Python lies in the copy alone, not in the tree."""
    script = f"mkdir -p .venv/bin && ln -s {sys.executable} .venv/bin/python"
    (project.folder / "test_a.py").write_text("import sys\n\ndef test_x():\n    assert '.venv' in sys.executable\n")
    (project.folder / ".gitignore").write_text(".venv\n")
    shop = settled(project, f'[verify]\nsetup = [["sh", "-c", "{script}"]]\n', "tests: test_a.py::test_x")
    said = shop.tally("verify", FEATURE)
    assert said.status == 0, said


def test_ids_are_run_by_the_projects_own_command(project: Project) -> None:
    (project.folder / "test_a.py").write_text("def test_x(): pass\n", encoding="utf-8")
    command = f'["env", "MARK=1", "{sys.executable}", "-m", "pytest", "-q"]'
    shop = settled(project, f"[tests]\ncommand = {command}\n", "tests: test_a.py::test_x")
    shop.done("verify", FEATURE)
    [run] = [record["data"] for record in shop.records(FEATURE) if record["type"] == "run_recorded"]
    assert run["steps"][0]["command"][:2] == ["env", "MARK=1"]


def test_a_command_that_starts_no_runner_is_refused_where_ids_are_to_be_run(project: Project) -> None:
    shop = settled(project, '[tests]\ncommand = ["make", "test"]\n', "tests: test_a.py::test_x", "run: true")
    said = shop.tally("check", FEATURE, "AC1", "--json")
    assert (said.status, said.document["error"]["code"]) == (1, "check.no_runner")
    assert "`make test`" in said.document["error"]["message"]
    shop.done("check", FEATURE, "AC2")


def test_what_the_settings_call_irrelevant_is_nothing_that_a_proof_rests_on(project: Project) -> None:
    (project.folder / "notes.txt").write_text("first\n", encoding="utf-8")
    shop = settled(project, '[verify]\nirrelevant = ["*.md", "notes.txt"]\n', "run: true")
    shop.done("verify", FEATURE)
    (shop.folder / "notes.txt").write_text("second\n", encoding="utf-8")
    assert shop.passing(FEATURE) == {"AC1"}
    (shop.folder / "proof.txt").write_text("another\n", encoding="utf-8")
    assert shop.passing(FEATURE) == set()


@pytest.mark.requirement("F5.17")
def test_what_the_base_of_a_proposal_held_counts_there_and_what_it_lowers_does_not(project: Project) -> None:
    """A server that checks a proposal has nobody who could accept; what its main branch held is what counts."""
    settled(project, "", "run: true")
    config = project.folder / ".tallystick" / "config.toml"
    config.write_text("[verify]\ncoverage = 50\n", encoding="utf-8")
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "lower")
    assert project.tally("verify", FEATURE).status == 1
    project.done("verify", FEATURE, "--trust-base", "HEAD")
    config.write_text("[verify]\ncoverage = 40\n", encoding="utf-8")
    said = project.tally("verify", FEATURE, "--trust-base", "HEAD", "--json")
    assert (said.status, said.document["error"]["code"]) == (1, "settings.weakened")
