"""What one entry of `evidence_required` asks for: a machine check, a file, paths, or words for a person (formats 1).

Pure: text in, a value or a `Refusal` out. It runs at the freeze, so that a check nobody could run is never frozen.
An entry is a machine check only by an exact lower-case prefix; one that looks like a prefix and is none is refused,
since as words it would pass by citing something.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tallystick.canonical import parse as parse_json
from tallystick.errors import Refusal
from tallystick.ids import shown


class Run(NamedTuple):
    """`run:` a command without a shell; it holds when it exits with status 0."""

    argv: tuple[str, ...]


class Tests(NamedTuple):
    """`tests:` these ids reported passed by the project's runner; one ending in `::*` or `[*]` stands for its ids."""

    ids: tuple[str, ...]


class File(NamedTuple):
    """`file:` this file of the project, not empty."""

    path: str


class Paths(NamedTuple):
    """`paths:` what the proof rests on, said by the user: globs within the project."""

    globs: tuple[str, ...]


class Reserved(NamedTuple):
    """A prefix that this version cannot run: it never passes by citation."""

    prefix: str
    text: str


class Words(NamedTuple):
    """A requirement for a person or a verifier: shown, not run; it needs a reference."""

    text: str


Requirement = Run | Tests | File | Paths | Reserved | Words

RESERVED = ("coverage", "image")
_LOOKS_LIKE_A_PREFIX = re.compile(r"\s*(run|tests|file|paths|coverage|image)\s*:", re.IGNORECASE)
_PREFIX = re.compile(r"\s*(run|tests|file|paths|coverage|image):\s*(.*)\Z", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_DRIVE = re.compile(r"[A-Za-z]:")
#: What a shell would act on outside quotes, the longer ones first; the last two act inside double quotes too.
_OPERATORS = ("&&", "||", ">>", "<<", "|", "&", ";", ">", "<", "\n", "$(", "`")
_IN_DOUBLE_QUOTES = ("$(", "`")


def parse(entry: str) -> Requirement:
    """What `entry` asks for. Raises `Refusal` "input.invalid" that names the entry when nobody could check it."""
    found = _PREFIX.match(entry)
    if found is None:
        like = _LOOKS_LIKE_A_PREFIX.match(entry)
        if like is not None:
            right = like.group(1).lower()
            raise _refused(entry, f"its prefix is written {right}:", f"write {right}: … or put it in other words")
        if not entry.strip():
            raise _refused(entry, "it is empty", "say what is asked for, or leave the entry out")
        return Words(entry)
    prefix, text = found.group(1), found.group(2).strip()
    if not text:
        raise _refused(entry, f"nothing follows {prefix}:", f"say what follows {prefix}: or leave the entry out")
    if prefix in RESERVED:
        return Reserved(prefix, text)
    if prefix == "run":
        return Run(_command(entry, found.group(2).rstrip("\r\n")))  # a blank at the end may be quoted
    if prefix == "tests":
        return Tests(_ids(entry, text))
    if prefix == "file":
        return File(_inside(entry, text))
    return Paths(tuple(_inside(entry, glob) for glob in _listed(entry, text, _split)))


def is_machine_check(requirement: Requirement) -> bool:
    """Whether a machine decides it: such a criterion passes by being run, never by citing something."""
    return isinstance(requirement, Run | Tests)


def _command(entry: str, text: str) -> tuple[str, ...]:
    argv = _split(entry, text)
    if not argv or not argv[0]:
        raise _refused(entry, "it names no program", "name the program first")
    if _ASSIGNMENT.match(argv[0]):
        raise _refused(entry, f"no shell is there to set {shown(argv[0])}", f"write run: env {text.strip()}")
    if any("\0" in word for word in argv):
        raise _refused(entry, "it holds a NUL, which no program can be given", "take it out")
    return argv


def _ids(entry: str, text: str) -> tuple[str, ...]:
    ids = _listed(entry, text, lambda _, whole: (whole,))
    for test_id in ids:
        if test_id.startswith("-"):
            raise _refused(entry, f"the test id {shown(test_id)} begins with -, as options do", "name a test")
        if _CONTROL.search(test_id):
            raise _refused(entry, f"the test id {shown(test_id)} holds a control character", "take it out")
    return tuple(dict.fromkeys(ids))


def _listed(entry: str, text: str, single: Callable[[str, str], tuple[str, ...]]) -> tuple[str, ...]:
    """The items of a JSON array, else what `single` makes of the text."""
    if not text.startswith("["):
        return single(entry, text)
    try:
        items = parse_json(text.encode("utf-8", "surrogatepass"), "the list")
    except Refusal as error:
        reason = error.message.partition(";")[0]
        raise _refused(entry, reason, 'a list is written ["first", "second"]') from None
    if not isinstance(items, list) or not items or not all(isinstance(item, str) and item.strip() for item in items):
        raise _refused(entry, "its list is not one of texts", 'a list is written ["first", "second"]')
    return tuple(item.strip() for item in items)


def _inside(entry: str, path: str) -> str:
    """`path` if it can only mean something inside the project."""
    if path.startswith(("/", "~", "\\")) or _DRIVE.match(path) or ".." in re.split(r"[/\\]", path):
        raise _refused(entry, f"{shown(path)} leads out of the project", "name a path from the project's top folder")
    if _CONTROL.search(path):
        raise _refused(entry, f"the path {shown(path)} holds a control character", "take it out")
    return path


def _split(entry: str, text: str) -> tuple[str, ...]:
    """`text` in words as a POSIX shell splits it; what only a shell can do is refused."""
    words: list[str] = []
    word: str | None = None
    quote = ""
    at = 0
    while at < len(text):
        character = text[at]
        if quote != "'":
            _no_operator(entry, text, at, _IN_DOUBLE_QUOTES if quote else _OPERATORS)
        if character == quote:
            quote = ""
        elif quote == "'" or (quote and character != "\\"):
            word = (word or "") + character
        elif character in "'\"" and not quote:
            quote, word = character, word or ""
        elif character == "\\":
            at += 1
            if at == len(text):
                raise _refused(entry, "it ends in a backslash that quotes nothing", "take it out")
            kept = "\\" if quote and text[at] not in '"\\' else ""
            word = (word or "") + kept + text[at]
        elif character in " \t\r":
            if word is not None:
                words.append(word)
            word = None
        else:
            word = (word or "") + character
        at += 1
    if quote:
        raise _refused(entry, f"a quotation mark {quote} is not closed", "close it")
    return (*words, word) if word is not None else tuple(words)


def _no_operator(entry: str, text: str, at: int, operators: tuple[str, ...]) -> None:
    for operator in operators:
        if text.startswith(operator, at):
            name = "a line end" if operator == "\n" else operator
            raise _refused(
                entry, f"there is no shell that could act on {name}", "put it into a script and name the script"
            )


def _refused(entry: str, reason: str, hint: str) -> Refusal:
    return Refusal("input.invalid", f"the entry {shown(entry, 200)} cannot be checked: {reason}", hint)
