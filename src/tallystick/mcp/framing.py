"""Lines out of chunks: one message a line, however the bytes arrive, and never more of a line kept than the limit.

A line over the limit is dropped while it comes in. Of such a line its first and last bytes stay, so that the sender can
be told which of its requests it was (`fragments.py`). Pure.
"""

from __future__ import annotations

from typing import NamedTuple

from tallystick.limits import MCP_LINE

#: Bytes kept from either end of a line that is too long.
EDGE = 4096


class Line(NamedTuple):
    """A whole line without its end."""

    data: bytes


class Oversized(NamedTuple):
    """A line of `size` bytes that was dropped; `head` and `tail` are its edges."""

    head: bytes
    tail: bytes
    size: int


class LineReader:
    """Cuts a stream into lines at LF. Holds at most `limit` bytes of an unfinished line."""

    __slots__ = ("_buffer", "_head", "_limit", "_size")

    def __init__(self, limit: int = MCP_LINE) -> None:
        self._limit = limit
        self._buffer = bytearray()  # the unfinished line, or only its last bytes once it is too long
        self._head = b""
        self._size = 0

    def feed(self, data: bytes) -> list[Line | Oversized]:
        """Takes what arrived and gives back the lines that ended in it."""
        *ended, rest = data.split(b"\n")
        lines = []
        for piece in ended:
            self._take(piece)
            lines.append(self._cut())
        self._take(rest)
        return lines

    def end(self) -> list[Line | Oversized]:
        """What is left at the end of the stream: a last line without LF, if there is one."""
        return [self._cut()] if self._size else []

    def _take(self, piece: bytes) -> None:
        self._size += len(piece)
        self._buffer += piece
        if self._size > self._limit:
            # The head grows until it is whole, however the bytes arrive: of a short limit it may come in pieces.
            self._head = self._head + piece[: EDGE - len(self._head)] if self._head else bytes(self._buffer[:EDGE])
            del self._buffer[:-EDGE]

    def _cut(self) -> Line | Oversized:
        data, size, head = bytes(self._buffer), self._size, self._head
        self._buffer, self._size, self._head = bytearray(), 0, b""
        return Line(data) if size <= self._limit else Oversized(head, data, size)
