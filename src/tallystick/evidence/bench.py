"""Where the runs of one proof are made, one after the other: each on the tree it is meant for, laid out anew."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from tallystick.effective import digest, effective
from tallystick.errors import Refusal
from tallystick.evidence.checks import CheckPlace, CheckResult, Step, execute, limits_of, program_at
from tallystick.evidence.environment import check_environment
from tallystick.evidence.places import Ground
from tallystick.evidence.runners import RUNNERS
from tallystick.evidence.runners.base import Modes
from tallystick.evidence.runners.python import LAUNCHERS
from tallystick.evidence.setting_up import SetUp, set_up
from tallystick.ids import shown
from tallystick.settings import Settings
from tallystick.system.files import Files
from tallystick.system.scratch import scratch_folder
from tallystick.system.trees import Trees

if TYPE_CHECKING:
    from tallystick.evidence.installed import Installed


class Watch(NamedTuple):
    """What a caller may know and do while a check runs: its output as it comes, a wish to stop it, the run's id.

    `run` is for a caller that told the id before the run has ended; otherwise the run gets a new one. `says` is told
    what is done next, in a few words.
    """

    cancelled: Callable[[], bool] | None = None
    on_output: Callable[[bytes], None] | None = None
    run: str = ""
    says: Callable[[str], None] | None = None


class Bench:
    """Runs steps at one ground. `trees` is None where the project has none; then everything runs in place.

    `tree` is what is laid out: the recorded one without byte code, which would be believed instead of its source.
    `setup` is what made the copy ready the first time, `settings` the digest of the effective settings,
    `irrelevant` what no proof rests on by them.
    """

    def __init__(
        self,
        ground: Ground,
        trees: Trees | None,
        variables: Mapping[str, str],
        settings: Settings,
        packages: tuple[str, ...],
        watch: Watch,
    ) -> None:
        self.ground = ground
        self.trees = trees
        self.packages = packages
        self.took_s = 0.0
        self.tree = _without_byte_code(trees, ground.tree) if trees is not None and ground.copy and ground.tree else ""
        self._variables = variables
        self._settings = settings
        self._watch = watch
        self._laid = ground.tree or ""
        self._used = self._ready = False
        self.setup: tuple[SetUp, ...] = ()
        self.settings = digest(effective(settings))
        self.irrelevant = settings.verify.irrelevant
        self._place = CheckPlace(ground.root, ground.confined, ground.copy)

    def says(self, text: str) -> None:
        """Tell whoever waits what is done next."""
        if self._watch.says is not None:
            self._watch.says(text)

    def lay(self, tree: str) -> None:
        """Have the copy be `tree`, as if nothing had run there."""
        if self._used or self._ready or tree != self._laid:
            self.ground.lay(tree)
            self._laid, self._used, self._ready = tree, False, False

    def run(self, step: Step, tree: str = "", *, sabotage: str = "") -> CheckResult:
        """Run `step` on `tree` (the recorded one), without what is set aside for it.

        Raises `Refusal`: "check.needs" for what is neither green nor red, and whatever starting it and making the copy
        ready (`setting_up`) raises.
        """
        if self.ground.home:
            wanted = self._without(tree or self.tree, step.without)
            if self._used or wanted != self._laid:
                self.lay(wanted)
            self._make_ready()
        self._used = True
        modes = Modes(True, True, sabotage, self.packages, self.ground.home)
        result = execute(
            step,
            self._place,
            self._variables,
            limits_of(self._settings.verify),
            settings=self._settings,
            modes=modes,
            launch=self.ground.launch,
            cancelled=self._watch.cancelled,
            on_output=self._watch.on_output,
        )
        self.took_s += result.ran.took_s
        lacks = None if result.verdict.green else self.ground.lacks()
        if lacks is not None:
            raise _needs(lacks, self.ground.confined)
        return result

    def installed(self, files: Files, step: Step, cache: str) -> Installed | None:
        """How the test runner of a step lies there, against what was installed; None for one that is not looked at.

        `cache` is a folder of ours.
        """
        if step.runner not in ("pytest", "unittest"):
            return None
        if self.ground.home:
            self._make_ready()  # what it makes may be the Python itself
        from tallystick.evidence.installed import Installed, installed
        from tallystick.evidence.site_folders import is_script, python_of

        with scratch_folder(folders=("home", "tmp", "carried")) as folder:
            verify, root = self._settings.verify, self.ground.root
            env = check_environment(self._variables, root, f"{folder}/home", f"{folder}/tmp", verify, self.ground.copy)
            limits = limits_of(verify)

            def ask(argv: tuple[str, ...]) -> bytes | None:
                finished = self.ground.launch(argv, self.ground.root, env, limits, cancelled=self._watch.cancelled)
                return finished.out if finished.status == 0 and not finished.stopped else None

            argv = self._settings.tests.command if step.ids else step.argv
            if not argv:
                python: str | None = program_at(self._place, RUNNERS[step.runner], env["PATH"]).path
            elif os.path.basename(argv[0]) in LAUNCHERS:
                python = None
            else:
                first = os.path.join(root, argv[0]) if "/" in argv[0] else argv[0]
                python = python_of(files, (first, *argv[1:]), env["PATH"])
            if python is None:
                return Installed(unknown=(f"which Python {argv[0]} starts",))
            if python.startswith(f"{root}/") and is_script(files, python):
                return Installed(patched=(f"{python} is a script of the project that stands for a Python",))
            if step.runner != "pytest":
                return None
            return installed(files, python, ask, cache, self.ground.began_ns)

    def _make_ready(self) -> None:
        """Run `verify.setup` where the copy was laid out anew: laying out takes away whatever was made there."""
        if self._ready or not self._settings.verify.setup:
            return
        self.says("making the copy ready")
        self._ready = True
        watch, ground = self._watch, self.ground
        done = set_up(
            self._settings.verify,
            self._place,
            self._variables,
            ground.launch,
            ground.lacks,
            watch.cancelled,
            watch.on_output,
        )
        self.took_s += sum(one.finished.took_s for one in done)
        self.setup = self.setup or done

    def _without(self, tree: str, names: tuple[str, ...]) -> str:
        return self.trees.made(tree, dict.fromkeys(names)) if names and self.trees is not None else tree


def _without_byte_code(trees: Trees, tree: str) -> str:
    names = [name for name in trees.rows(tree) or () if "__pycache__" in name.split("/")[:-1]]
    return trees.made(tree, dict.fromkeys(names)) if names else tree


def _needs(name: str, confined: str) -> Refusal:
    """A check that is neither green nor red: it could not reach what it needs."""
    return Refusal(
        "check.needs",
        f"the check needs {shown(name, 300)}, which it cannot reach because it is shut in ({confined})",
        'allow it below [verify] in .tallystick/config.toml (allow, network), or run it with mode = "in-place"',
    )
