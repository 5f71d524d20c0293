"""Journal lines for tests: sealed records of one writer, in commits of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.journal.chain import Chain, Head, Identity
from tallystick.journal.record import FIRST, By, Record, seal

KEY, OTHER_KEY = bytes(range(32)), bytes(32)
STORE, WRITER, FEATURE, FILE = "5" * 32, "a" * 32, "checkout", "/store/journal/checkout/a.jsonl"
AT = "2026-05-21T00:00:00.000Z"

#: Text as people may write it: every character but lone surrogates, which are none.
TEXT = st.text(max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
PAYLOAD = st.dictionaries(TEXT, JSON, max_size=4)
BY = st.builds(By, TEXT, st.none() | TEXT, st.none() | TEXT, st.none() | TEXT)


def record(**changed: Any) -> Record:
    """A record that is not sealed yet."""
    whole = Record(STORE, FEATURE, WRITER, 1, (1, 1), 1, "", FIRST, {}, AT, By("shell"), "noted", {"text": "x"})
    return whole._replace(**changed)


def commits(*sizes: int, key: bytes = KEY, after: Head | None = None, **changed: Any) -> list[bytes]:
    """The lines of commits of these sizes, one chain, each ended by LF; `after` continues an earlier one."""
    i, prev, n = (after.i, after.id, after.n) if after is not None else (0, FIRST, 0)
    lines = []
    for size in sizes:
        for position in range(1, size + 1):
            i, n = i + 1, n + 1
            bare = record(i=i, n=n, place=(position, size), prev=prev, data={"text": f"record {i}"})
            sealed, line = seal(bare._replace(**changed), key)
            prev = sealed.id
            lines.append(line)
    return lines


def resealed(value: dict[str, Json] | bytes, key: bytes | None = KEY) -> bytes:
    """A line with the digest and, where a key is at hand, the MAC that belong to its bytes, whatever they say.

    `value` is an object, or the bytes of one without `id` and `mac`. Without a key the MAC is a guess.
    """
    body = value if isinstance(value, bytes) else canonical.encode({**value})
    digest = canonical.sha256(body)
    mac = canonical.mac(key, "tallystick/record/1", digest) if key is not None else "0" * 64
    start = body.rindex(b',"n":')
    return body[:start] + f',"id":"{digest}","mac":"{mac}"'.encode() + body[start:]


def walked(
    data: bytes | Iterable[bytes], *, key: bytes | None = KEY, head: Head | None = None, version: int = 1
) -> tuple[list[Record], Chain]:
    """The records that a walk over `data` gives out, and the chain afterwards."""
    identity = Identity(STORE, FEATURE, WRITER, FILE, key)
    chain = Chain(identity, head or Head(), canonical.hasher(), version)
    pieces = [data] if isinstance(data, bytes) else data
    return list(chain.walk(pieces)), chain


def places(records: Sequence[Record]) -> list[int]:
    """The places of records in their file."""
    return [one.i for one in records]


class Texts:
    """A fold that keeps the texts it was given, in order."""

    def __init__(self, version: str = "1") -> None:
        self.version = version
        self.applied = 0

    def empty(self, feature: str) -> list[str]:
        del feature
        return []

    def copy(self, state: list[str]) -> list[str]:
        return list(state)

    def flaw(self, record: Record) -> str | None:
        return None if isinstance(record.data.get("text"), str) else "has no text"

    def apply(self, state: list[str], record: Record, ours: bool) -> None:
        del ours
        self.applied += 1
        if record.type == "noted":
            state.append(record.data["text"])

    def dump(self, state: list[str]) -> Json:
        return state

    def load(self, feature: str, data: Json) -> list[str]:
        del feature
        return list(data)
