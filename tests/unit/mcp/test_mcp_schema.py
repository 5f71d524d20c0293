"""Arguments are checked strictly, all mistakes at once, each named as it was sent."""

from __future__ import annotations

from typing import Any

import pytest

from tallystick.errors import Refusal
from tallystick.mcp.catalogue import TOOLS
from tallystick.mcp.schema import MOST, check, mistakes

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "task_id": {"type": "string", "description": "the feature", "maxLength": 8},
        "change": {"type": "string", "enum": ["text", "close"]},
        "offset": {"type": "integer"},
        "share": {"type": "number"},
        "deep": {"type": "boolean"},
        "either": {"type": ["string", "null"]},
        "features": {
            "type": "array",
            "minItems": 1,
            "maxItems": 1000,
            "items": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "needs": {"type": "array", "items": {"type": "string"}}},
                "required": ["id"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["task_id"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"task_id": "a"}, []),
        ({"task_id": "a", "offset": 3, "share": 1, "deep": False, "either": None, "features": [{"id": "x"}]}, []),
        ({}, ["task_id is missing (a string)"]),
        ({"task_id": 7}, ["task_id must be a string, not an integer"]),
        ({"task_id": None}, ["task_id must be a string, not null"]),
        ({"task_id": "a" * 9}, ["task_id has 9 characters, at most 8"]),
        ({"task_id": "a", "change": "txt"}, ['change must be one of text, close, not "txt"']),
        ({"task_id": "a", "offset": True}, ["offset must be an integer, not true or false"]),
        ({"task_id": "a", "offset": 1.5}, ["offset must be an integer, not a number"]),
        ({"task_id": "a", "deep": "yes"}, ["deep must be true or false, not a string"]),
        ({"task_id": "a", "either": []}, ["either must be a string or null, not an array"]),
        ({"task_id": "a", "features": []}, ["features has 0 items, at least 1"]),
        ({"task_id": "a", "features": [{"id": "x"}] * 1001}, ["features has 1001 items, at most 1000"]),
        ({"task_id": "a", "features": {}}, ["features must be an array, not an object"]),
        ({"task_id": "a", "features": [{"id": "x"}, {}]}, ["features[1].id is missing (a string)"]),
        ({"task_id": "a", "features": [{"id": "x", "needs": ["t", 1]}]},
         ["features[0].needs[1] must be a string, not an integer"]),
        ({"task_id": "a", "features": [{"id": "x", "typo": 1}]}, ["features[0].typo is not known here"]),
        ({"task_id": "a", "sp\u202ece": 1}, ['"sp\\u202ece" is not known here']),
        ({"taskid": "a", "offset": "1"},
         ["offset must be an integer, not a string", "task_id is missing (a string)", "taskid is not known here"]),
    ],
)  # fmt: skip
def test_every_mistake_is_named(arguments: dict[str, Any], found: list[str]) -> None:
    assert list(mistakes(SCHEMA, arguments)) == found


def test_one_refusal_tells_them_all_and_what_the_tool_takes() -> None:
    with pytest.raises(Refusal) as caught:
        check("amend", SCHEMA, {"offset": "1"})
    assert caught.value.code == "usage"
    assert caught.value.message == "amend: offset must be an integer, not a string; task_id is missing (a string)"
    assert caught.value.hint == "amend takes task_id, [change], [offset], [share], [deep], [either], [features]"


def test_a_thousand_mistakes_do_not_make_a_thousand_lines() -> None:
    with pytest.raises(Refusal) as caught:
        check("init", SCHEMA, {"task_id": "a", "features": [{}] * 1000})
    assert caught.value.message.count(" is missing") == MOST
    assert caught.value.message.endswith(f"; and {1000 - MOST} more")


def test_good_arguments_are_passed_in_silence() -> None:
    check("amend", SCHEMA, {"task_id": "a"})


def test_a_keyword_that_is_not_checked_is_our_own_fault() -> None:
    with pytest.raises(ValueError, match="pattern"):
        list(mistakes({"type": "string", "pattern": "a+"}, "b", "x"))


def _filled(schema: dict[str, Any]) -> Any:
    """A value in which everything that `schema` speaks of is there, so that each of its keywords is asked."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: _filled(rules) for name, rules in schema.get("properties", {}).items()}
    if schema["type"] == "array":
        return [_filled(schema["items"])]
    return {"string": "a", "boolean": True, "integer": 0}[schema["type"]]


@pytest.mark.parametrize("name", TOOLS)
def test_every_keyword_of_a_tool_of_ours_is_checked(name: str) -> None:
    check(name, TOOLS[name].input_schema, _filled(TOOLS[name].input_schema))
