"""The fresh tree: a recorded state laid out in the user's cache folder, where a check can run and harm nobody.

One tree is one *slot* with its own lock, so checks that run beside each other never share one. A slot is used again:
only what differs is written. It is registered nowhere: no worktree, no reference, nothing in the repository. The
whole folder may be deleted at any time while nobody uses it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.ids import shown
from tallystick.system.checkout import LaidOut, lay_out
from tallystick.system.clearing import remove, size_of
from tallystick.system.durable import each_entry, hide_from_git, make_folders, replace_file, spare
from tallystick.system.files import Files
from tallystick.system.locks import Clock, Lock
from tallystick.system.place import user_home

#: So many checks of one repository may have a tree each at the same time; the next one waits.
SLOTS = 4
#: A tree that nobody used for so long is taken away by `sweep`, and the oldest ones while all are larger than this.
UNUSED_NS = 14 * 24 * 3600 * 1_000_000_000
TOGETHER = 4_000_000_000
_DAY_NS = 24 * 3600 * 1_000_000_000
_HEX = frozenset("0123456789abcdef")
_LOCKS = "locks"


class Source(NamedTuple):
    """Where a state comes from: the top of the work tree, git's common dir, and the folder of the live store."""

    top: str
    common: str
    store: str


class Fresh(NamedTuple):
    """A fresh tree in use: `root` is its top, `tree` the id of what lies there.

    `submodules` are empty folders in it; `pointers` are files that large-file storage has not filled. `lay` lays this
    or another tree out once more: what a check wrote or took away there is undone.
    """

    root: str
    tree: str
    submodules: tuple[str, ...]
    pointers: tuple[str, ...]
    lay: Callable[[str], object]


class Swept(NamedTuple):
    """What a sweep found: trees taken away, those that stay, and the bytes of these."""

    gone: int
    stay: int
    size: int


def trees_folder(files: Files, env: Mapping[str, str]) -> str:
    """Where fresh trees lie: `$XDG_CACHE_HOME/tallystick/trees`, else below `~/.cache`; its real path.

    Raises `Refusal` "home.unwritable" when nothing names a home.
    """
    cache = env.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):  # the XDG rule: a relative path counts as unset
        home = user_home(env)
        if not os.path.isabs(home):
            raise Refusal("home.unwritable", "no cache folder is known for this user", "set HOME or XDG_CACHE_HOME")
        cache = os.path.join(home, ".cache")
    return files.realpath(os.path.join(cache, "tallystick", "trees"))


def installed_folder(files: Files, env: Mapping[str, str]) -> str:
    """Where is remembered which installed files were compared; for all projects, since environments are shared.

    Raises as `trees_folder` does.
    """
    return os.path.join(os.path.dirname(trees_folder(files, env)), "installed")


@contextmanager
def fresh_tree(
    files: Files,
    env: Mapping[str, str],
    clock: Clock,
    source: Source,
    tree: str,
    *,
    exact: bool,
    anew: bool = False,
    wait_s: float = 60.0,
) -> Iterator[Fresh]:
    """The state `tree` (an id) laid out in a folder that is the caller's alone until the end.

    `exact` for a tree that was recorded from a work tree: its bytes are what lay there. Else it is a commit's, and its
    files look as in a new clone without settings. `anew` where somebody may have written into our own notes: a check
    that ran unsandboxed. Raises `Refusal`: "input.invalid" for what is no id, "lock.busy" when every slot stays taken
    for `wait_s` seconds, "git.missing" when content of the tree is not there, "disk.full" and its like.
    """
    if len(tree) not in (40, 64) or not _HEX.issuperset(tree):
        raise Refusal("input.invalid", f"{shown(tree, 80)} is no id of a tree", "give it in full")
    folder = trees_folder(files, env)
    words = [source.common, source.top, "exact" if exact else "converted"]
    name = canonical.sha256(os.fsencode("\0".join(words)))[:24]
    lock, slot = _taken(files, folder, name, clock, wait_s)
    try:
        root = f"{slot}/tree/{os.path.basename(source.top) or 'root'}"
        make_folders(files, slot)
        hide_from_git(files, os.path.dirname(folder))
        os.utime(slot)
        lenders = (f"{source.store}/objects", f"{source.common}/objects")

        def lay(other: str) -> LaidOut:
            return lay_out(files, slot, root, other, lenders, env, exact=exact, anew=anew, lock=lock.descriptor)

        laid = lay(tree)
        yield Fresh(root, tree, laid.submodules, laid.pointers, lay)
    finally:
        lock.close()


