"""Holds the rules of the ledger: frozen once, passed once, a text changes only visibly and at the price of its pass;
any sequence of commands keeps them, and the replay of the journal is the live state."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.ids import escaped
from tallystick.journal.chain import Finding
from tallystick.journal.record import Event
from tallystick.ledger import rules
from tallystick.ledger.document import render
from tallystick.ledger.fold import LedgerFold
from tallystick.ledger.model import Criterion, Draft, Ledger, state_of
from tallystick.limits import (
    CRITERIA,
    DESCRIPTION_CHARACTERS,
    ERROR_CHARACTERS,
    ID_CHARACTERS,
    REASON_CHARACTERS,
    REQUIREMENTS,
)
from tests.unit.ledger.ledgers import DRAFTS, EVIDENCE, FEATURE, Book


def refusal(call: Callable[[], object]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        call()
    assert caught.value.message
    return caught.value


@pytest.fixture
def book() -> Book:
    return Book()


# -- freezing and adding ----------------------------------------------------------------------------------------------


@pytest.mark.requirement("L3")
def test_a_new_ledger_has_every_criterion_open(book: Book) -> None:
    for criterion in book.ledger.criteria.values():
        assert (criterion.passes, criterion.passed_at, criterion.evidence_ref, criterion.error) == (False, *[None] * 3)
        assert state_of(criterion, False) == "failing"


@pytest.mark.requirement("F1.8")
def test_a_ledger_is_frozen_once(book: Book) -> None:
    found = refusal(lambda: rules.freeze(book.ledger, DRAFTS, None))
    assert (found.code, "ledger add" in found.hint) == ("feature.exists", True)


@pytest.mark.requirement("F1.8")
def test_later_criteria_are_added_and_told_apart(book: Book) -> None:
    book.commit(*rules.add(book.ledger, [Draft("AC4", "later"), Draft("AC5", "later still")]))
    assert [(name, one.added) for name, one in book.ledger.criteria.items()] == [
        ("AC1", False),
        ("AC2", False),
        ("AC3", False),
        ("AC4", True),
        ("AC5", True),
    ]


@pytest.mark.requirement("F1.6")
@pytest.mark.parametrize("twin", ["AC1", "ac1", "ＡＣ１", "Ac1"])
def test_an_id_that_is_there_already_is_not_added(book: Book, twin: str) -> None:
    assert refusal(lambda: rules.add(book.ledger, [Draft(twin, "again")])).code == "criterion.exists"


@pytest.mark.requirement("F1.6")
@pytest.mark.parametrize(
    ("one", "two"),
    [("AC1", "AC1"), ("AC1", "ac1"), ("straße", "STRASSE"), ("é1", "e\u03011"), ("ﬁ1", "fi1"), ("Σ1", "ς1")],
)
def test_ids_that_fold_to_the_same_are_the_same_id(one: str, two: str) -> None:
    found = refusal(lambda: rules.checked([Draft(one, "x"), Draft(two, "y")]))
    assert "twice" in found.message


UGLY = ["", " AC1", "AC1 ", "\u00a0AC1", "A\nC", "A\tC", "A\0C", "A\x7fC", "A\u202eC", "A\u2028C", "A\ufeffC", "\ud800"]


@pytest.mark.requirement("F1.6", "P18")
@pytest.mark.parametrize("name", [*UGLY, "x" * (ID_CHARACTERS + 1), "A\ue000", "A\uffff"])
def test_ids_that_nobody_could_read_are_refused(name: str) -> None:
    found = refusal(lambda: rules.checked([Draft(name, "x")]))
    assert (found.code, escaped(found.message)) == ("input.invalid", found.message)


@pytest.mark.requirement("F1.6", "P18")
@pytest.mark.parametrize(
    "name",
    ["AC1.2", "a/b", "../../x", "C:x", "con", "a b", "-rf", "été", "日本語", "x" * ID_CHARACTERS, "👍", "'; x", "*"],
)
def test_any_other_text_may_be_an_id(name: str) -> None:
    book = Book([Draft(name, "x")])
    book.mark_pass(name)
    assert book.ledger.criteria[name].passes


@pytest.mark.requirement("F1.7", "P15")
@pytest.mark.parametrize(
    ("draft", "code"),
    [
        (Draft("AC1", ""), "input.invalid"),
        (Draft("AC1", " \n\t"), "input.invalid"),
        (Draft("AC1", "x" * (DESCRIPTION_CHARACTERS + 1)), "input.too_large"),
        (Draft("AC1", "x" * 5_000_000), "input.too_large"),
        (Draft("AC1", "\ud800"), "input.invalid"),
        (Draft("AC1", "x", ("",)), "input.invalid"),
        (Draft("AC1", "x", ("x", " ")), "input.invalid"),
        (Draft("AC1", "x", ("\udfff",)), "input.invalid"),
        (Draft("AC1", "x", ("x",) * (REQUIREMENTS + 1)), "input.too_large"),
        (Draft("AC1", "x", ("x" * (DESCRIPTION_CHARACTERS + 1),)), "input.invalid"),
        (Draft("AC1", "x", ("run: make | tee log",)), "input.invalid"),
        (Draft("AC1", "x", ("RUN: make",)), "input.invalid"),
    ],
    ids=range(12),
)
def test_a_draft_that_nobody_could_work_with_is_refused(draft: Draft, code: str) -> None:
    found = refusal(lambda: rules.checked([draft]))
    assert (found.code, len(found.message) < 500) == (code, True)


@pytest.mark.requirement("F1.7", "P15")
def test_the_number_of_criteria_has_a_limit(book: Book) -> None:
    many = [Draft(f"C{at}", "x") for at in range(CRITERIA + 1)]
    assert refusal(lambda: rules.checked(many)).code == "input.too_large"
    rules.checked(many[:-1])
    assert refusal(lambda: rules.add(book.ledger, many[: CRITERIA - 2])).code == "input.too_large"
    assert refusal(lambda: rules.checked([])).code == "input.invalid"


def test_a_description_keeps_every_character(book: Book) -> None:
    text = "a: b # c\n\t\0\x1b[31m \u202e \u2028 'quoted' \"twice\" \\ 🎉"
    book.commit(*rules.add(book.ledger, [Draft("AC4", text)]))
    assert book.ledger.criteria["AC4"].description == text


# -- passing and failing ----------------------------------------------------------------------------------------------


@pytest.mark.requirement("L7")
def test_a_pass_that_holds_is_marked_once_and_the_second_mark_gets_the_receipt(book: Book) -> None:
    book.mark_pass("AC1")
    found = refusal(lambda: book.mark_pass("AC1"))
    first = book.ledger.criteria["AC1"]
    assert found.code == "pass.already"
    assert str(first.passed_at) in found.message
    assert found.facts["receipt"] == {
        "feature": FEATURE,
        "criterion": "AC1",
        "evidence_ref": "proof.txt",
        "passed_at": first.passed_at,
        "level": "cited",
    }


@pytest.mark.requirement("L7")
def test_a_pass_is_marked_again_once_what_it_cites_has_changed_or_it_regressed(book: Book) -> None:
    book.mark_pass("AC1")
    book.mark_pass("AC1", changed=True)
    book.fail("AC1")
    assert state_of(book.ledger.criteria["AC1"], False) == "regressed"
    book.mark_pass("AC1")
    assert state_of(book.ledger.criteria["AC1"], False) == "holds"


@pytest.mark.requirement("P4", "L7")
def test_a_pass_that_somebody_else_renewed_meanwhile_is_not_marked_a_second_time(book: Book) -> None:
    book.mark_pass("AC1")
    seen = book.ledger.criteria["AC1"]
    book.mark_pass("AC1", changed=True)
    found = refusal(lambda: rules.mark_pass(book.ledger, seen, "proof.txt", "cited", [EVIDENCE], True))
    assert found.code == "pass.already"


@pytest.mark.requirement("P7")
def test_a_pass_prepared_for_a_text_that_was_amended_meanwhile_is_refused(book: Book) -> None:
    seen = book.ledger.criteria["AC1"]
    book.commit(rules.amend(book.ledger, "AC1", "another text", False, "agreed"))
    refusal(lambda: rules.mark_pass(book.ledger, seen, "proof.txt", "cited", [EVIDENCE], False))
    assert not book.ledger.criteria["AC1"].passes


@pytest.mark.requirement("L8", "F1.10")
def test_a_failure_leaves_its_error_until_a_pass(book: Book) -> None:
    book.fail("AC1", "assert 2 == 1")
    book.fail("AC1", "assert 3 == 1")
    failed = book.ledger.criteria["AC1"]
    assert (failed.error, failed.attempts, failed.passes) == ("assert 3 == 1", 2, False)
    book.mark_pass("AC1")
    assert book.ledger.criteria["AC1"].error is None


@pytest.mark.requirement("F1.10", "P15")
@pytest.mark.parametrize("length", [ERROR_CHARACTERS - 1, ERROR_CHARACTERS, ERROR_CHARACTERS + 1, 5_000_000])
def test_an_error_is_cut_at_a_character(book: Book, length: int) -> None:
    book.fail("AC1", "🎉" * length)
    error = str(book.ledger.criteria["AC1"].error)
    assert len(error) == min(length, ERROR_CHARACTERS)
    assert error.endswith("🎉" if length <= ERROR_CHARACTERS else "…")


@pytest.mark.parametrize("error", ["", " \n", "\ud800"])
def test_an_error_that_says_nothing_is_refused(book: Book, error: str) -> None:
    assert refusal(lambda: book.fail("AC1", error)).code == "input.invalid"


def test_a_criterion_is_found_by_any_spelling_of_its_id(book: Book) -> None:
    assert rules.known_criterion(book.ledger, "ac1").id == "AC1"
    assert rules.known_criterion(book.ledger, "ＡＣ１").id == "AC1"
    found = refusal(lambda: rules.known_criterion(book.ledger, "AC9\x1b"))
    assert (found.code, "AC1, AC2, AC3" in found.message, "\x1b" in found.message) == ("criterion.unknown", True, False)


# -- amending, closing, overriding, abandoning ------------------------------------------------------------------------


@pytest.mark.requirement("P7", "L10", "F1.9")
def test_an_amendment_keeps_both_texts_and_drops_the_pass(book: Book) -> None:
    book.mark_pass("AC1")
    event = rules.amend(book.ledger, "AC1", "another text", ("a screenshot",), "agreed")
    assert event.data["from"] == DRAFTS[0].document()
    assert event.data["to"] == Draft("AC1", "another text", ("a screenshot",)).document()
    book.commit(event)
    amended = book.ledger.criteria["AC1"]
    assert (amended.passes, amended.amended, amended.description) == (False, 1, "another text")
    assert state_of(amended, False) == "failing"


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(
    ("text", "required", "reason"),
    [
        (None, False, "why"),
        ("the cart keeps its lines", False, "why"),
        (None, None, "why"),
        (None, (), "why"),
        ("new", False, ""),
        ("new", False, " "),
        ("new", False, "x" * (REASON_CHARACTERS + 1)),
        ("", False, "why"),
        ("x" * (DESCRIPTION_CHARACTERS + 1), False, "why"),
        ("\ud800", False, "why"),
        (None, ("run: a | b",), "why"),
    ],
)
def test_an_amendment_that_changes_nothing_or_is_no_criterion_is_refused(
    book: Book, text: str | None, required: tuple[str, ...] | bool | None, reason: str
) -> None:
    before = render(book.ledger)
    refusal(lambda: rules.amend(book.ledger, "AC1", text, required, reason))
    assert render(book.ledger) == before


@pytest.mark.requirement("F1.12")
def test_a_closed_criterion_takes_no_more_facts(book: Book) -> None:
    book.commit(rules.close(book.ledger, "AC1", "out of scope"))
    calls: list[Callable[[], object]] = [
        lambda: book.mark_pass("AC1"),
        lambda: book.fail("AC1"),
        lambda: rules.amend(book.ledger, "AC1", "new", False, "why"),
        lambda: rules.close(book.ledger, "AC1", "again"),
        lambda: rules.override(book.ledger, "AC1", "why"),
    ]
    assert {refusal(call).code for call in calls} == {"criterion.closed"}
    assert b"AC1" not in render(book.ledger)


@pytest.mark.requirement("P20", "F1.12")
def test_an_override_counts_as_done_and_is_listed_apart(book: Book) -> None:
    book.commit(rules.override(book.ledger, "AC1", "seen by hand"), role="user")
    assert state_of(book.ledger.criteria["AC1"], True) == "overridden"
    assert b'"evidence_ref": "override: seen by hand"' in render(book.ledger)
    assert refusal(lambda: rules.override(book.ledger, "AC1", "again")).code == "pass.already"
    assert refusal(lambda: rules.override(book.ledger, "AC2", " ")).code == "input.invalid"


@pytest.mark.requirement("P7", "P20")
def test_an_override_is_given_for_one_text_alone(book: Book) -> None:
    book.commit(rules.override(book.ledger, "AC1", "seen by hand"), role="user")
    book.commit(rules.amend(book.ledger, "AC1", "another text", False, "agreed"))
    assert state_of(book.ledger.criteria["AC1"], False) == "failing"


@pytest.mark.requirement("P20")
def test_an_abandoned_feature_takes_nothing_more(book: Book) -> None:
    book.commit(rules.abandon(book.ledger, "replaced"))
    calls: list[Callable[[], object]] = [
        lambda: book.mark_pass("AC1"),
        lambda: book.fail("AC1"),
        lambda: rules.abandon(book.ledger, "again"),
        lambda: rules.add(book.ledger, [Draft("AC9", "x")]),
    ]
    assert {refusal(call).code for call in calls} == {"feature.abandoned"}


def test_without_a_ledger_nothing_is_recorded() -> None:
    empty = Ledger("refunds")
    assert refusal(lambda: rules.open_criterion(empty, "AC1")).code == "feature.unknown"
    assert "ledger init refunds" in refusal(lambda: rules.abandon(empty, "why")).hint


# -- evidence that is asked for ---------------------------------------------------------------------------------------


@pytest.mark.requirement("F1.14", "F1.15", "F1.16")
def test_a_machine_check_is_not_passed_by_citing(book: Book) -> None:
    asked = {
        "run: make test": "check.needed",
        "tests: tests/test_cart.py::test_lines": "check.needed",
        "coverage: 80": "check.unsupported",
        "image: cart.png": "check.unsupported",
    }
    for entry, code in asked.items():
        criterion = Criterion("AC1", "x", (entry,), "0" * 64)
        assert refusal(lambda one=criterion: rules.passable_by_citing(one)).code == code  # type: ignore[misc]
    words = Criterion("AC1", "x", ("a screenshot", "file: docs/cart.png", "paths: src/**"), "0" * 64)
    rules.passable_by_citing(words)
    assert rules.references_wanted(words) == ["a screenshot"]
    assert rules.files_wanted(words) == ["docs/cart.png"]
    assert book.ledger.created_at


@pytest.mark.requirement("P3", "P11")
def test_nothing_that_counts_is_recorded_on_top_of_damage() -> None:
    note = Finding("journal.torn", "a note", grave=False)
    rules.unsound([note])
    for code, expected in (("journal.damaged", "journal.damaged"), ("anchor.fork", "anchor.rolled_back")):
        found = refusal(lambda at=code: rules.unsound([note, Finding(at, "x", "/f", 3, 40)]))  # type: ignore[misc]
        assert (found.code, found.exit, found.where) == (expected, 8, ("/f", 3, 40))


def test_the_trace_of_a_refused_role_quotes_a_name_that_is_no_criterion(book: Book) -> None:
    denied = Refusal("role.denied", "override is not for the role shell")
    names = {"ac1": "AC1", "": "", "\ud800": '"\\ud800"', "x" * 5000: '"' + "x" * 59 + '…"'}
    for name, kept in names.items():
        assert rules.refused(book.ledger, name, "override", denied).data["criterion"] == kept


# -- any sequence -----------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["AC1", "AC2", "ac3", "AC4", "AC9"])
TEXTS = st.sampled_from(["one text", "another text"])
STEPS = st.one_of(
    st.tuples(st.just("pass"), NAMES, st.booleans()),
    st.tuples(st.just("fail"), NAMES, TEXTS),
    st.tuples(st.just("amend"), NAMES, TEXTS),
    st.tuples(st.just("close"), NAMES, TEXTS),
    st.tuples(st.just("override"), NAMES, TEXTS),
    st.tuples(st.just("add"), NAMES, TEXTS),
)


def events(book: Book, act: str, name: str, value: object) -> list[Event]:
    """What the rules make of one command."""
    ledger, text = book.ledger, str(value)
    if act == "pass":
        seen = rules.open_criterion(ledger, name)
        return [rules.mark_pass(ledger, seen, "proof.txt", "cited", [EVIDENCE], value is True)]
    if act == "add":
        return rules.add(ledger, [Draft(name, text)])
    if act == "amend":
        return [rules.amend(ledger, name, text, False, "agreed")]
    return [{"fail": rules.mark_failure, "close": rules.close, "override": rules.override}[act](ledger, name, text)]


@pytest.mark.requirement("P7", "L4", "L10")
@given(st.lists(STEPS, max_size=25))
def test_any_sequence_of_commands_keeps_the_rules(steps: list[tuple[str, str, object]]) -> None:
    book = Book()
    for act, name, value in steps:
        before = dict(book.ledger.criteria)
        try:
            book.commit(*events(book, act, name, value))
        except Refusal:
            assert book.ledger.criteria == before
            continue
        for one in before.values():
            now = book.ledger.criteria[one.id]
            if act == "amend" and one.id.lower() == name.lower():
                assert (now.passes, now.override, now.amended) == (False, None, one.amended + 1)
            else:
                assert now.draft == one.draft
                assert now.passes >= one.passes, "a pass un-passed"
            assert now.passes <= (one.passes or act == "pass"), "something passed without a mark"
            assert (now.added, now.attempts >= one.attempts) == (one.added, True)
        assert list(book.ledger.criteria)[: len(before)] == list(before)
    replayed = LedgerFold().empty(FEATURE)
    for record in book.records:
        LedgerFold().apply(replayed, record, True)
    restored = LedgerFold().load(FEATURE, json.loads(json.dumps(LedgerFold().dump(replayed))))
    for other in (replayed, restored):
        assert (other.criteria, other.folds, other.created_at) == (
            book.ledger.criteria,
            book.ledger.folds,
            book.ledger.created_at,
        )
        assert render(other) == render(book.ledger)
