"""The extra `scan`: the detectors of the library detect-secrets, asked for what our own table does not know.

Nothing of it is imported before the first text is masked, and nothing at all where it is not installed. The library
is used for its patterns only: it asks no service whether a secret works, and reads no settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Protocol

#: The library's detectors that are not asked, and why.
LEFT_OUT = {
    "Base64HighEntropyString": "takes any digest for a secret",
    "HexHighEntropyString": "takes any digest for a secret",
    "KeywordDetector": "takes any word after a name like password for a secret",
    "IPPublicDetector": "an address is no secret",
    "ArtifactoryDetector": "takes long words in capitals for a secret",
    "IbmCloudIamDetector": "takes any name of 44 characters after the word key for a secret",
    "PrivateKeyDetector": "names the first line only; ours takes the block",
    "BasicAuthDetector": "takes a placeholder in a URL for a secret; ours does not",
    "JwtTokenDetector": "ours; needs time by the square of a long line",
    "NpmDetector": "ours; needs time by the square of a long line",
    "OpenAIDetector": "ours; needs time by the square of a long line",
    "GitHubTokenDetector": "ours; yields the prefix in place of the token",
    "GitLabTokenDetector": "ours; yields the prefix in place of the token",
    "TelegramBotTokenDetector": "takes a time and a digest beside it for a secret",
}

#: Characters of text that a detector gets at a time, and how far the next piece reaches back into it.
_PIECE, _OVERLAP = 2_000, 250
#: Shorter findings are parts of a secret, or none.
_SHORTEST = 12
_MASK = re.compile(r"\[masked:[^\]\n]{1,80}\]")
_BLANKS = re.compile(r"[ \t]{4,}")
#: What no detector finds anything without.
_LONG_RUN = re.compile(r"[A-Za-z0-9_./+=-]{16}")
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")


class Detector(Protocol):
    """What finds secrets of one type, as the library's plugins do."""

    secret_type: str

    def analyze_string(self, string: str) -> Iterable[str]:
        """The secrets in one line."""
        ...


@cache
def installed() -> tuple[Detector, ...]:
    """The library's detectors that are asked; none where it is not installed."""
    from importlib import import_module

    return detectors(import_module)


def detectors(load: Callable[[str], Any]) -> tuple[Detector, ...]:
    """All the library's detectors but `LEFT_OUT`, by their type; `load` imports a module by its name."""
    try:
        plugins = load("detect_secrets.core.plugins.util").get_mapping_from_secret_type_to_class()
    except ImportError:
        return ()
    return tuple(kind() for _, kind in sorted(plugins.items()) if kind.__name__ not in LEFT_OUT)


def masked(text: str, asked: tuple[Detector, ...], counts: dict[str, int]) -> str:
    """`text` with what the detectors find masked as `[masked:type]` and counted; itself where they find nothing."""
    if not asked or _LONG_RUN.search(text) is None:
        return text
    spans = sorted({span for start, piece in _pieces(text) for span in _spans(start, piece, asked)})
    parts: list[str] = []
    done = 0
    for start, end, name in spans:
        if start >= done:
            parts += (text[done:start], f"[masked:{name}]")
            counts[name] = counts.get(name, 0) + 1
        done = max(done, end)
    return "".join((*parts, text[done:])) if parts else text


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text and where each begins; a long line in pieces, so that no pattern takes long over it."""
    start = 0
    while start < len(text):
        line = text.find("\n", start)
        line = len(text) if line < 0 else line
        while line - start > _PIECE:
            yield start, text[start : start + _PIECE]
            start += _PIECE - _OVERLAP
        yield start, text[start:line]
        start = line + 1


def _spans(start: int, piece: str, asked: tuple[Detector, ...]) -> Iterator[tuple[int, int, str]]:
    """Where in the text the secrets of a piece stand, and of which type each is.

    A detector sees no mask, whose name could speak for what comes after it, and no long run of blanks.
    """
    if _LONG_RUN.search(piece) is None:
        return
    seen = _BLANKS.sub(" ", _MASK.sub("~", piece))
    for detector in asked:
        name = _NOT_A_NAME.sub("-", detector.secret_type.lower()).strip("-")
        for secret in {found.strip(" \t\"'=:") for found in detector.analyze_string(seen)}:
            at = piece.find(secret) if len(secret) >= _SHORTEST else -1
            while at >= 0:
                yield start + at, start + at + len(secret), name
                at = piece.find(secret, at + len(secret))
