"""The two sides that a contract of the disk is run on: the real disk and the simulated one, in the same dress."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from tallystick.system.files import Files, OsFiles
from tests.simdisk.disk import SimDisk


class Disk(NamedTuple):
    """A disk under contract, with an empty folder on it; names are relative to that folder.

    `symlink(target, path)` makes a symbolic link.
    """

    files: Files
    folder: str
    symlink: Callable[[str, str], None]

    def at(self, name: str) -> str:
        """The path of `name`."""
        return f"{self.folder}/{name}"

    def put(self, name: str, data: bytes = b"") -> str:
        """Write a file; its path."""
        fd = self.files.open(self.at(name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        self.files.write(fd, data)
        self.files.close(fd)
        return self.at(name)

    def get(self, name: str) -> bytes:
        """The bytes of a file."""
        fd = self.files.open(self.at(name), os.O_RDONLY)
        data = self.files.pread(fd, 1 << 20, 0)
        self.files.close(fd)
        return data


def real(folder: str) -> Disk:
    """The operating system's disk, in the empty folder `folder`."""
    return Disk(OsFiles(), os.path.realpath(folder), os.symlink)


def simulated() -> Disk:
    """A new simulated disk."""
    disk = SimDisk()
    disk.folders("/mnt/here")
    return Disk(disk.process(), "/mnt/here", disk.symlink)
