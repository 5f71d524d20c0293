"""vitest and jest: one reporter of ours for both, carried into the run.

The reporter is a module of the runner's own process, so what tests print cannot be taken for it. A test that runs in
that process (vitest's thread pools, jest with one worker) can reach the pipe if it looks for it. No run of these is
sabotaged, so nothing here goes above the level *ran*.

The runner is the one in `node_modules` at the project's top.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

from tallystick.canonical import parse
from tallystick.errors import Refusal
from tallystick.evidence.runners.base import Command, Interpreter, Runner, Tree
from tallystick.evidence.selectors import base
from tallystick.limits import MB
from tallystick.system.durable import read_file
from tallystick.system.files import OsFiles
from tallystick.system.process import find_program

BETWEEN = " > "
_REPORTER = "tallystick_node_reporter.mjs"
_ID = re.compile(r"[^>]*[^>/]\.[cm]?[jt]sx?( > .+|::\*)\Z", re.DOTALL)
_MANAGERS = ("npx", "npm", "pnpm", "yarn")
#: What may stand between a package manager and the name of the runner without changing what is run.
_BEFORE = ("exec", "x", "run", "--no-install", "--no", "--yes", "-y", "--offline", "--")
#: Words of vitest that run no tests.
_NO_RUN = ("bench", "list", "init")
#: Above this length of a command all tests of the files are run; they are told apart by their ids anyway.
_MOST_CHARACTERS = 60_000
#: A snapshot that is not there is no proof: both runners write one unless they think that this is CI.
_ENV = {"CI": "true", "NO_COLOR": "1"}


class _Kind:
    """What differs between the two: where the program lies, and how it is told what to do."""

    def __init__(
        self,
        name: str,
        script: str,
        options: tuple[str, ...],
        reporters: str,
        loading: Callable[[tuple[int, ...]], tuple[str, ...]] = lambda _: (),
    ) -> None:
        self.name = name
        self.script = script
        self.options = options
        self.reporters = reporters
        self.loading = loading

    def find(self, tree: Tree) -> bool:
        """Whether the project's package needs this runner, or configures it."""
        if any(name.startswith(f"{self.name}.config.") for name in tree.names):
            return True
        try:
            package = parse(tree.read("package.json") or b"", "package.json")
        except Refusal:
            return False
        if not isinstance(package, dict):
            return False
        tables = [package.get(key) for key in ("dependencies", "devDependencies", "optionalDependencies")]
        return self.name in package or any(isinstance(one, dict) and self.name in one for one in tables)

    def program(self, root: str, path: str) -> Interpreter:
        """Node.js on PATH, where the project has the runner installed."""
        if not os.path.exists(os.path.join(root, self.script)):
            says = f"{self.name} is not installed in node_modules of this project"
            raise Refusal("check.no_runner", says, f"install it there: npm install --save-dev {self.name}")
        found = find_program("node", path)
        if found is None:
            raise Refusal("check.no_runner", "there is no program node on PATH", "install Node.js: https://nodejs.org")
        return Interpreter(found, "node on PATH")

    def ids_command(self, node: Interpreter, ids: tuple[str, ...], root: str, folder: str) -> Command:
        """Run the files of `ids`, and in them the tests of these names."""
        return Command((node.path, self.script, *self._asked((), ids, root, folder)), _ENV)

    def by_command(self, argv: tuple[str, ...], ids: tuple[str, ...], root: str, folder: str) -> Command | None:
        """As `ids_command`, by the project's own command for this runner: its options stay, and its reporters go."""
        if self.wrapped(argv, folder) is None:
            return None
        at = _runner_at(argv)
        own = tuple(word for word in argv[at + 1 :] if not word.startswith(self.reporters) and word != "--")
        return Command((*self._start(argv, at), *self._asked(own, ids, root, folder)), _ENV)

    def _asked(self, own: tuple[str, ...], ids: tuple[str, ...], root: str, folder: str) -> tuple[str, ...]:
        """The words that name the tests, behind the project's `own`."""
        files = dict.fromkeys(file_of(test_id) for test_id in ids)
        more = tuple(word for word in own if word not in self.options)
        options = (*self.options, *self.loading(_version(os.path.join(root, self.script))), *more, *_only(ids))
        # the reporters last: to jest every word behind them is one more, unless it is an option
        return (*options, *files, *self._reporting(folder))

    def _start(self, argv: tuple[str, ...], at: int) -> tuple[str, ...]:
        """What starts the runner that stands at this place of a command."""
        managed = at and os.path.basename(argv[0]) != "node"
        return ("node", self.script) if managed else argv[: at + 1]

    def wrapped(self, argv: tuple[str, ...], folder: str) -> Command | None:
        """A command that starts this runner, by itself or through a package manager, with our reporter added.

        A package manager is left out: it is a program of Node.js, and so would keep the pipe from the runner.
        """
        at = _runner_at(argv)
        if os.path.basename(argv[at]) not in (self.name, os.path.basename(self.script)):
            return None
        if argv[at + 1 : at + 2] and argv[at + 1] in _NO_RUN:
            return None
        end = argv.index("--", at) if "--" in argv[at:] else len(argv)
        ours = self._reporting(folder)
        if any(word.startswith(self.reporters) for word in argv[at:]):
            ours = ours[1:]
        return Command((*self._start(argv, at), *argv[at + 1 : end], *ours, *argv[end:]), _ENV)

    def _reporting(self, folder: str) -> tuple[str, ...]:
        return (f"{self.reporters}=default", f"{self.reporters}={os.path.join(folder, _REPORTER)}")


