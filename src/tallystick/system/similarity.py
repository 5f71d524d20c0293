"""How much of one file lives on in another, by git's own measure, so that both call the same things renamed. Pure.

A file is cut into pieces: lines, and what is longer after every 64 bytes. Two files are as similar as the bytes of
the pieces they share are many, against the larger of them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: From here on git calls a file renamed.
ENOUGH = 0.5
_PIECE = re.compile(rb"[^\n]{0,63}\n|[^\n]{1,64}")
_LOOKED_AT = 8000  # git takes a file for text when its first bytes, so many, hold no NUL


def is_text(data: bytes) -> bool:
    """Whether git would take it for text."""
    return b"\0" not in data[:_LOOKED_AT]


def pieces(data: bytes) -> Counter[bytes]:
    """How many bytes of the file each of its pieces makes up. In text, CR LF is the same as LF."""
    if is_text(data):
        data = data.replace(b"\r\n", b"\n")
    found = Counter(_PIECE.findall(data))
    for piece in found:
        found[piece] *= len(piece)
    return found


def similarity(old: Counter[bytes], new: Counter[bytes], larger: int) -> float:
    """The share, 0 to 1, of the larger file (its size in bytes) that both are made of."""
    return sum(min(old[piece], new[piece]) for piece in old.keys() & new.keys()) / larger if larger else 0.0


def pairs(gone: Mapping[str, bytes], made: Mapping[str, bytes]) -> dict[str, str]:
    """Which of the files that were made is which of those that are gone: new name to old name, the best match first.

    Each is used once. An empty file is like no other.
    """
    cut = {path: pieces(data) for path, data in gone.items()}
    found = []
    for path, data in made.items():
        new = pieces(data)
        for old, before in gone.items():
            if not comparable(len(before), len(data)):
                continue
            score = similarity(cut[old], new, max(len(before), len(data)))
            if score >= ENOUGH:
                found.append((-score, last(old) != last(path), path, old))
    result: dict[str, str] = {}
    taken: set[str] = set()
    for _, _, path, old in sorted(found):
        if path not in result and old not in taken:
            result[path] = old
            taken.add(old)
    return result


def comparable(one: int, other: int) -> bool:
    """Whether files of these sizes can be similar at all."""
    return min(one, other) >= ENOUGH * max(one, other)


def last(path: str) -> str:
    """The last part of a path, the name of the file itself."""
    return path.rpartition("/")[2]
