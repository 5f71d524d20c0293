"""Where a Python has its installed distributions. Read from the disk: nothing that is installed there gets to run.

What the environment would say of itself proves nothing about it: a `.pth` file or a `sitecustomize` runs first.
"""

from __future__ import annotations

import os
import re
import stat as modes
from collections.abc import Callable
from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.limits import SETTINGS_FILE
from tallystick.system.durable import each_entry, read_file
from tallystick.system.files import Files

#: Runs a command where the check runs; what it printed, None when it did not end well.
Ask = Callable[[tuple[str, ...]], "bytes | None"]

_LIBRARY = re.compile(r"(python|pypy)(\d\.\d+)t?\Z")
_PYTHON = re.compile(r"(python|pypy)[\d.]*t?\Z")
_EXEC = re.compile(rb"""'''exec' ["']?(/[^"'\n]+?)["']? "\$0" """)
_WHO = "import sys; print(sys.executable)"
_HEAD = 4096


class Environment(NamedTuple):
    """One Python: its program (no script), its `pyvenv.cfg` ("" where it has none), its folders of distributions."""

    python: str
    config: str
    sites: tuple[str, ...]


def python_of(files: Files, argv: tuple[str, ...], path: str) -> str | None:
    """The Python that a command starts: itself, or the one that the script names which it starts.

    `path` is the PATH of the check. None where the command is another program.
    """
    from tallystick.system.process import find_program

    program = argv[0] if "/" in argv[0] else find_program(argv[0], path)
    if program is None or _PYTHON.match(os.path.basename(program)):
        return program
    head = _head(files, program)
    first = head.partition(b"\n")[0]
    long_way = _EXEC.search(head)  # how installers write a path that is too long for a first line
    words = long_way.group(1).split(b"\0") if long_way else first[2:].split()
    if not first.startswith(b"#!") or not words:
        return None
    named = os.fsdecode(words[-1] if os.path.basename(words[0]) == b"env" else words[0])
    if not _PYTHON.match(os.path.basename(named)):
        return None
    return named if "/" in named else find_program(named, path)


def is_script(files: Files, path: str) -> bool:
    """Whether a program is a text for another program, which may answer whatever it likes."""
    return _head(files, path).startswith(b"#!")


def environment_of(files: Files, python: str, ask: Ask) -> Environment | None:
    """The environment of the Python at `python`, None where nobody can say.

    A script that stands for a Python (a version manager's) is asked by `ask` which program it starts.
    """
    if is_script(files, python):
        told = ask((python, "-I", "-S", "-c", _WHO))
        python = os.fsdecode((told or b"").strip())
        if not os.path.isabs(python) or _head(files, python).startswith(b"#!"):
            return None
    above = os.path.dirname(os.path.dirname(python))
    config = os.path.join(above, "pyvenv.cfg")
    text = _text(files, config)
    if text is None:
        real = files.realpath(python)
        sites = _base_sites(files, real)
        return Environment(real, "", sites) if sites else None
    values = _values(text)
    sites = _sites(files, above, _version(values))
    if values.get("include-system-site-packages", "").lower() == "true" and values.get("home"):
        sites += _base_sites(files, files.realpath(os.path.join(values["home"], os.path.basename(python))))
    return Environment(python, config, tuple(dict.fromkeys(sites))) if sites else None


def _values(text: str) -> dict[str, str]:
    """The keys of a `pyvenv.cfg`."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _version(values: dict[str, str]) -> str:
    return ".".join((values.get("version") or values.get("version_info") or "").split(".")[:2])


def _base_sites(files: Files, real: str) -> tuple[str, ...]:
    """The folders of a Python outside every virtual environment; `real` is its program."""
    found = _LIBRARY.match(os.path.basename(real))
    return _sites(files, os.path.dirname(os.path.dirname(real)), found.group(2) if found else "")


def _sites(files: Files, prefix: str, version: str) -> tuple[str, ...]:
    """The folders of distributions below `prefix`, those of Debian's own layout among them ("" for every version)."""
    found: dict[str, None] = {}
    for library in (f"{prefix}/local/lib", f"{prefix}/lib", f"{prefix}/lib64"):
        try:
            names = each_entry(files, library, lambda name: bool(_LIBRARY.match(name)) or name == "python3")
        except Refusal:
            continue
        for name in names:
            matched = _LIBRARY.match(name)
            if matched and version and matched.group(2) != version:
                continue
            for kind in ("site-packages", "dist-packages"):
                folder = files.realpath(f"{library}/{name}/{kind}")
                if _is_folder(files, folder):
                    found[folder] = None
    return tuple(found)


def _is_folder(files: Files, path: str) -> bool:
    try:
        return modes.S_ISDIR(files.stat(path).st_mode)
    except OSError:
        return False


def _text(files: Files, path: str) -> str | None:
    try:
        data = read_file(files, path, SETTINGS_FILE)
    except Refusal:
        return None
    return data.decode("utf-8", "replace") if data is not None else None


def _head(files: Files, path: str) -> bytes:
    """The first bytes of a program, b"" where it cannot be read."""
    try:
        fd = files.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return files.read(fd, _HEAD)
    except OSError:
        return b""
    finally:
        files.close(fd)
