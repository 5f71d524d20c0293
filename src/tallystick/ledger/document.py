"""`feature_list.json` and the inputs it can be made from: bytes in, values out, and back. Pure (formats 1).

The view is exactly the seed's schema: its keys, in its order, indented by two, ended by LF. What is read from outside
is parsed strictly, and all mistakes are told at once, each with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.ids import escaped
from tallystick.ledger.model import Criterion, Draft, Ledger

SCHEMA_VERSION = 1
#: `- [ ] text`, however the blanks are set; `- [x](…)` is a link.
_ITEM = re.compile(r"(?:[-*+]|\d{1,4}[.)])\s*+\[\s*+(?P<tick>[xX]?)\s*+\](?!\()\s*+(?P<rest>\S.*)\Z", re.S)
_HAS_ITEM = re.compile(rb"^(?:[-*+]|\d{1,4}[.)])[ \t]*+\[[ \t]*+[xX]?[ \t]*+\]", re.M)
_LINE_END = re.compile(r"\r\n|\r|\n")
_ID = re.compile(
    r"(?:\*\*|__|`)?(?P<id>[^\s*`]+?)(?:\*\*|__|`)?[:.)]?(?:\*\*|__|`)?\s+(?:[-–—:]\s+)?(?P<text>\S.*)\Z",
    re.S,
)
_BULLET = re.compile(r"\A[-*+][ \t]+(?:\[[ xX]\][ \t]+)?")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<rest>.*)\Z")


class Source(NamedTuple):
    """What an input file holds: its criteria, the feature it names itself (or None), how many were ticked."""

    drafts: tuple[Draft, ...]
    feature: str | None
    ticked: int


def render(ledger: Ledger) -> bytes:
    """The view of a ledger, closed criteria left out."""
    quoted = canonical.quoted
    head = (
        f'{{\n  "task_id": {quoted(ledger.feature)},\n  "created_at": {_text(ledger.created_at)},\n'
        f'  "schema_version": {SCHEMA_VERSION},\n  "features": ['
    )
    rows = [_render(criterion) for criterion in ledger.criteria.values() if criterion.closed is None]
    body = ",".join(rows) + "\n  ]\n}\n" if rows else "]\n}\n"
    return (head + body).encode("utf-8")


def row(criterion: Criterion) -> dict[str, Json]:
    """One criterion as the seed's tools know it: seven keys, `evidence_required` only where there is some."""
    passes, reference = criterion.passes, criterion.evidence_ref
    if criterion.override is not None:
        passes, reference = True, f"override: {criterion.override}"
    fields: dict[str, Json] = {"id": criterion.id, "description": criterion.description}
    if criterion.evidence_required is not None:
        fields["evidence_required"] = list(criterion.evidence_required)
    fields["passes"] = passes
    fields["passed_at"] = criterion.passed_at
    fields["evidence_ref"] = reference
    fields["last_attempt_error"] = criterion.error
    return fields


def _render(criterion: Criterion) -> str:
    quoted = canonical.quoted
    fields = row(criterion)
    required = ""
    if "evidence_required" in fields:
        entries = ",".join(f"\n        {quoted(entry)}" for entry in fields["evidence_required"])
        required = (
            f'      "evidence_required": [{entries}\n      ],\n' if entries else '      "evidence_required": [],\n'
        )
    return (
        f'\n    {{\n      "id": {quoted(criterion.id)},\n      "description": {quoted(criterion.description)},\n'
        f'{required}      "passes": {"true" if fields["passes"] else "false"},\n'
        f'      "passed_at": {_text(fields["passed_at"])},\n      "evidence_ref": {_text(fields["evidence_ref"])},\n'
        f'      "last_attempt_error": {_text(fields["last_attempt_error"])}\n    }}'
    )


def _text(value: str | None) -> str:
    return "null" if value is None else canonical.quoted(value)


# -- reading ------------------------------------------------------------------------------------------------------


