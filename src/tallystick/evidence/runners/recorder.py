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
    from collections.abc import Callable, Iterable, Iterator
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
_HEARD = _OPENS | _STARTS | {"import", "exec"}
#: Programs that tell about the machine and read nothing of a project.
_HARMLESS = frozenset(("uname", "ldconfig", "lsb_release"))
#: Programs that tell about a repository or a file; an installed plugin asks them for its own reports.
_TELLING = frozenset(("file", "git", "hg"))
#: Imported only to start a Python beside this one, past every event.
_STARTERS = ("multiprocessing.popen_spawn_posix", "multiprocessing.popen_forkserver")
_TOOLS = frozenset((".git", ".hg", ".svn", ".jj", "node_modules", ".tox", ".nox", ".pytest_cache", ".hypothesis"))
_OF_ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
_PROGRAM = "\n"  # begins a line about a program in the file of the forked: no path that counts begins so


class Recorder:
    """Listens from its making on. `packages` are the dotted names of the project's own, `home` the work tree whose
    copy `root` is ("" if none). `attribution` and `graph` tell which test file rests on what (`attribution.py`)."""

    def __init__(
        self,
        root: str,
        packages: Iterable[str] = (),
        home: str = "",
        attribution: Callable[..., Any] | None = None,
        graph: Callable[..., Any] | None = None,
    ) -> None:
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
        self._lent: dict[str, bool] = {}
        self._reached = tuple(_where_modules_are())
        self._listening = True
        self._forked = False
        self._shared = _unnamed_file()
        self._graph = graph
        self.tests = None if attribution is None else attribution(self._root, self._place, self._source)
        os.register_at_fork(after_in_child=self._in_child)
        sys.addaudithook(self._hear)

    def rows(self, plugins: Iterable[str] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
        """Stop listening, and give the rows of a report: the files in parts, then everything else."""
        self._listening = False
        self._take_forked()
        if self.tests is not None:
            self.tests.stop()
        loaded = _loaded()
        if any(name in sys.modules for name in _STARTERS):
            self._programs["python"] = None
        files, written, outside, elsewhere, installed = self._sorted(loaded)
        for kind, names in (("read", files), ("written", written)):
            for at in range(0, len(names), _CHUNK):
                yield "files", {"how": kind, "files": names[at : at + _CHUNK]}
        if self._graph is not None and not self._partial:
            for row in self._told_apart(files):
                yield "rests", row
        distributions, loose = _distributions(installed)
        elsewhere = sorted({*elsewhere, *filter(self._fit, loose)})
        tops = sorted(filter(self._fit, self._names.union(name.partition(".")[0] for name in sys.modules)))
        for at in range(0, len(tops), _CHUNK):
            yield "names", {"names": tops[at : at + _CHUNK]}
        yield (
            "loaded",
            {
                "outside": outside[:_MOST_ELSE],
                "elsewhere": [[self._at_home(name), _digest(name)] for name in elsewhere[:_MOST_ELSE]],
                "distributions": [[*row, self._at_home(record)] for *row, record in distributions],
                "start": [[self._at_home(path), _digest(path)] for path in _start_files()],
                "plugins": sorted(plugins)[:_MOST_ELSE],
                "roots": list(self._roots()),
                "programs": list(self._programs)[:20],
                "partial": self._partial or ("programs" if set(self._programs) - _HARMLESS else ""),
            },
        )

    def _told_apart(self, files: list[str]) -> list[dict[str, Any]]:
        """Which test file rests on what. It looks at whatever lies in the modules of the project: where that makes it
        stumble, nothing is told apart, and the record is whole all the same."""
        try:
            return list(self._graph(self.tests, files, self._in_tree)) if self._graph is not None else []
        except Exception:  # noqa: BLE001
            return []

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        """One audit event. Whatever is raised here would be raised in the project's code, so nothing is."""
        if event not in _HEARD or not self._listening:
            return
        if event in _OPENS:
            path = _path(args[0])
            if path and self.tests is not None:
                self.tests.opened(path)
            if path and path not in self._opened:
                flags = args[2] if event == "open" and isinstance(args[2], int) else 0
                self._open(path, (flags & os.O_ACCMODE) != os.O_WRONLY and not flags & os.O_TRUNC)
        elif event == "import":
            if len(self._names) < _MOST_FILES:
                self._names.add(str(args[0]).partition(".")[0])
        elif event == "exec" and self.tests is not None:
            self.tests.executed(args[0])
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
        if name in _TELLING and self.tests is not None and not self.tests.asks():
            return
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
                if name and not self._is_of_tree(real):
                    outside[os.path.realpath(real)] = name
            elif (place == "home" and _is_file(real)) or (name and self._ours(name)):
                outside[real] = name or outside.get(real, "")
            elif place == "python" and self._is_lent(real):
                elsewhere.add(real)
            elif place == "site" and name:
                installed.add(real)
            elif place == "" and name:
                if any(_within(real, entry) for entry in self._reached):
                    elsewhere.add(real)
                else:  # the project's own code led there
                    outside[real] = name
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

    def _is_of_tree(self, real: str) -> bool:
        """Whether what is loaded from a file in the tree is the tree's: no link out of it, and in no folder that was
        lent because it looks like an environment of Python."""
        if not _within(os.path.realpath(real), self._root):
            return False
        folder = os.path.dirname(real)
        while len(folder) > len(self._root):
            if folder not in self._lent:
                self._lent[folder] = any(os.path.exists(os.path.join(folder, one)) for one in _OF_ENVIRONMENTS)
            if self._lent[folder]:
                return False
            folder = os.path.dirname(folder)
        return True

    def _is_lent(self, real: str) -> bool:
        """Whether a file lies in packages of node, which a copy of the tree is lent and git does not hold."""
        return self._is_project(real) and f"{os.sep}node_modules{os.sep}" in real and _is_file(real)

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

    def _at_home(self, real: str) -> str:
        """Where a file of the tree lies when the run is over and its copy is gone; any other path as it is."""
        return self._home + real[len(self._root) :] if self._home and _within(real, self._root) else real

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

    def _source(self, path: str) -> str:
        return self._real(_source_of(path))

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


def _where_modules_are() -> Iterator[str]:
    """Where this Python looks for modules when it has started, what is installed editable among it."""
    for entry in sys.path:
        yield os.path.realpath(entry or os.getcwd())
    editable = [vars(module) for name, module in list(sys.modules.items()) if name.startswith("__editable__")]
    tables: list[Any] = [one.get(name) for one in editable for name in ("MAPPING", "NAMESPACES")]
    tables += [getattr(finder, "_redirections", None) for finder in sys.meta_path]
    for table in tables:
        for value in table.values() if isinstance(table, dict) else ():
            for path in [value] if isinstance(value, str) else value:
                yield os.path.realpath(path.removesuffix("/__init__.py") if sys.version_info >= (3, 9) else path)


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


def _distributions(installed: set[str]) -> tuple[list[list[str]], list[str]]:
    """Name, version, digest and path of RECORD of each distribution that one of the files belongs to; and the files
    that belong to none."""
    by_folder: dict[str, dict[str, list[str]]] = {}
    for path in installed:
        folder = max((path[: path.rfind(part) + len(part)] for part in _SITES if part in path), key=len)
        top, *rest = path[len(folder) :].split(os.sep)
        by_folder.setdefault(folder, {}).setdefault(top + "/" if rest else top + ",", []).append(path)
    rows: list[list[str]] = []
    loose: list[str] = []
    for folder, tops in sorted(by_folder.items()):
        known: set[str] = set()
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
            own = [top for top in tops if b"\n" + os.fsencode(top) in lines]
            known.update(own)
            if own:
                project, _, version = name[: -len(".dist-info")].partition("-")
                rows.append([project, version, hashlib.sha256(data).hexdigest(), record])
        loose += [path for top, paths in tops.items() if top not in known for path in paths]
    return rows, loose


def _start_files() -> list[str]:
    """The files that run at every start of this Python: `.pth` files, sitecustomize, usercustomize."""
    folders = [*site.getsitepackages(), *(entry for entry in sys.path if entry.endswith("-packages"))]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    found = []
    for folder in dict.fromkeys(map(os.path.realpath, folders)):
        found += [os.path.join(folder, name) for name in sorted(_listed(folder)) if name.endswith(".pth")]
    for name in ("sitecustomize", "usercustomize"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if isinstance(file, str):
            found.append(os.path.realpath(file))
    return found


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []
