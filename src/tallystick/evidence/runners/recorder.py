"""The recorder that is carried into a run: which files of the tree it read, and from where its code was loaded.

One file, standard library alone, Python 3.8 upwards; the reporters of pytest and unittest load it where a run is to be
recorded. It listens to Python's own audit events, so it sees what goes through Python: not what a library in C opens
by itself, nor what another program reads. That a program was started is seen and said; then the list is not whole.
A forked child writes what it opens into an unnamed file that it shares with its parent.
"""

from __future__ import annotations

import hashlib
import os
import site
import stat
import sys
import tempfile
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

_MOST_OPENED = 100_000
_MOST_FILES = 20_000
_MOST_ELSE = 500
_MOST_NAME = 1_000
_CHUNK = 500
_HERE = os.path.dirname(os.path.realpath(__file__))
_SITES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_OPENS = frozenset(("open", "sqlite3.connect", "ctypes.dlopen"))
_STARTS = frozenset(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"))
#: Programs that tell about the machine and read nothing of a project.
_HARMLESS = frozenset(("uname", "ldconfig", "lsb_release"))
#: Imported only to start a Python beside this one, past every event.
_STARTERS = ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_forkserver")
_TOOLS = frozenset((".git", ".hg", ".svn", ".jj", "node_modules", ".tox", ".nox", ".pytest_cache", ".hypothesis"))
_PROGRAM = "\n"  # begins a line about a program in the file of the forked: no path that counts begins so


class Recorder:
    """Listens from its making on. `packages` are the dotted names of the project's own, `home` the work tree whose
    copy `root` is ("" if none)."""

    def __init__(self, root: str, packages: Iterable[str] = (), home: str = "") -> None:
        self._root = os.path.realpath(root)
        real_home = os.path.realpath(home) if home else ""
        self._home = "" if real_home == self._root else real_home
        self._prefixes = tuple(_prefixes())
        self._packages = tuple(packages)
        self._opened: dict[str, bool] = {}
        self._names: set[str] = set()
        self._programs: dict[str, None] = {}
        self._partial = ""
        self._folders: dict[str, str] = {}
        self._listening = True
        self._forked = False
        self._shared = _unnamed_file()
        os.register_at_fork(after_in_child=self._in_child)
        sys.addaudithook(self._hear)

    def rows(self, plugins: Iterable[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
        """Stop listening, and give the rows of a report: the files in parts, then everything else."""
        self._listening = False
        self._take_forked()
        loaded = _loaded()
        if any(name in sys.modules for name in _STARTERS):
            self._programs["python"] = None
        files, written, outside, elsewhere, installed = self._sorted(loaded)
        for kind, names in (("read", files), ("written", written)):
            for at in range(0, len(names), _CHUNK):
                yield "files", {"how": kind, "files": names[at : at + _CHUNK]}
        tops = sorted(filter(self._fit, self._names.union(name.partition(".")[0] for name in sys.modules)))
        for at in range(0, len(tops), _CHUNK):
            yield "names", {"names": tops[at : at + _CHUNK]}
        yield (
            "loaded",
            {
                "outside": outside[:_MOST_ELSE],
                "elsewhere": [[name, _digest(name)] for name in elsewhere[:_MOST_ELSE]],
                "distributions": list(_distributions(installed)),
                "start": list(_start_files()),
                "plugins": sorted(plugins)[:_MOST_ELSE],
                "roots": list(self._roots()),
                "programs": list(self._programs)[:20],
                "partial": self._partial or ("programs" if set(self._programs) - _HARMLESS else ""),
            },
        )

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        """One audit event. Whatever is raised here would be raised in the project's code, so nothing is."""
        if not self._listening:
            return
        if event in _OPENS:
            path = _path(args[0])
            if path and path not in self._opened:
                flags = args[2] if event == "open" and isinstance(args[2], int) else 0
                self._open(path, (flags & os.O_ACCMODE) != os.O_WRONLY and not flags & os.O_TRUNC)
        elif event == "import":
            if len(self._names) < _MOST_FILES:
                self._names.add(str(args[0]).partition(".")[0])
        elif event in _STARTS:
            self._start(args[0])

    def _open(self, path: str, reads: bool) -> None:
        if len(self._opened) >= _MOST_OPENED:
            self._partial = "bound"
            return
        self._opened[path] = reads
        if self._forked and reads and path.startswith((self._root, self._home or self._root)):
            self._share(path)

    def _start(self, program: Any) -> None:
        name = os.path.basename(_path(program) or "program")[:100]
        if len(self._programs) < _MOST_ELSE:
            self._programs[name] = None
        if self._forked:
            self._share(_PROGRAM + name)

    def _in_child(self) -> None:
        self._forked = True

    def _share(self, text: str) -> None:
        try:
            os.write(self._shared, os.fsencode(text) + b"\0")
        except OSError:
            self._shared = -1

    def _take_forked(self) -> None:
        """What forked children wrote down. Without the file a fork counts as a program of its own."""
        try:
            size = os.fstat(self._shared).st_size
            data = os.pread(self._shared, size, 0)
            os.close(self._shared)
        except OSError:
            self._partial = self._partial or "forks"
            return
        for part in data.split(b"\0")[:-1]:
            text = os.fsdecode(part)
            if text.startswith(_PROGRAM):
                self._programs[text[len(_PROGRAM) :]] = None
            else:
                self._opened.setdefault(text, True)

    def _sorted(self, loaded: dict[str, str]) -> tuple[list[str], list[str], list[str], list[str], set[str]]:
        """Of what was opened and loaded: read and written files of the tree, the project's from outside, code from
        elsewhere, and what lies in folders for installed distributions."""
        read: set[str] = set()
        written: set[str] = set()
        outside: dict[str, str] = {}
        elsewhere: set[str] = set()
        installed: set[str] = set()
        for path, reads in {**self._opened, **dict.fromkeys(loaded, True)}.items():
            real = self._real(_source_of(path))
            place = self._place(real)
            name = loaded.get(path, "")
            if place == "tree":
                (read if reads else written).update(self._in_tree(real))
            elif (place == "home" and _is_file(real)) or (name and self._ours(name)):
                outside[real] = name or outside.get(real, "")
            elif place == "site" and name:
                installed.add(real)
            elif place == "" and name:
                elsewhere.add(real)
        if len(read) > _MOST_FILES:
            self._partial = "bound"
        told = {f"{name}: {real}" if name else real for real, name in outside.items()}
        names = [sorted(filter(self._fit, part)) for part in (read, written - read, told, elsewhere)]
        return names[0][:_MOST_FILES], names[1][:_MOST_FILES], names[2], names[3], installed

    def _place(self, real: str) -> str:
        """Where a file lies: "tree", "home" (the work tree whose copy the tree is), "site", "python", "" elsewhere."""
        if any(part in real for part in _SITES):
            return "site"
        if _within(real, _HERE):
            return "python"
        if _within(real, self._prefixes[0]) and self._is_project(self._prefixes[0]):
            return "python"
        if _within(real, self._root):
            return "python" if _TOOLS.intersection(real[len(self._root) :].split(os.sep)) else "tree"
        if self._home and _within(real, self._home):
            return "python" if _TOOLS.intersection(real[len(self._home) :].split(os.sep)) else "home"
        return "python" if any(_within(real, prefix) for prefix in self._prefixes[1:]) else ""

    def _is_project(self, real: str) -> bool:
        return _within(real, self._root) or bool(self._home and _within(real, self._home))

    def _in_tree(self, real: str) -> Iterator[str]:
        """The names from the top of the tree of a regular file there, and of the one that a link leads to."""
        if not _is_file(real):
            return
        yield self._named(real)
        if os.path.islink(real):
            target = os.path.realpath(real)
            if _within(target, self._root):
                yield self._named(target)

    def _named(self, real: str) -> str:
        return real[len(self._root.rstrip(os.sep)) + 1 :].replace(os.sep, "/")

    def _fit(self, name: str) -> bool:
        """Whether a report can say the name; one that it cannot say makes the list partial."""
        try:
            name.encode("utf-8")
        except UnicodeEncodeError:
            self._partial = "names"
            return False
        if len(name) > _MOST_NAME:
            self._partial = "names"
        return len(name) <= _MOST_NAME

    def _ours(self, module: str) -> bool:
        return any(module == name or module.startswith(name + ".") for name in self._packages)

    def _roots(self) -> Iterator[str]:
        """The folders of the tree in which modules are looked for, "" is its top."""
        seen: set[str] = set()
        for entry in sys.path:
            real = os.path.realpath(entry or os.getcwd())
            name = self._named(real) if real != self._root else ""
            if (real == self._root or self._place(real) == "tree") and name not in seen and self._fit(name):
                seen.add(name)
                yield name

    def _real(self, path: str) -> str:
        """`path` with the links of its folders followed, its own not."""
        folder, name = os.path.split(path)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)


def _path(given: Any) -> str:
    """The whole path of what was opened, "" for a descriptor or what is none."""
    try:
        path = os.fsdecode(given)
        return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)
    except (TypeError, ValueError, OSError):
        return ""


def _unnamed_file() -> int:
    """A file that only this process and its children have, every write to its end; -1 where none can be made."""
    try:
        number, path = tempfile.mkstemp()
        os.close(number)
        number = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
        os.unlink(path)
    except OSError:
        return -1
    return number


def _loaded() -> dict[str, str]:
    """The files of all loaded modules, and the name of the module."""
    found: dict[str, str] = {}
    for name, module in list(sys.modules.items()):
        if isinstance(module, types.ModuleType):
            file = vars(module).get("__file__")
            if isinstance(file, str):
                found[os.path.abspath(file)] = name
    return found


def _source_of(path: str) -> str:
    """The source that a file of byte code in `__pycache__` was made from; any other path as it is."""
    folder, name = os.path.split(path)
    if not name.endswith(".pyc") or os.path.basename(folder) != "__pycache__":
        return path
    return os.path.join(os.path.dirname(folder), name.partition(".")[0] + ".py")


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _prefixes() -> Iterator[str]:
    """The folder of this Python (which may be a `.venv` of the project), then where its library lies."""
    yield os.path.realpath(sys.prefix)
    for prefix in {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}:
        yield os.path.realpath(os.path.join(prefix, "lib"))
        yield os.path.realpath(os.path.join(prefix, "lib64"))


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def _distributions(installed: set[str]) -> Iterator[list[str]]:
    """Name, version, digest and path of RECORD of each distribution that one of the files belongs to."""
    by_folder: dict[str, set[str]] = {}
    for path in installed:
        folder = max((path[: path.rfind(part) + len(part)] for part in _SITES if part in path), key=len)
        top, *rest = path[len(folder) :].split(os.sep)
        by_folder.setdefault(folder, set()).add(top + "/" if rest else top + ",")
    for folder in sorted(by_folder):
        for name in sorted(_listed(folder)):
            if not name.endswith(".dist-info"):
                continue
            record = os.path.join(folder, name, "RECORD")
            try:
                with open(record, "rb") as file:
                    data = file.read()
            except OSError:
                continue
            lines = b"\n" + data
            if any(b"\n" + os.fsencode(top) in lines for top in by_folder[folder]):
                project, _, version = name[: -len(".dist-info")].partition("-")
                yield [project, version, hashlib.sha256(data).hexdigest(), record]


def _start_files() -> Iterator[list[str]]:
    """The files that run at every start of this Python: `.pth` files, sitecustomize, usercustomize."""
    folders = dict.fromkeys([*site.getsitepackages(), *(entry for entry in sys.path if entry.endswith("-packages"))])
    if site.ENABLE_USER_SITE:
        folders[site.getusersitepackages()] = None
    for folder in folders:
        for name in sorted(_listed(folder)):
            if name.endswith(".pth"):
                path = os.path.join(folder, name)
                yield [path, _digest(path)]
    for name in ("sitecustomize", "usercustomize"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if isinstance(file, str):
            yield [file, _digest(file)]


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
