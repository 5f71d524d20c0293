"""What a pass rests on: the files its run read, by content, and the environment it ran in. Kept as one list by digest,
looked at again at every look.

The environment is what was installed where the run took something from: the RECORD of each such distribution, the files
that run at every start of the Python, code that belongs to nobody. What nobody used may come and go.

A list is a blob: criteria that share a run share it. A cache of stamps says which files need not be read again; only
a command that writes renews it (P16), and losing it is harmless.
"""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.evidence.relevant import IRRELEVANT, Reads, RelevantFile, relevant_names, shadowing
from tallystick.evidence.runners.report import Recorded
from tallystick.journal.blobs import Blobs
from tallystick.limits import CITED_FILE
from tallystick.system.durable import each_entry, read_file
from tallystick.system.files import Files, Stat
from tallystick.system.locks import Clock
from tallystick.system.stat_cache import StatCache, at_rest, stamp

#: What a list says in the place of a digest: of a listed name where nothing lies, where a folder or the like does (a
#: submodule, a nested repository), and before the digest of a link, and of the stamp of what cannot be read.
_GONE, _NO_FILE, _LINK, _STAMP = "gone", "no file", "link:", "stamp:"
_NO_TREE = "0" * 40
#: What is behind the name of a distribution or a file in the answer that it is what has changed.
_ENVIRONMENT, _RECORD = "(environment)", "RECORD"
#: How a record names a list. Not a bare digest: what such names travels to other clones, where no pass of ours counts.
LIST = "list:"


class Outer(NamedTuple):
    """A file of the environment: its absolute path, the digest of its bytes ("" for none), its name for people."""

    path: str
    digest: str
    label: str


class _List(NamedTuple):
    """One list, read."""

    files: tuple[RelevantFile, ...]
    reads: Reads
    environment: tuple[Outer, ...]
    beside: frozenset[str]  # what lay beside them under such a name already, and was not loaded by these tests


