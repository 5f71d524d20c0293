"""Holds kept bytes: written once, found by digest, never taken on trust."""

from __future__ import annotations

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.journal.blobs import Blobs
from tests.simdisk import Fail, Fault, Faulty, SimDisk

FOLDER = "/store/blobs"
SPARES = FOLDER.rpartition("/")[0] + "/tmp"


def disk() -> SimDisk:
    made = SimDisk()
    made.folders("/store")
    return made


@given(st.binary(max_size=200))
def test_bytes_come_back_by_their_digest(data: bytes) -> None:
    blobs = Blobs(disk().process(), FOLDER, SPARES)
    digest = blobs.keep(data)
    assert digest == canonical.sha256(data)
    assert (blobs.get(digest), blobs.broken(digest)) == (data, None)
    assert blobs.keep(data) == digest


@pytest.mark.requirement("P1")
def test_kept_bytes_survive_any_power_cut() -> None:
    made = disk()
    digest = Blobs(made.process(), FOLDER, SPARES).keep(b"evidence" * 4000)
    for seed in range(30):
        assert Blobs(made.crash(seed).process(), FOLDER, SPARES).get(digest) == b"evidence" * 4000


@pytest.mark.requirement("P1")
def test_bytes_that_somebody_left_unsynced_are_settled_by_who_keeps_them_too() -> None:
    made = disk()
    lazy = Faulty(made.process(), [Fault(Fail(errno.EIO), call="fsync", path="/ab")])
    digest = canonical.sha256(b"evidence")
    made.folders(f"{FOLDER}/{digest[:2]}")
    fd = lazy.open(f"{FOLDER}/{digest[:2]}/{digest}", 0o101)
    lazy.write(fd, b"evidence")
    Blobs(made.process(), FOLDER, SPARES).keep(b"evidence")
    for seed in range(30):
        assert Blobs(made.crash(seed).process(), FOLDER, SPARES).get(digest) == b"evidence"


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("found", [b"", b"\0" * 8, b"evidencE", b"evidence\n", b"evid"])
def test_a_changed_blob_is_never_handed_out_and_is_mended_by_the_right_bytes(found: bytes) -> None:
    made = disk()
    blobs = Blobs(made.process(), FOLDER, SPARES)
    digest = blobs.keep(b"evidence")
    made.put(blobs.path(digest), found)
    broken = blobs.broken(digest)
    assert blobs.get(digest) is None
    assert broken is not None
    assert blobs.path(digest) in broken.message
    assert blobs.keep(b"evidence") == digest
    assert blobs.get(digest) == b"evidence"


def test_a_blob_that_is_gone_is_named() -> None:
    blobs = Blobs(disk().process(), FOLDER, SPARES)
    broken = blobs.broken("0" * 64)
    assert broken is not None
    assert "0" * 64 in broken.message


@pytest.mark.requirement("F5.3")
def test_a_blob_is_readable_by_its_owner_alone() -> None:
    files = disk().process()
    blobs = Blobs(files, FOLDER, SPARES)
    path = blobs.path(blobs.keep(b"evidence"))
    assert files.stat(path).st_mode & 0o077 == 0
    assert files.stat(FOLDER).st_mode & 0o077 == 0


@pytest.mark.parametrize("call", ["write", "fsync", "rename"])
def test_a_disk_that_refuses_leaves_no_litter(call: str) -> None:
    made = disk()
    blobs = Blobs(Faulty(made.process(), [Fault(Fail(errno.ENOSPC), call=call, path="/tmp/")]), FOLDER, SPARES)
    with pytest.raises(Refusal) as caught:
        blobs.keep(b"evidence")
    assert caught.value.code == "disk.full"
    assert [path for path, data in made.tree(FOLDER).items() if data is not None] == []
