"""Holds what each role's output must hold, which fields must agree, and the seed's examples of each."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.handoff.output.schemas import SCHEMAS, circles, payload_mistakes
from tests.unit.handoff.examples import PRINTED, TEST_PLAN, payload


def paths(role: str, output: Any) -> list[str]:
    return [one.path for one in payload_mistakes(role, output)]


def good(role: str) -> Any:
    return dict(TEST_PLAN) if role == "test-lead" else payload(role)


@pytest.mark.requirement("O4", "O5", "O6", "O7")
@pytest.mark.parametrize("role", PRINTED)
def test_the_example_of_a_role_is_accepted(role: str) -> None:
    assert paths(role, payload(role)) == []


@pytest.mark.parametrize("role", SCHEMAS)
def test_every_field_of_a_role_must_be_there_and_more_is_allowed(role: str) -> None:
    for field in SCHEMAS[role].fields:
        less = good(role)
        del less[field.key]
        assert f"output.{field.key}" in paths(role, less)
    assert paths(role, {**good(role), "more": {"of": ["it"]}}) == []


@pytest.mark.parametrize("role", ["verifier", "designer", "anything", ""])
def test_any_other_role_hands_over_an_object(role: str) -> None:
    assert paths(role, {}) == []
    assert paths(role, {"score": 180}) == []
    assert paths(role, ["x"]) == ["output"]


def test_the_other_spelling_of_risks_is_read() -> None:
    plan = good("lead")
    plan["risks"] = plan.pop("risk_factors")
    assert paths("lead", plan) == []
    assert paths("lead", {**plan, "risks": 7}) == ["output.risks"]


def task(name: Any, *blocked_by: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "title": "t", "description": "d", "files": [], "blocked_by": list(blocked_by), **more}


def plan(*tasks: Any) -> dict[str, Any]:
    return {**good("lead"), "tasks": list(tasks)}


@pytest.mark.requirement("O4")
@pytest.mark.parametrize(
    ("tasks", "wrong"),
    [
        ([task("a"), task("b", "a"), task("c", "a", "b")], []),
        ([task("a"), task("a")], ["output.tasks[1].id"]),
        ([task("a", "nosuch")], ["output.tasks[0].blocked_by[0]"]),
        ([task("a", "a")], ["output.tasks[0].blocked_by"]),
        ([task("a", "b"), task("b", "c"), task("c", "a")], ["output.tasks[0].blocked_by"]),
        ([task("a", "b"), task("b", "a"), task("c", "d"), task("d", "c")], ["output.tasks[0].blocked_by"] * 2),
        ([task("x", "a"), task("a", "b"), task("b", "a")], ["output.tasks[1].blocked_by"]),
        ([task("a", 7)], ["output.tasks[0].blocked_by[0]"]),
        ([task("a") | {"blocked_by": "b"}], ["output.tasks[0].blocked_by"]),
        ([task(None)], ["output.tasks[0].id"]),
        ([task("x" * 65)], ["output.tasks[0].id"]),
        ([7], ["output.tasks[0]"]),
        ([task("a", role="developer", acceptance_criteria=["AC1"], skill_hint=None)], []),
        (
            [task("a", role=7, acceptance_criteria="AC1")],
            ["output.tasks[0].role", "output.tasks[0].acceptance_criteria"],
        ),
    ],
)
def test_what_blocks_a_task_is_a_task_that_does_not_wait_for_it(tasks: list[Any], wrong: list[str]) -> None:
    found = paths("lead", plan(*tasks))
    assert [path.replace("tasks[2]", "tasks[0]") for path in found] == wrong


def test_a_circle_is_named_with_its_tasks() -> None:
    [one] = payload_mistakes("lead", plan(task("a", "b"), task("b", "a")))
    assert one.says == 'goes in a circle: "a" waits for "b" waits for "a"'


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefgh"), max_size=3)))
def test_what_is_left_without_the_circles_can_be_done(waits: dict[str, list[str]]) -> None:
    whole = {name: [other for other in others if other in waits] for name, others in waits.items()}
    found = [name for circle in circles(whole) for name in circle]
    assert len(found) == len(set(found))
    for circle in circles(whole):
        for name, following in zip(circle, (*circle[1:], circle[0]), strict=True):
            assert following in whole[name]
    left = {name: set(others) - set(found) for name, others in whole.items() if name not in found}
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    assert left == {}


def test_ten_thousand_tasks_in_a_row_are_no_circle() -> None:
    chain = [task("t0"), *(task(f"t{at}", f"t{at - 1}") for at in range(1, 10_000))]
    assert paths("lead", plan(*reversed(chain))) == []


@pytest.mark.requirement("O7")
@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"passed": 23}, ["total"]),
        ({"passed": 23, "skipped": 1}, []),
        ({"total": 25, "failed": 1, "failed_tests": ["x"]}, ["tests_passed"]),
        ({"tests_passed": False, "total": 25, "failed": 1, "failed_tests": ["x"]}, []),
        ({"failed_tests": ["x"]}, ["failed_tests"]),
        ({"coverage": 180}, ["coverage"]),
        ({"coverage": -0.1}, ["coverage"]),
        ({"coverage": None}, []),
        ({"coverage": "87%"}, ["coverage"]),
        ({"coverage": float("nan")}, ["coverage"]),
        ({"total": -1}, ["total", "total"]),
        ({"total": True, "passed": 1, "failed": 0}, ["total"]),
        ({"total": 24.0}, ["total"]),
        ({"failed": None}, ["failed"]),
        ({"tests_passed": "yes"}, ["tests_passed"]),
        ({"failed_tests": {"x": 1}}, ["failed_tests"]),
    ],
)
def test_a_testers_counts_agree(changed: dict[str, Any], wrong: list[str]) -> None:
    assert paths("tester", {**good("tester"), **changed}) == [f"output.{key}" for key in wrong]


@pytest.mark.requirement("O6")
@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"score": 11}, ["score"]),
        ({"score": -1}, ["score"]),
        ({"score": 7.5}, []),
        ({"score": True}, ["score"]),
        ({"approved": "true"}, ["approved"]),
        ({"violations": ["text"]}, []),
        ({"violations": [{"severity": "high", "file": "a.py", "line": 3, "type": "style", "message": "m"}]}, []),
        ({"violations": [{"message": "m", "line": None, "more": 1}]}, []),
        (
            {"violations": [{"severity": 1, "line": -3}]},
            [f"violations[0].{key}" for key in ("message", "severity", "line")],
        ),
        ({"violations": [7]}, ["violations[0]"]),
        ({"warnings": "none"}, ["warnings"]),
        ({"required_fixes": [{"message": "m"}]}, []),
    ],
)
def test_a_reviewers_verdict(changed: dict[str, Any], wrong: list[str]) -> None:
    assert paths("reviewer", {**good("reviewer"), **changed}) == [f"output.{key}" for key in wrong]


def test_a_test_plan() -> None:
    assert paths("test-lead", TEST_PLAN) == []
    broken = {"coverage_target": 101, "test_groups": [{"group_id": "g", "cases": [1], "priority": []}]}
    group = "output.test_groups[0]"
    assert paths("test-lead", broken) == [
        "output.coverage_target",
        *(f"{group}.{key}" for key in ("module", "file", "test_file", "priority", "cases[0]")),
    ]
