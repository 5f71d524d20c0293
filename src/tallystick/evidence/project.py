"""The files of a project as its runner is found from them: names, and small files to look into."""

from __future__ import annotations

import os

from tallystick.errors import Refusal
from tallystick.evidence.runners.base import Tree
from tallystick.limits import MB
from tallystick.system.durable import read_file
from tallystick.system.files import Files

_MOST_FILES = 20_000
_MOST_BYTES = MB
_NOT_THE_PROJECTS = {"node_modules", "__pycache__", "venv", "build", "dist", "target"}


def project_tree(files: Files, root: str) -> Tree:
    """The first 20,000 files below `root`, those near the top first; no hidden folder, none that tools fill, no
    symbolic link. A file above 1 MB, or that cannot be read, reads as None."""
    names: list[str] = []
    folders = [""]
    for folder in folders:
        for name in sorted(_listed(files, os.path.join(root, folder))):
            path = f"{folder}{name}"
            mode = _mode(files, os.path.join(root, path))
            if mode == "file":
                names.append(path)
            elif mode == "folder" and not name.startswith(".") and name not in _NOT_THE_PROJECTS:
                folders.append(f"{path}/")
        if len(names) >= _MOST_FILES:
            break

    def read(name: str) -> bytes | None:
        try:
            return read_file(files, os.path.join(root, name), _MOST_BYTES)
        except Refusal:
            return None

    return Tree(tuple(names[:_MOST_FILES]), read)


def _listed(files: Files, path: str) -> list[str]:
    try:
        return files.listdir(path)
    except OSError:
        return []


def _mode(files: Files, path: str) -> str:
    import stat

    try:
        mode = files.lstat(path).st_mode
    except OSError:
        return ""
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else ""
