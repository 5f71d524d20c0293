"""A folder that belongs to one task: a temporary one that is gone with it, or one that the user wants to keep.

Nothing in it is durable.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tallystick.errors import Refusal
from tallystick.ids import shown
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
        with _undisturbed():
            _remove(path)


@contextmanager
def kept_folder(path: str, *, folders: tuple[str, ...]) -> Iterator[str]:
    """The folder `path`, absent or empty before, with `folders` in it; its real path. It stays, also after a failure.

    Only where the task was interrupted everything is taken away again, so that it can be begun anew. Raises `Refusal`
    when something is there already or the folder cannot be made.
    """
    made = not os.path.lexists(path)
    if not made and (not os.path.isdir(path) or os.listdir(path)):
        reason = "is not empty" if os.path.isdir(path) else "is no folder"
        raise Refusal("input.invalid", f"{shown(path, 200)} {reason}", "name an empty folder, or one not there yet")
    real = os.path.realpath(path)
    try:
        os.makedirs(real, exist_ok=True)
        for name in folders:
            os.mkdir(os.path.join(real, name))
    except OSError as error:
        raise explained(error, path, "making the folder") from error
    try:
        yield real
    except Exception:
        raise
    except BaseException:
        with _undisturbed():
            for name in folders:
                _remove(os.path.join(real, name))
            if made:
                with suppress(OSError):  # somebody else put something in meanwhile
                    os.rmdir(real)
        raise


def lay(folder: str, name: str, data: bytes, *, executable: bool = False) -> str:
    """Write `data` as a new file `name` into such a folder; its path."""
    path = os.path.join(folder, name)
    with open(path, "xb") as file:
        file.write(data)
    if executable:
        os.chmod(path, 0o755)
    return path


@contextmanager
def _undisturbed() -> Iterator[None]:
    """No signal in between: whoever presses Ctrl-C twice wants the end, and no half of a folder."""
    import signal

    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