def sweep(
    files: Files, env: Mapping[str, str], clock: Clock, *, unused_ns: int = UNUSED_NS, together: int = TOGETHER
) -> Swept:
    """Take away trees that nobody used for `unused_ns`, then the oldest ones until all have at most `together` bytes.

    One in use, or one that cannot be taken away, stays.
    """
    folder = trees_folder(files, env)
    found = []
    for name in each_entry(files, folder, lambda name: name != _LOCKS):
        try:
            found.append((files.lstat(f"{folder}/{name}").st_mtime_ns, name))
        except OSError:
            continue
    gone = stay = size = 0
    for used_ns, name in sorted(found, reverse=True):  # the youngest first: they stay while there is room
        path = f"{folder}/{name}"
        bytes_here = size_of(os.fsencode(path))
        if used_ns >= clock.now() - unused_ns and size + bytes_here <= together:
            stay, size = stay + 1, size + bytes_here
        elif _take_away(files, folder, name, clock):
            gone += 1
        else:
            stay, size = stay + 1, size + bytes_here
    return Swept(gone, stay, size)


def sweep_daily(files: Files, env: Mapping[str, str], clock: Clock) -> None:
    """As `sweep`, once a day: what nobody uses any more must not stay for ever, and looking costs time."""
    stamp = f"{trees_folder(files, env)}/{_LOCKS}/swept"
    if _changed_ns(files, stamp) > clock.now() - _DAY_NS:
        return
    sweep(files, env, clock)
    replace_file(files, stamp, b"", sync=False, beside=spare(os.path.dirname(stamp)))  # no lock: two may come here


def _changed_ns(files: Files, path: str) -> int:
    """When the file was written last; 0 where there is none."""
    try:
        return files.stat(path).st_mtime_ns
    except OSError:
        return 0


def _taken(files: Files, folder: str, name: str, clock: Clock, wait_s: float) -> tuple[Lock, str]:
    """The lock of a slot that is ours now, and its folder: the first free one, else the first one to wait for."""
    for number in range(SLOTS):
        lock = _lock(files, folder, f"{name}-{number}", clock, 0.0)
        if lock is not None:
            return lock, f"{folder}/{name}-{number}"
    lock = Lock(files, f"{folder}/{_LOCKS}/{name}-0", clock, wait_s)
    lock.acquire()
    return lock, f"{folder}/{name}-0"


def _lock(files: Files, folder: str, slot: str, clock: Clock, wait_s: float) -> Lock | None:
    """The lock of a slot, None where somebody has it."""
    lock = Lock(files, f"{folder}/{_LOCKS}/{slot}", clock, wait_s)
    try:
        lock.acquire()
    except Refusal as refusal:
        if refusal.code != "lock.busy":
            raise
        return None
    return lock


def _take_away(files: Files, folder: str, slot: str, clock: Clock) -> bool:
    """Remove a slot that nobody uses; whether it is gone."""
    lock = _lock(files, folder, slot, clock, 0.0)
    if lock is None:
        return False
    try:
        remove(os.fsencode(f"{folder}/{slot}"), os.fsencode(f"{folder}/{_LOCKS}/gone-{slot}"))
    except OSError:
        return False
    finally:
        lock.close()
    return True
