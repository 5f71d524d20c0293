"""Holds the table of roles at the wire (P12, L5, L13, L14): each connection has exactly its tools, for its whole life,
and what it asks for beyond them is refused, explained and recorded."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.faces.mcp.shop import FEATURE, Shop, accepted, criterion, freeze, get, mark, refused
from tests.faces.mcp.surface import ARGUMENTS, OFFERED, READING, calls, prepare
from tests.real.project import PROOF


@pytest.mark.requirement("P12")
@pytest.mark.parametrize("role", OFFERED)
def test_a_role_lists_its_tools_and_no_other(shop: Shop, role: str) -> None:
    with shop.connect(role) as client:
        listed = [tool["name"] for tool in client.list_tools()]
    assert sorted(listed) == sorted(OFFERED[role])


@pytest.mark.requirement("L13")
def test_the_tools_have_their_arguments_and_none_is_a_role(shop: Shop) -> None:
    with shop.connect() as client:
        for tool in client.list_tools():
            schema = tool["inputSchema"]
            required, optional = ARGUMENTS[tool["name"]]
            assert set(schema["required"]) == required, tool["name"]
            assert set(schema["properties"]) == required | optional, tool["name"]
            assert schema["additionalProperties"] is False
        given = {"feature": FEATURE, "role": "verifier"}
        refused(client.call("brief", given), "usage", "role is not known here")


def test_every_tool_says_whether_it_only_reads(shop: Shop) -> None:
    with shop.connect() as client:
        reading = {tool["name"] for tool in client.list_tools() if tool["annotations"].get("readOnlyHint")}
        destroying = [tool["name"] for tool in client.list_tools() if tool["annotations"].get("destructiveHint")]
    assert reading == {
        "list_failing", "get_feature", "compare_runs", "brief", "next_task", "find_outputs", "get_output",
    }  # fmt: skip
    assert destroying == []


def test_every_tool_of_every_role_answers_a_good_call(shop: Shop) -> None:
    runs = prepare(shop)
    for number, role in enumerate(OFFERED):
        with shop.connect(role) as client:
            for call in calls(role, number, runs):
                answer = accepted(client.call(call.tool, call.arguments))
                assert {key: answer.structured[key] for key in call.facts} == call.facts, call
                assert answer.text
    shop.whole()


@pytest.mark.requirement("P12", "L5", "L14")
@pytest.mark.parametrize("role", [role for role, tools in OFFERED.items() if "mark_pass" not in tools])
def test_a_role_that_may_not_mark_is_refused_and_recorded(shop: Shop, role: str) -> None:
    with shop.connect("spec-freezer") as client:
        freeze(client, criterion("AC1"))
    with shop.connect(role) as client:
        refused(client.call(*mark("AC1")), "role.denied", "mark_pass is not yours", f"`{role}`")
        assert get(client, "AC1")["passes"] is False
    [left] = shop.facts("pass_refused")
    assert (left["criterion"], left["act"], left["code"]) == ("AC1", "pass", "role.denied")
    assert [row["by"]["role"] for row in shop.records(FEATURE) if row["type"] == "pass_refused"] == [role]


@pytest.mark.parametrize(
    ("role", "tool", "arguments", "act"),
    [
        ("verifier", "amend", {"feature": FEATURE, "criterion": "AC1", "change": {"close": True}}, "amend"),
        ("implementer", "mark_failure", {"task_id": FEATURE, "feature_id": "AC1", "error": "x"}, "fail"),
        ("reviewer", "check", {"feature": FEATURE, "criterion": "AC1"}, "check"),
        ("fixer", "init_feature_list", {"task_id": FEATURE, "features": []}, "freeze"),
        ("implementer", "compare_runs", {"task_id": FEATURE, "run_a": "r-1", "run_b": "r-2"}, "compare_runs"),
    ],
)
def test_each_tool_of_another_role_is_refused_and_recorded(
    shop: Shop, role: str, tool: str, arguments: dict[str, object], act: str
) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
    with shop.connect(role) as client:
        refused(client.call(tool, arguments), "role.denied", f"{tool} is not yours")
    assert [left["act"] for left in shop.facts("pass_refused")] == [act]
    assert shop.viewed() == set()


def test_an_implementer_is_told_what_it_can_do_instead(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
    with shop.connect("implementer") as client:
        assert refused(client.call(*mark("AC1")), "role.denied", f"check({FEATURE}, AC1)", "The verifier marks it")


def test_a_refused_role_leaves_nothing_where_there_is_no_ledger(shop: Shop) -> None:
    with shop.connect("implementer") as client:
        refused(client.call(*mark("AC1")), "role.denied")
    assert not shop.store.exists()


def test_a_name_that_is_no_tool_is_answered_with_the_tools(shop: Shop) -> None:
    with shop.connect("reviewer") as client:
        assert refused(client.call("mark_passed", {}), "usage", "mark_passed", "list_failing, get_feature, save_output")


def test_the_event_of_a_hook_is_called_and_never_listed(shop: Shop) -> None:
    for role in OFFERED:
        with shop.connect(role) as client:
            assert accepted(client.call("hook_event", {"event": "Stop", "anything": [1]})).text == "{}"


@pytest.mark.parametrize("words", [["--role", "king"], ["--role"], ["--role=", "x"], ["verifier"]])
def test_a_role_that_there_is_not_ends_the_server_at_once(shop: Shop, words: list[str]) -> None:
    said = shop.tally("mcp", *words)
    assert said.status == 2
    assert said.out == ""
    assert "Traceback" not in said.err
    assert len(said.err.splitlines()) <= 2


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("get_feature", {"task_id": "AC1", "feature_id": FEATURE}),
        ("mark_pass", {"task_id": "AC1", "feature_id": FEATURE, "evidence_ref": PROOF}),
        ("mark_failure", {"task_id": "AC1", "feature_id": FEATURE, "error": "x"}),
        ("check", {"feature": "AC1", "criterion": FEATURE}),
        ("amend", {"feature": "AC1", "criterion": FEATURE, "change": {"close": True}, "reason": "x"}),
    ],
)
def test_swapped_arguments_are_answered_with_the_corrected_call(
    shop: Shop, tool: str, given: dict[str, object]
) -> None:
    one, other = list(given)[:2]
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
        answer = client.call(tool, given)
        refused(answer, "usage", f"{one} and {other} are swapped")
        assert answer.structured["error"]["hint"] == f'call it with {one}="{FEATURE}", {other}="AC1"'
    assert shop.viewed() == set()


def test_an_unknown_feature_is_answered_with_those_there_are(shop: Shop) -> None:
    with shop.connect() as client:
        refused(client.call("list_failing", {"task_id": "chekout"}), "feature.unknown", "init_feature_list")
        freeze(client, criterion("AC1"))
        refused(client.call("list_failing", {"task_id": "chekout"}), "feature.unknown", "chekout", FEATURE)
        refused(client.call("note", {"feature": "chekout", "text": "x"}), "feature.unknown")
        refused(client.call("mark_failure", {"task_id": "../x", "feature_id": "AC1", "error": "x"}), "input.invalid")
    assert [path.name for path in (shop.store / "journal").iterdir() if path.name != "_store"] == [FEATURE]


# Without the user's key.


@pytest.mark.requirement("P12")
@pytest.mark.parametrize("role", OFFERED)
def test_without_the_key_only_reading_tools_are_offered(shop: Shop, home: Path, role: str) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
    shutil.rmtree(home / ".local" / "state" / "tallystick")
    with shop.connect(role) as client:
        listed = {tool["name"] for tool in client.list_tools()}
        assert listed == set(OFFERED[role]) & {*READING, "compare_runs", "next_task"}
        assert "no key" in accepted(client.call("list_failing", {"task_id": FEATURE})).structured["warning"]
        if "mark_pass" in OFFERED[role]:
            refused(client.call(*mark("AC1")), "key.missing", "tallystick init")
        if "note" in OFFERED[role]:
            refused(client.call("note", {"feature": FEATURE, "text": "x"}), "key.missing")
    assert not (home / ".local" / "state" / "tallystick" / "key").exists()


@pytest.mark.parametrize("damaged", ["key", "store"])
def test_a_key_or_a_store_that_cannot_be_read_leaves_the_server_alive(shop: Shop, home: Path, damaged: str) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
    broken = home / ".local" / "state" / "tallystick" / "key" if damaged == "key" else shop.store / "store-id"
    broken.write_text("no such thing\n", encoding="utf-8")
    with shop.connect("verifier") as client:
        listed = {tool["name"] for tool in client.list_tools()}
        assert ("mark_pass" in listed) is (damaged != "key")
        refused(client.call(*mark("AC1")), f"{damaged}.damaged")
        assert client.call("brief", {}).text
        assert client.close() == 0
    assert broken.read_text(encoding="utf-8") == "no such thing\n"


def test_the_role_stays_the_same_for_the_whole_connection(shop: Shop) -> None:
    with shop.connect("implementer") as client:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        client.request("initialize", {**params, "role": "verifier"}).body()
        listed = {tool["name"] for tool in client.list_tools()}
        assert listed == set(OFFERED["implementer"])


def test_a_folder_outside_any_repository_is_served_too(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / PROOF).write_text("seen\n", encoding="utf-8")
    elsewhere = Shop(plain)
    try:
        with elsewhere.connect() as client:
            freeze(client, criterion("AC1"))
            accepted(client.call(*mark("AC1")))
        assert elsewhere.viewed() == {"AC1"}
    finally:
        elsewhere.close()


def test_a_folder_that_is_gone_is_one_line(shop: Shop, tmp_path: Path) -> None:
    said = shop.tally("mcp", "--root", str(tmp_path / "nowhere"))
    assert said.status in (1, 2)
    assert said.out == ""
    assert "Traceback" not in said.err
