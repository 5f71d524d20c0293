"""Which of the files that appeared is which of those that are gone: by content, then by likeness as git measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallystick.errors import Refusal
from tallystick.limits import INPUT_FILE
from tallystick.system.durable import read_file
from tallystick.system.listing import Entry, Listing, is_file, kind_of
from tallystick.system.similarity import comparable, last, pairs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tallystick.system.files import Files

#: Files that were renamed and edited are looked for in at most so many pairs, and in so many bytes on either side;
#: beyond that they stay what they also are, one deleted and one created.
PAIRS, BYTES = 10_000, 2 * INPUT_FILE


def renames(
    files: Files, top: str, listing: Listing, gone: Mapping[str, Entry], made: Mapping[str, Entry]
) -> dict[str, str]:
    """New name to old name. `gone` is as it was, `made` as it is now; each is used once."""
    if not gone or not made:
        return {}
    found = _same(gone, made)
    taken = set(found.values())
    left = {path: one.id for path, one in gone.items() if path not in taken and is_file(one.mode)}
    new = [path for path, one in made.items() if path not in found and is_file(one.mode)]
    if 0 < len(left) * len(new) <= PAIRS:
        blobs = listing.blobs(sorted(set(left.values())))
        old = {path: blobs[one] for path, one in left.items() if one in blobs}
        found |= pairs(old, _contents(files, top, new, [len(data) for data in old.values()]))
    return found


def _same(gone: Mapping[str, Entry], made: Mapping[str, Entry]) -> dict[str, str]:
    """Pairs of one content and one kind, a file of the same name in another folder first."""
    by_content: dict[tuple[str, str], list[str]] = {}
    for path, one in gone.items():
        by_content.setdefault((kind_of(one.mode), one.id), []).append(path)
    found: dict[str, str] = {}
    for by_name in (True, False):
        for path, one in made.items():
            olds = by_content.get((kind_of(one.mode), one.id), [])
            fitting = [old for old in olds if not by_name or last(old) == last(path)]
            if path not in found and fitting:
                found[path] = fitting[0]
                olds.remove(fitting[0])
    return found


def _contents(files: Files, top: str, paths: Sequence[str], sizes: Sequence[int]) -> dict[str, bytes]:
    """The bytes of the files that are about as large as one of `sizes`, as many as fit into `BYTES`.

    What cannot be read is left out.
    """
    found: dict[str, bytes] = {}
    room = BYTES
    for path in paths:
        try:
            size = files.lstat(f"{top}/{path}").st_size
            data = read_file(files, f"{top}/{path}", room) if any(comparable(size, one) for one in sizes) else None
        except (OSError, Refusal):
            continue
        if data:
            found[path] = data
            room -= len(data)
    return found
