"""Holds that no test can touch the developer's machine: the first test proves it, for this process and its children."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import KEPT, KEPT_BEGINNINGS

FOLDERS = ("HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
SET_BY_THE_FIXTURE = {*FOLDERS, "GIT_CONFIG_NOSYSTEM", "LC_ALL", "TZ", "PYTHONPATH"}


@pytest.mark.parametrize("variable", FOLDERS)
def test_every_home_of_a_child_process_lies_in_the_tests_own_folder(variable: str, home: Path) -> None:
    question = f"import os; print(os.path.realpath(os.environ[{variable!r}]))"
    answer = subprocess.run([sys.executable, "-c", question], capture_output=True, text=True, check=True)
    assert Path(answer.stdout.strip()).is_relative_to(home.resolve())


def test_tilde_leads_into_the_tests_own_folder(home: Path) -> None:
    assert Path.home() == home
    assert os.path.expanduser("~/x") == str(home / "x")


def test_nothing_else_of_the_developers_environment_is_seen() -> None:
    allowed = {*KEPT, *SET_BY_THE_FIXTURE}
    assert {name for name in os.environ if name not in allowed and not name.startswith(KEPT_BEGINNINGS)} == set()


def test_git_reads_the_tests_own_settings_alone(home: Path) -> None:
    listed = subprocess.run(
        ["git", "config", "--list", "--show-origin", "--name-only"],
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {line.split("\t")[0] for line in listed.stdout.splitlines()} == {f"file:{home}/.gitconfig"}


def test_each_test_has_a_home_of_its_own(home: Path) -> None:
    known = home / ".cache" / "tallystick" / "installed"  # which files of this interpreter were compared before
    lying = {path for path in home.rglob("*") if path != known and known not in path.parents}
    assert lying - set(known.parents) == {home / ".gitconfig"}
