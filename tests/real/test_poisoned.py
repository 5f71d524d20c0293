"""Holds that a repository full of traps runs nothing of its own (P13): settings, segments, ledger, tests, interpreter
and links that all want to leave a mark, seen by every reading command and every reading tool; that running its checks
asks for trust and names them, and that they run once a person trusted them. A server may take trust from a commit."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tallystick.errors import Refusal
from tallystick.evidence.trust_base import trust_base
from tallystick.faces.cli.commands import COMMANDS
from tallystick.faces.cli.trust import asked
from tallystick.journal.record import By
from tallystick.mcp.catalogue import READING
from tallystick.mcp.tools import Tools
from tallystick.mcp.toolset import CallContext
from tallystick.settings import FILE, Settings
from tallystick.wiring import App, assemble, this_machine
from tests.real.project import Project
from tests.real.pseudo import on_terminal

FEATURE = "checkout"
OUTPUT = {
    "feature_id": FEATURE, "phase": 3, "role": "designer", "slug": "x", "status": "completed", "output": {"x": "done"},
}  # fmt: skip

#: How each command that reads is called in the poisoned repository.
READ: dict[str, tuple[str, ...]] = {
    "status": (), "ledger show": (FEATURE,), "ledger failing": (FEATURE,), "ledger get": (FEATURE, "AC1"),
    "brief": (FEATURE,), "audit": (), "output find": (FEATURE,), "output show": (FEATURE, "03-designer-x.json"),
    "manifest show": (FEATURE,), "manifest list": (), "board list": (FEATURE,), "board next": (FEATURE,),
    "version": (), "completions": ("bash",), "trust": ("--show",),
}  # fmt: skip
#: Those that write or run something; a new command belongs to the one or the other.
ACT = {
    "init", "demo", "ledger init", "ledger add", "ledger pass", "ledger fail", "ledger amend", "ledger override",
    "ledger accept", "ledger red", "check", "note", "output save", "manifest start", "manifest end", "manifest close",
    "board add", "board import", "board claim", "board done", "board block", "board unblock", "board remove", "import",
    "mcp", "share", "abandon", "verify",
}  # fmt: skip

TOOLS: dict[str, dict[str, str]] = {
    "list_failing": {"task_id": FEATURE},
    "get_feature": {"task_id": FEATURE, "feature_id": "AC1"},
    "compare_runs": {"task_id": FEATURE, "run_a": "r-aaaaaaaa", "run_b": "r-bbbbbbbb"},
    "brief": {"feature": FEATURE},
    "find_outputs": {"feature": FEATURE},
    "get_output": {"feature": FEATURE, "file": "03-designer-x.json"},
    "next_task": {"feature": FEATURE},
    "hook_event": {},
}
CALL = CallContext(1, "", "", "", "", "", lambda: False, lambda *_: None)


class Poisoned(NamedTuple):
    """A clone, and the folder in which everything that runs would leave its name."""

    clone: Project
    canaries: Path

    @property
    def sung(self) -> list[str]:
        """What ran."""
        return sorted(path.name for path in self.canaries.iterdir())


def poison(project: Project, canaries: Path) -> None:
    """Commit everything that could come with a repository and wants to be run."""
    folder = project.folder

    def put(name: str, text: str, mode: int = 0o644) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)

    def touch(name: str) -> str:
        return f"import pathlib; pathlib.Path({str(canaries / name)!r}).touch()\n"

    put(
        "criteria.md",
        f"- [ ] AC1 it runs\n      run: touch {canaries}/run\n- [ ] AC2 tests\n      tests: test_a.py::test_a\n",
    )
    project.done("ledger", "init", FEATURE, "criteria.md")
    put("output.json", json.dumps(OUTPUT))
    project.done("output", "save", "output.json")
    command = f'["touch", "{canaries}/NAME"]'
    put(
        FILE,
        f"[tests]\ncommand = {command.replace('NAME', 'tests.command')}\n"
        f"[verify]\nsetup = [{command.replace('NAME', 'setup')}]\nnetwork = ['example.org']\nset = {{ CI = '1' }}\n",
    )
    put(".tallystick/pipelines/p.toml", f"[[phase]]\ncommand = {command.replace('NAME', 'pipeline')}\n")
    for name in ("conftest", "sitecustomize", "usercustomize", "test_a", "tallystick", "pytest"):
        put(f"{name}.py", touch(name))
    put("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '-p conftest'\n")
    for name in ("python", "python3", "pytest", "git"):
        put(f".venv/bin/{name}", f"#!/bin/sh\n: > {canaries}/venv-{name}\nexit 0\n", 0o755)
    put(".gitattributes", "* filter=trap diff=trap\n")
    shutil.copy(folder / ".agent/tasks" / FEATURE / "feature_list.json", folder / "feature_list.json")
    project.git("add", "--all", "--force")
    project.git("commit", "--quiet", "-m", "welcome")


@pytest.fixture
def poisoned(project: Project, tmp_path: Path) -> Poisoned:
    """A clone of a repository full of traps, with a home of its own."""
    canaries = tmp_path / "canaries"
    canaries.mkdir()
    poison(project, canaries)
    project.git("clone", "--quiet", str(project.folder), str(tmp_path / "clone"))
    # As the installed command starts: with `-m` alone Python itself would look for modules in the folder it stands in.
    home = {"XDG_STATE_HOME": str(tmp_path / "other-home"), "PYTHONSAFEPATH": "1"}
    return Poisoned(project.at(tmp_path / "clone", home), canaries)


def app_of(project: Project) -> App:
    return assemble(this_machine({**os.environ, **project.env}), str(project.folder), By("solo"))


@pytest.mark.requirement("P13")
def test_every_command_reads_or_acts() -> None:
    names = {command.name for command in COMMANDS}
    assert names == READ.keys() | ACT
    assert TOOLS.keys() >= set(READING)


@pytest.mark.requirement("P13")
@pytest.mark.parametrize("with_key", [True, False])
def test_reading_an_unknown_repository_runs_nothing_of_it(poisoned: Poisoned, with_key: bool) -> None:
    if with_key:
        poisoned.clone.done("init")
    for name, words in READ.items():
        said = poisoned.clone.tally(*name.split(), *words)
        assert said.status in (0, 8) or name in ("board next", "manifest show", "output show"), said
        assert poisoned.sung == [], name
    tools = Tools(app_of(poisoned.clone), "solo")
    for tool, arguments in TOOLS.items():
        tools.call(tool, dict(arguments), CALL)
        assert poisoned.sung == [], tool
    tools.close()


@pytest.mark.requirement("P13")
def test_running_its_checks_asks_for_trust_and_names_them(poisoned: Poisoned) -> None:
    clone, canaries = poisoned
    clone.done("init")
    for words in (("check", FEATURE), ("verify", FEATURE), ("ledger", "pass", FEATURE, "AC1")):
        said = clone.tally(*words, "--json")
        assert said.status == 7, said
        told = [" ".join(one["argv"] or one["rights"]) for one in said.document["commands"]]
        wanted = [
            f"touch {canaries}/tests.command",
            f"touch {canaries}/setup",
            "network example.org",
            f"touch {canaries}/run",
        ]
        assert told == wanted
        assert "4 commands wait for trust before anything is run: `touch " in said.document["error"]["message"]
    tools = Tools(app_of(clone), "verifier")
    marked = tools.call("mark_pass", {"task_id": FEATURE, "feature_id": "AC1", "evidence_ref": ""}, CALL)
    assert (marked.structured or {})["error"]["code"] == "trust.needed"
    tools.close()
    assert poisoned.sung == []
    status, screen = on_terminal(("trust", "--yes"), clone.folder, {**clone.env, "CLAUDECODE": "1"})
    assert (status, "ask your user" in screen) == (1, True)


@pytest.fixture
def shared(project: Project, tmp_path: Path) -> tuple[Project, Project]:
    """A repository with an honest check that is committed, and a clone of it with a home of its own."""
    project.done("ledger", "init", FEATURE, "-", given=b"- [ ] AC1 the proof is there\n      run: test -e proof.txt\n")
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "criteria")
    project.git("clone", "--quiet", str(project.folder), str(tmp_path / "clone"))
    clone = project.at(tmp_path / "clone", {"XDG_STATE_HOME": str(tmp_path / "other-home")})
    clone.done("init")
    return project, clone


@pytest.mark.requirement("P13")
def test_a_check_that_a_person_trusted_runs_and_says_whose_it_is(shared: tuple[Project, Project]) -> None:
    _, clone = shared
    assert clone.tally("check", FEATURE).status == 7
    status, screen = on_terminal(("trust", "--yes"), clone.folder, clone.env)
    assert (status, "test -e proof.txt" in screen) == (0, True)
    said = clone.done("check", FEATURE)
    assert "AC1: frozen by another key; run because a person trusted that command here" in said.err
    passed = clone.done("ledger", "pass", FEATURE, "AC1")
    assert "frozen by another key" in passed.err
    assert clone.passing(FEATURE) == {"AC1"}
    tree = clone.folder.parent / "linked"
    clone.git("worktree", "add", "--quiet", str(tree))
    assert clone.at(tree).done("trust", "--show", "--json").document["waiting"] == []
    status, _ = on_terminal(("trust", "--revoke"), clone.folder, clone.env)
    assert (status, clone.tally("check", FEATURE).status) == (0, 7)


@pytest.mark.requirement("P13")
def test_a_commit_says_what_it_held_and_the_rest_is_new(shared: tuple[Project, Project]) -> None:
    project, clone = shared
    base = clone.git("rev-parse", "HEAD").strip()
    more = b"- [ ] AC2 the same check\n      run: test -e proof.txt\n- [ ] AC3 another\n      run: test -e more.txt\n"
    project.done("ledger", "add", FEATURE, "-", given=more)
    (project.folder / FILE).write_text('[verify]\nsetup = [["make", "ready"]]\n', encoding="utf-8")
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "more")
    clone.git("pull", "--quiet")
    app = app_of(clone)
    found = trust_base(app.git, base)
    commands = asked(app, app.settings.read())
    assert found.commit == base
    assert [one.spelled for one in found.new(commands)] == ["make ready", "test -e more.txt"]
    assert trust_base(app.git, "HEAD").new(commands) == []
    assert [one.spelled for one in asked(app, Settings())] == ["test -e proof.txt", "test -e more.txt"]


@pytest.mark.requirement("P13")
@pytest.mark.parametrize("ref", ["origin/nothing", "--output=x", "", "HEAD:proof.txt"])
def test_a_commit_that_is_not_here_gives_no_trust(shared: tuple[Project, Project], ref: str) -> None:
    with pytest.raises(Refusal) as caught:
        trust_base(app_of(shared[1]).git, ref)
    assert caught.value.code == "usage"


@pytest.mark.requirement("P13")
def test_only_plain_files_of_ours_give_trust(project: Project) -> None:
    """A link in the commit's tree is no file, and a segment elsewhere is none."""
    project.done("ledger", "init", FEATURE, "-", given=b"- [ ] AC1 it runs\n      run: make all\n")
    [segment] = (project.folder / ".tallystick" / "journal" / FEATURE).iterdir()
    elsewhere = project.folder / ".tallystick" / "other" / segment.name
    elsewhere.parent.mkdir()
    segment.rename(elsewhere)
    (project.folder / "config.toml").write_text('[tests]\ncommand = ["make"]\n', encoding="utf-8")
    (project.folder / FILE).symlink_to("../config.toml")
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "links")
    assert trust_base(app_of(project).git, "HEAD").digests == frozenset()
