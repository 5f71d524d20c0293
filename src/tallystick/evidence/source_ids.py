"""Which tests a file would have, read from its syntax tree: for a test file that cannot be imported yet. Pure.

What only a run can tell is left out: parameters of fixtures in other files unless they are named, tests made by a
hook, by inheritance from other files or by `setattr`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from tallystick.evidence.selectors import ALL_SETS

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Patterns(NamedTuple):
    """What pytest collects by: beginnings or globs of the names of functions and classes."""

    functions: tuple[str, ...] = ("test",)
    classes: tuple[str, ...] = ("Test",)


class _File(NamedTuple):
    """The syntax tree of a test file, and what holds for all of it."""

    classes: dict[str, ast.ClassDef]
    sets: frozenset[str]  # fixtures with parameter sets
    patterns: Patterns


def pytest_ids(
    path: str, source: bytes, fixtures: Iterable[str] = (), patterns: Patterns | None = None
) -> tuple[str, ...] | None:
    """The node ids in the test file `path`, a parametrised one as `name[*]`; None when it is no Python to us.

    `fixtures` names those with parameter sets that other files define (`parametrised_fixtures` of each conftest).
    """
    tree = parsed(source)
    if tree is None:
        return None
    every = frozenset(fixtures) | parametrised_fixtures(source)
    classes = {node.name: node for node in _statements(tree.body) if isinstance(node, ast.ClassDef)}
    file = _File(classes, every, patterns or Patterns())
    if _switched_off(tree.body):
        return ()
    return tuple(dict.fromkeys(_collected(file, tree.body, path, _marked(tree.body))))


def unittest_ids(module: str, source: bytes) -> tuple[str, ...] | None:
    """The dotted ids of the test cases in the file of `module`; None when it is no Python to us."""
    tree = parsed(source)
    if tree is None:
        return None
    classes = {node.name: node for node in _statements(tree.body) if isinstance(node, ast.ClassDef)}
    file = _File(classes, frozenset(), Patterns())
    return tuple(
        f"{module}.{name}.{method}"
        for name, node in classes.items()
        if _is_case(file, node)
        for method, member in _members(file, node).items()
        if method.startswith("test") and isinstance(member, _FUNCTIONS)
    )


def parametrised_fixtures(source: bytes) -> frozenset[str]:
    """The fixtures of a file that have parameter sets, themselves or through one that they ask for; `*` among them
    where such a one is used by every test."""
    tree = parsed(source)
    if tree is None:
        return frozenset()
    sets: set[str] = set()
    asks: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, _FUNCTIONS):
            continue
        for decorator in node.decorator_list:
            if _last_name(decorator) not in ("fixture", "yield_fixture"):
                continue
            words = {one.arg: one.value for one in decorator.keywords} if isinstance(decorator, ast.Call) else {}
            given = words.get("name")
            name = given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else node.name
            asks[name] = _arguments(node)
            if "params" in words:
                sets.add(name)
            always = words.get("autouse")
            if always is not None and not (isinstance(always, ast.Constant) and not always.value):
                asks["*"] = asks.get("*", set()) | {name}
    for _ in asks:
        sets |= {name for name, asked in asks.items() if asked & sets}
    return frozenset(sets)


def _collected(file: _File, body: list[ast.stmt], prefix: str, marked: bool) -> Iterator[str]:
    for node in _statements(body):
        if isinstance(node, _FUNCTIONS) and _named(node.name, file.patterns.functions):
            yield f"{prefix}::{node.name}{ALL_SETS if marked or _has_sets(file, node, False) else ''}"
        elif isinstance(node, ast.ClassDef):
            yield from _in_class(file, node, prefix, marked)


def _in_class(file: _File, node: ast.ClassDef, prefix: str, marked: bool) -> Iterator[str]:
    case = _is_case(file, node)
    members = _members(file, node)
    if not case and (not _named(node.name, file.patterns.classes) or {"__init__", "__new__"} & set(members)):
        return
    if _switched_off(node.body):
        return
    inside = f"{prefix}::{node.name}"
    marked = marked or _marked(node.body) or any(_last_name(one) == "parametrize" for one in node.decorator_list)
    names = ("test",) if case else file.patterns.functions
    for name, member in members.items():
        if isinstance(member, ast.ClassDef):
            yield from () if case else _in_class(file, member, inside, marked)
        elif _named(name, names):
            yield f"{inside}::{name}{ALL_SETS if not case and (marked or _has_sets(file, member, True)) else ''}"


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a body, those under `if`, `try`, `with` and loops too."""
    for node in body:
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            for part in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from _statements(handler.body)


def _members(
    file: _File, node: ast.ClassDef, seen: frozenset[str] = frozenset()
) -> dict[str, _Function | ast.ClassDef]:
    """The methods and classes in a class by name, with those of its bases in the same file."""
    found: dict[str, _Function | ast.ClassDef] = {}
    for base in reversed(node.bases):
        above = file.classes.get(base.id) if isinstance(base, ast.Name) else None
        if above is not None and above is not node and above.name not in seen:
            found.update(_members(file, above, seen | {node.name}))
    found.update((one.name, one) for one in _statements(node.body) if isinstance(one, (*_FUNCTIONS, ast.ClassDef)))
    return found


def _is_case(file: _File, node: ast.ClassDef, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a class is a `TestCase`, by the name of a base or through a class of the same file."""
    for base in node.bases:
        name = _last_name(base)
        if name.endswith("TestCase"):
            return True
        above = file.classes.get(name)
        if above is not None and name not in seen and _is_case(file, above, seen | {node.name, name}):
            return True
    return False


def _has_sets(file: _File, node: _Function, method: bool) -> bool:
    names = {_last_name(one) for one in node.decorator_list}
    asked = _arguments(node) - ({"self", "cls"} if method else set())
    for one in node.decorator_list:
        if isinstance(one, ast.Call) and _last_name(one) == "usefixtures":
            asked |= {arg.value for arg in one.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)}
    return "parametrize" in names or bool(asked & file.sets) or "*" in file.sets


def _arguments(node: _Function) -> set[str]:
    return {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}


def _marked(body: list[ast.stmt]) -> bool:
    """Whether `pytestmark` in this body gives every test in it parameter sets."""
    return any(_last_name(node) == "parametrize" for value in _assigned(body, "pytestmark") for node in ast.walk(value))


def _switched_off(body: list[ast.stmt]) -> bool:
    return any(isinstance(value, ast.Constant) and value.value is False for value in _assigned(body, "__test__"))


def _assigned(body: list[ast.stmt], name: str) -> Iterator[ast.expr]:
    for node in _statements(body):
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets):
            yield node.value


def _last_name(node: ast.AST) -> str:
    """The last name of `a.b.c` or `a.b.c(…)`; "" for anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _named(name: str, patterns: tuple[str, ...]) -> bool:
    return any(name.startswith(one) or (set("*?[") & set(one) and fnmatchcase(name, one)) for one in patterns)


def parsed(source: bytes) -> ast.Module | None:
    """The syntax tree of `source`, None when it is no Python to us."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the file itself would warn of concerns whoever runs it
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
