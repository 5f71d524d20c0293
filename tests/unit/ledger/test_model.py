"""Holds the fold: what a record of another key may say and what it never counts for, which payloads are none, and who
may do what (D6, P12)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.canonical import Json
from tallystick.journal.record import Event
from tallystick.ledger import payload, rules
from tallystick.ledger.model import Claim, Criterion, Draft, Red, state_of
from tallystick.ledger.permissions import ACTS, denied
from tests.unit.ledger.ledgers import DRAFTS, EVIDENCE, Book


def elsewhere(book: Book, *names: str) -> None:
    """Another copy of the repository says that these pass."""
    for name in names:
        seen = rules.open_criterion(book.ledger, name)
        book.commit(rules.mark_pass(book.ledger, seen, "proof.txt", "cited", [EVIDENCE], False), ours=False)


@pytest.mark.requirement("P11", "L4")
def test_a_pass_of_another_key_never_counts() -> None:
    book = Book()
    elsewhere(book, "AC1")
    criterion = book.ledger.criteria["AC1"]
    assert (criterion.passes, state_of(criterion, False)) == (False, "elsewhere")
    book.mark_pass("AC1")
    assert state_of(book.ledger.criteria["AC1"], False) == "holds"


@pytest.mark.requirement("P11")
def test_a_pass_of_ours_is_not_touched_by_what_another_key_says() -> None:
    book = Book()
    book.mark_pass("AC1")
    mine = book.ledger.criteria["AC1"]
    for event in (
        rules.mark_failure(book.ledger, "AC1", "red there"),
        rules.amend(book.ledger, "AC1", "softer", False, "agreed there"),
        rules.close(book.ledger, "AC1", "closed there"),
        rules.override(book.ledger, "AC1", "overridden there"),
    ):
        book.commit(event, ours=False)
    now = book.ledger.criteria["AC1"]
    assert (now.passes, now.regressed, now.attempts, now.draft) == (True, False, 0, mine.draft)
    assert (now.closed, now.override, now.pending) == (None, None, 3)
    assert state_of(now, False) == "holds"


@pytest.mark.requirement("P11")
def test_another_key_may_define_what_is_not_defined_and_abandons_nothing() -> None:
    book = Book()
    for event in rules.add(book.ledger, [Draft("AC4", "from elsewhere")]):
        book.commit(event, ours=False)
    book.commit(rules.abandon(book.ledger, "given up there"), ours=False)
    assert book.ledger.criteria["AC4"].description == "from elsewhere"
    assert book.ledger.abandoned is None


@pytest.mark.requirement("P7")
def test_a_pass_counts_for_the_very_text_it_was_given_for() -> None:
    book = Book()
    seen = book.ledger.criteria["AC1"]
    late = rules.mark_pass(book.ledger, seen, "proof.txt", "cited", [EVIDENCE], False)
    book.commit(rules.amend(book.ledger, "AC1", "another text", False, "agreed"))
    book.commit(late)
    assert not book.ledger.criteria["AC1"].passes


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        ({"closed": "x", "override": "x", "passes": True}, "closed"),
        ({"override": "x", "passes": True}, "overridden"),
        ({"passes": True, "regressed": True}, "regressed"),
        ({"passes": True, "elsewhere": True}, "stale"),
        ({"elsewhere": True}, "elsewhere"),
        ({"error": "x"}, "failing"),
    ],
)
def test_the_state_is_one_word(changed: dict[str, Any], state: str) -> None:
    assert state_of(Criterion("AC1", "x", None, "0" * 64)._replace(**changed), True) == state


# -- payloads ---------------------------------------------------------------------------------------------------------


def sound() -> dict[str, dict[str, Json]]:
    """One payload of each type, as the rules make it."""
    book = Book()
    ledger = book.ledger
    made = [
        rules.freeze(type(ledger)("refunds"), DRAFTS, None),
        *rules.add(ledger, [Draft("AC4", "later", ("a screenshot",))]),
        rules.mark_pass(ledger, ledger.criteria["AC1"], "proof.txt", "cited", [EVIDENCE], False),
        rules.mark_failure(ledger, "AC1", "red"),
        rules.amend(ledger, "AC1", "another", ("a screenshot",), "agreed"),
        rules.close(ledger, "AC1", "out of scope"),
        rules.override(ledger, "AC1", "seen"),
        rules.abandon(ledger, "replaced"),
        rules.red_seen(ledger, ledger.criteria["AC1"], Red("r-1", "", "1" * 40, None, "2" * 64, ("a.py::b",))),
        rules.claim(ledger.criteria["AC1"].draft, Claim(True, "a.txt", None, None, "old/feature_list.json")),
    ]
    book.commit(rules.amend(ledger, "AC2", "softer", False, "agreed there"), ours=False)
    made.append(rules.accept(ledger, "AC2", "agreed"))
    return {event.type: event.data for event in made}


SOUND = sound()


@pytest.mark.requirement("F5.20")
def test_what_the_rules_make_is_sound() -> None:
    assert set(SOUND) == set(payload.FIELDS) == set(Book().fold.types)
    assert [payload.flaw(kind, data) for kind, data in SOUND.items()] == [None] * len(SOUND)
    assert payload.flaw("of_a_later_version", {}) is None


@pytest.mark.requirement("P3", "F5.20")
@pytest.mark.parametrize(
    ("kind", "key"),
    [(kind, key) for kind, fields in payload.FIELDS.items() for key, (needed, _) in fields.items() if needed],
)
def test_a_needed_field_that_is_missing_or_of_another_kind_is_a_flaw(kind: str, key: str) -> None:
    rest = {name: value for name, value in SOUND[kind].items() if name != key}
    assert key in str(payload.flaw(kind, rest))
    others: list[Json] = [5, 1.5, {}, {"id": "AC1"}, [5], [[]], [{}]]
    if type(SOUND[kind][key]) is not bool:
        others.append(True)
    for value in others:
        assert key in str(payload.flaw(kind, {**rest, key: value})), value


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "kind", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.requirement("P3")
@given(
    st.sampled_from(sorted(payload.FIELDS)),
    st.sampled_from(["criterion", "criteria", "digest", "to", "error", "evidence", "reason", "level"]),
    JSON,
)
def test_whatever_is_sound_can_be_folded(kind: str, key: str, value: Json) -> None:
    data = {**SOUND[kind], key: value}
    if payload.flaw(kind, data) is None:
        for ours in (True, False):
            book = Book()
            book.commit(Event(kind, data), ours=ours)
            assert len(book.ledger.criteria) >= len(DRAFTS)


@pytest.mark.parametrize(
    "draft",
    [
        {"id": "A\nC", "description": "x"},
        {"id": "", "description": "x"},
        {"id": "AC1", "description": ""},
        {"id": "AC1", "description": "x" * 9000},
        {"id": "AC1", "description": "x", "evidence_required": "x"},
        {"id": "AC1", "description": "x", "evidence_required": ["run: a | b"]},
        {"id": "AC1", "description": "x", "evidence_required": ["x"] * 200},
    ],
)
def test_a_draft_that_could_not_have_been_frozen_is_a_flaw(draft: Json) -> None:
    assert payload.flaw("criterion_added", {"criterion": draft}) is not None
    assert payload.flaw("ledger_frozen", {"criteria": [draft]}) is not None


@pytest.mark.parametrize("digest", ["", "../" * 13 + "x", "A" * 64, "0" * 65, 5, None])
def test_a_digest_that_could_be_a_path_is_a_flaw(digest: Json) -> None:
    citation = {"kind": "file", "target": "x", "digest": digest, "size": 3, "blob": True}
    assert payload.flaw("pass_recorded", {**SOUND["pass_recorded"], "evidence": [citation]}) is not None


# -- permissions ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("P12")
def test_who_may_do_what() -> None:
    assert {act for act, roles in ACTS.items() if "shell" in roles} >= {"freeze", "add", "pass", "fail", "abandon"}
    assert {act for act, roles in ACTS.items() if roles == {"user"}} == {"override", "accept", "trust"}
    assert "shell" not in ACTS["amend"]
    assert {act for act, roles in ACTS.items() if "implementer" in roles} <= {"check", "note", "output", "task"}
    for act in ACTS:
        assert denied(act, "user") is None
        refused = denied(act, "somebody")
        assert refused is not None
        assert (refused.code, bool(refused.hint)) == ("role.denied", True)
