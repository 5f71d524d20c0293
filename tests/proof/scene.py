"""The frame of a scene: a small project, its criterion, the tests, the work on it, and how that has to end.

`play` goes the whole way with the real command line, each command a process of its own, in a home of the scene's own:
freeze, red, work, verify. `wrong` says in one sentence what did not end as the scene expects.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.proof.environments import PLAIN, python_of
from tests.real.project import Project, Said, run
from tests.real.pseudo import on_terminal
from yard.console import ROOT

FEATURE = "task"
#: What the scenes' repositories ignore unless a scene says otherwise.
IGNORED = ".venv\n__pycache__/\n*.egg-info/\nbuild/\n*.so\n.coverage\n.pytest_cache/\n.hypothesis/\n"
CLONES = ROOT / ".dev" / "cache" / "clones"
PROVEN = "proven"
REFUSED = "refused"

Text = str | bytes | None
Files = Mapping[str, Text]
Step = Files | Callable[["Stage"], object]


class Criterion(NamedTuple):
    """One criterion as the checklist says it; `requirements` are the lines below it (`tests: …`, `run: …`)."""

    id: str
    text: str
    requirements: tuple[str, ...]


def asks(*ids: str, name: str = "AC1", text: str = "it does what it should") -> Criterion:
    """A criterion that these tests show."""
    return Criterion(name, text, (f"tests: {json.dumps(list(ids), ensure_ascii=False)}",))


class Caught(NamedTuple):
    """How a cheat has to end: `criteria` (none: all) are not *proven*, and where they are given, one of `codes` is
    named by `ledger red` or `verify`, and one of the two ended with one of `statuses`."""

    codes: frozenset[str] = frozenset()
    statuses: frozenset[int] = frozenset()
    criteria: tuple[str, ...] = ()


def caught(*signs: str | int, criteria: tuple[str, ...] = ()) -> Caught:
    """A cheat that is caught by any of these codes (text) and exit statuses (numbers); without any: not above *ran*."""
    codes = frozenset(sign for sign in signs if isinstance(sign, str))
    return Caught(codes, frozenset(sign for sign in signs if isinstance(sign, int)), criteria)


class Scene(NamedTuple):
    """One small task. Every step of it is files (None: taken away) or a function that gets the `Stage`.

    `start` is committed at the freeze, `tests` are what the test author adds before `ledger red`, `work` is what the
    implementer does, `after` what happens later (a formatter, a rebase, another clone). `prepare` runs once the start
    is committed and makes what git does not hold. `python` names the environment that is first on PATH. `needs` are
    rows of `yard/probes.py`.
    """

    name: str
    says: str
    criteria: tuple[Criterion, ...]
    start: Files
    tests: Step
    work: Step
    prepare: Callable[[Stage], object] | None = None
    after: tuple[Step, ...] = ()
    expect: str | Caught = PROVEN
    needs: tuple[str, ...] = ()
    python: str = PLAIN


class Stage:
    """Where a scene is played. `project` is the work tree that is looked at now: a step may move on to another one.

    `home` is the user's home, in which the work tree lies; `outside` a folder beside it. A check sees neither of them,
    nor any other temporary folder, but for its own copy of the tree.

    `words` are added to the last `verify`. `said` keeps how each command ended, by a name; one whose name begins with
    `REFUSED` has to be refused.
    """

    def __init__(self, scene: Scene, folder: Path) -> None:
        self.scene = scene
        self.outside = folder
        self.home = folder / "home"
        self.python = python_of(scene.python)
        self.project = Project(self.home / "work", surroundings(self.home, self.python))
        self.words: tuple[str, ...] = ()
        self.stack = ExitStack()
        self.said: dict[str, Said] = {}

    @property
    def folder(self) -> Path:
        """The top of the work tree."""
        return self.project.folder

    def write(self, files: Files) -> None:
        """Write these files, or take them away."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))

    def step(self, step: Step) -> None:
        """Take one step of the scene."""
        if callable(step):
            step(self)
        else:
            self.write(step)

    def readable(self) -> Path:
        """A folder of nobody's that a check can read, gone when the scene is over."""
        CLONES.mkdir(parents=True, exist_ok=True)
        return Path(self.stack.enter_context(TemporaryDirectory(dir=CLONES)))

    def git(self, *words: str) -> str:
        """Run git in the work tree; it must end well."""
        return self.project.git(*words)

    def commit(self, message: str = "more") -> None:
        """Commit everything as it is, if there is anything."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)

    def run(self, *argv: str | Path, env: Mapping[str, str] | None = None) -> Said:
        """Run a program in the work tree; it must end well."""
        return run(argv, self.folder, {**self.project.env, **(env or {})}, check=True)

    def tally(self, name: str, *words: str, given: str = "") -> Said:
        """Run the command line; how it ended is kept under `name`."""
        self.said[name] = self.project.tally(*words, given=given.encode())
        return self.said[name]

    def person(self, name: str, *words: str) -> Said:
        """The same by a person at a terminal."""
        status, text = on_terminal(words, self.folder, self.project.env)
        self.said[name] = Said(status, text, "")
        return self.said[name]

    def red(self, name: str = "red", *criteria: str) -> Said:
        """`ledger red`, as the test author calls it."""
        return self.tally(name, "ledger", "red", FEATURE, *criteria, "--json")

    def verify(self, name: str = "verify", *words: str) -> Said:
        """`verify`, as whoever wants to know calls it."""
        return self.tally(name, "verify", FEATURE, *words, "--json")

    def move(self, folder: Path, *, elsewhere: bool = False) -> None:
        """Go on in another work tree; `elsewhere` with the home of somebody else, who trusts what HEAD holds."""
        env = surroundings(self.outside / "elsewhere", self.python) if elsewhere else self.project.env
        self.project = Project(folder, env)
        self.words = ("--trust-base", "HEAD") if elsewhere else self.words


class Played(NamedTuple):
    """How a scene ended, by criterion: its level at the end (only where it holds; else ""), the codes said about it.

    `codes` are all that `ledger red` and `verify` named, `statuses` the exit status of each command by its name,
    `faults` what was reported as our own fault.
    """

    levels: dict[str, str]
    why: dict[str, tuple[str, ...]]
    codes: frozenset[str]
    statuses: dict[str, int]
    said: dict[str, Said]
    faults: str = ""

    @property
    def told(self) -> str:
        """Everything that was said, for whoever has to find out why."""
        told = (f"{name} ({said.status})\n{said.out}{said.err}" for name, said in self.said.items())
        return "\n".join((*told, self.faults))


def surroundings(home: Path, python: Path) -> dict[str, str]:
    """The variables of a scene: a home of its own, its Python first on PATH."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(_GIT_SETTINGS, encoding="utf-8")
    path = os.pathsep.join((str(python.parent), os.environ.get("PATH", os.defpath)))
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("STATE", "CACHE", "CONFIG", "DATA")}
    return {**folders, "HOME": str(home), "PATH": path, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


_GIT_SETTINGS = "[user]\n\tname = Tester\n\temail = tester@example.invalid\n[init]\n\tdefaultBranch = main\n"


def play(scene: Scene, folder: Path) -> Played:
    """Play a scene in an empty folder: the project in `home/work`, everything of the user's in `home`."""
    stage = Stage(scene, folder)
    with stage.stack:
        stage.folder.mkdir()
        stage.write({".gitignore": IGNORED, **scene.start})
        stage.git("init", "--quiet")
        stage.commit("start")
        if scene.prepare is not None:
            scene.prepare(stage)
        stage.tally("init", "ledger", "init", FEATURE, "-", given=checklist(scene.criteria))
        stage.commit("the criteria")
        stage.step(scene.tests)
        stage.red()
        stage.commit("the tests")
        for step in (scene.work, *scene.after):
            stage.step(step)
        stage.verify("verify", *stage.words)
    return played(stage)


def checklist(criteria: tuple[Criterion, ...]) -> str:
    """The criteria as `ledger init` reads them."""
    return "".join(
        f"- [ ] {one.id} {one.text}\n" + "".join(f"      {entry}\n" for entry in one.requirements) for one in criteria
    )


def wrong(scene: Scene, found: Played) -> str:
    """What did not end as the scene expects, "" where all did."""
    names = list(dict.fromkeys((*(one.id for one in scene.criteria), *found.levels)))
    proven = [name for name in names if found.levels.get(name) == PROVEN]
    if isinstance(scene.expect, Caught):
        cheated = [name for name in proven if name in (scene.expect.criteria or names)]
        if cheated:
            return f"{', '.join(cheated)} is proven"
        if scene.expect.codes and not scene.expect.codes & found.codes:
            return f"none of {', '.join(sorted(scene.expect.codes))} was named, but {', '.join(sorted(found.codes))}"
        ends = {found.statuses["red"], found.statuses["verify"]}
        if scene.expect.statuses and not scene.expect.statuses & ends:
            return f"red ended with {found.statuses['red']}, verify with {found.statuses['verify']}"
        return ""
    ended = found.statuses.items()
    failed = [f"{name} ended with {status}" for name, status in ended if (status != 0) != name.startswith(REFUSED)]
    levels = [f"{name} is {found.levels.get(name) or 'not done'}" for name in names if name not in proven]
    codes = [", ".join(sorted(found.codes))] if failed or levels else []
    return "; ".join((*failed, *levels, *filter(None, codes)))


def played(stage: Stage) -> Played:
    """How it ended, by what was said."""
    rows = _document(stage.said["verify"]).get("criteria", [])
    levels = {row["id"]: row["level"] if row["holds"] else "" for row in rows}
    why = {row["id"]: tuple(reason["code"] for reason in row.get("reasons", ())) for row in rows}
    told = [_document(said) for name, said in stage.said.items() if name.startswith(("red", "verify"))]
    codes = frozenset(code for document in told for code in _codes(document))
    statuses = {name: said.status for name, said in stage.said.items()}
    reports = sorted(stage.outside.glob("*/state/tallystick/reports/*"))
    faults = "\n".join(report.read_text(encoding="utf-8", errors="replace") for report in reports[:1])
    return Played(levels, why, codes, statuses, dict(stage.said), faults)


def _document(said: Said) -> dict[str, Any]:
    try:
        found = json.loads(said.out)
    except ValueError:  # a refusal of the words themselves is told in words
        return {}
    return found if isinstance(found, dict) else {}


def _codes(value: object) -> Iterator[str]:
    """Every `code` anywhere in a document."""
    if isinstance(value, dict):
        code = value.get("code")
        if isinstance(code, str):
            yield code
        for one in value.values():
            yield from _codes(one)
    elif isinstance(value, list):
        for one in value:
            yield from _codes(one)
