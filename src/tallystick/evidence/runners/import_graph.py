"""What is carried beside the recorder: it makes of what was heard the graph of what each test file rests on.

The nodes are files of the tree. Edges come from the imports that ran, from submodules that are reached through their
package, from objects of one module that lie in another (a registry, a function put in another's place), and from where
a test file lies: its conftests and packages. What no test file reaches is everyone's. One file, standard library alone,
Python 3.8 upwards.
"""

from __future__ import annotations

import dis
import gc
import os
import sys
from types import CodeType, FunctionType, ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

_CHUNK = 500
_MOST_NAME = 500
_DEEP, _MOST_OBJECTS, _MOST_CONTAINERS = 5, 5_000, 200_000
_CONTAINERS = frozenset((dict, list, tuple, set, frozenset))
#: Hooks of a conftest that pytest calls for what lies below it alone; any other concerns the whole run.
_BELOW = frozenset(
    (
        "pytest_collect_file", "pytest_collect_directory", "pytest_pycollect_makemodule", "pytest_pycollect_makeitem",
        "pytest_generate_tests", "pytest_make_collect_report", "pytest_ignore_collect", "pytest_runtest_protocol",
        "pytest_runtest_setup", "pytest_runtest_call", "pytest_runtest_teardown", "pytest_runtest_makereport",
        "pytest_pyfunc_call", "pytest_fixture_setup", "pytest_fixture_post_finalizer", "pytest_assertrepr_compare",
        "pytest_assertion_pass", "pytest_exception_interact",
    )
)  # fmt: skip
_ATOMS = frozenset((str, bytes, int, float, complex, bool, type(None), type(...), ModuleType, CodeType))
_SKIPPED = ("_pytest.", "pluggy.", "logging.")
_SKIPPED_TYPES = frozenset(("frame", "traceback", "generator", "coroutine", "async_generator", "weakref"))


def rows(heard: Any, read: list[str], names: Callable[[str], Iterable[str]]) -> Iterator[dict[str, Any]]:
    """The rows that say what rests on what; none where that cannot be told apart.

    `heard` is an `Attribution` that has stopped. Files are told by their place in `read`; `names` gives the names of a
    real path in it.
    """
    if heard.whole or not heard.tests:
        return
    graph = Graph(heard)
    numbers = {name: at for at, name in enumerate(read)}
    known: dict[str, list[int]] = {}

    def of(real: str) -> list[int]:
        if real not in known:
            known[real] = [numbers[name] for name in names(real) if name in numbers]
        return known[real]

    tests = [[prefix, number] for prefix, real in heard.tests for number in of(real)[:1]]
    if {prefix for prefix, _ in heard.tests} != {prefix for prefix, _ in tests}:
        return  # a test file that was never opened
    edges: dict[int, set[int]] = {}
    for real, targets in graph.needs.items():
        for number in of(real)[:1]:
            edges[number] = {*of(real)[1:], *(one for target in targets for one in of(target))} - {number}
    common = {number for real in graph.everyones for number in of(real)}
    reached = closure(edges, {*common, *(number for _, number in tests)})
    common.update(set(range(len(read))) - reached)
    rest = [[number, *sorted(targets)] for number, targets in sorted(edges.items()) if targets]
    for kind, told in (("on", rest), ("tests", tests), ("everyones", sorted(common))):
        for at in range(0, len(told), _CHUNK):
            yield {kind: told[at : at + _CHUNK]}


def closure(edges: dict[int, set[int]], starts: Iterable[int]) -> set[int]:
    """All that can be reached from `starts`, themselves among it."""
    found = set(starts)
    left = list(found)
    while left:
        new = edges.get(left.pop(), set()) - found
        found |= new
        left += new
    return found


