"""Holds `output save`, `find` and `show` as a person and a script see them, and how they end when something is off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.desk import FEATURE, Desk
from tests.unit.handoff.examples import document, payload

FILE = "08-developer-task-001.json"
PLACE = f".jonggrang/.output/features/{FEATURE}"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A ledger, and an output to hand over."""
    made = Desk(tmp_path)
    made.freeze()
    made.put("result.json", given())
    return made


def given(role: str = "developer", **changed: Any) -> bytes:
    return json.dumps({**document(role), **changed}).encode()


@pytest.mark.requirement("O1", "O12")
def test_what_is_saved_is_found_and_shown(desk: Desk) -> None:
    assert desk.ok("output", "save", "result.json").out == f"checkout: {FILE} saved, version 1.\n"
    assert json.loads((desk.folder / PLACE / FILE).read_bytes()) == document()
    assert desk.ok("output", "find").out.split("\n") == [
        "checkout   1 output",
        "",
        f"  8  developer  task-001  completed  just now  {FILE}",
        "",
    ]
    assert json.loads(desk.ok("output", "show", FILE).out) == document()


def test_standard_input_is_saved_too_and_the_same_again_says_so(desk: Desk) -> None:
    first = desk.ok("output", "save", "-", "--json", given=given()).document
    again = desk.ok("output", "save", "-", "--json", given=given()).document
    assert (first["version"], first["again"]) == (1, False)
    assert again == {**first, "again": True}
    assert "was saved already" in desk.ok("output", "save", "-", given=given()).out


def test_a_file_name_that_is_one_says_the_slug(desk: Desk) -> None:
    desk.put("08-developer-login.json", given())
    assert desk.ok("output", "save", "08-developer-login.json", "--json").document["file"] == "08-developer-login.json"


@pytest.mark.requirement("F2.1")
def test_a_refusal_names_the_mistakes_and_changes_nothing(desk: Desk) -> None:
    desk.put("result.json", given(phase=-1, status="done", agent_id="", task_id=7))
    error = desk.refused("output", "save", "result.json")
    assert error.code == "output.invalid"
    assert error.message.startswith("the output has 4 mistakes: phase is -1, ")
    assert error.message.endswith("… and 1 more")


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1, "a": 2}', '{"\u202e": "\x1b[31m"}'])
def test_what_is_no_output_is_refused(desk: Desk, text: str) -> None:
    assert desk.refused("output", "save", "-", given=text.encode()).code in ("input.invalid", "output.invalid")


def test_a_file_that_is_not_there_is_refused(desk: Desk) -> None:
    assert desk.refused("output", "save", "nosuch.json").code == "input.unreadable"


@pytest.mark.requirement("F2.5", "P18")
def test_find_shows_what_is_not_adopted_and_what_is_no_output(desk: Desk) -> None:
    desk.ok("output", "save", "result.json")
    desk.put(f"{PLACE}/12-test-lead-plan.json", given("test-lead", phase=12, output={}))
    desk.put(f"{PLACE}/13-verifier-run.json", given("verifier", phase=13))
    desk.put(f"{PLACE}/evil\x1b[2J\u202e.json", b"{}")
    before = desk.tree()
    said = desk.ok("output", "find")
    lines = said.out.split("\n")
    assert lines[0] == "checkout   3 outputs, 1 file that is called otherwise"
    assert lines[2].split() == ["13", "verifier", "-", "completed", "-", "13-verifier-run.json", "not", "adopted"]
    assert lines[3].split()[-1] == FILE
    assert "evil\\x1b[2J\\u202e.json  invalid: 1 mistake" in said.out
    assert "12-test-lead-plan.json  invalid: 2 mistakes\n      output.coverage_target is missing" in said.out
    assert said.out.replace("\n", "").isprintable()
    assert desk.tree() == before
    desk.ok("ledger", "fail", "AC1", "--error", "x")
    assert "not adopted" not in desk.ok("output", "find").out


def test_find_as_a_document(desk: Desk) -> None:
    desk.ok("output", "save", "result.json")
    found = desk.ok("output", "find", "--json").document
    [row] = found.pop("outputs")
    assert found == {"feature": FEATURE, "cursor": None, "more": 0, "total": 1}
    assert {key: row[key] for key in ("file", "phase", "role", "task_id", "status", "adopted", "valid", "reasons")} == {
        "file": FILE,
        "phase": 8,
        "role": "developer",
        "task_id": "task-001",
        "status": "completed",
        "adopted": True,
        "valid": True,
        "reasons": [],
    }


