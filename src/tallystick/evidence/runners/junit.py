"""Any runner that writes a JUnit XML file: a frozen command, or the project's own, with `{report}` in one of its words.

`run: npx mocha --reporter xunit --reporter-option output={report}`: the word becomes a path in a temporary folder of
the run, where no file lies yet. What a command writes there is taken as the report once it has ended. A test that knows
the path can write it as well, so such a run proves no more than its exit status does: *ran* at most.
"""

from __future__ import annotations

import os

from tallystick.errors import Refusal
from tallystick.evidence.runners.base import Command, Interpreter, Runner
from tallystick.evidence.runners.junit_report import read_junit
from tallystick.ids import shown
from tallystick.settings import FILE

REPORT_WORD = "{report}"
_SCRIPT = "tallystick_junit.sh"


def wrapped(argv: tuple[str, ...], folder: str) -> Command | None:
    """A command that says where its report goes, with a place for it; None for any other."""
    if not any(REPORT_WORD in word for word in argv):
        return None
    place = os.path.join(os.path.dirname(folder), "tmp", "tallystick-junit.xml")
    words = (word.replace(REPORT_WORD, place) for word in argv)
    return Command(("sh", os.path.join(folder, _SCRIPT), place, *words), {})


def ids_command(program: Interpreter, ids: tuple[str, ...], root: str, folder: str) -> Command:
    """Nobody can say how to run an id. Raises `Refusal` "check.no_runner"."""
    del program, root, folder
    raise Refusal(
        "check.no_runner",
        f"only the project's own command can run {shown(ids[0])}",
        f"name it in {FILE}: tests.command, with {REPORT_WORD} in the word that says where its report goes",
    )


def by_command(argv: tuple[str, ...], ids: tuple[str, ...], root: str, folder: str) -> Command | None:
    """The whole of the project's own command, whatever the ids: each is looked for in its report."""
    del ids, root
    return wrapped(argv, folder)


JUNIT = Runner(
    name="junit",
    wrapped=wrapped,
    ids_command=ids_command,
    by_command=by_command,
    source="junit_carry.sh",
    carried=_SCRIPT,
    reads=read_junit,
)
#: Where it is the project's own runner every id is one of its report.
PROJECTS_JUNIT = JUNIT._replace(speaks=lambda _: True)
