"""Taking away what somebody else's program left in a folder of ours: any depth, any name, any mode, no link followed.

Nothing may write there meanwhile. Folders are moved up into a `trash` folder and emptied there one by one, so that
neither their depth nor the length of their paths matters. Paths are bytes, since names are.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator

_ALL = 0o700


def keep_only(root: bytes, files: Collection[bytes], folders: Collection[bytes], trash: bytes) -> int:
    """Take away everything below `root` but these files and folders (paths from there); how much there was to take.

    What lies in a file's place is left unless it is a folder; what lies in a folder's place and is none is taken away.
    Folders that stay can be entered and written again. Raises `OSError`.
    """
    taken = 0
    waiting = [b""]
    while waiting:
        folder = waiting.pop()
        within = os.path.join(root, folder)
        _open(within)
        for name, is_folder in list(_entries(within)):
            path = os.path.join(folder, name)
            if is_folder and path in folders:
                waiting.append(path)
            elif is_folder or path not in files:
                remove(os.path.join(root, path), trash)
                taken += 1
    return taken


def remove(path: bytes, trash: bytes) -> None:
    """Take away what lies at `path`, where something does; `trash` is a folder of the same file system."""
    try:
        is_folder = not os.path.islink(path) and os.path.isdir(path)
        if not is_folder:
            os.unlink(path)
            return
    except FileNotFoundError:
        return
    os.makedirs(trash, _ALL, exist_ok=True)
    _move(path, trash)
    empty(trash)


def empty(trash: bytes) -> None:
    """Take away everything in the folder `trash`, which stays. Raises `OSError`."""
    while found := list(_entries(trash)):
        for name, is_folder in found:
            path = os.path.join(trash, name)
            if not is_folder:
                os.unlink(path)
                continue
            _open(path)
            for inner, holds_more in list(_entries(path)):
                if holds_more:
                    _move(os.path.join(path, inner), trash)
                else:
                    os.unlink(os.path.join(path, inner))
            os.rmdir(path)


def size_of(root: bytes) -> int:
    """How many bytes the files below `root` have; what cannot be entered counts as nothing."""
    total, waiting = 0, [root]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return total


def _entries(folder: bytes) -> Iterator[tuple[bytes, bool]]:
    """What lies in a folder: each name, and whether it is a folder itself."""
    with os.scandir(folder) as found:
        for entry in found:
            yield entry.name, entry.is_dir(follow_symlinks=False)


def _open(folder: bytes) -> None:
    """Make a folder ours to enter and write, where it is not."""
    mode = os.lstat(folder).st_mode
    if mode & _ALL != _ALL:
        os.chmod(folder, mode & 0o777 | _ALL)


def _move(folder: bytes, trash: bytes) -> None:
    """Move a folder into the trash under a name that nothing has there."""
    _open(folder)
    number = 0
    while os.path.lexists(aim := os.path.join(trash, b"%d-%d" % (os.getpid(), number))):
        number += 1
    os.rename(folder, aim)
