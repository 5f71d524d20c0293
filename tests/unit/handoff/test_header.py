"""Holds the header of an output and the name of its file: every rule, all mistakes at once, and that a name written
from a header reads as that header again (formats: outputs)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tallystick.handoff.output.header import CRAFTS, KEYS, Header, checked, file_name, header_of, read_name
from tallystick.handoff.output.schemas import Mistake
from tests.unit.handoff.examples import NAMES, document, payload, printed_header

ROLES = ("developer", "reviewer", "lead", "tester", "test-lead", "test-author", "test", "spec", "data-engineer", "x.y")
WORD = st.one_of(
    st.sampled_from([*ROLES, "output", "lead-plan", "author", "task-001"]),
    st.from_regex(r"[a-z0-9][a-z0-9._-]{0,63}", fullmatch=True),
)
PHASE = st.one_of(st.integers(0, 99), st.integers(0, 99).map(lambda whole: whole + 0.5), st.just(8.0))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=12,
)


def paths(mistakes: list[Mistake]) -> list[str]:
    return [one.path for one in mistakes]


@pytest.mark.requirement("O3")
def test_the_example_is_accepted_byte_for_byte() -> None:
    whole = json.loads(printed_header())
    assert whole["output"] == payload("developer")
    assert checked(whole, "08-developer-task-001.json", "auth-feature-abc123") == []


@pytest.mark.requirement("O1", "F2.3")
@pytest.mark.parametrize("file", NAMES)
def test_the_example_names_are_read(file: str) -> None:
    assert read_name(file) == NAMES[file]


@pytest.mark.requirement("O2", "F2.3")
@pytest.mark.parametrize(
    ("file", "read"),
    [
        ("06_5-designer-tokens.json", (6.5, "designer", "tokens")),
        ("11_5-test-lead-ui.json", (11.5, "test-lead", "ui")),
        ("8-developer-output.json", (8, "developer", "output")),
        ("6.5-designer-x.json", (6.5, "designer", "x")),
        ("00-lead-x.json", (0, "lead", "x")),
        ("12-test-author-a-b.json", (12, "test-author", "a-b")),
        ("12-test-plan.json", (12, "test", "plan")),
        ("12-data-engineer-report.json", (12, "data", "engineer-report")),
        ("08-developer-.hidden.json", None),
        ("08-developer.json", None),
        ("08-developer-.json", None),
        ("08-Developer-x.json", None),
        ("08_6-developer-x.json", None),
        ("123-developer-x.json", None),
        ("08-developer-x.JSON", None),
        ("08-developer-x.json\n", None),
        ("\u0661\u0662-developer-x.json", None),
        ("-1-developer-x.json", None),
        ("notes.json", None),
        ("08-developer-" + "x" * 65 + ".json", None),
        ("", None),
    ],
)
def test_a_name_is_read_with_the_longest_known_role_first(file: str, read: object) -> None:
    assert read_name(file) == read


@pytest.mark.requirement("F2.3")
def test_the_header_knows_a_role_that_the_table_does_not() -> None:
    whole = document("data-engineer")
    assert read_name("08-data-engineer-report.json", "data-engineer") == (8, "data-engineer", "report")
    assert checked(whole, "08-data-engineer-report.json") == []
    assert header_of(whole, "08-data-engineer-report.json").slug == "report"


@given(role=WORD, phase=PHASE, slug=st.one_of(st.none(), WORD), task=st.one_of(st.none(), WORD, st.text(max_size=70)))
@example(role="test", phase=12, slug="lead-plan", task=None)
@example(role="test", phase=12, slug=None, task="lead-plan")
def test_a_valid_header_comes_back_through_its_file_name(
    role: str, phase: float, slug: str | None, task: str | None
) -> None:
    whole = document(role, phase=phase, task_id=task, output={"any": 1}, **({"slug": slug} if slug else {}))
    if {"output"} & {path.partition(".")[0] for path in paths(checked(whole))}:
        whole["role"] = role = f"{role[:62]}-x"  # a role with a payload of its own
    if checked(whole):
        return
    header = header_of(whole)
    file = file_name(header)
    assert read_name(file, role) == (phase, role, header.slug)
    assert checked(whole, file) == []
    assert header_of(whole, file) == header
    assert (header.phase, header.role, header.task_id) == (phase, role, task)


@given(st.one_of(JSON, st.fixed_dictionaries({}, optional=dict.fromkeys([*KEYS, "slug"], JSON))))
def test_any_value_gives_mistakes_and_never_an_exception(value: Any) -> None:
    for file in (None, "08-developer-x.json", "nonsense"):
        for one in checked(value, file, "checkout"):
            assert one.says
    if isinstance(value, dict) and not checked(value):
        assert file_name(header_of(value))


@given(role=st.sampled_from([*sorted(CRAFTS), "other"]), output=JSON)
def test_any_payload_gives_mistakes_and_never_an_exception(role: str, output: Any) -> None:
    for one in checked(document(role, output=output, task_id=None)):
        assert one.path.startswith("output")


@pytest.mark.requirement("F2.1")
def test_all_mistakes_are_told_at_once_each_with_its_path() -> None:
    whole = document("lead", phase=-1, status="done", timestamp="yesterday")
    whole["output"]["tasks"].append({"id": 7, "title": "x", "description": "y", "files": [1], "blocked_by": []})
    del whole["agent_id"]
    assert sorted(paths(checked(whole, "07-lead-plan.json", "other"))) == [
        "agent_id",
        "feature_id",
        "output.tasks[2].files[0]",
        "output.tasks[2].id",
        "phase",
        "status",
        "timestamp",
    ]


@pytest.mark.requirement("O3")
@pytest.mark.parametrize("key", KEYS)
def test_every_key_of_the_header_must_be_there(key: str) -> None:
    whole = document()
    del whole[key]
    assert key in paths(checked(whole))


BAD: list[tuple[str, Any]] = [
    ("jonggrang-output", False),
    ("jonggrang-output", 1),
    ("jonggrang-output", "true"),
    ("feature_id", "Check Out"),
    ("feature_id", "../x"),
    ("feature_id", "con"),
    ("feature_id", None),
    ("feature_id", ""),
    ("feature_id", "a\0b"),
    ("phase", -1),
    ("phase", True),
    ("phase", "8"),
    ("phase", None),
    ("phase", float("nan")),
    ("phase", float("inf")),
    ("phase", 1e9),
    ("phase", 10**5000),
    ("phase", 100),
    ("phase", 6.25),
    ("phase", 8.4999),
    ("role", ""),
    ("role", "Developer"),
    ("role", "../../x"),
    ("role", ".."),
    ("role", "a/b"),
    ("role", "-x"),
    ("role", "x" * 65),
    ("role", "développeur"),
    ("role", "dev\neloper"),
    ("role", ["developer"]),
    ("task_id", 7),
    ("task_id", ""),
    ("task_id", "  "),
    ("task_id", "x" * 257),
    ("agent_id", None),
    ("agent_id", ""),
    ("timestamp", 1704067200),
    ("timestamp", "2024-01-01"),
    ("timestamp", "2024-01-01T00:00:00"),
    ("timestamp", "2024-02-30T00:00:00Z"),
    ("timestamp", "2023-02-29T00:00:00Z"),
    ("timestamp", "2024-13-01T00:00:00Z"),
    ("timestamp", "2024-01-01T24:00:00Z"),
    ("timestamp", "2024-01-01T00:00:00+2"),
    ("timestamp", "2024-01-01T00:00:00Z\n"),
    ("status", "COMPLETED"),
    ("status", "done"),
    ("status", None),
    ("status", ["completed"]),
    ("slug", "a/b"),
    ("slug", 7),
    ("slug", "C:x"),
    ("output", None),
    ("output", []),
    ("output", "done"),
]


@pytest.mark.requirement("P15")
@pytest.mark.parametrize(("key", "value"), BAD, ids=[f"{key}-{at}" for at, (key, _) in enumerate(BAD)])
def test_a_bad_value_is_the_one_mistake(key: str, value: Any) -> None:
    [mistake] = checked({**document("other"), key: value})
    assert mistake.path == key
    assert mistake.says.startswith("is ")
    assert "wanted" in mistake.says
    assert mistake.says.isprintable()


@pytest.mark.parametrize(
    "moment",
    [
        "2024-01-01T00:00:00Z",
        "2024-02-29T23:59:59.123456789Z",
        "2024-01-01T00:00:00+02:00",
        "2024-01-01t00:00:00.5-11:30",
        "2024-01-01 00:00:00z",
        "2016-12-31T23:59:60Z",
    ],
)
def test_a_time_may_have_a_fraction_and_an_offset(moment: str) -> None:
    assert checked(document(timestamp=moment)) == []


@pytest.mark.requirement("F2.3")
@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("08-reviewer-task-001.json", "role"),
        ("09-developer-task-001.json", "phase"),
        ("08_5-developer-task-001.json", "phase"),
        ("task-001.json", "file"),
    ],
)
def test_a_name_that_says_something_else_than_the_header_is_a_mistake(file: str, path: str) -> None:
    assert paths(checked(document(), file)) == [path]


def test_a_slug_of_its_own_must_be_the_one_of_the_name() -> None:
    assert paths(checked(document(slug="login"), "08-developer-other.json")) == ["slug"]
    assert checked(document(slug="login"), "08-developer-login.json") == []


def test_a_slug_that_reads_as_another_role_is_a_mistake() -> None:
    assert paths(checked(document("test", slug="lead-plan"))) == ["slug"]


@pytest.mark.parametrize(
    ("changed", "file"),
    [
        ({}, "08-developer-task-001.json"),
        ({"slug": "login"}, "08-developer-login.json"),
        ({"task_id": None, "output": {**payload("developer"), "task_id": None}}, "08-developer-output.json"),
        ({"phase": 6.5}, "06_5-developer-task-001.json"),
        ({"phase": 0}, "00-developer-task-001.json"),
    ],
)
def test_the_slug_is_the_own_word_else_the_task_else_output(changed: dict[str, Any], file: str) -> None:
    assert file_name(header_of(document(**changed))) == file


@pytest.mark.parametrize("task", ["Task 1", "a/b", "../x", "x" * 65, "TASK-1", "täsk", "task\n1"])
def test_a_task_id_that_does_not_fit_stays_in_the_header_only(task: str) -> None:
    whole = document("other", task_id=task)
    assert checked(whole) == []
    assert header_of(whole) == Header(
        "checkout", 8, "other", "output", task, "other-auth-001", "2024-01-01T00:00:00Z", "completed"
    )


def test_a_developer_who_names_two_tasks_is_told() -> None:
    assert paths(checked(document(task_id="task-002"))) == ["output.task_id"]


def test_more_keys_are_allowed() -> None:
    assert checked(document(extra={"any": ["thing"]}, model="m")) == []
