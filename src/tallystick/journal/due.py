"""What is due after an answer: views, segments, what agents left in folders, checkpoints (D1). Knows no subject.

A commit only notes its feature here; once the answer is out, each writer is called for it. Whoever only read has
nothing due, so reading commands write nothing (P16).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tallystick.errors import Refusal

#: Brings one thing of a feature up to date; what a person should know of it. May itself record something.
Writer = Callable[[str], tuple[str, ...]]


class Due:
    """The features that were written to, and who has to do something about it, in this order."""

    def __init__(self, flush: Callable[[], None]) -> None:
        """`flush` is called once after all writers."""
        self._flush = flush
        self._writers: list[Writer] = []
        self._touched: dict[str, None] = {}

    def call(self, writers: Sequence[Writer]) -> None:
        """Have these called as well."""
        self._writers.extend(writers)

    def touch(self, feature: str) -> None:
        """Something was recorded in `feature`."""
        self._touched[feature] = None

    def finish(self) -> tuple[str, ...]:
        """Do what is due; notes of what was seen meanwhile. One writer that is refused does not stop the next."""
        if not self._touched:
            return ()
        notes: list[str] = []
        # A writer may record something itself, and another thread meanwhile: then all of them are called once more.
        while self._touched:
            feature, _ = self._touched.popitem()
            for writer in self._writers:
                _note(notes, writer, feature)
        try:
            self._flush()
        except Refusal as refusal:
            notes.append(refusal.message)
        return tuple(notes)


def _note(notes: list[str], writer: Writer, feature: str) -> None:
    try:
        notes.extend(writer(feature))
    except Refusal as refusal:
        notes.append(refusal.message)
