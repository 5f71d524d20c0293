"""A checkpoint: the folded state with the digest of the very journal bytes it stands for, sealed with the key.

It is only a short cut. Whoever reads it checks seal and digests; anything amiss and it is as if it were not there.
Encoding is pure; the two functions at the end read and write the file.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.journal.chain import Head
from tallystick.limits import JOURNAL_FILE
from tallystick.system.durable import make_folders, read_file, replace_file
from tallystick.system.files import Files

VERSION = 1
_PURPOSE = "tallystick/checkpoint/1"


class Part(NamedTuple):
    """One writer's file as far as the state holds it: its head and the digest of the bytes up to there."""

    head: Head
    digest: str


class Checkpoint(NamedTuple):
    """`last` is the (n, writer) of the record folded last, `told` what the own file said of other writers' heads."""

    store: str
    feature: str
    fold: str
    parts: dict[str, Part]
    last: tuple[int, str]
    told: dict[str, str]
    state: Json


def encode(checkpoint: Checkpoint, key: bytes) -> bytes:
    """The file's bytes: one line with the seal, then the body."""
    body = json.dumps([VERSION, *checkpoint], ensure_ascii=False, separators=(",", ":"), check_circular=False).encode()
    seal = canonical.mac(key, _PURPOSE, canonical.sha256(body))
    return seal.encode() + b"\n" + body


def decode(data: bytes, key: bytes) -> Checkpoint | None:
    """The checkpoint, None unless seal and shape are right."""
    seal, _, body = data.partition(b"\n")
    if not canonical.same(canonical.mac(key, _PURPOSE, canonical.sha256(body)), seal.decode("ascii", "replace")):
        return None
    try:
        version, store, feature, fold, parts, last, told, state = json.loads(body)
    except ValueError:
        return None
    if version != VERSION:
        return None
    read = {writer: Part(Head(*head), digest) for writer, (head, digest) in parts.items()}
    return Checkpoint(store, feature, fold, read, (last[0], last[1]), told, state)


def load(files: Files, path: str, key: bytes) -> Checkpoint | None:
    """The checkpoint at `path`, None when there is none that can be used."""
    try:
        data = read_file(files, path, JOURNAL_FILE)
    except Refusal:
        return None
    return None if data is None else decode(data, key)


def save(files: Files, path: str, checkpoint: Checkpoint, key: bytes, beside: str) -> None:
    """Put the checkpoint in place. It can be made again at any time, so it is not synced."""
    make_folders(files, path.rpartition("/")[0])
    replace_file(files, path, encode(checkpoint, key), sync=False, beside=beside)
