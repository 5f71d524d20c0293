"""Ignored folders that a tree needs to run its tests: environments of Python, packages of node.

A fresh tree holds what git would, so these are missing there. They are found by what lies in them and lent out of the
main tree: mounted read-only where something can be mounted (`binds`), else by symbolic links (`links`). What a build
makes (`target`, `build`, `dist`) is never lent: it belongs to another state than the one under proof.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.ids import shown
from tallystick.system.files import Files
from tallystick.system.git import Git
from tallystick.system.links import make_links

NAMED = "named by the user"


class Needed(NamedTuple):
    """One folder to lend: its `path` from the tree's top, the real path of the `source`, and which of `KINDS` it is."""

    path: str
    source: str
    kind: str = NAMED


class Kind(NamedTuple):
    """How a folder is known: by its name, or by one of these entries in it.

    `links`: it holds links into the tree itself, so that as a link it would lead back into the main one.
    """

    names: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    links: bool = False


#: Kinds of folders that tests need and git ignores.
KINDS: dict[str, Kind] = {
    "environment": Kind(entries=("pyvenv.cfg", "conda-meta")),
    "pypackages": Kind(names=("__pypackages__",)),
    "node": Kind(names=("node_modules",), links=True),
    "editable": Kind(links=True),  # setuptools' strict style: links to single files of the tree
    NAMED: Kind(),
}
#: Where setuptools puts a folder of links.
_EDITABLE = ("build", "__editable__.")


def needed(files: Files, git: Git, also: Sequence[str] = ()) -> tuple[Needed, ...]:
    """The ignored folders of `git`'s work tree that its tests need, and those the user named (`also`), by path.

    Raises `Refusal`: "git.missing" when git cannot list them, "input.invalid" for a named one that is no folder below
    the tree's top.
    """
    status, out = git.ask("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    if status != 0:
        raise Refusal("git.missing", f"git cannot list {git.top}: {out.strip()[-200:]}", "see `git status`")
    found: dict[str, str] = {}
    for name in also:
        path = os.path.normpath(name)
        if os.path.isabs(path) or path.split("/")[0] in ("..", ".") or not _is_folder(files, f"{git.top}/{path}"):
            raise Refusal(
                "input.invalid", f"{shown(name, 200)} is no folder of the tree", "name it from the top of the tree"
            )
        found[path] = NAMED
    for path in map(_on_disk, out.split("\0")):
        if path and _is_folder(files, f"{git.top}/{path}"):
            found |= {one: kind for one, kind in _known(files, git.top, path) if one not in found}
    return tuple(Needed(path, files.realpath(f"{git.top}/{path}"), found[path]) for path in sorted(found))


def binds(lent: Iterable[Needed], place: str) -> list[tuple[str, str]]:
    """What to mount read-only where the tree is to be seen at `place`: pairs of source and place."""
    return [(one.source, f"{place}/{one.path}") for one in lent]


def links(files: Files, lent: Sequence[Needed], main: str, fresh: str) -> tuple[str, ...]:
    """Lend by symbolic links from the tree `fresh` to the folders of `main`; the paths where something lay already.

    A folder that holds links into the tree becomes a real one with these links moved: a workspace's own packages in
    `node_modules`, say. The next laying out takes all of it away again.
    """
    sources = [one.source for one in lent]

    def moved(target: str) -> str:
        """Where a link that leads to `target` has to lead in the fresh tree."""
        if not _within(target, main) or any(_within(target, source) for source in sources):
            return target
        return fresh + target[len(main) :]

    table: dict[str, str] = {}
    for one in lent:
        if one.kind == "node":
            table |= _linked(files, one, moved, lambda folder: os.path.basename(folder).startswith("@"))
        elif one.kind == "editable":
            table |= _linked(files, one, moved, lambda folder: True)
        else:
            table[one.path] = one.source
    return make_links(fresh, table)


def _linked(files: Files, one: Needed, moved: Callable[[str], str], enters: Callable[[str], bool]) -> dict[str, str]:
    """A link for each entry of a folder, and of the folders below it that it `enters`."""
    table = {}
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for name in files.listdir(f"{one.source}/{folder}"):
            if name == "__pycache__":
                continue
            path = f"{folder}{name}"
            whole = f"{one.source}/{path}"
            real = files.realpath(whole)
            if real == whole and _is_folder(files, whole) and enters(whole):
                waiting.append(f"{path}/")
            else:
                # a link of node's own stays as it is: what it finds beside its real place is what it finds at home
                table[f"{one.path}/{path}"] = moved(real) if moved(real) != real else whole
    return table


def _known(files: Files, top: str, path: str) -> list[tuple[str, str]]:
    """The folders of known kinds that the ignored folder `path` is, or holds; each with its kind."""
    whole, name = f"{top}/{path}", os.path.basename(path)
    if name == _EDITABLE[0]:
        inner = [one for one in files.listdir(whole) if one.startswith(_EDITABLE[1])]
        return [(f"{path}/{one}", "editable") for one in inner]
    return [
        (path, kind)
        for kind, row in KINDS.items()
        if name in row.names or any(_is_there(files, f"{whole}/{entry}") for entry in row.entries)
    ][:1]


def _on_disk(name: str) -> str:
    """A name of git's as this system opens it, without the stroke that marks a folder."""
    return os.fsdecode(name.rstrip("/").encode("utf-8", "surrogateescape"))


def _is_folder(files: Files, path: str) -> bool:
    return _is_there(files, f"{path}/.")


def _is_there(files: Files, path: str) -> bool:
    try:
        files.stat(path)
    except OSError:
        return False
    return True


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
