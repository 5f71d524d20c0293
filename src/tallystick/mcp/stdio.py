"""The stdio carrier: moves bytes between a client's pipes and the protocol core, and runs the calls.

One thread waits for bytes, results and signals, and does nothing that can take long; the calls run in `lanes.py`.
Nothing grows without bound: while too much waits to be read by the client, or too many calls are in flight, no more is
read, and a pipe is only written to as far as it takes bytes at once, so a client that stops reading cannot wedge us.

The end comes with the end of stdin, a broken stdout, SIGINT or SIGTERM. Then no new call is taken; calls that have
begun may finish, slow ones are told to stop, put-off work is done and the tools are closed. That takes at most
`FINISH_S`; a second signal ends it at once. Nothing durable depends on any of this: a call that was not answered either
committed or did not.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from tallystick.errors import INTERRUPTED, TERMINATED, Refusal
from tallystick.mcp import dispatch, streams
from tallystick.mcp.lanes import Lanes
from tallystick.mcp.protocol import Call, Cancelled, Event, Protocol
from tallystick.mcp.toolset import CallContext, ServerInfo, ToolResult, Toolset

#: Seconds that calls which have begun, put-off work and unread answers get at the end.
FINISH_S = 10.0
#: Put-off work is due after this much quiet, and at the latest this long after the first call that left some.
QUIET_S, LATEST_S = 0.15, 0.75
#: Bytes read at once.
CHUNK = 65_536
#: No more is read while this many bytes of answers wait for the client, calls are in flight, bytes of calls are held.
UNREAD_BYTES, CALLS, CALL_BYTES = 1_000_000, 128, 16_000_000

#: The exit status of each signal that ends us.
STATUS = {signal.SIGINT: INTERRUPTED, signal.SIGTERM: TERMINATED}


def serve(toolset: Toolset, server: ServerInfo, session: str) -> int:
    """Serves `toolset` on the standard streams until the end; gives the exit status: 0, or 130 and 143 by a signal.

    `session` is handed on to the tools. Takes stdin and stdout for the rest of the process (see `streams.claim`).
    """
    reading, writing = streams.claim()
    carrier = Carrier(toolset, server, session, reading, writing)
    before = {number: signal.signal(number, lambda caught, _: carrier.stop(caught)) for number in STATUS}
    try:
        return carrier.run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Carrier:
    """One connection over two descriptors. `run` is called once; `stop` may be called by a signal handler."""

    __slots__ = ("_cancelled", "_deadline", "_dirty", "_held", "_idle_due", "_lanes", "_news", "_protocol", "_reading",
                 "_running", "_session", "_signals", "_toolset", "_wake", "_waking", "_writing")  # fmt: skip

    def __init__(self, toolset: Toolset, server: ServerInfo, session: str, reading: int, writing: int) -> None:
        self._toolset = toolset
        self._session = session
        self._protocol = Protocol(server, toolset.tools)
        self._reading: int | None = reading
        self._writing: int | None = writing
        self._lanes = Lanes()
        self._running = 0  # jobs in the lanes: calls, cancelled ones too, and put-off work
        self._held = 0  # bytes of the lines that those calls came in
        self._cancelled: set[int] = set()
        self._dirty: float | None = None  # when the first call ended that may have left work for later
        self._idle_due: float | None = None
        self._deadline: float | None = None  # set when the end has begun
        self._signals: list[int] = []
        self._news: deque[Callable[[], None]] = deque()  # what other threads want done in this one
        self._waking, self._wake = os.pipe()  # never closed: a thread that outlives `run` may still write to it
        for end in (self._waking, self._wake):
            os.set_blocking(end, False)

    def run(self) -> int:
        """Serves until the end; gives the exit status."""
        while not self._over():
            self._wait()
            self._put_off_work()
        try:
            self._toolset.close()
        except (Refusal, OSError) as error:
            dispatch.report("the end", error)
        return STATUS[signal.Signals(self._signals[0])] if self._signals else 0

    def stop(self, number: int) -> None:
        """Begins the end, as signal `number` does; a second time, ends at once."""
        self._signals.append(number)
        self._rouse()

    # The one wait, and what can end it.

    def _wait(self) -> None:
        poll = select.poll()
        poll.register(self._waking, select.POLLIN)
        if self._reading is not None and not self._full():
            poll.register(self._reading, select.POLLIN)
        if self._writing is not None and self._protocol.waiting:
            poll.register(self._writing, select.POLLOUT)
        for descriptor, _ in poll.poll(self._patience()):
            if descriptor == self._reading:
                self._read(descriptor)
            elif descriptor == self._writing:
                self._write(descriptor)
            else:
                os.read(self._waking, CHUNK)
        while self._news:
            self._news.popleft()()
        if self._signals:
            self._begin_the_end()

    def _full(self) -> bool:
        return self._protocol.waiting > UNREAD_BYTES or self._running >= CALLS or self._held > CALL_BYTES

    def _patience(self) -> float | None:
        """Milliseconds until something is due."""
        due = [moment for moment in (self._idle_due, self._deadline) if moment is not None]
        return max(0.0, (min(due) - time.monotonic()) * 1000) if due else None

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, CHUNK)
        except BlockingIOError:  # somebody made the pipe non-blocking; the next wait tells when there is more
            return
        except OSError:  # a terminal that hung up
            data = b""
        if data:
            self._do(self._protocol.receive(data))
        else:
            self._do(self._protocol.end())
            self._begin_the_end()

    def _write(self, descriptor: int) -> None:
        # A pipe that is ready takes at least PIPE_BUF bytes without blocking.
        try:
            self._protocol.sent(os.write(descriptor, self._protocol.outgoing(select.PIPE_BUF)))
        except BlockingIOError:
            return
        except OSError:  # nobody reads any more
            self._writing = None
            self._begin_the_end()

    def _rouse(self) -> None:
        with suppress(BlockingIOError):  # so many are in the pipe already that the wait is over anyway
            os.write(self._wake, b"\0")

    def _post(self, news: Callable[[], None]) -> None:
        self._news.append(news)
        self._rouse()

    # Calls: begun here, run in a lane, ended here.

    def _do(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Cancelled):
                self._cancelled.add(event.number)
            else:
                self._begin(event)

    def _begin(self, call: Call) -> None:
        self._running += 1
        self._held += call.size
        slow = self._toolset.is_slow(call.name)
        lane = self._lanes.slow if slow else self._lanes.quick
        lane(partial(self._run_call, call, slow))

    def _run_call(self, call: Call, slow: bool) -> None:
        """In a lane: one call from beginning to end."""
        result: ToolResult | None = None
        if call.number not in self._cancelled and not self._signals:
            context = CallContext(
                request_id=call.request_id,
                tool_use_id=call.tool_use_id,
                client_name=call.client_name,
                client_version=call.client_version,
                protocol_version=call.protocol_version,
                session=self._session,
                cancelled=lambda: call.number in self._cancelled or (slow and self._deadline is not None),
                progress=lambda done, total, message: self._post(
                    partial(self._progress, call.number, done, total, message)
                ),
            )
            result = dispatch.answer(self._toolset, call.name, call.arguments, context)
        self._post(partial(self._ended, call, result))

    def _progress(self, number: int, done: float, total: float | None, message: str) -> None:
        if self._protocol.waiting <= UNREAD_BYTES:
            self._protocol.progress(number, done, total, message)

    def _ended(self, call: Call, result: ToolResult | None) -> None:
        self._running -= 1
        self._held -= call.size
        self._cancelled.discard(call.number)
        if result is None:
            return
        self._protocol.answer(call.number, result)
        now = time.monotonic()
        if self._dirty is None:
            self._dirty = now
        self._idle_due = min(now + QUIET_S, self._dirty + LATEST_S)

    # Work that was put off until after the answers.

    def _put_off_work(self) -> None:
        if self._idle_due is None:
            return
        last = self._deadline is not None and not self._running
        if last or time.monotonic() >= self._idle_due:
            self._dirty = self._idle_due = None
            self._running += 1
            self._lanes.quick(self._run_idle)

    def _run_idle(self) -> None:
        """In the quick lane."""
        try:
            self._toolset.idle()
        except Exception as error:  # noqa: BLE001 - no answer to put it into, so it is told on stderr
            dispatch.report("work after the answers", error)
        self._post(self._idle_ended)

    def _idle_ended(self) -> None:
        self._running -= 1

    # The end.

    def _begin_the_end(self) -> None:
        self._reading = None
        if self._deadline is None:
            self._deadline = time.monotonic() + FINISH_S

    def _over(self) -> bool:
        if self._deadline is None:
            return False
        told = self._writing is None or not self._protocol.waiting
        done = told and not self._running and self._idle_due is None
        return done or len(self._signals) > 1 or time.monotonic() >= self._deadline
