"""Holds the lock: one holder, no theft from a living one, no debt of a dead one, a file that was taken away guards
nothing (promise P5)."""

from __future__ import annotations

import errno

import pytest

from tallystick.errors import Refusal
from tallystick.system.files import Files
from tallystick.system.locks import Lock
from tests.desk import SetClock
from tests.simdisk import Fail, Fault, Faulty, SimDisk

PATH = "/s/locks/checkout"


@pytest.fixture
def disk() -> SimDisk:
    made = SimDisk()
    made.folders("/s")
    return made


def lock(disk: SimDisk, clock: SetClock | None = None, files: Files | None = None, wait_s: float = 1.0) -> Lock:
    """The lock as a process that starts now sees it."""
    return Lock(files or disk.process(), PATH, clock or SetClock(), wait_s)


@pytest.mark.requirement("P5", "P4")
def test_one_holds_and_the_other_waits_and_is_told_who(disk: SimDisk) -> None:
    mine, clock = lock(disk), SetClock()
    other = lock(disk, clock)
    mine.acquire()
    for _ in range(2):
        clock.seconds = 0
        with pytest.raises(Refusal) as caught:
            other.acquire()
        assert caught.value.code == "lock.busy"
        assert PATH in caught.value.message
        assert 1.0 <= clock.seconds < 1.2
    mine.release()
    other.acquire()
    with pytest.raises(Refusal):
        mine.acquire()


@pytest.mark.requirement("P5")
def test_the_lock_of_a_process_that_died_is_free(disk: SimDisk) -> None:
    dying = Faulty(disk.process())
    lock(disk, files=dying).acquire()
    dying.kill()
    lock(disk).acquire()
    assert disk.content(PATH)


@pytest.mark.requirement("P5")
def test_it_is_taken_again_and_again_by_the_same_process(disk: SimDisk) -> None:
    mine = lock(disk)
    for _ in range(5):
        mine.acquire()
        mine.release()
    mine.close()
    mine.acquire()
    assert disk.content(PATH).count(b"\n") >= 1


@pytest.mark.requirement("P5", "P4")
def test_a_lock_file_that_was_taken_away_guards_nothing(disk: SimDisk) -> None:
    mine = lock(disk)
    mine.acquire()
    mine.release()
    disk.remove(PATH)
    other = lock(disk)
    other.acquire()
    clock = SetClock()
    late = lock(disk, clock)
    with pytest.raises(Refusal):
        late.acquire()
    other.release()
    mine.acquire()
    with pytest.raises(Refusal):
        late.acquire()


def test_its_folder_is_made_when_it_is_gone(disk: SimDisk) -> None:
    mine = lock(disk)
    mine.acquire()
    mine.close()
    disk.remove("/s/locks")
    mine.acquire()
    assert PATH in disk.tree()


@pytest.mark.requirement("P18")
@pytest.mark.parametrize("junk", [b"\xff" * 40, b"\x1b[31m", b"\n" * 30, b""])
def test_whatever_stands_in_the_file_the_message_is_one_line(disk: SimDisk, junk: bytes) -> None:
    mine = lock(disk)
    mine.acquire()
    disk.put(PATH, junk)
    with pytest.raises(Refusal) as caught:
        lock(disk).acquire()
    assert caught.value.message.count("\n") == 0
    assert len(caught.value.message) < 200


@pytest.mark.requirement("P16")
def test_a_link_in_its_place_is_not_followed(disk: SimDisk) -> None:
    disk.put("/victim", b"precious")
    disk.folders("/s/locks")
    disk.symlink("/victim", PATH)
    with pytest.raises(Refusal) as caught:
        lock(disk).acquire()
    assert (caught.value.code, disk.content("/victim")) == ("store.place", b"precious")


@pytest.mark.parametrize("call", ["open", "try_lock", "stat", "pread", "pwrite", "fstat"])
def test_a_disk_that_refuses_is_named_and_the_lock_is_free_again(disk: SimDisk, call: str) -> None:
    files = Faulty(disk.process(), [Fault(Fail(errno.EIO), call=call, path="/locks/")])
    mine = lock(disk, files=files)
    with pytest.raises(Refusal) as caught:
        mine.acquire()
    assert (caught.value.code, PATH in caught.value.message) == ("disk.failed", True)
    lock(disk).acquire()
    assert disk.content(PATH)
