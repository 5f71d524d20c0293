"""Moves bytes between our process and pipes, several at a time, without ever waiting for one of them alone."""

from __future__ import annotations

import os
import select
from collections.abc import Callable

_CHUNK = 1 << 16
_FULL_PIPE = 32  # this many chunks empty the largest pipe that an ordinary user can make


class Pump:
    """Pipes that are read into sinks, and one that is fed. It owns their descriptors and closes each at its end."""

    __slots__ = ("_feed", "_poll", "_sinks")

    def __init__(self) -> None:
        self._poll = select.poll()
        self._sinks: dict[int, Callable[[bytes], None]] = {}
        self._feed: dict[int, memoryview] = {}

    def read(self, fd: int, sink: Callable[[bytes], None]) -> None:
        """From now on what comes out of `fd` goes to `sink`."""
        os.set_blocking(fd, False)
        self._sinks[fd] = sink
        self._poll.register(fd, select.POLLIN)

    def feed(self, fd: int, data: bytes) -> None:
        """Write `data` into `fd` as the other side takes it, then close it. A reader that is gone is no error."""
        os.set_blocking(fd, False)
        self._feed[fd] = memoryview(data)
        self._poll.register(fd, select.POLLOUT)

    def reads(self, fd: int) -> bool:
        """Whether `fd` has not come to its end yet."""
        return fd in self._sinks

    def turn(self, wait_s: float) -> int:
        """Move what is ready; wait for something at most `wait_s` seconds. Answers how many pipes were ready."""
        ready = self._poll.poll(max(0, int(wait_s * 1000 + 0.999)))
        for fd, _ in ready:
            if fd in self._feed:
                self._write(fd)
            else:
                self._read(fd)
        return len(ready)

    def drain(self) -> None:
        """Take what lies in the pipes now, for the time when all writers are gone (one that is not cannot hold us)."""
        for _ in range(_FULL_PIPE):
            if not self._sinks or not self.turn(0):
                return

    def drop(self, fd: int) -> None:
        """Close `fd`, whatever is still in it. A writer on the other side finds a broken pipe."""
        if self._sinks.pop(fd, None) is not None or self._feed.pop(fd, None) is not None:
            self._poll.unregister(fd)
            os.close(fd)

    def close(self) -> None:
        """Close every pipe that is still open."""
        for fd in (*self._sinks, *self._feed):
            self.drop(fd)

    def _read(self, fd: int) -> None:
        try:
            chunk = os.read(fd, _CHUNK)
        except BlockingIOError:
            return
        if chunk:
            self._sinks[fd](chunk)
        else:
            self.drop(fd)

    def _write(self, fd: int) -> None:
        try:
            sent = os.write(fd, self._feed[fd][:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:
            self.drop(fd)
            return
        self._feed[fd] = self._feed[fd][sent:]
        if not self._feed[fd]:
            self.drop(fd)
