"""Which Python runs a project's tests: the project's own, never the one that Tallystick happens to run on."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from tallystick.errors import Refusal
from tallystick.evidence.runners.base import Interpreter
from tallystick.system.process import find_program

OWN_FOLDER = ".venv/bin"
#: Programs that start another one with what a project needs, and the word that stands behind their name for it.
LAUNCHERS: dict[str, str] = {
    "uv": "run", "poetry": "run", "pdm": "run", "pipenv": "run", "hatch": "run", "rye": "run", "pixi": "run",
    "conda": "run", "coverage": "run", "env": "",
}  # fmt: skip
#: Options of theirs whose value could be taken for the program.
_WITH_VALUE = ("--with", "--group", "--extra", "--package", "--only-group", "-n", "-p", "-e")
_OWN = f"{OWN_FOLDER}/python"
_PYTHON = re.compile(r"python(\d(\.\d+)?)?\Z")


def find_interpreter(root: str, path: str) -> Interpreter:
    """The Python of the project at `root`: its `.venv` if it has one, else `python3` in the folders of `path`.

    Raises `Refusal` "check.no_runner" when there is neither.
    """
    own = os.path.join(root, _OWN)
    if os.access(own, os.X_OK):
        return Interpreter(own, _OWN)
    found = find_program("python3", path)
    if found is None:
        raise Refusal(
            "check.no_runner",
            f"no Python to run the tests with: neither {_OWN} nor python3 on PATH",
            "make one: python3 -m venv .venv",
        )
    return Interpreter(found, "python3 on PATH")


def module_arguments(argv: tuple[str, ...], module: str) -> int | None:
    """Where the arguments of `module` begin in a command like `python -m MODULE …`; None for any other command."""
    if len(argv) >= 3 and _PYTHON.match(os.path.basename(argv[0])) and argv[1:3] == ("-m", module):
        return 3
    return None


def behind_launcher(argv: tuple[str, ...], starts: Callable[[tuple[str, ...]], bool]) -> int | None:
    """Where in `argv` the command of a runner begins: at once, or behind one of the `LAUNCHERS`; None where it is none.

    `starts` tells such a command by its words.
    """
    if starts(argv):
        return 0
    word = LAUNCHERS.get(os.path.basename(argv[0]))
    if word is None or (word and argv[1:2] != (word,)):
        return None
    for at in range(2 if word else 1, len(argv)):
        if starts(argv[at:]) and argv[at - 1] not in _WITH_VALUE:
            return at
    return None
