"""What a test file needs besides itself, by its syntax tree: helpers that it imports, data that it names. Pure.

A red run shows what its tests read only as far as they get, and most break off at the first line: what they ask for is
not there. So the files in folders of tests that a test *would* load are read from its text. A name that is only put
together when the test runs stays unseen.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from tallystick.evidence.source_ids import parsed

#: Gives what was worked out for a key, or works it out.
Once = Callable[[object, Callable[[], Any]], Any]
_MOST_NAME = 200
_WILD = "*?["


def supports(
    tests: Iterable[str],
    candidates: Collection[str],
    read: Callable[[str], bytes | None],
    roots: Collection[str],
    once: Once = lambda _, make: make(),
) -> frozenset[str]:
    """The `candidates` (files in folders of tests) that one of the files `tests` imports or names, directly or through
    another one. `roots` are the folders in which modules are looked for, each with a `/` at its end, "" for the top.

    `once` gives what was worked out for a key before, or works it out.
    """
    by_name = once("files by name", lambda: _by_name(candidates))
    there = once("files in test folders", lambda: frozenset(candidates))
    found: dict[str, None] = {}
    waiting = [path for path in tests if path.endswith(".py")]
    seen = set(waiting)
    for path in waiting:
        for one in once(("needs", path, roots), lambda: _needs(path, read, roots, there, by_name)):  # noqa: B023
            found[one] = None
            if one.endswith(".py") and one not in seen:
                seen.add(one)
                waiting.append(one)
    return frozenset(found)


def _by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        found.setdefault(path.rpartition("/")[2], []).append(path)
    return found


def _needs(
    path: str,
    read: Callable[[str], bytes | None],
    roots: Collection[str],
    there: Collection[str],
    by_name: dict[str, list[str]],
) -> tuple[str, ...]:
    """The files in folders of tests that one file imports or names itself."""
    tree = parsed(read(path) or b"")
    if tree is None:
        return ()
    found = [one for one in _modules(tree, path, roots) if one in there]
    return (*found, *_named(tree, by_name))


def _modules(tree: ast.Module, path: str, roots: Iterable[str]) -> Iterator[str]:
    """The files that the imports of a file may mean."""
    beside = path[: path.rfind("/") + 1]
    for node in ast.walk(tree):
        names: list[str] = []
        places: Iterable[str] = (*roots, beside)
        if isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                parts = path.split("/")[: -node.level]
                places = ("".join(f"{part}/" for part in parts),)
            module = node.module or ""
            names = [module, *(f"{module}.{one.name}".lstrip(".") for one in node.names)]
        for name in names:
            parts = name.split(".") if name else []
            for place in places:
                for end in range(len(parts) + 1):  # the packages on the way are loaded too
                    start = place + "/".join(parts[:end])
                    yield f"{start}.py"
                    yield f"{start.rstrip('/')}/__init__.py"


def _named(tree: ast.Module, by_name: dict[str, list[str]]) -> Iterator[str]:
    """The files whose last name a text of the file is, ends in, or stands for as a pattern."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or not node.value:
            continue
        if len(node.value) > _MOST_NAME or "\n" in node.value:
            continue
        last = node.value.rpartition("/")[2]
        yield from by_name.get(last, ())
        if set(_WILD).intersection(last) and last.strip("*"):
            for name, paths in by_name.items():
                if fnmatchcase(name, last):
                    yield from paths
