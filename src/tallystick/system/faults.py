"""What an operating-system error means to a person: one table from errno to code, sentence and next step."""

from __future__ import annotations

import errno

from tallystick.errors import Refusal, Where

_MEANING: dict[int, tuple[str, str, str]] = {
    errno.ENOSPC: ("disk.full", "there is no room left on the disk", "make room, then repeat the command"),
    errno.EDQUOT: ("disk.full", "the quota of this user is used up", "make room, then repeat the command"),
    errno.EROFS: ("store.readonly", "the file system is read-only", "use a place that can be written"),
    errno.EACCES: ("store.readonly", "permission was denied", "run as the user who owns it, outside a sandbox"),
    errno.EPERM: ("store.readonly", "permission was denied", "run as the user who owns it, outside a sandbox"),
    errno.ENOTDIR: ("store.place", "a file stands where a folder should be", "look at what lies there"),
    errno.EISDIR: ("store.place", "a folder stands where a file should be", "look at what lies there"),
    errno.ELOOP: ("store.place", "a symbolic link stands where a file should be", "look at what lies there"),
    errno.ENAMETOOLONG: ("store.place", "the path is too long for this file system", "use a shorter path"),
    errno.EMFILE: ("disk.failed", "this process has too many files open", "repeat the command"),
    errno.ENOLCK: ("store.place", "this file system offers no locks", "keep the repository on a local disk"),
}


def explained(error: OSError, path: str, doing: str) -> Refusal:
    """The refusal for `error`, met while `doing` (a verb phrase such as "writing") something at `path`."""
    code, reason, hint = _MEANING.get(
        error.errno or 0, ("disk.failed", f"the disk answered: {error.strerror or error}", "see `tallystick audit`")
    )
    return Refusal(code, f"{path}: {doing} failed, {reason}", hint, Where(path))
