"""Kernel locks on files that are never deleted (promise P5): a dead holder blocks nobody, a live one is never robbed.

`flock` has no time limit of its own and no queue, so the wait is a loop of tries with short, jittered pauses. The lock
file holds two process ids: who held it last, for the one message that names it, and who waited last. Whoever takes the
lock twice in a row while somebody waits steps back once, else one busy process would keep fifteen others waiting.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

from tallystick.errors import Refusal, Where
from tallystick.system.durable import make_folders, release
from tallystick.system.faults import explained
from tallystick.system.files import Files

_PAUSE_S = 0.0003
_LONG_PAUSE_S = 0.004
#: A wait that is longer is no crowd: somebody is slow or stopped, and there is no hurry to notice the end.
_LONG_WAIT_S = 0.25
_STEP_BACK_S = 0.0004
#: Often enough that little is left to do under the lock, seldom enough that fifteen who wait leave one room to work.
_MEANWHILE_EVERY = 12
_FIELD = 12
_NOBODY = b"%-11d\n" % 0
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Clock(Protocol):
    """Time, as an argument: `now` is the wall clock in nanoseconds since 1970, `monotonic` and `pause` are seconds."""

    def now(self) -> int: ...
    def monotonic(self) -> float: ...
    def pause(self, seconds: float) -> None: ...


class Lock:
    """The lock file `path`, kept open between uses. Not for two threads at once; each thread takes its own."""

    __slots__ = ("_clock", "_fd", "_files", "_held_last", "_identity", "_meanwhile", "_path", "_wait")

    def __init__(self, files: Files, path: str, clock: Clock, wait_s: float) -> None:
        self._files = files
        self._path = path
        self._clock = clock
        self._wait = wait_s
        self._fd = -1
        self._identity = (0, 0)
        self._held_last = False
        self._meanwhile: Callable[[], object] = lambda: None

    def acquire(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Hold the lock when this returns. Raises `Refusal` "lock.busy" with the holder's pid after the wait.

        `meanwhile` is called now and then between two tries: what can be done without the lock is done while somebody
        else has it.
        """
        self._meanwhile = meanwhile
        try:
            self._take()
            holder, waiter = self._signatures()
            me = b"%-11d\n" % os.getpid()
            if self._held_last and holder == me and waiter not in (me, _NOBODY, b""):
                holder = self._step_back(me)
            if holder != me:  # a page that is not written is not flushed either
                self._files.pwrite(self._fd, me, 0)
            self._held_last = True
        except OSError as error:
            self.close()
            raise explained(error, self._path, "locking") from error

    def release(self) -> None:
        """Let the lock go; the descriptor stays for the next time."""
        if self._fd >= 0:
            try:
                self._files.unlock(self._fd)
            except OSError:
                self.close()  # closing frees it in the kernel, whatever the call said

    def close(self) -> None:
        """Let lock and descriptor go."""
        if self._fd >= 0:
            release(self._files, self._fd)
            self._fd = -1

    @property
    def descriptor(self) -> int:
        """The open lock file: whoever inherits it holds the lock too. -1 where it is not open."""
        return self._fd

    def _take(self) -> None:
        while not self._hold():
            # Somebody took the lock file away under us: what we hold guards nothing, so begin again.
            self.close()

    def _hold(self) -> bool:
        """Take the lock; whether the file that is locked is still the one that has the name."""
        if self._fd < 0:
            self._fd = self._open()
            status = self._files.fstat(self._fd)
            self._identity = (status.st_dev, status.st_ino)
        if not self._files.try_lock(self._fd):
            self._held_last = False
            self._wait_for()
        try:
            named = self._files.stat(self._path)
        except FileNotFoundError:
            return False
        return (named.st_dev, named.st_ino) == self._identity

    def _open(self) -> int:
        try:
            return self._files.open(self._path, _FLAGS, 0o600)
        except FileNotFoundError:
            make_folders(self._files, os.path.dirname(self._path))
            return self._files.open(self._path, _FLAGS, 0o600)

    def _signatures(self) -> tuple[bytes, bytes]:
        """Who held the lock last, and who waited for it last."""
        both = self._files.pread(self._fd, 2 * _FIELD, 0)
        return both[:_FIELD], both[_FIELD:]

    def _step_back(self, me: bytes) -> bytes:
        """Let one of those who wait go first, then take the lock again; who held it meanwhile."""
        self.release()
        self._clock.pause(_STEP_BACK_S)
        self._take()
        holder, _ = self._signatures()
        if holder == me:  # nobody came: the one who waited has gone
            self._files.pwrite(self._fd, _NOBODY, _FIELD)
        return holder

    def _wait_for(self) -> None:
        begun, tries = self._clock.monotonic(), 0
        self._files.pwrite(self._fd, b"%-11d\n" % os.getpid(), _FIELD)
        while not self._files.try_lock(self._fd):
            waited = self._clock.monotonic() - begun
            if waited >= self._wait:
                holder = self._signatures()[0].decode("ascii", "replace").strip() or "unknown"
                self.close()
                raise Refusal(
                    "lock.busy",
                    f"{self._path} was held by process {holder} for more than {self._wait:g} s; nothing was changed",
                    "wait for that process or end it, then repeat the command",
                    Where(self._path),
                )
            tries += 1
            if tries % _MEANWHILE_EVERY == 0:
                self._meanwhile()
            # Jitter from the process id and the clock keeps sixteen waiters from knocking in step.
            jitter = (os.getpid() * 7919 + self._clock.now() // 1000) % 1000 / 1000
            self._clock.pause((_PAUSE_S if waited < _LONG_WAIT_S else _LONG_PAUSE_S) * (0.5 + jitter))
