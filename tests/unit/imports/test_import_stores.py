"""Holds what an import does with three foreign stores: the counts are right, nothing counts as passed, a second import
records nothing, a dry run writes nothing, and what contradicts is named and left."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tallystick.ledger import rules
from tallystick.ledger.model import Claim, Draft, state_of
from tests.desk import Desk, changes
from tests.unit.imports.stores import (
    AUTH,
    criterion,
    ledger,
    of_a_harness,
    of_another_server,
    of_jonggrang,
    output,
    passed,
    put,
)
from tests.unit.ledger.ledgers import FEATURE, Book


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk without a store."""
    return Desk(tmp_path / "here")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Where the foreign store lies."""
    folder = tmp_path / "old-project"
    folder.mkdir()
    return folder


def imported(desk: Desk, source: Path, *words: str) -> Any:
    """The answer of an import."""
    return desk.ok("import", str(source), "--json", *words).document


def shown(desk: Desk, feature: str) -> dict[str, Any]:
    """What `ledger show` says."""
    found: dict[str, Any] = desk.ok("ledger", "show", feature, "--json").document
    return found


def records(desk: Desk) -> list[str]:
    """Every line of every journal."""
    return sorted(line for file in (desk.store / "journal").glob("*/*.jsonl") for line in file.read_text().splitlines())


@pytest.mark.requirement("F6.1")
def test_a_ledger_of_another_server_is_claimed_and_counts_for_nothing(desk: Desk, old: Path) -> None:
    said = desk.ok("import", str(of_another_server(old)))
    assert said.out.splitlines()[-1] == (
        "32 claimed as passing, 0 counted; 12 of 40 criteria name a check: tallystick check checkout"
    )
    document = shown(desk, "checkout")
    assert [row["passes"] for row in document["criteria"]] == [False] * 40
    assert {row["level"] for row in document["criteria"]} == {"claimed"}
    assert {row["state"] for row in document["criteria"]} == {"failing"}
    assert document["counts"]["passing"] == 0
    assert desk.run("status", "checkout", "--check").status == 3
    view = json.loads(desk.view.read_text())
    assert [row["passes"] for row in view["features"]] == [False] * 40


def test_each_claim_is_kept_with_what_it_said(desk: Desk, old: Path) -> None:
    document = imported(desk, of_another_server(old))
    assert (document["claimed_passing"], document["claimed_failing"], document["counted"]) == (32, 3, 0)
    file = "old-project/.agent/tasks/checkout/"
    claim = {"at": "2026-03-01T10:00:00.000Z", "error": None, "evidence_ref": "reports/1.txt", "passes": True,
             "source": f"{file}feature_list.json"}  # fmt: skip
    first = desk.ok("ledger", "get", "checkout", "AC1", "--json").document
    assert first["claims"] == [claim]
    assert (first["passes"], first["attempts"], first["last_attempt_error"]) == (False, 0, None)
    evidence = desk.ok("ledger", "get", "checkout", "AC34", "--json").document["claims"]
    assert [(one["evidence_ref"], one["source"]) for one in evidence] == [
        ("raw/34.txt: npm test: all green", f"{file}evidence.json")
    ]
    text = desk.ok("ledger", "get", "checkout", "AC32").out
    assert "claimed    failing, 32 is red" in text
    assert "counts for nothing" in text


def test_a_claimed_failure_is_no_attempt(desk: Desk, old: Path) -> None:
    imported(desk, of_another_server(old))
    row = desk.ok("ledger", "get", "checkout", "AC32", "--json").document
    assert (row["attempts"], row["last_attempt_error"]) == (0, None)


@pytest.mark.requirement("F6.1")
def test_the_array_form_is_imported_under_the_name_that_is_given(desk: Desk, old: Path) -> None:
    document = imported(desk, of_a_harness(old), "--feature", "chat")
    [feature] = document["features"]
    assert (feature["feature"], feature["frozen"], feature["claims"]) == ("chat", 3, 2)
    rows = shown(desk, "chat")["criteria"]
    assert [row["id"] for row in rows] == ["F001", "F002", "F003"]
    assert [row["passes"] for row in rows] == [False] * 3
    assert "- Click 'New Chat'" in rows[0]["description"]


def test_a_jonggrang_folder_gives_outputs_tasks_and_a_manifest(desk: Desk, old: Path) -> None:
    document = imported(desk, of_jonggrang(old))
    [feature] = document["features"]
    assert (feature["feature"], feature["outputs"], feature["tasks"]) == (AUTH, 2, 2)
    assert document["claimed_passing"] == 0
    assert {Path(row["file"]).name: row["says"] for row in feature["left"]}.keys() == {
        "14-tester-broken.json",
        "notes.txt",
    }
    here = desk.folder / ".jonggrang/.output/features" / AUTH
    there = old / ".jonggrang/.output/features" / AUTH
    for name in ("08-developer-task-001.json", "13-tester-results.json", "MANIFEST.yaml"):
        assert (here / name).read_bytes() == (there / name).read_bytes()
    board = json.loads((here / "jonggrang-tasks.json").read_text())
    assert [(task["id"], task["status"], task["passes"]) for task in board["tasks"]] == [
        ("task-001", "completed", False),
        ("task-002", "pending", False),
    ]


STORES = {
    "server": (of_another_server, ()),
    "harness": (of_a_harness, ("--feature", "chat")),
    "folder": (of_jonggrang, ()),
}


@pytest.mark.requirement("F6.2")
@pytest.mark.parametrize("name", sorted(STORES))
def test_a_dry_run_says_the_same_and_writes_nothing(desk: Desk, old: Path, name: str) -> None:
    make, words = STORES[name]
    source = str(make(old))
    before = desk.tree()
    dry = desk.ok("import", source, "--dry-run", *words)
    told = desk.ok("import", source, "--dry-run", "--json", *words).document
    assert changes(before, desk.tree()) == {}
    real = desk.ok("import", source, *words)
    assert real.out.splitlines()[-1] == dry.out.splitlines()[-1]
    assert len(real.out.splitlines()) == len(dry.out.splitlines())
    assert " will " in dry.out
    assert " will " not in real.out
    assert told["dry_run"] is True


@pytest.mark.requirement("F6.2")
def test_a_dry_run_into_a_store_writes_nothing_either(desk: Desk, old: Path) -> None:
    desk.freeze()
    before = desk.tree()
    desk.ok("import", str(of_jonggrang(of_another_server(old))), "--dry-run")
    assert changes(before, desk.tree()) == {}


@pytest.mark.parametrize("name", sorted(STORES))
def test_a_second_import_records_nothing(desk: Desk, old: Path, name: str) -> None:
    make, words = STORES[name]
    first = imported(desk, make(old), *words)
    before, lines = desk.tree(), records(desk)
    again = imported(desk, old, *words)
    assert records(desk) == lines
    assert changes(before, desk.tree()) == {}
    [feature] = again["features"]
    assert (feature["frozen"], feature["added"], feature["claims"], feature["outputs"], feature["tasks"]) == (0,) * 5
    assert again["claimed_passing"] == first["claimed_passing"]


def test_each_feature_is_one_commit(desk: Desk, old: Path) -> None:
    imported(desk, of_another_server(old))
    commits = [json.loads(line)["c"] for line in records(desk) if '"feature":"checkout"' in line]
    assert sorted(commits) == [[place, len(commits)] for place in range(1, len(commits) + 1)]


def test_a_project_imports_its_own_old_files(desk: Desk) -> None:
    """The ledger of another server lies where our view will be: its ticks go, its bytes stay."""
    of_jonggrang(of_another_server(desk.folder))
    old = desk.view.read_bytes()
    said = desk.ok("import", ".")
    view = json.loads(desk.view.read_text())
    assert not any(row["passes"] for row in view["features"])
    assert any(path.is_file() and path.read_bytes() == old for path in (desk.store / "blobs").rglob("*"))
    assert "old bytes are kept" in said.err
    lines = records(desk)
    [auth, checkout] = imported(desk, desk.folder)["features"]
    assert records(desk) == lines
    assert checkout["left"][0]["says"] == "it is the view of the ledger here"
    assert auth["outputs"] == 0


def test_an_array_where_the_view_will_be_gives_way_to_it(desk: Desk) -> None:
    put(desk.view, [{"description": "a", "passes": True}])
    imported(desk, desk.folder)
    assert json.loads(desk.view.read_text())["features"][0]["passes"] is False
    desk.ok("ledger", "pass", "checkout", "F001", "--evidence", "proof.txt")


def test_an_existing_ledger_keeps_its_texts_and_names_what_differs(desk: Desk, old: Path) -> None:
    desk.ok("ledger", "init", "checkout", "-", given=json.dumps(ledger(criterion(1), criterion(2))).encode())
    desk.cite("AC2")
    theirs = ledger(passed(1), passed(2, description="something else"), passed(3))
    put(old / ".agent/tasks/checkout/feature_list.json", theirs)
    [feature] = imported(desk, old)["features"]
    assert (feature["frozen"], feature["added"], feature["known"], feature["claims"]) == (0, 1, 1, 2)
    [conflict] = feature["conflicts"]
    assert conflict["criterion"] == "AC2"
    assert "something else" in conflict["says"]
    rows = {row["id"]: row for row in shown(desk, "checkout")["criteria"]}
    assert (rows["AC2"]["passes"], rows["AC2"]["description"]) == (True, "criterion 2 is met")
    assert desk.ok("ledger", "get", "checkout", "AC2", "--json").document["claims"] == []
    assert (rows["AC1"]["passes"], rows["AC3"]["passes"]) == (False, False)
    assert shown(desk, "checkout")["counts"]["added"] == 1


def test_a_copy_of_our_own_view_says_nothing_new(desk: Desk, old: Path) -> None:
    desk.freeze()
    desk.cite("AC1")
    desk.ok("ledger", "fail", "checkout", "AC2", "--error", "red")
    put(old / "feature_list.json", desk.view.read_bytes())
    lines = records(desk)
    [feature] = imported(desk, old / "feature_list.json")["features"]
    assert (feature["claims"], feature["known"]) == (0, 3)
    assert records(desk) == lines


def test_records_stand_where_the_tree_cannot_take_the_files(desk: Desk, old: Path) -> None:
    put(desk.folder / ".jonggrang", "a file in the way")
    said = desk.ok("import", str(of_jonggrang(old)), "--json")
    assert said.document["features"][0]["outputs"] == 2
    assert said.document["notes"]
    assert sum('"type":"output_adopted"' in line for line in records(desk)) == 2


def test_other_evidence_asked_for_is_a_conflict_too(desk: Desk, old: Path) -> None:
    desk.ok("ledger", "init", "checkout", "-", given=json.dumps(ledger(criterion(1))).encode())
    put(old / "feature_list.json", ledger(passed(1, evidence_required=["run: true"])))
    [feature] = imported(desk, old / "feature_list.json")["features"]
    assert [one["criterion"] for one in feature["conflicts"]] == ["AC1"]
    assert feature["claims"] == 0


@pytest.mark.requirement("L18")
def test_evidence_alone_claims_for_a_ledger_that_is_here(desk: Desk, old: Path) -> None:
    desk.freeze()
    put(old / "evidence.json", {"task_id": "checkout", "AC1": "PASS", "AC2": "FAIL", "author": "verifier"})
    document = imported(desk, old / "evidence.json")
    assert (document["claimed_passing"], document["claimed_failing"]) == (1, 1)
    assert desk.counted() == []


@pytest.mark.requirement("L18")
def test_evidence_with_texts_needs_no_ledger(desk: Desk, old: Path) -> None:
    rows = [{"id": "AC1", "text": "the cart is kept", "status": "PASS", "proof": ["a.txt"]}]
    put(old / ".agent/tasks/shop/evidence.json", {"task_id": "shop", "acceptance_criteria": rows})
    [feature] = imported(desk, old)["features"]
    assert (feature["feature"], feature["frozen"], feature["claims"]) == ("shop", 1, 1)


@pytest.mark.requirement("L18")
def test_evidence_named_alone_reads_the_ledger_beside_it(desk: Desk, old: Path) -> None:
    of_another_server(old)
    document = imported(desk, old / ".agent/tasks/checkout/evidence.json")
    assert (document["criteria"], document["claimed_passing"]) == (40, 32)


def test_another_claim_is_added_beside_the_first(desk: Desk, old: Path) -> None:
    put(old / "one.json", ledger(passed(1)))
    put(old / "two.json", ledger(criterion(1, last_attempt_error="red again")))
    imported(desk, old / "one.json")
    imported(desk, old / "two.json")
    claims = desk.ok("ledger", "get", "checkout", "AC1", "--json").document["claims"]
    assert [(one["passes"], one["source"]) for one in claims] == [(True, "one.json"), (False, "two.json")]


def test_an_amended_criterion_has_no_claims_any_more(desk: Desk, old: Path) -> None:
    put(old / "one.json", ledger(passed(1)))
    imported(desk, old / "one.json")
    desk.ok("ledger", "amend", "checkout", "AC1", "--text", "more is met", "--reason", "agreed", person=True)
    assert desk.ok("ledger", "get", "checkout", "AC1", "--json").document["claims"] == []


def test_a_claim_is_still_there_out_of_a_checkpoint() -> None:
    book = Book()
    claim = Claim(True, "a.txt", None, None, "old/feature_list.json")
    book.commit(rules.claim(book.ledger.criteria["AC1"].draft, claim))
    loaded = book.fold.load(FEATURE, json.loads(json.dumps(book.fold.dump(book.ledger))))
    assert loaded.criteria["AC1"].claims == (claim,)
    assert loaded.criteria == book.ledger.criteria


@pytest.mark.parametrize("ours", [True, False])
def test_a_claim_makes_nothing_pass_whoever_recorded_it(ours: bool) -> None:
    book = Book()
    claim = Claim(True, "a.txt", None, None, "old/feature_list.json")
    book.commit(rules.claim(book.ledger.criteria["AC1"].draft, claim), ours=ours)
    criterion = book.ledger.criteria["AC1"]
    assert (criterion.passes, criterion.elsewhere, criterion.attempts) == (False, False, 0)
    assert state_of(criterion, False) == "failing"


def test_a_claim_for_another_text_is_passed_over() -> None:
    book = Book()
    book.commit(rules.claim(Draft("AC1", "another text"), Claim(True, None, None, None, "x")))
    assert book.ledger.criteria["AC1"].claims == ()


@pytest.mark.parametrize(
    "inner",
    [".", ".jonggrang", ".jonggrang/.output", ".jonggrang/.output/features", f".jonggrang/.output/features/{AUTH}"],
)
def test_any_folder_on_the_way_may_be_named(desk: Desk, old: Path, inner: str) -> None:
    of_jonggrang(old)
    [feature] = imported(desk, old / inner)["features"]
    assert (feature["feature"], feature["outputs"]) == (AUTH, 2)


@pytest.mark.parametrize("inner", [".", ".agent", ".agent/tasks", ".agent/tasks/checkout"])
def test_any_folder_above_a_ledger_may_be_named(desk: Desk, old: Path, inner: str) -> None:
    of_another_server(old)
    assert imported(desk, old / inner)["criteria"] == 40


def test_a_feature_gets_another_name_with_all_that_is_its_own(desk: Desk, old: Path) -> None:
    folder = old / ".jonggrang/.output/features/Auth_Feature"
    put(folder / "08-developer-task-001.json", output(feature="Auth_Feature"))
    put(folder / "MANIFEST.yaml", "feature_id: Auth_Feature\nphases: {}\n")
    put(folder / "jonggrang-tasks.json", {"feature": "Auth_Feature", "tasks": [{"id": "t-1", "title": "A"}]})
    [feature] = imported(desk, old, "--feature", "auth")["features"]
    assert (feature["feature"], feature["outputs"], feature["tasks"], feature["left"]) == ("auth", 1, 1, [])
    here = desk.folder / ".jonggrang/.output/features/auth"
    assert json.loads((here / "08-developer-task-001.json").read_text())["feature_id"] == "auth"
    lines = records(desk)
    assert imported(desk, old, "--feature", "auth")["features"][0]["outputs"] == 0
    assert records(desk) == lines


def test_one_of_several_features_is_chosen(desk: Desk, old: Path) -> None:
    of_jonggrang(of_another_server(old))
    [feature] = imported(desk, old, "--feature", AUTH)["features"]
    assert feature["feature"] == AUTH


def test_an_output_whose_name_is_taken_is_another_version(desk: Desk, old: Path) -> None:
    of_jonggrang(old)
    imported(desk, old)
    put(old / f".jonggrang/.output/features/{AUTH}/08-developer-task-001.json", {**output(), "status": "partial"})
    assert imported(desk, old)["features"][0]["outputs"] == 1


def test_a_task_of_another_title_is_a_conflict(desk: Desk, old: Path) -> None:
    of_jonggrang(old)
    imported(desk, old)
    put(old / ".jonggrang/jonggrang-tasks.json", {"feature": AUTH, "tasks": [{"id": "task-001", "title": "Other"}]})
    [feature] = imported(desk, old)["features"]
    assert feature["tasks"] == 0
    assert "Other" in feature["conflicts"][0]["says"]


def test_secrets_in_a_claim_never_reach_the_disk(desk: Desk, old: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    put(old / "one.json", ledger(criterion(1, last_attempt_error=f"401 with {secret}")))
    imported(desk, old / "one.json")
    assert not any(secret.encode() in data for _, data in desk.tree().values())


def test_stored_text_does_not_act_on_the_terminal(desk: Desk, old: Path) -> None:
    put(old / "one.json", ledger(criterion(1, description="a\x1b[31m", last_attempt_error="b\x1b]0;x\x07\u202e")))
    out = desk.ok("import", str(old / "one.json")).out + desk.ok("ledger", "get", "checkout", "AC1").out
    assert not {"\x1b", "\x07", "\u202e"} & set(out)


def test_many_files_are_counted_and_a_bounded_number_is_listed(desk: Desk, old: Path) -> None:
    folder = old / ".jonggrang/.output/features" / AUTH
    put(folder / "08-developer-task-001.json", output())
    for number in range(400):
        put(folder / f"note-{number:03d}.txt", "x")
    said = desk.ok("import", str(old), "--dry-run")
    assert len(said.out.splitlines()) < 40
    assert "… and 381 more files" in said.out
    [feature] = imported(desk, old, "--dry-run")["features"]
    assert (len(feature["left"]), feature["more"]) == (200, 200)


def test_the_answer_names_the_source_by_its_own_name_only(desk: Desk, old: Path) -> None:
    of_another_server(old)
    imported(desk, old)
    assert not any(os.fsencode(old) in line.encode() for line in records(desk))
