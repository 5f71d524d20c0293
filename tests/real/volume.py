"""A disk of its own whose power can be cut: an ext4 image on a loop device.

The cut is ext4's own shutdown call with "do not flush the log", as file-system developers use it to test recovery: in
one moment, while processes go on writing, nothing more reaches the image, neither data, nor journal, nor what only the
page cache held; every later write and sync fails. Mounting the image again replays the journal, as after a power cut.
A sync that is under way at that moment may report success all the same (a bare loop of write and fsync shows it), so
only what was acknowledged before the cut counts. Not played is a drive that loses what it was told to keep.
"""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from yard.probes import program

_SIZE = 24 << 20
_SHUTDOWN = 0x8004587D  # _IOR('X', 125, __u32)
_NO_LOG_FLUSH = 2


class Volume:
    """One image and the folder it is mounted at."""

    def __init__(self, image: Path, mounted_at: Path) -> None:
        self.image = image
        self.top = mounted_at
        self.top.mkdir()
        with image.open("wb") as file:
            file.truncate(_SIZE)
        _run("mkfs.ext4", "-q", "-F", image)

    @contextmanager
    def mounted(self, options: str = "") -> Iterator[None]:
        """Mounted inside the block, and never after it."""
        _run("mount", "-o", f"loop,{options}".rstrip(","), self.image, self.top)
        try:
            yield
        finally:
            _run("umount", self.top)
            # A mount namespace that somebody made meanwhile holds the file system, cut as it is, until it ends.
            while _run("losetup", "--associated", self.image):
                time.sleep(0.01)

    def cut(self) -> None:
        """Cut the power, now."""
        fd = os.open(self.top, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(fd, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
        finally:
            os.close(fd)


def _run(name: str, *words: str | Path) -> str:
    done = subprocess.run([str(program(name)), *words], capture_output=True, text=True)
    assert done.returncode == 0, f"{name}: {done.stderr}"
    return done.stdout
