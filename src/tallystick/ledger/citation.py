"""What a reference points at: the words of `evidence_ref` taken apart. Pure; `keeping.py` fetches what they name.

Forms (evidence.md): `path`, `path:line`, `run:<id>`, `output:<feature>/<file>`, `commit:<sha>`, `sha256:<digest>`;
several are separated by ` ; `. A URL points outside and is only a claim; other words point at nothing.
"""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.ids import feature_id, shown
from tallystick.ledger.rules import encodable
from tallystick.limits import REFERENCE_CHARACTERS

COUNTS = "cite a file of the project (path or path:line), commit:<sha> or output:<feature>/<file>"
_URL = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_COMMIT = re.compile(r"[0-9a-f]{7,64}\Z")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_LINE = re.compile(r"(.+?):([0-9]{1,9})(?:[-:][0-9]{1,9})?\Z", re.S)
#: Our own folders and git's: a ledger is no evidence for itself.
_OWN = (".git/", ".agent/tasks/", ".tallystick/")


class Reference(NamedTuple):
    """One reference: `kind` is path, commit, run, blob, output or url; `target` what it names, relative for a path.

    The target of an output is FEATURE/FILE.
    """

    text: str
    kind: str
    target: str


def references(text: str) -> list[Reference]:
    """All references in `text`. Raises `Refusal` for empty or over-long text and malformed ones."""
    if not text.strip():
        raise Refusal("evidence.free_text", "nothing is cited", COUNTS)
    if len(text) > REFERENCE_CHARACTERS:
        raise Refusal(
            "input.too_large",
            f"the reference has {len(text):,} characters, the limit is {REFERENCE_CHARACTERS:,}",
            "cite fewer things, or shorter paths",
        )
    encodable(text, "the reference")
    return [_reference(one.strip()) for one in text.split(" ; ") if one.strip()]


def _reference(text: str) -> Reference:
    if _URL.match(text):
        return Reference(text, "url", text)
    prefix, colon, rest = text.partition(":")
    if colon and prefix == "commit":
        if not _COMMIT.match(rest):
            raise Refusal("evidence.missing", f"{shown(text)} names no commit: 7 to 64 hexadecimal digits", COUNTS)
        return Reference(text, "commit", rest)
    if colon and prefix == "sha256":
        if not _DIGEST.match(rest):
            raise Refusal("evidence.missing", f"{shown(text)} names no digest: 64 hexadecimal digits", COUNTS)
        return Reference(text, "blob", rest)
    if colon and prefix == "run":
        return Reference(text, "run", rest)
    if colon and prefix == "output":
        feature, _, file = rest.partition("/")
        return Reference(text, "output", f"{feature_id(feature)}/{file}")
    return Reference(text, "path", text)


def inside(reference: Reference) -> str:
    """The path of a reference, normalized and relative to the project. Raises "evidence.outside"."""
    path = posixpath.normpath(reference.target)
    if "\0" in path or path.startswith(("/", "../")) or path in ("..", "."):
        raise Refusal("evidence.outside", f"{shown(reference.text)} lies outside the project", COUNTS)
    not_own(reference, path)
    return path


def not_own(reference: Reference, path: str) -> None:
    """Raise "evidence.outside" where `path`, from the project's top, lies in a folder of the ledger's own or of git's.

    Case does not matter, since there are file systems that do not tell it apart.
    """
    if f"{path}/".casefold().startswith(_OWN):
        raise Refusal(
            "evidence.outside", f"{shown(reference.text)} lies in a folder of the ledger's own or of git's", COUNTS
        )


def without_line(path: str) -> str | None:
    """`path` without `:line` at its end, None when there is none."""
    found = _LINE.match(path)
    return found[1] if found else None


def looks_like_path(text: str) -> bool:
    """Whether somebody meant a file: one word with a slash or an ending."""
    return " " not in text and ("/" in text or bool(re.search(r"\.\w{1,8}(:\d+)?\Z", text)))
