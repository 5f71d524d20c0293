"""Holds the floors of the house: imports go down only and in no circle, pure modules stay pure, and each dangerous
thing (starting a program, running git, hashing, syncing) has one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.yard.source import Import, Module, assert_none, called, imports, package, within

#: From the ground up; each row is one floor. A module may import from its own floor and from those below.
FLOORS: tuple[tuple[str, ...], ...] = (
    (
        "tallystick",
        "tallystick.errors",
        "tallystick.limits",
        "tallystick.ids",
        "tallystick.canonical",
        "tallystick.moment",
        "tallystick.waits",
        "tallystick.settings",
        "tallystick.effective",
    ),
    ("tallystick.masking",),
    ("tallystick.system",),
    ("tallystick.journal",),
    ("tallystick.ledger",),
    ("tallystick.handoff",),
    ("tallystick.board",),
    ("tallystick.evidence",),
    ("tallystick.pipeline",),
    ("tallystick.agents",),
    ("tallystick.imports",),
    ("tallystick.wiring",),
    ("tallystick.audit", "tallystick.briefing"),
    ("tallystick.mcp",),
    ("tallystick.faces", "tallystick.__main__"),
)

#: Modules of these names decide or describe: they and all they import do no IO and read no clock.
PURE = {"model", "document", "rules", "requirement", "machine", "protocol"}
#: Further ones by their whole name; `moment` turns a moment that it was given into text.
PURE_TOO = {
    f"tallystick.{name}"
    for name in ("canonical", "effective", "errors", "ids", "limits", "moment", "settings", "waits")
}
PURE_LIBRARY = {
    "__future__", "bisect", "calendar", "collections", "collections.abc", "difflib", "enum", "functools", "hashlib",
    "heapq", "hmac", "itertools", "json", "json.encoder", "math", "operator", "re", "shlex", "string", "time",
    "tomllib", "types", "typing", "unicodedata",
    "yaml",  # the one library from outside: it parses a text that it is given
}  # fmt: skip

#: An import that belongs to one place, and that place (a module, or a package with all that is in it).
PLACE_OF_IMPORT: dict[str, str | tuple[str, ...]] = {
    # the scripted client is a client: it starts a server of any make and shares no code with ours on purpose
    "subprocess": ("tallystick.system.process", "tallystick.agents.scripted.client"),
    "hashlib": "tallystick.canonical",
    "hmac": "tallystick.canonical",
    "fcntl": ("tallystick.system", "tallystick.mcp.streams"),
    "secrets": "tallystick.system",
    "tempfile": "tallystick.system",
    "shutil": "tallystick.system",
    "argparse": "tallystick.faces",
}

#: A call that belongs to one place.
PLACE_OF_CALL: dict[str, str | tuple[str, ...]] = {
    **dict.fromkeys(
        ("os.fsync", "os.fdatasync", "os.rename", "os.replace", "os.link", "os.unlink", "os.remove", "os.rmdir"),
        "tallystick.system",
    ),
    **dict.fromkeys(("os.pwrite", "os.ftruncate", "os.mkdir", "os.makedirs"), "tallystick.system"),
    # descriptors moved about by the carrier of a server, or to the null device: no work on the disk
    "os.open": ("tallystick.system", "tallystick.mcp.streams", "tallystick.faces.cli.start"),
    "os.write": ("tallystick.system", "tallystick.mcp", "tallystick.agents.scripted.client"),
    **dict.fromkeys(("os.system", "os.popen", "os.posix_spawn"), "tallystick.system.process"),
    # the launcher of a confinement stands around a program that the supervisor started
    "os.fork": ("tallystick.system.process", "tallystick.system.confine.launcher"),
    **dict.fromkeys(("time.time", "time.time_ns", "time.sleep", "datetime.now"), "tallystick.system"),
    "open": "tallystick.system",
    # What comes from outside is parsed strictly. The journal reads what it wrote and checks the digest itself; a
    # fragment of a broken message is one number or string, used for an answer only.
    **dict.fromkeys(
        ("json.loads", "json.load"), ("tallystick.canonical", "tallystick.journal", "tallystick.mcp.fragments")
    ),
}

#: Files of ours that run inside a program of the project under test: they bring all they need and know nothing of us.
GUESTS = {
    f"tallystick.evidence.runners.{name}"
    for name in ("byte_code", "integrity", "pytest_plugin", "recorder", "repoint", "unittest_reporter")
}

#: Whoever runs git goes through here: no other module may write an argv that begins with it.
PLACE_OF_GIT = "tallystick.system.git"


def floor(name: str) -> int:
    """The number of the floor a module stands on, -1 for a module that has no place in the house."""
    best, height = "", -1
    for number, row in enumerate(FLOORS):
        for room in row:
            inside = name == room or (room != "tallystick" and name.startswith(room + "."))
            if inside and len(room) > len(best):
                best, height = room, number
    return height


def ours(module: Module) -> Iterator[Import]:
    """The imports of `module` that lead to our own modules at run time."""
    return (found for found in imports(module) if within(found.name, "tallystick") and not found.typing)


def pure(name: str) -> bool:
    """Whether a module of this name promises to be pure."""
    return name in PURE_TOO or name.rpartition(".")[2] in PURE


@pytest.mark.parametrize("name", sorted(package()))
def test_every_module_has_a_floor(name: str) -> None:
    assert floor(name) >= 0, f"{name} stands on no floor: give it a row in FLOORS"


def test_imports_go_down_only() -> None:
    upward = [
        f"{module.path}:{found.line}: {name} imports {found.name} from a higher floor"
        for name, module in package().items()
        for found in ours(module)
        if floor(found.name) > floor(name)
    ]
    assert_none(upward)


def test_there_is_no_circle() -> None:
    edges = {name: {found.name for found in ours(module)} - {name} for name, module in package().items()}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"a circle: {' -> '.join((*path[path.index(name) :], name))}"
        if name not in done:
            for below in sorted(edges.get(name, ())):
                visit(below, (*path, name))
            done.add(name)

    for name in edges:
        visit(name, ())
    assert done >= set(edges)


def everything_below(name: str) -> set[str]:
    """A module of ours and all of ours that it imports, directly or not."""
    reached, ahead = set(), [name]
    while ahead:
        here = ahead.pop()
        if here in package() and here not in reached:
            reached.add(here)
            ahead += [found.name for found in ours(package()[here])]
    return reached


@pytest.mark.parametrize("name", sorted(filter(pure, package())))
def test_a_pure_module_reaches_nothing_that_acts(name: str) -> None:
    acting = [
        f"{package()[below].path}:{found.line}: {found.name}"
        for below in sorted(everything_below(name))
        for found in imports(package()[below])
        if not found.typing and not within(found.name, "tallystick") and found.name not in PURE_LIBRARY
    ]
    assert_none(acting)


def test_each_import_that_has_a_place_stays_there() -> None:
    astray = [
        f"{module.path}:{found.line}: {found.name} is imported in {PLACE_OF_IMPORT[found.name.partition('.')[0]]} only"
        for name, module in package().items()
        for found in imports(module)
        if name not in GUESTS
        and (place := PLACE_OF_IMPORT.get(found.name.partition(".")[0])) is not None
        and not within(name, place)
    ]
    assert_none(astray)


def test_each_call_that_has_a_place_stays_there() -> None:
    astray = [
        f"{module.path}:{node.lineno}: {called(node)} is called in {PLACE_OF_CALL[called(node)]} only"
        for name, module in package().items()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and name not in GUESTS
        and (place := PLACE_OF_CALL.get(called(node))) is not None
        and not within(name, place)
    ]
    assert_none(astray)


def test_git_is_run_from_one_place() -> None:
    astray = [
        f"{module.path}:{node.lineno}: an argv that begins with git"
        for name, module in package().items()
        for node in ast.walk(module.tree)
        if isinstance(node, (ast.List, ast.Tuple)) and name != PLACE_OF_GIT
        if len(node.elts) > 1 and isinstance(node.elts[0], ast.Constant) and node.elts[0].value == "git"
    ]
    assert_none(astray)


@pytest.mark.parametrize("name", sorted(GUESTS))
def test_a_guest_knows_nothing_of_us(name: str) -> None:
    assert [found.name for found in imports(package()[name]) if within(found.name, "tallystick")] == []


def test_every_module_with_a_row_of_its_own_exists() -> None:
    """A row for a module that is gone would hold nothing."""
    assert (PURE_TOO | GUESTS | {PLACE_OF_GIT}) - set(package()) == set()


def test_the_core_knows_no_face() -> None:
    faces = floor("tallystick.mcp")
    knowing = [
        f"{module.path}:{found.line}: {found.name}"
        for name, module in package().items()
        if floor(name) < faces
        for found in ours(module)
        if floor(found.name) >= faces
    ]
    assert_none(knowing)


def test_the_table_of_floors_tells_high_from_low() -> None:
    assert floor("tallystick.errors") < floor("tallystick.system.files") < floor("tallystick.faces.cli.main")
    assert floor("tallystick.nowhere") == -1
