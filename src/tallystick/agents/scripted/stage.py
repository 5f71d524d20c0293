"""Where a story is played: the sample project as a repository of its own, and an environment that leads nowhere else.

Nothing of the user's takes part: not the key and the anchors, not git's settings, signatures, hooks and templates, not
the repository one stands in. What is passed on of the environment is the way to programs, the language, the time zone.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from tallystick.agents.scripted.sample import CRITERIA, START
from tallystick.evidence.origin import merged, of_requirements
from tallystick.evidence.trust import TrustTable
from tallystick.limits import LOCK_WAIT_S
from tallystick.moment import stamp
from tallystick.settings import Settings
from tallystick.system.durable import make_folders, replace_file
from tallystick.system.files import Files
from tallystick.system.git import commit_all, make_repository
from tallystick.system.locks import Clock
from tallystick.system.scratch import lay

#: The rooms of the folder: the project; the user's half; programs for the checks, and to look around with.
PROJECT, STATE, PROGRAMS = ROOMS = ("shop", "state", "bin")
_PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")


class Stage(NamedTuple):
    """The folder `project`, a git repository that `commit(author, message)` commits to; it gives the short id.

    A server is started as `program` and a role, with exactly the variables `env`; what it lays down for a moment lies
    in the folder `scratch`.
    """

    files: Files
    clock: Clock
    project: str
    scratch: str
    program: tuple[str, ...]
    env: Mapping[str, str]
    commit: Callable[[str, str], str]

    def write(self, path: str, text: str) -> None:
        """Put `text` at `path` of the project in one step."""
        whole = f"{self.project}/{path}"
        make_folders(self.files, os.path.dirname(whole), 0o755)
        replace_file(self.files, whole, text.encode(), mode=0o644, sync=False, beside=f"{whole}.new")


def build(files: Files, clock: Clock, variables: Mapping[str, str], folder: str, scratch: str) -> Stage:
    """The stage in `folder`, which has its `ROOMS` and nothing in them; `variables` are the user's environment.

    Raises `Refusal` "git.missing" where git is not there or does not work.
    """
    project = f"{folder}/{PROJECT}"
    path = variables.get("PATH") or os.defpath
    env = {name: variables[name] for name in _PASSED_ON if name in variables} | {
        "PATH": f"{folder}/{PROGRAMS}{os.pathsep}{path}",
        "HOME": scratch,
        "TMPDIR": scratch,
        "XDG_STATE_HOME": f"{folder}/{STATE}",
    }

    def commit(author: str, message: str) -> str:
        return commit_all(project, env, author, message)

    stage = Stage(files, clock, project, scratch, (*_tallystick(), "mcp", "--role"), env, commit)
    make_repository(project, env)
    _lay_programs(f"{folder}/{PROGRAMS}")
    for name, text in START.items():
        stage.write(name, text)
    commit("you", "Open a shop")
    _trust_the_sample(files, clock, project, f"{folder}/{STATE}/tallystick")
    return stage


def _trust_the_sample(files: Files, clock: Clock, project: str, home: str) -> None:
    """Where nothing shuts checks in, even one's own wait for a person; these are known, and so is all that they run."""
    entries = [entry for one in CRITERIA for entry in one["evidence_required"]]
    commands = merged(of_requirements(entries, Settings(), "own"))
    table = TrustTable(files, home, files.realpath(f"{project}/.git"), clock, LOCK_WAIT_S)
    table.trust(commands, "user", stamp(clock.now()))


def _tallystick() -> tuple[str, ...]:
    """How this very Tallystick is started anew, wherever it lies, and whatever lies in the folder it is started in."""
    import tallystick

    top = os.path.dirname(os.path.dirname(os.path.abspath(tallystick.__file__)))
    start = f"import sys; sys.path.insert(0, {top!r}); from tallystick.faces.cli.main import run; sys.exit(run())"
    return (sys.executable, "-I", *(f"-W{option}" for option in sys.warnoptions), "-c", start)


def _lay_programs(programs: str) -> None:
    """`python3`, which the sample's checks run on: the Python of this process; `tallystick` with this user's half."""
    texts = {
        "python3": f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n',
        "tallystick": f"""\
#!/bin/sh
# Tallystick with the user's half that belongs to this project: its key and its anchors.
XDG_STATE_HOME=$(cd "$(dirname "$0")/../{STATE}" && pwd)
export XDG_STATE_HOME
exec {shlex.join(_tallystick())} "$@"
""",
    }
    for name, text in texts.items():
        lay(programs, name, os.fsencode(text), executable=True)
