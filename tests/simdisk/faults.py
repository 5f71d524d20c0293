"""Planned faults: the n-th call of a `Files` fails, is cut short, is half done, or kills the process.

`Faulty(files, plan)` carries out the plan and logs every call. `every_fault(log)` turns the log of a clean run into
one fault for each call and each way in which it may go wrong, so that a test can walk through all of them.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from tallystick.system.files import Files
from tests.simdisk.process import Killed, Process
from tests.simdisk.tap import Attempt, Tap
from tests.simdisk.tree import failure

_READS, _WRITES = ("read", "pread"), ("write", "pwrite")


class Action(Protocol):
    """One way in which a call goes wrong."""

    def strike(self, attempt: Attempt) -> Any:
        """Do to `attempt` what this action stands for; the result is what the caller gets."""
        ...


class Fail(NamedTuple):
    """The call raises OSError with errno `code`; with `after` it was done nevertheless, as may happen on a network."""

    code: int
    after: bool = False

    def strike(self, attempt: Attempt) -> Any:
        """Raise, before or after."""
        if self.after:
            attempt.do(*attempt.args)
        raise failure(self.code, attempt.path)


class Short(NamedTuple):
    """A read or write takes at most `most` bytes and fewer than asked, but at least one; no error."""

    most: int

    def strike(self, attempt: Attempt) -> Any:
        """Do the first part only; the caller sees its length."""
        return attempt.do(*_cut(attempt, self.most))


class Torn(NamedTuple):
    """A write puts at most `most` bytes and fewer than asked, then raises OSError with errno `code`."""

    most: int
    code: int = errno.EIO

    def strike(self, attempt: Attempt) -> Any:
        """Do the first part, then raise."""
        attempt.do(*_cut(attempt, self.most))
        raise failure(self.code, attempt.path)


class LoseSync(NamedTuple):
    """An fsync fails with errno `code` and, as on Linux, its dirty bytes count as clean from then on.

    On the simulated disk they stay visible and no later fsync saves them. On any other `Files` only the error comes.
    """

    code: int = errno.EIO

    def strike(self, attempt: Attempt) -> Any:
        """Lose, then raise."""
        if isinstance(attempt.files, Process):
            attempt.files.fail_fsync(attempt.args[0])
        raise failure(self.code, attempt.path)


class Busy(NamedTuple):
    """A lock is held by somebody else: `try_lock` gives False."""

    def strike(self, attempt: Attempt) -> Any:
        """Refuse; the call is not made."""
        del attempt
        return False


class Kill(NamedTuple):
    """The process is killed at the call: before it, or with `after` when it was done but its result not yet seen."""

    after: bool = False

    def strike(self, attempt: Attempt) -> Any:
        """Die."""
        if self.after:
            attempt.do(*attempt.args)
        raise Killed


class Fault(NamedTuple):
    """`action` at the `nth` matching call (from 1) and at the `times - 1` matching ones after it.

    `call` is the name of a method of `Files`, "" for any; `path` is a text that the call's path contains.
    """

    action: Action
    nth: int = 1
    call: str = ""
    path: str = ""
    times: int = 1

    def matches(self, attempt: Attempt) -> bool:
        """Whether this fault counts the call."""
        return self.call in ("", attempt.name) and self.path in attempt.path


class Call(NamedTuple):
    """One call in the log: what was asked and how it ended. `error` is None when it gave `result`."""

    name: str
    path: str
    args: tuple[Any, ...]
    result: Any = None
    error: BaseException | None = None


class Faulty(Tap):
    """A `Files` with faults. `log` holds every call in order; after a `Kill` each further call raises `Killed`.

    The descriptors of a killed process are closed, so its locks are free and what it wrote stays.
    """

    def __init__(self, files: Files, plan: Sequence[Fault] = ()) -> None:
        super().__init__(files)
        self.log: list[Call] = []
        #: The faults that struck, in order; a test asserts that its fault was reached.
        self.struck: list[Fault] = []
        self._plan = [(fault, 0) for fault in plan]
        self._dead = False

    def count(self, name: str = "", path: str = "") -> int:
        """How many calls of this name ("" for any) the log holds whose path contains `path`."""
        return sum(call.name == (name or call.name) and path in call.path for call in self.log)

    def kill(self) -> None:
        """End the process now: its descriptors are closed and each further call raises `Killed`."""
        self._dead = True
        for fd in list(self.paths):
            self._close(fd)

    def intercept(self, attempt: Attempt) -> Any:
        """Carry out the call or the fault that is due, and log it."""
        if self._dead:
            raise Killed
        _, name, path, args, do = attempt
        fault = self._due(attempt)
        try:
            result = do(*args) if fault is None else fault.action.strike(attempt)
        except BaseException as error:
            self.log.append(Call(name, path, args, error=error))
            if isinstance(error, Killed):
                self.kill()
            raise
        self.log.append(Call(name, path, args, result))
        return result

    def _due(self, attempt: Attempt) -> Fault | None:
        """The first fault of the plan whose turn it is; every fault counts the calls that it matches."""
        due: Fault | None = None
        for place, (fault, seen) in enumerate(self._plan):
            if fault.matches(attempt):
                self._plan[place] = (fault, seen + 1)
                if due is None and fault.nth <= seen + 1 < fault.nth + fault.times:
                    due = fault
        if due is not None:
            self.struck.append(due)
        return due


_PATH = (Fail(errno.EACCES), Fail(errno.EIO))
_NAME = (Fail(errno.EACCES), Fail(errno.EROFS), Fail(errno.ENOSPC), Fail(errno.EIO), Fail(errno.EIO, after=True))
_READ = (Fail(errno.EIO), Short(1), Short(100))
_WRITE = (Fail(errno.ENOSPC), Fail(errno.EIO), Short(1), Short(100), Torn(1, errno.ENOSPC), Torn(100))
_KILLS = (Kill(), Kill(after=True))

#: How each call may go wrong on Linux. EINTR is not here, since Python repeats such a call itself (PEP 475).
WAYS: dict[str, tuple[Action, ...]] = {
    "open": (Fail(errno.EACCES), Fail(errno.EMFILE), Fail(errno.ENOSPC), Fail(errno.EROFS), Fail(errno.EIO), *_KILLS),
    "close": (Fail(errno.EIO, after=True), *_KILLS),
    "read": (*_READ, *_KILLS),
    "pread": (*_READ, *_KILLS),
    "write": (*_WRITE, *_KILLS),
    "pwrite": (*_WRITE, *_KILLS),
    "fsync": (LoseSync(), LoseSync(errno.ENOSPC), *_KILLS),
    "truncate": (Fail(errno.EIO), Fail(errno.EIO, after=True), *_KILLS),
    "fstat": (Fail(errno.EIO), *_KILLS),
    "stat": (*_PATH, *_KILLS),
    "lstat": (*_PATH, *_KILLS),
    "readlink": (*_PATH, *_KILLS),
    "listdir": (*_PATH, *_KILLS),
    "mkdir": (*_NAME, *_KILLS),
    "rename": (*_NAME, *_KILLS),
    "link": (*_NAME, *_KILLS),
    "unlink": (Fail(errno.EACCES), Fail(errno.EROFS), Fail(errno.EIO), Fail(errno.EIO, after=True), *_KILLS),
    "realpath": _KILLS,
    "opened": _KILLS,
    "unlock": _KILLS,
    "try_lock": (Busy(), Fail(errno.ENOLCK), Fail(errno.EIO), *_KILLS),
}


def every_fault(log: Sequence[Call]) -> Iterator[Fault]:
    """For each call of `log`, in order, each way of `WAYS` in which it may go wrong, as a plan's single fault."""
    for nth, call in enumerate(log, 1):
        for action in WAYS[call.name]:
            yield Fault(action, nth=nth)


def _cut(attempt: Attempt, most: int) -> tuple[Any, ...]:
    """The arguments of a read or write, made to take at most `most` bytes, fewer than asked and at least one."""
    fd, asked, *rest = attempt.args
    if attempt.name in _READS:
        return fd, min(asked, max(1, min(most, asked - 1))), *rest
    if attempt.name in _WRITES:
        return fd, asked[: max(1, min(most, len(asked) - 1))], *rest
    raise ValueError(f"{attempt.name} cannot be cut short")
