"""`evidence.json` (and `verdict.json`) beside a ledger, in its usual shapes: bytes in, claims out. Pure.

A list of criteria; a map from id to verdict; either of them inside an object that says which task it is of. A row is a
bare verdict or an object with one. Some rows carry the criterion's text, and then no ledger is needed beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.ids import shown
from tallystick.imports.found import Found, Row, invalid
from tallystick.imports.verdicts import Wordless, claim_of, says_verdict, verdict
from tallystick.ledger.model import Claim

NAMES = ("evidence.json", "verdict.json")
_WRAPPERS = ("criteria", "acceptance_criteria", "features", "results", "evidence", "verdicts")
_FEATURE_KEYS = ("task_id", "feature_id", "feature", "task")
_ID_KEYS = ("id", "criterion_id", "ac_id", "ac", "criterion", "key")
_TEXT_KEYS = ("description", "text", "title")
#: In a map, these say something of the whole file.
_WHOLE = frozenset(
    (*_FEATURE_KEYS, "status", "verdict", "passes", "passed", "result", "outcome", "overall", "overall_status",
     "overall_verdict", "overall_result", "schema_version", "version", "complete", "completed", "success")
)  # fmt: skip


class _Rows(NamedTuple):
    """Each row with its place and, in a map, its key; and the keys of the file that are no row."""

    items: list[tuple[str, str | None, Json]]
    left: tuple[str, ...] = ()


def read(data: bytes, file: str) -> Found:
    """The claims of one file. Raises `Refusal` with all its mistakes."""
    value = canonical.parse(data, file)
    rows = _rows(value)
    if rows is None:
        raise invalid(file, ["neither a list of criteria nor a map from criterion to verdict"])
    mistakes: list[str] = []
    found = tuple(_read(rows.items, file, mistakes))
    if not found and not mistakes:
        mistakes.append("no verdict about a criterion was found")
    if mistakes:
        raise invalid(file, mistakes)
    return Found(file, "evidence", _feature(value), found, rows.left)


def _feature(value: Json) -> str | None:
    named = (value.get(key) for key in _FEATURE_KEYS) if isinstance(value, dict) else ()
    return next((one for one in named if isinstance(one, str) and one), None)


def _rows(value: Json) -> _Rows | None:
    if isinstance(value, list):
        return _Rows(_listed(value, ""))
    if not isinstance(value, dict):
        return None
    for key in _WRAPPERS:
        inner = value.get(key)
        if isinstance(inner, list) and all(isinstance(item, dict) for item in inner):
            return _Rows(_listed(inner, key), tuple(name for name in value if name != key and name not in _WHOLE))
        if isinstance(inner, dict) and not any(name in inner for name in (*_WRAPPERS, *_WHOLE)):
            left = tuple(name for name in value if name != key and name not in _WHOLE)
            return _Rows([(f"{key}.{name}", name, item) for name, item in inner.items()], left)
    # A bare map: what is no verdict says something else, and is named as left.
    items = [(name, name, item) for name, item in value.items() if name not in _WHOLE and says_verdict(item)]
    kept = {name for name, _, _ in items}
    return _Rows(items, tuple(name for name in value if name not in kept and name not in _WHOLE))


def _listed(items: list[Json], key: str) -> list[tuple[str, str | None, Json]]:
    return [(f"{key}[{at}]", None, item) for at, item in enumerate(items)]


def _read(items: list[tuple[str, str | None, Json]], file: str, mistakes: list[str]) -> Iterator[Row]:
    for place, name, item in items:
        if name is None and not isinstance(item, dict):
            mistakes.append(f"{place} is no object")
            continue
        key = name if name is not None else next((item[one] for one in _ID_KEYS if item.get(one) is not None), None)
        if not isinstance(key, str):
            mistakes.append(f"{place} names no criterion: an id is wanted")
            continue
        told = item if isinstance(item, dict) else {}
        described = next((told[one] for one in _TEXT_KEYS if isinstance(told.get(one), str)), None)
        try:
            yield Row(key, described, None, _claim(item, file))
        except Wordless as word:
            mistakes.append(f"{place} says {word}, which is no verdict about {shown(key)}")


def _claim(item: Json, file: str) -> Claim | None:
    if isinstance(item, dict):
        return claim_of(item, file)
    said = verdict(item)
    return None if said is None else Claim(said, None, None, None, file)
