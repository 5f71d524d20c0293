"""Calls that may outlast a client's patience: each runs once, whoever asks, and is picked up by the same call again.

A call waits for its job up to the deadline; then it answers *running*, the job goes on, and the next call of the same
key gets what came of it. Jobs run one after the other, in the order they came, since checks share one tree. A job is
stopped when the last call that waits for it is cancelled, and when the server ends; one that nobody waits for since a
*running* answer goes on, and what follows an answer is done for it all the same.
"""

from __future__ import annotations

import _thread
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tallystick.errors import Refusal
from tallystick.mcp.dispatch import report

if TYPE_CHECKING:
    import threading
    from queue import SimpleQueue

    from tallystick.mcp.toolset import CallContext, ToolResult
    from tallystick.system.locks import Clock

_POLL_S = 0.2
_PROGRESS_S = 5.0
#: How long what came of a job waits to be picked up. After that the same call is a new question.
KEPT_S = 600.0
#: How long the end of the server waits for checks to stop. Their processes end without us (see the supervisor).
CLOSE_S = 5.0

#: What a job does. It is given its name, and asks now and then whether it should stop.
Work = Callable[[str, Callable[[], bool]], "ToolResult"]


class Running(NamedTuple):
    """A job that has not ended: its name, and how long ago it was asked for, in seconds."""

    name: str
    since_s: float


class _Job:
    """`waiting` counts the calls that wait for it now, `owed` those that were told that it runs and have not come."""

    __slots__ = ("asked", "cancelled", "done", "ended", "fault", "name", "owed", "result", "waiting", "work")

    def __init__(self, name: str, work: Work, asked: float, done: threading.Event) -> None:
        self.name = name
        self.work = work
        self.asked = asked
        self.done = done
        self.ended = 0.0
        self.result: ToolResult | None = None
        self.fault: Exception | None = None
        self.waiting = 0
        self.owed = 0
        self.cancelled = False

    def outcome(self) -> ToolResult:
        """What came of it; raises what its work raised."""
        if self.fault is not None:
            raise self.fault
        assert self.result is not None
        return self.result


class Jobs:
    """The jobs of one connection, by key. `wait_s` is how long a call waits at most.

    `unattended` is called after a job that nobody waited for in the end: no answer follows it.
    """

    def __init__(self, clock: Clock, wait_s: float, unattended: Callable[[], None] = lambda: None) -> None:
        self._clock = clock
        self._wait = wait_s
        self._unattended = unattended
        self._mutex = _thread.allocate_lock()  # guards every field of the jobs, too
        self._jobs: dict[str, _Job] = {}
        self._unfinished: set[_Job] = set()
        self._queue: SimpleQueue[_Job] | None = None
        self._closing = False

    def run(
        self, key: str, name: Callable[[], str], context: CallContext, work: Work
    ) -> tuple[ToolResult, bool] | Running:
        """The result of the job at `key` (begun unless there is one), and whether an earlier call began it.

        Raises what `work` raised, and `Refusal` "interrupted" for a call that was cancelled.
        """
        job, joined = self._join(key, name, work)
        began = told = self._clock.monotonic()
        while not job.done.wait(max(0.0, min(_POLL_S, began + self._wait - self._clock.monotonic()))):
            now = self._clock.monotonic()
            if context.cancelled():
                if not self._give_up(key, job):
                    raise interrupted()
                job.done.wait()  # it may have been too late to stop it: what it says is what happened
                return job.outcome(), joined
            if now - began >= self._wait and self._put_off(job):
                return Running(job.name, now - job.asked)
            if now - told >= _PROGRESS_S:
                told = now
                context.progress(now - began, None, "the check is running")
        self._leave(key, job)
        return job.outcome(), joined

    def close(self) -> None:
        """Stop what runs and wait a little for it; nothing new begins."""
        with self._mutex:
            self._closing = True
            left = list(self._unfinished)
        end = self._clock.monotonic() + CLOSE_S
        while any(not job.done.wait(_POLL_S / 10) for job in left) and self._clock.monotonic() < end:
            continue

    # -- calls come and go --------------------------------------------------------------------------------------

    def _join(self, key: str, name: Callable[[], str], work: Work) -> tuple[_Job, bool]:
        import threading

        with self._mutex:
            now = self._clock.monotonic()
            self._forget_the_old(now)
            job = self._jobs.get(key)
            joined = job is not None
            if job is None:
                job = self._jobs[key] = _Job(name(), work, now, threading.Event())
                self._unfinished.add(job)
                self._lane().put(job)
            elif job.owed:
                job.owed -= 1
            job.waiting += 1
            return job, joined

    def _leave(self, key: str, job: _Job) -> None:
        """A call has its answer; the job stays while others want it."""
        with self._mutex:
            job.waiting -= 1
            if not job.waiting and not job.owed:
                self._drop(key, job)

    def _put_off(self, job: _Job) -> bool:
        """A call goes with *running*, unless the job has just ended."""
        with self._mutex:
            if job.done.is_set():
                return False
            job.waiting -= 1
            job.owed += 1
            return True

    def _give_up(self, key: str, job: _Job) -> bool:
        """A call was cancelled; whether the job is stopped for it, since nobody else wants it."""
        with self._mutex:
            job.waiting -= 1
            if job.waiting or job.owed:
                return False
            job.cancelled = True
            self._drop(key, job)
            return True

    def _drop(self, key: str, job: _Job) -> None:
        if self._jobs.get(key) is job:
            del self._jobs[key]

    def _forget_the_old(self, now: float) -> None:
        for key, job in list(self._jobs.items()):
            if job.done.is_set() and not job.waiting and now - job.ended > KEPT_S:
                del self._jobs[key]

    # -- the lane -----------------------------------------------------------------------------------------------

    def _lane(self) -> SimpleQueue[_Job]:
        if self._queue is None:
            import threading
            from queue import SimpleQueue

            self._queue = SimpleQueue()
            threading.Thread(target=self._carry_out, args=(self._queue,), name="checks", daemon=True).start()
        return self._queue

    def _carry_out(self, queue: SimpleQueue[_Job]) -> None:
        while True:
            job = queue.get()
            try:
                job.result = self._result(job)
            except Exception as error:  # noqa: BLE001 - raised again in every call that waits for it
                job.fault = error
            with self._mutex:
                job.ended = self._clock.monotonic()
                self._unfinished.discard(job)
                job.done.set()
                alone = not job.waiting
            if alone:
                try:
                    self._unattended()
                except Exception as error:  # noqa: BLE001 - no answer to put it into, and the next job must run
                    report("work after a check", error)

    def _result(self, job: _Job) -> ToolResult:
        def stopped() -> bool:
            return job.cancelled or self._closing

        if stopped():
            raise interrupted()
        return job.work(job.name, stopped)


def interrupted() -> Refusal:
    """The refusal of a call that was cancelled, or that came while the server ends."""
    return Refusal("interrupted", "the call was cancelled before its check had ended", "get_feature says how it stands")
