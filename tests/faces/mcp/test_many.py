"""Holds that many marks at once are all kept (P1, P4): many to one server, many servers at one ledger."""

from __future__ import annotations

import threading

import pytest

from tallystick.agents.scripted.client import Answer, Client
from tests.faces.mcp.shop import FEATURE, Gate, Shop, accepted, criterion, freeze, get, mark, refused
from tests.real.project import criteria

AT_ONCE, SERVERS, EACH = 20, 16, 50


@pytest.mark.requirement("P4")
@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
def test_twenty_marks_written_at_once_to_one_server_are_kept(shop: Shop, era: str) -> None:
    names = criteria(AT_ONCE)
    with shop.connect(era=era) as client:
        freeze(client, *map(criterion, names))
        answers = client.call_all([mark(name) for name in names])
        assert [answer.structured["feature_id"] for answer in map(accepted, answers)] == names
        assert client.call("list_failing", {"task_id": FEATURE}).structured["features"] == []
    assert shop.viewed() == set(names)
    shop.whole()


def test_twenty_marks_that_run_a_check_are_kept(shop: Shop) -> None:
    names = criteria(AT_ONCE)
    with shop.connect() as client:
        freeze(client, *(criterion(name, "run: true") for name in names))
        answers = client.call_all([mark(name, "") for name in names])
        assert {answer.structured["level"] for answer in map(accepted, answers)} == {"ran"}
    assert shop.viewed() == set(names)
    assert len({run["run"] for run in shop.facts("run_recorded")}) == AT_ONCE
    shop.whole()


def test_of_twenty_marks_of_one_criterion_one_is_kept(shop: Shop) -> None:
    with shop.connect() as client:
        freeze(client, criterion("AC1"))
        answers = client.call_all([mark("AC1")] * AT_ONCE)
        passed = [answer for answer in answers if not answer.is_error]
        assert len(passed) == 1
        for answer in answers:
            if answer.is_error:
                refused(answer, "pass.already", "already")
        assert get(client, "AC1")["passes"] is True
    assert len(shop.facts("pass_recorded")) == 1


@pytest.mark.requirement("P1", "P4")
def test_sixteen_servers_marking_fifty_each_lose_nothing(shop: Shop) -> None:
    names = criteria(SERVERS * EACH)
    with shop.connect() as client:
        freeze(client, *map(criterion, names))
    clients = [shop.connect("verifier") for _ in range(SERVERS)]
    marked: dict[int, list[Answer]] = {}

    def work(number: int, client: Client) -> None:
        mine = names[number * EACH : (number + 1) * EACH]
        marked[number] = [client.call(*mark(name), timeout=300) for name in mine]

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = [answer.structured["feature_id"] for number in range(SERVERS) for answer in map(accepted, marked[number])]
    assert told == names
    for client in clients:
        assert client.close() == 0
    assert shop.passing(FEATURE) == set(names)
    assert shop.viewed() == set(names)
    assert len(shop.facts("pass_recorded")) == len(names)
    shop.whole()


def test_reading_goes_on_while_a_check_runs_and_others_mark(shop: Shop) -> None:
    names = criteria(AT_ONCE)
    gate = Gate(shop)
    with shop.connect() as client:
        freeze(client, criterion("slow", gate.check), *map(criterion, names))
        check = client.begin("check", {"feature": FEATURE, "criterion": "slow"})
        gate.reached()
        answers = client.call_all([*map(mark, names), *[("list_failing", {"task_id": FEATURE})] * AT_ONCE])
        assert not any(answer.is_error for answer in answers)
        gate.open()
        assert check.answer().structured["holds"] is True
