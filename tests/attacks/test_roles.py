"""Holds that roles and rules cannot be talked round: who is not a person decides nothing for one, a text does not
soften unseen, a count is computed and not kept (gauntlet 1, 17, 18)."""

from __future__ import annotations

import json
import shutil

import pytest

from tallystick.errors import Refusal
from tallystick.faces.cli.call import MARKERS
from tests.attacks.scene import Scene
from tests.desk import FEATURE


@pytest.mark.requirement("P12", "L5")
@pytest.mark.parametrize("role", ["implementer", "main", "fixer", "spec-freezer", "tester"])
def test_a_pass_from_a_role_that_does_not_verify_is_refused_and_recorded(scene: Scene, role: str) -> None:
    app = scene.app(role)
    with pytest.raises(Refusal) as caught:
        app.ledger.mark_pass(FEATURE, "AC3", "proof.txt")
    app.store.close()
    assert (caught.value.code, role in caught.value.message) == ("role.denied", True)
    last = json.loads(scene.lines()[-1])
    assert (last["type"], last["by"]["role"], last["data"]["criterion"]) == ("pass_refused", role, "AC3")
    scene.expect_quiet(["AC1"])


@pytest.mark.requirement("P12", "L5")
@pytest.mark.parametrize("role", ["verifier", "solo"])
def test_a_pass_from_who_may_counts(scene: Scene, role: str) -> None:
    app = scene.app(role)
    app.ledger.mark_pass(FEATURE, "AC3", "proof.txt")
    app.store.close()
    shown = {row["id"]: row for row in scene.run("ledger", "show", "--json").document["criteria"]}
    assert (shown["AC3"]["state"], shown["AC3"]["passed_by"]) == ("holds", role)


PERSONS_ALONE = [
    ("ledger", "override", FEATURE, "AC2", "--reason", "trust me"),
    ("ledger", "amend", FEATURE, "AC2", "--text", "softer", "--reason", "trust me"),
    ("ledger", "amend", FEATURE, "AC2", "--close", "--reason", "trust me"),
]


@pytest.mark.requirement("P12", "P7")
@pytest.mark.parametrize("words", PERSONS_ALONE)
def test_what_only_a_person_decides_is_refused_to_everybody_else(scene: Scene, words: tuple[str, ...]) -> None:
    before = scene.states()
    said = scene.run(*words)
    assert (said.status, "not for the role shell" in said.err) == (1, True)
    for marker, client in MARKERS.items():
        said = scene.run(*words, person=True, env={marker: "1"})
        assert (said.status, "ask your user" in said.err) == (1, True), client
    refused = [json.loads(line) for line in scene.lines()[3:]]
    assert [one["type"] for one in refused] == ["pass_refused"] * (1 + len(MARKERS))
    assert {one["by"]["client"] for one in refused} == {None, *MARKERS.values()}
    assert scene.states() == before
    scene.ok(*words, person=True)
    assert scene.states() != before or "amended" in scene.run("ledger", "get", FEATURE, "AC2", "--json").out


@pytest.mark.requirement("P18", "P12")
@pytest.mark.parametrize("name", ["AC9", "\udcff", "A\x1bC", "x" * 500, "../../x"])
def test_a_refused_role_with_any_name_leaves_one_readable_record(scene: Scene, name: str) -> None:
    said = scene.run("ledger", "override", FEATURE, name, "--reason", "trust me")
    assert said.status == 1, said
    assert len(scene.lines()) == 4
    assert scene.findings() == []


@pytest.mark.requirement("P7", "L10")
def test_a_softened_text_needs_an_amendment_and_costs_the_pass(scene: Scene) -> None:
    """Gauntlet 17."""
    scene.edit_view("AC1", {"description": "softer"})
    assert "AC1: description" in scene.run("audit").out
    softer = "- [ ] AC1 softer\n"
    assert scene.refused("ledger", "init", FEATURE, "-", given=softer.encode()).code == "feature.exists"
    assert scene.refused("ledger", "add", FEATURE, "-", given=softer.encode()).code == "criterion.exists"
    assert scene.counted() == ["AC1"]
    scene.ok("ledger", "amend", FEATURE, "AC1", "--text", "softer", "--reason", "agreed", person=True)
    amended = json.loads(scene.lines()[-1])["data"]
    assert (amended["from"]["description"], amended["to"]["description"]) == ("the cart keeps its lines", "softer")
    assert scene.counted() == []


@pytest.mark.requirement("L8")
def test_the_number_of_attempts_is_computed_from_the_journal(scene: Scene) -> None:
    """Gauntlet 18: there is no counter that could be deleted."""
    for _ in range(3):
        scene.ok("ledger", "fail", FEATURE, "AC2", "--error", "again")
    shutil.rmtree(scene.store / "cache", ignore_errors=True)
    scene.edit_view("AC2", {"last_attempt_error": None})
    assert scene.run("ledger", "get", FEATURE, "AC2", "--json").document["attempts"] == 4


@pytest.mark.requirement("L6", "L7")
def test_a_pass_without_a_proof_or_a_second_time_is_refused(scene: Scene) -> None:
    for reference in ("trust me", "https://example.org/ci/1", ".git/HEAD", "../outside", "run:r-4k2p9xqa", " "):
        error = scene.refused("ledger", "pass", FEATURE, "AC3", "--evidence", reference)
        assert error.code.startswith("evidence."), error
    assert scene.refused("ledger", "pass", FEATURE, "AC3").code == "evidence.free_text"
    said = scene.run("ledger", "pass", FEATURE, "AC1", "--evidence", "proof.txt", "--json")
    assert (said.status, said.document["error"]["code"]) == (1, "pass.already")
    assert said.document["receipt"]["evidence_ref"] == "proof.txt"


@pytest.mark.requirement("P10")
def test_a_proof_exchanged_after_the_pass_is_noticed_by_the_next_command(scene: Scene) -> None:
    scene.put("proof.txt", "0 passed\n")
    assert scene.states()["AC1"] == "stale"
    assert scene.run("status", "--check").status == 3
    scene.put("proof.txt", "12 passed\n")
    assert scene.states()["AC1"] == "holds"
