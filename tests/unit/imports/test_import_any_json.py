"""Holds that whatever JSON or bytes stand in a foreign file, reading gives a value or a refusal that names the file,
never anything else; and that what was read never makes a criterion pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.imports import evidence_json, feature_list
from tallystick.imports.claims import events, take
from tallystick.imports.found import Found
from tallystick.journal.record import FIRST, By, Record
from tallystick.ledger.fold import LedgerFold
from tallystick.ledger.model import Ledger
from tallystick.ledger.payload import flaw

KEYS = st.sampled_from(
    ["id", "criteria", "features", "evidence", "status", "passes", "verdict", "description", "text", "steps",
     "category", "task_id", "proof", "error", "at", "AC1", "AC2", "last_attempt_error", "evidence_required", "x"]
)  # fmt: skip
WORDS = st.sampled_from(["PASS", "fail", "unknown", "AC1", "AC2", "run: true", "ok", ""])
LEAVES = st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False) | WORDS | st.text(max_size=8)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)
READERS: tuple[Callable[[bytes, str], Found], ...] = (evidence_json.read, feature_list.read)


def tried(read: Callable[[bytes, str], Found], data: bytes) -> Found | None:
    """What was read, None where it was refused as it should be."""
    try:
        return read(data, "old/file.json")
    except Refusal as refusal:
        caught = refusal
    assert caught.message.startswith("old/file.json")
    assert caught.code in ("input.invalid", "format.newer")
    return None


def recorded(founds: list[Found]) -> Ledger:
    """The ledger that follows, each record being one that everybody would take."""
    ledger = Ledger("checkout")
    try:
        made = events(ledger, take(ledger, founds), None, {})
    except Refusal:
        return ledger
    for number, event in enumerate(made, 1):
        assert flaw(event.type, event.data) is None
        json.dumps(event.data).encode()
        place = (number, len(made))
        record = Record(
            "5" * 32, "checkout", "a" * 32, number, place, number, f"{number:064x}", FIRST, {}, "", By("shell"),
            event.type, event.data,
        )  # fmt: skip
        LedgerFold().apply(ledger, record, True)
    return ledger


@given(VALUES)
def test_any_json_is_a_value_or_a_refusal_and_passes_nothing(value: Any) -> None:
    data = json.dumps(value).encode()
    founds = [found for read in READERS if (found := tried(read, data)) is not None]
    for ledger in (recorded(founds[::-1]), *(recorded([found]) for found in founds)):
        assert not any(criterion.passes or criterion.error for criterion in ledger.criteria.values())
        again = take(ledger, [found for found in founds if ledger.criteria])
        assert all(draft.id not in ledger.criteria for draft in again.drafts)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_a_refusal(data: bytes) -> None:
    assert [read for read in READERS if not isinstance(tried(read, data), Found | None)] == []


@given(
    st.dictionaries(st.sampled_from(["AC1", "AC2", "AC3"]), st.sampled_from(["PASS", "FAIL", "UNKNOWN"]), min_size=1)
)
def test_a_map_and_a_list_of_the_same_verdicts_claim_the_same(verdicts: dict[str, str]) -> None:
    as_list = [{"id": name, "status": word} for name, word in verdicts.items()]
    bare, listed = ({"criteria": verdicts}, {"criteria": as_list})
    first, second = (evidence_json.read(json.dumps(one).encode(), "e.json").rows for one in (bare, listed))
    assert first == second