@pytest.mark.requirement("O10")
@pytest.mark.parametrize(
    ("words", "count"),
    [
        (("--role", "developer"), 1),
        (("--role", "reviewer"), 0),
        (("--phase", "8"), 1),
        (("--phase", "implementation"), 1),
        (("--phase", "testing"), 0),
        (("--task", "task-001"), 1),
        (("--task", "task-002"), 0),
        (("--status", "completed"), 1),
        (("--status", "blocked"), 0),
    ],
)
def test_find_takes_filters(desk: Desk, words: tuple[str, ...], count: int) -> None:
    desk.ok("output", "save", "result.json")
    assert len(desk.ok("output", "find", *words, "--json").document["outputs"]) == count


def test_words_that_are_off(desk: Desk) -> None:
    desk.ok("output", "save", "result.json")
    assert desk.refused("output", "find", "--phase", "dreaming").code == "phase.unknown"
    assert desk.refused("output", "find", "--status", "done").code == "usage"
    assert desk.refused("output", "find", "--after", "nosuch").code == "usage"
    assert desk.refused("output", "find", "nosuch").code == "feature.unknown"
    assert desk.refused("output", "find", "../x").code == "input.invalid"
    assert desk.refused("output", "show", "nosuch.json").code == "output.unknown"
    for version in ("0", "-1", "x", "²", "9" * 12):
        code = desk.refused("output", "show", FILE, f"--version={version}").code
        assert code == ("output.unknown" if version == "0" else "usage")


@pytest.mark.requirement("F2.2")
def test_an_earlier_version_is_shown(desk: Desk) -> None:
    desk.ok("output", "save", "result.json")
    desk.ok("output", "save", "-", given=given(status="failed"))
    shown = desk.ok("output", "show", FILE, "--version", "1", "--json").document
    assert (shown["version"], shown["versions"], shown["document"]["status"]) == (1, 2, "completed")
    assert "2 versions" in desk.ok("output", "find").out


@pytest.mark.requirement("P18")
def test_what_is_shown_cannot_act_on_a_terminal(desk: Desk) -> None:
    text = "red \x1b[31m \u202e and\nnext"
    desk.ok("output", "save", "-", given=given(output={**payload("developer"), "notes": text}))
    said = desk.ok("output", "show", FILE)
    assert said.out.replace("\n", "").isprintable()
    assert desk.ok("output", "show", FILE, "--json").document["document"]["output"]["notes"] == text


def test_a_long_list_goes_on_behind_its_last_row(desk: Desk) -> None:
    for number in range(25):
        desk.put(f"{PLACE}/08-developer-{number:02d}.json", given())
    first = desk.ok("output", "find")
    assert "… 5 more: tallystick output find checkout --after 08-developer-" in first.out
    cursor = desk.ok("output", "find", "--json").document["cursor"]
    assert len(desk.ok("output", "find", "--after", cursor, "--json").document["outputs"]) == 5


def test_damage_is_named_and_the_list_is_shown_all_the_same(desk: Desk) -> None:
    desk.ok("output", "save", "result.json")
    desk.journal.write_bytes(desk.journal.read_bytes().replace(b"the cart keeps", b"the cart loses"))
    said = desk.run("output", "find")
    assert said.status == 8
    assert "journal.damaged" in said.err


def test_an_output_is_saved_over_a_damaged_journal(desk: Desk) -> None:
    """What an agent did would be lost if it were refused."""
    desk.journal.write_bytes(desk.journal.read_bytes().replace(b"the cart keeps", b"the cart loses"))
    assert desk.run("output", "save", "result.json").status == 0


@pytest.mark.requirement("F2.5")
def test_a_folder_alone_says_which_feature_is_meant(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.put(f"{PLACE}/{FILE}", given())
    assert FILE in desk.ok("output", "find").out
    assert json.loads(desk.ok("output", "show", FILE).out) == document()
    assert FEATURE in desk.ok("status").out
    desk.put(".jonggrang/.output/features/other/x.txt", b"")
    assert "which feature?" in desk.refused("output", "find").message


def test_files_that_are_called_otherwise_hide_no_broken_output(desk: Desk) -> None:
    desk.put(f"{PLACE}/08-developer-broken.json", b"{}")
    for number in range(30):
        desk.put(f"{PLACE}/foreign-{number}.txt", b"x")
    said = desk.ok("output", "find")
    assert "08-developer-broken.json" in said.out
    assert said.out.startswith("checkout   1 output, 30 files that are called otherwise")


def test_a_person_is_told_where_all_mistakes_stand(desk: Desk) -> None:
    desk.put("result.json", given(phase=-1, status="done", agent_id="", task_id=7))
    assert "--json" in desk.refused("output", "save", "result.json").hint
    desk.put("result.json", given(phase=-1))
    assert "--json" not in desk.refused("output", "save", "result.json").hint


def test_a_brief_without_criteria_is_not_at_its_end(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.ok("output", "save", "-", given=given())
    said = desk.ok("brief").out
    assert "no criteria yet" in said
    assert "nothing is left" not in said
