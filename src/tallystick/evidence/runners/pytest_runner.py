"""pytest: found by its files, started with our plugin, told which files hold the ids."""

from __future__ import annotations

import os
import re

from tallystick.errors import Refusal
from tallystick.evidence.runners.base import Command, Interpreter, Runner, Tree
from tallystick.evidence.runners.python import behind_launcher, module_arguments
from tallystick.limits import SETTINGS_FILE
from tallystick.system.durable import read_file
from tallystick.system.files import OsFiles

_MODULE = "tallystick_pytest_plugin"
_ID = re.compile(r"[^:]+\.(py|md|rst|txt)::.")
_TEST_FILE = re.compile(r"(.*/)?(test_[^/]*|[^/]*_test)\.py\Z")
#: Our plugin; and pytest's cache in the folder of the run that may be written to (pytest puts the variable in), not in
#: the tree: a cache that cannot be written is a warning, which many projects make an error.
_REPORTING = ("-p", _MODULE, "-o", "cache_dir=$TMPDIR/pytest-cache")
_OWN_FILES = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
_SECTIONS = {"pyproject.toml": b"[tool.pytest", "setup.cfg": b"[tool:pytest]", "tox.ini": b"[pytest]"}
_LOOKS_LIKE_PYTEST = re.compile(rb"^\s*(import pytest|from pytest|def test_|async def test_|@pytest\.)", re.MULTILINE)


def find(tree: Tree) -> bool:
    """Whether the project configures pytest, or has tests that only pytest collects."""
    names = set(tree.names)
    if names.intersection(_OWN_FILES) or any(os.path.basename(name) == "conftest.py" for name in names):
        return True
    if any(section in (tree.read(name) or b"") for name, section in _SECTIONS.items() if name in names):
        return True
    return any(_LOOKS_LIKE_PYTEST.search(tree.read(name) or b"") for name in tree.names if _TEST_FILE.match(name))


def speaks(test_id: str) -> bool:
    """Whether `test_id` is a node id of pytest: a file, `::` and more."""
    return bool(_ID.match(test_id))


def ids_command(python: Interpreter, ids: tuple[str, ...], root: str, folder: str) -> Command:
    """Run the files of `ids`; the plugin keeps the ids themselves.

    A file that is not there is left out (pytest would run nothing at all), unless none is. Ids are counted from
    `root` whatever configuration pytest finds, one failure or broken file does not end the run. Where the project says
    nothing about pytest, nothing that lies above it does.
    """
    asked = _asked(ids, root)
    options = () if _has_options(root, asked) else ("-c", os.devnull)
    return Command((python.path, "-m", "pytest", *_REPORTING, *options, *asked), _path(folder))


def by_command(argv: tuple[str, ...], ids: tuple[str, ...], root: str, folder: str) -> Command | None:
    """As `ids_command`, started by the project's own command, such as `uv run pytest -q`; its words stay."""
    start = behind_launcher(argv, lambda tail: _arguments(tail) is not None)
    if start is None:
        return None
    at = start + (_arguments(argv[start:]) or 0)
    return Command((*argv[:at], *_REPORTING, *argv[at:], *_asked(ids, root)), _path(folder))


def wrapped(argv: tuple[str, ...], folder: str) -> Command | None:
    """`pytest …` and `python -m pytest …` with our plugin added; None for anything else."""
    at = _arguments(argv)
    return None if at is None else Command((*argv[:at], *_REPORTING, *argv[at:]), _path(folder))


def _arguments(argv: tuple[str, ...]) -> int | None:
    """Where the arguments of pytest begin; None for the command of another program."""
    return 1 if os.path.basename(argv[0]) in ("pytest", "py.test") else module_arguments(argv, "pytest")


def _asked(ids: tuple[str, ...], root: str) -> tuple[str, ...]:
    files = dict.fromkeys(test_id.partition("::")[0] for test_id in ids)
    there = [name for name in files if os.path.exists(os.path.join(root, name))] or list(files)
    options = (f"--rootdir={root}", "--maxfail=0", "--continue-on-collection-errors")
    return (*options, *(name if name[0] not in "-@" else f"./{name}" for name in there))


def _has_options(root: str, names: tuple[str, ...]) -> bool:
    """Whether a folder from one of the files (or folders) up to `root` has options of pytest."""
    folders = {""}
    for name in names:
        parts = os.path.normpath(name).split(os.sep)
        folders.update("/".join(parts[:end]) for end in range(len(parts)))
    for folder in folders:
        place = os.path.join(root, folder)
        if any(os.path.exists(os.path.join(place, name)) for name in _OWN_FILES):
            return True
        for name in _SECTIONS:
            try:
                if b"pytest" in (read_file(OsFiles(), os.path.join(place, name), SETTINGS_FILE) or b""):
                    return True
            except Refusal:  # too large, or not ours to read: pytest itself may do better
                return True
    return False


def _path(folder: str) -> dict[str, str]:
    return {"PYTHONPATH": folder}


PYTEST = Runner(
    name="pytest",
    wrapped=wrapped,
    form="tests/test_cart.py::test_total",
    module="pytest",
    source="pytest_plugin.py",
    carried=f"{_MODULE}.py",
    find=find,
    speaks=speaks,
    ids_command=ids_command,
    by_command=by_command,
)
