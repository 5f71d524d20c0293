"""Holds the anchor: two slots with check sums, never a wrong memory, never backwards, no alarm out of nothing."""

from __future__ import annotations

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.journal.anchor import SLOT, Anchor, Anchors, decode, encode_slot
from tests.simdisk import Fail, Fault, Faulty, Process, SimDisk

IDS = st.integers(0, 2**256 - 1).map(lambda number: f"{number:064x}")
ANCHORS = st.builds(Anchor, st.integers(1, 2**53 - 1), IDS)
FOLDER, WRITER = "/user/anchors", "a" * 32
PATH = f"{FOLDER}/{WRITER}/checkout"


def disk() -> SimDisk:
    made = SimDisk()
    made.folders(FOLDER)
    return made


def anchor(i: int) -> Anchor:
    return Anchor(i, f"{i:064x}")


def remembered(files: Process, *places: int) -> Anchors:
    anchors = Anchors(files, FOLDER)
    anchors.ready(WRITER, "checkout")
    for i in places:
        assert anchors.write(WRITER, "checkout", anchor(i))
    return anchors


@given(ANCHORS)
def test_a_slot_reads_back_and_is_one_line_of_fixed_size(one: Anchor) -> None:
    slot = encode_slot(one)
    assert (len(slot), slot[-1:], slot.count(b"\n")) == (SLOT, b"\n", 1)
    assert decode(slot) == one
    assert decode(b"\0" * SLOT + slot) == one


@given(ANCHORS, ANCHORS)
def test_the_later_of_two_whole_slots_counts(one: Anchor, two: Anchor) -> None:
    assert decode(encode_slot(one) + encode_slot(two)) == max(one, two)


@pytest.mark.requirement("F5.9", "P11")
@given(ANCHORS, st.integers(0, SLOT - 1), st.integers(1, 255))
def test_a_slot_with_any_changed_byte_is_no_memory(one: Anchor, at: int, change: int) -> None:
    slot = encode_slot(one)
    assert decode(slot[:at] + bytes((slot[at] ^ change,)) + slot[at + 1 :]) is None


@pytest.mark.requirement("F5.9")
@given(ANCHORS, IDS, IDS, st.integers(0, SLOT))
def test_one_torn_slot_leaves_the_other(one: Anchor, before: str, after: str, kept: int) -> None:
    earlier, later = Anchor(one.i - 1, before), Anchor(one.i + 1, after)
    torn = encode_slot(later)[:kept] + encode_slot(earlier)[kept:]
    assert decode(encode_slot(one) + torn) in (one, later)
    assert decode(torn + encode_slot(one)) in (one, later)
    assert decode(encode_slot(one) + encode_slot(later)[:kept]) == (one if kept < SLOT else later)


@pytest.mark.requirement("F5.9")
@pytest.mark.parametrize("data", [b"", b"\0" * 256, b"x" * 256, b"\xff" * 256, b"\n" * 256, b"1 2 3\n", b"9" * 300])
def test_two_bad_slots_are_no_anchor(data: bytes) -> None:
    assert decode(data) is None


@given(st.binary(max_size=300))
def test_any_bytes_are_an_anchor_or_none(data: bytes) -> None:
    found = decode(data)
    assert found is None or encode_slot(found) in (data[:SLOT], data[SLOT : 2 * SLOT])


@pytest.mark.requirement("F5.9")
def test_each_write_spoils_at_most_one_slot_and_the_file_never_grows() -> None:
    made = disk()
    files = made.process()
    remembered(files, *range(1, 9))
    assert len(made.content(PATH)) == 2 * SLOT
    assert Anchors(files, FOLDER).read(WRITER, "checkout") == anchor(8)
    assert decode(made.content(PATH)[:SLOT]) == anchor(8)
    assert decode(made.content(PATH)[SLOT:]) == anchor(7)


@pytest.mark.requirement("F5.9", "P2")
def test_a_power_cut_leaves_an_anchor_that_was_written_or_none_at_all() -> None:
    made = disk()
    remembered(made.process(), *range(1, 8))
    for seed in range(40):
        found = Anchors(made.crash(seed).process(), FOLDER).read(WRITER, "checkout")
        assert found is None or found in [anchor(i) for i in range(1, 8)]


@pytest.mark.requirement("F5.3")
def test_an_anchor_is_readable_by_its_owner_alone() -> None:
    files = disk().process()
    remembered(files, 1)
    assert files.stat(PATH).st_mode & 0o077 == 0
    assert files.stat(f"{FOLDER}/{WRITER}").st_mode & 0o077 == 0


def test_a_refusing_disk_is_told_and_raises_nothing() -> None:
    made = disk()
    files = Faulty(made.process(), [Fault(Fail(5), call="pwrite", path="/anchors/")])
    anchors = Anchors(files, FOLDER)
    anchors.ready(WRITER, "checkout")
    assert not anchors.write(WRITER, "checkout", anchor(1))
    assert anchors.read(WRITER, "checkout") is None


@pytest.mark.requirement("P11")
def test_a_link_or_folder_in_its_place_is_named_and_never_followed() -> None:
    made = disk()
    made.put("/elsewhere", encode_slot(anchor(3)))
    made.folders(f"{FOLDER}/{WRITER}/refunds")
    made.symlink("/elsewhere", PATH)
    anchors = Anchors(made.process(), FOLDER)
    for feature in ("checkout", "refunds"):
        for ask in (anchors.read, anchors.ready):
            with pytest.raises(Refusal) as caught:
                ask(WRITER, feature)
            assert f"{WRITER}/{feature}" in caught.value.message
    assert made.content("/elsewhere") == encode_slot(anchor(3))


def test_a_memory_that_the_disk_cannot_give_is_not_taken_for_none() -> None:
    made = disk()
    remembered(made.process(), 1)
    files = Faulty(made.process(), [Fault(Fail(errno.EIO), call="pread", path="/anchors/")])
    with pytest.raises(Refusal):
        Anchors(files, FOLDER).read(WRITER, "checkout")


def test_every_feature_that_has_an_anchor_is_listed() -> None:
    made = disk()
    anchors = remembered(made.process(), 1)
    assert anchors.features(WRITER) == ["checkout"]
    assert anchors.features("b" * 32) == []
