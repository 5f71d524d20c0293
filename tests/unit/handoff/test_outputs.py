"""Holds the fold of outputs: versions in their order, which one is current, and what is no record of an output."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import canonical
from tallystick.handoff.output.header import header_of
from tallystick.handoff.output.intake import written
from tallystick.handoff.output.model import (
    ADOPTED,
    SAVED,
    Kept,
    Outputs,
    OutputsFold,
    current,
    data_of,
    known,
    lies_there,
)
from tallystick.journal.record import FIRST, By, Record
from tests.unit.handoff.examples import document

FILE = "08-developer-task-001.json"
FOLD = OutputsFold()


def record(n: int, data: dict[str, Any], kind: str = SAVED) -> Record:
    at = f"2026-05-21T00:00:{n:02d}.000Z"
    return Record("5" * 32, "checkout", "a" * 32, n, (1, 1), n, f"{n:064x}", FIRST, {}, at, By("developer"), kind, data)


def data(**changed: Any) -> dict[str, Any]:
    whole = document(**changed)
    return data_of(FILE, Kept(header_of(whole), written(whole), {}))


def folded(*records: tuple[Record, bool]) -> Outputs:
    state = FOLD.empty("checkout")
    for one, ours in records:
        assert FOLD.flaw(one) is None
        FOLD.apply(state, one, ours)
    through = FOLD.load("checkout", json.loads(json.dumps(FOLD.dump(state))))
    assert through == state
    assert FOLD.copy(state) == state
    assert FOLD.copy(state) is not state
    return state


@pytest.mark.requirement("F2.2")
def test_the_same_name_again_is_the_next_version_and_the_first_one_stays() -> None:
    state = folded((record(1, data()), True), (record(2, data(status="failed"), ADOPTED), True))
    first, second = state[FILE]
    assert (first.version, first.status, first.adopted) == (1, "completed", False)
    assert (second.version, second.status, second.adopted) == (2, "failed", True)
    assert current(state[FILE]) == second
    assert known(state[FILE]) == {first.digest, second.digest}


def test_of_another_key_none_replaces_ours() -> None:
    state = folded((record(1, data()), True), (record(2, data(status="failed")), False))
    assert current(state[FILE]).status == "completed"
    theirs = folded((record(1, data()), False), (record(2, data(status="failed")), False))
    assert current(theirs[FILE]).status == "failed"


def test_an_agents_own_file_is_the_output_whose_secrets_were_masked() -> None:
    whole = document()
    kept = Kept(header_of(whole), written(whole), {"github-token": 2, "pem": 1}, original="e" * 64)
    [one] = folded((record(1, data_of(FILE, kept)), True))[FILE]
    assert (one.masked, one.original) == (3, "e" * 64)
    assert lies_there(one, "e" * 64)
    assert lies_there(one, one.digest)
    assert not lies_there(one, "d" * 64)


def test_a_large_output_does_not_travel_in_the_record() -> None:
    whole = document(output={**document()["output"], "notes": "x" * 20_000})
    row = data_of(FILE, Kept(header_of(whole), written(whole), {}))
    assert row["kept"] is True
    assert "text" not in row
    assert folded((record(1, row), True))[FILE][0].kept


BAD: list[dict[str, Any]] = [
    {"file": None},
    {"file": "../../x"},
    {"file": "MANIFEST.yaml"},
    {"file": "09-developer-task-001.json"},
    {"file": "08-reviewer-task-001.json"},
    {"phase": True},
    {"phase": -1},
    {"phase": "8"},
    {"role": "../x"},
    {"role": ["developer"]},
    {"slug": "other"},
    {"task_id": 7},
    {"agent_id": None},
    {"timestamp": "now"},
    {"status": None},
    {"sha256": "0" * 64},
    {"sha256": "x"},
    {"sha256": ["0" * 64]},
    {"size": -1},
    {"size": 1},
    {"size": True},
    {"size": 10**12},
    {"text": 7},
    {"text": "other"},
    {"text": "x" * 100_000},
    {"text": None},
    {"text": None, "kept": True},
    {"masked": 3},
    {"masked": {"x": "many"}},
    {"masked": {"x": -1}},
    {"original": "x"},
    {"given": {}},
    {"replaced": 1},
]


@pytest.mark.parametrize("changed", BAD, ids=str)
def test_a_payload_that_is_no_output_is_named(changed: dict[str, Any]) -> None:
    flaw = FOLD.flaw(record(1, {**data(), **changed}))
    assert flaw is not None
    assert flaw.startswith("has ")


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from([FILE])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)),
    max_leaves=6,
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(data(), JSON)))
def test_any_payload_is_folded_or_named(changed: dict[str, Any]) -> None:
    one = record(1, {**data(), **changed})
    if FOLD.flaw(one) is None:
        state = FOLD.empty("checkout")
        FOLD.apply(state, one, False)
        [[output]] = state.values()
        assert canonical.sha256(one.data["text"].encode()) == output.digest
