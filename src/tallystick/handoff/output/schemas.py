"""What an output holds for each role: one table of fields, and the rules that bind them together. Pure (formats 2).

Every mistake is told at once, each with its path and what would be right; nothing is raised, whatever the document is.
More keys than these are allowed and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.handoff.manifest.phases import WORK_TYPES
from tallystick.ids import shown
from tallystick.limits import ID_CHARACTERS

#: Whole numbers beyond this are nobody's count, and slow to write out.
_LARGE = 10**15


class Mistake(NamedTuple):
    """One thing that is wrong: where, as `output.tasks[2].id`, and what it is and should be."""

    path: str
    says: str


Mistakes = Iterator[Mistake]
#: Looks at a value and names what is wrong with it; the text is its path.
Rule = Callable[[Json, str], Mistakes]


class Field(NamedTuple):
    """One key of an object. `also` are other spellings that are read as the same."""

    key: str
    rule: Rule
    required: bool = True
    also: tuple[str, ...] = ()


# -- rules for one value ----------------------------------------------------------------------------------------------


def told(value: Json) -> str:
    """A value as a message names it, short and printable whatever it is."""
    if isinstance(value, str):
        return shown(value, 40)
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, int) and abs(value) > _LARGE:
        return "a number out of all bounds"
    return str(value)[:40]


def is_whole(value: Json) -> bool:
    """Whether it is a whole number; a truth value is none."""
    return type(value) is int


def is_number(value: Json) -> bool:
    """Whether it is a number, and one that can be compared; a truth value is none."""
    return type(value) is int or (type(value) is float and value == value)


def _wanted(path: str, value: Json, wanted: str) -> Mistake:
    return Mistake(path, f"is {told(value)}, {wanted} is wanted")


def text(value: Json, path: str) -> Mistakes:
    """Any text."""
    if not isinstance(value, str):
        yield _wanted(path, value, "text")


def text_or_null(value: Json, path: str) -> Mistakes:
    """Any text, or null."""
    if value is not None:
        yield from text(value, path)


def truth(value: Json, path: str) -> Mistakes:
    """true or false."""
    if not isinstance(value, bool):
        yield _wanted(path, value, "true or false")


def count(value: Json, path: str) -> Mistakes:
    """A whole number from 0 on."""
    if not is_whole(value) or not 0 <= value <= _LARGE:
        yield _wanted(path, value, "a whole number from 0 on")


def count_or_null(value: Json, path: str) -> Mistakes:
    """A whole number from 0 on, or null."""
    if value is not None:
        yield from count(value, path)


def within(least: int, most: int, null: bool = False) -> Rule:
    """A number in a range."""

    def rule(value: Json, path: str) -> Mistakes:
        if null and value is None:
            return
        if not is_number(value) or not least <= value <= most:
            yield _wanted(path, value, f"a number from {least} to {most}{' or null' if null else ''}")

    return rule


def one_of(*words: str) -> Rule:
    """One of a few words."""

    def rule(value: Json, path: str) -> Mistakes:
        if value not in words:
            yield _wanted(path, value, f"one of {', '.join(words)}")

    return rule


def identifier(value: Json, path: str) -> Mistakes:
    """A text of 1 to 64 characters that names a task or a group."""
    if not isinstance(value, str) or not 0 < len(value.strip()) <= len(value) <= ID_CHARACTERS:
        yield _wanted(path, value, f"a text of 1 to {ID_CHARACTERS} characters")


def text_or_number(value: Json, path: str) -> Mistakes:
    """A priority, as people write one."""
    if not isinstance(value, str) and not is_number(value):
        yield _wanted(path, value, "text or a number")


def text_or_object(value: Json, path: str) -> Mistakes:
    """A remark: text, or an object of any keys."""
    if not isinstance(value, (str, dict)):
        yield _wanted(path, value, "text or an object")


def list_of(rule: Rule) -> Rule:
    """A list whose items all keep a rule."""

    def every(value: Json, path: str) -> Mistakes:
        if not isinstance(value, list):
            yield _wanted(path, value, "a list")
            return
        for at, item in enumerate(value):
            yield from rule(item, f"{path}[{at}]")

    return every


def object_of(*fields: Field) -> Rule:
    """An object with at least these keys."""

    def rule(value: Json, path: str) -> Mistakes:
        if not isinstance(value, dict):
            yield _wanted(path, value, "an object")
            return
        for field in fields:
            key = next((one for one in (field.key, *field.also) if one in value), None)
            if key is not None:
                yield from field.rule(value[key], f"{path}.{key}")
            elif field.required:
                yield Mistake(f"{path}.{field.key}", "is missing")

    return rule


def _violation(value: Json, path: str) -> Mistakes:
    """A text, or an object that says what is wrong and may say where."""
    if isinstance(value, dict):
        yield from _VIOLATION(value, path)
    elif not isinstance(value, str):
        yield _wanted(path, value, "text, or an object of severity, file, line, type, message")


_TEXTS = list_of(text)
_REMARKS = list_of(text_or_object)
_VIOLATION = object_of(
    Field("message", text),
    Field("severity", text_or_null, required=False),
    Field("file", text_or_null, required=False),
    Field("line", count_or_null, required=False),
    Field("type", text_or_null, required=False),
)
_TASK = object_of(
    Field("id", identifier),
    Field("title", text),
    Field("description", text),
    Field("files", _TEXTS),
    Field("blocked_by", _TEXTS),
    Field("role", text_or_null, required=False),
    Field("acceptance_criteria", _TEXTS, required=False),
    Field("skill_hint", text_or_null, required=False),
)
_GROUP = object_of(
    Field("group_id", identifier),
    Field("module", text),
    Field("file", text),
    Field("test_file", text),
    Field("priority", text_or_number),
    Field("cases", _REMARKS),
)


# -- rules that bind fields to each other -----------------------------------------------------------------------------


def _plan(value: Json, path: str) -> Mistakes:
    """Task ids are used once, and what blocks a task is a task of the plan that does not wait for it."""
    tasks = value.get("tasks")
    if not isinstance(tasks, list):
        return
    places: dict[str, int] = {}
    for at, task in enumerate(tasks):
        name = task.get("id") if isinstance(task, dict) else None
        if not isinstance(name, str):
            continue
        if name in places:
            yield Mistake(f"{path}.tasks[{at}].id", f"is {told(name)}, as tasks[{places[name]}] has it already")
        else:
            places[name] = at
    waits: dict[str, list[str]] = {}
    for name, at in places.items():
        waits[name] = []
        for place, other in _blockers(tasks[at]):
            if other in places:
                waits[name].append(other)
            else:
                where = f"{path}.tasks[{at}].blocked_by[{place}]"
                yield Mistake(where, f"is {told(other)}, which is no task of this plan")
    for circle in circles(waits):
        names = " waits for ".join(told(name) for name in (*circle[:8], circle[0]))
        yield Mistake(f"{path}.tasks[{places[circle[0]]}].blocked_by", f"goes in a circle: {names}")


def _blockers(task: dict[str, Json]) -> list[tuple[int, str]]:
    blocked_by = task.get("blocked_by")
    if not isinstance(blocked_by, list):
        return []
    return [(place, other) for place, other in enumerate(blocked_by) if isinstance(other, str)]


def circles(waits: dict[str, list[str]]) -> Iterator[Sequence[str]]:
    """Circles among tasks that wait for each other, at least one in each knot; no task is in two of them.

    `waits`: task -> what it waits for; each must be a key itself.
    """
    dependants: dict[str, list[str]] = {name: [] for name in waits}
    missing = {name: len(others) for name, others in waits.items()}
    for name, others in waits.items():
        for other in others:
            dependants[other].append(name)
    left = dict.fromkeys(waits)
    ready = [name for name, count in missing.items() if not count]
    while left:
        while ready:
            name = ready.pop()
            if name not in left:
                continue
            del left[name]
            for one in dependants[name]:
                missing[one] -= 1
                if not missing[one]:
                    ready.append(one)
        if left:
            circle = _circle(waits, left)
            yield circle
            ready = list(circle)


def _circle(waits: dict[str, list[str]], left: dict[str, None]) -> list[str]:
    """One circle among the tasks that are left, each of which waits for another of them."""
    walked: dict[str, None] = {}
    at = next(iter(left))
    while at not in walked:
        walked[at] = None
        at = next(other for other in waits[at] if other in left)
    names = list(walked)
    return names[names.index(at) :]


def _counts(value: Json, path: str) -> Mistakes:
    """What a tester counted agrees with itself."""
    total, passed, failed = (value.get(key) for key in ("total", "passed", "failed"))
    skipped = value.get("skipped", 0)
    if all(map(is_whole, (total, passed, failed, skipped))) and passed + failed + skipped != total:
        said = f"{told(passed)} passed and {told(failed)} failed"
        said += f" and {told(skipped)} skipped" if "skipped" in value else ""
        yield Mistake(f"{path}.total", f"is {told(total)}, but {said}")
    if value.get("tests_passed") is True and is_whole(failed) and failed > 0:
        yield Mistake(f"{path}.tests_passed", f"is true, but {told(failed)} failed")
    names = value.get("failed_tests")
    if isinstance(names, list) and is_whole(failed) and len(names) > failed:
        yield Mistake(f"{path}.failed_tests", f"names {len(names)}, but {told(failed)} failed")


# -- the table --------------------------------------------------------------------------------------------------------


class Schema(NamedTuple):
    """What the output of a role must hold, and what must agree within it."""

    fields: tuple[Field, ...]
    agrees: Rule | None = None


SCHEMAS: dict[str, Schema] = {
    "lead": Schema(
        (
            Field("work_type", one_of(*WORK_TYPES)),
            Field("tasks", list_of(_TASK)),
            Field("tech_decisions", _REMARKS),
            Field("risk_factors", _REMARKS, also=("risks",)),
        ),
        _plan,
    ),
    "developer": Schema(
        (
            Field("task_id", text_or_null),
            Field("files_modified", _TEXTS),
            Field("files_created", _TEXTS),
            Field("summary", text),
            Field("notes", text_or_null),
        )
    ),
    "reviewer": Schema(
        (
            Field("approved", truth),
            Field("score", within(0, 10)),
            Field("violations", list_of(_violation)),
            Field("warnings", list_of(_violation)),
            Field("required_fixes", list_of(_violation)),
        )
    ),
    "test-lead": Schema((Field("coverage_target", within(0, 100)), Field("test_groups", list_of(_GROUP)))),
    "tester": Schema(
        (
            Field("tests_passed", truth),
            Field("total", count),
            Field("passed", count),
            Field("failed", count),
            Field("coverage", within(0, 100, null=True)),
            Field("failed_tests", _REMARKS),
        ),
        _counts,
    ),
}
#: Any other role hands over an object.
OTHER = Schema(())


def payload_mistakes(role: Json, payload: Json, path: str = "output") -> Mistakes:
    """Everything that is wrong with what a role hands over."""
    schema = SCHEMAS.get(role, OTHER) if isinstance(role, str) else OTHER
    yield from object_of(*schema.fields)(payload, path)
    if schema.agrees is not None and isinstance(payload, dict):
        yield from schema.agrees(payload, path)
