"""YAML in and out: read strictly through PyYAML's events, written by a small writer of our own.

Read are the scalars of YAML 1.2's core schema, so `10:00`, `no`, `yes` and dates stay text. Refused with their line is
what two readers could understand differently or what builds more than it says: aliases, anchors, tags, merge keys,
duplicate keys, several documents, deep nesting. Every text that YAML 1.1 or 1.2 would take for something else is
written in quotes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from tallystick.canonical import Json
from tallystick.errors import Refusal, Where
from tallystick.ids import BIDI, shown
from tallystick.limits import INPUT_FILE, NESTING

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE, _FALSE = frozenset(("true", "True", "TRUE")), frozenset(("false", "False", "FALSE"))
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_OTHER_BASE = re.compile(r"0o([0-7]+)\Z|0x([0-9a-fA-F]+)\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
#: Python reads no longer integer out of text.
_DIGITS = 4_000

#: Text that stays as it is without quotes, in every version of YAML, unless it is one of the words below.
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./@+()-]*(?: [A-Za-z0-9_./@+()-]+)*\Z")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_ESCAPED = re.compile(f'["\\\\\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufffe\uffff{"".join(sorted(BIDI))}]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
#: A key of one line may have 1,024 characters at most; a longer one is announced by a question mark.
_KEY = 1_000


def read_yaml(data: bytes, file: str, loader: type[Any] | None = None) -> Json:
    """The one document in `data` as JSON would hold it, with text keys as they are written; `file` names it.

    None for an empty text. `loader` is PyYAML's class, the fastest there is if none is named. Raises `Refusal`:
    "input.invalid" with file and line, "input.too_large", "yaml.missing" where PyYAML is not installed.
    """
    if len(data) > INPUT_FILE:
        raise Refusal(
            "input.too_large", f"{file} has {len(data):,} bytes, the limit is {INPUT_FILE:,}", "name a smaller file"
        )
    raw = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _invalid(file, "is not UTF-8", raw.count(b"\n", 0, error.start) + 1) from None
    yaml = _library(file)
    builder = _Builder(file)
    try:
        for event in yaml.parse(text, Loader=loader or getattr(yaml, "CBaseLoader", yaml.BaseLoader)):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = error.problem or error.context or "cannot be taken apart"
        raise _invalid(file, f"is not YAML: {said}", mark.line + 1 if mark else None) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _invalid(file, f"holds U+{_code(error.character):04X}, which YAML does not allow", line) from None
    return builder.value


def _library(file: str) -> Any:
    try:
        import yaml  # late: only what others wrote is read with it
    except ImportError:
        raise Refusal(
            "yaml.missing",
            f"{file} is YAML, and PyYAML, which reads it, is not installed here",
            "python3 -m pip install pyyaml",
            Where(file),
        ) from None
    return yaml


def _code(character: object) -> int:
    return character if isinstance(character, int) else ord(str(character)[:1] or "\0")


class _Builder:
    """Builds one value from events; what is open is a list, so that no depth recurses."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._documents = 0
        self._open: list[_Open] = []
        self.value: Json = None

    def take(self, event: Any) -> None:
        """One event of the parser."""
        kind = type(event).__name__
        line = event.start_mark.line + 1 if event.start_mark else 1
        if kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                raise _invalid(self._file, "holds more than one document", line)
        elif kind == "AliasEvent":
            raise _invalid(self._file, f"holds the alias *{event.anchor[:40]}, which is not followed", line)
        elif kind in ("ScalarEvent", "MappingStartEvent", "SequenceStartEvent"):
            self._guard(event, line)
            if kind == "ScalarEvent":
                self._put(event.value, event.implicit[0], line)
            else:
                self._begin({} if kind == "MappingStartEvent" else [], line)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._add(self._open.pop().value)

    def _guard(self, event: Any, line: int) -> None:
        if event.anchor is not None:
            raise _invalid(self._file, f"holds the anchor &{event.anchor[:40]}; write the value out", line)
        if event.tag is not None:
            raise _invalid(self._file, f"holds the tag {shown(event.tag)}; only plain values are read", line)

    def _begin(self, value: Json, line: int) -> None:
        if self._wants_key():
            raise _invalid(self._file, "has a key that is no text", line)
        if len(self._open) == NESTING:
            raise _invalid(self._file, f"nests deeper than {NESTING} levels", line)
        self._open.append(_Open(value))

    def _put(self, text: str, plain: bool, line: int) -> None:
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise _invalid(self._file, "holds a lone surrogate, which is no character", line)
        if not self._wants_key():
            self._add(_scalar(text, self._file, line) if plain else text)
            return
        if plain and text == "<<":
            raise _invalid(self._file, "has a merge key (<<); write the values out", line)
        if text in self._open[-1].value:
            raise _invalid(self._file, f"has the key {shown(text)} twice in one mapping", line)
        self._open[-1].key = text

    def _wants_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].key is None

    def _add(self, value: Json) -> None:
        if not self._open:
            self.value = value
            return
        at = self._open[-1]
        if isinstance(at.value, dict):
            at.value[at.key] = value
            at.key = None
        else:
            at.value.append(value)


