"""Holds the board file: its documented keys, every shape it is read in, and that one that cannot be read is never taken
for an empty one; and the fold: what another copy's records may say, and which payloads are none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.board import plan
from tallystick.board.document import read, render
from tallystick.board.model import BoardFold, Draft
from tallystick.errors import Refusal
from tallystick.journal.record import Event
from tests.unit.board.boards import Table, code, draft, record

KEYS = (
    "id", "title", "description", "priority", "status", "role", "skill", "files", "blocked_by", "passes", "started_at",
    "completed_at", "error_log",
)  # fmt: skip


def written(table: Table) -> dict[str, Any]:
    """The file of a board, read back."""
    found: dict[str, Any] = json.loads(render("checkout", "main", table.tasks.values(), lambda task: task.id == "a"))
    return found


@pytest.mark.requirement("O15")
def test_the_file_has_the_documented_keys_in_their_order() -> None:
    table = Table(draft("a", acceptance_criteria=("AC1",), files=("src/é.py",)), draft("b", "a"))
    table.claim("a")
    document = written(table)
    first, second = document["tasks"]
    assert (list(document), document["feature"], document["branch"]) == (
        ["feature", "branch", "tasks"],
        "checkout",
        "main",
    )
    assert (tuple(first), tuple(second)) == ((*KEYS, "acceptance_criteria"), KEYS)
    assert (first["status"], first["started_at"], first["passes"]) == ("in_progress", "2026-05-21T00:00:00.000Z", True)
    assert (second["status"], second["blocked_by"], second["passes"]) == ("pending", ["a"], False)


def test_what_was_written_is_read_again() -> None:
    table = Table(
        draft("a", files=("x\ny", '"q"', "-rf")), draft("b", "a", role="developer"), draft("c", status="skipped")
    )
    table.block("b")
    data = render("checkout", None, table.tasks.values(), lambda task: False)
    found = read(data, "board")
    assert (found.feature, found.ticked) == ("checkout", 0)
    again = Table()
    again.commit(*plan.add({}, found.drafts, "board", again.now))
    assert render("checkout", None, again.tasks.values(), lambda task: False) == data


def test_a_plan_of_the_seed_becomes_tasks() -> None:
    tasks = [
        {"id": "task-001", "title": "...", "description": "...", "files": ["a.ts"], "blocked_by": []},
        {"id": "task-002", "title": "...", "description": "...", "files": [], "blocked_by": ["task-001"]},
    ]
    header = {"jonggrang-output": True, "feature_id": "auth", "phase": 7, "role": "lead"}
    found = read(json.dumps({**header, "output": {"work_type": "MEDIUM", "tasks": tasks}}).encode(), "plan")
    assert found.feature == "auth"
    assert [(one.id, one.files, one.blocked_by) for one in found.drafts] == [
        ("task-001", ("a.ts",), ()),
        ("task-002", (), ("task-001",)),
    ]


OLD = {
    "feature": "auth",
    "branch": "feature/auth",
    "updated": "some time",
    "tasks": [
        {"id": "t1", "title": "done", "status": "completed", "passes": True, "x": 1},
        {"id": 2, "description": "only this\nand more", "status": "in_progress", "priority": "2"},
        {
            "id": "t3",
            "title": "t",
            "status": "blocked",
            "error_log": ["first", {"message": "no key"}],
            "blocked_by": None,
        },
        {"id": "t4", "title": "t", "depends_on": ["t1", 2], "priority": "high", "skill_hint": "sql", "files": "a.py"},
        {"id": "t5", "title": "t", "status": "Done", "acceptance_criteria": [{"id": "AC1", "text": "it works"}]},
    ],
}


def test_the_old_root_file_is_read_with_what_it_lacks() -> None:
    found = read(b"\xef\xbb\xbf" + json.dumps(OLD).replace(",", ",\r\n").encode(), "board")
    assert (found.feature, found.ticked) == ("auth", 1)
    assert list(found.drafts) == [
        Draft("t1", "done", status="completed"),
        Draft("2", "only this", "only this\nand more", priority=2),
        Draft("t3", "t", status="blocked", reason="no key"),
        Draft("t4", "t", blocked_by=("t1", "2"), priority=1, skill="sql", files=("a.py",)),
        Draft("t5", "t", status="completed", acceptance_criteria=("AC1",)),
    ]


def test_every_mistake_is_told_at_once_with_its_place() -> None:
    tasks = [
        {"id": "a b", "title": "t"},
        {"title": "t", "status": "odd"},
        {"id": "c", "title": 5, "priority": True, "files": [None], "blocked_by": {}},
        "words",
        {"id": "c", "title": "again"},
    ]
    with pytest.raises(Refusal) as refused:
        read(json.dumps({"tasks": tasks}).encode(), "board.json")
    mistakes = refused.value.facts["mistakes"]
    assert isinstance(mistakes, list)
    assert [text.partition(" ")[0].rstrip(":") for text in mistakes] == [
        "tasks[0].id", "tasks[1].id", "tasks[1].status", "tasks[2].title", "tasks[2].priority", "tasks[2].files[0]",
        "tasks[2].blocked_by", "tasks[3]", "tasks[4].id",
    ]  # fmt: skip
    assert len(refused.value.message) < 1000


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b'{"tasks": [', b"[]]", b"null", b'"tasks"', b"{}", b'{"tasks": {}}', b'{"tasks": [], "tasks": []}',
        b'{"tasks": [NaN]}', b'{"feature": 5, "tasks": []}', b"[" * 100, b"\xff", b'{"tasks": ["\\ud800"]}',
        b'{"output": {"no": "tasks"}}',
    ],
)  # fmt: skip
def test_what_is_no_board_is_refused_and_never_empty(data: bytes) -> None:
    assert code(lambda: read(data, "board")) == "input.invalid"


FIELDS = st.sampled_from(["tasks", "id", "title", "status", "files", "priority", "blocked_by"])
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner),
)


@given(JSON)
def test_any_json_is_read_or_refused(value: Any) -> None:
    drafts: list[Draft] = []
    assert code(lambda: drafts.extend(read(json.dumps(value).encode(), "board").drafts)) in ("", "input.invalid")
    assert all(one.id and one.title for one in drafts)


def test_another_copys_records_add_what_is_not_there_and_count_for_nothing_else() -> None:
    table, far = Table(draft("a")), Table(draft("a", priority=7), draft("b"))
    far.claim("a", "eve", 10_000)
    far.done("a", "eve")
    for one in far.records:
        table.commit(Event(one.type, one.data), ours=False)
    a, b = table.task("a"), table.task("b")
    assert (a.status, a.owner, a.fence, a.priority, a.ours, a.elsewhere) == ("pending", None, 0, 1, True, "completed")
    assert (b.status, b.ours) == ("pending", False)
    table.commit(Event("task_moved", {"task": "b", "to": "removed", "fence": None, "reason": None}), ours=False)
    assert table.claim("b") == 1, "it may be worked on here, and nobody takes it off from there"
    table.commit(Event("task_claimed", {"task": "b", "owner": "eve", "fence": 99, "until": "2099-01-01T00:00:00.000Z"}),
                 ours=False)  # fmt: skip
    table.done("b")
    assert table.task("b").fence == 1


def test_our_definition_takes_the_place_of_another_copys() -> None:
    far, table = Table(draft("a", priority=7)), Table()
    table.commit(Event(far.records[0].type, far.records[0].data), ours=False)
    ours = plan.add({}, [draft("a", priority=2)], None, table.now)
    table.commit(*ours)
    assert (table.task("a").priority, table.task("a").ours) == (2, True)


def test_errors_are_kept_bounded() -> None:
    table = Table(draft("a"))
    for _ in range(12):
        table.block("a")
        table.release("a")
    assert len(table.task("a").error_log) == 10


GOOD: dict[str, dict[str, Any]] = {
    "task_added": Table(draft("a")).records[0].data,
    "task_claimed": {"task": "a", "owner": "ann", "fence": 1, "until": "2026-05-21T00:00:00.000Z"},
    "task_moved": {"task": "a", "to": "blocked", "fence": 1, "reason": "no key"},
}
#: In the place of a field.
ODD: list[Any] = [None, True, -1, 2**60, "", "x y", {}, [], [5], ["a"], [[]]]


@given(st.sampled_from(sorted(GOOD)), st.data())
def test_any_payload_has_a_flaw_or_is_folded(kind: str, data: st.DataObject) -> None:
    """Whatever stands in a record of another key, it is named or it does no harm."""
    payload = json.loads(json.dumps(GOOD[kind]))
    where = payload["task"] if kind == "task_added" and data.draw(st.booleans()) else payload
    key = data.draw(st.sampled_from(sorted(where)))
    if data.draw(st.booleans()):
        where[key] = data.draw(st.sampled_from(ODD))
    else:
        del where[key]
    table = Table(draft("a"))
    one = record(Event(kind, payload), 9)
    if table.fold.flaw(one) is None:
        for ours in (False, True):
            table.fold.apply(table.state, one, ours)
        assert table.next().kind
        assert len(written(table)["tasks"]) == len(table.tasks)


@pytest.mark.parametrize("kind", sorted(GOOD))
def test_a_good_payload_has_no_flaw(kind: str) -> None:
    assert BoardFold().flaw(record(Event(kind, GOOD[kind]), 1)) is None
