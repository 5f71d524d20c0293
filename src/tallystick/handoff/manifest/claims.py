"""What an agent says it changed, beside what git says. Pure: two lists in, the differences out.

Paths are compared by their bytes. Two that differ only by case or by Unicode normalization are two paths, and each
names the other in its note.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tallystick.system.changes import Change, is_ours

NOT_CHANGED, NOT_CLAIMED = "claimed, not changed", "changed, not claimed"

#: What was claimed of a path, and what became of it, where the two do not agree. Every other pair agrees; a renamed
#: file may be claimed under either name. Agents have no list for what they deleted, so that shows either way.
_MEANS: dict[tuple[str, str], str] = {
    ("modified", "created"): "claimed as modified, was created",
    ("modified", "deleted"): "claimed as modified, was deleted",
    ("created", "modified"): "claimed as created, was modified",
    ("created", "mode"): "claimed as created, was modified",
    ("created", "type"): "claimed as created, was modified",
    ("created", "submodule"): "claimed as created, was modified",
    ("created", "deleted"): "claimed as created, was deleted",
    ("created", "renamed away"): "claimed as created, was renamed",
}


class Claimed(NamedTuple):
    """An agent's own word: paths as it wrote them."""

    modified: tuple[str, ...]
    created: tuple[str, ...]


class Difference(NamedTuple):
    """One path on which the two do not agree; `kind` says how, `note` names a path that is nearly the same, or ""."""

    path: str
    kind: str
    note: str = ""


def differences(claimed: Claimed, changes: Sequence[Change], top: str = "") -> tuple[Difference, ...]:
    """Where an agent's word and git differ, sorted by path; () when they agree.

    `top` is the tree's top: absolute paths below it are read as relative to it. Folders of ours are left out, as in
    `changes`. A path that was claimed twice agrees when one of the two claims does.
    """
    became = dict(_outcomes(changes))
    claims: dict[str, list[str]] = {}
    for word, paths in (("created", claimed.created), ("modified", claimed.modified)):
        for path in paths:
            claims.setdefault(normal(path, top), []).append(word)
    found = [Difference(path, kind) for path, words in claims.items() if (kind := _against(words, became.get(path)))]
    found = [one for one in found if not is_ours(one.path)]
    silent = [one.path for one in changes if one.path not in claims and one.old not in claims]
    found += [Difference(path, NOT_CLAIMED) for path in silent]
    noted = _noted(found)
    return tuple(sorted(noted, key=lambda one: one.path.encode("utf-8", "surrogatepass")))


def normal(path: str, top: str = "") -> str:
    """`path` as git would name it: relative to `top`, without "." and empty parts. A backslash is a letter like others.

    What leads out of the tree stays as it is and is like no path of git's.
    """
    root = top.rstrip("/")
    if root and (path == root or path.startswith(root + "/")):
        inner = path[len(root) :].lstrip("/")
    elif path.startswith("/"):
        return path
    else:
        inner = path
    parts: list[str] = []
    for part in inner.split("/"):
        if part == ".." and not parts:
            return path
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _outcomes(changes: Sequence[Change]) -> Iterator[tuple[str, str]]:
    for one in changes:
        if one.old is not None:
            yield one.old, "renamed away"
    for one in changes:
        yield one.path, one.kind


def _against(words: Sequence[str], became: str | None) -> str:
    """How the claims of one path differ from what became of it, "" when one of them is right."""
    if became is None:
        return NOT_CHANGED
    kinds = [_MEANS.get((word, became), "") for word in words]
    return "" if "" in kinds else kinds[0]


def _noted(found: Sequence[Difference]) -> Iterator[Difference]:
    """The differences, those that are one file to an eye or to another file system with a note."""
    near: dict[str, list[Difference]] = {}
    for one in found:
        near.setdefault(_alike(one.path), []).append(one)
    for one in found:
        other = next(
            (two for two in near[_alike(one.path)] if {one.kind, two.kind} == {NOT_CHANGED, NOT_CLAIMED}), None
        )
        yield one if other is None else one._replace(note=_difference(one.path, other.path))


def _difference(path: str, other: str) -> str:
    by_case = unicodedata.normalize("NFC", path) != unicodedata.normalize("NFC", other)
    return f"differs only by {'case' if by_case else 'Unicode normalization'} from {other}"


def _alike(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