def speaks(test_id: str) -> bool:
    """Whether `test_id` is a file, then ` > ` and the names of describes and a test; or a file and `::*`."""
    return bool(_ID.match(test_id))


def file_of(test_id: str) -> str:
    """The file of an id or selector."""
    return (base(test_id) or test_id).partition(BETWEEN)[0]


def _version(script: str) -> tuple[int, ...]:
    """The version of the package that a script of a runner lies in, as far as it is numbers; () where none is told."""
    at = script.index("node_modules/") + len("node_modules/")
    try:
        path = os.path.join(script[:at], script[at:].partition("/")[0], "package.json")
        package = parse(read_file(OsFiles(), path, MB) or b"", "package.json")
    except Refusal:
        return ()
    version = package.get("version") if isinstance(package, dict) else None
    words = version.split(".")[:2] if isinstance(version, str) else []
    return tuple(int(word) for word in words if word.isdigit())


def _on_the_fly(version: tuple[int, ...]) -> tuple[str, ...]:
    """By default vitest writes its bundled configuration into node_modules, which a check cannot."""
    return ("--configLoader=runner",) if version >= (3, 2) else ()


def _runner_at(argv: tuple[str, ...]) -> int:
    """The place of the runner's own name in a command, behind what starts it; 0 where nothing does."""
    program = os.path.basename(argv[0])
    if program == "node":
        return next((at for at, word in enumerate(argv) if at and not word.startswith("-")), 0)
    if program not in _MANAGERS:
        return 0
    return next((at for at, word in enumerate(argv) if at and word not in _BEFORE), 0)


def _only(ids: Iterable[str]) -> tuple[str, ...]:
    """The option that keeps the names of `ids`; both runners join the names of a test with blanks. Nothing where a
    selector asks for more, or where the names are too many for a command."""
    names = []
    for test_id in ids:
        if base(test_id) is not None:
            return ()
        inside = test_id.partition(BETWEEN)[2]
        names.append(f"({BETWEEN}| )".join(_pattern(name) for name in inside.split(BETWEEN)))
    pattern = f"^({'|'.join(names)})$"
    return (f"--testNamePattern={pattern}",) if len(pattern) <= _MOST_CHARACTERS else ()


def _pattern(text: str) -> str:
    """`text` as a regular expression of JavaScript that stands for itself."""
    return re.sub(r"[\\^$.*+?()\[\]{}|/]", r"\\\g<0>", text)


def _runner(kind: _Kind, form: str) -> Runner:
    command: Callable[[Interpreter, tuple[str, ...], str, str], Command] = kind.ids_command
    by_command: Callable[[tuple[str, ...], tuple[str, ...], str, str], Command | None] = kind.by_command
    return Runner(
        name=kind.name,
        wrapped=kind.wrapped,
        form=form,
        source="node_reporter.mjs",
        carried=_REPORTER,
        find=kind.find,
        speaks=speaks,
        ids_command=command,
        by_command=by_command,
        program=kind.program,
        reserves=True,
    )


VITEST = _runner(
    _Kind(
        "vitest",
        "node_modules/vitest/vitest.mjs",
        ("run", "--retry=0", "--bail=0", "--no-cache", "--coverage.enabled=false"),
        "--reporter",
        _on_the_fly,
    ),
    "src/cart.test.ts > cart > total",
)
JEST = _runner(
    _Kind(
        "jest",
        "node_modules/jest/bin/jest.js",
        ("--ci", "--bail=0", "--coverage=false", "--watchman=false", "--runTestsByPath"),
        "--reporters",
    ),
    "src/cart.test.js > cart > total",
)
