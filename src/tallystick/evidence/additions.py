"""What may be added to a locked test file without touching a test that is in it. Pure.

Fixtures that nobody asked for, functions without decorators, tests, imports of modules that are loaded anyway. What
Python evaluates when it loads them (decorators, defaults, annotations, bodies of classes) is made of names and
literals alone.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator

from tallystick.evidence.lockset import TEST_FOLDERS
from tallystick.evidence.used_names import BUILT_IN, OPEN, text_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Modules of Python that do something when they are loaded.
_ACTING = frozenset(("antigravity", "idlelib", "lib2to3", "test", "this", "turtledemo"))
#: What a test framework calls by its name: compared in small letters, without underscores.
_XUNIT = frozenset(
    f"{word}{scope}"
    for word in ("setup", "teardown", "asyncsetup", "asyncteardown")
    for scope in ("", "module", "class", "method", "function", "package", "all")
)
_READ_BY_NAME = frozenset(("collect_ignore", "collect_ignore_glob", "load_tests"))
_BUILTINS = frozenset(dir(builtins))
_FIXTURES = ("pytest.fixture", "pytest_asyncio.fixture")
#: Beginnings of fixtures that plugins ask for by themselves, for a mark or for every test.
_PLUGIN_FIXTURES = ("_", "anyio", "celery", "base_url", "django", "event_loop", "live_server")
_FIXTURE_WORDS = frozenset(("scope", "params", "ids", "name", "autouse", "loop_scope"))
_CASES = ("unittest.TestCase", "unittest.IsolatedAsyncioTestCase")
_MARK = "pytest.mark."
#: Marks that plugins take as a place in the order of all tests.
_ORDERING = frozenset(("order", "run", "first", "tryfirst", "last", "trylast"))
_DECORATORS = ("hypothesis.given", "hypothesis.example", "hypothesis.settings")
_STRATEGIES = "hypothesis.strategies."
_LITERALS = (ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict)


class Additions:
    """What is added to one file, statement after statement.

    `taken` are the names that no addition may bind, `loaded` the modules that the statements so far have imported.
    """

    __slots__ = ("_origins", "loaded", "taken")

    def __init__(self, tree: ast.Module, taken: frozenset[str]) -> None:
        self.taken = set(taken)
        self.loaded: set[str] = set()
        self._origins = _origins(tree)

    def takes(self, statement: ast.stmt, *, at_end: bool) -> bool:
        """Whether `statement` is a fair addition; its names are taken then. `at_end`: no test of the file follows."""
        names: Iterable[str] | None = None
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            names = self._of_import(statement)
        elif isinstance(statement, _FUNCTIONS):
            names = self._of_function(statement, at_end)
        elif isinstance(statement, ast.ClassDef) and at_end and self._is_case(statement):
            names = (statement.name,)
        if names is None:
            return False
        for name in names:
            if name in self.taken or _is_reserved(name):
                return False
            self.taken.add(name)
        return True

    def takes_method(self, node: ast.stmt, members: set[str]) -> bool:
        """Whether `node` is a fair test to add to a class that binds `members`; it is one of them then."""
        if not isinstance(node, _FUNCTIONS) or not node.name.startswith("test") or node.name in members:
            return False
        members.add(node.name)
        return self._is_plain(node) and all(self._is_mark(one) for one in node.decorator_list)

    def fair_bases(self, node: ast.ClassDef) -> bool:
        """Whether a class inherits nothing that a test added to it could stand in for."""
        plain = not node.keywords and not getattr(node, "type_params", [])
        return plain and all(self._origin(one) in _CASES for one in node.bases)

    def _of_import(self, node: ast.Import | ast.ImportFrom) -> list[str] | None:
        if isinstance(node, ast.ImportFrom):
            if node.level or not self._may_load(node.module or "") or any(one.name == "*" for one in node.names):
                return None
            names = [one.asname or one.name for one in node.names]
        else:
            if not all(self._may_load(one.name) for one in node.names):
                return None
            names = [one.asname or one.name.partition(".")[0] for one in node.names]
            names = [] if names == ["pytest"] and "pytest" not in self.taken else names
        self.loaded.update(imported_modules(node))
        return names

    def _may_load(self, module: str) -> bool:
        parts = module.split(".")
        if parts[0] in _ACTING or any(part.startswith("_") for part in parts):
            return False
        if parts[0] in sys.stdlib_module_names or module == "pytest":
            return True
        return module in self.loaded and parts[0] not in TEST_FOLDERS and parts[0] != "conftest"

    def _of_function(self, node: _Function, at_end: bool) -> tuple[str, ...] | None:
        if not self._is_plain(node):
            return None
        if len(node.decorator_list) == 1:
            named = self._fixture(node.decorator_list[0])
            if named is not None:
                name = named or node.name
                foreign = name.startswith(_PLUGIN_FIXTURES) or name in BUILT_IN or OPEN in self.taken
                return None if foreign else tuple({node.name, name})
        if node.name.startswith("test"):
            return (node.name,) if at_end and all(self._is_mark(one) for one in node.decorator_list) else None
        return None if node.decorator_list else (node.name,)

    def _is_case(self, node: ast.ClassDef) -> bool:
        """Whether a class is one of tests, and nothing in it is evaluated but names and literals."""
        return (
            (is_case_name(node.name) or bool(node.bases))
            and self.fair_bases(node)
            and all(self._is_mark(one) for one in node.decorator_list)
            and all(self._is_member(one) for one in node.body)
        )

    def _is_member(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.Expr):
            return isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Assign):
            plain = all(isinstance(one, ast.Name) and not one.id.startswith("__") for one in node.targets)
            return plain and self._is_inert(node.value, names=False)
        if not isinstance(node, _FUNCTIONS):
            return isinstance(node, ast.Pass)
        decorated = all(
            self._is_mark(one)
            or self._fixture(one) is not None
            or self._builtin(one) in ("staticmethod", "classmethod")
            for one in node.decorator_list
        )
        return decorated and not node.name.startswith("__") and self._is_plain(node)

    def _is_plain(self, node: _Function) -> bool:
        """Whether defining the function evaluates names and literals alone, and it declares nothing global."""
        args = node.args
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *(one for one in (args.vararg, args.kwarg) if one)]
        annotations = [one for one in (node.returns, *(arg.annotation for arg in every)) if one is not None]
        defaults = [*args.defaults, *(one for one in args.kw_defaults if one is not None)]
        return (
            not getattr(node, "type_params", [])
            and all(self._is_inert(one) for one in defaults)
            and all(_is_annotation(one) for one in annotations)
            and not any(isinstance(one, ast.Global) for one in ast.walk(node))
        )

    def _fixture(self, node: ast.expr) -> str | None:
        """The name that a fixture's decorator gives, "" where it gives none; None for another decorator, or one that
        would be used by tests which do not ask for it."""
        if self._origin(node.func if isinstance(node, ast.Call) else node) not in _FIXTURES:
            return None
        if not isinstance(node, ast.Call):
            return ""
        if node.args or not _FIXTURE_WORDS.issuperset(one.arg or OPEN for one in node.keywords):
            return None
        words = {one.arg: one.value for one in node.keywords}
        always = words.pop("autouse", None)
        if always is not None and not (isinstance(always, ast.Constant) and always.value is False):
            return None
        params = words.pop("params", None)
        if params is not None and not self._is_inert(params):
            return None
        if not all(self._is_inert(one, names=False) for one in words.values()):
            return None
        return text_of(words["name"]) or None if "name" in words else ""

    def _is_mark(self, node: ast.expr) -> bool:
        """Whether a decorator is a mark of pytest or one of Hypothesis, given names and literals."""
        origin = self._origin(node.func if isinstance(node, ast.Call) else node)
        if origin.startswith(_MARK):
            return origin.removeprefix(_MARK) not in _ORDERING and self._is_inert(node)
        return isinstance(node, ast.Call) and origin in _DECORATORS and self._is_inert(node)

    def _is_inert(self, node: ast.expr, *, names: bool = True) -> bool:
        """Whether evaluating `node` runs nothing: literals, names (unless not `names`), values of pytest and Hypothesis
        made of them."""
        waiting: list[ast.expr | None] = [node]
        while waiting:
            one = waiting.pop()
            if isinstance(one, ast.Call):
                if not self._is_fair_call(one):
                    return False
                waiting.extend((*one.args, *(word.value for word in one.keywords)))
            elif isinstance(one, (ast.Name, ast.Attribute)):
                if not _is_dotted(one) or not (names or self._origin(one).startswith(_MARK)):
                    return False
            elif isinstance(one, ast.UnaryOp):
                if not isinstance(one.operand, ast.Constant):
                    return False
            elif isinstance(one, ast.Dict):
                waiting.extend((*one.keys, *one.values))  # a key None is `**` before what follows
            elif isinstance(one, (ast.Tuple, ast.List, ast.Set)):
                waiting.extend(one.elts)
            elif not isinstance(one, ast.Constant):
                return False
        return True

    def _is_fair_call(self, node: ast.Call) -> bool:
        """Whether a call makes a value of pytest or Hypothesis and touches nothing else."""
        origin = self._origin(node.func)
        if any(one.arg is None for one in node.keywords):
            return False
        if origin.startswith(_MARK):
            # a mark that is given one thing alone marks it; names of parameter sets may be made by a function
            alone = len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], _LITERALS)
            named = all(one.arg != "ids" or isinstance(one.value, _LITERALS) for one in node.keywords)
            return not alone and named and all(isinstance(one, _LITERALS) for one in node.args[2:])
        strategy = origin.startswith(_STRATEGIES) and not origin.removeprefix(_STRATEGIES).startswith("register")
        return strategy or origin == "pytest.param" or origin in _DECORATORS

    def _origin(self, node: ast.expr) -> str:
        """The full name of what `a.b.c` is by the imports of the file, "" where they do not tell."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        start = self._origins.get(node.id, "") if isinstance(node, ast.Name) else ""
        return ".".join((start, *reversed(names))) if start else ""

    def _builtin(self, node: ast.expr) -> str:
        return node.id if isinstance(node, ast.Name) and node.id in _BUILTINS and node.id not in self._origins else ""