class _Open:
    """A collection that is not whole yet, and the key that waits for its value."""

    __slots__ = ("key", "value")

    def __init__(self, value: Json) -> None:
        self.value = value
        self.key: str | None = None


def _scalar(text: str, file: str, line: int) -> Json:
    """A scalar without quotes, by the core schema of YAML 1.2."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if text[0] not in "+-.0123456789":
        return text
    other = _OTHER_BASE.match(text)
    if (_INTEGER.match(text) or other) and len(text) > _DIGITS:
        raise _invalid(file, f"holds a number of {len(text):,} digits", line)
    if other is not None:
        return int(other[1], 8) if other[1] else int(other[2], 16)
    if _INTEGER.match(text):
        return int(text)
    if _NO_NUMBER.match(text):
        raise _invalid(file, f"holds {text}, which is no number", line)
    if not _FLOAT.match(text):
        return text
    number = float(text)
    if math.isinf(number):
        raise _invalid(file, f"holds the number {text[:30]}, which is too large", line)
    return number


def _invalid(file: str, reason: str, line: int | None = None) -> Refusal:
    where = Where(file, line)
    return Refusal("input.invalid", f"{where} {reason}; nothing was changed", "mend the file and try again", where)


# -- writing ----------------------------------------------------------------------------------------------------------


def write_yaml(value: Json) -> str:
    """`value` as one YAML document in block style, which YAML 1.1 and 1.2 read alike.

    Raises `ValueError` for what JSON cannot say: NaN, infinities, lone surrogates.
    """
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Json) -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            name = _text(key)
            if len(name) > _KEY:
                yield f"? {name}"
                name = ""
            if _nests(inner):
                yield f"{name}:"
                yield from (f"  {line}" for line in _lines(inner))
            else:
                yield f"{name}: {_flat(inner)}"
    elif isinstance(value, (list, tuple)) and value:
        for inner in value:
            first, *rest = _lines(inner)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _flat(value)


def _nests(value: Json) -> bool:
    return isinstance(value, (dict, list, tuple)) and bool(value)


def _flat(value: Json) -> str:
    """A scalar or an empty collection, on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    return "{}" if isinstance(value, dict) else "[]"


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} is no number that can be written")
    digits = repr(value)
    # YAML 1.1 takes a number with an exponent for text unless it has a point.
    return digits if "." in digits else digits.replace("e", ".0e")


def _text(text: str) -> str:
    if _PLAIN.match(text) and text.lower() not in _WORDS:
        return text
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    if 0xD800 <= code < 0xE000:
        raise ValueError("a lone surrogate is no character")
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
