"""Holds outputs over MCP: handed over by one server, found by a fresh one after a kill and a reset, read in pieces;
what is refused, and that no answer grows."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest

from tallystick.handoff.cost import cost
from tests.faces.mcp.shop import FEATURE, Shop, accepted, criterion, freeze, get, mark, refused
from tests.unit.handoff.examples import document, payload

FILE = "08-developer-task-001.json"
PAGE = 2_000


@pytest.mark.requirement("O12", "P1")
def test_an_output_is_found_by_a_fresh_server_after_a_kill_and_a_reset(shop: Shop) -> None:
    client = shop.connect("developer")
    saved = accepted(client.call("save_output", {"output": document()})).structured
    assert (saved["file"], saved["version"]) == (FILE, 1)
    assert client.kill() == -signal.SIGKILL
    shop.git("clean", "--quiet", "-fdx", "--exclude=.venv")
    shop.git("reset", "--quiet", "--hard")
    assert not (shop.folder / ".jonggrang").exists()
    with shop.connect("reviewer") as fresh:
        asked = {"feature": FEATURE, "role": "developer", "phase": "implementation"}
        [row] = accepted(fresh.call("find_outputs", asked)).structured["outputs"]
        assert (row["file"], row["task_id"], row["status"]) == (FILE, "task-001", "completed")
        answer = accepted(fresh.call("get_output", {"feature": FEATURE, "file": FILE})).structured
        assert json.loads(answer["text"]) == document()
        accepted(fresh.call("save_output", {"output": document("reviewer", phase=9)}))
    assert json.loads((shop.folder / f".jonggrang/.output/features/{FEATURE}/{FILE}").read_text()) == document()
    shop.whole()


@pytest.mark.requirement("P21")
def test_a_large_output_is_read_in_pieces_that_are_the_whole(shop: Shop) -> None:
    notes = "".join(f"line {number}: the cart \u2028 keeps カート 🛒 its lines\n" for number in range(600))
    whole = document(output={**payload("developer"), "notes": notes})
    with shop.connect() as client:
        accepted(client.call("save_output", {"output": whole}))
        pieces: list[str] = []
        offset: int | None = 0
        while offset is not None:
            answer = accepted(client.call("get_output", {"feature": FEATURE, "file": FILE, "offset": offset}))
            facts = answer.structured
            assert cost(answer.text) <= PAGE
            assert cost(facts["text"]) <= PAGE
            assert facts["offset"] == offset
            pieces.append(facts["text"])
            offset = facts["more"]
        assert json.loads("".join(pieces)) == whole
        assert len("".join(pieces)) == facts["total"]
        assert len(pieces) > 5
        refused(
            client.call("get_output", {"feature": FEATURE, "file": FILE, "offset": 10**9}), "usage", "behind the end"
        )


@pytest.mark.requirement("F2.1", "P21")
def test_all_mistakes_come_back_at_once_and_a_thousand_are_counted(shop: Shop) -> None:
    with shop.connect() as client:
        broken: dict[str, Any] = document(
            "tester", phase=-1, output={**payload("tester"), "coverage": 180, "passed": 7}
        )
        facts = refused(client.call("save_output", {"output": broken}), "output.invalid", "phase is -1", "output.total")
        assert [line.split()[0] for line in facts["mistakes"]] == ["phase", "output.coverage", "output.total"]
        many = document("lead", output={**payload("lead"), "tasks": [{}] * 1000})
        answer = client.call("save_output", {"output": many})
        assert cost(answer.text) < PAGE
        assert cost(json.dumps(answer.structured)) < PAGE
        assert not shop.store.exists() or shop.facts("output_saved") == []


@pytest.mark.requirement("F2.4", "P12")
def test_a_role_hands_over_what_it_did_itself(shop: Shop) -> None:
    with shop.connect("spec-freezer") as spec:
        freeze(spec, criterion("AC1"))
    with shop.connect("tester") as client:
        refused(client.call("save_output", {"output": document()}), "role.denied", "tester")
        whole = document("tester", phase=14)
        del whole["role"], whole["agent_id"], whole["timestamp"], whole["jonggrang-output"], whole["task_id"]
        assert accepted(client.call("save_output", {"output": whole})).structured["file"] == "14-tester-output.json"
    [denied] = shop.facts("pass_refused")
    assert (denied["act"], denied["code"]) == ("output", "role.denied")
    assert [one["role"] for one in shop.facts("output_saved")] == ["tester"]


def test_the_same_again_says_so(shop: Shop) -> None:
    with shop.connect() as client:
        accepted(client.call("save_output", {"output": document()}))
        assert accepted(client.call("save_output", {"output": document()})).structured["again"] is True
        assert len(shop.facts("output_saved")) == 1


@pytest.mark.requirement("P21")
def test_a_list_of_outputs_comes_in_pages_of_a_bounded_size(shop: Shop) -> None:
    names = [f"08-{'r' * 60}-{'s' * 50}{number:02d}.json" for number in range(45)]
    for name in names:
        given = document("r" * 60, task_id="t" * 200, agent_id="a" * 200, output={})
        shop.write(f".jonggrang/.output/features/{FEATURE}/{name}", json.dumps(given))
    for number in range(5):
        shop.write(f".jonggrang/.output/features/{FEATURE}/13-tester-{number}.json", '{"phase": "' + "x" * 5000 + '"}')
    with shop.connect() as client:
        seen, cursor = [], None
        while True:
            asked = {"feature": FEATURE} if cursor is None else {"feature": FEATURE, "cursor": cursor}
            answer = accepted(client.call("find_outputs", asked))
            assert cost(answer.text) < 3 * PAGE
            seen += [row["file"] for row in answer.structured["outputs"]]
            cursor = answer.structured["cursor"]
            if cursor is None:
                break
        assert sorted(seen) == sorted([*names, *(f"13-tester-{number}.json" for number in range(5))])
        assert "invalid: " in answer.text


def test_a_pass_may_cite_an_output(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
        accepted(client.call("save_output", {"output": document()}))
        accepted(client.call(*mark("AC1", f"output:{FEATURE}/{FILE}")))
        assert get(client, "AC1")["state"] == "holds"
        accepted(client.call("save_output", {"output": document(status="failed")}))
        assert get(client, "AC1")["state"] == "stale"


def test_what_is_not_there(shop: Shop) -> None:
    with shop.connect() as client:
        refused(client.call("find_outputs", {"feature": "nosuch"}), "feature.unknown")
        freeze(client, criterion("AC1"))
        assert accepted(client.call("find_outputs", {"feature": FEATURE})).structured["outputs"] == []
        refused(client.call("get_output", {"feature": FEATURE, "file": "x.json"}), "output.unknown", "find_outputs")
        refused(client.call("find_outputs", {"feature": FEATURE, "phase": "dreaming"}), "phase.unknown")
        refused(client.call("find_outputs", {"feature": FEATURE, "cursor": "x"}), "usage", "cursor")
