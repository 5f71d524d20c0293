"""Which modules are the project's own, and in which folders they are looked for. Pure.

A name that is missing at red counts as the project's only when it belongs to one of these; whether a package that does
not exist yet is the project's or somebody else's can be told only where the project declares its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tallystick.evidence.runners.base import Tree

#: Files that mark the top of a project, or of a part of a workspace.
_TOPS = ("pyproject.toml", "setup.py", "setup.cfg")
_DEEPEST_TOP = 3
_DEEPEST_PACKAGE = 4
#: Folders that hold no package of the project though Python files lie in them.
_NO_PACKAGES = {"tests", "test", "docs", "doc", "examples", "src"}
_NO_MODULES = {"setup", "conftest", "noxfile", "sitecustomize", "usercustomize"}
_SETUP_NAME = re.compile(rb"^\s*name\s*=\s*[\"']?([A-Za-z][\w.-]*)", re.MULTILINE)
_PYTHONPATH = re.compile(rb"^pythonpath\s*=\s*([^\[\n]+)$", re.MULTILINE)


def import_roots(tree: Tree) -> tuple[str, ...]:
    """The folders in which modules of the project are looked for, each with a `/` at its end, "" for the top."""
    roots = dict.fromkeys(("", "src/"))
    for name in tree.names:
        folder, _, file = name.rpartition("/")
        if file in _TOPS and folder.count("/") < _DEEPEST_TOP:
            place = f"{folder}/" if folder else ""
            roots.update(dict.fromkeys((place, f"{place}src/")))
            roots.update(dict.fromkeys(f"{place}{one}" for one in _declared_folders(file, tree.read(name) or b"")))
    return tuple(root for root in roots if not root or any(name.startswith(root) for name in tree.names))


def project_packages(tree: Tree) -> frozenset[str]:
    """The dotted names of the project's packages and modules: those that lie in its import roots, and those that its
    build configuration declares, there or not. Of a namespace package only the project's portion is named."""
    found: set[str] = set()
    for root in import_roots(tree):
        found.update(_lying(tree, root))
    for name in tree.names:
        folder, _, file = name.rpartition("/")
        if file in _TOPS and folder.count("/") < _DEEPEST_TOP:
            found.update(_declared(file, tree.read(name) or b""))
    return frozenset(found)


def is_project(module: str, packages: frozenset[str]) -> bool:
    """Whether a dotted name is one of `packages`, or lies in one, and belongs to no tests."""
    return not is_test_module(module) and any(_is_in(module, package) for package in packages)


def is_test_module(module: str) -> bool:
    """Whether a dotted name is a test module's, or lies in a package of tests."""
    return any(
        part in ("tests", "test", "conftest") or part.startswith("test_") or part.endswith("_test")
        for part in module.split(".")
    )


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(package + ".")


def _lying(tree: Tree, root: str) -> Iterator[str]:
    """The packages and modules in one import root."""
    below = [name[len(root) :] for name in tree.names if name.startswith(root)]
    code = [name for name in below if name.endswith((".py", ".pyi", ".so", ".pyd"))]
    folders = {name.rpartition("/")[0] for name in code}
    packages = {name[: -len("/__init__.py")] for name in code if name.endswith("/__init__.py")}
    for name in code:
        head, _, file = name.partition("/")
        stem = head.partition(".")[0]
        if not file:
            if stem.isidentifier() and stem not in _NO_MODULES and not is_test_module(stem):
                yield stem
            continue
        if not head.isidentifier() or head in _NO_PACKAGES:
            continue
        parts = name.split("/")[:-1][:_DEEPEST_PACKAGE]
        for end in range(1, len(parts) + 1):
            folder = "/".join(parts[:end])
            if folder in packages or folder in folders or end == len(parts):
                if all(part.isidentifier() for part in parts[:end]):
                    yield ".".join(parts[:end])
                break


def _declared(file: str, data: bytes) -> Iterator[str]:
    """The names that a build configuration gives to the project and its packages."""
    if file != "pyproject.toml":
        for match in _SETUP_NAME.finditer(data):
            yield _as_module(match.group(1).decode("ascii"))
        return
    table = parse_toml(data)
    tool = _table(table, "tool")
    for name in (_table(table, "project").get("name"), _table(tool, "poetry").get("name")):
        if isinstance(name, str) and name:
            yield _as_module(name)
    names = [_table(tool, "flit", "module").get("name"), _table(tool, "uv", "build-backend").get("module-name")]
    setuptools = _table(tool, "setuptools")
    for key in ("packages", "py-modules"):
        value = setuptools.get(key)
        names += value if isinstance(value, list) else []
    wheel = _table(tool, "hatch", "build", "targets", "wheel").get("packages")
    names += [one.rpartition("/")[2] for one in wheel if isinstance(one, str)] if isinstance(wheel, list) else []
    for name in names:
        if isinstance(name, str) and name:
            yield name


def _declared_folders(file: str, data: bytes) -> Iterator[str]:
    """The further folders that a configuration puts on the path, with a `/` at their end."""
    if file == "setup.cfg":
        found = _PYTHONPATH.search(data)
        folders: Any = found.group(1).decode("utf-8", "replace").split() if found else []
    elif file == "pyproject.toml":
        tool = _table(parse_toml(data), "tool")
        folders = _table(tool, "pytest", "ini_options").get("pythonpath", [])
        folders = folders.split() if isinstance(folders, str) else folders
        where = _table(tool, "setuptools", "packages", "find").get("where", [])
        folders = [*folders, *where] if isinstance(folders, list) and isinstance(where, list) else []
    else:
        return
    for folder in folders:
        if isinstance(folder, str) and folder.strip("./") and ".." not in folder:
            yield folder.removeprefix("./").strip("/") + "/"


def parse_toml(data: bytes) -> dict[str, Any]:
    """The table in `data`; empty where it is no TOML, which whoever runs the build says better."""
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return {}


def _table(table: dict[str, Any], *keys: str) -> dict[str, Any]:
    for key in keys:
        value = table.get(key)
        table = value if isinstance(value, dict) else {}
    return table


def _as_module(name: str) -> str:
    """The module that a distribution of this name usually holds."""
    return re.sub(r"[-.]+", "_", name)
