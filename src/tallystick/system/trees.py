"""Trees that were recorded: what lies in one, what differs between two, and one made from another with a few changes.

Everything is read from the repository's objects and ours, and written to ours alone, as `recorded.py` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tallystick.errors import Refusal
from tallystick.ids import shown
from tallystick.system.files import Files
from tallystick.system.listing import SUBMODULE, Entry
from tallystick.system.locks import Clock
from tallystick.system.recorded import own_git

_HEX = frozenset("0123456789abcdef")


#: A tree by the names in it, from its top with `/`; bytes that are no UTF-8 are surrogates.
Rows = dict[str, Entry]


class Trees:
    """The trees of one repository, `common` its common dir and `store` the folder of our objects."""

    def __init__(self, files: Files, common: str, store: str, env: Mapping[str, str], clock: Clock) -> None:
        self._files = files
        self._common = common
        self._store = store
        self._env = env
        self._clock = clock
        self._rows: dict[str, Rows] = {}

    def rows(self, tree: str) -> Rows | None:
        """What lies in the tree (or commit) of that id; None when it, or a part of it, is not here."""
        if len(tree) not in (40, 64) or not _HEX.issuperset(tree):
            return None
        if tree not in self._rows:
            try:
                listed = self._tell(tree, "ls-tree", "-r", "-z", "--full-tree", tree)
            except Refusal:
                return None
            self._rows[tree] = dict(_row(line) for line in listed.split("\0") if line)
        return self._rows[tree]

    def contents(self, tree: str, names: Iterable[str]) -> dict[str, bytes]:
        """The bytes at these names of a tree, a link's as where it leads; what is not here is left out."""
        rows = self.rows(tree) or {}
        wanted = {name: rows[name].id for name in names if name in rows and rows[name].mode != SUBMODULE}
        if not wanted:
            return {}
        ids = sorted(set(wanted.values()))
        given = "".join(f"{one}\n" for one in ids).encode()
        told = self._tell(tree, "cat-file", "--batch", given=given).encode("utf-8", "surrogateescape")
        found = _contents(told, ids)
        return {name: found[one] for name, one in wanted.items() if one in found}

    def made(self, tree: str, changes: Mapping[str, tuple[str, str | bytes] | None]) -> str:
        """The id of `tree` with `changes`: at each name a mode and an id or bytes, or None for nothing.

        On the disk when this returns. Raises `Refusal` "git.missing" where git cannot.
        """
        with own_git(self._files, self._common, self._store, len(tree), self._env, self._clock.now()) as git:
            git.tell("read-tree", tree)
            rows = []
            for name, change in changes.items():
                if change is None:
                    rows.append(f"0 {'0' * len(tree)}\t{name}\0")
                    continue
                mode, what = change
                if isinstance(what, bytes):
                    what = git.tell("hash-object", "-w", "--stdin", "--no-filters", given=what).strip()
                rows.append(f"{mode} {what}\t{name}\0")
            # what is taken away comes first: a file may stand where a folder was
            rows.sort(key=lambda row: not row.startswith("0 "))
            given = "".join(rows).encode("utf-8", "surrogateescape")
            git.tell("update-index", "-z", "--index-info", given=given)
            return git.tell("write-tree", "--missing-ok").strip()

    def _tell(self, tree: str, *words: str, given: bytes | None = None) -> str:
        with own_git(self._files, self._common, self._store, len(tree), self._env, self._clock.now()) as git:
            return git.tell(*words, given=given)


def differing(before: Rows, now: Rows) -> dict[str, Entry | None]:
    """Every name at which two trees differ, with what lay there `before` (None: nothing)."""
    return {name: before.get(name) for name in sorted({*before, *now}) if before.get(name) != now.get(name)}


def _row(line: str) -> tuple[str, Entry]:
    facts, _, name = line.partition("\t")
    mode, _, object_id = facts.split(" ")
    return name, Entry(mode, object_id)


def _contents(told: bytes, ids: list[str]) -> dict[str, bytes]:
    """What `cat-file --batch` printed, by id."""
    found, at = {}, 0
    for one in ids:
        end = told.index(b"\n", at)
        words = told[at:end].split(b" ")
        at = end + 1
        if words[-1] == b"missing":
            continue
        if len(words) != 3:
            raise Refusal("git.missing", f"git tells nothing of the object {shown(one)}", "see `git fsck`")
        size = int(words[2])
        found[one] = told[at : at + size]
        at += size + 1
    return found
