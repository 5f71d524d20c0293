"""Holds the jobs of dev.py: each does what the list says, with an honest exit status, on a machine that has little."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.yard.source import ROOT
from yard import environment, jobs
from yard.console import Stop
from yard.groups import GROUPS


def _dev(*words: str, root: Path = ROOT, **variables: str) -> subprocess.CompletedProcess[str]:
    """dev.py as a person calls it, with little more than a PATH."""
    surroundings = {name: os.environ[name] for name in ("PATH", "HOME", "XDG_STATE_HOME", "LC_ALL")} | variables
    return subprocess.run(
        [sys.executable, "dev.py", *words], cwd=root, env=surroundings, capture_output=True, text=True
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the tree without what dev.py made, at a path with a blank in it."""
    place = tmp_path / "a clone"
    place.mkdir()
    for name in ("src", "yard"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dev.py", "pyproject.toml", "requirements.toml"):
        shutil.copy(ROOT / name, place / name)
    return place


def test_without_a_job_it_lists_them_all() -> None:
    listed = _dev()
    assert listed.returncode == 0
    assert [line.split()[2] for line in listed.stdout.splitlines()] == list(jobs.JOBS)


def test_a_word_that_is_no_job_is_a_usage_error() -> None:
    assert _dev("tset").returncode == jobs.USAGE


@pytest.mark.parametrize(
    "words", [("try", "x"), ("types", "x"), ("lint", "--fxi"), ("docs", "x"), ("test", "nit"), ("cover", "x")]
)
def test_a_word_too_many_is_refused_in_one_line(words: tuple[str, ...]) -> None:
    refused = _dev(*words)
    assert refused.returncode == 1
    assert refused.stdout == ""
    assert refused.stderr.count("\n") == 1
    assert words[1] in refused.stderr or "at most" in refused.stderr


def test_try_plays_the_demo_on_a_fresh_copy_touches_nothing_else_and_leaves_a_command(copy: Path, home: Path) -> None:
    def kept() -> dict[Path, bytes]:
        ignored = {".dev", "__pycache__"}
        return {path: path.read_bytes() for path in copy.rglob("*") if path.is_file() and not ignored & {*path.parts}}

    before, at_home = kept(), sorted(home.rglob("*"))
    played = _dev("try", root=copy)
    assert played.returncode == 0, played.stdout + played.stderr
    assert "6 of 6 hold" in played.stdout
    assert kept() == before
    assert sorted(home.rglob("*")) == at_home
    version = subprocess.run([copy / ".dev" / "tallystick", "version"], cwd=copy.parent, capture_output=True, text=True)
    assert version.returncode == 0


def test_try_fails_where_the_demo_departs_from_its_story(copy: Path) -> None:
    story = copy / "src" / "tallystick" / "agents" / "scripted" / "story.py"
    text = story.read_text(encoding="utf-8")
    story.write_text(text.replace('"frozen": len(CRITERIA)', '"frozen": 1 + len(CRITERIA)'), encoding="utf-8")
    played = _dev("try", root=copy)
    assert played.returncode == 70
    assert "broke off at step 1, spec-freezer: init_feature_list" in played.stderr


def test_the_command_imports_nothing_from_where_it_is_called(copy: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.mkdir()
    for name in ("json", "argparse", "tallystick", "sitecustomize"):
        (trap / f"{name}.py").write_text("raise SystemExit('imported from the repository')\n", encoding="utf-8")
    command = environment.launcher(copy / ".dev")
    called = subprocess.run(
        [command, "version"], cwd=trap, env={**os.environ, "PYTHONPATH": str(trap)}, capture_output=True, text=True
    )
    assert (called.returncode, called.stderr) == (0, "")


def test_a_python_without_ensurepip_and_pip_is_told_what_to_install(copy: Path) -> None:
    """Debian's own Python is such a one; here an isolated Python is made blind for both modules."""
    blind = (
        "import importlib.util as u, sys; find = u.find_spec; "
        "u.find_spec = lambda name, *more: None if name in ('ensurepip', 'pip') else find(name, *more); "
        "sys.path.insert(0, '.'); from yard.jobs import main; sys.exit(main(['test', 'unit']))"
    )
    told = subprocess.run([sys.executable, "-c", blind], cwd=copy, capture_output=True, text=True)
    assert told.returncode == 1
    assert "apt install python3-venv" in told.stderr
    assert told.stderr.count("\n") == 1


def test_every_group_says_what_it_holds_and_has_a_name_of_its_own() -> None:
    assert len({group.name for group in GROUPS}) == len(GROUPS)
    assert all(group.says for group in GROUPS)


def test_an_unknown_group_is_refused_with_the_list_of_groups() -> None:
    with pytest.raises(Stop, match="no such group: nit; there are unit, "):
        jobs.test(["nit"])


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.10"])
def test_a_python_that_is_too_old_gets_one_clear_line(version: str) -> None:
    """The check itself, run with that version's number: what follows it must not be reached."""
    text = (ROOT / "dev.py").read_text(encoding="utf-8")
    door = text.partition("from yard.jobs")[0].replace(
        "import sys\n", f"import sys\nsys.version_info = {tuple(map(int, version.split('.')))}\n"
    )
    told = subprocess.run([sys.executable, "-c", door], capture_output=True, text=True)
    assert told.returncode == 1
    assert told.stderr == f"Tallystick needs Python 3.11 or later, this is {version}: try python3.11 dev.py\n"


def test_the_door_is_written_for_a_python_of_any_age() -> None:
    """No syntax newer than the oldest Python that people still call by mistake."""
    text = (ROOT / "dev.py").read_text(encoding="ascii")
    assert all(word not in text for word in ('f"', "f'", "from __future__", ":=", "->", "print "))
