"""Holds that a machine-checked criterion passes by being run and in no other way (P8), and that no check, however it
behaves, wedges the server, outlives its call or leaves the ledger half written."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tallystick.agents.scripted.client import Client, ServerGone
from tallystick.system.confine import available
from tests.faces.mcp.shop import (
    EMPTY_ID,
    FEATURE,
    RIGHT,
    TOTAL_ID,
    Gate,
    Shop,
    accepted,
    criterion,
    freeze,
    get,
    mark,
    refused,
    until,
)
from tests.real.project import PROOF

TESTS = f'tests: ["{EMPTY_ID}", "{TOTAL_ID}"]'
PYTEST = """\
from cart import total

def test_empty():
    assert total([]) == 0

def test_total():
    assert total([1, 2]) == 3
"""


def check(name: str = "AC1") -> tuple[str, dict[str, str]]:
    """The call that runs a criterion's check."""
    return "check", {"feature": FEATURE, "criterion": name}


# What is run decides.


@pytest.mark.requirement("P8")
def test_red_is_refused_with_the_ids_and_the_line_and_kept(shop: Shop) -> None:
    with shop.connect("spec-freezer") as spec:
        freeze(spec, criterion("AC1", TESTS))
    with shop.connect("verifier") as client:
        facts = refused(
            client.call(*mark("AC1", "I ran it")), "check.red", TOTAL_ID, "2 != 3", "1 of its 2 tests is red"
        )
        assert facts["red"] == [{"id": TOTAL_ID, "says": "2 != 3", "file": "test_cart.py", "line": 11}]
        assert "fixer" in facts["error"]["hint"]
        found = get(client, "AC1")
    assert (found["passes"], found["run"], found["state"]) == (False, facts["run"], "failing")
    assert TOTAL_ID in found["last_attempt_error"]
    [run] = shop.facts("run_recorded")
    assert (run["run"], run["verdicts"], run["confined"]) == (facts["run"], {"AC1": "red"}, available().word)
    [step] = run["steps"]
    assert (step["green"], [one["id"] for one in step["red"]]) == ([EMPTY_ID], [TOTAL_ID])
    assert len(run["tree"]) == 40
    assert [failure["criterion"] for failure in shop.facts("failure_recorded")] == ["AC1"]
    assert shop.viewed() == set()


@pytest.mark.requirement("P8", "L5")
def test_green_passes_at_the_level_ran_with_the_run_as_evidence(shop: Shop) -> None:
    with shop.connect("spec-freezer") as spec:
        freeze(spec, criterion("AC1", TESTS))
    shop.write("cart.py", RIGHT)
    with shop.connect("verifier") as client:
        receipt = accepted(client.call(*mark("AC1", "I ran it"))).structured
        found = get(client, "AC1")
        assert (receipt["level"], receipt["evidence_ref"]) == ("ran", f"run:{found['run']}")
        assert (found["passes"], found["level"], found["evidence_ref"]) == (True, "ran", f"run:{found['run']}")
        refused(client.call(*mark("AC1", "again")), "pass.already", "already", "verifier")
    [run] = shop.facts("run_recorded")
    assert (run["verdicts"], run["note"]) == ({"AC1": "green"}, "I ran it")
    assert run["steps"][0]["green"] == [EMPTY_ID, TOTAL_ID]
    assert shop.viewed() == {"AC1"}


def test_a_project_tested_with_pytest(shop: Shop) -> None:
    shop.write("test_cart.py", PYTEST)
    wanted = 'tests: ["test_cart.py::test_empty", "test_cart.py::test_total"]'
    with shop.connect() as client:
        freeze(client, criterion("AC1", wanted))
        facts = refused(client.call(*mark("AC1")), "check.red", "test_cart.py::test_total", "assert 2 == 3")
        assert (facts["red"][0]["file"], facts["red"][0]["line"]) == ("test_cart.py", 7)
        shop.write("cart.py", RIGHT)
        assert accepted(client.call(*mark("AC1"))).structured["level"] == "ran"


