"""A phase of work on a real repository, and git's own account of it to compare with.

The account is an independent one: everything that lies there is added to a private index, and git compares that with
the commit at the start.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from tallystick.system.changes import Change, changes
from tallystick.system.files import Files, OsFiles
from tallystick.system.git import Git
from tallystick.system.place import find_place

UGLY = {
    "line end": b"new\nline.py",
    "quotes": b"\"q\" 'r'.py",
    "tab": b"tab\tx.py",
    "leading dash": b"-rf",
    "long": b"n" * 252 + b".py",
    "no UTF-8": b"bad\xff\xfe.py",
    "composed": "é.py".encode(),
    "decomposed": "e\u0301.py".encode(),
    "backslash": b"a\\b.py",
    "blanks": b" a  b ",
    "arrow": b"a => {b}.py",
    "pathspec": b":(exclude)*.py",
    "carriage return": b"cr\r",
}
KINDS = {"A": "created", "M": "modified", "D": "deleted", "R": "renamed", "T": "type"}


class Told(NamedTuple):
    """One row of git's account."""

    path: str
    kind: str
    old: str | None


class Tree:
    """A work tree, by its folder; names are bytes or text."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "--quiet", *options)

    def git(self, *words: str | bytes, env: dict[str, str] | None = None) -> str:
        """Run git here; it must end well."""
        argv = ["git", "-c", "protocol.file.allow=always", "-c", "advice.addEmbeddedRepo=false", *words]
        done = subprocess.run(argv, cwd=self.folder, env={**os.environ, **(env or {})}, capture_output=True)
        assert done.returncode == 0, done
        return done.stdout.decode("utf-8", "surrogateescape")

    def at(self, name: str | bytes) -> Path:
        """Where a name lies."""
        return self.folder / os.fsdecode(name)

    def write(self, name: str | bytes, text: str) -> Path:
        """Write a file, its folders too; where it lies."""
        path = self.at(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def commit(self, message: str = "work") -> str:
        """Commit everything that lies here; the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        return self.head

    @property
    def head(self) -> str:
        """The commit that is checked out."""
        return self.git("rev-parse", "HEAD").strip()

    def asked(self, files: Files | None = None, start: str = "") -> Git:
        """Git as the product runs it, from a folder of the tree."""
        files = files or OsFiles()
        place = find_place(files, str(self.folder / start))
        return Git(files, place.tree, place.git_dir, place.common, dict(os.environ))

    def changes(self, base: str | None, files: Files | None = None, start: str = "") -> tuple[Change, ...]:
        """What we say."""
        return changes(files or OsFiles(), self.asked(files, start), base)

    def by_path(self, base: str | None, files: Files | None = None) -> dict[str, Change]:
        """What we say, by path."""
        return {one.path: one for one in self.changes(base, files)}

    def account(self, base: str, index: Path) -> list[Told]:
        """What git says, by way of a private index that flags, locks and stat times of the real one do not touch."""
        env = {"GIT_INDEX_FILE": str(index)}
        self.git("read-tree", "HEAD", env=env)
        self.git("add", "--all", env=env)
        fields = iter(self.git("diff", "--cached", "-z", "-M", "--name-status", base, env=env).split("\0"))
        told = []
        for letter in fields:
            if letter:
                old = next(fields) if letter[0] == "R" else None
                told.append(Told(next(fields), KINDS[letter[0]], old))
        return sorted(told, key=lambda one: os.fsencode(one.path))


def told(found: tuple[Change, ...]) -> list[Told]:
    """What we say, in git's words: a mode alone is a modification to it, a submodule too."""
    return [Told(one.path, "modified" if one.kind in ("mode", "submodule") else one.kind, one.old) for one in found]


def digest(path: Path) -> str:
    """SHA-256 of what lies there, of a link's text for a link."""
    data = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
    return hashlib.sha256(data).hexdigest()
