"""Where a check runs: a fresh tree of the recorded state, confined; or in place where there is no git.

The fresh tree is mounted at the real tree's own path where the means can mount, else a start-up file re-points what
Python knows of the real one. Whatever the check writes is thrown away with it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from tallystick.errors import Refusal
from tallystick.evidence.fresh import Source, fresh_tree, sweep_daily
from tallystick.evidence.needed import Needed, binds, links, needed
from tallystick.evidence.startup import startup_files
from tallystick.settings import Verify
from tallystick.system.confine import Rules, available, confinement_failed, missing_because_confined, wrap
from tallystick.system.confine.means import BUBBLEWRAP, Means
from tallystick.system.confine.rules import ALL, LOOPBACK
from tallystick.system.confine.tools import tool_folders
from tallystick.system.files import Files
from tallystick.system.git import Git
from tallystick.system.locks import Clock
from tallystick.system.place import user_home
from tallystick.system.process import Finished, run
from tallystick.system.recorded import record_tree
from tallystick.system.scratch import lay

#: bubblewrap ends with this and the number of the signal that ended the program, as shells do.
_SIGNALLED = 128

Launch = Callable[..., Finished]


class Ground(NamedTuple):
    """A place that is ready: `root` is where the program sees its tree, `home` the work tree whose copy that is ("" in
    place), `tree` the id of the recorded state, `confined` by which means, `began_ns` the wall clock before it was
    recorded, `launch` starts a program there, `lacks` says what the last one lacked only because it is shut in. `lay`
    makes the copy this or another tree: what the last program did to it is undone, so no check is judged by what
    another left. `copy` is where it lies, for us ("" in place).
    """

    root: str
    home: str
    tree: str | None
    confined: str
    began_ns: int
    launch: Launch
    lacks: Callable[[], str | None] = lambda: None
    lay: Callable[[str], None] = lambda _: None
    copy: str = ""


class Shut(NamedTuple):
    """What a check must not see: the user's half and the store (`secret`), the user's home (`hidden`)."""

    secret: tuple[str, ...]
    hidden: tuple[str, ...]
    readable: tuple[str, ...]


class Places:
    """Makes places for the checks of one work tree."""

    def __init__(
        self,
        files: Files,
        git: Git,
        source: Source,
        user_half: str,
        env: Mapping[str, str],
        clock: Clock,
        means: Callable[[], Means] = available,
    ) -> None:
        self._files = files
        self._git = git
        self._source = source
        self._user_half = user_half
        self._env = env
        self._clock = clock
        self._means = means

    @property
    def whole(self) -> bool:
        """Whether a check is shut in here by something that holds all that is promised."""
        return self._means().whole

    @contextmanager
    def open(self, verify: Verify, *, believe: bool = True) -> Iterator[Ground]:
        """A place with the state as it is now, the caller's alone until the end; `verify` may want it in place.

        Unless `believe`, every file is read to record the state. Raises what recording and laying out raise.
        """
        began, means = self._clock.now(), self._means()
        top, common, store = self._source
        recorded = None
        if common and self._git.top:
            recorded = record_tree(self._files, self._git, common, store, self._env, began, believe=believe)
        if recorded is None or verify.mode == "in-place":
            yield self._in_place(means, began, recorded.tree if recorded is not None else None, verify)
            return
        with ExitStack() as stack:
            fresh = stack.enter_context(
                fresh_tree(
                    self._files,
                    self._env,
                    self._clock,
                    self._source,
                    recorded.tree,
                    exact=True,
                    anew=not means.confines,
                )
            )
            lent = needed(self._files, self._git, verify.link)
            at, carried = "", {}
            shown: tuple[tuple[str, str], ...] = ()
            if means.mounts:
                at, shown = top, tuple(binds(lent, top))
            else:
                links(self._files, lent, top, fresh.root)
                carried = startup_files(top, fresh.root, lent)
            rules = Rules(fresh.root, "", network=_network(verify), mount_at=at, binds=shown)
            inside = _Inside(means, rules, self._shut(lent), carried, self._allowed(verify))
            root = top if means.mounts else fresh.root

            def lay(tree: str) -> None:
                fresh.lay(tree)
                if not means.mounts:
                    links(self._files, lent, top, fresh.root)

            tree = recorded.tree
            yield Ground(root, top, tree, means.word, began, inside.launch, inside.lacks, lay, fresh.root)
        sweep_daily(self._files, self._env, self._clock)

    def _in_place(self, means: Means, began: int, tree: str | None, verify: Verify) -> Ground:
        """The check runs where the files lie, and what it writes there stays."""
        rules = Rules(self._source.top, "", network=_network(verify))
        inside = _Inside(means, rules, self._shut(()), {}, self._allowed(verify))
        return Ground(self._source.top, "", tree, means.word, began, inside.launch, inside.lacks)

    def _allowed(self, verify: Verify) -> tuple[str, ...]:
        """The paths outside the tree that the settings let a check write to; a person trusted them before."""
        return tuple(path for path in verify.allow if os.path.isabs(path) and self._is_there(path))

    def _shut(self, lent: tuple[Needed, ...]) -> Shut:
        home = user_home(self._env)
        homes = (self._files.realpath(home),) if os.path.isabs(home) and home.strip("/") else ()
        secret = tuple(path for path in (self._user_half, self._source.store) if self._is_there(path))
        tools = (sys.base_prefix, sys.prefix, *(tool_folders(homes[0]) if homes else ()))
        readable = tuple(dict.fromkeys((*tools, *(one.path for one in lent))))
        return Shut(secret, homes, tuple(path for path in readable if self._is_there(path)))

    def _is_there(self, path: str) -> bool:
        try:
            self._files.stat(path)
        except OSError:
            return False
        return True


class _Inside:
    """Starts programs shut in by one means; remembers the rules of the last one, for what it lacked."""

    def __init__(
        self, means: Means, rules: Rules, shut: Shut, carried: Mapping[str, bytes], allowed: tuple[str, ...]
    ) -> None:
        self._last: Finished | None = None
        self._allowed = allowed
        self._means = means
        self._rules = rules
        self._shut = shut
        self._carried = carried
        self._path = ""

    def launch(self, argv: tuple[str, ...], root: str, env: Mapping[str, str], limits: Any, **options: Any) -> Finished:
        """As `system.process.run`. `env` names the folders of the run itself: its HOME and TMPDIR."""
        own = os.path.dirname(env["HOME"])
        if self._carried:
            for name, data in self._carried.items():
                lay(f"{own}/carried", name, data)
            env = {**env, "PYTHONPATH": os.pathsep.join(filter(None, (f"{own}/carried", env.get("PYTHONPATH", ""))))}
        if not self._means.confines:
            return run(argv, self._rules.tree, env, limits, **options)
        self._path = env["PATH"]
        _found(argv[0], self._path, self._rules)
        self._rules = self._rules._replace(
            home=env["HOME"],
            writable=(env["TMPDIR"], *self._allowed),
            hidden=self._shut.hidden,
            secret=self._shut.secret,
            read_only=(*self._shut.readable, *_programs(self._path, argv[0]), f"{own}/carried"),
        )
        wrapped = wrap(argv, self._rules, self._means)
        finished = run(wrapped.argv, wrapped.cwd, env, limits, **options)
        if self._means.name == BUBBLEWRAP and finished.status is not None and finished.status > _SIGNALLED:
            finished = finished._replace(status=None, signal=finished.status - _SIGNALLED)
        failed = confinement_failed(finished)
        if failed is not None:
            raise Refusal(
                "check.no_runner",
                f"the check could not be started by {self._means.word}: {failed}",
                'set mode = "in-place" below [verify] in .tallystick/config.toml, or see docs/trust.md',
            )
        self._last = finished
        return finished

    def lacks(self) -> str | None:
        """What the last program lacked only because it was shut in, None where that was not it."""
        if self._last is None or not self._means.confines:
            return None
        return missing_because_confined(self._last, self._rules, self._path)


def _network(verify: Verify) -> str:
    """Itself alone, unless the settings name hosts: which ones cannot be told apart, so then all of it."""
    return LOOPBACK if isinstance(verify.network, str) else ALL


def _programs(path: str, program: str) -> tuple[str, ...]:
    """Folders that hold what a check may start: those of PATH wherever they lie, an environment of Python whole."""
    folders = [one for one in (*path.split(os.pathsep), os.path.dirname(program)) if os.path.isabs(one)]
    found: dict[str, None] = {}
    for folder in folders:
        above = os.path.dirname(folder.rstrip("/"))
        whole = os.path.exists(os.path.join(above, "pyvenv.cfg"))
        found[above if whole else folder] = None
        for name in ("python3", "python"):
            real = os.path.realpath(os.path.join(folder, name))
            if os.path.exists(real):
                found[os.path.dirname(os.path.dirname(real))] = None
    return tuple(one for one in found if os.path.isdir(one) and one.strip("/"))


def _found(program: str, path: str, rules: Rules) -> None:
    """Raise "check.no_runner" where there is no such program: what shuts it in would only say so in its own words.

    In the tree it may lie in the copy alone, which is seen at `mount_at`.
    """
    folders = [""] if "/" in program else path.split(os.pathsep)
    places = [os.path.join(folder, program) for folder in folders]
    if rules.mount_at:
        inside = f"{rules.mount_at}/"
        places += [f"{rules.tree}/{one[len(inside) :]}" for one in places if one.startswith(inside)]
    if not any(os.access(place, os.X_OK) for place in places):
        says = f"there is no program {program} on PATH"
        raise Refusal("check.no_runner", says, "install it, or name it by its path")
