"""pytest: found by its files, started with our plugin, told which files hold the ids."""

from __future__ import annotations

import os
import re

from tallystick.evidence.runners.base import Command, Interpreter, Runner, Tree
from tallystick.evidence.runners.python import module_arguments

_MODULE = "tallystick_pytest_plugin"
_ID = re.compile(r"[^:]+\.(py|md|rst|txt)::.")
_TEST_FILE = re.compile(r"(.*/)?(test_[^/]*|[^/]*_test)\.py\Z")
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
    `root` whatever configuration pytest finds, one failure or broken file does not end the run.
    """
    files = dict.fromkeys(test_id.partition("::")[0] for test_id in ids)
    there = [name for name in files if os.path.exists(os.path.join(root, name))] or list(files)
    options = (f"--rootdir={root}", "--maxfail=0", "--continue-on-collection-errors")
    named = tuple(name if name[0] not in "-@" else f"./{name}" for name in there)
    return Command((python.path, "-m", "pytest", *_reporting(folder), *options, *named), _path(folder))


def wrapped(argv: tuple[str, ...], folder: str) -> Command | None:
    """`pytest …` and `python -m pytest …` with our plugin added; None for anything else."""
    at = 1 if os.path.basename(argv[0]) in ("pytest", "py.test") else module_arguments(argv, "pytest")
    if at is None:
        return None
    return Command((*argv[:at], *_reporting(folder), *argv[at:]), _path(folder))


def _reporting(folder: str) -> tuple[str, ...]:
    """Our plugin; and pytest's cache beside it, for a check writes nothing into the tree."""
    return ("-p", _MODULE, "-o", f"cache_dir={os.path.join(folder, 'pytest-cache')}")


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
)