class Graph:
    """`needs`: which files each file needs by itself; `everyones`: what all need."""

    def __init__(self, heard: Any) -> None:
        self.needs: dict[str, set[str]] = {real: set(targets) for real, targets in heard.needs.items()}
        self.everyones: set[str] = set(heard.everyones)
        self._modules: dict[str, set[str]] = heard.modules
        self._codes: dict[str, CodeType] = heard.codes
        self._children: dict[str, set[str]] = {}
        for name in self._modules:
            for parent in _parents(name):
                self._children.setdefault(parent, set()).add(name[len(parent) + 1 :].partition(".")[0])
        self._files = {file for files in self._modules.values() for file in files}
        self.everyones |= heard.shown - self._files - set(self._codes)
        for owner, name, names in heard.imports:
            self._imported(owner, name, names)
        for file in self._files:
            self._through_packages(file)
        self._left_behind(heard)
        self._around({file for _, file in heard.tests})

    def _imported(self, owner: str, name: str, names: tuple[str, ...]) -> None:
        wanted = [*_parents(name), name, *(f"{name}.{one}" for one in names)]
        if "*" in names and name in self._children:
            told = getattr(sys.modules.get(name), "__dict__", {}).get("__all__")
            inside = self._children[name]
            wanted += [f"{name}.{child}" for child in (inside.intersection(told) if isinstance(told, list) else inside)]
        targets = {file for one in wanted for file in self._modules.get(one, ())}
        if owner:
            self._link(owner, targets)
        else:
            self.everyones |= targets

    def _link(self, owner: str, targets: Iterable[str]) -> None:
        self.needs.setdefault(owner, set()).update(target for target in targets if target != owner)

    def _through_packages(self, file: str) -> None:
        """Submodules that a file names in a text (as `patch` wants it), or reaches as attributes of their package,
        whoever loaded them."""
        code = self._codes.get(file)
        if code is None:
            return
        codes = list(_codes_in(code))
        for name in {text for one in codes for text in one.co_consts if isinstance(text, str) and "." in text}:
            for module in [name, *_parents(name)] if len(name) < _MOST_NAME else ():
                self._link(file, self._modules.get(module, ()) if "." in module else ())
        used = {name for one in codes for name in one.co_names}
        needed = self.needs.get(file, set())
        likely: dict[str, list[tuple[str, str]]] = {}
        for package, children in self._children.items():
            for child in children & used:
                name = f"{package}.{child}"
                if not self._modules.get(name, set()) <= needed:
                    likely.setdefault(child, []).append((package, name))
        if not likely:
            return
        for owners, child in _attributes(one for one in codes if one is code or likely.keys() & set(one.co_names)):
            for package, name in likely.get(child, ()):
                if package.rpartition(".")[2] in owners:
                    self._link(file, self._modules.get(name, ()))

    def _left_behind(self, heard: Any) -> None:
        """What the modules hold at the end: an object whose code lies in another file was put there by it."""
        looks = _Objects(self._modules, set(self._codes) | self._files)
        held = [(name, module) for name, module in list(sys.modules.items()) if _is_module(module)]
        for name, module in held:
            for file in self._modules.get(name, ()):
                found, foreign_cache = looks.of(module, name)
                self._link(file, found)
                if foreign_cache:
                    self._link(file, heard.data)
                if not file.endswith(".py"):  # what a module in C imports and opens has no frame of its own
                    top = name.partition(".")[0] + "."
                    inside = (files for other, files in self._modules.items() if (other + ".").startswith(top))
                    self._link(file, heard.data.union(*inside))
        asking = [file for file, code in self._codes.items() if _asks_for_subclasses(code)]
        if asking:
            classes = [one for _, module in held for one in list(vars(module).values()) if _is_class(one)]
            derived = {file for one in classes for file in self._derived(one)}
            for file in asking:
                self._link(file, derived)

    def _derived(self, kind: type) -> set[str]:
        """The files of classes that are derived from a class of another file of the project."""
        home = _module_of(kind)
        names: set[str] = set()
        if home in self._modules:
            derived: list[type] = type.__subclasses__(kind)
            names = {_module_of(one) for one in derived} - {home}
        return {file for name in names for file in self._modules.get(name, ())}

    def _around(self, tests: set[str]) -> None:
        """Conftests and packages on the way to a test file belong to it, and not to everyone."""
        conftests = {file for file in self._files if os.path.basename(file) == "conftest.py"}
        hooked = set(filter(self._hooked, conftests))
        own = tests | conftests
        for file in tests | conftests:
            for folder in _folders(file):
                for name in ("__init__.py", "conftest.py"):
                    path = os.path.join(folder, name)
                    if path in self._files:
                        self._link(file, [path])
                        own.add(path)
        self.everyones = (self.everyones - own) | hooked

    def _hooked(self, file: str) -> bool:
        """Whether a conftest has hooks that concern tests beside it too."""
        names = set(self._codes[file].co_names if file in self._codes else ("pytest_unknown",))
        return any(one.startswith("pytest_") for one in names - _BELOW - {"pytest_plugins", *sys.modules})


