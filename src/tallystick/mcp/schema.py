"""A small strict checker for the arguments of a call: every mistake at once, each named as it was sent.

It knows exactly the keywords of `_CHECKS`; the schemas are ours, so any other keyword is a fault of ours and raises
`ValueError` instead of being passed over. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tallystick.errors import Refusal
from tallystick.ids import shown

Json = Any

#: Mistakes told in one answer; more would only bury them.
MOST = 12

_ARTICLES = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
_PLAIN = re.compile(r"[\w-]{1,64}\Z", re.A)
_SILENT = frozenset({"description", "title", "default"})


def mistakes(schema: dict[str, Json], value: Json, path: str = "") -> Iterator[str]:
    """Each way in which `value` breaks `schema`, outermost first; `path` names the value in messages."""
    if "type" in schema and not _has_type(schema["type"], value):
        yield f"{path} must be {_type_words(schema['type'])}, not {_ARTICLES[_type_of(value)]}"
        return
    for keyword in schema:
        if keyword in _CHECKS:
            yield from _CHECKS[keyword](schema, value, path)
        elif keyword not in _SILENT and keyword != "type":
            raise ValueError(f"the schema of {path or 'a tool'} uses {keyword}, which is not checked here")


def check(tool: str, schema: dict[str, Json], arguments: dict[str, Json]) -> None:
    """Raises one `Refusal` "usage" that names every mistake in the arguments of `tool` (the first `MOST` of them)."""
    found = list(mistakes(schema, arguments))
    if not found:
        return
    told = "; ".join(found[:MOST]) + (f"; and {len(found) - MOST} more" if len(found) > MOST else "")
    takes = ", ".join(name if name in schema.get("required", ()) else f"[{name}]" for name in schema["properties"])
    raise Refusal("usage", f"{tool}: {told}", f"{tool} takes {takes or 'no arguments'}")


def _required(schema: dict[str, Json], value: Json, path: str) -> Iterator[str]:
    for name in schema["required"]:
        if isinstance(value, dict) and name not in value:
            kind = schema.get("properties", {}).get(name, {}).get("type")
            yield f"{_member(path, name)} is missing" + (f" ({_type_words(kind)})" if kind else "")


def _properties(schema: dict[str, Json], value: Json, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, rules in schema["properties"].items():
            if name in value:
                yield from mistakes(rules, value[name], _member(path, name))


def _additional(schema: dict[str, Json], value: Json, path: str) -> Iterator[str]:
    if schema["additionalProperties"] is False and isinstance(value, dict):
        for name in value:
            if name not in schema.get("properties", {}):
                yield f"{_member(path, name)} is not known here"


def _items(schema: dict[str, Json], value: Json, path: str) -> Iterator[str]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from mistakes(schema["items"], item, f"{path}[{index}]")


def _enum(schema: dict[str, Json], value: Json, path: str) -> Iterator[str]:
    allowed = schema["enum"]
    if value not in allowed:
        sent = shown(value) if isinstance(value, str) else _ARTICLES[_type_of(value)]
        yield f"{path} must be one of {', '.join(map(str, allowed))}, not {sent}"


def _max_length(schema: dict[str, Json], value: Json, path: str) -> Iterator[str]:
    most = schema["maxLength"]
    if isinstance(value, str) and len(value) > most:
        yield f"{path} has {len(value)} characters, at most {most}"


def _min_items(schema: dict[str, Json], value: Json, path: str) -> Iterator[str]:
    least = schema["minItems"]
    if isinstance(value, list) and len(value) < least:
        yield f"{path} has {len(value)} items, at least {least}"


def _max_items(schema: dict[str, Json], value: Json, path: str) -> Iterator[str]:
    most = schema["maxItems"]
    if isinstance(value, list) and len(value) > most:
        yield f"{path} has {len(value)} items, at most {most}"


_Check = Callable[[dict[str, Json], Json, str], Iterator[str]]
_CHECKS: dict[str, _Check] = {
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "enum": _enum,
    "maxLength": _max_length,
    "minItems": _min_items,
    "maxItems": _max_items,
}


def _type_of(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for kind, name in ((str, "string"), (int, "integer"), (float, "number"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "object"


def _has_type(wanted: str | list[str], value: Json) -> bool:
    names = [wanted] if isinstance(wanted, str) else wanted
    kind = _type_of(value)
    return kind in names or (kind == "integer" and "number" in names)


def _type_words(wanted: str | list[str]) -> str:
    return _ARTICLES[wanted] if isinstance(wanted, str) else " or ".join(_ARTICLES[name] for name in wanted)


def _member(path: str, name: str) -> str:
    readable = name if _PLAIN.match(name) else shown(name)
    return f"{path}.{readable}" if path else readable
