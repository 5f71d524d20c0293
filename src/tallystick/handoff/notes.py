"""Notes: a sentence that a session leaves for whoever comes next (`note_written`). Pure.

The state keeps the last few, newest last; all of them stand in the journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.journal.record import Event, Record
from tallystick.limits import NOTE_CHARACTERS

if TYPE_CHECKING:
    from tallystick.journal.snapshot import Snapshot
    from tallystick.journal.subjects import Subjects

SUBJECT = "notes"
KEPT = 5


class Note(NamedTuple):
    """One note: when, by which role, what; `ours` is False for one of another key, which is shown as such."""

    at: str
    role: str
    text: str
    ours: bool


Notes = list[Note]


def notes_of(snapshot: Snapshot[Subjects]) -> Notes:
    """The last notes in a feature's state."""
    notes: Notes = snapshot.state[SUBJECT]
    return notes


def write(text: str) -> Event:
    """`note_written`. Raises `Refusal` for an empty or over-long text and for one that is no text."""
    if not text.strip():
        raise Refusal("input.invalid", "the note is empty", "say in a few words what the next session must know")
    if len(text) > NOTE_CHARACTERS:
        raise Refusal(
            "input.too_large", f"the note has {len(text):,} characters, the limit is {NOTE_CHARACTERS:,}", "shorten it"
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Refusal(
            "input.invalid", "the note holds a lone surrogate, which is no character", "write it as UTF-8 text"
        ) from None
    return Event("note_written", {"text": text})


class NotesFold:
    """Folds `note_written`."""

    version = "1"
    types = frozenset(("note_written",))

    def empty(self, feature: str) -> Notes:
        """No notes."""
        return []

    def copy(self, state: Notes) -> Notes:
        """The same notes, in a list of its own."""
        return list(state)

    def flaw(self, record: Record) -> str | None:
        """Why the record's payload is no note."""
        return None if isinstance(record.data.get("text"), str) else "has no text"

    def apply(self, state: Notes, record: Record, ours: bool) -> None:
        """Take one note in, and let the oldest go."""
        state.append(Note(record.at, record.by.role, record.data["text"], ours))
        del state[:-KEPT]

    def dump(self, state: Notes) -> Json:
        """For a checkpoint."""
        return state

    def load(self, feature: str, data: Json) -> Notes:
        """From a checkpoint."""
        return [Note(*row) for row in data]
