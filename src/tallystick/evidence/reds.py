"""Red proofs: what a run says of the ids of a criterion, and the tree on which a red can be made again.

A red is made again on the state under proof with everything set back that differs from the state in which the tests
were red, but for what is locked now. So it needs no commit that is still there, and survives squash and rebase; another
copy of the repository has the bytes from the records that came along.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.evidence.checks import CheckResult, Part
from tallystick.evidence.locks import name_of, written
from tallystick.evidence.lockset import LockSet, State
from tallystick.evidence.red import Bad, RedVerdict, judge_red
from tallystick.evidence.relevant import IRRELEVANT, counts, matches
from tallystick.evidence.selectors import covers
from tallystick.evidence.standing import listing
from tallystick.evidence.verdict import Reason
from tallystick.journal.blobs import Blobs
from tallystick.ledger.model import Red
from tallystick.limits import MB
from tallystick.system.listing import SUBMODULE
from tallystick.system.trees import Trees, differing

#: More than this is not kept with a pass: then only a store that has the state itself can make its red again.
_MOST_FILES, _MOST_BYTES = 5_000, 64 * MB
#: Longer names, in characters, and parts of them, in bytes, are not followed: no disk has them below a folder of ours.
_LONGEST, _LONGEST_PART = 2_000, 255


class RedRun(NamedTuple):
    """What the runs of a criterion's checks say of its red: the ids that are red, and those that are for no good reason
    with a code and a sentence each."""

    ids: tuple[str, ...]
    bad: dict[str, Bad]

    @property
    def counts(self) -> bool:
        """Whether it can stand as a red."""
        return bool(self.ids) and not self.bad

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it cannot."""
        return tuple(Reason(bad.code, f"{name}: {bad.says}", name.partition("::")[0]) for name, bad in self.bad.items())


def red_run(
    parts: Iterable[Part], results: Mapping[int, CheckResult], packages: frozenset[str], state: State
) -> RedRun:
    """What `results` (by step) say of the ids of `parts`. A command of a test runner is red by the tests of it that
    are; one that only has an exit status can be no red."""
    ids: dict[str, None] = {}
    bad: dict[str, Bad] = {}
    for part in parts:
        ran = results[part.step].ran
        wanted: Iterable[str] = part.ids
        if not part.ids:
            if ran.report is None:
                continue  # its exit status says nothing about tests
            red = [test.id for test in ran.report.tests.values() if test.outcome not in ("passed", "skipped")]
            wanted = red or [f"{scope.id}::*" for scope in ran.report.scopes if scope.id not in ("", ".")]
            wanted = wanted or list(ran.report.tests)
        verdict: RedVerdict = judge_red(ran, wanted, packages, listing(state))
        ids.update(dict.fromkeys(one for one in verdict.ids if one not in verdict.bad))
        bad.update(verdict.bad)
    return RedRun(tuple(ids), bad)


def not_passed(red: Red, passed: Iterable[str]) -> list[str]:
    """The ids that were red and are not among `passed`."""
    there = set(passed)
    return [one for one in red.ids if one not in there and not any(covers(one, other) for other in there)]


class Past:
    """What is still known of the states in which tests were red."""

    def __init__(self, trees: Trees, blobs: Blobs) -> None:
        self._trees = trees
        self._blobs = blobs
        self._kept: dict[str, dict[str, tuple[str, str] | None] | None] = {}

    def contents(self, red: Red, names: Iterable[str]) -> Mapping[str, bytes]:
        """The bytes that lay at `names` then, as far as they are known here."""
        tree = self._tree(red)
        return {} if tree is None else self._trees.contents(tree, names)

    def set_back(self, red: Red, tree: str, locked: LockSet) -> str | None:
        """The id of `tree` set back to where `red` was seen, but for what is `locked`; None where nobody here knows."""
        stay = {one.path for one in locked.locks if not one.part and one.kind != "config"}
        then = self._tree(red)
        changes: dict[str, tuple[str, str | bytes] | None] = {}
        rows = self._trees.rows(tree) or {}
        if then is not None:
            for name, entry in differing(self._trees.rows(then) or {}, rows).items():
                if name not in stay and counts(name):
                    changes[name] = None if entry is None else (entry.mode, entry.id)
        else:
            kept = self._list(red.was) if red.was else None
            if kept is None:
                return None
            for name, was in kept.items():
                if name in stay:
                    continue
                data = None if was is None else self._blobs.find(was[1])
                if was is not None and data is None:
                    return None
                changes[name] = None if was is None or data is None else (was[0], data)
        return self._trees.made(tree, changes)

    def keep(self, red: Red, tree: str) -> str | None:
        """The name of what `tree` has changed since `red`, each with the bytes that lay there; durable. None where that
        is too much, or not known here."""
        then = self._tree(red)
        if then is None:
            return red.was
        found = differing(self._trees.rows(then) or {}, self._trees.rows(tree) or {})
        found = {name: entry for name, entry in found.items() if counts(name) and not _is_document(name)}
        if len(found) > _MOST_FILES or any(entry is not None and entry.mode == SUBMODULE for entry in found.values()):
            return None
        contents = self._trees.contents(then, [name for name, entry in found.items() if entry is not None])
        if sum(map(len, contents.values())) > _MOST_BYTES:
            return None
        rows: list[Json] = []
        for name, entry in found.items():
            if entry is not None and name not in contents:
                return None
            was: Json = None if entry is None else [entry.mode, self._blobs.keep(contents[name])]
            rows.append([written(name), was])
        return self._blobs.keep(canonical.encode(rows))

    def _tree(self, red: Red) -> str | None:
        """A state like the one in which it was red: that one, else the commit it stood on."""
        for one in (red.tree, red.commit):
            if one and self._trees.rows(one) is not None:
                return one
        return None

    def _list(self, name: str) -> dict[str, tuple[str, str] | None] | None:
        if name not in self._kept:
            self._kept[name] = _read(self._blobs.find(name))
        return self._kept[name]


def _read(data: bytes | None) -> dict[str, tuple[str, str] | None] | None:
    if data is None:
        return None
    try:
        rows = canonical.parse(data, "what a pass has changed")
        found = {name_of(name): None if was is None else (str(was[0]), str(was[1])) for name, was in rows}
    except (Refusal, ValueError, TypeError, LookupError):  # somebody else's bytes
        return None
    return found if all(_is_sound(name, was) for name, was in found.items()) else None


def _is_sound(name: str, was: tuple[str, str] | None) -> bool:
    """Whether a row that came with the repository names a path inside it that a disk can have, and a file or link."""
    parts = name.split("/")
    inside = "\0" not in name and not {"", ".", "..", ".git"}.intersection(part.lower() for part in parts)
    long = len(name) > _LONGEST or any(len(os.fsencode(part)) > _LONGEST_PART for part in parts)
    return inside and not long and counts(name) and (was is None or was[0] in ("100644", "100755", "120000"))


def _is_document(name: str) -> bool:
    return any(matches(name, glob) for glob in IRRELEVANT)
