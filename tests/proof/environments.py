"""The Pythons of the scenes: one environment for each kind, made once and kept in `.dev`, and copies of them.

A scene has the shared one first on PATH, as a developer whose environment is active, or gets one of its own as `.venv`:
a copy, since it is installed into.
"""

from __future__ import annotations

import functools
import shutil
import threading
from pathlib import Path

from yard.environment import environment
from yard.groups import PROOF

#: The kinds, by the dependency group of `pyproject.toml` that they hold: pytest alone, its plugins, what builds.
PLAIN, PLUGINS, BUILD = PROOF
_ONE_AT_A_TIME = threading.Lock()


def python_of(kind: str) -> Path:
    """The Python of a shared environment, which nobody may change."""
    with _ONE_AT_A_TIME:
        return _made(kind)


@functools.cache
def _made(kind: str) -> Path:
    return environment(kind, kind)


def own_environment(folder: Path, kind: str = BUILD) -> Path:
    """Copy the shared environment of a kind to `folder/.venv`, to be installed into; its Python."""
    place = folder / ".venv"
    shared = python_of(kind).parent.parent
    shutil.copytree(shared, place, symlinks=True)
    for script in (place / "bin").iterdir():
        if script.is_file() and not script.is_symlink() and script.read_bytes().startswith(b"#!"):
            script.write_bytes(script.read_bytes().replace(bytes(shared), bytes(place), 1))
    return place / "bin" / "python"


def install_editable(python: Path, *projects: Path, settings: tuple[str, ...] = ()) -> list[str | Path]:
    """The command that installs projects editable into the environment of `python`, without asking the network."""
    words = ["install", "--quiet", "--disable-pip-version-check", "--no-build-isolation", "--no-deps", "--no-index"]
    chosen = [f"--config-settings={setting}" for setting in settings]
    return [python, "-m", "pip", *words, *chosen, *(word for one in projects for word in ("-e", one))]