def imported_modules(node: ast.stmt) -> Iterator[str]:
    """The modules that an import statement loads for certain."""
    if isinstance(node, ast.Import):
        for one in node.names:
            parts = one.name.split(".")
            yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module


def is_case_name(name: str) -> bool:
    """Whether a class is one of tests by its name."""
    return name.startswith("Test") or name.endswith(("Test", "Tests", "TestCase"))


def _origins(tree: ast.Module) -> dict[str, str]:
    """What each name of the module is that one import binds and nothing else in the file."""
    found: dict[str, str] = {}
    other: set[str] = set()
    at_top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            other.update(() if isinstance(node, ast.alias) else bound_by(node))
            continue
        start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        relative = isinstance(node, ast.ImportFrom) and bool(node.level)
        for one in node.names:
            whole = isinstance(node, ast.Import) and one.asname is None
            name = one.name.partition(".")[0] if whole else one.asname or one.name
            origin = name if whole else start + one.name
            if relative or id(node) not in at_top or found.setdefault(name, origin) != origin:
                other.add(name)
    return {name: origin for name, origin in found.items() if name not in other}


def bound_by(node: ast.AST) -> Iterator[str]:
    """The names that a node itself binds in the scope around it."""
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _is_annotation(node: ast.expr) -> bool:
    """Whether an annotation is made of names, literals, `[…]` and `|`."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Subscript):
            waiting.extend((one.value, one.slice))
        elif isinstance(one, ast.BinOp) and isinstance(one.op, ast.BitOr):
            waiting.extend((one.left, one.right))
        elif isinstance(one, (ast.Tuple, ast.List)):
            waiting.extend(one.elts)
        elif not isinstance(one, ast.Constant) and not _is_dotted(one):
            return False
    return True


def _is_dotted(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _is_reserved(name: str) -> bool:
    """Whether Python or a test framework looks a name of a module up by itself."""
    plain = name.lower().replace("_", "")
    return name.startswith(("pytest", "__")) or name in _READ_BY_NAME or name in _BUILTINS or plain in _XUNIT
