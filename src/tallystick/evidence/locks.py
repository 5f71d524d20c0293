"""Lock sets as they are kept, and the state of a copy of the tree as a lock set is made from it."""

from __future__ import annotations

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.evidence.lockset import KINDS, Lock, LockSet, State
from tallystick.evidence.relevant import counts
from tallystick.journal.blobs import Blobs
from tallystick.limits import CITED_FILE
from tallystick.system.durable import read_file
from tallystick.system.files import Files
from tallystick.system.listing import LINK, SUBMODULE
from tallystick.system.trees import Rows


def state_of_copy(files: Files, rows: Rows, copy: str) -> State:
    """What lies in a copy of a tree, in the folder `copy`, where nothing has run yet: each file is read once."""
    known: dict[str, bytes | None] = {}

    def read(name: str) -> bytes | None:
        if name not in known:
            try:
                known[name] = read_file(files, f"{copy}/{name}", CITED_FILE, within=copy)
            except Refusal:
                known[name] = None
        return known[name]

    names = frozenset(name for name, row in rows.items() if row.mode not in (LINK, SUBMODULE))
    return State(names, frozenset(name for name, row in rows.items() if row.mode == LINK), read)


def state_digest(rows: Rows) -> str:
    """One word for all that lies in a tree but what we and the clients write there: the same word, the same state."""
    kept = [[written(name), *row] for name, row in sorted(rows.items()) if counts(name)]
    return canonical.sha256(canonical.encode(kept))


def keep(blobs: Blobs, found: LockSet) -> str:
    """The name of a lock set that is kept; durable when it returns. Equal ones have one name."""
    locks: list[Json] = [[one.kind, written(one.path), one.digest, one.part] for one in found.locks]
    return blobs.keep(canonical.encode({"locks": locks, "known": [written(name) for name in found.known]}))


def load(blobs: Blobs, name: str) -> LockSet | None:
    """The lock set of that name, also one that another copy of the repository left; None where it is not here."""
    data = blobs.find(name)
    if data is None:
        return None
    try:
        value = canonical.parse(data, "a lock set")
        locks = tuple(Lock(kind, name_of(path), digest, part) for kind, path, digest, part in value["locks"])
        found = LockSet(locks, tuple(map(name_of, value["known"])))
    except (Refusal, ValueError, TypeError, LookupError):  # bytes of somebody else's that only have that digest
        return None
    return found if type(value["known"]) is list and all(map(_is_sound, locks)) else None


def _is_sound(lock: Lock) -> bool:
    """Whether a row is a lock: of a kind that there is, all of it text."""
    return lock.kind in KINDS and type(lock.digest) is str and type(lock.part) is str


def written(name: str) -> str | list[str]:
    """A name as JSON can say it: one with bytes that are no UTF-8 as hexadecimal digits in a list."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return [name.encode("utf-8", "surrogateescape").hex()]
    return name


def name_of(said: str | list[str]) -> str:
    """The name that `written` wrote."""
    return said if isinstance(said, str) else bytes.fromhex(said[0]).decode("utf-8", "surrogateescape")
