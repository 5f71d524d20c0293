"""Which names the locked files of a test use, so that nothing that is added stands in for one of them. Pure."""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterable, Iterator

from tallystick.evidence.fingerprints import source_tree
from tallystick.evidence.source_ids import parsed

#: Stands among the names where a locked file asks for fixtures that no locked file defines: they may ask for others.
OPEN = "*"
#: The fixtures of pytest itself.
BUILT_IN = frozenset(
    (
        "cache", "capfd", "capfdbinary", "caplog", "capsys", "capsysbinary", "capteesys", "doctest_namespace",
        "monkeypatch", "pytestconfig", "record_property", "record_testsuite_property", "record_xml_attribute",
        "recwarn", "request", "subtests", "testdir", "pytester", "linecomp", "LineMatcher", "tmp_path",
        "tmp_path_factory", "tmpdir", "tmpdir_factory",
    )
)  # fmt: skip
#: Fixtures of plugins that ask for none of others but pytest's.
_CLOSED = frozenset(("mocker", "class_mocker", "module_mocker", "package_mocker", "session_mocker", "requests_mock"))
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WORD = re.compile(r"[^\W\d]\w*")
_TEXT_MOST = 10_000  # characters; a longer string constant is not tried as Python


def used_names(sources: Iterable[bytes]) -> frozenset[str]:
    """Every name that could be looked up for the locked Python `sources`, as they were at red.

    That is each identifier, attribute, parameter and part of an imported name, and what a string constant may mean by
    a name: a fixture, a target to patch, an expression. A test function or a class is in only where it is used, a
    keyword of a call never. Of a source that is no Python to us every word is in. `OPEN` is among them where fixtures
    may be in use that the sources do not name.
    """
    names: set[str] = set()
    asked: set[str] = set()
    defined: set[str] = set(BUILT_IN | _CLOSED)
    for source in sources:
        tree = source_tree(source)
        if tree is None:
            names.update(_WORD.findall(source.decode("utf-8", "replace")), (OPEN,))
            continue
        names.update(_in_tree(tree))
        wants, gives = _fixtures(tree)
        asked |= wants
        defined |= gives
    if asked - defined or {"pytest_plugins", "pytest_generate_tests"} & names:
        names.add(OPEN)
    return frozenset(names)


def last_name(node: ast.AST) -> str:
    """The last name of `a.b.c` or `a.b.c(…)`; "" for anything else."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def text_of(node: ast.AST | None) -> str:
    """The text of a string constant, "" for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _in_tree(tree: ast.Module) -> Iterator[str]:
    texts: deque[str] = deque()
    trees: list[ast.Module] = [tree]
    while trees or texts:
        if not trees:
            text = texts.popleft()
            inside = None if ">>>" in text else _as_python(text)
            if inside is not None:
                trees.append(inside)
            elif ">>>" in text or len(text) > _TEXT_MOST or not any(map(str.isspace, text.strip())):
                yield from _WORD.findall(text)
            continue
        for node in ast.walk(trees.pop()):
            if isinstance(node, ast.Constant):
                if isinstance(node.value, str) and _WORD.search(node.value):
                    texts.append(node.value)
                continue
            yield from _identifiers(node)


def _identifiers(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.keyword, ast.ClassDef)):
        return
    if isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
        return
    for field in node._fields:
        value = getattr(node, field, None)
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, str) and one != "*":
                yield from one.split(".")


def _as_python(text: str) -> ast.Module | None:
    """What `text` is as Python; it is always longer than any text inside it."""
    if len(text) > _TEXT_MOST:
        return None
    from textwrap import dedent

    forms = (parsed(form.encode("utf-8", "surrogatepass")) for form in (text.strip(), dedent(text)))
    return next((tree for tree in forms if tree is not None), None)


def _fixtures(tree: ast.Module) -> tuple[set[str], set[str]]:
    """The fixtures that tests and fixtures of a file ask for, and what the file gives: fixtures and parameter sets."""
    asked: set[str] = set()
    given: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = last_name(node)
            if called in ("usefixtures", "getfixturevalue"):
                asked.update(text_of(one) or OPEN for one in node.args)
            elif called == "parametrize" and node.args:
                given.update(_parameter_names(node.args[0]))
        elif isinstance(node, ast.ImportFrom) and any(one.name == "*" for one in node.names):
            asked.add(OPEN)
        elif isinstance(node, _FUNCTIONS):
            fixture = next((one for one in node.decorator_list if last_name(one).endswith("fixture")), None)
            if fixture is not None:
                words = fixture.keywords if isinstance(fixture, ast.Call) else []
                renamed = next((text_of(one.value) for one in words if one.arg == "name"), "")
                given.add(renamed or node.name)
            if fixture is not None or node.name.startswith("test"):
                asked |= _asked_for(node)
    return asked, given


def _asked_for(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The parameters that a runner fills: those without a default that `given` of Hypothesis does not fill."""
    plain = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
    plain = plain[: len(plain) - len(node.args.defaults)]
    named = [one.arg for one, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value is None]
    for one in node.decorator_list:
        if isinstance(one, ast.Call) and last_name(one) == "given":
            plain = plain[: max(0, len(plain) - len(one.args))]
            filled = {word.arg for word in one.keywords}
            plain = [name for name in plain if name not in filled]
            named = [name for name in named if name not in filled]
    return {*plain, *named} - {"self", "cls"}


def _parameter_names(node: ast.expr) -> Iterator[str]:
    for one in node.elts if isinstance(node, (ast.Tuple, ast.List)) else (node,):
        yield from (name.strip() for name in text_of(one).split(","))
