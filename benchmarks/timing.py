"""Times, medians and spreads: everything that is compared takes turns, so that a slow moment slows both sides."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Sample(NamedTuple):
    """Many measurements of one thing, in seconds."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle one."""
        return self.quantile(0.5)

    def quantile(self, share: float) -> float:
        """The value that the given share of the measurements does not exceed."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    @property
    def spread(self) -> float:
        """How noisy it was: the width of the middle eight tenths over the median."""
        return (self.quantile(0.9) - self.quantile(0.1)) / self.median

    def __str__(self) -> str:
        low, high = self.quantile(0.1), self.quantile(0.9)
        return f"{milliseconds(self.median)} ({milliseconds(low)} to {milliseconds(high)})"


def milliseconds(seconds: float) -> str:
    """A time in milliseconds, with as many places as it has something to say."""
    amount = seconds * 1000
    return f"{amount:.3f} ms" if amount < 1 else f"{amount:.2f} ms" if amount < 10 else f"{amount:.0f} ms"


def took(work: Callable[[], object]) -> float:
    """How long `work` takes, in seconds."""
    before = time.perf_counter()
    work()
    return time.perf_counter() - before


def in_turn(works: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Sample]:
    """Every work once in each round, one after the other, so that all of them meet the same noise."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(took(work))
    return {name: Sample(tuple(seconds)) for name, seconds in times.items()}


def median(values: Sequence[float]) -> float:
    """The middle one of `values`."""
    return Sample(tuple(values)).median