def test_words_beside_a_check_need_a_reference_too(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1", "run: true", "screenshot of the empty cart"))
        refused(client.call(*mark("AC1", "looks good")), "evidence.free_text", "screenshot of the empty cart")
        assert shop.facts("run_recorded") == []
        evidence = accepted(client.call(*mark("AC1", PROOF))).structured["evidence_ref"]
        assert evidence.startswith("run:r-")
        assert evidence.endswith(f" ; {PROOF}")


@pytest.mark.requirement("L6")
def test_looks_good_is_refused_with_what_counts(shop: Shop) -> None:
    with shop.connect("spec-freezer") as spec:
        freeze(spec, criterion("AC7", "screenshot of the empty cart"))
    with shop.connect("verifier") as client:
        answer = client.call(*mark("AC7", "looks good"))
        refused(answer, "evidence.free_text", "looks good", "path:line", "commit:<sha>", "screenshot of the empty cart")
        assert get(client, "AC7")["passes"] is False


def test_a_check_by_a_test_author_is_recorded_with_its_role(shop: Shop) -> None:
    with shop.connect("spec-freezer") as spec:
        freeze(spec, criterion("AC1", TESTS))
    with shop.connect("test-author") as client:
        facts = accepted(client.call(*check())).structured
    assert facts["holds"] is False
    assert facts["green"] == [EMPTY_ID]
    assert facts["red"] == [{"id": TOTAL_ID, "says": "2 != 3", "file": "test_cart.py", "line": 11}]
    runs = [row for row in shop.records(FEATURE) if row["type"] == "run_recorded"]
    assert [(row["by"]["role"], row["data"]["run"]) for row in runs] == [("test-author", facts["run"])]
    assert shop.facts("failure_recorded") == []


def test_two_runs_are_compared_by_their_ids(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1", TESTS), criterion("AC2", "run: test -e done.txt"))
        red, open_ = (client.call(*check(name)).structured["run"] for name in ("AC1", "AC2"))
        shop.write("cart.py", RIGHT)
        shop.write("done.txt", "done\n")
        green, done = (client.call(*check(name)).structured["run"] for name in ("AC1", "AC2"))
        compare = {"task_id": FEATURE, "run_a": red, "run_b": green}
        facts = accepted(client.call("compare_runs", compare)).structured
        assert facts == {"now_red": [], "now_green": [TOTAL_ID], "missing": [], "added": []}
        facts = client.call("compare_runs", {"task_id": FEATURE, "run_a": done, "run_b": open_}).structured
        assert facts["now_red"] == ["test -e done.txt"]


@pytest.mark.requirement("P13")
def test_a_check_that_another_key_froze_is_not_run(shop: Shop, tmp_path: Path) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1", "run: touch ran.txt"))
    mine = {"XDG_STATE_HOME": str(tmp_path / "my own state")}
    assert shop.at(shop.folder, mine).tally("init").status == 0
    with shop.connect("verifier", **mine) as client:
        refused(client.call(*mark("AC1")), "trust.needed", "another key")
        refused(client.call(*check()), "trust.needed", "another key")
    assert not (shop.folder / "ran.txt").exists()
    assert shop.facts("run_recorded") == []


def test_a_criterion_that_was_amended_meanwhile_takes_nothing_from_the_run(shop: Shop) -> None:
    gate = Gate(shop)
    with shop.connect("verifier") as client, shop.connect() as spec:
        freeze(spec, criterion("AC1", gate.check))
        pending = client.begin(*mark("AC1", ""))
        gate.reached()
        change = {"feature": FEATURE, "criterion": "AC1", "change": {"text": "more than that"}, "reason": "agreed"}
        accepted(spec.call("amend", change))
        gate.open()
        refused(pending.answer(), "criterion.amended", "AC1")
    assert shop.viewed() == set()
    assert shop.facts("run_recorded") == []


def test_a_call_after_an_amendment_is_a_new_question(shop: Shop) -> None:
    gate = Gate(shop)
    with shop.connect("verifier", TALLYSTICK_ANSWER_S="0.2") as client, shop.connect() as spec:
        freeze(spec, criterion("AC1", gate.check))
        assert "running" in accepted(client.call(*mark("AC1", ""))).structured
        gate.reached()
        change = {"feature": FEATURE, "criterion": "AC1", "change": {"text": "more than that"}, "reason": "agreed"}
        accepted(spec.call("amend", change))
        gate.open()
        told = accepted(client.call(*mark("AC1", ""))).structured
        gate.reached()
        gate.open()
        until(lambda: get(client, "AC1")["passes"] is True)
    assert [run["run"] for run in shop.facts("run_recorded")] == [told["running"]]


# Checks that take long.


def test_a_long_check_answers_running_and_the_same_call_picks_it_up(shop: Shop) -> None:
    gate = Gate(shop)
    with shop.connect(TALLYSTICK_ANSWER_S="0.2") as client:
        freeze(client, criterion("AC1", gate.check))
        told = accepted(client.call(*mark("AC1", ""))).structured
        assert told["running"].startswith("r-")
        assert told["again_in_s"] > 0
        gate.reached()
        assert accepted(client.call(*mark("AC1", ""))).structured["running"] == told["running"]
        assert get(client, "AC1")["passes"] is False
        gate.open()
        until(lambda: get(client, "AC1")["passes"] is True)
        receipt = accepted(client.call(*mark("AC1", ""))).structured
        assert (receipt["again"], receipt["evidence_ref"]) == (True, f"run:{told['running']}")
    assert [run["run"] for run in shop.facts("run_recorded")] == [told["running"]]


def test_the_file_is_current_soon_after_a_check_that_nobody_waited_for(shop: Shop) -> None:
    gate = Gate(shop)
    with shop.connect(TALLYSTICK_ANSWER_S="0.1") as client:
        freeze(client, criterion("AC1", gate.check))
        assert "running" in accepted(client.call(*mark("AC1", ""))).structured
        gate.reached()
        gate.open()
        until(lambda: shop.viewed() == {"AC1"})
        assert len(shop.facts("pass_recorded")) == 1


def test_a_long_red_check_is_picked_up_as_red_once(shop: Shop) -> None:
    gate = Gate(shop, passing=False)
    with shop.connect(TALLYSTICK_ANSWER_S="0.2") as client:
        freeze(client, criterion("AC1", gate.check))
        assert "running" in accepted(client.call(*mark("AC1", ""))).structured
        gate.reached()
        gate.open()
        until(lambda: get(client, "AC1")["run"] is not None)
        refused(client.call(*mark("AC1", "")), "check.red")
        assert len(shop.facts("failure_recorded")) == 1
        again = client.begin(*mark("AC1", ""))
        gate.reached()
        gate.open()
        refused(again.answer(), "check.red")
    assert len(shop.facts("failure_recorded")) == 2


def test_two_calls_of_one_check_share_its_run(shop: Shop) -> None:
    gate = Gate(shop)
    with shop.connect() as client:
        freeze(client, criterion("AC1", gate.check))
        pending = client.begin_all([check(), check()])
        gate.reached()
        gate.open()
        runs = [accepted(one.answer()).structured for one in pending]
        assert runs[0]["run"] == runs[1]["run"]
        assert sorted(one.get("again", False) for one in runs) == [False, True]
    assert len(shop.facts("run_recorded")) == 1


def test_checks_of_one_connection_run_one_after_the_other(shop: Shop) -> None:
    first, second = Gate(shop), Gate(shop)
    with shop.connect() as client:
        freeze(client, criterion("AC1", first.check), criterion("AC2", second.check))
        one = client.begin(*mark("AC1", ""))
        first.reached()
        other = client.begin(*mark("AC2", ""))
        client.cancel(other)  # it waits for its turn, and never begins
        first.open()
        accepted(one.answer())
        assert client.call("list_failing", {"task_id": FEATURE}).structured["features"][0]["id"] == "AC2"
    assert [run["digests"].keys() for run in shop.facts("run_recorded")] == [{"AC1": ""}.keys()]


# Retries.


def test_a_retry_of_a_call_that_was_told_to_come_again_is_not_told_so_for_ever(shop: Shop) -> None:
    gate = Gate(shop)
    with shop.connect(TALLYSTICK_ANSWER_S="0.2") as client:
        freeze(client, criterion("AC1", gate.check))
        assert "running" in client.begin(*mark("AC1", ""), tool_use_id="toolu_1").answer().structured
        gate.reached()
        gate.open()
        until(lambda: get(client, "AC1")["passes"] is True)
        receipt = accepted(client.begin(*mark("AC1", ""), tool_use_id="toolu_1").answer()).structured
        assert (receipt["passes"], receipt["again"]) == (True, True)


@pytest.mark.parametrize("checked", [True, False], ids=["run", "cited"])
def test_retries_that_overtake_the_first_call_get_its_receipt(shop: Shop, checked: bool) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1", *(["run: true"] if checked else [])))
        pending = client.begin_all([mark("AC1")] * 12, tool_use_id="toolu_1")
        told = [accepted(one.answer()).structured.get("again", False) for one in pending]
        assert told.count(False) == 1
    assert len(shop.facts("pass_recorded")) == 1


@pytest.mark.parametrize("checked", [True, False], ids=["run", "cited"])
def test_a_retry_with_the_same_tool_use_id_gets_the_receipt(shop: Shop, checked: bool) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1", *(["run: true"] if checked else [])))
        first = accepted(client.begin(*mark("AC1"), tool_use_id="toolu_1").answer()).structured
        second = accepted(client.begin(*mark("AC1"), tool_use_id="toolu_1").answer()).structured
        assert second == {**first, "again": True}
        refused(client.begin(*mark("AC1"), tool_use_id="toolu_2").answer(), "pass.already")
    assert len(shop.facts("pass_recorded")) == 1


def test_a_retry_with_the_same_request_id_gets_the_receipt(shop: Shop) -> None:
    with shop.connect(era="2025-11-25") as client:
        freeze(client, criterion("AC1"))
        line = (
            b'{"jsonrpc":"2.0","id":"r1","method":"tools/call","params":{"name":"mark_pass","arguments":'
            b'{"task_id":"checkout","feature_id":"AC1","evidence_ref":"proof.txt"}}}\n'
        )
        for _ in range(2):
            client.send_raw(line)
            until(lambda: any(note.get("id") == "r1" for note in client.notes))
            client.notes, [note] = [], client.notes
            assert note["result"]["isError"] is False
        assert note["result"]["structuredContent"]["again"] is True
    assert len(shop.facts("pass_recorded")) == 1


def test_a_retry_of_a_red_mark_is_not_run_again(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1", TESTS))
        runs = [client.begin(*mark("AC1"), tool_use_id="toolu_1").answer().structured["run"] for _ in range(2)]
        assert runs[0] == runs[1]
    assert len(shop.facts("failure_recorded")) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("mark_failure", {"task_id": FEATURE, "feature_id": "AC1", "error": "x"}, "failure_recorded"),
        ("note", {"feature": FEATURE, "text": "x"}, "note_written"),
        ("check", {"feature": FEATURE, "criterion": "AC2"}, "run_recorded"),
    ],
)
def test_a_retry_of_any_writing_call_writes_once(shop: Shop, tool: str, arguments: dict[str, str], kind: str) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"), criterion("AC2", "run: true"))
        for _ in range(3):
            answer = accepted(client.begin(tool, arguments, tool_use_id="toolu_1").answer())
        assert answer.structured["again"] is True
        accepted(client.begin(tool, arguments, tool_use_id="toolu_2").answer())
    assert len(shop.facts(kind)) == 2


# Cancelled, closed, killed.


def test_a_cancelled_call_ends_its_check(shop: Shop) -> None:
    gate = Gate(shop, aside="sleep 1000 & sleep 1000 &")
    with shop.connect() as client:
        freeze(client, criterion("AC1", gate.check))
        pending = client.begin(*mark("AC1", ""))
        gate.reached()
        client.cancel(pending)
        gate.gone()
        assert get(client, "AC1")["passes"] is False
        second = client.begin(*mark("AC1", ""))
        gate.reached()
        gate.open()
        accepted(second.answer())
    assert len(shop.facts("run_recorded")) == 1
    shop.whole()


def test_cancelling_one_of_two_calls_leaves_the_check_to_the_other(shop: Shop) -> None:
    gate = Gate(shop)
    with shop.connect() as client:
        freeze(client, criterion("AC1", gate.check))
        first, second = client.begin_all([mark("AC1", "")] * 2)
        gate.reached()
        client.cancel(first)
        assert get(client, "AC1")["passes"] is False
        gate.open()
        assert accepted(second.answer()).structured["passes"] is True
    assert shop.viewed() == {"AC1"}


#: How a server ends, and the exit status that tells it.
ENDS = {"stdin closed": 0, "SIGTERM": 143, "SIGINT": 130, "SIGKILL": -signal.SIGKILL}


def ended(client: Client, how: str) -> int:
    """End the server in one of these ways; its exit status."""
    if how == "stdin closed":
        return client.close()
    client.signal(signal.Signals[how])
    return client.wait()


@pytest.mark.requirement("P2", "P22")
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("waiting", [True, False], ids=["waited for", "left running"])
def test_the_end_of_the_server_in_the_middle_of_a_check(shop: Shop, end: str, waiting: bool) -> None:
    gate = Gate(shop, aside="sleep 1000 & (sleep 1000 &) &")
    client = shop.connect(TALLYSTICK_ANSWER_S="45" if waiting else "0.1")
    freeze(client, criterion("AC1", gate.check), criterion("AC2"))
    accepted(client.call(*mark("AC2")))
    pending = client.begin(*mark("AC1", ""))
    gate.reached()
    if not waiting:
        assert "running" in accepted(pending.answer()).structured
    assert ended(client, end) == ENDS[end]
    gate.gone()
    if waiting and end == "SIGKILL":
        with pytest.raises(ServerGone):
            pending.answer()
    elif waiting:
        refused(pending.answer(), "interrupted")
    with shop.connect() as after:
        assert get(after, "AC1")["passes"] is False
        assert get(after, "AC2")["passes"] is True
        accepted(after.call("note", {"feature": FEATURE, "text": "a killed server leaves its view behind"}))
    assert shop.facts("run_recorded") == []
    assert shop.viewed() == {"AC2"}
    shop.whole()


# Checks that behave badly. One clear result each, the server alive, nothing left running.

OUTLIVES = "(setsid sh -c 'sleep 1000' &) ; sleep 1000 &"
BAD: dict[str, tuple[dict[str, str], str, str, str]] = {
    # name: (scripts, requirement, code, what is said)
    "prints without end": ({"loud.sh": "yes 'a line that is printed again and again'"}, "run: ./loud.sh",
                           "check.timeout", "printed more than 20 MB"),
    "prints escape codes": ({"paint.sh": "printf '\\033[2J\\033]0;title\\007\\033[31mred\\n'; exit 1"},
                            "run: ./paint.sh", "check.red", "exited with status 1"),
    "prints no text": ({"noise.sh": "head -c 100000 /dev/urandom; exit 3"}, "run: ./noise.sh",
                       "check.red", "exited with status 3"),
    "finds no test": ({}, "tests: test_cart.Cart.test_nosuch", "check.no_tests", "test_nosuch"),
    "finds one of two": ({"cart.py": RIGHT}, f'tests: ["{TOTAL_ID}", "test_cart.Cart.test_x"]',
                         "ids.missing", "test_x"),
    "has no test file": ({}, "tests: test_nowhere.Cart.test_x", "check.no_tests", "test_nowhere"),
    "needs a terminal": ({"ask.sh": "test -t 0 && test -t 1; exec </dev/tty"}, "run: ./ask.sh",
                         "check.red", "exited with status"),
    "reads its input": ({"read.sh": "read line || exit 4"}, "run: ./read.sh", "check.red", "exited with status 4"),
    "is not there": ({}, "run: nosuchprogram --version", "check.no_runner", "nosuchprogram"),
    "is no program": ({}, "run: ./proof.txt", "check.no_runner", "proof.txt"),
    "kills itself": ({"die.sh": "kill -9 $$"}, "run: ./die.sh", "check.red", "signal 9"),
    "kills its parents": (
        {"kill.sh": "kill -9 $PPID; sleep 1; exit 4"},
        "run: ./kill.sh",
        # Where it has processes of its own, it reaches none of ours.
        *(("check.red", "status 4") if available().mounts else ("check.unreadable", "unknown")),
    ),
    "leaves processes behind": ({"fork.sh": f"{OUTLIVES} exit 5"}, "run: ./fork.sh", "check.red", "status 5"),
}  # fmt: skip


@pytest.mark.requirement("P15", "P22")
@pytest.mark.parametrize("name", BAD)
def test_a_check_that_behaves_badly_is_one_clear_refusal(shop: Shop, name: str) -> None:
    scripts, requirement, code, says = BAD[name]
    for script, text in scripts.items():
        (shop.program if script.endswith(".sh") else shop.write)(script, text)
    with shop.connect() as client:
        freeze(client, criterion("AC1", requirement))
        answer = client.call(*mark("AC1", ""))
        facts = refused(answer, code, says)
        assert len(answer.text) < 1_000
        assert "\x1b" not in answer.text
        assert "Traceback" not in answer.text
        assert get(client, "AC1")["passes"] is False
        if "run" in facts:
            assert get(client, "AC1")["run"] == facts["run"]
        assert client.call("check", {"feature": FEATURE, "criterion": "AC1"}).text
        assert client.call("list_failing", {"task_id": FEATURE}).structured["features"][0]["id"] == "AC1"
    shop.whole()


def test_what_a_check_left_running_is_ended_with_it(shop: Shop) -> None:
    gate = Gate(shop, aside=OUTLIVES)
    with shop.connect() as client:
        freeze(client, criterion("AC1", gate.check))
        pending = client.begin(*mark("AC1", ""))
        gate.reached()
        gate.open()
        assert accepted(pending.answer()).structured["passes"] is True
        gate.gone()


@pytest.mark.parametrize(
    "lie",
    [
        "import os\nos._exit(0)\n",
        "import sys\nsys.exit(0)\n",
        "raise SystemExit(0)\n",
        "import unittest\nraise unittest.SkipTest('not today')\n",
    ],
)
def test_an_exit_status_of_0_without_the_tests_passes_nothing(shop: Shop, lie: str) -> None:
    shop.write("cart.py", lie)
    with shop.connect() as client:
        freeze(client, criterion("AC1", TESTS))
        assert client.call(*mark("AC1")).is_error
        assert get(client, "AC1")["passes"] is False


def test_a_command_that_exits_0_with_red_tests_passes_nothing(shop: Shop) -> None:
    shop.write("test_cart.py", PYTEST)
    shop.write("conftest.py", "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n")
    with shop.connect() as client:
        freeze(client, criterion("AC1", "run: pytest"))
        assert refused(client.call(*mark("AC1", "")), "check.red", "test_cart.py::test_total")["red"]


def test_a_check_that_hangs_is_left_running_and_can_be_ended(shop: Shop) -> None:
    gate = Gate(shop)
    with shop.connect(TALLYSTICK_ANSWER_S="0.1") as client:
        freeze(client, criterion("AC1", gate.check), criterion("AC2"))
        told = accepted(client.call(*check())).structured
        gate.reached()
        accepted(client.call(*mark("AC2")))
        assert client.call(*check()).structured["running"] == told["running"]
    gate.gone()
    assert shop.viewed() == {"AC2"}


@pytest.mark.parametrize("wait", ["-1", "61", "soon", "nan"])
@pytest.mark.parametrize("name", ["TALLYSTICK_ANSWER_S", "TALLYSTICK_LOCK_WAIT_S"])
def test_a_wait_that_is_none_is_told_at_the_start_in_one_line(shop: Shop, name: str, wait: str) -> None:
    said = shop.at(shop.folder, {name: wait}).tally("mcp")
    assert (said.status, said.out) == (2, "")
    assert name in said.err
    assert "Traceback" not in said.err
