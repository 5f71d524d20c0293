"""Calls that may outlast a client's patience: each runs once, whoever asks, and is picked up by the same call again.

A call waits for its job up to the deadline; then it answers *running*, the job goes on, and the next call with the
same words gets the receipt. A retry (the same request or tool-use id) gets the answer it had.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tallystick import canonical
from tallystick.canonical import Json

if TYPE_CHECKING:
    import threading

    from tallystick.mcp.toolset import CallContext, ToolResult
    from tallystick.system.locks import Clock

_REMEMBERED = 64


class Running(NamedTuple):
    """A job that has not ended: its own id, and how long it runs, in seconds."""

    id: str
    since_s: float


class _Job:
    __slots__ = ("cancelled", "done", "id", "left", "result", "started")

    def __init__(self, name: str, done: threading.Event, started: float) -> None:
        self.id = name
        self.done = done
        self.started = started
        self.result: ToolResult | None = None
        self.left = False
        self.cancelled = False


class Jobs:
    """The running jobs of one connection, by what they were asked. `wait_s` is the deadline of an answer."""

    def __init__(self, clock: Clock, wait_s: float) -> None:
        self._clock = clock
        self._wait = wait_s
        self._mutex = _thread.allocate_lock()
        self._jobs: dict[str, _Job] = {}
        self._closing = False

    def run(
        self,
        key: str,
        name: Callable[[], str],
        context: CallContext,
        work: Callable[[Callable[[], bool]], ToolResult],
    ) -> tuple[ToolResult, bool] | Running:
        """The result of the job called `key` (started unless it runs), and whether an earlier call began it.

        `work` gets a function that turns true when the job should stop: the call was cancelled while it waited, or
        the server ends. A job that was left running by a *running* answer is not stopped by a cancellation.
        """
        job, resumed = self._job(key, name, work)
        end = self._clock.monotonic() + self._wait
        while not job.done.wait(min(0.2, max(0.0, end - self._clock.monotonic()))):
            if context.cancelled() and not resumed:
                job.cancelled = True
            if self._clock.monotonic() >= end:
                job.left = True
                return Running(job.id, self._clock.monotonic() - job.started)
        with self._mutex:
            if self._jobs.get(key) is job:
                del self._jobs[key]
        assert job.result is not None
        return job.result, resumed

    def close(self) -> None:
        """Stop what runs and wait for it; a running check ends its processes."""
        self._closing = True
        for job in list(self._jobs.values()):
            job.cancelled = True
            job.done.wait(self._wait)

    def _job(
        self, key: str, name: Callable[[], str], work: Callable[[Callable[[], bool]], ToolResult]
    ) -> tuple[_Job, bool]:
        import threading

        with self._mutex:
            known = self._jobs.get(key)
            if known is not None:
                return known, known.left
            job = _Job(name(), threading.Event(), self._clock.monotonic())
            self._jobs[key] = job

        def carry_out() -> None:
            try:
                job.result = work(lambda: job.cancelled or self._closing)
            finally:
                job.done.set()

        threading.Thread(target=carry_out, name=f"check {job.id}", daemon=True).start()
        return job, False


class Receipts:
    """The last answers of writing calls, by the ids a retry repeats."""

    def __init__(self) -> None:
        self._mutex = _thread.allocate_lock()
        self._kept: dict[str, ToolResult] = {}

    def find(self, name: str, arguments: dict[str, Json], context: CallContext) -> ToolResult | None:
        """The answer this very call had, None when it is new."""
        with self._mutex:
            return next((self._kept[key] for key in _keys(name, arguments, context) if key in self._kept), None)

    def keep(self, name: str, arguments: dict[str, Json], context: CallContext, result: ToolResult) -> None:
        """Remember an answer; the oldest are forgotten."""
        with self._mutex:
            for key in _keys(name, arguments, context):
                self._kept[key] = result
            while len(self._kept) > _REMEMBERED:
                del self._kept[next(iter(self._kept))]


def _keys(name: str, arguments: dict[str, Json], context: CallContext) -> list[str]:
    """The call by its request id, and by its tool-use id where the client sends one, each with all its words."""
    words = canonical.sha256(canonical.encode([name, arguments]))
    keys = [f"request {context.request_id!r} {words}"]
    if context.tool_use_id:
        keys.append(f"use {context.tool_use_id} {words}")
    return keys
