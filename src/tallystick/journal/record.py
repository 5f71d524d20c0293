"""One record: a line of canonical JSON that names its place, its predecessor and its maker (formats 5).

Pure. `id` is SHA-256 over the canonical record without `id`, `mac` and `sig`; `mac` is HMAC-SHA256 over the id with
the maker's key; a record may carry `sig`, a later signature over the id. Since the keys are sorted, `id` and `mac`
stand side by side, so a record is checked by cutting that slice out of the very bytes of its line: what was hashed
is what is read, and nothing is encoded again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.limits import COUNTER, RECORD_LINE

#: The format this version writes. An older version refuses to write a store that holds a newer one (P17).
FORMAT = 1
MAC_PURPOSE = "tallystick/record/1"

_ID_MARK = b',"id":"'
_MAC_MARK = b'","mac":"'
_SLICE = len(_ID_MARK) + 64 + len(_MAC_MARK) + 64 + 1  # and the closing quote
_KEYS = frozenset(("at", "by", "c", "data", "feature", "i", "id", "mac", "n", "prev", "seen", "store", "type", "v"))
_ALL_KEYS = _KEYS | {"writer"}
FIRST = "0" * 64
_decode = json.JSONDecoder().decode


class By(NamedTuple):
    """Who did it, as far as that is known: a role of ours, the agent, the client program, its session."""

    role: str
    agent: str | None = None
    client: str | None = None
    session: str | None = None


class Event(NamedTuple):
    """What a subject wants recorded: a type name and its payload, any JSON object."""

    type: str
    data: dict[str, Json]


class Record(NamedTuple):
    """One record as read. `place` is (position, count) within its commit; `n` the feature's Lamport counter."""

    store: str
    feature: str
    writer: str
    i: int
    place: tuple[int, int]
    n: int
    id: str
    prev: str
    seen: dict[str, str]
    at: str
    by: By
    type: str
    data: dict[str, Json]


class Origin(NamedTuple):
    """What the next record follows: the last one of its own chain (`i`, `prev`), the feature's counter `n`, and other
    writers' heads that changed since."""

    store: str
    feature: str
    writer: str
    i: int
    prev: str
    n: int
    seen: dict[str, str]


class Unreadable(NamedTuple):
    """Why a line is no record. `blank_of_json`: it is no JSON object at all, as the torn end of a file is."""

    says: str
    blank_of_json: bool
    newer: bool = False


def seal_events(
    origin: Origin, by: By, now: str, events: Sequence[Event], key: bytes, version: int = FORMAT
) -> list[tuple[Record, bytes]]:
    """One commit: each event as a sealed record and its line, chained behind `origin`.

    Raises `Refusal` "input.too_large" for a record longer than a line may be, and when the counter is used up.
    """
    i, n, prev, seen = origin.i, origin.n, origin.prev, origin.seen
    if n + len(events) > COUNTER:
        raise Refusal("input.too_large", f"the counter of {origin.feature} is used up", "use another feature id")
    sealed: list[tuple[Record, bytes]] = []
    for position, (kind, data) in enumerate(events, 1):
        i, n = i + 1, n + 1
        place = (position, len(events))
        blank = Record(origin.store, origin.feature, origin.writer, i, place, n, "", prev, seen, now, by, kind, data)
        record, line = seal(blank, key, version)
        if len(line) > RECORD_LINE:
            raise Refusal(
                "input.too_large",
                f"one record would have {len(line):,} bytes, the limit is {RECORD_LINE:,}",
                "cite fewer or smaller things at once",
            )
        sealed.append((record, line))
        prev, seen = record.id, {}
    return sealed