def source(data: bytes, file: str) -> Source:
    """The criteria in an input file: the seed's JSON, or a Markdown checklist. `file` names it in messages."""
    stripped = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not stripped:
        raise Refusal("input.invalid", f"{file} is empty", "write criteria as `- [ ] AC1 text`, one a line")
    if stripped[:1] == b"{" or (stripped[:1] == b"[" and not _HAS_ITEM.search(stripped)):
        return from_json(canonical.parse(data, file), file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refusal("input.invalid", f"{file} is not UTF-8 at byte {error.start}", "save it as UTF-8") from None
    return _from_checklist(text, file)


def from_json(value: Json, file: str) -> Source:
    """The criteria in the seed's JSON, parsed already."""
    if not isinstance(value, dict) or not isinstance(value.get("features"), list):
        raise Refusal(
            "input.invalid",
            f"{file} is no feature list: an object with a list `features` is wanted",
            "see docs/formats.md",
        )
    version = value.get("schema_version", SCHEMA_VERSION)
    if type(version) is not int or version < 1:
        raise Refusal(
            "input.invalid",
            f"{file}: schema_version is {escaped(canonical.text(version)[:40])}, {SCHEMA_VERSION} is wanted",
            "mend the file",
        )
    if version > SCHEMA_VERSION:
        raise Refusal(
            "format.newer",
            f"{file}: schema_version is {version}, this version reads {SCHEMA_VERSION}",
            "use the newer tallystick that wrote it",
        )
    mistakes: list[str] = []
    drafts = [_draft(item, f"features[{at}]", mistakes) for at, item in enumerate(value["features"])]
    feature = value.get("task_id")
    if feature is not None and not isinstance(feature, str):
        mistakes.append("task_id is no text")
    if mistakes:
        more = f" … and {len(mistakes) - 10} more" if len(mistakes) > 10 else ""
        raise Refusal(
            "input.invalid", f"{file}: {'; '.join(mistakes[:10])}{more}; nothing was changed", "mend the file"
        )
    ticked = sum(1 for item in value["features"] if item.get("passes") is True)
    return Source(tuple(drafts), feature, ticked)


def _draft(item: Json, place: str, mistakes: list[str]) -> Draft:
    if not isinstance(item, dict):
        mistakes.append(f"{place} is no object")
        return Draft("", "")
    for key in ("id", "description"):
        if not isinstance(item.get(key), str):
            mistakes.append(f"{place}.{key} is {'missing' if key not in item else 'no text'}")
    required = item.get("evidence_required")
    if required is not None and not (isinstance(required, list) and all(isinstance(one, str) for one in required)):
        mistakes.append(f"{place}.evidence_required is no list of texts")
        required = None
    return Draft(str(item.get("id")), str(item.get("description")), None if required is None else tuple(required))


def _from_checklist(text: str, file: str) -> Source:
    """`- [ ] AC1 text` opens a criterion, indented lines below it hold its evidence_required; all else is prose."""
    items: list[tuple[int, str, list[str]]] = []
    ticked = 0
    fence = ""
    for number, line in enumerate(_LINE_END.split(text), 1):
        mark = _FENCE.match(line)
        if mark and (not fence or (mark["mark"].startswith(fence) and not mark["rest"].strip())):
            fence = "" if fence else mark["mark"]
            continue
        if fence or not line.strip():
            continue
        item = _ITEM.match(line)
        if item:
            items.append((number, item["rest"].rstrip(), []))
            ticked += item["tick"] != ""
        elif items and line[0] in " \t" and line.strip():
            items[-1][2].append(_BULLET.sub("", line.strip(), count=1))
        elif line[0] not in " \t" and items:
            items.append((0, "", []))  # prose ends the item, so that its indented lines are nobody's evidence
    found = [item for item in items if item[0]]
    return Source(tuple(_named(found, file)), None, ticked)


def _named(items: list[tuple[int, str, list[str]]], file: str) -> Iterable[Draft]:
    """Ids as written, or AC1, AC2 … where no item has one; a mixture is refused, since a word would become an id."""
    split = [(number, _ID.match(rest), rest, required) for number, rest, required in items]
    with_id = [match is not None and _has_digit(match["id"]) for _, match, _, _ in split]
    if any(with_id) and not all(with_id):
        number = next(number for (number, *_), named in zip(split, with_id, strict=True) if not named)
        raise Refusal(
            "input.invalid",
            f"{file}:{number} has no criterion id although other items have one; nothing was changed",
            "begin each item with its id, as in `- [ ] AC7 text`, or none of them",
        )
    for position, (_, match, rest, required) in enumerate(split, 1):
        evidence = tuple(required) or None
        if match is not None and all(with_id):
            yield Draft(match["id"].rstrip(":.)"), match["text"].strip(), evidence)
        else:
            yield Draft(f"AC{position}", rest.strip(), evidence)


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)
