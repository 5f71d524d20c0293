"""Watches over one program and ends everything that it started. Run as a script of its own by `launch.run`.

It stands between us and the program because only a parent can do this well, and we are a bad one: a server with many
threads, perhaps killed in the middle. It has nothing else to do, so it can

* fork and set limits before the program begins, which a process with threads cannot do safely;
* be the *subreaper* of all that the program starts (Linux): who forks twice to get away becomes its child, and
  `waitpid` saying "no children" proves that nothing is left;
* see our end: it holds one end of a pipe, the *life line*, and ends everything when the other end closes, even if we
  were killed.

The life line first carries the order (`Order`, as `marshal`: both sides are the same interpreter). The answer pipe
gets one line `pid N` or `failed cwd|program ERRNO`, and at last `ended STATUS SIGNAL STRAYS LEFT` ("-" for none). It
loads nothing of Tallystick and little of the library (`typing` and `contextlib` would double its start).
"""

from __future__ import annotations

import marshal
import os
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, TypeAlias

    Order: TypeAlias = dict[str, Any]

_PR_SET_CHILD_SUBREAPER = 36
_KILLING_S = 5.0
_PAUSE_S = 0.02
_DEFAULTS = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP", "SIGPIPE", "SIGXFSZ", "SIGCHLD", "SIGTTOU", "SIGTTIN")


def main() -> None:
    """Start the program of the order, wait for its end or for ours, end what is left, answer."""
    line, answer = int(sys.argv[1]), int(sys.argv[2])
    os.set_inheritable(line, False)
    os.set_inheritable(answer, False)
    order = _order(line)
    if order is None:
        return
    alarm = _wake_on_signals()
    adopting = _become_subreaper()
    step = "cwd"
    try:
        os.chdir(order["cwd"])
        step = "program"
        child = _start(order, answer)
    except OSError as error:
        _say(answer, f"failed {step} {error.errno}")
        return
    _let_go(order["fds"])
    family = Family(child, adopting)
    asked = False
    while family.status is None and not asked:
        ready, _, _ = select.select([line, alarm], [], [])
        asked = line in ready or (_rang(alarm) and family.told_to_end)
        family.reap()
    strays = len(family.members()) if not asked else 0
    family.end(alarm, order["grace_s"])
    _say(answer, f"ended {family.ending()} {strays} {len(family.members())}")


class Family:
    """The program and whatever it started: who is left, and how to end them."""

    told_to_end = False

    def __init__(self, child: int, adopting: bool) -> None:
        self.child = child
        self.status: int | None = None
        self._adopting = adopting
        self._childless = False

    def reap(self) -> None:
        """Collect who has ended; the program's own status is kept."""
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self.child:
                    self.status = status
        except ChildProcessError:
            self._childless = True

    def gone(self) -> bool:
        """Whether nobody is left. Where orphans do not come to us, the process group is all we can see."""
        self.reap()
        if not self._childless or self._adopting:
            return self._childless
        try:
            os.killpg(self.child, 0)
        except OSError:
            return True
        return False

    def members(self) -> list[int]:
        """The pids of everybody below us, the program and those that ran away from it; none where /proc is not."""
        found: list[int] = []
        waiting = [os.getpid()]
        while waiting:
            parent = waiting.pop()
            found.append(parent)
            try:
                for thread in os.listdir(f"/proc/{parent}/task"):
                    with open(f"/proc/{parent}/task/{thread}/children", encoding="ascii") as children:
                        waiting += map(int, children.read().split())
            except OSError:
                continue  # it has just ended, or there is no /proc
        return found[1:]

    def send(self, number: int) -> None:
        """Signal the program's group, then everybody who left it."""
        _signal(os.killpg, self.child, number)
        for pid in self.members():
            _signal(os.kill, pid, number)

    def end(self, alarm: int, grace_s: float) -> None:
        """Ask everybody to end; after `grace_s` seconds, or when asked did not help, end them."""
        if self.gone():
            return
        self.send(signal.SIGTERM)
        self.send(signal.SIGCONT)
        asked = time.monotonic()
        while not self.gone() and (left := asked + grace_s - time.monotonic()) > 0:
            _wait(alarm, min(left, 0.2))
        killed = time.monotonic()
        while not self.gone() and time.monotonic() < killed + _KILLING_S:
            self.send(signal.SIGSTOP)  # who stands still cannot fork while the next line goes round
            self.send(signal.SIGKILL)
            _wait(alarm, _PAUSE_S)

    def ending(self) -> str:
        """Status and signal of the program, as the answer says them."""
        if self.status is None:
            return "- -"
        code = os.waitstatus_to_exitcode(self.status)
        return f"{code} -" if code >= 0 else f"- {-code}"


