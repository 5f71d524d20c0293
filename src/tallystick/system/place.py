"""Where things lie: the tree one stands in, git's common dir, the live store, the user's half.

Found by reading git's documented layout (`.git` as folder or file, `commondir`) and never by running git: a git
process at every start would cost more than the rest of a command, and variables such as GIT_DIR, which a hook sets,
cannot mislead us. Nothing here writes.
"""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Mapping
from typing import NamedTuple

from tallystick.errors import Refusal, Where
from tallystick.system.durable import read_file
from tallystick.system.faults import explained
from tallystick.system.files import Files

_SHARED_KINDS = ("nfs", "cifs", "smb", "9p", "fuse", "afs", "ceph", "lustre", "glusterfs", "vboxsf", "prl_fs", "ncp")


class Place(NamedTuple):
    """One work tree and the store that belongs to it.

    `tree` is the top of the work tree (the folder itself when there is no git, "" in a bare repository), `git_dir`
    and `common` are git's own folder of this tree and the one all its worktrees share ("" without git), `store` is
    the folder of the live store. `kind` is git, worktree, bare or plain. All are real paths.
    """

    tree: str
    git_dir: str
    common: str
    store: str
    kind: str


def find_place(files: Files, start: str) -> Place:
    """The place of folder `start`. Raises `Refusal` "store.place" when git's own files there cannot be understood."""
    real = files.realpath(start)
    if not _is_folder(files, real):
        raise Refusal("store.place", f"{start} is no folder", "give --root a folder that exists")
    at, plain = real, None
    while True:
        found = _place_at(files, at)
        if found is not None and found.kind != "plain":
            return found
        plain = plain or found  # a folder inside a repository may have been brought along by it: git goes first
        parent = os.path.dirname(at)
        if parent == at:
            return plain or Place(real, "", "", os.path.join(real, ".tallystick", "store"), "plain")
        at = parent


def _place_at(files: Files, at: str) -> Place | None:
    dot = os.path.join(at, ".git")
    mode = _mode(files, dot)
    if modes.S_ISDIR(mode) and _is_git_folder(files, dot):
        return Place(at, dot, dot, os.path.join(dot, "tallystick"), "git")
    if modes.S_ISREG(mode):
        return _linked(files, at, dot)
    if _is_git_folder(files, at):
        if os.path.basename(at) == ".git":
            return Place(os.path.dirname(at), at, at, os.path.join(at, "tallystick"), "git")
        return Place("", at, at, os.path.join(at, "tallystick"), "bare")
    if _exists(files, os.path.join(at, ".tallystick", "store", "store-id")):
        return Place(at, "", "", os.path.join(at, ".tallystick", "store"), "plain")
    return None


def _linked(files: Files, at: str, dot: str) -> Place:
    """A `.git` file: a linked worktree or a submodule; it names git's folder for this tree."""
    text = (read_file(files, dot, 4096) or b"").decode("utf-8", "surrogateescape").strip("\r\n")
    if not text.startswith("gitdir: "):
        raise Refusal("store.place", f"{dot} does not name a git folder", "see `git worktree repair`", Where(dot))
    git_dir = files.realpath(os.path.join(at, text.removeprefix("gitdir: ")))
    if not _exists(files, os.path.join(git_dir, "HEAD")):
        raise Refusal(
            "store.place", f"{dot} names {git_dir}, which is no git folder", "see `git worktree repair`", Where(dot)
        )
    shared = read_file(files, os.path.join(git_dir, "commondir"), 4096)
    common = git_dir
    if shared is not None:
        common = files.realpath(os.path.join(git_dir, shared.decode("utf-8", "surrogateescape").strip("\r\n")))
    kind = "worktree" if shared is not None else "git"
    return Place(at, git_dir, common, os.path.join(common, "tallystick"), kind)


def branch(files: Files, place: Place) -> str | None:
    """The name of the branch that is checked out, None when HEAD is detached or there is no git."""
    if not place.git_dir:
        return None
    head = read_file(files, os.path.join(place.git_dir, "HEAD"), 4096) or b""
    text = head.decode("utf-8", "surrogateescape").strip()
    prefix = "ref: refs/heads/"
    return text.removeprefix(prefix) if text.startswith(prefix) else None


def home_folder(env: Mapping[str, str]) -> str:
    """The user's half: `$XDG_STATE_HOME/tallystick`, else below `~/.local/state` (formats 5).

    Without HOME the password database is asked. Raises `Refusal` "home.unwritable" when nothing names a home.
    """
    state = env.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):  # the XDG rule: a relative path counts as unset
        home = user_home(env)
        if not os.path.isabs(home):
            raise Refusal("home.unwritable", "no home folder is known for this user", "set HOME or XDG_STATE_HOME")
        state = os.path.join(home, ".local", "state")
    return os.path.join(state, "tallystick")


def user_home(env: Mapping[str, str]) -> str:
    """The user's home: HOME, else what the password database says; "" where neither names one."""
    if home := env.get("HOME", ""):
        return home
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""


def shared_file_system(mounts: str, path: str) -> str | None:
    """The name of the network or FUSE file system that holds `path`, None for a local one.

    `mounts` is the text of `/proc/self/mountinfo`; where there is none, nothing can be said.
    """
    best, kind = "", ""
    for line in mounts.splitlines():
        fields, _, rest = line.partition(" - ")
        parts = fields.split(" ")
        if len(parts) < 5 or not rest:
            continue
        point = parts[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, rest.split(" ")[0]
    return kind if kind.startswith(_SHARED_KINDS) else None


def _is_git_folder(files: Files, path: str) -> bool:
    return all(_exists(files, os.path.join(path, name)) for name in ("HEAD", "objects", "refs"))


def _is_folder(files: Files, path: str) -> bool:
    return modes.S_ISDIR(_mode(files, path))


def _exists(files: Files, path: str) -> bool:
    return _mode(files, path) != 0


def _mode(files: Files, path: str) -> int:
    """Kind and permissions of what lies there, 0 where nothing does.

    What cannot be looked at is not absent: a store made elsewhere in its stead would look empty.
    """
    try:
        return files.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        raise explained(error, path, "looking there") from error
