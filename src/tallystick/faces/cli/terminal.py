"""What the command line says: one JSON document, or text for people whose stored parts cannot act on a terminal.

Answers go to standard output, everything else to standard error. Colour only on a terminal that wants it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Protocol

from tallystick.canonical import Json
from tallystick.ids import escaped

_COLOURS = {"good": "32", "bad": "31", "dim": "2", "strong": "1", "warn": "33", "plain": ""}
BAR = 20


class Stream(Protocol):
    """A text stream with the one question we ask of it."""

    def write(self, text: str, /) -> object: ...
    def flush(self) -> object: ...
    def isatty(self) -> bool: ...


class Undelivered(Exception):  # noqa: N818 - a state of the answer, not a fault of ours
    """The answer could not be written to standard output; what the command did stands."""


class Terminal:
    """Output of one command. `json` chooses the machine's form; `watched`: a person sees it grow."""

    def __init__(self, out: Stream, err: Stream, env: Mapping[str, str], as_json: bool) -> None:
        self._out = out
        self._err = err
        self.json = as_json
        self.watched = out.isatty() and not as_json
        self._colour = out.isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"

    def answer(self, document: Json, lines: Sequence[str]) -> None:
        """The answer, in the one form or the other, flushed: what is printed is acknowledged."""
        if self.json:
            lines = [json.dumps(document, ensure_ascii=False, indent=None if _large(document) else 2)]
        self._put("".join(f"{line}\n" for line in lines))

    def piece(self, text: str) -> None:
        """A piece of a screen that grows while something happens, shown at once; nothing in the machine's form."""
        if not self.json:
            self._put(text)

    def _put(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise Undelivered(error.strerror or str(error)) from error

    def tell(self, line: str, keep: str = "") -> None:
        """One line for a person, beside the answer. Where nobody can be told, the work goes on all the same.

        `keep` is "\\n" for the few texts that have several lines of our own making.
        """
        try:
            self._err.write(escaped(line, keep) + "\n")
        except OSError:
            return

    def progress(self, line: str) -> None:
        """One line that says what is waited for, where a person can see it."""
        if self._err.isatty():
            self.tell(line)

    def paint(self, text: str, colour: str) -> str:
        """`text` in a colour, on a terminal."""
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self._colour and _COLOURS[colour] else text


def _large(document: Json) -> bool:
    """Whether a person will hardly read it: indenting ten thousand rows is slow."""
    return isinstance(document, dict) and any(
        isinstance(value, list) and len(value) > 200 for value in document.values()
    )


def safe(text: str | None, width: int = 0) -> str:
    """Stored text as it may be shown: one line, nothing that acts on the terminal, cut to `width` if that is set."""
    line = escaped(" ".join((text or "").split()))
    if width and len(line) > width:
        line = line[: width - 1] + "…"
    return line


def bar(part: int, whole: int) -> str:
    """A bar of twenty, one mark at least for what is not nothing."""
    filled = 0 if not part else max(1, round(BAR * part / whole))
    return "#" * filled + "." * (BAR - filled)


class _Nowhere:
    """The stream that was closed before we began: it takes everything and is no terminal."""

    def write(self, text: str, /) -> object:
        return len(text)

    def flush(self) -> object:
        return None

    def isatty(self) -> bool:
        return False


def standard(env: Mapping[str, str], as_json: bool) -> Terminal:
    """The terminal of this process. Text goes out as UTF-8 whatever the locale says; a closed stream takes nothing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
    return Terminal(sys.stdout or _Nowhere(), sys.stderr or _Nowhere(), env, as_json)
