"""Holds what `tallystick ledger` tells a person: what makes criteria provable, and what of the failing list is only
a count."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.desk import FEATURE, Desk


@pytest.mark.requirement("F1.18")
def test_a_ledger_of_free_text_alone_says_how_to_make_it_provable(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk")
    said = desk.ok("ledger", "init", FEATURE, "criteria.md")
    assert "3 of 3 criteria name no check; `tests:` or `run:` makes them provable." in said.out


def test_a_ledger_with_a_check_says_nothing_of_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk")
    desk.put("checked.md", "- [ ] AC1 the cart keeps its lines\n      tests: tests/test_cart.py::test_keeps\n")
    assert "name no check" not in desk.ok("ledger", "init", FEATURE, "checked.md").out


@pytest.mark.requirement("F1.20")
def test_the_failing_list_names_what_regressed_and_only_counts_what_is_stale(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk")
    desk.put("other.txt", "7 passed\n")
    desk.ok("ledger", "init", FEATURE, "criteria.md")
    desk.ok("ledger", "pass", "AC1", "--evidence", "proof.txt")
    desk.ok("ledger", "pass", "AC2", "--evidence", "other.txt")
    desk.ok("ledger", "fail", "AC1", "--error", "two lines are lost")
    desk.put("other.txt", "1 failed\n")
    document = desk.ok("ledger", "failing", "--json").document
    rows = {row["id"]: row for row in document["criteria"]}
    assert (rows["AC1"]["state"], rows["AC1"]["last_attempt_error"]) == ("regressed", "two lines are lost")
    assert "state" not in rows["AC3"]
    assert ("AC2" not in rows, document["stale"], document["elsewhere"]) == (True, 1, 0)
