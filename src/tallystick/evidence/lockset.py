"""What must stay as it was at red: the tests themselves and all that decides how they run. Pure.

A lock set is made of the state in which the tests were seen red and compared with a later one: `changed` names what is
no longer the same, `strangers` what the runner would load or collect by itself and was not there. A proof sets
strangers aside; no other file is ever taken away, since tests may lie beside sources.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from fnmatch import translate
from typing import NamedTuple, TypeVar, cast

from tallystick.canonical import sha256
from tallystick.evidence.doctests import doctest_digest
from tallystick.evidence.packages import import_roots
from tallystick.evidence.runners.base import Tree
from tallystick.evidence.sections import ABSENT, NODE_FILES, PYTEST_FILES, SECTIONS, section_digest
from tallystick.evidence.selectors import base
from tallystick.evidence.supports import supports
from tallystick.evidence.test_files import files_of

#: Why a lock does not hold.
LOCK_CODES: dict[str, str] = {
    "lock.changed": "it is not what it was when the tests were red",
    "lock.symlink": "a symbolic link stands where a regular file was, or on the way to it",
}
#: What can be locked.
KINDS = ("test", "doctest", "snapshot", "conftest", "package", "support", "config")
TEST_FOLDERS = frozenset(("tests", "test", "__tests__", "testing"))
_SNAPSHOT_FOLDERS = ("__snapshots__", "snapshots", "__image_snapshots__")
_TEST_NAMES = ("test_*.py", "*_test.py", "*_test.go", "*.test.[cm][jt]s", "*.test.[jt]s", "*.test.[jt]sx",
               "*.spec.[cm][jt]s", "*.spec.[jt]s", "*.spec.[jt]sx")  # fmt: skip
_TEST_NAME = re.compile("|".join(map(translate, _TEST_NAMES)))
_MODULE_ENDINGS = ("py", "pyc", "so", "pyd")
_START_FILES = ("sitecustomize", "usercustomize")
#: Modules that the runner itself imports; with the standard library those that a file of the tree must not stand for.
_RUNNER_MODULES = frozenset(
    (
        "_pytest", "pytest", "pluggy", "iniconfig", "packaging", "exceptiongroup", "tomli", "py", "attr", "attrs",
        "pygments", "colorama", "xdist", "execnet", "pytest_asyncio", "pytest_cov", "coverage", "anyio", "hypothesis",
        "pytest_timeout", "pytest_mock", "syrupy", "tallystick_pytest_plugin", "tallystick_recorder",
        "tallystick_unittest_reporter", "tallystick_attribution", "tallystick_import_graph", "tallystick_integrity",
    )
)  # fmt: skip
#: `test` is a package of Python itself that no run needs, and a usual name for a folder of tests.
_SHADOWED = (sys.stdlib_module_names | _RUNNER_MODULES) - {"test"}

T = TypeVar("T")


class State:
    """A state of the tree: `names` of its regular files and `links` that are symbolic ones, from the top with `/`.

    `read` gives the bytes of a file, None where there is none. What is worked out of a state is kept with it.
    """

    __slots__ = ("_known", "links", "names", "read")

    def __init__(self, names: frozenset[str], links: frozenset[str], read: Callable[[str], bytes | None]) -> None:
        self.names = names
        self.links = links
        self.read = read
        self._known: dict[object, object] = {}

    def once(self, key: object, make: Callable[[], T]) -> T:
        """What `make` gives, asked once for each `key`."""
        if key not in self._known:
            self._known[key] = make()
        return cast("T", self._known[key])


class Lock(NamedTuple):
    """One locked thing: `kind` is one of `KINDS`.

    `part` is the doctest's own name, "" for a whole file (of a config file its section is meant). `digest` is "" where
    there was nothing (a section that must not appear).
    """

    kind: str
    path: str
    digest: str
    part: str = ""


class LockSet(NamedTuple):
    """The locks of some ids, and the names of what the runner found by itself then (`known`)."""

    locks: tuple[Lock, ...]
    known: tuple[str, ...]


class LockChange(NamedTuple):
    """A lock that does not hold: a code of `LOCK_CODES`, where, and in words what about it."""

    code: str
    path: str
    says: str


class Stranger(NamedTuple):
    """A file that the runner would take by itself: kind test, conftest, snapshot, package, support, config, start,
    plugin or shadow."""

    path: str
    kind: str


def lock_set(ids: Iterable[str], files: State, support: Iterable[str] = ()) -> LockSet:
    """The locks of the required `ids` (pytest's, unittest's dotted ones, selectors) in the state in which they are red.

    `support` names the files that the red run read: those of them that lie in a folder of tests are locked too, and
    those there that the tests import or name and did not come to.
    """
    locks: dict[tuple[str, str], Lock] = {}
    tests: dict[str, None] = {}
    for test_id in ids:
        path, part = place_of(test_id, files)
        for further in (files_of(test_id, files.names) or ())[1:]:
            locks.setdefault((further, ""), _whole("test", further, files))
        if not path:
            continue
        tests[path] = None
        digest = doctest_digest(files.read(path) or b"", part) if part else None
        found = Lock("doctest", path, digest, part) if digest is not None else _whole("test", path, files)
        locks.setdefault((path, found.part), found)
    for path in tests:
        for lock in _around(path, files):
            locks.setdefault((lock.path, lock.part), lock)
    for path in (*(one for one in support if in_test_folder(one)), *_supports(locks.values(), files)):
        if path in files.names:
            locks.setdefault((path, ""), _whole("support", path, files))
    whole = {path for path, part in locks if not part}
    kept = (lock for lock in locks.values() if not (lock.part and lock.path in whole))
    ordered = tuple(sorted(kept, key=lambda lock: (lock.path, lock.part)))
    return LockSet(ordered, tuple(sorted(stranger.path for stranger in _loadable(files, ordered))))


def changed(lock: LockSet, files: State) -> list[LockChange]:
    """What of `lock` does not hold in another state, in the order of its paths."""
    found: list[LockChange] = []
    for one in lock.locks:
        link = _link_to(one.path, files)
        if link:
            what = "it is a symbolic link" if link == one.path else f"the folder {link} is a symbolic link"
            found.append(LockChange("lock.symlink", one.path, what))
            continue
        data = files.read(one.path) if one.path in files.names else None
        says = _difference(one, data)
        if says:
            found.append(LockChange("lock.changed", one.path, says))
    return found


def strangers(lock: LockSet, files: State) -> list[Stranger]:
    """The files that the runner would load or collect by itself and that were not there at red, each once."""
    known = {*lock.known, *(one.path for one in lock.locks if one.digest)}
    tests = tuple(one[:2] for one in lock.locks)
    every = files.once(("loadable", tests), lambda: tuple(_loadable(files, lock.locks)))
    found = {one.path: one for one in every if one.path not in known}
    return [found[path] for path in sorted(found)]


def place_of(test_id: str, files: State) -> tuple[str, str]:
    """The file that holds `test_id`, and the name of the doctest when it is one in a source file ("" for any other).

    A dotted id belongs to the longest module that is there; a file that is not there yet is named all the same. "" is
    a test without a file of its own (`test_files.py`).
    """
    others = files_of(test_id, files.names)
    if others is not None:
        return next(iter(others), ""), ""
    head, mark, rest = test_id.partition("::")
    if "/" not in head and not head.endswith((".py", ".md", ".rst", ".txt")):
        return _module_file(base(test_id) or test_id, files), ""
    if not mark or not head.endswith(".py") or "::" in rest or rest == "*":
        return head, ""
    stem = head[: -len(".py")].removesuffix("/__init__").replace("/", ".")
    name = base(rest) or rest
    modules = [stem[at:] for at in range(len(stem)) if at == 0 or stem[at - 1] == "."]
    module = next((one for one in modules if name == one or name.startswith(one + ".")), None)
    return (head, "") if module is None else (head, name[len(module) + 1 :] or ".")


def in_test_folder(path: str) -> bool:
    """Whether a file lies in a folder of tests."""
    return bool(TEST_FOLDERS.intersection(path.split("/")[:-1]))


def _module_file(dotted: str, files: State) -> str:
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        start = "/".join(parts[:end])
        for path in (f"{start}.py", f"{start}/__init__.py"):
            if path in files.names:
                return path
    last = next((at for at, part in enumerate(parts) if part[:1].isupper()), max(len(parts) - 1, 1))
    return "/".join(parts[: max(last, 1)]) + ".py"


def _whole(kind: str, path: str, files: State) -> Lock:
    data = files.read(path) if path in files.names else None
    return Lock(kind, path, ABSENT if data is None else sha256(data))


def _around(path: str, files: State) -> Iterator[Lock]:
    """The locks that a test file brings along: conftests, package files, configuration, snapshots."""
    for folder in _folders(path):
        if f"{folder}conftest.py" in files.names:
            yield _whole("conftest", f"{folder}conftest.py", files)
        init = f"{folder}__init__.py"
        if init in files.names and in_test_folder(init):
            yield _whole("package", init, files)
        for name in PYTEST_FILES if path.endswith((".py", ".md", ".rst", ".txt")) else NODE_FILES:
            config = f"{folder}{name}"
            if name in SECTIONS or config in files.names:
                data = files.read(config) if config in files.names else None
                yield Lock("config", config, section_digest(name, data))
    starts = _snapshot_places(path)
    for name in files.names:
        if name.startswith(starts) and not name.endswith((".py", ".pyc")):
            yield _whole("snapshot", name, files)


def _supports(locks: Iterable[Lock], files: State) -> frozenset[str]:
    """The files in folders of tests that locked test files and conftests import or name."""
    tests = [lock.path for lock in locks if lock.kind in ("test", "conftest", "package", "support")]
    candidates = files.once("in test folders", lambda: [path for path in files.names if in_test_folder(path)])
    return supports(tests, candidates, files.read, _roots(files, tests), files.once)


def _snapshot_places(path: str) -> tuple[str, ...]:
    """Where the snapshots of a test file lie: the folders that are called so, one of its own name, a file beside it."""
    folder, _, name = path.rpartition("/")
    place = f"{folder}/" if folder else ""
    stem = name.partition(".")[0]
    own = (f"{place}{stem}/",) if _has_test_name(name) else ()
    return (*(f"{place}{one}/" for one in _SNAPSHOT_FOLDERS), *own, f"{place}{name}.snap")


def _has_test_name(name: str) -> bool:
    return _TEST_NAME.match(name) is not None


def _difference(lock: Lock, data: bytes | None) -> str:
    """How `data` differs from what is locked, "" where it does not."""
    if lock.kind == "config":
        now = section_digest(lock.path, data)
        if now == lock.digest:
            return ""
        told = "appeared" if lock.digest == ABSENT else "is gone" if now == ABSENT else "changed"
        return f"what it says about running tests {told}"
    if data is None:
        return "it is gone" if lock.digest else ""
    if lock.kind == "doctest":
        same = doctest_digest(data, lock.part) == lock.digest
        return "" if same else f"the doctest of {lock.part if lock.part != '.' else 'the module'} changed"
    if not lock.digest:
        return "it was not there"
    return "" if sha256(data) == lock.digest else "its content changed"


def _loadable(files: State, locks: Iterable[Lock]) -> Iterator[Stranger]:
    """All that a runner would take by itself in this state, and why."""
    locked = {lock.path for lock in locks if lock.kind not in ("doctest", "config", "snapshot")}
    tests = [lock.path for lock in locks if lock.kind in ("test", "doctest")]
    forms = {path.removesuffix(".py") for path in locked if path.endswith(".py")}
    snapshots = tuple(place for path in tests for place in _snapshot_places(path))
    supported = _supports(locks, files)
    roots = _roots(files, tests)
    inits = {f"{folder}__init__.py" for path in tests for folder in _folders(path)}
    node = tuple(name for name in NODE_FILES if name not in SECTIONS)
    plain = files.once("plain", lambda: frozenset(path for path in files.names if _is_plain(path)))
    kept = [path for path in plain if path.startswith(snapshots)] if snapshots else []
    for path in (*(files.names - plain), *files.links, *kept, *supported.intersection(plain)):
        name = path.rpartition("/")[2]
        if path not in locked and _form(path, files) in forms:
            yield Stranger(path, "shadow")
        elif name == "conftest.py":
            yield Stranger(path, "conftest")
        elif name.partition(".")[0] in _START_FILES and name.endswith(_MODULE_ENDINGS):
            yield Stranger(path, "start")
        elif _has_test_name(name):
            yield Stranger(path, "test")
        elif name in node or (name in PYTEST_FILES and name not in SECTIONS):
            yield Stranger(path, "config")
        elif path in inits and in_test_folder(path):
            yield Stranger(path, "package")
        elif path in supported and path not in locked:
            yield Stranger(path, "support")
        elif path.startswith(snapshots) and not path.endswith((".py", ".pyc")):
            yield Stranger(path, "snapshot")
        else:
            kind = _shadowing(path, roots, files)
            if kind:
                yield Stranger(path, kind)


def _is_plain(path: str) -> bool:
    """Whether a regular file is nothing that any runner loads, collects or reads as its configuration."""
    name = path.rpartition("/")[2]
    special = name.endswith(_MODULE_ENDINGS) or name == "entry_points.txt" or name in PYTEST_FILES or name in NODE_FILES
    return not special and not _has_test_name(name)


def _form(path: str, files: State) -> str:
    """The path of the module that a file makes, without any ending: a package, an extension and byte code come before
    a source of the same name, and may say that they are it."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.partition(".")
    if path in files.links and not dot:
        return path
    if not ending.endswith(_MODULE_ENDINGS):
        return ""
    return folder if stem == "__init__" else f"{folder}{slash}{stem}"


