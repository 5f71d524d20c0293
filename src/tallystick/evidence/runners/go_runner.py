"""Go: `go test -json`, read by the lines that the go command prints.

The go command makes the events itself; what a test prints arrives inside of them as a string. It learns the outcome of
a test from the test binary's own output, though: up to Go 1.19 a test that prints `--- PASS: TestX` forges that, since
then one that also prints the control character before it. A test that begins inside another one makes the report
unreadable, what begins twice and ends once is unfinished, and the worst outcome counts, so a forgery must tell a whole
story and keep the real test from running. That cannot be excluded: *ran* at most.

The caches of a run are its own, so everything is compiled anew; modules come out of the user's module cache, offline.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from tallystick.errors import Refusal
from tallystick.evidence.runners.base import Command, Interpreter, Runner, Tree
from tallystick.evidence.runners.go_report import read_go
from tallystick.evidence.selectors import ALL_IN
from tallystick.system.place import user_home
from tallystick.system.process import find_program

_ID = re.compile(r"\./[^:]*::((Test|Example|Fuzz)[^:]*|\*)\Z")
#: Where the run stands, which Go it is and which package lies in which folder; then the tests.
_SCRIPT = """\
pwd -P
"$0" version
"$0" list -e -f '{"ImportPath":{{printf "%q" .ImportPath}},"Dir":{{printf "%q" .Dir}}}' ./...
exec "$0" test -json "$@"
"""


def find(tree: Tree) -> bool:
    """Whether a module or a workspace of Go begins at the project's top."""
    return "go.mod" in tree.names or "go.work" in tree.names


def speaks(test_id: str) -> bool:
    """Whether `test_id` is a package as `go test` takes it, `::`, and a test in it (or `*`)."""
    return bool(_ID.match(test_id))


def program(root: str, path: str) -> Interpreter:
    """The go command on PATH."""
    del root
    found = find_program("go", path)
    if found is None:
        raise Refusal("check.no_runner", "there is no program go on PATH", "install Go: https://go.dev/doc/install")
    return Interpreter(found, "go on PATH")


def ids_command(go: Interpreter, ids: tuple[str, ...], root: str, folder: str) -> Command:
    """Run the packages of `ids`, and in them the tests of these names: once, whatever an earlier run was.

    A subtest is run with its test, for that is how it comes to be.
    """
    del root, folder
    return _command(go.path, ("-count=1", *_asked(ids)))


def by_command(argv: tuple[str, ...], ids: tuple[str, ...], root: str, folder: str) -> Command | None:
    """As `ids_command`, by the project's own `go test …`: its words stay, but for the packages."""
    del root
    if wrapped(argv, folder) is None:
        return None
    return _command(argv[0], ("-count=1", *(word for word in argv[2:] if not word.startswith(".")), *_asked(ids)))


def wrapped(argv: tuple[str, ...], folder: str) -> Command | None:
    """`go test …` with its events; None for anything else."""
    del folder
    return _command(argv[0], argv[2:]) if _tests(argv) else None


def _tests(argv: tuple[str, ...]) -> bool:
    return len(argv) >= 2 and os.path.basename(argv[0]) == "go" and argv[1] == "test"


def _asked(ids: tuple[str, ...]) -> tuple[str, ...]:
    return (*_only(ids), *dict.fromkeys(test_id.partition("::")[0] for test_id in ids))


def _only(ids: Iterable[str]) -> tuple[str, ...]:
    names = dict.fromkeys(test_id.partition("::")[2].partition("/")[0] for test_id in ids)
    if any(test_id.endswith(ALL_IN) for test_id in ids):
        return ()
    return ("-run", f"^({'|'.join(map(re.escape, names))})$")


def _command(go: str, arguments: tuple[str, ...]) -> Command:
    env = {"GOPROXY": "off", "GOSUMDB": "off", "GOTOOLCHAIN": "local", "GOENV": "off"}
    modules = os.path.join(user_home(os.environ), "go", "pkg", "mod")
    if os.path.isdir(modules):
        env["GOMODCACHE"] = modules
    return Command(("sh", "-c", _SCRIPT, go, *arguments), env)


GO = Runner(
    name="go",
    wrapped=wrapped,
    form="./cart::TestTotal",
    find=find,
    speaks=speaks,
    ids_command=ids_command,
    by_command=by_command,
    program=program,
    reads=read_go,
)
