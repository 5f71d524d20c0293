"""A repository to record and to lay out: what a fresh tree is made from, and everything that lies in a folder."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tallystick.evidence.fresh import Fresh, Source, fresh_tree
from tallystick.moment import SystemClock
from tallystick.system.files import OsFiles
from tallystick.system.git import Git
from tallystick.system.place import find_place
from tallystick.system.recorded import Recorded, record_tree
from tests.real.project import Project

FILES = OsFiles()


class Entry(NamedTuple):
    """One path of a folder: file, link, folder or other; whether it can be executed; its bytes or target."""

    kind: str
    executable: bool
    data: bytes


def everything(root: Path, *, folders: bool = False) -> dict[bytes, Entry]:
    """All that lies below `root` but `.git`, by path; empty folders count with `folders`."""
    found: dict[bytes, Entry] = {}
    waiting = [b""]
    while waiting:
        folder = waiting.pop()
        for entry in os.scandir(os.path.join(os.fsencode(root), folder)):
            path = os.path.join(folder, entry.name)
            mode = entry.stat(follow_symlinks=False).st_mode
            if path == b".git":
                continue
            if stat.S_ISDIR(mode):
                waiting.append(path)
                if folders:
                    found[path] = Entry("folder", False, b"")
            elif stat.S_ISLNK(mode):
                found[path] = Entry("link", False, os.readlink(entry.path))
            elif stat.S_ISREG(mode):
                with open(entry.path, "rb") as file:
                    found[path] = Entry("file", bool(mode & 0o100), file.read())
            else:
                found[path] = Entry("other", False, b"")
    return found


class Scene:
    """One work tree, its records, and fresh trees of it."""

    def __init__(self, project: Project, store: Path) -> None:
        self.project = project
        self.top = project.folder
        self.store = store

    @property
    def git(self) -> Git:
        """Git at the work tree, as the program finds it."""
        place = find_place(FILES, str(self.top))
        return Git(FILES, place.tree, place.git_dir, place.common, os.environ)

    @property
    def common(self) -> str:
        """Git's common dir."""
        return find_place(FILES, str(self.top)).common

    def write(self, name: str, data: bytes = b"text\n", *, mode: int = 0o644) -> Path:
        """A file of the work tree."""
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
        return path

    def commit(self) -> str:
        """Commit everything; the id of the tree."""
        self.project.git("add", "--all")
        self.project.git("commit", "--quiet", "-m", "more")
        return self.project.git("rev-parse", "HEAD^{tree}").strip()

    def record(self, *, believe: bool = True, after_s: int = 0) -> Recorded:
        """Record the work tree, as if `after_s` seconds had passed since it was written."""
        now = time.time_ns() + after_s * 1_000_000_000
        recorded = record_tree(FILES, self.git, self.common, str(self.store), os.environ, now, believe=believe)
        assert recorded is not None
        return recorded

    @property
    def source(self) -> Source:
        """Where fresh trees come from."""
        return Source(str(self.top), self.common, str(self.store))

    @contextmanager
    def fresh(self, tree: str, *, exact: bool = True, anew: bool = False, wait_s: float = 0.0) -> Iterator[Fresh]:
        """A fresh tree of a state."""
        clock = SystemClock()
        with fresh_tree(FILES, os.environ, clock, self.source, tree, exact=exact, anew=anew, wait_s=wait_s) as fresh:
            yield fresh

    def laid(self, tree: str, *, exact: bool = True, anew: bool = False) -> dict[bytes, Entry]:
        """What lies in a fresh tree of a state."""
        with self.fresh(tree, exact=exact, anew=anew) as fresh:
            return everything(Path(fresh.root))

    def untouchable(self) -> dict[bytes, Entry]:
        """What nobody may touch: all of git's folder but our store in it, and the work tree."""
        files = everything(Path(self.common), folders=True)
        return {b"git/" + path: entry for path, entry in files.items()} | everything(self.top, folders=True)
