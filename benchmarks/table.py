"""The table that a run prints: one row for each figure, with its bound and its verdict, as text or as JSON."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.timing import Sample


class Row(NamedTuple):
    """One figure. `bound` is the most it may be, or the least where `at_least`; None where nothing is promised."""

    part: str
    what: str
    measured: float
    bound: float | None
    beside: str
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """ok, over (or under), or "" where nothing is promised."""
        if self.bound is None:
            return ""
        if self.at_least:
            return "ok" if self.measured >= self.bound else "under"
        return "ok" if self.measured <= self.bound else "over"


class Machine(NamedTuple):
    """What the figures were measured on, and how much it wavered. `slower`: seconds that we add to each flush."""

    flush: Sample
    start: Sample
    slower: float

    def document(self) -> dict[str, object]:
        """The machine as JSON; times in milliseconds."""
        return {
            "flush_slowed_ms": self.slower * 1000,
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "processors": os.cpu_count(),
            "load": round(os.getloadavg()[0], 2),
            "flush_ms": round(self.flush.median * 1000, 3),
            "flush_spread": round(self.flush.spread, 2),
            "start_ms": round(self.start.median * 1000, 2),
            "start_spread": round(self.start.spread, 2),
        }

    def lines(self) -> list[str]:
        """The machine for people."""
        facts = self.document()
        slowed = f", {self.slower * 1000:g} ms of it a wait of ours" if self.slower else ""
        noise = f"flush {self.flush.spread:.0%}, start {self.start.spread:.0%}"
        return [
            f"Python {facts['python']} on {facts['system']}, {facts['processors']} processors, load {facts['load']}",
            f"flush of the disk (append + fsync of 1 kB)   {self.flush}{slowed}",
            f"start of Python (python -c pass)             {self.start}",
            f"noise (middle eight tenths over the median)  {noise}",
        ]


def holds(rows: Sequence[Row]) -> bool:
    """Whether every figure keeps its bound."""
    return all(row.verdict in ("", "ok") for row in rows)


def as_json(machine: Machine, rows: Sequence[Row]) -> str:
    """One document: {"machine", "rows": [{"part", "what", "measured", "bound", "at_least", "verdict", "beside"}]}."""
    rounded = [{**row._asdict(), "measured": round(row.measured, 3), "verdict": row.verdict} for row in rows]
    return json.dumps({"machine": machine.document(), "rows": rounded}, indent=2)


def as_text(machine: Machine, rows: Sequence[Row]) -> str:
    """The table for people, and for Markdown as it stands."""
    cells = [("figure", "measured", "bound", "verdict", "beside it")]
    for row in rows:
        bound = "" if row.bound is None else f"{'>=' if row.at_least else '<='} {row.bound:.3g}"
        cells.append((row.what, f"{row.measured:.2f}", bound, row.verdict, row.beside))
    widths = [max(len(line[column]) for line in cells) for column in range(5)]
    lines = [*machine.lines(), ""]
    part = ""
    for at, line in enumerate(cells):
        if at and rows[at - 1].part != part:
            part = rows[at - 1].part
            lines += ["", part]
        what, measured, bound, verdict, beside = line
        numbers = f"{measured:>{widths[1]}}  {bound:<{widths[2]}}  {verdict:<{widths[3]}}"
        lines.append(f"  {what:<{widths[0]}}  {numbers}  {beside}".rstrip())
    return "\n".join(lines)


def say(text: str) -> None:
    """One line about what is being measured, beside the answer."""
    print(text, file=sys.stderr, flush=True)
