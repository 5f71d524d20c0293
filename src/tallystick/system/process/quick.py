"""Runs a quick tool that we trust, with little overhead: no supervisor, both streams apart and whole."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from tallystick.system.process.finished import Finished
from tallystick.system.process.pump import Pump
from tallystick.system.process.starting import kill_group, not_started

_LOOK_S = 0.2  # how often we look whether the tool has ended while something it left behind holds its pipes


class Child(Protocol):
    """A tool that was started, as `subprocess.Popen` is one."""

    @property
    def pid(self) -> int: ...
    @property
    def returncode(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...


def capture(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    *,
    input: bytes | None = None,  # noqa: A002 - the word of the standard library
    timeout_s: float = 60.0,
    limit: int = 64_000_000,
    missing: str = "git.missing",
    held: Sequence[int] = (),
) -> Finished:
    """Run `argv` in folder `cwd` with exactly the variables `env`: at most `limit` bytes a stream, `timeout_s` seconds.

    At a limit its process group is killed and `Finished.stopped` says which. It has no terminal and reads `input` or
    nothing. It holds the descriptors `held` too: a lock among them stays taken until it has ended, also if we are
    killed before. Raises `Refusal` with code `missing` when the program or the folder is not there.
    """
    started = time.monotonic()
    pump, out, err = Pump(), bytearray(), bytearray()
    child, fds = _started(argv, cwd, env, input, missing, pump, (out, err), held)
    try:
        stopped = collect(child, pump, fds, (out, err), started + timeout_s, limit)
    except BaseException:
        kill_group(child.pid)
        raise
    finally:
        pump.close()
        child.wait()
    code = child.returncode
    return Finished(
        code if code >= 0 else None,
        -code if code < 0 else None,
        bytes(out[:limit]),
        bytes(err[:limit]),
        stopped,
        time.monotonic() - started,
        len(out) + len(err),
    )


def _started(
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    given: bytes | None,
    missing: str,
    pump: Pump,
    streams: tuple[bytearray, bytearray],
    held: Sequence[int],
) -> tuple[Child, list[int]]:
    """The running tool and the descriptors its streams are read from; `pump` owns those."""
    import subprocess

    fds, theirs = [], []
    for stream in streams:
        mine, its = os.pipe()
        pump.read(mine, stream.extend)
        fds.append(mine)
        theirs.append(its)
    stdin = subprocess.DEVNULL
    if given is not None:
        stdin, feed = os.pipe()
        theirs.append(stdin)
        pump.feed(feed, given)
    try:
        child = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=theirs[0],
            stderr=theirs[1],
            start_new_session=True,
            pass_fds=held,
        )
    except OSError as error:
        pump.close()
        no_folder = error.filename == cwd != argv[0]
        raise not_started(argv[0], cwd, error.errno or 0, no_folder, missing) from error
    finally:
        for fd in theirs:
            os.close(fd)
    return child, fds


def collect(
    child: Child,
    pump: Pump,
    fds: list[int],
    streams: tuple[bytearray, bytearray],
    deadline: float,
    limit: int,
) -> str:
    """Read all that the tool prints until it has ended, or until a limit is reached, which ends it; "" or which one.

    Its pipes need not have come to their end by then: one that it left behind may hold them for ever.
    """
    stopped, ended = "", False
    while not (stopped or ended) and any(map(pump.reads, fds)):
        left = deadline - time.monotonic()
        ended = pump.turn(min(left, _LOOK_S)) == 0 and child.poll() is not None
        if ended:
            pump.drain()  # what it printed after the one look and before the other
        if max(map(len, streams)) > limit:
            stopped = "output"
        elif left <= 0:
            stopped = "" if ended else "time"
    if not stopped and not _ended(child, deadline):
        stopped = "time"
    if stopped:
        kill_group(child.pid)
    return stopped


def _ended(child: Child, deadline: float) -> bool:
    """Whether the tool ends before `deadline` (on the monotonic clock); waits for it until then."""
    import subprocess

    try:
        child.wait(timeout=max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return False
    return True
