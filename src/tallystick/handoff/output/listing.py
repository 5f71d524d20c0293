"""The rows of what was handed over in one feature: which are shown, in which order, and a page of them. Pure.

First what lies there and is not recorded yet, the latest change first; then what is recorded, newest first; at the end
files that are no output, so that a folder full of those hides nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.handoff.manifest.phases import number_in, numbers_of
from tallystick.handoff.output.found import Lying, told_name
from tallystick.handoff.output.header import read_name
from tallystick.handoff.output.model import Versions, current
from tallystick.handoff.output.schemas import Mistake
from tallystick.ids import shown
from tallystick.limits import PAGE_ROWS


class Row(NamedTuple):
    """One file. Of one that is no output only the name is sure, and what that says of phase and role.

    `versions` counts the recorded ones; `recorded_at` is the moment of the one shown, None while it is not `adopted`.
    `ours` is False where only another copy recorded it.
    """

    file: str
    phase: float | None
    role: str | None
    task_id: str | None
    agent_id: str | None
    status: str | None
    timestamp: str | None
    digest: str | None
    size: int | None
    versions: int
    recorded_at: str | None
    adopted: bool
    valid: bool
    ours: bool
    reasons: tuple[Mistake, ...] = ()


class Filters(NamedTuple):
    """Which rows are wanted; None: any."""

    phases: frozenset[float] | None = None
    role: str | None = None
    task: str | None = None
    status: str | None = None

    def match(self, row: Row) -> bool:
        """Whether the row is wanted."""
        pairs = ((self.role, row.role), (self.task, row.task_id), (self.status, row.status))
        return (self.phases is None or row.phase in self.phases) and all(
            wanted is None or wanted == found for wanted, found in pairs
        )


class Page(NamedTuple):
    """One page. `cursor` goes on behind it, None at the end; `more` counts what comes behind, `total` all there are.

    `others` of them are no outputs by their names: they stand last.
    """

    rows: tuple[Row, ...]
    cursor: str | None
    more: int
    total: int
    others: int


def phases_of(text: str) -> frozenset[float]:
    """The numbers that a number or a phase's name means. Raises "phase.unknown"."""
    number = number_in(text)
    return numbers_of(text) if number is None else frozenset((number,))


def adopted_row(versions: Versions, reasons: tuple[Mistake, ...] = ()) -> Row:
    """The row of a recorded output; `reasons` are what is wrong with the file that lies at its place."""
    one = current(versions)
    return Row(
        one.file, one.phase, one.role, one.task_id, one.agent_id, one.status, one.timestamp, one.digest, one.size,
        len(versions), one.at, True, not reasons, one.ours, reasons,
    )  # fmt: skip


def lying_row(lying: Lying, versions: Versions) -> Row | None:
    """The row of a file that lies there; None for one that was gone when it was to be read."""
    file = told_name(lying.name)
    if lying.kept is not None:
        header = lying.kept.header
        return Row(
            file, header.phase, header.role, header.task_id, header.agent_id, header.status, header.timestamp,
            lying.kept.digest, len(lying.kept.data), len(versions), None, False, True, True,
        )  # fmt: skip
    if versions:
        return adopted_row(versions, lying.reasons)
    if not lying.reasons:
        return None
    name = read_name(lying.name)
    phase, role = (name.phase, name.role) if name is not None else (None, None)
    size = lying.identity[2] if lying.identity is not None else None
    return Row(
        file, phase, role, None, None, None, None, lying.digest or None, size, 0, None, False, False, True,
        lying.reasons,
    )  # fmt: skip


def page(rows: Sequence[tuple[int, Row | None]], filters: Filters, cursor: str | None) -> Page:
    """A page of the rows that are wanted, each given with the time of its file's last change in ns."""
    wanted = [(changed, row) for changed, row in rows if row is not None and filters.match(row)]
    ordered = [row for _, row in sorted(wanted, key=lambda pair: _rank(*pair))]
    ordered = _newest_first(ordered)
    at = 0
    if cursor is not None:
        places = [at for at, row in enumerate(ordered, 1) if row.file == cursor]
        if not places:
            raise Refusal("usage", f"cursor {shown(cursor)} is no file of this list", "begin without a cursor")
        at = places[0]
    shown_rows = tuple(ordered[at : at + PAGE_ROWS])
    more = len(ordered) - at - len(shown_rows)
    others = sum(1 for row in ordered if row.phase is None)
    return Page(shown_rows, shown_rows[-1].file if more else None, more, len(ordered), others)


def _rank(changed: int, row: Row) -> tuple[int, int, str]:
    """Not recorded yet before recorded before no output before what is called otherwise; the latest change first."""
    group = 0 if row.valid and not row.adopted else 1 if row.adopted else 2 if row.phase is not None else 3
    return group, -changed if group != 1 else 0, row.file


def _newest_first(ordered: list[Row]) -> list[Row]:
    """The recorded rows in their place, by the moment of their record."""
    recorded = sorted((row for row in ordered if row.adopted), key=lambda row: row.recorded_at or "", reverse=True)
    first = [row for row in ordered if row.valid and not row.adopted]
    return [*first, *recorded, *(row for row in ordered if not row.valid and not row.adopted)]
