"""Where calls run: quick ones one after the other in the order they came, slow ones beside them.

The quick lane is one thread, so quick calls never wait for a check that takes minutes and never overtake each other.
A slow call gets a thread of its own. All threads are daemons: a call that does not stop cannot keep the process, and
what it had not committed never happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from queue import SimpleQueue

Job = Callable[[], None]


class Lanes:
    """The two lanes. Jobs must not raise. To be used from one thread."""

    __slots__ = ("_quick",)

    def __init__(self) -> None:
        self._quick: SimpleQueue[Job] | None = None

    def quick(self, job: Job) -> None:
        """Runs `job` after all quick ones before it."""
        if self._quick is None:
            # Late, like `threading` below: a client that only looks what is offered needs neither.
            from queue import SimpleQueue

            self._quick = SimpleQueue()
            _start(_worker, self._quick)
        self._quick.put(job)

    def slow(self, job: Job) -> None:
        """Runs `job` at once, beside everything else."""
        _start(job)


def _worker(jobs: SimpleQueue[Job]) -> None:
    while True:
        jobs.get()()


def _start(target: Callable[..., None], *arguments: object) -> None:
    import threading

    threading.Thread(target=target, args=arguments, daemon=True).start()
