"""Holds how answers are said: one document or text, nothing stored acts on the terminal, colour only where wanted."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.faces.cli.terminal import BAR, Terminal, bar, safe


class Screen(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def terminal(
    as_json: bool = False, tty: bool = False, env: dict[str, str] | None = None
) -> tuple[Terminal, io.StringIO, io.StringIO]:
    out, err = (Screen(), Screen()) if tty else (io.StringIO(), io.StringIO())
    return Terminal(out, err, env or {}, as_json), out, err


@pytest.mark.requirement("P18")
@given(st.text(max_size=60), st.integers(0, 40))
def test_stored_text_is_one_line_that_acts_on_nothing(text: str, width: int) -> None:
    said = safe(text, width)
    assert not {one for one in said if ord(one) < 32 or 127 <= ord(one) < 160}
    assert not width or len(said) <= width


def test_a_line_beside_the_answer_is_one_line_unless_its_line_ends_are_ours() -> None:
    told, _, err = terminal()
    told.tell("one\ntwo\x1b[31m")
    told.tell("one\n  two\x1b", keep="\n")
    assert err.getvalue() == "one\\x0atwo\\x1b[31m\none\n  two\\x1b\n"


def test_an_answer_is_one_document_or_lines_and_never_both() -> None:
    told, out, err = terminal(as_json=True)
    told.answer({"a": "é\u202e"}, ["a line"])
    assert (json.loads(out.getvalue()), err.getvalue()) == ({"a": "é\u202e"}, "")
    told, out, err = terminal()
    told.answer({"a": 1}, ["a line", "another"])
    assert (out.getvalue(), err.getvalue()) == ("a line\nanother\n", "")


def test_a_large_document_is_one_line() -> None:
    told, out, _ = terminal(as_json=True)
    told.answer({"rows": list(range(500))}, [])
    assert out.getvalue().count("\n") == 1


@pytest.mark.parametrize(
    ("tty", "env", "colour"),
    [(True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False), (True, {"TERM": "dumb"}, False)],
)
def test_colour_only_on_a_terminal_that_wants_it(tty: bool, env: dict[str, str], colour: bool) -> None:
    told, _, _ = terminal(tty=tty, env=env)
    assert ("\x1b[" in told.paint("x", "good")) is colour


@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_a_bar_shows_what_is_not_nothing(part: int, whole: int) -> None:
    drawn = bar(min(part, whole), whole)
    assert len(drawn) == BAR
    assert drawn.startswith("#") == (part > 0)
    assert (drawn.count("#") == BAR) or part < whole
