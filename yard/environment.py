"""Where the yard's programs come from: a launcher that needs nothing, an environment for the development tools, and
environments for the small projects that tests are tried on.

All lie in `.dev`, which is ours alone: an environment that the developer made is never touched. The package itself
is never installed, it is run from `src`. The environment is made without pip, because Debian's Python comes without
the module that brings it; what fetches the tools is the first row of `WAYS` that this machine can go.
"""

from __future__ import annotations

import importlib.util
import json
import shlex
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from yard.console import ROOT, Stop, run_quietly, say

HOME = ROOT / ".dev"
PYTHON = HOME / "venv" / "bin" / "python"
_STAMP = "installed.json"


def launcher(folder: Path = HOME) -> Path:
    """Writes `tallystick` into `folder`: the real command line, run straight from `src`. Returns its path.

    Python runs isolated (-I): a file in the folder where the command is called can never be imported by accident. The
    one library that is read late comes from this Python, or from the environment of the tools where that was made.
    """
    library = f"{HOME}/venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    start = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); sys.path.append({library!r}); "
        "from tallystick.faces.cli.main import run; sys.exit(run())"
    )
    folder.mkdir(exist_ok=True)
    command = folder / "tallystick"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -c {shlex.quote(start)} "$@"\n')
    command.chmod(0o755)
    return command


def tools(group: str) -> Path:
    """The Python of an environment that holds the packages of one dependency group of `pyproject.toml`.

    Makes or completes it where needed; with everything there it costs one small file read. Raises `Stop`, naming what
    to install, where this machine has no way to fetch a package.
    """
    return environment(PYTHON.parent.parent.name, group, _path_to_source)


def environment(name: str, group: str, made: Callable[[Path], None] | None = None) -> Path:
    """The Python of the environment `.dev/NAME`, as `tools`; `made` completes one that was made anew."""
    folder = HOME / name
    python = folder / "bin" / "python"
    wanted = _requirements(group)
    base = [sys.version, str(HOME)]
    stamp = _stamped(folder)
    have = stamp["have"] if python.exists() and stamp["base"] == base else None
    if have is not None and set(wanted) <= set(have):
        return python
    if have is None:
        _make(folder)
        if made is not None:
            made(python)
    say(f"fetching {', '.join(requirement.split()[0] for requirement in wanted)} into .dev")
    _fetch(python, wanted)
    (folder / _STAMP).write_text(json.dumps({"base": base, "have": sorted({*wanted, *(have or [])})}))
    return python


def _requirements(group: str) -> list[str]:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    found: list[str] = []
    for row in groups[group]:
        found += [row] if isinstance(row, str) else _requirements(row["include-group"])
    return sorted(found)


def _stamped(folder: Path) -> dict[str, list[str]]:
    try:
        found: dict[str, list[str]] = json.loads((folder / _STAMP).read_text())
    except (OSError, ValueError):
        return {"base": [], "have": []}
    return found


def _make(folder: Path) -> None:
    say(f"making an environment in .dev/{folder.name}")
    status, said = run_quietly([sys.executable, "-m", "venv", "--clear", "--without-pip", folder])
    if status != 0:
        raise Stop(f"no environment could be made: {_last_line(said)}. On Debian and Ubuntu: apt install python3-venv")


def _path_to_source(python: Path) -> None:
    """The package itself is on the path of the tools, from `src`."""
    _, where = run_quietly([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"])
    Path(where.strip(), "tallystick.pth").write_text(f"{ROOT / 'src'}\n")


class Way(NamedTuple):
    """One way to get packages into the environment of a Python: `there` says whether it exists, `install` is the
    beginning of the command."""

    there: Callable[[Path], bool]
    install: Callable[[Path], list[str | Path]]


def _own_pip(python: Path) -> bool:
    if importlib.util.find_spec("ensurepip") is None:
        return False
    return run_quietly([python, "-m", "ensurepip"])[0] == 0


def _host_pip(_: Path) -> bool:
    return importlib.util.find_spec("pip") is not None


WAYS = (
    Way(_own_pip, lambda python: [python, "-m", "pip", "install"]),
    Way(_host_pip, lambda python: [sys.executable, "-m", "pip", "--python", python, "install"]),
)


def _fetch(python: Path, requirements: list[str]) -> None:
    way = next((way for way in WAYS if way.there(python)), None)
    if way is None:
        raise Stop(
            f"{sys.executable} has neither ensurepip nor pip, so the test tools cannot be fetched. "
            "On Debian and Ubuntu: apt install python3-venv"
        )
    status, said = run_quietly([*way.install(python), "--quiet", "--disable-pip-version-check", *requirements])
    if status != 0:
        raise Stop(f"the packages could not be fetched: {_last_line(said)}")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["no reason given"])[-1].rstrip(".")
