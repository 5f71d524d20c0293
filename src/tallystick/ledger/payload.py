"""Which payloads of ledger records are sound: one table from record type to its fields. Pure.

A record that this user's key sealed was made by our rules. For any other, which everybody could have written, the
shape is looked at before it is folded: what is not sound is named and counts for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tallystick.canonical import Json, encode
from tallystick.errors import Refusal
from tallystick.ids import criterion_id
from tallystick.ledger.requirement import parse
from tallystick.limits import CRITERIA, DESCRIPTION_CHARACTERS, REQUIREMENTS

#: Bytes of canonical JSON that effective settings may have in a record.
_EFFECTIVE = 64 * 1024
_DIGEST = re.compile(r"[0-9a-f]{40,64}\Z")

Check = Callable[[Json], bool]
#: Field -> whether it must be there, and what it must be.
Fields = dict[str, tuple[bool, Check]]


def flaw(kind: str, data: dict[str, Json]) -> str | None:
    """Why a payload of that record type cannot be folded, None when it can."""
    for name, (needed, sound) in FIELDS.get(kind, {}).items():
        if (needed or name in data) and not sound(data.get(name)):
            return f"has a {name} that no {kind} has"
    return None


def is_text(value: Json) -> bool:
    """Whether it is text."""
    return type(value) is str


def _text_or_none(value: Json) -> bool:
    return value is None or type(value) is str


def _texts(value: Json) -> bool:
    return type(value) is list and all(map(is_text, value))


def _digest_or_none(value: Json) -> bool:
    return value is None or _digest(value)


def _digest_or_empty(value: Json) -> bool:
    return value == "" or _digest(value)


def _truth(value: Json) -> bool:
    return type(value) is bool


def _digest(value: Json) -> bool:
    return type(value) is str and bool(_DIGEST.match(value))


def _digests(value: Json) -> bool:
    return type(value) is list and all(map(_digest, value))


def _draft(value: Json) -> bool:
    if type(value) is not dict or type(value.get("id")) is not str or type(value.get("description")) is not str:
        return False
    required = value.get("evidence_required") or []
    if type(required) is not list or len(required) > REQUIREMENTS or not all(map(is_text, required)):
        return False
    try:
        criterion_id(value["id"])
        for entry in required:
            parse(entry)
    except Refusal:
        return False
    return 0 < len(value["description"].strip()) <= len(value["description"]) <= DESCRIPTION_CHARACTERS


def _drafts(value: Json) -> bool:
    return type(value) is list and 0 < len(value) <= CRITERIA and all(map(_draft, value))


def _effective(value: Json) -> bool:
    """Whether these can be compared as effective settings: bounded, with the parts that are compared in their shape."""
    if type(value) is not dict or len(encode(value)) > _EFFECTIVE:
        return False
    policy, marks = value.get("policy", {}), value.get("thresholds", {})
    if type(policy) is not dict or type(marks) not in (dict, str):
        return False
    marks = {} if type(marks) is str else marks
    return type(marks.get("coverage", 0)) is int and _texts(marks.get("irrelevant", []))


def _citations(value: Json) -> bool:
    return type(value) is list and all(map(_citation, value))


def _citation(value: Json) -> bool:
    return (
        type(value) is dict
        and is_text(value.get("kind"))
        and is_text(value.get("target"))
        and _digest(value.get("digest"))
        and type(value.get("size")) is int
    )


_CRITERION: Fields = {"criterion": (True, is_text)}
_REASON: Fields = {"reason": (True, is_text)}
_GIVEN: Fields = {"digest": (True, _digest)}

FIELDS: dict[str, Fields] = {
    "ledger_frozen": {
        "criteria": (True, _drafts),
        "commit": (False, _text_or_none),
        "state": (False, _text_or_none),
        "effective": (False, _effective),
    },
    "criterion_added": {"criterion": (True, _draft)},
    "criterion_amended": {**_CRITERION, "from": (True, _draft), "to": (True, _draft), **_REASON},
    "criterion_closed": {**_CRITERION, **_GIVEN, **_REASON},
    "claim_recorded": {
        **_CRITERION,
        **_GIVEN,
        "passes": (True, _truth),
        "evidence_ref": (False, _text_or_none),
        "at": (False, _text_or_none),
        "error": (False, _text_or_none),
        "source": (True, is_text),
    },
    "pass_recorded": {
        **_CRITERION,
        **_GIVEN,
        "level": (True, is_text),
        "evidence_ref": (True, is_text),
        "evidence": (False, _citations),
        "rests_on": (False, _text_or_none),
        "was": (False, _digest_or_none),
        "flaky": (False, _truth),
        "settings": (False, _digest_or_none),
    },
    "failure_recorded": {**_CRITERION, **_GIVEN, "error": (True, is_text), "flaky": (False, _truth)},
    "red_seen": {
        **_CRITERION,
        **_GIVEN,
        "run": (True, is_text),
        "ids": (True, _texts),
        "tree": (True, is_text),
        "lock": (True, _digest_or_empty),
        "commit": (False, _text_or_none),
        "moved": (False, _texts),
        "diff": (False, _digest_or_none),
    },
    "override_recorded": {**_CRITERION, **_GIVEN, **_REASON},
    "feature_abandoned": _REASON,
    "accepted": {
        "criterion": (False, _text_or_none),
        "records": (True, _digests),
        "lock": (False, _digest_or_none),
        "effective": (False, _effective),
        **_REASON,
    },
}
