"""The contract of a test runner: what it can run, how it is started, what it carries into the check.

Where a runner takes a reporter, ours is *carried* (copied into a folder of the run, so nothing of ours needs to be
readable or importable where the check runs) and writes rows into an inherited pipe (`report.py`). What a test prints
cannot reach it. A runner that takes none is read by what it prints itself (`reads`); what it then cannot tell from the
words of a test is said in its module, and no such run goes above the level *ran*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tallystick.evidence.runners.report import Report

#: The variable that tells a reporter the number of the inherited pipe.
REPORT_VARIABLE = "TALLYSTICK_REPORT"
#: The file beside the reporter that names the ids to run, as a JSON array; without it everything asked for runs.
IDS_FILE = "tallystick_ids.json"
#: The file in a run's own TMPDIR that says in which modes it runs, as a JSON object; taken away as soon as it is read.
MODES_FILE = "tallystick_modes.json"
#: What is carried besides the reporter where a run is recorded, and its source in this package.
RECORDER, RECORDER_SOURCE = "tallystick_recorder.py", "recorder.py"
#: What tells, beside the recorder, which test file rests on what, and what makes a graph of that; their sources.
ATTRIBUTION, ATTRIBUTION_SOURCE = "tallystick_attribution.py", "attribution.py"
IMPORT_GRAPH, IMPORT_GRAPH_SOURCE = "tallystick_import_graph.py", "import_graph.py"
#: What looks, in such a run, whether the tests and the runner are still themselves, and its source.
INTEGRITY, INTEGRITY_SOURCE = "tallystick_integrity.py", "integrity.py"


class Modes(NamedTuple):
    """What a run is for, beyond what a plain check tells.

    `alone`: one process, one attempt, no end at the first failure, whatever the configuration says (only where the
    plugins are loaded that know such words). `record`: say which files were read and from where code was loaded;
    `packages` are the project's own, `home` is the work tree whose copy this run is about ("" where it runs in place).
    `sabotage`: every test fails, "instead" of its own code (which never runs) or "after" it.
    """

    alone: bool = False
    record: bool = False
    sabotage: str = ""
    packages: tuple[str, ...] = ()
    home: str = ""


class Tree(NamedTuple):
    """The files of a project, for finding its runner: paths from the top with `/`, and a way to read a small one.

    `read` gives None where there is nothing to read.
    """

    names: tuple[str, ...]
    read: Callable[[str], bytes | None]


class Interpreter(NamedTuple):
    """The program that runs a project's tests, Python for most; `found` says why this one."""

    path: str
    found: str


class Command(NamedTuple):
    """How a runner is started: argument list, and variables beside those that every check gets."""

    argv: tuple[str, ...]
    env: dict[str, str]


def _never(_: object) -> bool:
    return False


class Runner(NamedTuple):
    """One row of the table of runners.

    `wrapped(argv, folder)` is a frozen command that starts this runner with our reporter added, None for any other
    command. `find(tree)`: whether the project's tests are this runner's. `speaks(id)`: whether a test id has this
    runner's form, of which `form` is an example. `ids_command(python, ids, root, folder)` starts exactly these ids;
    None where there are none. `folder` is the run's own and holds the file `carried`, whose text is `source` in this
    package ("": nothing is carried). `module` must be importable in the project's Python; "" for what every Python has.
    `by_command(argv, ids, root, folder)` is the project's own command for this runner, made to run exactly these ids;
    None for a command of another one.
    `program(root, path)` finds what starts the ids where that is no Python, in the folders of `path`; it raises
    `Refusal` "check.no_runner". `reads` makes the report of what was carried out: of all that the run printed, or of
    the pipe's bytes where something is carried (None: these are rows). `reserves`: it asks for far more address space
    than it ever uses, so that a limit of it would only break it.
    """

    name: str
    wrapped: Callable[[tuple[str, ...], str], Command | None]
    form: str = ""
    module: str = ""
    source: str = ""
    carried: str = ""
    find: Callable[[Tree], bool] = _never
    speaks: Callable[[str], bool] = _never
    ids_command: Callable[[Interpreter, tuple[str, ...], str, str], Command] | None = None
    by_command: Callable[[tuple[str, ...], tuple[str, ...], str, str], Command | None] | None = None
    program: Callable[[str, str], Interpreter] | None = None
    reads: Callable[[bytes], Report] | None = None
    reserves: bool = False
