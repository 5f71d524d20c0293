"""Output that is kept within bounds: all of it is counted and digested, its beginning and its end stay."""

from __future__ import annotations

from tallystick.canonical import hasher

_CHARACTER = 4  # the most bytes of one character in UTF-8


class Kept:
    """A stream of bytes of which at most `keep` stay in memory (and again as much while it comes in)."""

    __slots__ = ("_half", "_hash", "_head", "_tail", "total")

    def __init__(self, keep: int) -> None:
        self._half = max(keep // 2, _CHARACTER)
        self._head = bytearray()
        self._tail = bytearray()
        self._hash = hasher()
        self.total = 0

    def add(self, chunk: bytes) -> None:
        """Take the next bytes of the stream."""
        self.total += len(chunk)
        self._hash.update(chunk)
        room = self._half - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        if len(self._tail) > 2 * self._half:
            del self._tail[: -self._half]

    @property
    def digest(self) -> str:
        """SHA-256 over every byte of the stream so far."""
        return self._hash.hexdigest()

    def kept(self) -> bytes:
        """The stream whole, or its beginning and its end, both cut between characters, around a line that counts."""
        if self.total <= 2 * self._half:
            return bytes(self._head + self._tail)
        head = whole_characters(bytes(self._head))
        tail = _from_a_character(bytes(self._tail[-self._half :]))
        out = self.total - len(head) - len(tail)
        return b"%s\n[%d bytes left out here]\n%s" % (head, out, tail)


def whole_characters(data: bytes) -> bytes:
    """`data` without the first bytes of a character that its end cuts in two; other bytes stay as they are."""
    for back in range(1, min(_CHARACTER, len(data) + 1)):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            width = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if width > back else data
    return data


def _from_a_character(data: bytes) -> bytes:
    for start, byte in enumerate(data[: _CHARACTER - 1]):
        if byte & 0xC0 != 0x80:
            return data[start:]
    return data[_CHARACTER - 1 :]
