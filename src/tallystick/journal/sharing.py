"""Writes segments: the records of this store that no segment of the tree holds yet (D3).

Called after an answer, so nobody has to remember anything. The segment written last is replaced as long as git does
not know it, so there is about one new file for each feature and git commit. Not synced: the live store has it all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.journal import segments
from tallystick.journal.feature import FeatureJournal
from tallystick.journal.record import Unreadable, open_line
from tallystick.journal.segments import BLOBS, FOLDER, Held, chain_of
from tallystick.journal.store import Store
from tallystick.journal.tree_segments import TreeSegments
from tallystick.limits import MB, SHARED_BLOB
from tallystick.system.durable import drop, make_folders, read_file, replace_file
from tallystick.system.files import Files
from tallystick.system.locks import Clock, Lock

#: A segment that has grown so large is left as it is, so that a mark never copies more than this.
_FULL = 256 * 1024
#: Bytes of the table of what each segment holds, which spares opening all of them.
_CACHE = 64 * MB
_DIGEST = re.compile(rb'"([0-9a-f]{64})"')
#: The field of a record that names a list of further kept bytes: without these the list says nothing elsewhere.
_LIST = re.compile(rb'"was":"([0-9a-f]{64})"')


class Index(Protocol):
    """What git's index can tell."""

    def indexed(self, path: str) -> bool: ...


class Missing(NamedTuple):
    """Records of one chain that no segment holds: places `first` to `last`."""

    writer: str
    first: int
    last: int


