"""Rust: `cargo test`, read by the lines that cargo and the test harness print.

The harness captures what a test prints, and writes the outcomes itself. A test that writes to the process' standard
output past the capture can still forge a line. Every binary announces how many tests it runs and sums up what became of
them, and both must agree with the lines; only code that also ends the process before the harness speaks is not seen.
That cannot be excluded: *ran* at most.

The harness must be the standard one (`harness = true`). Everything is compiled anew, since what is built lies in a
folder of the run; dependencies come out of the user's registry cache, offline.
"""

from __future__ import annotations

import os
import re

from tallystick.errors import Refusal
from tallystick.evidence.runners.base import Command, Interpreter, Runner, Tree
from tallystick.evidence.runners.cargo_report import read_cargo
from tallystick.evidence.selectors import ALL_IN
from tallystick.system.place import user_home
from tallystick.system.process import find_program

_ID = re.compile(r"[^\W\d]\w*::[^:].*\Z", re.DOTALL)
#: Words that open the lines to what tests print, or leave the names of the tests out.
_LEFT_OUT = frozenset(("--nocapture", "--no-capture", "--quiet", "-q"))
#: The user's folders of the tools, lent to a check read-only.
_FOLDERS = {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup"}


def find(tree: Tree) -> bool:
    """Whether a package or a workspace of cargo begins at the project's top."""
    return "Cargo.toml" in tree.names


def speaks(test_id: str) -> bool:
    """Whether `test_id` is a crate, `::`, and the path of a test in it or a doctest's name."""
    return bool(_ID.match(test_id))


def program(root: str, path: str) -> Interpreter:
    """cargo on PATH."""
    del root
    found = find_program("cargo", path)
    if found is None:
        raise Refusal("check.no_runner", "there is no program cargo on PATH", "install Rust: https://rustup.rs")
    return Interpreter(found, "cargo on PATH")


def ids_command(cargo: Interpreter, ids: tuple[str, ...], root: str, folder: str) -> Command:
    """Run the tests of these names in every crate of the workspace; documentation only where an id lies in it."""
    del root
    return _command((cargo.path, "test", "--workspace", "--no-fail-fast", *_asked(ids)), folder)


def by_command(argv: tuple[str, ...], ids: tuple[str, ...], root: str, folder: str) -> Command | None:
    """As `ids_command`, by the project's own `cargo test …`: its words up to `--` stay."""
    del root
    if wrapped(argv, folder) is None:
        return None
    own = [word for word in argv[: argv.index("--") if "--" in argv else None] if word not in _LEFT_OUT]
    return _command((*own, *(() if "--no-fail-fast" in own else ("--no-fail-fast",)), *_asked(ids)), folder)


def _asked(ids: tuple[str, ...]) -> tuple[str, ...]:
    """The words that name the tests."""
    names = dict.fromkeys(test_id.partition("::")[2].removesuffix("*") for test_id in ids)
    documented = any(is_doctest(name) for name in names)
    several = any(test_id.endswith(ALL_IN) for test_id in ids)
    which = () if documented or "" in names else ("--tests",)
    only = () if "" in names else tuple(names)
    exact = () if documented or several else ("--exact",)
    return (*which, "--", *exact, *only)


def wrapped(argv: tuple[str, ...], folder: str) -> Command | None:
    """`cargo test …` with readable lines; None for anything else."""
    at = 2 if len(argv) > 2 and argv[1].startswith("+") else 1
    if os.path.basename(argv[0]) != "cargo" or argv[at : at + 1] not in (("test",), ("t",)):
        return None
    return _command(tuple(word for word in argv if word not in _LEFT_OUT), folder)


def is_doctest(name: str) -> bool:
    """Whether the name of a test in its crate is that of an example in the documentation."""
    return ".rs - " in name or name.endswith(".rs") or ".md - " in name


def _command(argv: tuple[str, ...], folder: str) -> Command:
    env = {
        "CARGO_TARGET_DIR": os.path.join(os.path.dirname(folder), "tmp", "cargo-target"),
        "CARGO_NET_OFFLINE": "true",
        "CARGO_TERM_COLOR": "never",
    }
    home = user_home(os.environ)
    for name, below in _FOLDERS.items():
        path = os.path.join(home, below)
        if os.path.isdir(path):
            env[name] = path
    return Command(argv, env)


CARGO = Runner(
    name="cargo",
    wrapped=wrapped,
    form="shop::cart::tests::total",
    find=find,
    speaks=speaks,
    ids_command=ids_command,
    by_command=by_command,
    program=program,
    reads=read_cargo,
)