class _Objects:
    """Looks at what modules hold, without running any code of theirs."""

    def __init__(self, modules: dict[str, set[str]], files: set[str]) -> None:
        self._modules = modules
        self._files = files
        self._known: dict[int, tuple[set[str], bool]] = {}

    def of(self, module: ModuleType, name: str) -> tuple[set[str], bool]:
        """The files whose objects a module holds, and whether it caches what a function from elsewhere gives."""
        found: set[str] = set()
        foreign = False
        for value in list(vars(module).values()):
            if type(value) in _ATOMS:
                continue
            if id(value) not in self._known:
                self._known[id(value)] = self._look(value, name)
            found |= self._known[id(value)][0]
            foreign = foreign or self._known[id(value)][1]
        return found, foreign

    def _look(self, value: object, home: str) -> tuple[set[str], bool]:
        found: set[str] = set()
        foreign = False
        objects, seen = 0, {id(value)}
        level = [value]
        for _ in range(_DEEP):
            inner: list[object] = []
            for one in level:
                files, parts, caches = self._one(one, home)
                found |= files
                foreign = foreign or caches
                for part in parts:
                    if type(part) not in _ATOMS and id(part) not in seen:
                        seen.add(id(part))
                        inner.append(part)
                        objects += type(part) not in _CONTAINERS
            if objects > _MOST_OBJECTS or len(seen) > _MOST_CONTAINERS:
                return self._files, foreign  # nobody can say what is in there
            level = inner
        return found, foreign

    def _one(self, value: Any, home: str) -> tuple[set[str], Iterable[object], bool]:
        """The files that one object tells of, what it holds, and whether it caches a foreign function."""
        kind = type(value)
        if kind is FunctionType:
            file = value.__code__.co_filename
            cells = [cell.cell_contents for cell in value.__closure__ or () if _filled(cell)]
            kept = [*cells, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *vars(value).values()]
            return ({file} if file in self._files else set()), kept, False
        if _is_class(value):
            files = set(self._modules.get(_module_of(value), ()))
            return files, list(vars(value).values()) if files else (), False
        module = _module_of(kind)
        if (module + ".").startswith(_SKIPPED) or kind.__name__ in _SKIPPED_TYPES:
            return set(), (), False
        parts = gc.get_referents(value)
        caches = kind.__name__ == "_lru_cache_wrapper" and not any(
            isinstance(one, FunctionType) and one.__code__.co_filename in self._files for one in parts
        )
        return set(self._modules.get(module, ())), [one for one in parts if type(one) not in _ATOMS], caches


def _module_of(kind: type) -> str:
    """The module that a class says it is from; runs no code of its metaclass."""
    name = type.__dict__["__module__"].__get__(kind)
    return name if isinstance(name, str) else ""


def _is_module(thing: object) -> bool:
    return issubclass(type(thing), ModuleType)


def _is_class(thing: object) -> bool:
    """Whether something is a class, whatever it says of itself (`list[int]` of older Pythons, a mock)."""
    return issubclass(type(thing), type)


def _filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty one raises
    except ValueError:
        return False
    return True


def _attributes(codes: Iterable[CodeType]) -> list[tuple[set[str], str]]:
    """Each attribute that is looked up, with the names of what it is looked up in: what was imported, or stored, under
    another name has that one too."""
    stored: dict[str, set[str]] = {}
    pairs: set[tuple[str, str]] = set()
    for code in codes:
        before, bound = "", ""
        for one in dis.get_instructions(code):
            if one.opname in ("CACHE", "EXTENDED_ARG", "PRECALL", "NOP"):
                continue
            names = one.argval if isinstance(one.argval, tuple) else (one.argval,)
            name = names[-1] if names and isinstance(names[-1], str) else ""
            if one.opname in ("LOAD_ATTR", "LOAD_METHOD") and before:
                pairs.add((before, name))
            if one.opname.startswith("STORE_") and names and isinstance(names[0], str):
                stored.setdefault(names[0], set()).update(bound.split(".") if bound else [before])
                bound = ""
            bound = name if one.opname in ("IMPORT_NAME", "IMPORT_FROM") else bound
            loads = one.opname.startswith("LOAD_") and not one.opname.startswith("LOAD_CONST")
            before = name if loads or one.opname == "STORE_FAST_LOAD_FAST" else ""
    return [({owner, *stored.get(owner, ())}, name) for owner, name in pairs]


def _asks_for_subclasses(code: CodeType) -> bool:
    return any("__subclasses__" in one.co_names for one in _codes_in(code))


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes_in(one)


def _parents(name: str) -> list[str]:
    return [name[:at] for at, one in enumerate(name) if one == "."]


def _folders(file: str) -> Iterator[str]:
    folder = os.path.dirname(file)
    while True:
        yield folder
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)
