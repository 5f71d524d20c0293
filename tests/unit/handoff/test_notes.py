"""Holds that a note is kept as it was said, that the last few are at hand, and what is no note."""

from __future__ import annotations

import pytest

from tallystick.errors import Refusal
from tallystick.handoff.notes import KEPT, NotesFold, write
from tallystick.journal.record import FIRST, By, Record
from tallystick.limits import NOTE_CHARACTERS


def folded(*texts: str, ours: bool = True) -> list[str]:
    fold = NotesFold()
    state = fold.empty("checkout")
    for n, text in enumerate(texts, 1):
        event = write(text)
        record = Record(
            "5" * 32, "checkout", "a" * 32, n, (1, 1), n, f"{n:064x}", FIRST, {}, "2026-05-21T00:00:00.000Z",
            By("fixer"), event.type, event.data,
        )  # fmt: skip
        fold.apply(state, record, ours)
    assert fold.load("checkout", fold.dump(state)) == state
    assert all(note.ours is ours for note in state)
    return [note.text for note in state]


def test_a_note_is_kept_as_it_was_said() -> None:
    assert folded("first line\nsecond \u202e line\t\x1b[31m") == ["first line\nsecond \u202e line\t\x1b[31m"]


def test_the_last_few_are_at_hand_newest_last() -> None:
    said = [f"note {number}" for number in range(KEPT + 3)]
    assert folded(*said) == said[-KEPT:]


def test_a_note_of_another_key_is_told_apart() -> None:
    assert folded("from elsewhere", ours=False) == ["from elsewhere"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "input.invalid"),
        (" \n\t", "input.invalid"),
        ("\ud800", "input.invalid"),
        ("x" * (NOTE_CHARACTERS + 1), "input.too_large"),
    ],
)
def test_what_is_no_note_is_refused(text: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        write(text)
    assert refused.value.code == code


def test_the_longest_note_is_kept() -> None:
    assert folded("é" * NOTE_CHARACTERS) == ["é" * NOTE_CHARACTERS]
