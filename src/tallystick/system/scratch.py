"""A temporary folder that belongs to one task and is gone with it. Nothing in it is durable."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tallystick.system.faults import explained


@contextmanager
def scratch_folder(*, folders: tuple[str, ...] = ()) -> Iterator[str]:
    """A new empty folder (its real path, 0700) with `folders` in it; removed with all that is in it at the end.

    What cannot be removed (another user's file) stays behind in the system's temporary folder. Raises `Refusal` when
    the system gives no folder.
    """
    import tempfile

    try:
        path = os.path.realpath(tempfile.mkdtemp(prefix="tallystick-"))
    except OSError as error:
        raise explained(error, tempfile.gettempdir(), "making a temporary folder") from error
    try:
        for name in folders:
            os.mkdir(os.path.join(path, name), 0o700)
        yield path
    finally:
        _remove(path)


def lay(folder: str, name: str, data: bytes) -> str:
    """Write `data` as a new file `name` into a scratch folder; its path."""
    path = os.path.join(folder, name)
    with open(path, "xb") as file:
        file.write(data)
    return path


def _remove(path: str) -> None:
    import shutil

    shutil.rmtree(path, ignore_errors=True)
    if os.path.lexists(path):
        _open_folders(path)
        shutil.rmtree(path, ignore_errors=True)


def _open_folders(path: str) -> None:
    """Make every folder below `path` writable again: some tools close theirs, and then nobody can empty them."""
    try:
        os.chmod(path, 0o700)
        below = [entry.path for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return  # it is another user's
    for folder in below:
        _open_folders(folder)