class Resting:
    """The lists of one work tree."""

    def __init__(self, files: Files, tree: str, blobs: Blobs, cache: str, clock: Clock) -> None:
        self._files = files
        self._tree = tree
        self._blobs = blobs
        self._clock = clock
        self._stamps = StatCache(files, cache, believe=True)
        self._digests: dict[str, str] = {}
        self._lists: dict[str, _List | None] = {}

    def keep(
        self,
        names: Collection[str],
        recorded: Sequence[Recorded | None],
        locked: Iterable[str],
        paths: Sequence[str],
        began_ns: int,
        bound: Iterable[str] = (),
        irrelevant: Iterable[str] = IRRELEVANT,
    ) -> str:
        """The name of the list for a pass by these runs (None: nobody recorded what it read); durable.

        `names` are the files of the tree, `paths` declared globs, `bound` absolute paths that say which environment it
        was, whatever the runs say; `irrelevant` are globs of what no proof rests on. A file that was written since
        `began_ns` has no digest in it: whether the run saw it so nobody can say.
        """
        left_out = tuple(irrelevant)
        found: set[str] = set()
        looked: set[str] = set()
        roots: set[str] = set()
        for one in recorded:
            found.update(relevant_names(names, one, locked, paths=paths, irrelevant=left_out))
            if one is not None:
                looked.update(one.names)
                roots.update(one.roots)
        rows = [[_written(name), self._digest(name, began_ns)] for name in sorted(found)]
        told = {"names": [_written(one) for one in sorted(looked)], "roots": [_written(one) for one in sorted(roots)]}
        outer = [
            [_written(one.path), one.digest, _written(one.label)] for one in self._outer(recorded, bound, began_ns)
        ]
        beside = [_written(name) for name in self._shadowing(found, Reads(frozenset(looked), tuple(sorted(roots))))]
        data = canonical.encode({"files": rows, "environment": outer, "beside": beside, **told})
        return f"{LIST}{self._blobs.keep(data)}"

    def changed(self, digest: str) -> str | None:
        """The first thing that is no longer as the list says: a file's name, or what is missing; None if all is."""
        if not self._tree:
            return None
        if digest not in self._lists:
            self._lists[digest] = self._read(digest)
        found = self._lists[digest]
        if found is None:
            return "the list of what it rests on"
        files, reads, environment, beside = found
        for file in files:
            if not file.digest or self._digest(file.path, None) != file.digest:
                return file.path
        for outer in environment:
            if not outer.digest or self._digest(outer.path, None) != outer.digest:
                return f"{outer.label} {_ENVIRONMENT}"
        new = self._shadowing({file.path for file in files}, reads)
        return next((name for name in new if name not in beside), None)

    def _shadowing(self, files: Collection[str], reads: Reads) -> tuple[str, ...]:
        """What lies in the way of a module among `files`, by its name."""
        folders = sorted({*reads.roots, *(os.path.dirname(name) for name in files if name.endswith(".py"))})
        return shadowing(self._lying(folders), files, reads)

    def files(self, digest: str) -> tuple[str, ...]:
        """The names of the files in a list, ordered; () where the list is not here."""
        if digest not in self._lists:
            self._lists[digest] = self._read(digest)
        found = self._lists[digest]
        return () if found is None else tuple(file.path for file in found.files)

    def look(self) -> Callable[[str], str | None]:
        """`changed` for many lists at one moment: each file is looked at once."""
        self._digests.clear()
        known: dict[str, str | None] = {}

        def ask(digest: str) -> str | None:
            if digest not in known:
                known[digest] = self.changed(digest)
            return known[digest]

        return ask

    def renew(self) -> None:
        """Write the cache of stamps; for commands that write."""
        self._stamps.keep(_NO_TREE, _NO_TREE)

    def _outer(self, recorded: Sequence[Recorded | None], bound: Iterable[str], began_ns: int) -> Iterator[Outer]:
        """The environment of these runs, ordered. What lay in a run's own folders went with them and is left out."""
        told: dict[str, tuple[str, str]] = {}
        for one in recorded:
            if one is not None:
                told.update({path: (digest, os.path.basename(path)) for path, digest in one.start})
                told.update({path: (digest, path) for path, digest in one.elsewhere})
                told.update({row.path: (row.record, f"{row.name} {row.version}") for row in one.distributions})
        for path, (said, label) in sorted(told.items()):
            lying = self._looked(path, None)
            if lying != _GONE or self._is_there(_above_record(path)):
                yield Outer(path, lying if said in (lying, "") else "", label)
        for path in sorted(set(bound) - told.keys()):
            yield Outer(path, self._looked(path, began_ns), _label(path))

    def _read(self, digest: str) -> _List | None:
        data = self._blobs.get(digest.removeprefix(LIST))
        if data is None:
            return None
        value = canonical.parse(data, "the list of what a pass rests on")
        files = tuple(RelevantFile(_name(name), content) for name, content in value["files"])
        environment = tuple(
            Outer(_name(path), content, _name(label)) for path, content, label in value.get("environment", ())
        )
        reads = Reads(frozenset(map(_name, value["names"])), tuple(map(_name, value["roots"])))
        beside = frozenset(map(_name, value.get("beside", ())))
        return _List(files, reads, environment, beside)

    def _digest(self, name: str, began_ns: int | None) -> str:
        """The digest of a file's bytes as they lie there, else what stands for them; "" where nobody can say."""
        if name in self._digests and began_ns is None:
            return self._digests[name]
        self._digests[name] = found = self._looked(name, began_ns)
        return found

    def _looked(self, name: str, began_ns: int | None) -> str:
        if os.path.isabs(name):
            return self._looked_outside(name, began_ns)
        path = f"{self._tree}/{name}"
        try:
            status = self._files.lstat(path)
        except (OSError, ValueError):
            return "" if self._late(os.path.dirname(path.rstrip("/")), began_ns) else _GONE
        if began_ns is not None and max(status.st_mtime_ns, status.st_ctime_ns) >= began_ns:
            return ""
        if modes.S_ISLNK(status.st_mode):
            return self._link(path, began_ns)
        return self._content(name, path, status, self._tree)

    def _looked_outside(self, path: str, began_ns: int | None) -> str:
        """As `_looked`, of a file of the environment: links are followed, as the run followed them."""
        try:
            status = self._files.stat(path)
        except (OSError, ValueError):
            return _GONE
        if began_ns is not None and max(status.st_mtime_ns, status.st_ctime_ns) >= began_ns:
            return ""
        return self._content(path, path, status, "")

    def _content(self, name: str, path: str, status: Stat, within: str) -> str:
        if not modes.S_ISREG(status.st_mode):
            return _NO_FILE
        key, mark = name.encode("utf-8", "surrogateescape"), stamp(status)
        known = self._stamps.known(key, mark)
        if known is not None:
            return known
        now = self._clock.now()
        try:
            data = read_file(self._files, path, CITED_FILE, within=within)
        except Refusal:  # too large, or not ours to read: whoever writes there changes its stamp
            return f"{_STAMP}{canonical.sha256(repr(mark).encode())}"
        digest = "" if data is None else canonical.sha256(data)
        if digest and at_rest(status, now):
            self._stamps.note(key, mark, digest)
        return digest

    def _link(self, path: str, began_ns: int | None) -> str:
        """What stands for a symbolic link: where it leads, and the bytes there as far as that is in the tree."""
        try:
            target = os.fsencode(self._files.readlink(path))
        except OSError:
            return ""
        data = b""
        try:
            behind = self._files.stat(path)
            if began_ns is not None and max(behind.st_mtime_ns, behind.st_ctime_ns) >= began_ns:
                return ""
            data = read_file(self._files, path, CITED_FILE, within=self._tree) or b""
        except (OSError, Refusal):
            pass  # it leads nowhere, out of the tree, or to a folder: where it leads is all there is to say
        return f"{_LINK}{canonical.sha256(target + bytes(1) + data)}"

    def _late(self, folder: str, began_ns: int | None) -> bool:
        """Whether an entry of the folder, or of the nearest one above that is there, came or went since `began_ns`."""
        if began_ns is None:
            return False
        while len(folder) > len(self._tree):
            try:
                return self._files.stat(folder).st_mtime_ns >= began_ns
            except OSError:
                folder = os.path.dirname(folder)
        try:
            return self._files.stat(self._tree).st_mtime_ns >= began_ns
        except OSError:
            return True

    def _lying(self, folders: Sequence[str]) -> list[str]:
        """The files directly in these folders, and the packages there: what may stand in a module's way."""
        found = []
        for root in folders:
            folder = f"{self._tree}/{root}" if root else self._tree
            try:
                for name in each_entry(self._files, folder, lambda name: not name.startswith(".")):
                    at = f"{root}/{name}" if root else name
                    found += [at] if "." in name else [f"{at}/__init__.py"] if self._is_package(at) else []
            except Refusal:
                continue
        return found

    def _is_package(self, name: str) -> bool:
        return self._is_there(f"{self._tree}/{name}/__init__.py")

    def _is_there(self, path: str) -> bool:
        try:
            self._files.stat(path)
        except OSError:
            return False
        return True


def _above_record(path: str) -> str:
    """The folder of distributions that a RECORD belongs to; any other path as it is."""
    folder, name = os.path.split(path)
    return os.path.dirname(folder) if name == _RECORD else path


def _label(path: str) -> str:
    """A file of the environment in words: name and version of the distribution whose RECORD it is, or its own name."""
    folder, name = os.path.split(path)
    return os.path.basename(folder).removesuffix(".dist-info").replace("-", " ", 1) if name == _RECORD else name


def _written(name: str) -> str | list[str]:
    """A name as a list holds it: one with bytes that are no UTF-8, which JSON cannot say, as hexadecimal digits."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return [name.encode("utf-8", "surrogateescape").hex()]
    return name


def _name(written: str | list[str]) -> str:
    """The name that `_written` wrote."""
    return written if isinstance(written, str) else bytes.fromhex(written[0]).decode("utf-8", "surrogateescape")