def _shadowing(path: str, roots: tuple[str, ...], files: State) -> str:
    """Why a file in an import root would be loaded unasked or in the place of something else; "" if it would not."""
    for root in roots:
        if not path.startswith(root):
            continue
        head, slash, rest = path[len(root) :].partition("/")
        stem, dot, ending = head.partition(".")
        if head.endswith((".dist-info", ".egg-info")) and rest == "entry_points.txt":
            return "plugin" if b"[pytest11]" in (files.read(path) or b"") else ""
        folder = (slash and f"{root}{head}/__init__.py" in files.names) or path in files.links
        module = stem if (folder and not dot) or (not slash and ending.endswith(_MODULE_ENDINGS)) else ""
        if module in _START_FILES:
            return "start"
        if module in _SHADOWED:
            return "shadow"
    return ""


def _roots(files: State, tests: Iterable[str]) -> tuple[str, ...]:
    """The folders that are on the path of a run: the project's, and for each test file the first one without an
    `__init__.py`, as pytest puts it there."""
    found = files.once("import roots", lambda: import_roots(Tree(tuple(files.names), files.read)))
    roots = dict.fromkeys(found)
    for path in tests:
        for folder in reversed(list(_folders(path))):
            if f"{folder}__init__.py" not in files.names:
                roots[folder] = None
                break
    return tuple(roots)


def _folders(path: str) -> Iterator[str]:
    """The folders on the way to a file, "" first, each further one with a `/` at its end."""
    yield ""
    at = path.find("/")
    while at >= 0:
        yield path[: at + 1]
        at = path.find("/", at + 1)


def _link_to(path: str, files: State) -> str:
    """The symbolic link on the way to `path`, or it itself; "" if there is none."""
    return next((one for one in (*(f.rstrip("/") for f in _folders(path) if f), path) if one in files.links), "")
