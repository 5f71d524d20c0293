"""What is carried beside the recorder: it listens which file of the tree needs which other one.

Tests share a run, so what the run read says too much about each of them. Here is kept, for each file of the project,
what it imported and what was opened while its code was on the stack; `import_graph.py` makes of that what each test
file rests on. Where nobody can be named, a file is everyone's. One file, standard library alone, Python 3.8 upwards.

`builtins.__import__` is asked for every import statement, loaded or not. What stands in its place here gives the
interpreter the real one back, so that no frame of ours is on the stack while a module runs, nor in a traceback.
"""

from __future__ import annotations

import builtins
import opcode
import os
import sys
from importlib import _bootstrap
from types import CodeType, FrameType, FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BOOT: Any = _bootstrap  # its `_gcd_import` is what import_module calls, however one came by that
_MOST = 100_000
_BOOTSTRAP = "<frozen importlib._bootstrap>"
_IMPORT, _EXTENDED = opcode.opmap.get("IMPORT_NAME"), opcode.opmap.get("EXTENDED_ARG")
_CONSTANT, _SMALL = opcode.opmap.get("LOAD_CONST"), opcode.opmap.get("LOAD_SMALL_INT")
#: Modules of the standard library that keep what they read for whoever asks next; the others read anew.
_KEEPING = frozenset(("logging", "gettext", "zoneinfo", "mimetypes", "filecmp", "locale", "multiprocessing"))
#: Installed packages that keep nothing of what they read for another test.
_READING = frozenset(("_pytest", "pytest", "pluggy", "syrupy", "pytest_regressions", "pytest_datadir"))
_SITES = ("site-packages", "dist-packages")
_SHOWING = os.sep + "linecache.py"
_PLAIN, _SHOWS, _KEEPS = "", "\0shows", "\0keeps"
_WORDS = ("", "\0")  # how what is no file of the project begins


