"""Holds how foreign files are read: each shape of a ledger, of the array form and of evidence gives criteria with the
claims that stand there, and what says nothing claims nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tallystick.errors import Refusal
from tallystick.imports import evidence_json, feature_list
from tallystick.imports.found import Found
from tallystick.ledger.model import Claim
from tests.unit.imports.stores import criterion, ledger, passed


def listed(value: Any) -> Found:
    """A feature list, read."""
    return feature_list.read(json.dumps(value).encode(), "list.json")


def evidenced(value: Any) -> Found:
    """Evidence, read."""
    return evidence_json.read(json.dumps(value).encode(), "e.json")


def claims(found: Found) -> dict[str, bool | None]:
    """Each criterion and what is claimed of it."""
    return {row.id: None if row.claim is None else row.claim.passes for row in found.rows}


def test_a_ledger_claims_what_it_ticked_and_what_failed() -> None:
    found = listed(ledger(passed(1), criterion(2, last_attempt_error="red"), criterion(3)))
    assert (found.kind, found.feature) == ("ledger", "checkout")
    assert claims(found) == {"AC1": True, "AC2": False, "AC3": None}
    assert found.rows[0].claim == Claim(True, "reports/1.txt", "2026-03-01T10:00:00.000Z", None, "list.json")
    assert found.rows[1].claim == Claim(False, None, None, "red", "list.json")


@pytest.mark.requirement("F6.1")
def test_the_array_form_gets_ids_in_order_and_keeps_every_word() -> None:
    rows = [
        {"category": "functional", "description": "a chat opens", "steps": ["click", "look"], "passes": True},
        {"description": "b", "passes": False},
    ]
    found = listed(rows)
    assert claims(found) == {"F001": True, "F002": None}
    assert found.rows[0].description == "a chat opens (functional)\n- click\n- look"
    assert [row.evidence_required for row in found.rows] == [None, None]


def test_the_array_form_inside_an_object_keeps_its_own_ids() -> None:
    rows = [{"id": "F003", "description": "a", "steps": ["x"], "passes": True}, {"id": "F007", "description": "b"}]
    assert claims(listed({"task_id": "chat", "features": rows})) == {"F003": True, "F007": None}


ROW = {"id": "AC1", "status": "PASS"}


@pytest.mark.requirement("L18")
@pytest.mark.parametrize(
    "value",
    [
        [ROW],
        {"AC1": "PASS"},
        {"AC1": True},
        {"AC1": {"passes": True}},
        {"AC1": {"verdict": "✅"}},
        {"task_id": "checkout", "criteria": [ROW]},
        {"task_id": "checkout", "status": "PASS", "criteria": {"AC1": "ok"}},
        {"overall_verdict": "FAIL", "acceptance_criteria": [{"id": "AC1", "status": "passed"}]},
        {"evidence": {"AC1": {"status": "Verified"}}},
        {"results": [{"criterion_id": "AC1", "result": "success"}]},
        {"AC1": "PASS", "overall_status": "PASS", "schema_version": 2},
    ],
)
def test_each_shape_of_evidence_says_that_it_passes(value: Any) -> None:
    assert claims(evidenced(value)) == {"AC1": True}


@pytest.mark.parametrize(
    ("word", "said"),
    [("PASS", True), ("pass", True), ("Passed", True), ("ok", True), ("true", True), (1, True), (True, True),
     ("FAIL", False), ("failed", False), ("NOT_MET", False), ("red", False),
     ("UNKNOWN", None), ("pending", None), ("in_progress", None), ("", None)],
)  # fmt: skip
def test_a_verdict_is_read_by_the_table_of_words(word: Any, said: bool | None) -> None:
    assert claims(evidenced([{"id": "AC1", "verdict": word}])) == {"AC1": said}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"evidence": "reports/a.txt"}, "reports/a.txt"),
        ({"proof": ["a.txt", "b.txt"]}, "a.txt ; b.txt"),
        ({"ref": {"path": "a.txt", "summary": "green"}}, "a.txt: green"),
        ({"evidence": [{"file": "a.txt"}, {"command": "make test", "exit_code": 0}]}, "a.txt ; make test"),
        ({"evidence": {"exit_code": 0}}, '{"exit_code":0}'),
        ({"reason": "looked at it"}, "looked at it"),
        ({"evidence": [], "proof": None}, None),
        ({"evidence": "x" * 3000}, "x" * 1999 + "…"),
        ({"evidence": "token ghp_" + "a1B2" * 9}, "token [masked:github-token]"),
    ],
)
def test_evidence_becomes_one_text(fields: dict[str, Any], told: str | None) -> None:
    claim = evidenced([{"id": "AC1", "status": "PASS", **fields}]).rows[0].claim
    assert claim is not None
    assert claim.evidence_ref == told


def test_a_verdict_that_fails_keeps_its_reason() -> None:
    [row] = evidenced([{"id": "AC1", "status": "FAIL", "reason": "no receipt", "checked_at": "2026-01-01"}]).rows
    assert row.claim == Claim(False, None, "2026-01-01", "no receipt", "e.json")


def test_where_verdicts_disagree_nothing_is_claimed_to_pass() -> None:
    assert claims(evidenced([{"id": "AC1", "status": "PASS", "passes": False, "error": "red"}])) == {"AC1": False}
    assert claims(evidenced([{"id": "AC1", "status": "PASS", "passes": False}])) == {"AC1": None}


def test_what_is_no_verdict_in_a_bare_map_is_left_and_named() -> None:
    found = evidenced({"AC1": "PASS", "author": "somebody", "files": ["a.py"]})
    assert claims(found) == {"AC1": True}
    assert found.left == ("author", "files")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([{"id": "AC1", "status": "perhaps"}, {"id": "AC2", "status": "PASS"}, 7], '"perhaps", which is no verdict'),
        ([{"status": "PASS"}], "[0] names no criterion"),
        ({"criteria": {"AC1": "reports/a.txt"}}, "which is no verdict about"),
        ({"note": "nothing here"}, "no verdict about a criterion was found"),
        ({}, "no verdict"),
        ([], "no verdict"),
        (7, "neither a list of criteria nor a map"),
    ],
)
def test_evidence_that_says_no_verdict_is_refused_with_its_place(value: Any, says: str) -> None:
    with pytest.raises(Refusal) as caught:
        evidenced(value)
    assert caught.value.code == "input.invalid"
    assert says in caught.value.message
    assert caught.value.message.startswith("e.json: ")


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ([{"steps": ["x"]}, {"description": 7}, "x"], "[0].description is missing; [1].description is no text; [2]"),
        ([{"description": "a", "steps": "x"}], "[0].steps is no list of texts"),
        ([{"id": "F1", "description": "a"}, {"description": "b"}], "[1] has no id although others have one"),
        ([{"id": 7, "description": "a"}], "[0].id is no text"),
        ([{"description": "a", "passes": "perhaps"}], '[0] says "perhaps", which is no verdict'),
        ([], "no criterion was found"),
        (ledger(criterion(1, passes="perhaps")), 'features[0] says "perhaps"'),
        ({"features": [7]}, "features[0] is no object"),
        ({"tasks": []}, "is no feature list"),
    ],
)
def test_a_list_with_mistakes_is_refused_with_all_of_them(value: Any, says: str) -> None:
    with pytest.raises(Refusal) as caught:
        listed(value)
    assert caught.value.code == "input.invalid"
    assert says in caught.value.message
