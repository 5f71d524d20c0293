"""What is carried into a recorded run besides the recorder: it looks whether the tests that ran are those in the files.

A test is code in the same process as what it tests, so what it tests can reach it: put another function in the place of
a test, or of a part of the runner, and let everything pass that was never built. No failure made on purpose shows that
afterwards. So the parts of the runner are noted before any code of the project runs and compared when it has run, and
each test is looked at as it is called. What a conftest or a file in a folder of tests does is theirs to do: those are
locked. One file, standard library alone, Python 3.8 upwards.

It sees what is changed openly. Whoever knows this file and hides what he did can still lie in his own process.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import os
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: The runner, and what tests compare and read with.
_WATCHED = frozenset(
    ("_pytest", "pytest", "pluggy", "unittest", "doctest", "json", "csv", "math", "operator", "pathlib", "re",
     "contextlib", "decimal", "difflib", "io", "tomllib")
)  # fmt: skip
_TEST_FOLDERS = frozenset(("tests", "test", "testing", "__tests__"))
#: What a test is written in, and what it reads.
_TEXTS = (".py", ".json", ".jsonl", ".toml", ".yaml", ".yml", ".csv", ".tsv", ".txt", ".ini", ".cfg", ".xml", ".snap")
_OFTEN_REPLACED = frozenset(("print", "input", "_", "open", "__import__", "exit", "quit", "copyright", "help"))
_NO_TESTS = frozenset(("node_modules", "__pycache__", "site-packages", "build", "dist", "target"))
#: Code that is made of no file by Python itself and by well known libraries.
_MADE = ("<frozen", "<attrs", "<doctest", "<decorator-gen")
_MOST = 20
_DEEP = 20


class Integrity:
    """Notes the runner's parts when it is made; `root` is the project's top folder."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root) + os.sep
        self._libraries = tuple(self._installed())
        self._found: dict[str, None] = {}
        self._trees: dict[str, Any] = {}
        self._known: dict[str, str] = {}
        self._before = dict(_parts())
        self._at_start()
        self._stamps = dict(self._tests())
        self._hooks = (sys.getprofile(), sys.gettrace())

    def item(self, item: Any) -> None:
        """Look at a test of pytest that is about to run."""
        path, dtest = str(getattr(item, "path", "")), getattr(item, "dtest", None)
        if dtest is None:
            self.test(item.nodeid, getattr(item, "obj", None), path)
        elif path.endswith(".py"):
            module = str(dtest.globs.get("__name__", ""))
            part = dtest.name[len(module) + 1 :] if dtest.name.startswith(module + ".") else ""
            self.doctest(item.nodeid, dtest.docstring, path, part)

    def test(self, name: str, function: Any, path: str) -> None:
        """Look at the function that is about to be run as the test `name` of the file at `path`."""
        code = _code(function)
        if code is None:
            if isinstance(function, types.BuiltinFunctionType):
                self._note(f"{name} is {function.__name__}")
        elif self._is_subject(code.co_filename) and not _wraps_one_of(function, os.path.realpath(path)):
            self._note(f"{name} is the code of {self._place(code)}")

    def doctest(self, name: str, text: object, path: str, part: str) -> None:
        """Look at the text of a doctest: what the file has at `part` (dots between the names, "" is the file's own)."""
        written = self._written(path, part)
        if isinstance(text, str) and written is not None and inspect.cleandoc(text) != inspect.cleandoc(written):
            self._note(f"{name} is another text than the one in the file")

    def seen(self) -> list[str]:
        """What is not as it was, in words; at most 20."""
        self._helpers()
        for name, now in _parts():
            was = self._before.get(name)
            if now is was:
                continue
            code = _code(now)
            if code is None:
                foreign = was is not None and not isinstance(now, type) and type(now).__module__ == "builtins"
                if foreign or (was is not None and self._of_subject(now)):
                    self._note(f"{name} is something else now")
            elif self._is_subject(code.co_filename) and not (was is None and code.co_filename.startswith("<")):
                self._note(f"{name} is the code of {self._place(code)}")
        for path, stamp in self._tests():
            if self._stamps.get(path, stamp) != stamp:
                self._note(f"{path[len(self._root) :]} was written while the tests ran")
        for hook in (sys.getprofile(), sys.gettrace()):
            code = _code(hook)
            if hook not in self._hooks and code is not None and self._is_subject(code.co_filename):
                self._note(f"{self._place(code)} listens to every call")
        return list(self._found)[:_MOST]

    def _at_start(self) -> None:
        """Look whether somebody was there before us: a file that runs whenever this Python starts."""
        folders = {
            os.path.dirname(str(module.__file__))
            for name in ("_pytest", "pluggy", "unittest")
            if isinstance(module := sys.modules.get(name), types.ModuleType) and module.__file__
        }
        own = tuple(folder + os.sep for folder in folders)
        library = (os.path.dirname(os.__file__) + os.sep, "<frozen")
        for name, part in self._before.items():
            if not isinstance(part, types.CodeType) or not name.startswith(("_pytest.", "pluggy.", "unittest.")):
                continue
            made = name.rpartition(".")[2].startswith("__")  # what is generated for a class has no file
            of_library = part.co_filename.startswith(library) and "site-packages" not in part.co_filename
            if not made and not of_library and not part.co_filename.startswith(own):
                self._note(f"{name} is the code of {part.co_filename}")

    def _helpers(self) -> None:
        """Look whether the functions and classes of loaded test files are those that are written there."""
        loaded: list[Any] = list(sys.modules.values())
        for module in loaded:
            file = vars(module).get("__file__") if isinstance(module, types.ModuleType) else None
            if not isinstance(file, str) or not self._is_of_tests(file):
                continue
            for node in getattr(self._tree(file), "body", ()):
                if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    continue
                value = vars(module).get(node.name)
                code = _code(value)
                if code is not None and self._is_subject(code.co_filename) and not _wraps_one_of(value, file):
                    self._note(f"{node.name} of {os.path.basename(file)} is the code of {self._place(code)}")

    def plugin(self, plugin: object) -> None:
        """Look at a plugin that was registered with the runner."""
        if not isinstance(plugin, types.ModuleType) and self._of_subject(plugin):
            kind = plugin if isinstance(plugin, type) else type(plugin)
            self._note(f"a plugin of {kind.__module__} was registered")

    def _tests(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The texts that tests are made of, and what cannot be set back when one was written."""
        folders = [self._root.rstrip(os.sep)]
        for folder in folders:
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not entry.name.startswith(".") and entry.name not in _NO_TESTS:
                        folders.append(entry.path)
                elif entry.name.endswith(_TEXTS) and _is_of_tests(entry.path[len(self._root) :]):
                    status = entry.stat(follow_symlinks=False)
                    yield entry.path, (status.st_ino, status.st_size, status.st_ctime_ns)

    def _note(self, says: str) -> None:
        if len(self._found) < _MOST:
            self._found[says] = None

    def _of_subject(self, thing: object) -> bool:
        """Whether a value, or its class, is defined in what is tested."""
        kind = thing if isinstance(thing, type) else type(thing)
        file = getattr(sys.modules.get(kind.__module__), "__file__", None)
        return isinstance(file, str) and self._is_subject(file)

    def _is_subject(self, path: str) -> bool:
        """Whether a file is neither Python's, nor installed, nor one of the tests."""
        inside = self._inside(path)
        return bool(inside) and not (inside != path and _is_of_tests(inside))

    def _is_of_tests(self, path: str) -> bool:
        inside = self._inside(path)
        return bool(inside) and inside != path and _is_of_tests(inside)

    def _inside(self, path: str) -> str:
        """The path of a file from the project's top; as it is where it lies elsewhere, "" where a library does."""
        if path not in self._known:
            real = os.path.realpath(path)
            if path.startswith(_MADE) or real.startswith(self._libraries):
                self._known[path] = ""
            else:
                self._known[path] = real[len(self._root) :] if real.startswith(self._root) else real
        return self._known[path]

    def _installed(self) -> Iterator[str]:
        """The folders of this Python's own library and of what is installed for it; none that the project brings."""
        prefixes = [os.path.realpath(one) + os.sep for one in (sys.prefix, sys.base_prefix, sys.exec_prefix)]
        for prefix in prefixes:
            yield from (prefix + "lib" + os.sep, prefix + "lib64" + os.sep, prefix + "local" + os.sep + "lib" + os.sep)
        yield os.path.dirname(os.path.abspath(__file__)) + os.sep
        for entry in map(os.path.realpath, sys.path):
            if entry.endswith("-packages") and not entry.startswith(self._root):
                yield entry + os.sep

    def _place(self, code: types.CodeType) -> str:
        return f"{self._inside(code.co_filename)}:{code.co_firstlineno}"

    def _tree(self, path: str) -> Any:
        if path not in self._trees:
            try:
                with open(path, "rb") as file:
                    self._trees[path] = ast.parse(file.read())
            except (OSError, SyntaxError, ValueError):
                self._trees[path] = None
        return self._trees[path]

    def _written(self, path: str, part: str) -> str | None:
        """The docstring that stands in the file, None where there is none by its syntax tree."""
        node = self._tree(path)
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        for name in filter(None, part.split(".")):
            inside = [one for one in getattr(node, "body", ()) if isinstance(one, kinds) and one.name == name]
            node = inside[-1] if inside else None
        return None if node is None else ast.get_docstring(node)


def _wraps_one_of(function: Any, path: str) -> bool:
    """Whether a function is made around one that is written in the file, as a decorator does that does not say so."""
    for cell in getattr(getattr(function, "__func__", function), "__closure__", None) or ():
        try:
            code = _code(cell.cell_contents)
        except ValueError:  # an empty cell
            continue
        if code is not None and os.path.realpath(code.co_filename) == os.path.realpath(path):
            return True
    return False


def _is_of_tests(path: str) -> bool:
    *folders, name = path.split(os.sep)
    if _TEST_FOLDERS.intersection(folders):
        return True
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


def _parts() -> Iterator[tuple[str, Any]]:
    """Everything in the runner that could be put in the place of something else, by its name."""
    for name, value in list(vars(builtins).items()):
        if callable(value) and name not in _OFTEN_REPLACED:
            yield f"builtins.{name}", _bare(value)
    for where, module in list(sys.modules.items()):
        if where.partition(".")[0] not in _WATCHED or not isinstance(module, types.ModuleType):
            continue
        for name, value in list(vars(module).items()):
            if isinstance(value, type):
                if value.__module__ == where:
                    yield from _members(f"{where}.{name}", value)
                else:
                    yield f"{where}.{name}", value
            elif not name.startswith("__") and (isinstance(value, _CALLED) or callable(value)):
                yield f"{where}.{name}", _bare(value)


_CALLED = (types.FunctionType, types.BuiltinFunctionType, functools.partial)


def _members(where: str, kind: type) -> Iterator[tuple[str, Any]]:
    yield where, kind
    for name, value in list(vars(kind).items()):
        if isinstance(value, property):
            for part, function in (("read", value.fget), ("written", value.fset)):
                if function is not None:
                    yield f"{where}.{name} ({part})", _bare(function)
        elif isinstance(value, (classmethod, staticmethod)):
            yield f"{where}.{name}", _bare(value.__func__)
        elif callable(value) and not isinstance(value, type):
            yield f"{where}.{name}", _bare(value)


def _bare(value: Any) -> Any:
    """What tells one function from another: its code, which can be exchanged too."""
    return value.__code__ if isinstance(value, types.FunctionType) else value


def _code(value: Any) -> types.CodeType | None:
    """The code that is run in the end when `value` is called; None where it is no Python."""
    for _ in range(_DEEP):
        if isinstance(value, types.CodeType):
            return value
        inner = getattr(getattr(value, "hypothesis", None), "inner_test", None)
        inner = inner or getattr(value, "__wrapped__", None) or getattr(value, "__func__", None)
        if inner is None and isinstance(value, functools.partial):
            inner = value.func
        if inner is None:
            code = getattr(value, "__code__", None)
            return code if isinstance(code, types.CodeType) else None
        value = inner
    return None
