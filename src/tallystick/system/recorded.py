"""A tree of the work tree as it lies there now, with every byte of it kept: a state that nobody committed can be had
again.

Bytes are kept as they lie there: no filter, no attribute, no index flag of the repository takes part. Nothing of the
user's is written: neither index nor objects nor references. What the repository's objects lack goes to a folder of
ours, and is on the disk when this returns.

Nobody is kept from writing meanwhile, and other agents of the project always do, into its journal. Then each file is in
the tree as it was when it was read; what rests on the tree rests on these very bytes.
"""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.limits import JOURNAL_FILE, MB
from tallystick.system.durable import drop, read_file, spare, sweep
from tallystick.system.files import Files
from tallystick.system.git import Git
from tallystick.system.listing import LINK, SUBMODULE
from tallystick.system.private_git import PrivateGit
from tallystick.system.stat_cache import StatCache, at_rest, stamp

#: So many bytes wait in memory before they are stored.
_BATCH = 32 * MB
#: A private index that is older was left by a process that was killed.
_LEFT_NS = 3600 * 1_000_000_000


class Recorded(NamedTuple):
    """A work tree as it lay there; paths count from its top, bytes that are no UTF-8 are surrogates.

    `tree` is its id. `submodules` are in it by the commit that the index names. `nested` repositories, which git does
    not track, are not in it, nor are `left_out` files, which could not be read or have a name that git refuses.
    `sparse` paths, which a sparse checkout leaves out, are in it as the index has them. `read` files were opened for
    it, `stored` ones written.
    """

    tree: str
    submodules: tuple[str, ...]
    nested: tuple[str, ...]
    left_out: tuple[str, ...]
    sparse: tuple[str, ...]
    read: int
    stored: int


class Known(NamedTuple):
    """What the index says of one path; `skipped`: it need not lie in the work tree."""

    mode: str
    id: str
    skipped: bool


def record_tree(
    files: Files, git: Git, common: str, store: str, env: Mapping[str, str], now_ns: int, *, believe: bool
) -> Recorded | None:
    """Record the work tree of `git`, whose repository is `common`, in the folder `store`; None without a work tree.

    Unless `believe`, every file is read, also one that looks untouched. `now_ns` is the wall clock before the call.
    Raises `Refusal`: "git.missing" when git cannot list or store it, "disk.full" and its like.
    """
    if not git.top:
        return None
    known, others = _listed(git)
    length = _length(git, known)
    place = canonical.sha256(os.fsencode(git.top))[:32]
    cache = StatCache(files, f"{store}/cache/recorded/{place}", believe=believe)
    look = _Look(files, git.top, cache, length, now_ns)
    look.all(known, others)
    tree = cache.tree_of(canonical.sha256(look.listing()))
    wanted = {name for name, row in look.rows.items() if _is_ours(row, known.get(name))}
    wanted = {name for name in wanted if not _lies(files, store, look.rows[name][1])}
    stored = 0
    if wanted or tree is None or not _lies(files, store, tree):
        with own_git(files, common, store, length, env, now_ns) as private:
            stored = _store(private, look, wanted)
            private.tell("update-index", "-z", "--index-info", given=look.listing())
            # without the repository's objects: every tree is ours then, and no collection takes one away
            tree = private.tell("write-tree", "--missing-ok", lent=False).strip()
    cache.keep(canonical.sha256(look.listing()), tree)
    submodules = tuple(name for name, row in look.rows.items() if row[0] == SUBMODULE)
    lists = (tuple(look.nested), tuple(look.left_out), tuple(look.sparse))
    return Recorded(tree, submodules, *lists, look.read, stored)


def parse_listed(text: str) -> tuple[dict[str, Known], set[str]]:
    """`git ls-files -z -v --stage --cached --others`: what the index knows, and the names of what it does not.

    Before a name stand a letter, mode, id and stage, or "? " alone. The name of a repository ends in "/".
    """
    known: dict[str, Known] = {}
    others: set[str] = set()
    for row in text.split("\0"):
        if row.startswith("? "):
            others.add(row[2:])
        elif row:
            facts, _, name = row.partition("\t")
            letter, mode, object_id, _ = facts.split(" ")
            known[name] = Known(mode, object_id, letter in "Ss")
    return known, others


