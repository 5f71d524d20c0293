"""Canonical JSON, strict JSON and digests: the only place that hashes, signs or parses JSON that came from outside.

Canonical form: UTF-8, keys sorted by code point, no blanks, only the escapes JSON demands, integers within 2^53.
Strict reading refuses what another reader could understand differently: duplicate keys, NaN and infinities, lone
surrogates, nesting deeper than the limit (measured before parsing, so that nothing recurses).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]
from typing import Any, Protocol

from tallystick.errors import Refusal, Where
from tallystick.limits import NESTING

Json = Any

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
#: `JSONEncoder.encode` makes the same C encoder anew for each call; made once, it costs half.
_ENCODE = (
    None
    if c_make_encoder is None
    else c_make_encoder(None, _ENCODER.default, encode_basestring, None, ":", ",", True, False, False)
)
#: Possessive, and a string needs no end: whatever the bytes are, each is looked at once.
_STRUCTURE = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.S)
_quoted = encode_basestring


def encode(value: Json) -> bytes:
    """`value` as canonical JSON bytes. Raises `ValueError` for what JSON cannot say (NaN, lone surrogates)."""
    return text(value).encode("utf-8")


def text(value: Json) -> str:
    """`value` as canonical JSON text; a lone surrogate in it shows only when it is encoded."""
    return _ENCODER.encode(value) if _ENCODE is None else "".join(_ENCODE(value, 0))


def quoted(text: str) -> str:
    """One JSON string, as canonical JSON writes it."""
    return _quoted(text)


def sha256(data: bytes) -> str:
    """The digest everything here is named by: SHA-256 over raw bytes, lower-case hex."""
    return hashlib.sha256(data).hexdigest()


class Hash(Protocol):
    """A running digest."""

    def update(self, data: bytes, /) -> None: ...
    def copy(self) -> Hash: ...
    def hexdigest(self) -> str: ...


def hasher() -> Hash:
    """A running SHA-256, for what is read in pieces."""
    return hashlib.sha256()


def git_object(kind: str, data: bytes, length: int) -> str:
    """The id git gives an object of these bytes: SHA-1 where ids have `length` 40, SHA-256 where they have 64."""
    running = git_hasher(kind, len(data), length)
    running.update(data)
    return running.hexdigest()


def git_hasher(kind: str, size: int, length: int) -> Hash:
    """The same for an object of `size` bytes that is read in pieces."""
    head = f"{kind} {size}\0".encode()
    return hashlib.sha256(head) if length == 64 else hashlib.sha1(head, usedforsecurity=False)


def mac(key: bytes, purpose: str, text: str) -> str:
    """HMAC-SHA256 of `purpose` LF `text` (formats 5), hex. `purpose` keeps one use of the key apart from another.

    `text` may hold what stands for the bytes of a path that is no UTF-8.
    """
    return hmac.digest(key, f"{purpose}\n{text}".encode("utf-8", "surrogatepass"), "sha256").hex()


def same(left: str, right: str) -> bool:
    """Whether two MACs are equal, in constant time."""
    return hmac.compare_digest(left.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass"))


def deeper(data: bytes, most: int) -> bool:
    """Whether the brackets of `data` nest deeper than `most`, told without parsing and without recursion."""
    current = 0
    for match in _STRUCTURE.finditer(data):
        mark = match.group()[:1]
        if mark in b"[{":
            current += 1
            if current > most:
                return True
        elif mark in b"]}":
            current -= 1
    return False


def parse(data: bytes, file: str) -> Json:
    """Strict JSON out of `data` (BOM and CRLF are fine); `file` names it in messages.

    Raises `Refusal` "input.invalid" with file, line and reason; never returns something empty in place of damage.
    """
    raw = data[3:] if data.startswith(b"\xef\xbb\xbf") else data
    try:
        decoded = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(file, "is not UTF-8", offset=error.start) from None
    if raw.count(b"[") + raw.count(b"{") > NESTING and deeper(raw, NESTING):
        raise _invalid(file, f"nests deeper than {NESTING} levels")
    try:
        value = json.loads(decoded, object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise _invalid(file, f"is not JSON: {error.msg}", line=error.lineno) from None
    except RecursionError:
        raise _invalid(file, f"nests deeper than {NESTING} levels") from None
    except ValueError as error:
        raise _invalid(file, str(error)) from None
    if "\\u" in decoded:
        try:
            _ENCODER.encode(value).encode("utf-8")
        except UnicodeEncodeError:
            raise _invalid(file, "holds a lone surrogate, which is no character") from None
    return value


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"has the key {_quoted(key[:60])} twice in one object")
            seen.add(key)
    return found


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"holds the number {text[:30]}, which is too large")
    return number


def _no_constant(name: str) -> Json:
    raise ValueError(f"holds {name}, which is not JSON")


def _invalid(file: str, reason: str, line: int | None = None, offset: int | None = None) -> Refusal:
    where = Where(file, line, offset)
    return Refusal("input.invalid", f"{where} {reason}; nothing was changed", "mend the file and try again", where)
