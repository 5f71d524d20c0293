"""The words in which foreign files say that something passed, on what and when: three tables and what reads them. Pure.

A word that stands in no table is a mistake with its place, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.canonical import Json, text
from tallystick.ids import shown
from tallystick.ledger.model import Claim
from tallystick.limits import ERROR_CHARACTERS, REFERENCE_CHARACTERS
from tallystick.masking.secrets import masked

PASSING = frozenset(
    ("pass", "passed", "passes", "passing", "ok", "true", "yes", "green", "success", "succeeded", "successful",
     "verified", "satisfied", "met", "proven", "done", "complete", "completed", "approved", "✅", "✓")
)  # fmt: skip
FAILING = frozenset(
    ("fail", "failed", "fails", "failing", "false", "no", "red", "failure", "error", "broken", "rejected",
     "unsatisfied", "not met", "not satisfied", "❌", "✗")
)  # fmt: skip
#: Nothing is claimed by these.
SILENT = frozenset(
    ("", "unknown", "pending", "open", "todo", "to do", "not started", "not run", "untested", "unverified", "skipped",
     "skip", "partial", "in progress", "blocked", "none", "null", "n/a", "na", "tbd")
)  # fmt: skip

VERDICT_KEYS = ("passes", "status", "verdict", "passed", "result", "outcome")
EVIDENCE_KEYS = ("evidence_ref", "evidence", "proof", "ref", "refs", "reference", "references", "artifact", "artifacts")
TIME_KEYS = ("passed_at", "verified_at", "checked_at", "completed_at", "at", "timestamp", "date", "time")
ERROR_KEYS = ("last_attempt_error", "error", "reason", "failure", "problem", "gaps")
#: What names a thing in one object of a proof, in the order in which it is told.
_NAMES = ("path", "file", "url", "uri", "commit", "ref", "id", "command", "summary", "description", "text")
_TIME_CHARACTERS = 64


class Wordless(Exception):  # noqa: N818 - a state of the file, told with its place by whoever reads it
    """A verdict in words that no table has; its text says which."""


def verdict(value: Json) -> bool | None:
    """Whether `value` says that it passes; None where it says nothing of that. Raises `Wordless`."""
    if value is None or type(value) is bool:
        return None if value is None else bool(value)
    if type(value) in (int, float) and value in (0, 1):
        return bool(value)
    if type(value) is str:
        word = " ".join(value.replace("_", " ").replace("-", " ").split()).casefold()
        for table, said in ((PASSING, True), (FAILING, False), (SILENT, None)):
            if word in table:
                return said
    raise Wordless(shown(value if type(value) is str else text(value)[:60]))


def says_verdict(value: Json) -> bool:
    """Whether `value` is a verdict, or an object that holds one."""
    if isinstance(value, dict):
        return any(key in value for key in VERDICT_KEYS)
    try:
        return verdict(value) is not None
    except Wordless:
        return False


def claim_of(item: Mapping[str, Json], source: str) -> Claim | None:
    """What one object claims of its criterion; where its verdicts disagree, that it fails. Raises `Wordless`.

    `passes: false` alone is the state in which the seed begins, and no claim; with an error, or in any other word,
    somebody looked and said so.
    """
    told_by = [key for key in VERDICT_KEYS if item.get(key) is not None and not isinstance(item[key], (list, dict))]
    said = {key: verdict(item[key]) for key in told_by}
    evidence, at = _first(item, EVIDENCE_KEYS, REFERENCE_CHARACTERS), _first(item, TIME_KEYS, _TIME_CHARACTERS)
    error = _first(item, ERROR_KEYS, ERROR_CHARACTERS)
    failing = [key for key, passes in said.items() if passes is False]
    if failing or (not said and item.get("last_attempt_error")):
        looked = error is not None or any(item[key] is not False for key in failing)
        return Claim(False, evidence, at, error, source) if looked else None
    if any(said.values()):
        return Claim(True, evidence or _first(item, ("reason",), REFERENCE_CHARACTERS), at, None, source)
    return None


def told(value: Json) -> str:
    """Evidence as one text, however it is written: words, a list of them, objects with a path, a command, a summary."""
    if value is None or type(value) is bool:
        return ""
    if type(value) is str:
        return str(value).strip()
    if isinstance(value, list):
        return " ; ".join(filter(None, map(told, value)))
    if isinstance(value, dict):
        named = [told(value[name]) for name in _NAMES if name in value]
        return ": ".join(filter(None, named)) or (text(value) if value else "")
    return text(value)


def _first(item: Mapping[str, Json], keys: tuple[str, ...], most: int) -> str | None:
    """The text under the first of these keys that says something, without secrets, cut to `most` characters."""
    found = next(filter(None, (told(item.get(key)) for key in keys)), None)
    if found is None:
        return None
    plain = masked(found).text
    return plain if len(plain) <= most else plain[: most - 1] + "…"
