"""Whom a broken line came from: the id and the method of a message that is not parsed.

A line that is too long, too deep or no JSON at all must still be answered, and an answer without the id of the request
leaves its sender waiting. So the outermost object is read by hand: forwards from its beginning and, because some
clients write the id last, backwards from its end. It is a good guess where the line is no JSON; only the addressee of
an error depends on it, never what is done. Pure.
"""

from __future__ import annotations

import json
import re

from tallystick.mcp.framing import EDGE

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[][{}:,"]|[^][{}:,"\s]+', re.S)
_LAST_PAIRS = re.compile(rb'(?:,\s*"[^"\\]*"\s*:\s*(?:"[^"\\]*"|[^][{}:,"\s]+)\s*)+\}\s*\Z')
_PAIR = re.compile(rb'"([^"\\]*)"\s*:\s*("[^"\\]*"|[^][{}:,"\s]+)')


class Sender:
    """What can be told of a message: `id` is None where it cannot be told, `method` empty."""

    __slots__ = ("id", "method")

    def __init__(self, head: bytes, tail: bytes) -> None:
        found = _from_the_end(tail) | _from_the_beginning(head)
        name = _value(found.get(b"id", b""))
        method = _value(found.get(b"method", b""))
        self.id = name if isinstance(name, (str, int)) and not isinstance(name, bool) else None
        self.method = method if isinstance(method, str) else ""

    @classmethod
    def of_line(cls, line: bytes) -> Sender:
        """The sender of a line that is at hand whole."""
        return cls(line[:EDGE], line[-EDGE:])


def _from_the_beginning(head: bytes) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    depth, key, value_next = 0, b"", False
    for match in _TOKEN.finditer(head):
        token = match.group()
        if token == b'"':  # an unfinished string: what follows is text, not structure
            break
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and token == b",":
            key, value_next = b"", False
        elif depth == 1 and token == b":":
            value_next = True
        elif depth == 1 and value_next:
            found.setdefault(key.strip(b'"'), token)
        elif depth == 1:
            key = token
    return found


def _from_the_end(tail: bytes) -> dict[bytes, bytes]:
    last = _LAST_PAIRS.search(tail)
    return dict(_PAIR.findall(last.group())) if last else {}


def _value(token: bytes) -> object:
    try:
        return json.loads(token)
    except ValueError:
        return None