class Attribution:
    """Keeps who needs what. `place` says where a real path lies ("tree" is the project), `real` gives the source of a
    path with the links of its folder followed."""

    def __init__(self, root: str, place: Callable[[str], str], real: Callable[[str], str]) -> None:
        self._root = os.path.realpath(root)
        self._place = place
        self._real = real
        self._owners: dict[str, str] = {}
        self._places: dict[str, str] = {}
        self._foreign: set[str] = set()
        self._sites: dict[tuple[int, int], CodeType] = {}
        self.item = ""  # the file of the test that runs now
        self.whole = ""  # why nothing can be told apart
        self.tests: dict[tuple[str, str], None] = {}
        self.codes: dict[str, CodeType] = {}
        self.modules: dict[str, set[str]] = {}
        self.imports: dict[tuple[str, str, tuple[str, ...]], None] = {}
        self.needs: dict[str, set[str]] = {}
        self.data: set[str] = set()
        self.everyones: set[str] = set()
        self.shown: set[str] = set()
        for module in list(sys.modules.values()):  # what was there before us nobody of the project asked for
            self.everyones.update(filter(None, (self._file_of(module),)))
        self._listen()

    def knows(self, prefix: str, path: str) -> None:
        """Hear that the ids which begin with `prefix` are those of the tests in a file."""
        file = self._file(os.path.abspath(path)) if path else ""
        if file and len(self.tests) < _MOST:
            self.tests[prefix, file] = None
        else:
            self.whole = self.whole or "tests"

    def begins(self, prefix: str, path: str) -> None:
        """Hear that a test of this file begins."""
        self.knows(prefix, path)
        self.item = self._file(os.path.abspath(path)) if path else ""

    def ends(self) -> None:
        """Hear that it is over."""
        self.item = ""

    def opened(self, path: str) -> None:
        """Hear that a file is being opened by whoever is on the stack."""
        real = self._file(path)
        if not real:
            return
        owners, kept, importing, shows = self._stack(sys._getframe(1))
        if self.item:
            self._need(self.item, real)
        if shows:
            self.shown.add(real)
        elif importing and owners:
            self._need(owners[0], real)
        elif not importing:
            self.data.add(real)
            for owner in owners:
                self._need(owner, real)
        if not shows and (kept or not owners):
            (self.shown if real in self.codes else self.everyones).add(real)

    def executed(self, code: object) -> None:
        """Hear that a module's code is about to run."""
        if not isinstance(code, CodeType) or code.co_filename.startswith("<"):
            return
        file = self._owner_of(code.co_filename)
        if file[:1] in _WORDS or (file in self.codes and self.codes[file] is code):
            return
        self.codes[file] = code
        try:
            name = next(reversed(sys.modules))
            if self._file_of(sys.modules.get(name)) != file:
                name = next(one for one, module in list(sys.modules.items()) if self._file_of(module) == file)
        except (StopIteration, TypeError, RuntimeError):
            return
        self.modules.setdefault(name, set()).add(file)

    def asks(self) -> bool:
        """Whether code of the project is on the stack, or a test runs."""
        return bool(self.item or self._stack(sys._getframe(1))[0])

    def stop(self) -> None:
        """Put back what was replaced, and take the names of all modules. Whoever replaced it too hid what he did."""
        if builtins.__import__ is not self._statement or _BOOT._gcd_import is not self._function:
            self.whole = self.whole or "imports"
        else:
            builtins.__import__ = self._import
            _BOOT._gcd_import = self._gcd_import
        for name, module in list(sys.modules.items()):
            file = self._file_of(module)
            if file:
                self.modules.setdefault(name, set()).add(file)

    def _listen(self) -> None:
        self._import, self._gcd_import = builtins.__import__, _BOOT._gcd_import
        self._called = _in_importlib(_called, {"_ORIGINAL": self._import, "_HEARD": self._dynamic})
        self._function = _in_importlib(_imported, {"_ORIGINAL": self._gcd_import, "_HEARD": self._dynamic})
        self._statement = _statement(self._import, self._sites, self._site)
        _BOOT._gcd_import = self._function
        builtins.__import__ = self._statement
        os.register_at_fork(after_in_parent=self._forked, after_in_child=self._forked)

    def _forked(self) -> None:
        self.whole = "forks"

    def _site(self, frame: FrameType) -> Any:
        """Note an import statement that runs for the first time; what is to be called for it."""
        code, at = frame.f_code, frame.f_lasti
        told = _told(code, at)
        if told is None:
            return self._called
        if len(self._sites) >= _MOST:
            self.whole = "bound"
            return self._import
        self._sites[id(code), at] = code
        owner = self._owner(frame)
        self._note("" if owner.startswith("\0") else owner, *told, space=frame.f_globals)
        return self._import

    def _dynamic(self, name: Any, names: Any, level: Any, space: Any) -> None:
        """Note a call that imports: whoever of the project asked for it, else it is everyone's."""
        if not level and self._is_foreign(str(name).partition(".")[0]):
            return
        owners, kept, _, _ = self._stack(sys._getframe(2))
        fits = isinstance(names, (tuple, list))
        told = (str(name), tuple(map(str, names)) if fits else (), level if isinstance(level, int) else 0)
        if not owners or kept:
            self._note("", *told, space=space)
        for owner in {*owners[:1], *filter(None, (self.item,))}:
            self._note(owner, *told, space=space)

    def _is_foreign(self, top: str) -> bool:
        """Whether a top-level module is known to be none of the project's."""
        space = getattr(sys.modules.get(top), "__dict__", None)
        if top in self._foreign or not isinstance(space, dict):
            return top in self._foreign
        file, path = space.get("__file__"), space.get("__path__") or ()
        places = [*path, file] if isinstance(path, list) else [file]
        if isinstance(file, str) and not any(self._owner_of(str(one))[:1] not in _WORDS for one in places):
            self._foreign.add(top)
        return top in self._foreign

    def _note(self, owner: str, name: str, names: tuple[str, ...], level: int, space: Any) -> None:
        absolute = _absolute(name, level, space if isinstance(space, dict) else {})
        if len(self.imports) < _MOST:
            self.imports[owner, absolute, names] = None
        else:
            self.whole = "bound"

    def _need(self, owner: str, real: str) -> None:
        if owner != real:
            self.needs.setdefault(owner, set()).add(real)

    def _stack(self, frame: FrameType | None) -> tuple[list[str], bool, bool, bool]:
        """Who is on the stack: the project's files from the innermost on; whether somebody between them and us keeps
        what he gets for others; whether it is an import; whether lines of a source are only shown."""
        owners: list[str] = []
        kept = importing = shows = False
        known = self._owners.get
        while frame is not None:
            name = frame.f_code.co_filename
            owner = known(name)
            if owner is None:
                owner = self._owner(frame)
            if owner[:1] not in _WORDS:
                if owner not in owners:
                    owners.append(owner)
                    if importing:
                        break  # who imports is the innermost
            elif not owners:
                if name == _BOOTSTRAP and not importing and not shows:
                    importing, kept = True, False
                shows = shows or owner == _SHOWS
                kept = kept or owner == _KEEPS
            frame = frame.f_back
        return owners, kept, importing, shows

    def _owner(self, frame: FrameType) -> str:
        """Whose code a frame runs: a file of the project, or one of the three words."""
        name = frame.f_code.co_filename
        if not name.startswith("<") or name in self._owners:
            return self._owner_of(name)
        if name.startswith("<frozen "):
            self._owners[name] = _PLAIN
            return _PLAIN
        if name.startswith("<doctest "):
            return self.item
        file = frame.f_globals.get("__file__")
        return self._owner_of(file) if isinstance(file, str) else _PLAIN

    def _owner_of(self, name: str) -> str:
        if name not in self._owners:
            path = os.path.join(self._root, name)
            parts = path.split(os.sep)
            at = max((at for at, part in enumerate(parts) if part in _SITES), default=-1)
            place = self._place_of(path)
            if place == "tree":
                found = self._real(path)
            elif at >= 0:
                found = _PLAIN if parts[at + 1].partition(".")[0] in _READING else _KEEPS
            elif place == "python":
                keeps = any(part.partition(".")[0] in _KEEPING for part in parts[-3:])
                found = _SHOWS if path.endswith(_SHOWING) else _KEEPS if keeps else _PLAIN
            else:
                found = _KEEPS
            self._owners[name] = found
        return self._owners[name]

    def _file(self, path: str) -> str:
        """The real path of a file of the tree, "" for any other."""
        return self._real(path) if self._place_of(path) == "tree" else ""

    def _place_of(self, path: str) -> str:
        folder = path.rpartition(os.sep)[0]
        if folder not in self._places:
            if len(self._places) >= _MOST:
                self.whole = "bound"
                return ""
            self._places[folder] = self._place(self._real(os.path.join(folder, "file")))
        return self._places[folder]

    def _file_of(self, module: object) -> str:
        """The file of the tree that a module was made from."""
        space = getattr(module, "__dict__", None)
        file = space.get("__file__") if isinstance(space, dict) else None
        return self._file(os.path.join(self._root, file)) if isinstance(file, str) else ""


