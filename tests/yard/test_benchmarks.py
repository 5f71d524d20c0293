"""Holds what the benchmarks print: medians, verdicts, the order in which things take turns, both forms of the table."""

from __future__ import annotations

import json

import pytest

from benchmarks.scene import CountingFiles, freeze, scene
from benchmarks.table import Machine, Row, as_json, as_text, holds
from benchmarks.timing import Sample, in_turn, milliseconds

QUIET = Machine(Sample((0.001,) * 10), Sample((0.015,) * 10), 0.0)


def row(measured: float, bound: float | None, at_least: bool = False) -> Row:
    return Row("Marks", "N = 10", measured, bound, "2 ms against 1 ms", at_least)


@pytest.mark.parametrize(
    ("one", "verdict"),
    [
        (row(2.0, 2), "ok"),
        (row(2.1, 2), "over"),
        (row(0.4, 0.4, at_least=True), "ok"),
        (row(0.3, 0.4, at_least=True), "under"),
        (row(99.0, None), ""),
    ],
)
def test_a_row_says_whether_it_keeps_its_bound(one: Row, verdict: str) -> None:
    assert one.verdict == verdict
    assert holds([one]) == (verdict in ("ok", ""))


def test_the_table_has_every_row_in_both_forms() -> None:
    rows = [row(1.5, 2), row(2.5, 2)]
    text = as_text(QUIET, rows)
    assert [line.split()[3:7] for line in text.splitlines() if "N = 10" in line] == [
        ["1.50", "<=", "2", "ok"],
        ["2.50", "<=", "2", "over"],
    ]
    document = json.loads(as_json(QUIET, rows))
    assert [one["verdict"] for one in document["rows"]] == ["ok", "over"]
    assert document["machine"]["flush_ms"] == 1.0


def test_a_sample_tells_its_middle_and_its_spread() -> None:
    sample = Sample(tuple(float(value) for value in range(1, 12)))
    assert sample.median == 6.0
    assert sample.quantile(0.99) == 11.0
    assert sample.spread == pytest.approx((10 - 2) / 6)
    assert milliseconds(0.0005) == "0.500 ms"


def test_what_is_compared_takes_turns() -> None:
    order: list[str] = []
    times = in_turn({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 3)
    assert order == ["a", "b"] * 3
    assert {name: len(sample.seconds) for name, sample in times.items()} == {"a": 3, "b": 3}


def test_a_mark_takes_one_sync() -> None:
    files = CountingFiles()
    with scene() as at:
        app = at.app(files)
        freeze(app, "checkout", 3)
        app.ledger.mark_pass("checkout", "AC0", at.write("proof.txt", 300))
        before = files.syncs
        app.ledger.mark_pass("checkout", "AC1", at.write("more.txt", 300))
        assert files.syncs == before + 1
        app.store.close()
