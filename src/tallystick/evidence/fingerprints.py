"""Python sources by what they do: two texts with the same fingerprint run alike, however they are laid out. Pure.

Nothing here calls itself: what is nested too deeply or is too large is no Python to us, and never ends a process.
"""

from __future__ import annotations

import ast
from collections.abc import Container

from tallystick.canonical import sha256
from tallystick.evidence.source_ids import parsed

#: The largest source that is read, bytes: a tree takes some 250 times as much memory.
SOURCE_MOST = 500_000
#: Encodings that say the same in every process; a project may define others of its own.
_ENCODINGS = ("utf-8", "utf-8-sig", "ascii", "iso8859-1", "iso8859-15", "cp1252")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
#: What is no part of what a source does: where names are read, `u` before a string, comments about types.
_UNSAID = frozenset(("ctx", "kind", "type_comment", "type_ignores"))
#: What makes a docstring matter wherever it stands: a doctest, and pytest's word for "no rewriting of assertions".
_SPEAKING = (">>>", "PYTEST_DONT_REWRITE")


def source_tree(source: bytes) -> ast.Module | None:
    """The syntax tree of `source`; None when it is too large, no Python to us, or could be another text elsewhere."""
    if len(source) > SOURCE_MOST or b"\r" in source.replace(b"\r\n", b"") or not _plainly_encoded(source):
        return None
    return parsed(source)


def docstring_and_rest(node: ast.AST) -> tuple[str | None, list[ast.stmt]]:
    """The docstring of a module, class or function as it is written, and the statements after it."""
    body: list[ast.stmt] = getattr(node, "body", [])
    first = body[0] if body and isinstance(node, _DOCUMENTED) else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first.value.value, body[1:]
    return None, body


def fingerprint(*nodes: ast.AST, free: Container[int] = ()) -> str:
    """A digest of all that `nodes` do, in their order.

    `free` holds the `id()` of the nodes whose docstring nobody reads: it counts only where it holds a doctest.
    """
    said: list[str] = []
    waiting: list[object] = list(reversed(nodes))
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.AST):
            docstring, rest = docstring_and_rest(one)
            said.append(type(one).__name__)
            text = None if docstring is None else said_docstring(docstring, free=id(one) in free)
            said.extend(() if text is None else (repr(text),))
            fields = [name for name in one._fields if name not in _UNSAID]
            waiting.extend(
                rest if docstring is not None and name == "body" else getattr(one, name, None)
                for name in reversed(fields)
            )
        elif isinstance(one, list):
            said.append(f"[{len(one)}")
            waiting.extend(reversed(one))
        else:  # a long number has no decimal text: Python refuses it
            said.append(f"{type(one).__name__} {hex(one) if isinstance(one, int) else repr(one)}")
    return sha256("\n".join(said).encode("utf-8", "backslashreplace"))


def said_docstring(text: str, *, free: bool) -> str | None:
    """What counts of a docstring: None for one that nobody reads, otherwise its text without its indentation."""
    speaks = any(word in text for word in _SPEAKING)
    if free and not speaks:
        return None
    if speaks and ">>>" in text.partition("\n")[0]:
        return text  # a doctest that begins in the first line is read with the indentation of the others
    from inspect import cleandoc

    clean = cleandoc(text)
    return clean if speaks else "\n".join(line.rstrip() for line in clean.splitlines())


def _plainly_encoded(source: bytes) -> bool:
    import codecs
    from io import BytesIO
    from tokenize import detect_encoding

    try:
        name = detect_encoding(BytesIO(source).readline)[0]
        return codecs.lookup(name).name in _ENCODINGS
    except (SyntaxError, LookupError):
        return False