class Sharing:
    """Writes the segments of one work tree."""

    def __init__(
        self,
        files: Files,
        tree: str,
        store: Store[Any],
        source: TreeSegments,
        index: Index,
        clock: Clock,
        wait_s: float,
    ) -> None:
        self._files = files
        self._tree = tree
        self._store = store
        self._source = source
        self._index = index
        self._clock = clock
        self._wait = wait_s

    def write(self, feature: str) -> tuple[str, ...]:
        """Have every record of `feature` in some segment of this tree; notes for a person.

        Raises `Refusal` where the tree cannot be written, or `.tallystick` leads outside it.
        """
        if not self._tree or self._store.id() is None:
            return ()
        lock = Lock(self._files, f"{self._store.root.folder}/locks/{feature}.segment", self._clock, self._wait)
        lock.acquire()
        try:
            return self._write(feature)
        finally:
            lock.close()  # this one is taken anew for each write

    def _write(self, feature: str) -> tuple[str, ...]:
        names = self._source.names(feature)
        mine, heads = self._remembered(feature, names)
        if mine and (heads[mine] is None or self._size(feature, mine) > _FULL or self._known_to_git(feature, mine)):
            mine = ""
        held = [places for places in heads.values() if places is not None]
        store = self._store.id() or ""

        def collect(journal: FeatureJournal[Any]) -> dict[Missing, list[bytes]]:
            return {one: _lines(journal, one) for one in _missing(journal, store, held)}

        news = self._store.read_journal(feature, collect)
        if not news:
            return self._remember(feature, mine, heads)
        self._guard()
        self._bring_blobs(line for lines in news.values() for line in lines)
        lines = _split(self._source.read(feature, mine), heads[mine] or {}) if mine else {}
        now = dict(heads[mine] or {}) if lines else {}
        for one, found in news.items():
            chain = chain_of(store, one.writer)
            follows = chain in now and now[chain][1] + 1 == one.first
            lines[chain] = [*lines[chain], *found] if follows else found
            now[chain] = (now[chain][0] if follows else one.first, one.last)
        name, data = segments.render(feature, now, (line for chain in sorted(lines) for line in lines[chain]))
        folder = f"{self._tree}/{FOLDER}/{feature}"
        make_folders(self._files, folder, 0o755)
        replace_file(self._files, f"{folder}/{name}", data, mode=0o644, sync=False, beside=f"{folder}/.tmp")
        if mine and mine != name:
            drop(self._files, f"{folder}/{mine}")
            heads.pop(mine)
        return self._remember(feature, name, {**heads, name: now})

    # -- what is there ------------------------------------------------------------------------------------------

    def _remembered(self, feature: str, names: tuple[str, ...]) -> tuple[str, dict[str, Held | None]]:
        """The segment that this tree wrote last, if it still lies there, and what each segment holds."""
        mine, known = self._cached(feature)
        heads: dict[str, Held | None] = {}
        for name in names:
            heads[name] = known[name] if name in known else self._checked(feature, name)
        return (mine if mine in heads else ""), heads

    def _cached(self, feature: str) -> tuple[str, dict[str, Held | None]]:
        try:
            data = read_file(self._files, self._cache(feature), _CACHE)
            mine, known = canonical.parse(data or b"", "cache")
            heads: dict[str, Held | None] = {}
            for name, held in known.items():
                heads[name] = held and {chain: (first, last) for chain, (first, last) in held.items()}
            return str(mine), heads
        except (Refusal, ValueError, TypeError, AttributeError):  # lost or damaged: all of it is in the segments
            return "", {}

    def _checked(self, feature: str, name: str) -> Held | None:
        """What a segment really holds; one that merely says it holds our records would keep them from being shared."""
        held = segments.read_head(self._source.head(feature, name), feature, name)
        store = self._store.id() or ""
        own = {chain: places for chain, places in (held or {}).items() if chain.startswith(f"{store}/")}
        if not own:
            return held
        lying = set(self._source.read(feature, name).splitlines(keepends=True))

        def whole(journal: FeatureJournal[Any]) -> bool:
            for chain, (first, last) in own.items():
                missing = Missing(chain.removeprefix(f"{store}/"), first, last)
                chains = journal.chains.get(missing.writer)
                if chains is None or chains.head.i < last or not lying.issuperset(_lines(journal, missing)):
                    return False
            return True

        return held if self._store.read_journal(feature, whole) else None

    def _remember(self, feature: str, mine: str, heads: dict[str, Held | None]) -> tuple[str, ...]:
        data = canonical.encode([mine, heads])
        path = self._cache(feature)
        if read_file(self._files, path, _CACHE) != data:
            make_folders(self._files, os.path.dirname(path))
            drop(self._files, path)  # some file systems flush what is renamed over another file, which is not worth it
            replace_file(self._files, path, data, sync=False, beside=f"{path}.tmp")
        return ()

    def _cache(self, feature: str) -> str:
        tree = canonical.sha256(os.fsencode(self._tree))[:16]
        return f"{self._store.root.folder}/cache/segments/{tree}-{feature}"

    def _size(self, feature: str, name: str) -> int:
        try:
            return self._files.stat(self._source.path(feature, name)).st_size
        except OSError:
            return _FULL + 1

    def _known_to_git(self, feature: str, name: str) -> bool:
        return self._index.indexed(f"{FOLDER}/{feature}/{name}")

    # -- what is written ----------------------------------------------------------------------------------------

    def _guard(self) -> None:
        path = f"{self._tree}/.tallystick"
        real = self._files.realpath(path)
        if not real.startswith(self._tree.rstrip("/") + "/"):
            raise Refusal(
                "store.place",
                f"{path} leads outside the project by a symbolic link; nothing was shared",
                "look at what lies there; the journal is not touched by it",
            )

    def _bring_blobs(self, lines: Iterable[bytes]) -> None:
        """Put kept bytes of at most 64 kB that the records name beside them, and those that a list of theirs names."""
        told = list(lines)
        lists = {found[1].decode() for line in told for found in _LIST.finditer(line)}
        told += [self._store.blobs.small(name, SHARED_BLOB) or b"" for name in lists]
        for digest in {found[1].decode() for line in told for found in _DIGEST.finditer(line)}:
            kept = self._store.blobs.small(digest, SHARED_BLOB)
            path = f"{self._tree}/{BLOBS}/{digest[:2]}/{digest}"
            if kept is not None and read_file(self._files, path, SHARED_BLOB) is None:
                make_folders(self._files, os.path.dirname(path), 0o755)
                beside = f"{os.path.dirname(path)}/.tmp"
                replace_file(self._files, path, kept, mode=0o644, sync=False, beside=beside)


def _split(data: bytes, held: Held) -> dict[str, list[bytes]]:
    """The lines of a segment by chain; nothing where they are not as many as it says."""
    lines = data.splitlines(keepends=True)[1:]
    if len(lines) != sum(last - first + 1 for first, last in held.values()):
        return {}
    found, at = {}, 0
    for chain, (first, last) in sorted(held.items()):
        found[chain] = lines[at : at + last - first + 1]
        at += last - first + 1
    return found


def _missing(journal: FeatureJournal[Any], store: str, held: list[Held]) -> list[Missing]:
    """From the first place of each chain that no segment holds, up to its end."""
    found = []
    for writer, chain in sorted(journal.chains.items()):
        covered = 0
        for first, last in sorted(places[name] for places in held if (name := chain_of(store, writer)) in places):
            if first > covered + 1:
                break
            covered = max(covered, last)
        if chain.head.i > covered:
            found.append(Missing(writer, covered + 1, chain.head.i))
    return found


def _lines(journal: FeatureJournal[Any], missing: Missing) -> list[bytes]:
    """The record lines of these places, as they stand in the journal; looked for from the end."""
    found = []
    for line in reversed(journal.lines(missing.writer, missing.first)):
        opened = open_line(line[:-1])
        if isinstance(opened, Unreadable):
            continue
        if opened[0].i < missing.first:
            break
        if opened[0].i <= missing.last:
            found.append(line)
    return found[::-1]
