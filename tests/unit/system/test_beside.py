"""Holds that work beside the caller's own gives its result, or its error, to whoever asks for it."""

from __future__ import annotations

from threading import Event, get_ident

import pytest

from tallystick.errors import Refusal
from tallystick.system.beside import Beside


def test_it_runs_while_its_caller_goes_on() -> None:
    going_on = Event()
    beside = Beside(lambda: (going_on.wait(60), get_ident()))
    going_on.set()
    waited, thread = beside.result()
    assert waited
    assert thread != get_ident()


def test_what_it_raised_is_raised_where_the_result_is_asked_for() -> None:
    def refuse() -> None:
        raise Refusal("git.missing", "no git")

    beside = Beside(refuse)
    with pytest.raises(Refusal, match="no git"):
        beside.result()
    with pytest.raises(Refusal, match="no git"):
        beside.result()
