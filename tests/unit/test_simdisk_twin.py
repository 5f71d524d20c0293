"""Any sequence of calls gets the same answers from the simulated disk as from the real one: results and errnos."""

from __future__ import annotations

import errno
import os
import stat as modes
import sys
import tempfile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simdisk.sides import Disk, real, simulated

PATHS = ("a", "b", "d", "d/a", "d/e", "l", "m/a", "d/../b", "d/", "a/")
ACCESS = (os.O_RDONLY, os.O_WRONLY, os.O_RDWR)
EXTRA = (0, os.O_CREAT, os.O_CREAT | os.O_EXCL, os.O_TRUNC, os.O_CREAT | os.O_APPEND, os.O_NOFOLLOW)
FOLDER = (os.O_DIRECTORY, os.O_DIRECTORY | os.O_NOFOLLOW)
FLAGS = (*(access | extra for access in ACCESS for extra in EXTRA), *FOLDER)
PATH, SLOT, SMALL = st.sampled_from(PATHS), st.integers(0, 3), st.integers(0, 12)
CALLS = st.one_of(
    st.tuples(st.just("open"), PATH, st.sampled_from(FLAGS)),
    st.tuples(st.sampled_from(["close", "fstat", "try_lock", "unlock"]), SLOT),
    st.tuples(st.sampled_from(["read", "truncate"]), SLOT, SMALL),
    st.tuples(st.just("pread"), SLOT, SMALL, SMALL),
    st.tuples(st.just("write"), SLOT, st.binary(max_size=9)),
    st.tuples(st.just("pwrite"), SLOT, st.binary(max_size=9), SMALL),
    st.tuples(st.sampled_from(["stat", "lstat", "listdir", "mkdir", "unlink", "realpath"]), PATH),
    st.tuples(st.sampled_from(["rename", "link"]), PATH, PATH),
)


class Rival:
    """One of two disks that get the same calls; its answers in a form that can be compared."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.fds: list[int] = []
        disk.symlink("d", disk.at("m"))
        disk.symlink("a", disk.at("l"))

    def answer(self, name: str, *args: Any) -> object:
        given = [self.disk.at(arg) if isinstance(arg, str) else arg for arg in args]
        if isinstance(args[0], int):
            if args[0] >= len(self.fds):
                return "no descriptor"
            given[0] = self.fds.pop(args[0]) if name == "close" else self.fds[args[0]]
        try:
            result = getattr(self.disk.files, name)(*given)
        except OSError as error:
            return errno.errorcode[error.errno or 0]
        if name == "open":
            self.fds.append(result)
            return "opened"
        if name.endswith("stat"):
            size = result.st_size if modes.S_ISREG(result.st_mode) else None
            return modes.S_IFMT(result.st_mode), size
        if name == "listdir":
            return sorted(result)
        return result.removeprefix(self.disk.folder) if name == "realpath" else result

    def end(self) -> None:
        while self.fds:
            self.disk.files.close(self.fds.pop())


@pytest.mark.skipif(sys.platform != "linux", reason="compares with the answers of Linux")
@settings(max_examples=200)
@given(st.lists(CALLS, max_size=40))
def test_any_calls_get_the_same_answers_as_on_the_real_disk(calls: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        true, model = Rival(real(folder)), Rival(simulated())
        try:
            for call in calls:
                answer = model.answer(*call)
                if answer != "EXDEV":  # a folder to another parent: the simulated disk refuses, as an overlay does
                    assert true.answer(*call) == answer
        finally:
            true.end()