class _Look:
    """One look at a work tree: `rows` is mode and id of everything in it, by name, in the order of names."""

    def __init__(self, files: Files, top: str, cache: StatCache, length: int, now_ns: int) -> None:
        self._files = files
        self._top = top
        self._cache = cache
        self._length = length
        self._now = now_ns
        self._folders: dict[str, bool] = {"": True}
        self.rows: dict[str, tuple[str, str]] = {}
        self.nested: list[str] = []
        self.left_out: list[str] = []
        self.sparse: list[str] = []
        self.read = 0

    def all(self, known: Mapping[str, Known], others: set[str]) -> None:
        """Look at every path."""
        for name in sorted({*known, *others}):
            if name.endswith("/"):
                self.nested.append(name.rstrip("/"))
            else:
                self._one(name, known.get(name))

    def listing(self) -> bytes:
        """The rows as `git update-index -z --index-info` takes them."""
        data = "".join(f"{mode} {one}\t{name}\0" for name, (mode, one) in self.rows.items())
        return data.encode("utf-8", "surrogateescape")

    def again(self, name: str) -> bytes | None:
        """What lies at a path of `rows` now, whose row is made that of these very bytes.

        None, and no row any more, where there is nothing now that a tree holds, or nothing that can be read.
        """
        path = self._path(name)
        self._folders = {"": True}  # a link may stand in for a folder by now
        mode, data = 0, None
        try:
            mode = self._files.lstat(path).st_mode if self._inside(os.path.dirname(name)) else 0
            if modes.S_ISLNK(mode):
                data = self._link(path)
            elif modes.S_ISREG(mode):
                data = self._content(path)
        except (FileNotFoundError, NotADirectoryError):
            mode = 0
        except (OSError, Refusal):
            data = None
        if data is None or not _can_be_stored(name, modes.S_ISLNK(mode)):
            del self.rows[name]
            if mode and not modes.S_ISDIR(mode):
                self.left_out.append(name)
            return None
        self.rows[name] = (_mode(mode), canonical.git_object("blob", data, self._length))
        return data

    def _one(self, name: str, known: Known | None) -> None:
        path, target = self._path(name), b""
        try:
            mode = self._files.lstat(path).st_mode if self._inside(os.path.dirname(name)) else 0
            if modes.S_ISLNK(mode):
                target = self._link(path)
        except OSError:
            mode = 0
        if not _can_be_stored(name, modes.S_ISLNK(mode)):
            self.left_out.append(name)
        elif modes.S_ISLNK(mode):
            self.rows[name] = (LINK, canonical.git_object("blob", target, self._length))
        elif modes.S_ISREG(mode):
            self._regular(name, path)
        elif known is not None and (known.skipped if not mode else modes.S_ISDIR(mode) and known.mode == SUBMODULE):
            self.rows[name] = (known.mode, known.id)
            if not mode:
                self.sparse.append(name)
        elif mode and not modes.S_ISDIR(mode):
            self.left_out.append(name)

    def _regular(self, name: str, path: str) -> None:
        raw = name.encode("utf-8", "surrogateescape")
        try:
            before = self._files.lstat(path)
            object_id = self._cache.known(raw, stamp(before))
            if object_id is None:
                object_id = canonical.git_object("blob", self._content(path), self._length)
                self.read += 1
                if at_rest(before, self._now) and stamp(self._files.lstat(path)) == stamp(before):
                    self._cache.note(raw, stamp(before), object_id)
        except FileNotFoundError:
            return
        except (OSError, Refusal):
            self.left_out.append(name)
            return
        self.rows[name] = (_mode(before.st_mode), object_id)

    def _content(self, path: str) -> bytes:
        data = read_file(self._files, path, JOURNAL_FILE)
        if data is None:
            raise FileNotFoundError(path)
        return data

    def _link(self, path: str) -> bytes:
        return os.fsencode(self._files.readlink(path))

    def _path(self, name: str) -> str:
        """A name of git's as this system opens it, whatever encoding it has for names."""
        return f"{self._top}/{os.fsdecode(name.encode('utf-8', 'surrogateescape'))}"

    def _inside(self, folder: str) -> bool:
        """Whether no link stands in for the folder, or for one above it in the tree."""
        if folder not in self._folders:
            is_folder = modes.S_ISDIR(self._files.lstat(self._path(folder)).st_mode)
            self._folders[folder] = is_folder and self._inside(os.path.dirname(folder))
        return self._folders[folder]


