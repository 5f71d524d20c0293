"""Holds the one table of codes: every code that is used has a row, every refusal names a next step, and the exit
statuses are those that were promised."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tallystick.errors import CODES, PRECEDENCE, Refusal, Where, exit_status
from tests.yard.source import Module, called, package

#: The promised statuses, as the help page says them.
STATUSES = {1, 2, 3, 4, 5, 6, 7, 8, 70, 130, 143}


def _refusals() -> Iterator[tuple[Module, ast.Call]]:
    for module in package().values():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and called(node) == "Refusal":
                yield module, node


def _said(call: ast.Call, place: int, name: str) -> ast.expr | None:
    if len(call.args) > place:
        return call.args[place]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _constants(node: ast.expr) -> Iterator[str]:
    """The texts that an expression may come to."""
    if isinstance(node, ast.IfExp):
        yield from _constants(node.body)
        yield from _constants(node.orelse)
    elif isinstance(node, ast.Constant):
        yield str(node.value)


def test_every_code_that_is_written_has_a_row() -> None:
    written = [(module, call, code) for module, call in _refusals() for code in _constants(call.args[0])]
    assert len(written) > 50
    assert [f"{module.path}:{call.lineno}: {code}" for module, call, code in written if code not in CODES] == []


def test_every_refusal_but_a_fault_of_ours_names_the_next_step() -> None:
    bare = []
    for module, call in _refusals():
        hint = _said(call, 2, "hint")
        silent = hint is None or (isinstance(hint, ast.Constant) and not hint.value)
        if silent and not {"internal"} & set(_constants(call.args[0])):
            bare.append(f"{module.path}:{call.lineno}")
    assert bare == []


def test_every_code_has_a_promised_exit_status_and_says_what_it_means() -> None:
    assert {row.exit for row in CODES.values()} == STATUSES
    assert all(row.says and 400 <= row.http < 600 for row in CODES.values())


def test_several_verdicts_make_one_status() -> None:
    assert PRECEDENCE == (8, 4, 7, 6, 5, 3)
    assert exit_status([]) == exit_status([0, 0]) == 0
    assert exit_status([3, 5, 6, 7, 4, 8]) == 8
    for at, status in enumerate(PRECEDENCE):
        assert exit_status([*PRECEDENCE[at:], 0]) == status


def test_a_refusal_is_one_document() -> None:
    refusal = Refusal("pass.already", "AC1 was passed", "nothing", Where("/f", 3), {"receipt": {"criterion": "AC1"}})
    where = {"file": "/f", "line": 3, "offset": None}
    error = {"code": "pass.already", "message": "AC1 was passed", "hint": "nothing", "where": where}
    assert refusal.document() == {"error": error, "receipt": {"criterion": "AC1"}}
    assert Refusal("usage", "x").document()["error"] == {"code": "usage", "message": "x", "hint": "", "where": None}
    assert (refusal.exit, str(refusal)) == (1, "AC1 was passed")


def test_a_code_that_nobody_knows_is_a_mistake_of_ours() -> None:
    with pytest.raises(KeyError):
        Refusal("nosuch.code", "x")


@pytest.mark.parametrize(
    ("where", "text"), [(Where("/f"), "/f"), (Where("/f", 3, 40), "/f:3"), (Where("/f", None, 40), "/f at byte 40")]
)
def test_a_place_reads_as_people_write_it(where: Where, text: str) -> None:
    assert str(where) == text
