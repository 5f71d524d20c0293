"""Processes that mark, seen from outside: started, stopped, killed, and what they acknowledged read from a pipe."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")
_PATIENCE_S = 60.0


class Writer:
    """One worker. `acknowledged` grows while its pipe is read; what was written before it died is never missed."""

    def __init__(self, folder: Path, feature: str, *words: str, env: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-S", WORKER, folder, feature, *words],
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.acknowledged: list[str] = []
        self.open = True

    def fileno(self) -> int:
        """The pipe of acknowledgements, for `select`."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def read(self) -> list[str]:
        """The acknowledgements that are there, waiting for one at least; none at the end."""
        fresh = os.read(self.fileno(), 1 << 16).decode().splitlines()
        self.open = bool(fresh)
        self.acknowledged += fresh
        return fresh

    def until(self, word: str) -> None:
        """Read until `word` was acknowledged."""
        while word not in self.acknowledged:
            assert readable([self], _PATIENCE_S), f"{word} was never acknowledged: {self.acknowledged}"
            assert self.read(), f"ended before {word}: {self.end()}"

    def tell(self, line: str) -> None:
        """Send a line to its standard input."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())
        self.process.stdin.flush()

    def ask(self, name: str) -> None:
        """Have a worker that runs with `--asked` pass `name`, and wait for its acknowledgement."""
        self.tell(name)
        self.until(name)

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if the process is still there."""
        if self.process.poll() is None:
            self.process.send_signal(number)

    def stopped(self) -> None:
        """Wait until the kernel says that the process is stopped."""
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def kill(self) -> None:
        """Kill it where it stands, then read what it had acknowledged."""
        self.send(signal.SIGKILL)
        self.drain()
        self.process.wait()

    def drain(self) -> None:
        """Read to the end of the pipe."""
        while self.open:
            self.read()

    def end(self) -> tuple[int, str]:
        """Wait for its own end: exit status and standard error."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.drain()
        assert self.process.stderr is not None
        said = self.process.stderr.read().decode()
        return self.process.wait(), said

    def close(self) -> None:
        """Leave nothing behind, whatever the test came to."""
        self.send(signal.SIGKILL)
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def readable(writers: Iterable[Writer], timeout_s: float) -> list[Writer]:
    """Those whose pipes have something to read, or have ended; none when nothing came in time."""
    return select.select([writer for writer in writers if writer.open], [], [], timeout_s)[0]


def moment(writer: Writer, seconds: float) -> None:
    """Let `seconds` pass, reading meanwhile: the moment is chance, and nothing is waited for."""
    end = time.monotonic() + seconds
    while writer.open and (left := end - time.monotonic()) > 0:
        if readable([writer], left):
            writer.read()


@contextmanager
def working(writers: Iterable[Writer]) -> Iterator[list[Writer]]:
    """These workers, none of which outlives the block."""
    started: list[Writer] = []
    try:
        started.extend(writers)
        yield started
    finally:
        for writer in started:
            writer.close()
