"""Holds the effective settings at work: they are frozen with a feature and bound in each pass of a check, what asks for
less waits for a person, and what only differs makes passes run again and nothing else."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tallystick.effective import digest, effective
from tallystick.settings import FILE, Settings, parse
from tests.desk import FEATURE, Desk

CHECKS = "- [ ] AC1 it builds\n      run: true\n      paths: src/**\n- [ ] AC2 it looks good\n"
LOWER = '[policy]\nfree_text = "claimed"\n'


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.freeze(CHECKS)
    return made


def records(desk: Desk, kind: str) -> list[dict[str, Any]]:
    rows = map(json.loads, desk.journal.read_bytes().splitlines())
    return [row["data"] for row in rows if row["type"] == kind]


def states(desk: Desk) -> dict[str, str]:
    document = desk.ok("ledger", "show", FEATURE, "--json").document
    return {row["id"]: row["state"] for row in document["criteria"]}


@pytest.mark.requirement("F5.17")
def test_they_are_frozen_with_the_feature_and_bound_in_each_pass(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.put(FILE, "[verify]\ntime_limit_s = 60\n")
    desk.freeze(CHECKS)
    now = effective(parse(b"[verify]\ntime_limit_s = 60\n", FILE))
    assert [one["effective"] for one in records(desk, "ledger_frozen")] == [now]
    desk.ok("ledger", "pass", FEATURE, "AC1")
    desk.ok("ledger", "pass", FEATURE, "AC2", "--evidence", "proof.txt")
    passed = {one["criterion"]: one.get("settings") for one in records(desk, "pass_recorded")}
    assert passed == {"AC1": digest(now), "AC2": None}
    assert [one["settings"] for one in records(desk, "run_recorded")] == [digest(now)]


@pytest.mark.requirement("F5.17")
def test_what_only_differs_makes_passes_run_again_and_nothing_else(desk: Desk) -> None:
    desk.ok("ledger", "pass", FEATURE, "AC1")
    desk.ok("ledger", "pass", FEATURE, "AC2", "--evidence", "proof.txt")
    desk.put(FILE, "[share]\nauto = true\n")
    assert states(desk) == {"AC1": "holds", "AC2": "holds"}, "what no check depends on"
    desk.put(FILE, "[verify]\ntime_limit_s = 60\n")
    assert states(desk) == {"AC1": "stale", "AC2": "holds"}
    assert f"what counts for a check in {FILE} since its proof" in desk.ok("ledger", "get", FEATURE, "AC1").out
    assert desk.ok("verify", FEATURE, "--json").document["run"] is not None
    assert states(desk) == {"AC1": "holds", "AC2": "holds"}
    (desk.folder / FILE).unlink()
    assert states(desk)["AC1"] == "stale"
    desk.put(FILE, "no settings")
    assert states(desk)["AC1"] == "holds", "damage is named, and what cannot be read is not compared"


@pytest.mark.requirement("F5.17")
@pytest.mark.parametrize(
    ("lower", "says"),
    [
        (LOWER, "policy.free_text was cited and is claimed"),
        ('[verify]\nmode = "in-place"\n', "verify.mode was tree and is in-place"),
        ("[verify]\ncoverage = 10\n", "verify.coverage was 80 and is 10"),
        ('[verify]\nirrelevant = ["*.md", "docs/**", "src/**"]\n', "verify.irrelevant has src/** more"),
    ],
)
def test_what_asks_for_less_waits_for_a_person(desk: Desk, lower: str, says: str) -> None:
    desk.put(FILE, lower)
    for words in (("verify",), ("check",), ("ledger", "red"), ("ledger", "pass")):
        more = ("AC1",) if words == ("ledger", "pass") else ()
        error = desk.refused(*words, FEATURE, *more)
        assert (error.code, says in error.message) == ("settings.weakened", True)
        assert f"tallystick ledger accept {FEATURE} --settings --reason" in error.hint
    assert desk.refused("ledger", "pass", FEATURE, "AC2", "--evidence", "proof.txt").code == "settings.weakened"
    accept = ("ledger", "accept", FEATURE, "--settings", "--reason", "agreed")
    assert "role.denied" in desk.run(*accept, "--json").out
    said = desk.ok(*accept, "--json", person=True)
    assert said.document["accepted"] == [{"criterion": None, "type": "settings"}]
    assert records(desk, "accepted")[0]["effective"] == effective(parse(lower.encode(), FILE))
    desk.ok("ledger", "pass", FEATURE, "AC1")
    assert states(desk)["AC1"] == "holds"


@pytest.mark.requirement("F5.17")
def test_what_was_accepted_is_what_counts_from_then_on(desk: Desk) -> None:
    desk.put(FILE, "[verify]\ncoverage = 50\n")
    desk.ok("ledger", "accept", FEATURE, "--settings", "--reason", "a slow start", person=True)
    desk.put(FILE, "[verify]\ncoverage = 40\n")
    assert "verify.coverage was 50 and is 40" in desk.refused("check", FEATURE).message
    desk.put(FILE, "[verify]\ncoverage = 60\n")
    desk.ok("check", FEATURE)


def test_there_is_nothing_to_accept_where_nothing_asks_for_less(desk: Desk) -> None:
    accept = ("ledger", "accept", FEATURE, "--settings", "--reason", "agreed")
    assert desk.refused(*accept, person=True).code == "input.invalid"
    desk.put(FILE, "[verify]\ncoverage = 90\n")
    assert desk.refused(*accept, person=True).code == "input.invalid"
    desk.put(FILE, "no settings")
    assert desk.refused(*accept, person=True).code == "settings.invalid"
    assert desk.refused("ledger", "accept", FEATURE, "AC1", *accept[3:], person=True).code == "usage"


@pytest.mark.requirement("F5.17")
def test_in_another_copy_the_frozen_ones_count_and_what_was_accepted_elsewhere_does_not(tmp_path: Path) -> None:
    theirs, mine = Desk(tmp_path / "theirs"), Desk(tmp_path / "mine")
    theirs.freeze(CHECKS)
    theirs.put(FILE, LOWER)
    theirs.ok("ledger", "accept", FEATURE, "--settings", "--reason", "agreed", person=True)
    shutil.copytree(theirs.folder / ".tallystick", mine.folder / ".tallystick")
    mine.ok("init")
    mine.ok("trust", "--yes", person=True)
    assert mine.refused("check", FEATURE).code == "settings.weakened"
    (mine.folder / FILE).unlink()
    mine.ok("check", FEATURE)


@pytest.mark.requirement("F5.17")
def test_settings_that_cannot_be_read_at_the_freeze_do_not_lower_what_is_frozen(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.put(FILE, "no settings")
    desk.freeze(CHECKS)
    assert records(desk, "ledger_frozen")[0]["effective"] == effective(Settings())
