"""Holds the verdict on a view: what some moment of the journal produced is behind, anything else was edited by hand,
is named field by field and never counts (formats 5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.ledger import rules
from tallystick.ledger.comparison import Comparison, Verdict, cut_short, edits, hollow, parse
from tallystick.ledger.document import render
from tallystick.ledger.model import Draft
from tests.unit.ledger.ledgers import Book

Document = dict[str, Any]


def verdict(book: Book, data: bytes) -> Verdict:
    compared = Comparison(parse(data, "feature_list.json"), book.ledger.feature)
    book.replay(compared.take)
    return compared.verdict()


def changed(book: Book, change: Callable[[Document], object]) -> Verdict:
    """The verdict on the present view after somebody changed it."""
    document = json.loads(render(book.ledger))
    change(document)
    return verdict(book, json.dumps(document, indent=2, ensure_ascii=False).encode())


@pytest.fixture
def book() -> Book:
    made = Book()
    made.mark_pass("AC1")
    made.fail("AC2", "it is red")
    return made


@pytest.mark.requirement("F5.11")
def test_every_view_of_the_past_is_behind() -> None:
    book = Book()
    past = [render(book.ledger)]
    steps: list[Callable[[], object]] = [
        lambda: book.mark_pass("AC1"),
        lambda: book.fail("AC2"),
        lambda: book.mark_pass("AC2"),
        lambda: book.fail("AC1"),
        lambda: book.commit(rules.amend(book.ledger, "AC1", "another text", False, "agreed")),
        lambda: book.commit(*rules.add(book.ledger, [Draft("AC4", "later"), Draft("AC5", "later still")])),
        lambda: book.commit(rules.close(book.ledger, "AC3", "out of scope")),
        lambda: book.commit(rules.override(book.ledger, "AC1", "seen by hand"), role="user"),
    ]
    for step in steps:
        step()
        assert [verdict(book, old).kind for old in past] == ["behind"] * len(past)
        past.append(render(book.ledger))


@pytest.mark.requirement("F5.11")
def test_rows_of_different_moments_are_behind_too(book: Book) -> None:
    old = json.loads(render(Book().ledger))
    mixed = json.loads(render(book.ledger))
    mixed["features"][0] = old["features"][0]
    assert verdict(book, json.dumps(mixed).encode()).kind == "behind"


@pytest.mark.requirement("L4", "F5.11")
def test_a_pass_written_by_hand_is_named(book: Book) -> None:
    found = changed(book, lambda view: view["features"][1].update(passes=True))
    assert (found.kind, found.says) == ("edited", ("AC2: passes false -> true",))


@pytest.mark.requirement("L4", "L10", "F5.11")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", "AC9"),
        ("description", "softer"),
        ("evidence_required", ["nothing"]),
        ("passes", False),
        ("passed_at", "2026-05-21T00:00:00.000Z"),
        ("evidence_ref", "somewhere.txt"),
        ("last_attempt_error", "written by hand"),
        ("note", "a key of nobody"),
        ("note", ""),
    ],
)
def test_every_field_that_was_changed_is_named(book: Book, key: str, value: object) -> None:
    found = changed(book, lambda view: view["features"][0].update({key: value}))
    assert found.kind == "edited"
    assert any((key if key != "id" else '"AC9" was added by hand') in said for said in found.says)


@pytest.mark.parametrize("key", ["description", "passes", "passed_at", "evidence_ref", "last_attempt_error"])
def test_a_field_that_was_taken_out_is_named(book: Book, key: str) -> None:
    found = changed(book, lambda view: view["features"][0].pop(key))
    assert (found.kind, key in found.says[0]) == ("edited", True)


@pytest.mark.requirement("L10", "F5.11")
def test_a_row_that_was_deleted_added_or_doubled_is_named(book: Book) -> None:
    assert changed(book, lambda view: view["features"].pop(2)).says == ("AC3 was deleted by hand",)
    added = {"id": "AC9", "description": "x", "passes": True}
    assert changed(book, lambda view: view["features"].append(added)).says == ('"AC9" was added by hand',)
    forged = {**json.loads(render(book.ledger))["features"][2], "passes": True}
    for place in (0, 3):
        found = changed(book, lambda view, at=place: view["features"].insert(at, forged))  # type: ignore[misc]
        assert (found.kind, '"AC3" stands there twice' in found.says) == ("edited", True)


@pytest.mark.requirement("F5.11")
@pytest.mark.parametrize(
    ("key", "value"),
    [("created_at", "2020-01-01T00:00:00.000Z"), ("task_id", "refunds"), ("schema_version", 2), ("note", "x")],
)
def test_what_was_changed_above_the_rows_is_named(book: Book, key: str, value: object) -> None:
    found = changed(book, lambda view: view.update({key: value}))
    assert (found.kind, key in found.says[0]) == ("edited", True)


def test_other_blanks_and_another_order_of_keys_are_behind_and_no_edit(book: Book) -> None:
    document = json.loads(render(book.ledger))
    assert verdict(book, json.dumps(document).encode()).kind == "behind"
    assert verdict(book, json.dumps(document, sort_keys=True).encode()).kind == "behind"
    assert verdict(book, render(book.ledger).replace(b"\n", b"\r\n")).kind == "behind"


@pytest.mark.requirement("L9")
def test_an_error_written_into_a_failing_row_is_taken_in_as_a_failure(book: Book) -> None:
    found = changed(book, lambda view: view["features"][2].update(last_attempt_error="the mail is empty"))
    assert (found.kind, found.failures) == ("edited", {"AC3": "the mail is empty"})


@pytest.mark.requirement("L9")
@pytest.mark.parametrize(
    ("at", "change"),
    [
        (0, {"last_attempt_error": "of a row that passes"}),
        (2, {"last_attempt_error": ""}),
        (2, {"last_attempt_error": "   "}),
        (2, {"last_attempt_error": 5}),
        (2, {"last_attempt_error": "with more", "passes": True}),
        (2, {"last_attempt_error": "with more", "description": "softer"}),
    ],
)
def test_no_other_edit_is_taken_in(book: Book, at: int, change: Document) -> None:
    found = changed(book, lambda view: view["features"][at].update(change))
    assert (found.kind, found.failures) == ("edited", {})


@pytest.mark.requirement("L9")
def test_an_error_in_a_row_that_somebody_put_back_after_it_was_closed_is_not_taken_in(book: Book) -> None:
    row = {**json.loads(render(book.ledger))["features"][2], "last_attempt_error": "still red"}
    book.commit(rules.close(book.ledger, "AC3", "out of scope"))
    found = changed(book, lambda view: view["features"].append(row))
    assert (found.kind, found.failures) == ("edited", {})


@pytest.mark.requirement("F5.12")
@pytest.mark.parametrize(
    ("data", "nothing"),
    [
        (b"", True),
        (b"\n  \n", True),
        (b"\0" * 4096, True),
        (b"{\n<<<<<<< HEAD\n=======\n>>>>>>> branch\n", True),
        (b"{}", False),
        (b"{\n=======\n}", False),
        (b'{"a": "<<<<<<< "}', False),
    ],
)
def test_a_file_that_holds_nothing_of_anybody(data: bytes, nothing: bool) -> None:
    assert hollow(data) is nothing


@pytest.mark.requirement("F5.13", "F1.2")
@pytest.mark.parametrize(
    "data",
    [
        b"{",
        b"[]",
        b"null",
        b"{}",
        b'{"features": 5}',
        b'{"features": [5]}',
        b'{"features": [{"id": 5}]}',
        b'{"features": [{}]}',
        b'{"features": [], "features": []}',
        b'{"features": [{"id": "AC1", "passes": NaN}]}',
        rb'{"features": [{"id": "\ud800"}]}',
        b'{"features": ' + b"[" * 5000,
        b"\xff\xfe{}",
        b"hello",
    ],
)
def test_what_is_no_feature_list_is_damage_and_is_left(data: bytes) -> None:
    with pytest.raises(Refusal) as caught:
        parse(data, "feature_list.json")
    assert caught.value.code == "view.damaged"
    assert "feature_list.json" in caught.value.message
    assert "audit --restore" in caught.value.hint


@pytest.mark.requirement("P2", "F5.12")
def test_a_view_that_ends_in_the_middle_is_told_from_one_that_was_edited(book: Book) -> None:
    whole = render(book.ledger)
    for cut in range(1, len(whole) - 1):
        try:
            parse(whole[:cut], "")
        except Refusal:
            found = cut_short(whole[:cut], whole)
            assert found is not None, cut
            assert set(found.rows) <= set(book.ledger.criteria)
    assert cut_short(b'{"task_id": "other"', whole) is None


@pytest.mark.requirement("P11", "F5.11")
def test_a_view_that_another_home_wrote_is_behind_and_no_edit(book: Book) -> None:
    theirs = Book()
    theirs.mark_pass("AC3")
    theirs.fail("AC2", "red there")
    compared = Comparison(parse(render(theirs.ledger), ""), book.ledger.feature)
    for record in theirs.records:
        compared.take(record, record.type == "ledger_frozen")
    assert compared.verdict().kind == "behind"
    assert changed(book, lambda view: view["features"][2].update(passes=True)).kind == "edited"


def test_a_long_list_of_edits_is_named_in_part(book: Book) -> None:
    says = tuple(f"AC{at}: passes false -> true" for at in range(12))
    assert edits(says).endswith("… and 7 more")
    assert edits(says[:2]) == "AC0: passes false -> true; AC1: passes false -> true"
    assert book.ledger.criteria


@settings(max_examples=30)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists, max_leaves=6))
def test_any_value_in_any_field_is_compared_without_harm(value: object) -> None:
    book = Book()
    for key in ("description", "passes", "passed_at", "evidence_ref", "last_attempt_error"):
        found = changed(book, lambda view, at=key: view["features"][0].update({at: value}))  # type: ignore[misc]
        assert found.kind in ("edited", "behind")
        assert all(len(said) < 300 for said in found.says)
