"""Laying out a tree of git's in a folder of ours, exactly and again and again.

`git read-tree` and `git checkout-index` do it with a private index and a private git folder (`private_git`): text and
line-end attributes of the tree are honoured, no program is started. What lies there is made what the tree says: a
second call writes what differs, sets right what somebody changed, and takes away what somebody left.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.system.clearing import empty, keep_only
from tallystick.system.durable import drop, make_folders, read_file, replace_file, spare
from tallystick.system.faults import explained
from tallystick.system.files import Files
from tallystick.system.listing import SUBMODULE, is_file
from tallystick.system.private_git import PrivateGit

#: The bytes of a tree that was recorded from a work tree are what lay there: nothing may convert them again.
AS_THEY_ARE = "* -text -ident -filter !eol !working-tree-encoding\n"
#: So many files are written by one call of git, which has a time limit.
_AT_ONCE = 20_000
_ATTRIBUTES = b".gitattributes"
_POINTER = b"version https://git-lfs.github.com/spec/"
_POINTER_SIZE = 1024
_MOST = 1 << 20
_STATE = "laid-out"


class LaidOut(NamedTuple):
    """A tree that lies in a folder; paths count from there, bytes that are no UTF-8 are surrogates.

    `submodules` are empty folders. `pointers` are files in whose place large-file storage would put others.
    """

    submodules: tuple[str, ...]
    pointers: tuple[str, ...]


class _Row(NamedTuple):
    """One path of the index."""

    mode: str
    id: str
    path: bytes


def lay_out(
    files: Files,
    folder: str,
    root: str,
    tree: str,
    lenders: Sequence[str],
    env: Mapping[str, str],
    *,
    exact: bool,
    anew: bool,
    lock: int,
) -> LaidOut:
    """Make the folder `root` what `tree` says; its objects lie with the `lenders`. Our own notes lie in `folder`.

    `exact`: bytes are written as they are, else as the tree's attributes say. `anew`: no note of an earlier call is
    believed, so every file is written. Nobody else may work in either folder meanwhile: `lock` is the descriptor of the
    lock that sees to it, and git holds it too, should we be killed. Then the next call sets it right.

    Raises `Refusal`: "git.missing" when objects are missing, "disk.full" and its like.
    """
    index = f"{folder}/index"
    private = PrivateGit(
        files,
        f"{folder}/git",
        f"{folder}/git/objects",
        lenders,
        len(tree),
        env,
        index=index,
        work_tree=root,
        attributes=AS_THEY_ARE if exact else "",
        held=(lock,),
    )
    try:
        _ground(files, root)
        private.prepare()
        drop(files, f"{index}.lock")
        begun = not anew and os.path.exists(index)
        rows = _index(files, private, index, tree, anew=anew)
        if not exact and _attributes_differ(files, folder, rows) and begun:
            rows = _index(files, private, index, tree, anew=True)
        _clear(folder, root, rows)
    except OSError as error:
        raise explained(error, root, "clearing the folder") from error
    written = [row.path for row in rows if row.mode != SUBMODULE]
    first = [path for path in written if os.path.basename(path) == _ATTRIBUTES]
    # attributes first: git reads them from the work tree, and the old ones may still lie there
    for paths in (() if exact else first, *(written[at : at + _AT_ONCE] for at in range(0, len(written), _AT_ONCE))):
        _write(private, paths)
    _make_submodules(root, rows)
    submodules = tuple(_text(row.path) for row in rows if row.mode == SUBMODULE)
    return LaidOut(submodules, tuple(map(_text, _pointers(files, root, rows, first))))


def _ground(files: Files, root: str) -> None:
    """Make the folder; a link that somebody put in its place must not lead us to empty another one."""
    if os.path.islink(root):
        files.unlink(root)
    make_folders(files, root)
    if files.realpath(root) != root:
        raise Refusal("store.place", f"{root} is reached by a symbolic link", "look at what lies on the way to it")


def _index(files: Files, private: PrivateGit, index: str, tree: str, *, anew: bool) -> list[_Row]:
    """Make the private index that of `tree`; what is known of files that are the same stays, unless `anew`."""
    if anew:
        drop(files, index)
    try:
        private.tell("read-tree", "-m", tree)
    except Refusal:
        drop(files, index)  # it was damaged, if this is not the tree's own fault
        private.tell("read-tree", tree)
    rows = []
    for row in private.tell("ls-files", "-z", "--stage").encode("utf-8", "surrogateescape").split(b"\0"):
        facts, _, path = row.partition(b"\t")
        if path:
            mode, object_id, _ = facts.decode().split(" ")
            rows.append(_Row(mode, object_id, path))
    return rows


def _attributes_differ(files: Files, folder: str, rows: Iterable[_Row]) -> bool:
    """Whether attributes are not those of the last call: then files with the same content may have to look otherwise.

    What they are now is written down.
    """
    ours = [b"%b %b" % (row.id.encode(), row.path) for row in rows if os.path.basename(row.path) == _ATTRIBUTES]
    digest = canonical.sha256(b"\0".join(ours)).encode()
    path = f"{folder}/{_STATE}"
    try:
        before = read_file(files, path, _MOST)
    except Refusal:
        before = None
    if before == digest:
        return False
    replace_file(files, path, digest, sync=False, beside=spare(folder))
    return True


def _clear(folder: str, root: str, rows: Iterable[_Row]) -> None:
    """Take away what the tree does not have."""
    names: set[bytes] = set()
    folders: set[bytes] = set()
    for row in rows:
        (folders if row.mode == SUBMODULE else names).add(row.path)
        above = os.path.dirname(row.path)
        while above and above not in folders:
            folders.add(above)
            above = os.path.dirname(above)
    trash = os.fsencode(f"{folder}/trash")
    os.makedirs(trash, 0o700, exist_ok=True)
    empty(trash)
    keep_only(os.fsencode(root), names, folders, trash)


def _write(private: PrivateGit, paths: Sequence[bytes]) -> None:
    if not paths:
        return
    try:
        private.tell("checkout-index", "-f", "-u", "-q", "-z", "--stdin", given=b"\0".join(paths))
    except Refusal as refusal:
        if "unable to read" not in refusal.message:
            raise
        raise Refusal(
            "git.missing",
            f"some of the tree's content is not in this repository: {refusal.message}",
            "fetch it: a partial clone, or a collection, left it out",
        ) from refusal


def _make_submodules(root: str, rows: Iterable[_Row]) -> None:
    for row in rows:
        if row.mode == SUBMODULE:
            os.makedirs(os.path.join(os.fsencode(root), row.path), 0o755, exist_ok=True)


def _pointers(files: Files, root: str, rows: Iterable[_Row], attributes: Iterable[bytes]) -> list[bytes]:
    """The files that large-file storage would put others in place of, where attributes ask for it at all."""

    def content(path: bytes) -> bytes:
        try:
            return read_file(files, f"{root}/{os.fsdecode(path)}", _MOST) or b""
        except Refusal:
            return b""

    if not any(b"filter=lfs" in content(path) for path in attributes):
        return []
    small = [row.path for row in rows if is_file(row.mode) and _size(files, root, row.path) <= _POINTER_SIZE]
    return [path for path in small if content(path).startswith(_POINTER)]


def _size(files: Files, root: str, path: bytes) -> int:
    return files.lstat(f"{root}/{os.fsdecode(path)}").st_size


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
