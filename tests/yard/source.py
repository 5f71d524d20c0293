"""What the house tests read of the source: modules by name, their imports and calls, taken from the syntax alone."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "src" / "tallystick"


class Import(NamedTuple):
    """One imported module; `late` says that it happens inside a function, `typing` that only a type checker sees it."""

    name: str
    line: int
    late: bool
    typing: bool


class Module(NamedTuple):
    """One Python file: dotted name, path from the top of the tree, text and tree."""

    name: str
    path: str
    text: str
    tree: ast.Module


@functools.cache
def package() -> dict[str, Module]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = read(path, name)
    return found


def read(path: Path, name: str = "") -> Module:
    """One file of the tree, parsed."""
    text = path.read_text(encoding="utf-8")
    return Module(name, path.relative_to(ROOT).as_posix(), text, ast.parse(text, filename=str(path)))


def imports(module: Module, known: frozenset[str] | None = None) -> Iterator[Import]:
    """Each import of `module`. `from a import b` counts as a.b where that is a module of ours, else as a."""
    ours = frozenset(package()) if known is None else known
    for node, late, typing in _walk(module.tree, False, False):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, late, typing)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                yield Import(whole if whole in ours else base, node.lineno, late, typing)


def _walk(node: ast.AST, late: bool, typing: bool) -> Iterator[tuple[ast.AST, bool, bool]]:
    for child in ast.iter_child_nodes(node):
        yield child, late, typing
        inside = late or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        checked = typing or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test))
        yield from _walk(child, inside, checked)


def called(node: ast.AST) -> str:
    """The dotted name that a call calls, as written: `os.fsync`, `open`, `self.run`; "" for anything else."""
    return (
        ast.unparse(node.func)
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name))
        else ""
    )


def within(name: str, place: str | tuple[str, ...]) -> bool:
    """Whether a module is `place` or lies in it, or in one of several."""
    places = (place,) if isinstance(place, str) else place
    return any(name == one or name.startswith(one + ".") for one in places)


def assert_none(found: list[str]) -> None:
    """Fails with every row of `found`, one a line, unless there is none."""
    assert not found, "\n" + "\n".join(found)
