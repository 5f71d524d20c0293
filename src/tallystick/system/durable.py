"""Whole-file work on top of `Files`: read with a bound, write beside and replace, create exactly once, make folders.

Each function says what survives a power cut when it returns. An `OSError` leaves as a `Refusal`, except where
a missing file is an ordinary answer (None or False).
"""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Callable
from itertools import count

from tallystick.errors import Refusal, Where
from tallystick.system.faults import explained
from tallystick.system.files import Files

CHUNK = 1 << 20
_SPARES = count()


def read_file(files: Files, path: str, most: int, within: str = "") -> bytes | None:
    """The bytes of the regular file at `path`, None when nothing is there.

    With `within`, the file that was really opened must lie below that folder, whatever links led there.
    Raises `Refusal`: "evidence.outside" where it does not, "input.too_large" above `most` bytes (before reading),
    "input.unreadable" for a folder, a pipe or a device (opened without waiting for one) and for whatever the system
    refuses.
    """
    try:
        fd = files.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    try:
        status = files.fstat(fd)
        if within and not files.opened(fd, path).startswith(within.rstrip("/") + "/"):
            raise Refusal(
                "evidence.outside",
                f"{path} leads outside the project by a symbolic link",
                "cite a file of the project itself",
                Where(path),
            )
        if not modes.S_ISREG(status.st_mode):
            raise _unreadable(path, "it is no regular file")
        if status.st_size > most:
            raise too_large(path, status.st_size, most)
        data: bytes | None = files.read(fd, status.st_size + 1)
        if len(data or b"") != status.st_size:  # a short read, or a file that grows or shrinks meanwhile
            data = _rest(files, fd, data or b"", most)
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    finally:
        release(files, fd)
    if data is None:
        raise too_large(path, most + 1, most)
    return data


def _rest(files: Files, fd: int, first: bytes, most: int) -> bytes | None:
    """`first` and what is left to read of `fd`; None when that is more than `most` bytes."""
    pieces, total = [first], len(first)
    while piece := files.read(fd, CHUNK):
        total += len(piece)
        if total > most:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def too_large(path: str, size: int, most: int) -> Refusal:
    """The refusal for a file above its limit, in bytes."""
    return Refusal(
        "input.too_large", f"{path} has {size:,} bytes, the limit is {most:,}", "name a smaller file", Where(path)
    )


def _unreadable(path: str, reason: str) -> Refusal:
    return Refusal("input.unreadable", f"{path} cannot be read: {reason}", "look at what lies there", Where(path))


def write_all(files: Files, fd: int, data: bytes) -> None:
    """Write every byte of `data` at the descriptor's place, however short the single writes are."""
    sent = files.write(fd, data)
    while sent < len(data):
        step = files.write(fd, data[sent:])
        if step <= 0:
            raise OSError(5, "a write took no bytes")
        sent += step


def sync_folder(files: Files, path: str) -> None:
    """Make the names in folder `path` survive a power cut."""
    fd = files.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        files.fsync(fd)
    finally:
        release(files, fd)


def sync_folders(files: Files, path: str, top: str) -> None:
    """Make the names from `path` up to and including folder `top` survive a power cut."""
    while True:
        sync_folder(files, path)
        if path == top or len(path) <= len(top):
            return
        path = os.path.dirname(path)


def make_folders(files: Files, path: str, mode: int = 0o700) -> None:
    """Make folder `path` and its missing parents; each new name survives a power cut when this returns."""
    missing: list[str] = []
    at = path
    while True:
        try:
            files.stat(at)
            break
        except FileNotFoundError:
            missing.append(at)
            at = os.path.dirname(at)
        except OSError as error:
            raise explained(error, at, "looking there") from error
    for folder in reversed(missing):
        try:
            files.mkdir(folder, mode)
            sync_folder(files, os.path.dirname(folder))
        except FileExistsError:
            continue
        except OSError as error:
            raise explained(error, folder, "making the folder") from error


def spare(folder: str) -> str:
    """A name in `folder` for a file that is not in place yet: no other process, no other call has it."""
    return f"{folder}/{os.getpid()}-{next(_SPARES)}"


def sweep(files: Files, folder: str, before_ns: int) -> None:
    """Take spare files away that were last written before that moment: killed processes left them."""
    for name in each_entry(files, folder, _is_spare):
        try:
            if files.lstat(f"{folder}/{name}").st_mtime_ns < before_ns:
                files.unlink(f"{folder}/{name}")
        except OSError:
            continue


def _is_spare(name: str) -> bool:
    return name.replace("-", "", 1).isdigit()


def replace_file(files: Files, path: str, data: bytes, *, mode: int = 0o600, sync: bool, beside: str) -> None:
    """Put `data` at `path` in one step: a reader sees the old bytes or the new ones, never a mixture.

    `beside` is the temporary name in the same folder; it is left behind only by a killed process and used again
    by the next call. With `sync` the new bytes survive a power cut when this returns; without, old or new do.
    """
    try:
        fd = files.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        try:
            write_all(files, fd, data)
            if sync:
                files.fsync(fd)
        finally:
            files.close(fd)
        files.rename(beside, path)
        if sync:
            sync_folder(files, os.path.dirname(path))
    except OSError as error:
        drop(files, beside)
        raise explained(error, path, "writing") from error


def create_once(files: Files, path: str, data: bytes, *, beside: str, mode: int = 0o600) -> bool:
    """Create `path` with `data` unless it exists; True for the one caller who made it. Durable when it returns."""
    try:
        fd = files.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
        try:
            write_all(files, fd, data)
            files.fsync(fd)
        finally:
            files.close(fd)
        try:
            files.link(beside, path)
            made = True
        except FileExistsError:
            made = False
        files.unlink(beside)
        sync_folder(files, os.path.dirname(path))
    except OSError as error:
        drop(files, beside)
        raise explained(error, path, "writing") from error
    return made


def hide_from_git(files: Files, folder: str) -> None:
    """See to it that git ignores all of `folder`, should it lie in a work tree. Raises as `create_once`.

    Else git would add a key with `git add --all`, and a recorded tree would hold it, and the trees before it.
    """
    create_once(files, f"{folder}/.gitignore", b"*\n", beside=spare(folder))


def release(files: Files, fd: int) -> None:
    """Close a descriptor that was only read or has been synced: what closing it may complain of is nobody's loss."""
    try:
        files.close(fd)
    except OSError:
        return


def drop(files: Files, path: str) -> None:
    """Take our own temporary file away if it is there; that it stays is no harm, so no error leaves."""
    try:
        files.unlink(path)
    except OSError:
        return


def each_entry(files: Files, path: str, wanted: Callable[[str], bool]) -> list[str]:
    """The names in folder `path` that are `wanted`, sorted; an absent folder has none."""
    try:
        names = files.listdir(path)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise explained(error, path, "listing the folder") from error
    return sorted(name for name in names if wanted(name))