def _listed(git: Git) -> tuple[dict[str, Known], set[str]]:
    status, out = git.ask("ls-files", "-z", "-v", "--stage", "--cached", "--others", "--exclude-standard")
    if status != 0:
        raise Refusal("git.missing", f"git cannot list {git.top}: {out.strip()[-200:]}", "see `git status`")
    return parse_listed(out)


def _length(git: Git, known: Mapping[str, Known]) -> int:
    """How many characters the repository's ids have; any of them tells, and git does where there is none."""
    for one in known.values():
        return len(one.id)
    return 64 if git.ask("rev-parse", "--show-object-format")[1].strip() == "sha256" else 40


def _mode(mode: int) -> str:
    """The mode by which git holds a link or a regular file with that mode."""
    return LINK if modes.S_ISLNK(mode) else "100755" if mode & 0o100 else "100644"


def _can_be_stored(name: str, is_link: bool) -> bool:
    """Whether git holds a file of that name: none that is `.git` to some file system, no link as `.gitmodules`."""
    if ".git" not in (lowered := name.lower()):
        return True
    parts = lowered.split("/")
    return ".git" not in parts and not (is_link and parts[-1] == ".gitmodules")


def _is_ours(row: tuple[str, str], known: Known | None) -> bool:
    """Whether nobody but us vouches for the bytes: what the index names lies in the repository."""
    return row[0] != SUBMODULE and (known is None or known.id != row[1])


def _lies(files: Files, store: str, object_id: str) -> bool:
    """Whether the object lies in our folder as a file of its own."""
    try:
        files.lstat(f"{store}/objects/{object_id[:2]}/{object_id[2:]}")
    except OSError:
        return False
    return True


@contextmanager
def own_git(
    files: Files, common: str, store: str, length: int, env: Mapping[str, str], now_ns: int
) -> Iterator[PrivateGit]:
    """Git of our own that writes into `store` and reads the repository's objects, with an index of its own."""
    folder = f"{store}/cache/recording-{length}"
    index = spare(folder)
    lenders = (f"{common}/objects",)
    private = PrivateGit(files, folder, f"{store}/objects", lenders, length, env, index=index)
    private.prepare()
    sweep(files, folder, now_ns - _LEFT_NS)
    try:
        yield private
    finally:
        drop(files, index)
        drop(files, f"{index}.lock")


def _store(private: PrivateGit, look: _Look, names: set[str]) -> int:
    """Store the bytes at these paths, as far as no object with them is there; how many were.

    What is stored is what lies there now: the rows follow it where somebody wrote since the look.
    """
    if not names:
        return 0
    lacking = {look.rows[name][1] for name in names}
    given = "".join(f"{one}\n" for one in sorted(lacking)).encode()
    answers = private.tell("cat-file", "--batch-check", given=given).splitlines()
    lacking -= {line.split(" ")[0] for line in answers if not line.endswith(" missing")}
    batch, waiting, stored = [], 0, 0
    for name in sorted(names):
        if look.rows[name][1] not in lacking:  # another path had the same bytes
            continue
        data = look.again(name)
        if data is None:
            continue
        lacking.discard(look.rows[name][1])
        batch.append(b"blob\ndata %d\n%b\n" % (len(data), data))
        waiting, stored = waiting + len(data), stored + 1
        if waiting > _BATCH:
            private.tell("fast-import", "--quiet", given=b"".join(batch))
            batch, waiting = [], 0
    if batch:
        private.tell("fast-import", "--quiet", given=b"".join(batch))
    return stored
