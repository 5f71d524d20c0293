"""Holds that Tallystick runs on every Python it names: the demo is played under each of them, warnings are errors."""

from __future__ import annotations

import subprocess
import tomllib

import pytest

from tests.yard.source import ROOT
from yard.probes import SUPPORTED, pythons

#: Those of the supported ones that this machine has; `dev.py test` names the others.
FOUND = [version for version in SUPPORTED if version in pythons()]


@pytest.mark.parametrize("version", FOUND)
def test_the_demo_plays_to_its_end(version: str) -> None:
    """Its servers are started with the same warnings; what they or their tests have to complain of is on stderr."""
    start = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); "
    run = "from tallystick.faces.cli.main import run; sys.exit(run())"
    program = [pythons()[version], "-I", "-W", "error", "-c", start + run, "demo"]
    done = subprocess.run(program, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize("version", FOUND)
def test_every_module_compiles_without_a_warning(version: str) -> None:
    question = (
        "import sys, pathlib; "
        "[compile(path.read_bytes(), str(path), 'exec') for path in pathlib.Path(sys.argv[1]).rglob('*.py')]"
    )
    done = subprocess.run(
        [pythons()[version], "-I", "-W", "error", "-c", question, str(ROOT / "src")], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_versions_named_to_the_world_are_those_that_are_run() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line]
    assert named == list(SUPPORTED)
    assert project["requires-python"] == f">={SUPPORTED[0]}"
