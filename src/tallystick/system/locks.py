"""Kernel locks on files that are never deleted (promise P5): a dead holder blocks nobody, a live one is never robbed.

`flock` has no time limit of its own, so the wait is a loop of tries with short, growing, jittered pauses. The holder
writes its process id into the lock file, for the one message that names it.
"""

from __future__ import annotations

import os
from typing import Protocol

from tallystick.errors import Refusal, Where
from tallystick.system.durable import make_folders, release
from tallystick.system.faults import explained
from tallystick.system.files import Files

_FIRST_PAUSE_S = 0.0002
_LONGEST_PAUSE_S = 0.004
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


class Clock(Protocol):
    """Time, as an argument: `now` is the wall clock in nanoseconds since 1970, `monotonic` and `pause` are seconds."""

    def now(self) -> int: ...
    def monotonic(self) -> float: ...
    def pause(self, seconds: float) -> None: ...


class Lock:
    """The lock file `path`, kept open between uses. Not for two threads at once; each thread takes its own."""

    __slots__ = ("_clock", "_fd", "_files", "_identity", "_path", "_wait")

    def __init__(self, files: Files, path: str, clock: Clock, wait_s: float) -> None:
        self._files = files
        self._path = path
        self._clock = clock
        self._wait = wait_s
        self._fd = -1
        self._identity = (0, 0)

    def acquire(self) -> None:
        """Hold the lock when this returns. Raises `Refusal` "lock.busy" with the holder's pid after the wait."""
        try:
            while not self._hold():
                # Somebody took the lock file away under us: what we hold guards nothing, so begin again.
                self.close()
            name = b"%-11d\n" % os.getpid()
            if self._files.pread(self._fd, len(name), 0) != name:  # a page that is not written is not flushed either
                self._files.pwrite(self._fd, name, 0)
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

    def _hold(self) -> bool:
        """Take the lock; whether the file that is locked is still the one that has the name."""
        if self._fd < 0:
            self._fd = self._open()
            status = self._files.fstat(self._fd)
            self._identity = (status.st_dev, status.st_ino)
        if not self._files.try_lock(self._fd):
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

    def _wait_for(self) -> None:
        end = self._clock.monotonic() + self._wait
        pause = _FIRST_PAUSE_S
        while not self._files.try_lock(self._fd):
            if self._clock.monotonic() >= end:
                holder = self._files.pread(self._fd, 11, 0).decode("ascii", "replace").strip() or "unknown"
                self.close()
                raise Refusal(
                    "lock.busy",
                    f"{self._path} was held by process {holder} for more than {self._wait:g} s; nothing was changed",
                    "wait for that process or end it, then repeat the command",
                    Where(self._path),
                )
            # Jitter from the process id and the clock keeps sixteen waiters from knocking in step.
            jitter = (os.getpid() * 7919 + self._clock.now() // 1000) % 1000 / 1000
            self._clock.pause(pause * (0.5 + jitter))
            pause = min(pause * 1.5, _LONGEST_PAUSE_S)
