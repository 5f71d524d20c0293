"""Holds that a pass which holds is marked once, also where a person overrode the criterion since."""

from __future__ import annotations

from pathlib import Path

from tests.desk import FEATURE, Desk


def test_an_override_is_no_reason_to_mark_a_pass_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.freeze()
    desk.cite("AC1")
    desk.ok("ledger", "override", FEATURE, "AC1", "--reason", "seen by hand", person=True)
    assert desk.refused("ledger", "pass", FEATURE, "AC1", "--evidence", "proof.txt").code == "pass.already"
