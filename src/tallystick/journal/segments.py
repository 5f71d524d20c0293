"""Segments: immutable files in the work tree by which copies of a repository learn of each other's records (D3).

`.tallystick/journal/<feature>/<32 hex digits>.jsonl` begins with a line that says what the segment holds, then come
record lines as they stand in the journal of the store that wrote them, chain by chain. A file is never changed: its
name is the beginning of its digest, so two files never share a name and differ. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.journal.chain import Finding
from tallystick.journal.record import Record, Unreadable, canonical_line, open_line

FORMAT = 1
FOLDER = ".tallystick/journal"
#: Beside them: kept bytes that records name, by digest, as far as they are small.
BLOBS = ".tallystick/blobs"
_NAME = re.compile(r"[0-9a-f]{32}\.jsonl\Z")
_CHAIN = re.compile(r"[0-9a-f]{32}/[0-9a-f]{32}\Z")

#: Chain -> first and last place. A chain is named "<store>/<writer>".
Held = dict[str, tuple[int, int]]


class Segment(NamedTuple):
    """One segment as read: its records in the order of the file, and what is wrong with it."""

    held: Held
    records: tuple[Record, ...]
    findings: tuple[Finding, ...]


def is_segment(name: str) -> bool:
    """Whether a file of that name is a segment; whatever else lies there is none of ours."""
    return bool(_NAME.match(name))


def chain_of(store: str, writer: str) -> str:
    """The name of one writer's chain in one store."""
    return f"{store}/{writer}"


def render(feature: str, held: Mapping[str, tuple[int, int]], lines: Iterable[bytes]) -> tuple[str, bytes]:
    """A segment's name and bytes; `lines` are the record lines, LF included, grouped by chain."""
    places = {chain: list(span) for chain, span in sorted(held.items())}
    head = canonical.encode({"feature": feature, "held": places, "segment": FORMAT})
    data = b"".join((head, b"\n", *lines))
    return _name(data), data


def _name(data: bytes) -> str:
    return f"{canonical.sha256(data)[:32]}.jsonl"


def read_head(data: bytes, feature: str, name: str) -> Held | None:
    """What a segment says it holds, from its first line; None where that line is none of ours, or a newer one's."""
    try:
        head = canonical.parse(data.partition(b"\n")[0], name)
    except Refusal:
        return None
    if not isinstance(head, dict) or head.get("segment") != FORMAT or head.get("feature") != feature:
        return None
    held = head.get("held")
    if not isinstance(held, dict):
        return None
    found: Held = {}
    for chain, places in held.items():
        if not _CHAIN.match(chain) or not isinstance(places, list) or len(places) != 2:
            return None
        first, last = places
        if type(first) is not int or type(last) is not int or not 0 < first <= last:
            return None
        found[chain] = (first, last)
    return found


def read(data: bytes, feature: str, name: str, path: str) -> Segment:
    """Every good record of a segment. What is wrong is named by line and never stops the rest.

    A seal is not looked at: whatever a segment holds is not ours, even where this user's key made it (D6).
    """
    held = read_head(data, feature, name)
    findings = []
    if held is None:
        findings.append(_finding(path, 1, "is no head of a segment that this version reads"))
    elif _name(data) != name:
        findings.append(_finding(path, 1, "does not have the bytes of its name: it was changed"))
    records: list[Record] = []
    lines = data.split(b"\n")
    if lines[-1]:
        findings.append(_finding(path, len(lines), "the segment ends in the middle of a line"))
    for number, line in enumerate(lines[1:-1], 2):
        opened = open_line(line)
        if isinstance(opened, Unreadable):
            findings.append(_finding(path, number, opened.says))
            continue
        record, _ = opened
        if record.feature != feature:
            findings.append(_finding(path, number, "belongs to another feature: a copied record counts for nothing"))
        elif not _CHAIN.match(chain_of(record.store, record.writer)):
            findings.append(_finding(path, number, "names no store or writer of ours"))
        elif not canonical_line(line):
            findings.append(_finding(path, number, "is not canonical JSON: no Tallystick wrote it"))
        else:
            records.append(record)
    return Segment(held or {}, tuple(records), tuple(findings[:5]))


def _finding(path: str, line: int, says: str) -> Finding:
    mark = f"{path}:{line}:{says}"
    return Finding("segment.damaged", f"{path}:{line} {says}", path, line, grave=False, mark=mark)
