"""What a phase changed in a tree of 20,000 files, read from git, against one `git status` of the same tree."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.scene import Scene, scene
from benchmarks.table import Row
from benchmarks.timing import in_turn
from tallystick.system.changes import changes
from tallystick.system.files import OsFiles
from tallystick.system.git import Git
from tallystick.system.place import find_place

PART = "What a phase changed, against git status"
FILES, CHANGED = 20_000, 200
BOUND = 1.5
_IN_ONE_FOLDER = 100
_ROUNDS = 25


def rows() -> list[Row]:
    """Nothing committed since the start of the phase, and half of it; the tree is packed as after a clone."""
    found = []
    for name, committed in (("nothing committed", 0), ("half committed", CHANGED // 2)):
        with scene() as at:
            base = grown(at)
            work(at, committed)
            asked = git_at(at)
            assert len(changes(OsFiles(), asked, base)) == CHANGED
            works: dict[str, Callable[[], object]] = {
                "ours": partial(changes, OsFiles(), asked, base),
                "theirs": partial(status, at),
            }
            times = in_turn(works, _ROUNDS)
        ours, theirs = times["ours"], times["theirs"]
        what = f"{FILES:,} files, {CHANGED} changed, {name}"
        found.append(Row(PART, what, ours.median / theirs.median, BOUND, f"{ours} against {theirs}"))
    return found


def grown(at: Scene) -> str:
    """The tree, committed and packed; its commit."""
    for number in range(FILES):
        write(at.place / f"src/{number // _IN_ONE_FOLDER}/{number}.py", f"value = {number}\n" * 20)
    git(at, "add", "--all")
    git(at, "commit", "--quiet", "-m", "first")
    git(at, "repack", "-adq")
    git(at, "status")  # writes an index that knows the files
    return git(at, "rev-parse", "HEAD").strip()


def work(at: Scene, committed: int) -> None:
    """The phase: edited, new, deleted and renamed files, a quarter of each, all over the tree."""
    step = FILES // CHANGED
    for number in range(CHANGED):
        place = number * step
        path = at.place / f"src/{place // _IN_ONE_FOLDER}/{place}.py"
        kind = number % 4
        if kind == 0:
            write(path, f"value = {place}\n" * 20 + "more = True\n")
        elif kind == 1:
            write(path.with_name(f"new{place}.py"), f"other = {place}\n" * 5)
        elif kind == 2:
            path.unlink()
        else:
            path.rename(path.with_name(f"moved{place}.py"))
        if number + 1 == committed:
            git(at, "add", "--all")
            git(at, "commit", "--quiet", "-m", "second")


def status(at: Scene) -> None:
    """One `git status`, as a person types it."""
    git(at, "status")


def git_at(at: Scene) -> Git:
    """Git as the product runs it."""
    place = find_place(OsFiles(), str(at.place))
    return Git(OsFiles(), place.tree, place.git_dir, place.common, at.environment())


def git(at: Scene, *words: str) -> str:
    """Run git to a good end; what it printed."""
    who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.invalid", "-c", "gc.auto=0")
    argv = ["git", *who, *words]
    return subprocess.run(argv, cwd=at.place, env=at.environment(), capture_output=True, text=True, check=True).stdout


def write(path: Path, text: str) -> None:
    """Write a file, its folder too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")
