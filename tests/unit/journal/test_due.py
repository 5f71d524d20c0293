"""Holds what is done after an answer: every writer for every feature that was touched, also while they are at it."""

from __future__ import annotations

from tallystick.errors import Refusal
from tallystick.journal.due import Due


def test_who_only_read_has_nothing_due() -> None:
    called: list[str] = []
    due = Due(lambda: called.append("flush"))

    def write(feature: str) -> tuple[str, ...]:
        called.append(feature)
        return ("note",)

    due.call([write])
    assert (due.finish(), called) == ((), [])
    due.touch("cart")
    assert (due.finish(), called) == (("note",), ["cart", "flush"])
    assert (due.finish(), called) == ((), ["cart", "flush"])


def test_what_is_touched_while_a_writer_works_is_written_again() -> None:
    """A mark that comes while the view of the one before is being written must not stay unwritten."""
    recorded, written = ["first"], []
    due = Due(lambda: None)

    def write(feature: str) -> tuple[str, ...]:
        seen = len(recorded)
        if seen == 1:
            recorded.append("second")
            due.touch(feature)
        written.append(seen)
        return ()

    due.call([write])
    due.touch("cart")
    due.finish()
    assert written[-1] == len(recorded)


def test_a_writer_that_is_refused_does_not_stop_the_next() -> None:
    def refuse(feature: str) -> tuple[str, ...]:
        raise Refusal("disk.full", f"no room left for {feature}", "make room")

    due = Due(lambda: None)
    due.call([refuse, lambda feature: (f"{feature} written",)])
    due.touch("cart")
    assert due.finish() == ("no room left for cart", "cart written")