def _order(line: int) -> Order | None:
    """The order, None when the life line closed before it was complete."""
    data = b""
    while len(data) < 8 or len(data) < 8 + int.from_bytes(data[:8], "big"):
        chunk = os.read(line, 1 << 16)
        if not chunk:
            return None
        data += chunk
    order: Order = marshal.loads(data[8:])
    return order


def _wake_on_signals() -> int:
    """A descriptor that becomes readable when a child ended or somebody asks us to end."""
    alarm, bell = os.pipe()
    os.set_blocking(alarm, False)
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: setattr(Family, "told_to_end", True))
    for name in ("SIGINT", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    return alarm


def _rang(alarm: int) -> bool:
    """Empty the alarm; whether there was anything in it."""
    try:
        return bool(os.read(alarm, 4096))
    except BlockingIOError:
        return False


def _wait(alarm: int, seconds: float) -> None:
    select.select([alarm], [], [], seconds)
    _rang(alarm)


def _become_subreaper() -> bool:
    """Whether orphans below us come to us from now on (Linux, where ctypes was built)."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes

        done: int = ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        return False
    return done == 0


def _start(order: Order, answer: int) -> int:
    """Start the program; its pid. Raises `OSError` as exec does.

    It begins only when its pid has been told: one that kills us as its first deed is ended by whoever asked.
    """
    failure, failed = os.pipe()
    gate, opened = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(opened)
        _become(order, gate, failed)
    os.close(failed)
    os.close(gate)
    _say(answer, f"pid {child}")
    os.write(opened, b"1")
    os.close(opened)
    number = os.read(failure, 20)
    os.close(failure)
    if number:
        os.waitpid(child, 0)
        raise OSError(int(number), "")
    return child


def _become(order: Order, gate: int, failed: int) -> NoReturn:
    """In the child: a session of its own without a terminal, default signals, limits; then the program."""
    try:
        os.setsid()
        for name in _DEFAULTS:
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        if os.read(gate, 1):
            _limit(order)
            for fd in order["fds"]:
                os.set_inheritable(fd, True)
            os.execvpe(order["argv"][0], order["argv"], order["env"])
    except OSError as error:
        os.write(failed, b"%d" % (error.errno or 0))
    finally:
        os._exit(127)


def _limit(order: Order) -> None:
    """Put the limits of the order on this process and on all that it will start."""
    wanted = {resource.RLIMIT_CORE: 0}
    if order["memory"]:
        wanted[resource.RLIMIT_AS] = order["memory"]
    if order["file"]:
        wanted[resource.RLIMIT_FSIZE] = order["file"]
    for kind, most in wanted.items():
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        try:
            resource.setrlimit(kind, (most, most))
        except (OSError, ValueError):
            continue  # macOS knows no limit of address space


def _let_go(fds: tuple[int, ...]) -> None:
    """Close our copies of the program's pipes, so that their other ends see when its last process is gone."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    for fd in (*fds, nothing):
        os.close(fd)


def _say(answer: int, text: str) -> None:
    try:
        os.write(answer, text.encode("ascii") + b"\n")
    except BrokenPipeError:
        return  # who asked is gone; what there was to do is done all the same


def _signal(send: Callable[[int, int], None], target: int, number: int) -> None:
    try:
        send(target, number)
    except OSError:
        return  # it has just ended, or it became another user's


if __name__ == "__main__":
    main()
