"""Runs a program that nobody vouches for: under a supervisor, with every limit, and nothing of it left at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from tallystick.system.process.finished import Finished, Limits
from tallystick.system.process.kept import Kept
from tallystick.system.process.pump import Pump
from tallystick.system.process.starting import kill_group, not_started

_POLL_S = 0.2
_AFTER_GRACE_S = 10.0
_SUPERVISOR = os.path.join(os.path.dirname(__file__), "supervisor.py")
#: In the place of a variable's name: the report is all that is printed.
PRINTED = "-"
#: What the supervisor's own Python may need to find its library; the program gets `env` and nothing else.
_LIBRARY_PATHS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def run(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    limits: Limits,
    *,
    input: bytes | None = None,  # noqa: A002 - the word of the standard library
    report_as: str = "",
    on_output: Callable[[bytes], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    missing: str = "check.no_runner",
) -> Finished:
    """Run `argv` in folder `cwd` with exactly the variables `env`, and end whatever it started before returning.

    It gets a session of its own without a terminal, both output streams in one pipe, and nothing to read but `input`.
    With `report_as` it inherits a pipe whose number stands in the variable of that name; what is written there is
    `Finished.report`; with `PRINTED` that is all the output, unbroken. `on_output` sees each piece of output;
    `cancelled` is asked about five times a second. Raises `Refusal` with code `missing` when the program or the folder
    is not there. No shell is involved.
    """
    return _Run(argv, cwd, env, limits, input, report_as, on_output, cancelled, missing).finish()


class _Run:
    """One run under a supervisor, from start to end."""

    __slots__ = (
        "_answer", "_answer_fd", "_argv", "_cancelled", "_cwd", "_life", "_limits", "_missing", "_on_output", "_out",
        "_out_fd", "_printed", "_pump", "_report", "_report_fd", "_started", "_stopped", "_supervisor",
    )  # fmt: skip

    def __init__(
        self,
        argv: Sequence[str],
        cwd: str,
        env: Mapping[str, str],
        limits: Limits,
        input: bytes | None,  # noqa: A002
        report_as: str,
        on_output: Callable[[bytes], None] | None,
        cancelled: Callable[[], bool] | None,
        missing: str,
    ) -> None:
        self._argv, self._cwd, self._limits, self._missing = tuple(argv), cwd, limits, missing
        self._on_output, self._cancelled = on_output, cancelled
        self._out, self._report, self._answer = Kept(limits.keep), bytearray(), bytearray()
        self._stopped = ""
        self._printed = report_as == PRINTED
        self._pump = Pump()
        self._started = time.monotonic()
        self._start(dict(env), input, report_as)

    def _start(self, env: dict[str, str], given: bytes | None, report_as: str) -> None:
        """Start the supervisor and give it its order. Pipes are inherited by it alone and closed here at once."""
        import marshal
        import subprocess
        import sys

        life_end, self._life = os.pipe()
        self._out_fd, out = os.pipe()
        self._answer_fd, answer = os.pipe()
        theirs = [life_end, out, answer]
        inherited: tuple[int, ...] = ()
        self._report_fd = -1
        self._pump.read(self._out_fd, self._take_output)
        self._pump.read(self._answer_fd, self._answer.extend)
        stdin = subprocess.DEVNULL
        if report_as and not self._printed:
            self._report_fd, report = os.pipe()
            self._pump.read(self._report_fd, self._take_report)
            theirs.append(report)
            inherited = (report,)
            env[report_as] = str(report)
        if given is not None:
            stdin, feed = os.pipe()
            theirs.append(stdin)
            self._pump.feed(feed, given)
        order = marshal.dumps(
            {
                "argv": self._argv,
                "cwd": self._cwd,
                "env": env,
                "fds": inherited,
                "memory": self._limits.memory,
                "file": self._limits.file,
                "grace_s": self._limits.grace_s,
            }
        )
        try:
            self._supervisor = subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", _SUPERVISOR, str(life_end), str(answer)],
                stdin=stdin,
                stdout=out,
                stderr=out,
                env={name: os.environ[name] for name in _LIBRARY_PATHS if name in os.environ},
                pass_fds=(life_end, answer, *inherited),
                start_new_session=True,
            )
        except BaseException:
            self._pump.close()
            os.close(self._life)
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        with suppress(BrokenPipeError), open(self._life, "wb", closefd=False) as line:
            line.write(len(order).to_bytes(8, "big") + order)

    def finish(self) -> Finished:
        """Move bytes until the supervisor has answered for the last time, or until it is plain that it never will."""
        try:
            self._watch()
        finally:
            self._end()
        pid, failed, ended = self._answers()
        if failed:
            raise not_started(self._argv[0], self._cwd, int(failed[1]), failed[0] == "cwd", self._missing)
        if not ended:
            self._stopped = self._stopped or "lost"
            if pid:
                kill_group(pid)
        status, signal, strays, left = ended or ("-", "-", "0", "0")
        return Finished(
            None if status == "-" else int(status),
            None if signal == "-" else int(signal),
            self._out.kept(),
            stopped=self._stopped,
            took_s=time.monotonic() - self._started,
            total=self._out.total,
            digest=self._out.digest,
            report=bytes(self._report),
            strays=int(strays),
            left=int(left),
        )

    def _watch(self) -> None:
        deadline = self._started + self._limits.wall_s
        while self._pump.reads(self._answer_fd):
            now = time.monotonic()
            if not self._stopped:
                self._stopped = self._reason(now, deadline)
                if self._stopped:
                    deadline = now + self._limits.grace_s + _AFTER_GRACE_S
                    self._cut()
            elif now >= deadline:
                return
            wait = max(0.0, deadline - now)
            self._pump.turn(min(wait, _POLL_S) if self._cancelled and not self._stopped else wait)

    def _reason(self, now: float, deadline: float) -> str:
        """Why the program must be ended now; "" if it need not."""
        if now >= deadline:
            return "time"
        if self._out.total > self._limits.output:
            return "output"
        if len(self._report) > self._limits.report:
            return "report"
        return "cancelled" if self._cancelled and self._cancelled() else ""

    def _cut(self) -> None:
        """Tell the supervisor to end everything; what prints or reports too much finds a broken pipe meanwhile."""
        os.close(self._life)
        self._life = -1
        if self._stopped in ("output", "report"):
            self._pump.drop(self._out_fd)
            self._pump.drop(self._report_fd)

    def _end(self) -> None:
        """However we got here: the supervisor ends, what is in the pipes is taken, every descriptor is closed."""
        import subprocess

        given_up = self._life < 0 and self._pump.reads(self._answer_fd)
        if self._life >= 0:
            os.close(self._life)
        try:
            self._supervisor.wait(timeout=0 if given_up else self._limits.grace_s + _AFTER_GRACE_S)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()
        self._pump.drain()
        self._pump.close()

    def _take_output(self, chunk: bytes) -> None:
        self._out.add(chunk)
        if self._printed:
            self._take_report(chunk)
        if self._on_output is not None:
            self._on_output(chunk)

    def _take_report(self, chunk: bytes) -> None:
        if len(self._report) <= self._limits.report:
            self._report += chunk

    def _answers(self) -> tuple[int, list[str], list[str]]:
        """What the supervisor said: the program's pid (0: none), why it did not start, how it ended."""
        said = {words[0]: words[1:] for line in self._answer.decode("ascii").splitlines() if (words := line.split())}
        pid = int(said["pid"][0]) if "pid" in said else 0
        return pid, said.get("failed", []), said.get("ended", [])
