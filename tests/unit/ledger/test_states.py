"""Holds what a criterion's one word says, and what of it stands in the file: a regression does not rewrite a pass, what
another key says passes nothing here."""

from __future__ import annotations

import pytest

from tallystick.ledger import rules
from tallystick.ledger.document import row
from tallystick.ledger.model import state_of
from tests.unit.ledger.ledgers import EVIDENCE, Book


@pytest.mark.requirement("F1.11")
def test_a_regression_is_a_fact_and_leaves_the_pass_in_the_file() -> None:
    book = Book()
    book.mark_pass("AC1")
    passed = row(book.ledger.criteria["AC1"])
    book.fail("AC1", "two lines are lost")
    regressed = book.ledger.criteria["AC1"]
    assert state_of(regressed, changed=False) == "regressed"
    assert row(regressed) == {**passed, "last_attempt_error": "two lines are lost"}


def test_a_regressed_criterion_holds_again_after_the_next_pass() -> None:
    book = Book()
    book.mark_pass("AC1")
    book.fail("AC1")
    book.mark_pass("AC1")
    assert state_of(book.ledger.criteria["AC1"], changed=False) == "holds"


@pytest.mark.requirement("F1.13")
def test_a_pass_of_another_key_is_elsewhere_and_fails_in_the_file() -> None:
    book = Book()
    seen = rules.open_criterion(book.ledger, "AC1")
    book.commit(rules.mark_pass(book.ledger, seen, "proof.txt", "cited", [EVIDENCE], False), ours=False)
    criterion = book.ledger.criteria["AC1"]
    assert state_of(criterion, changed=False) == "elsewhere"
    assert (row(criterion)["passes"], row(criterion)["evidence_ref"]) == (False, None)


def test_what_a_pass_rests_on_and_has_changed_makes_it_stale_and_an_overridden_one_stays() -> None:
    book = Book()
    book.mark_pass("AC1")
    assert state_of(book.ledger.criteria["AC1"], changed=True) == "stale"
    book.commit(rules.override(book.ledger, "AC1", "seen with the customer"), role="user")
    assert state_of(book.ledger.criteria["AC1"], changed=True) == "overridden"


def test_a_closed_criterion_is_closed_whatever_it_was() -> None:
    book = Book()
    book.mark_pass("AC1")
    book.commit(rules.close(book.ledger, "AC1", "moved to another feature"), role="user")
    assert state_of(book.ledger.criteria["AC1"], changed=True) == "closed"
