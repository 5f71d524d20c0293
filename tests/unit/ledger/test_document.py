"""Holds the ledger's file: written exactly as the seed has it, read from JSON and from Markdown of every shape, and
refused with place and reason (formats 1)."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.ledger.document import Source, render, source
from tallystick.ledger.model import Criterion, Draft, Ledger

TEXT = st.text(min_size=1, max_size=20)
CRITERIA = st.builds(
    Criterion,
    id=TEXT,
    description=TEXT,
    evidence_required=st.none() | st.lists(TEXT, max_size=3).map(tuple),
    digest=st.just("0" * 64),
    passes=st.booleans(),
    passed_at=st.none() | TEXT,
    evidence_ref=st.none() | TEXT,
    error=st.none() | TEXT,
    override=st.none() | TEXT,
    closed=st.none() | TEXT,
)


def ledger(criteria: Sequence[Criterion], feature: str = "checkout") -> Ledger:
    made = Ledger(feature)
    made.created_at = "2026-05-21T00:00:00.000Z"
    made.criteria = {one.id: one for one in criteria}
    return made


def seed(made: Ledger) -> dict[str, Json]:
    """The ledger as the seed writes it, said once more in plain words."""
    rows = []
    for one in made.criteria.values():
        if one.closed is not None:
            continue
        row: dict[str, Json] = {"id": one.id, "description": one.description}
        if one.evidence_required is not None:
            row["evidence_required"] = list(one.evidence_required)
        row["passes"] = one.passes or one.override is not None
        row["passed_at"] = one.passed_at
        row["evidence_ref"] = one.evidence_ref if one.override is None else f"override: {one.override}"
        row["last_attempt_error"] = one.error
        rows.append(row)
    return {"task_id": made.feature, "created_at": made.created_at, "schema_version": 1, "features": rows}


@pytest.mark.requirement("L2", "F1.1", "F1.12", "P18")
@given(st.lists(CRITERIA, max_size=4), TEXT)
def test_a_view_is_the_seeds_schema_byte_for_byte(criteria: list[Criterion], feature: str) -> None:
    made = ledger(criteria, feature)
    expected = json.dumps(seed(made), indent=2, ensure_ascii=False) + "\n"
    assert render(made) == expected.encode()
    assert json.loads(render(made)) == seed(made)


@pytest.mark.requirement("L2", "F1.1")
def test_the_keys_and_their_order_are_the_seeds() -> None:
    one = Criterion("AC1", "text", ("a screenshot",), "0" * 64)
    pairs = json.loads(render(ledger([one])), object_pairs_hook=lambda found: found)
    assert [key for key, _ in pairs] == ["task_id", "created_at", "schema_version", "features"]
    [row] = dict(pairs)["features"]
    keys = ["id", "description", "evidence_required", "passes", "passed_at", "evidence_ref", "last_attempt_error"]
    assert [key for key, _ in row] == keys
    [bare] = json.loads(render(ledger([one._replace(evidence_required=None)])))["features"]
    assert list(bare) == [key for key in keys if key != "evidence_required"]


@given(st.lists(CRITERIA.map(lambda one: one._replace(closed=None)), min_size=1, max_size=4))
def test_what_was_written_reads_back_as_input(criteria: list[Criterion]) -> None:
    made = ledger(criteria)
    found = source(render(made), "feature_list.json")
    assert found.feature == "checkout"
    assert list(found.drafts) == [one.draft for one in made.criteria.values()]
    assert found.ticked == sum(row["passes"] for row in seed(made)["features"])


def read(text: str | bytes) -> Source:
    return source(text.encode() if isinstance(text, str) else text, "criteria.md")


def drafts(text: str | bytes) -> list[tuple[str, str, tuple[str, ...] | None]]:
    return [tuple(draft) for draft in read(text).drafts]  # type: ignore[misc]


PLAIN: list[tuple[str, str, tuple[str, ...] | None]] = [("AC1", "first", None), ("AC2", "second", None)]


@pytest.mark.requirement("F1.3", "P18")
@pytest.mark.parametrize(
    "text",
    [
        "- [ ] AC1 first\n- [ ] AC2 second\n",
        "- [ ] AC1 first\n- [ ] AC2 second",
        "* [ ] AC1 first\n+ [x] AC2 second\n",
        "1. [ ] AC1 first\n2) [X] AC2 second\n",
        "- [ ] AC1: first\n- [ ] AC2. second\n",
        "- [ ] AC1) first\n- [ ] AC2 - second\n",
        "- [ ] AC1 — first\n- [ ] AC2 – second\n",
        "- [ ] **AC1** first\n- [ ] `AC2` second\n",
        "- [ ] **AC1:** first\n- [ ] __AC2__: second\n",
        "-   [ ]   AC1   first   \n-\t[ ]\tAC2\tsecond\t\n",
        "- [ ]\u00a0AC1\u00a0first\u00a0\n- [ ] AC2 second\u00a0\x0c\n",
        "-[ ] AC1 first\n- []AC2 second\n",
        "- [x](https://example.org) a link\n- [ ] AC1 first\n- [X](#a)\n- [ ] AC2 second\n",
        "# Checkout\n\nSome words.\n\n- [ ] AC1 first\n\nMore words.\n\n- [ ] AC2 second\n\n> the end\n",
        "- [ ] AC1 first\r\n- [ ] AC2 second\r\n",
        "- [ ] AC1 first\r- [ ] AC2 second\r",
        "\ufeff- [ ] AC1 first\n- [ ] AC2 second\n",
        "\n\n  \n- [ ] AC1 first\n\t\n- [ ] AC2 second\n",
        "- a plain bullet\n- [ ] AC1 first\n- another\n- [ ] AC2 second\n",
        "- [link](https://example.org)\n- [ ] AC1 first\n- [ ] AC2 second\n",
        "```\n- [ ] AC9 an example\n```\n- [ ] AC1 first\n- [ ] AC2 second\n",
        "~~~md\n- [ ] AC9 an example\n~~~\n- [ ] AC1 first\n- [ ] AC2 second\n",
        "````\n```\n- [ ] AC9 an example\n```\n- [ ] AC8 another\n````\n- [ ] AC1 first\n- [ ] AC2 second\n",
        "```\n- [ ] AC9 an example\n```python\n- [ ] AC8 another\n```\n- [ ] AC1 first\n- [ ] AC2 second\n",
        "[![build](https://ci/badge.svg)](https://ci)\n\n- [ ] AC1 first\n- [ ] AC2 second\n",
        "[ ] not an item\n- [ ] AC1 first\n- [ ] AC2 second\n",
    ],
)
def test_a_checklist_of_any_shape(text: str) -> None:
    assert drafts(text) == PLAIN


@pytest.mark.parametrize(
    "text",
    [
        "- [ ] AC1 first\n  a screenshot\n  run: make test\n- [ ] AC2 second\n",
        "- [ ] AC1 first\n\ta screenshot\n\trun: make test\n- [ ] AC2 second\n",
        "- [ ] AC1 first\n  - a screenshot\n  - run: make test\n- [ ] AC2 second\n",
        "- [ ] AC1 first\n  * [ ] a screenshot\n  + [x] run: make test\n- [ ] AC2 second\n",
        "- [ ] AC1 first\n\n  a screenshot\n\n  run: make test\n\n- [ ] AC2 second\n",
        "- [ ] AC1 first\n      a screenshot  \n      run: make test\nprose\n  of nobody\n- [ ] AC2 second\n",
    ],
)
def test_indented_lines_are_what_a_criterion_asks_for(text: str) -> None:
    assert drafts(text) == [("AC1", "first", ("a screenshot", "run: make test")), ("AC2", "second", None)]


@pytest.mark.parametrize("asked", ["run: cargo test -- --nocapture", "tests: shop::src/lib.rs - total", "a * b + c"])
def test_a_bullet_is_one_only_where_the_line_begins(asked: str) -> None:
    assert drafts(f"- [ ] AC1 first\n  - {asked}\n  {asked}\n") == [("AC1", "first", (asked, asked))]


def test_items_without_ids_are_numbered() -> None:
    text = "- [ ] the cart keeps its lines\n- [ ] a guest can pay\n"
    assert drafts(text) == [("AC1", "the cart keeps its lines", None), ("AC2", "a guest can pay", None)]


def test_a_tick_is_counted_and_is_no_pass() -> None:
    assert read("- [x] AC1 first\n- [ ] AC2 second\n- [X] AC3 third\n").ticked == 2


@pytest.mark.requirement("P18")
@pytest.mark.parametrize(
    "inside", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1b", "\u202e"]
)
def test_a_character_that_some_take_for_a_line_end_stays_in_the_text(inside: str) -> None:
    assert drafts(f"- [ ] AC1 one{inside}two\n")[0][1] == f"one{inside}two"


@pytest.mark.requirement("P18")
@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=30).map(
        lambda text: f"x{text}x"
    )
)
def test_any_text_of_one_line_comes_through(text: str) -> None:
    assert drafts(f"- [ ] AC1 {text}\n") == [("AC1", text, None)]


@given(st.text(max_size=80))
def test_any_text_is_criteria_or_a_refusal(text: str) -> None:
    try:
        said = str(read(text).feature)
    except Refusal as refused:
        said = refused.message
    assert said == "None" or "criteria.md" in said


def refusal(data: bytes | str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        read(data)
    assert "criteria.md" in caught.value.message
    assert len(caught.value.message) < 1000
    return caught.value


@pytest.mark.requirement("F1.4")
@pytest.mark.parametrize("data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(data: bytes) -> None:
    assert "is empty" in refusal(data).message


def test_what_is_no_utf_8_is_refused_with_its_place() -> None:
    assert "at byte 10" in refusal(b"- [ ] AC1 \xe9t\xe9\n").message
    assert "at byte 0" in refusal("- [ ] AC1 x".encode("utf-16")).message


def test_a_mixture_of_items_with_and_without_ids_is_refused_with_its_line() -> None:
    assert "criteria.md:2" in refusal("- [ ] AC1 first\n- [ ] no id here\n").message


def seed_json(**changed: Json) -> bytes:
    row: dict[str, Json] = {"id": "AC1", "description": "first"}
    whole: dict[str, Json] = {"task_id": "checkout", "schema_version": 1, "features": [row]}
    return json.dumps({**whole, **changed}).encode()


@pytest.mark.requirement("F1.3")
@pytest.mark.parametrize(
    "data",
    [
        seed_json(),
        b"\xef\xbb\xbf" + seed_json(),
        seed_json().replace(b", ", b",\r\n"),
        b"\n\n  " + seed_json() + b"\n\n",
        seed_json(
            created_at=None, note="kept by another tool", features=[{"id": "AC1", "description": "first", "x": 1}]
        ),
    ],
)
def test_the_seeds_json_is_read_with_whatever_else_it_holds(data: bytes) -> None:
    assert read(data) == Source((Draft("AC1", "first"),), "checkout", 0)


def test_a_tick_in_the_seeds_json_is_a_claim() -> None:
    row = {"id": "AC1", "description": "first", "passes": True, "evidence_ref": "x"}
    assert read(seed_json(features=[row])) == Source((Draft("AC1", "first"),), "checkout", 1)


@pytest.mark.requirement("F1.2", "F1.4", "P15")
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "criteria.md:1"),
        (b'{"features": [}', "1"),
        (b'{"features": []', "is not JSON"),
        (b'{"features": [], "features": []}', "twice"),
        (seed_json().replace(b'"first"', b"NaN"), "NaN"),
        (seed_json().replace(b'"first"', b"-Infinity"), "Infinity"),
        (seed_json().replace(b'"first"', rb'"\ud800"'), "surrogate"),
        (b'{"features": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "deeper"),
        (b"[" * 100_000, "deeper"),
        (b'{"a":' * 100_000, "deeper"),
        (b'{"features": "' + b"\xff" + b'"}', "UTF-8"),
        (b"{}", "no feature list"),
        (b'{"features": {}}', "no feature list"),
        (b'{"features": null}', "no feature list"),
        (seed_json(features=[5]), "features[0] is no object"),
        (seed_json(features=[{"id": 5, "description": "x"}]), "features[0].id is no text"),
        (seed_json(features=[{"id": "AC1"}]), "features[0].description is missing"),
        (seed_json(features=[{"id": "AC1", "description": None}]), "features[0].description is no text"),
        (seed_json(features=[{"id": "AC1", "description": "x", "evidence_required": "x"}]), "no list of texts"),
        (seed_json(features=[{"id": "AC1", "description": "x", "evidence_required": [5]}]), "no list of texts"),
        (seed_json(task_id=5), "task_id is no text"),
        (seed_json(schema_version="1"), "schema_version"),
        (seed_json(schema_version=True), "schema_version"),
        (seed_json(schema_version=0), "schema_version"),
        (seed_json(schema_version=None), "schema_version"),
        (seed_json(schema_version="x" * 1_000_000), "schema_version"),
        (seed_json(schema_version=1.5), "schema_version"),
        (seed_json().replace(b'"schema_version": 1', b'"schema_version": 1e999'), "too large"),
        (seed_json().replace(b'"schema_version": 1', b'"schema_version": ' + b"9" * 5000), ""),
    ],
)
def test_json_that_is_no_feature_list_is_refused_with_place_and_reason(data: bytes, says: str) -> None:
    found = refusal(data)
    assert (found.code, says in found.message) == ("input.invalid", True), found.message


@pytest.mark.requirement("P17")
def test_a_newer_schema_is_told_apart() -> None:
    assert refusal(seed_json(schema_version=2)).code == "format.newer"


def test_all_mistakes_are_told_at_once() -> None:
    said = refusal(seed_json(features=[{"id": "AC1"}, 5, {"description": "x"}])).message
    assert all(place in said for place in ("features[0].description", "features[1]", "features[2].id"))
    many = refusal(seed_json(features=[5] * 50)).message
    assert "and 40 more" in many


@pytest.mark.requirement("P15")
def test_five_megabytes_of_quotation_marks_are_measured_without_running_in_circles() -> None:
    data = b'{"features": [' + b"[" * 70 + b'"' + rb"\"" * 2_500_000
    assert "deeper" in refusal(data).message
    balanced = b'{"a": "' + rb"\"[" * 1_000_000 + b'", "features": {}}'
    assert "no feature list" in refusal(balanced).message


@pytest.mark.requirement("P15")
@pytest.mark.parametrize(
    ("line", "criteria"), [(f"- [{' ' * 4_000_000}", 1), (f"- [ ] AC2 x{' ' * 4_000_000}x{' ' * 4_000_000}", 2)]
)
def test_eight_megabytes_of_blanks_are_read_without_running_in_circles(line: str, criteria: int) -> None:
    assert len(drafts(f"- [ ] AC1 first\n{line}\n")) == criteria