def seal(record: Record, key: bytes, version: int = FORMAT) -> tuple[Record, bytes]:
    """The record with its id filled in, and its line (LF included), sealed with `key`.

    The frame is written out in the order of its sorted keys, since all of it is plain ASCII of our own making; that
    the whole is canonical JSON is a property test.
    """
    store, feature, writer, i, (position, count), n, _, prev, seen, at, by, kind, data = record
    head = (
        f'{{"at":"{at}","by":{_maker(by)},"c":[{position},{count}],"data":{canonical.text(data)},'
        f'"feature":"{feature}","i":{i}'
    )
    heads = canonical.text(seen) if seen else "{}"
    tail = (
        f'"n":{n},"prev":"{prev}","seen":{heads},"store":"{store}","type":"{kind}","v":{version},"writer":"{writer}"}}'
    )
    digest = canonical.sha256(f"{head},{tail}".encode())
    line = f'{head},"id":"{digest}","mac":"{canonical.mac(key, MAC_PURPOSE, digest)}",{tail}\n'
    sealed = Record(store, feature, writer, i, record.place, n, digest, prev, seen, at, by, kind, data)
    return sealed, line.encode()


@lru_cache(maxsize=16)
def _maker(by: By) -> str:
    return canonical.text(by._asdict())


def open_line(line: bytes, version: int = FORMAT) -> tuple[Record, str] | Unreadable:
    """The record of one line (without its LF) and its MAC, or why it is none. The MAC is not checked here."""
    try:
        value = _decode(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return Unreadable("is no JSON", True)
    if not isinstance(value, dict):
        return Unreadable("is no JSON object", True)
    newer = value.get("v")
    if type(newer) is int and newer > version:
        return Unreadable(f"has format {newer}, this version reads {version}", False, newer=True)
    if b"\\u" in line and not _sayable(value):
        return Unreadable("holds a lone surrogate, which is no character", False)
    if not value.keys() >= _ALL_KEYS:
        missing = ", ".join(sorted(_ALL_KEYS - value.keys()))
        return Unreadable(f"lacks {missing}", False)
    if _digest(line, value) != value["id"]:
        return Unreadable("does not have the digest it names: its bytes were changed", False)
    try:
        return _typed(value)
    except (TypeError, ValueError, KeyError):
        return Unreadable("has a field of a wrong type", False)


def authentic(record: Record, mac: str, key: bytes) -> bool:
    """Whether `mac` is the one that `key` gives this record."""
    return canonical.same(canonical.mac(key, MAC_PURPOSE, record.id), mac)


def canonical_line(line: bytes) -> bool:
    """Whether a line that reads as JSON is the canonical form of what it says: no key twice, no other spelling.

    To be asked of lines whose MAC nobody here can check; a line with our own seal was made canonical.
    """
    try:
        return canonical.encode(json.loads(line)) == line
    except (ValueError, RecursionError):
        return False


def _sayable(value: Json) -> bool:
    try:
        canonical.encode(value)
    except (ValueError, RecursionError):
        return False
    return True


def _digest(line: bytes, value: Mapping[str, Json]) -> str:
    """The digest over the line without id, mac and sig, from the bytes as they stand."""
    if value.keys() == _ALL_KEYS:
        at = line.rfind(_ID_MARK)
        middle = at + len(_ID_MARK) + 64
        if at > 0 and line[middle : middle + len(_MAC_MARK)] == _MAC_MARK:
            return canonical.sha256(line[:at] + line[at + _SLICE :])
        return ""
    rest = {key: item for key, item in value.items() if key not in ("id", "mac", "sig")}
    try:
        if canonical.encode(value) != line:
            return ""
        return canonical.sha256(canonical.encode(rest))
    except ValueError:
        return ""


def _typed(value: Mapping[str, Json]) -> tuple[Record, str]:
    by, (position, count) = value["by"], value["c"]
    record = Record(
        value["store"],
        value["feature"],
        value["writer"],
        value["i"],
        (position, count),
        value["n"],
        value["id"],
        value["prev"],
        value["seen"],
        value["at"],
        By(by["role"], by.get("agent"), by.get("client"), by.get("session")),
        value["type"],
        value["data"],
    )
    texts = (record.store, record.feature, record.writer, record.prev, record.at, record.by.role, record.type)
    if set(map(type, (*texts, value["mac"]))) != {str}:
        raise TypeError
    if type(record.data) is not dict or type(record.seen) is not dict:
        raise TypeError
    numbers = (record.i, record.n, position, count)
    if set(map(type, numbers)) != {int} or min(numbers) <= 0 or max(numbers) > COUNTER or position > count:
        raise ValueError
    return record, value["mac"]
