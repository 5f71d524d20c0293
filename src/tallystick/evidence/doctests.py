"""The doctests of a source file by their own text: the file around them may change. Pure."""

from __future__ import annotations

import ast

from tallystick.canonical import sha256
from tallystick.evidence.source_ids import parsed

MODULE = "."


def doctest_digest(source: bytes, name: str) -> str | None:
    """The digest of the docstring of `name` in `source`: `Class.method`, `function`, or `MODULE` for the file's own.

    Indentation does not count. None where there is no such docstring.
    """
    node: ast.AST | None = parsed(source)
    if name != MODULE:
        for part in name.split("."):
            node = _inside(node, part)
    if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    text = ast.get_docstring(node)
    return None if text is None else sha256(text.encode("utf-8", "surrogatepass"))


def _inside(node: ast.AST | None, name: str) -> ast.AST | None:
    """The last class or function `name` directly in `node`: that is the one the name means when the file is loaded."""
    if not isinstance(node, (ast.Module, ast.ClassDef)):
        return None
    kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return next((one for one in reversed(node.body) if isinstance(one, kinds) and one.name == name), None)
