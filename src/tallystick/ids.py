"""Which names are allowed where. Feature ids become folder names, so they are strict; criterion ids are data.

Pure: takes text, gives it back or raises `Refusal`. One allow-list serves every face (bug-report kind "id used as a
file name").
"""

from __future__ import annotations

import re
import unicodedata

from tallystick.errors import Refusal
from tallystick.limits import ID_CHARACTERS

_FEATURE = re.compile(r"[a-z0-9][a-z0-9-]*\Z")
_PLAIN = re.compile(r"[\w@%+=:,./-]+\Z")
_DEVICES = {"con", "prn", "aux", "nul"} | {f"{name}{digit}" for name in ("com", "lpt") for digit in range(10)}
_UNSAFE_CATEGORIES = {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}
#: Characters that reorder or hide text on a terminal or a page.
BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def feature_id(text: str) -> str:
    """`text` if it may name a feature: lower-case letters, digits and hyphens, 1-64, no Windows device name."""
    if not _FEATURE.match(text) or len(text) > ID_CHARACTERS:
        raise Refusal(
            "input.invalid",
            f"{shown(text)} cannot name a feature: a-z, 0-9 and '-', starting with a letter or digit, at most 64",
            "choose a name like checkout or list-json",
        )
    if text in _DEVICES:
        raise Refusal(
            "input.invalid",
            f"{text} cannot name a feature: Windows keeps that name for a device",
            "choose a name like checkout or list-json",
        )
    return text


def is_feature_id(text: str) -> bool:
    """Whether `text` may name a feature."""
    return bool(_FEATURE.match(text)) and len(text) <= ID_CHARACTERS and text not in _DEVICES


def criterion_id(text: str) -> str:
    """`text` if it may name a criterion: 1-64 characters of any script, no control characters, no outer blanks."""
    if not text or len(text) > ID_CHARACTERS:
        raise Refusal(
            "input.invalid",
            f"a criterion id has 1 to 64 characters, {shown(text)} has {len(text)}",
            "choose a short id, such as AC7",
        )
    if text != text.strip():
        raise Refusal(
            "input.invalid", f"the criterion id {shown(text)} begins or ends with a blank", "take the blank out"
        )
    for character in text:
        if unicodedata.category(character) in _UNSAFE_CATEGORIES or character in BIDI:
            raise Refusal(
                "input.invalid",
                f"the criterion id {shown(text)} holds U+{ord(character):04X}, which is no printable character",
                "take the character out",
            )
    return text


def folded(text: str) -> str:
    """The form in which two criterion ids are the same id: NFKC, then case folding, then NFKC again."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def typed(text: str) -> str:
    """`text` as one word that a person can copy into a shell: quoted wherever a shell would act on it."""
    return text if _PLAIN.match(text) else "'" + escaped(text).replace("'", "'\\''") + "'"


def shown(text: str, most: int = 60) -> str:
    """`text` quoted for a message: controls, bidirectional marks and lone surrogates escaped, cut to `most`."""
    cut = text if len(text) <= most else text[: most - 1] + "…"
    return '"' + escaped(cut) + '"'


def escaped(text: str, keep: str = "") -> str:
    """`text` with every character that could act on a terminal or reorder a line written as an escape (P18).

    Characters in `keep` (a line end, say) stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character
        if character in keep or (unicodedata.category(character) not in _UNSAFE_CATEGORIES and character not in BIDI)
        else (f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}")
        for character in text
    )
