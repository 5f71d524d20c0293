"""What lies in a feature's folder, name by name: an output that is recorded, one that is not yet, or what is wrong.

Reads only. Each name costs at most one file of the size limit, and none where its stat is the one that was seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.handoff.folder import Folder, place_of
from tallystick.handoff.output.header import SLUG, read_name
from tallystick.handoff.output.intake import of_file
from tallystick.handoff.output.model import Kept
from tallystick.handoff.output.schemas import Mistake
from tallystick.handoff.output.sightings import Identity, Sightings
from tallystick.ids import escaped

#: What lies in the folder and is the manifest's or the board's.
OTHERS = frozenset(("MANIFEST.yaml", "MANIFEST.yml", "jonggrang-tasks.json"))


class Lying(NamedTuple):
    """One file as it lies there. `digest` is over its raw bytes, "" where they could not be read.

    One of two is set where it was read: `kept` for a valid output, `reasons` for what is none. Neither: a file whose
    bytes are known, or one that was gone when it was to be read.
    """

    name: str
    identity: Identity | None = None
    digest: str = ""
    kept: Kept | None = None
    reasons: tuple[Mistake, ...] = ()


def candidates(names: Iterable[str]) -> list[str]:
    """The names that may be outputs: all but dot files, manifest and board."""
    return [name for name in names if name not in OTHERS and not name.startswith(".")]


def told_name(name: str) -> str:
    """A file's name as answers show it: one line, printable, bytes that are no UTF-8 as \\xNN, and no two the same."""
    plain = name.replace("\\", "\\\\")
    return escaped("".join(f"\\x{ord(one) - 0xDC00:02x}" if "\udc80" <= one <= "\udcff" else one for one in plain))


def look(folder: Folder, feature: str, name: str, sightings: Sightings, known: frozenset[str]) -> Lying:
    """What lies there under `name`; `known` are the digests that are recorded for it. Notes what was seen."""
    if read_name(name) is None:
        says = f"is no name of an output, such as 08-developer-{SLUG}.json"
        return Lying(name, folder.stat(name), reasons=(Mistake("file", says),))
    identity = folder.stat(name)
    seen = sightings.at_rest(name, identity) if identity is not None else None
    if seen is not None and seen.digest in known:
        return Lying(name, identity, seen.digest)
    try:
        data = folder.read(name)
    except Refusal as refusal:
        says = refusal.message.replace(f"{folder.path}/", "")
        return Lying(name, identity, reasons=(Mistake("file", says),))
    if data is None:
        if folder.is_free(name):
            return Lying(name)
        return Lying(name, reasons=(Mistake("file", "is a link that leads nowhere"),))
    if identity is None or folder.stat(name) != identity:
        return Lying(name, identity, reasons=(Mistake("file", "changed while it was read; look again"),))
    digest = canonical.sha256(data)
    if digest in known:
        sightings.note(name, identity, digest, False)
        return Lying(name, identity, digest)
    found = of_file(data, name, feature)
    if isinstance(found, Kept):
        return Lying(name, identity, digest, found)
    sightings.note(name, identity, digest, True)
    return Lying(name, identity, digest, reasons=tuple(found))


def path_of(feature: str, name: str) -> str:
    """The file's path from the project's top, as a message shows it."""
    return f"{place_of(feature)}/{told_name(name)}"