def _statement(original: Any, sites: dict[tuple[int, int], CodeType], hear: Callable[[FrameType], Any]) -> Any:
    """What stands in the place of `__import__`. To call it the interpreter first asks its class for `__call__`: that is
    when we look who asks, and what it gets, and calls, is the original."""
    frame_of = sys._getframe

    class Asked:
        def __get__(self, thing: object, kind: object = None) -> Any:
            frame = frame_of(1)
            return original if (id(frame.f_code), frame.f_lasti) in sites else hear(frame)

    class Import:
        __call__ = Asked()
        __doc__ = original.__doc__

    found = Import()
    found.__name__ = found.__qualname__ = "__import__"  # type: ignore[attr-defined]
    return found


_HEARD: Any = None  # the two that follow run with names of their own (`_in_importlib`)
_ORIGINAL: Any = None


def _called(
    name: Any,
    globals: Any = None,  # noqa: A002 - the names of `__import__`
    locals: Any = None,  # noqa: A002
    fromlist: Any = (),
    level: int = 0,
) -> Any:
    _HEARD(name, fromlist, level, globals)
    return _ORIGINAL(name, globals, locals, fromlist, level)


def _imported(name: Any, package: Any = None, level: int = 0) -> Any:
    _HEARD(name, (), level, {"__package__": package})
    return _ORIGINAL(name, package, level)


def _in_importlib(function: Any, names: dict[str, Any]) -> Any:
    """`function` as if it were a part of the import system, whose frames warnings and tracebacks pass over."""
    code = function.__code__.replace(co_filename=_BOOTSTRAP)
    space = {"__name__": "importlib._bootstrap", "__builtins__": builtins, **names}
    return FunctionType(code, space, function.__name__, function.__defaults__)


def _told(code: CodeType, at: int) -> tuple[str, tuple[str, ...], int] | None:
    """Name, names and level of the import statement at a place of some code; None where there is none."""
    words = code.co_code
    if not 0 <= at < len(words) or words[at] != _IMPORT:
        return None
    number, at = _argument(words, at)
    kind, (names, before) = words[at], _argument(words, at)
    level, _ = _argument(words, before)
    try:
        name, found = code.co_names[number], code.co_consts[names]
        steps = level if words[before] == _SMALL else code.co_consts[level]
    except IndexError:
        return None
    if kind != _CONSTANT or words[before] not in (_CONSTANT, _SMALL) or not isinstance(steps, int):
        return None
    if found is not None and not isinstance(found, tuple):
        return None
    return name, found or (), steps


def _argument(words: bytes, at: int) -> tuple[int, int]:
    """The argument of the instruction at a place, and the place of the one before."""
    value, shift, at = words[at + 1], 8, at - 2
    while at >= 0 and words[at] == _EXTENDED:
        value, shift, at = value | words[at + 1] << shift, shift + 8, at - 2
    return value, max(at, 0)


def _absolute(name: str, level: int, space: dict[str, Any]) -> str:
    """The whole name of a module that is named relative to whoever imports it."""
    if level <= 0:
        return name.lstrip(".")
    package = space.get("__package__")
    if not isinstance(package, str):
        package = str(space.get("__name__", ""))
        package = package if "__path__" in space else package.rpartition(".")[0]
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - level + 1], *filter(None, (name,))])
