"""Files that end too early, at every byte (P1, P2, P3, P11, P17): each command gives the one verdict that fits.

What the anchor saw and is gone is a roll-back. What it did not see is the torn end of a crash: the records before it
stand, it is set aside, and a commit of several records is there whole or not at all. The journal is cut at each byte;
where whole commands look at a cut, every third or so is taken, in the same order always.
"""

from __future__ import annotations

import functools

import pytest

from tallystick.ledger.document import render
from tallystick.ledger.model import ledger_of
from tests.crash.scenes import FEATURE, VIEW, edited, frozen, journal, worked
from tests.crash.stage import HOME, STORE, TREE, YOU, app, done, on
from tests.crash.verdict import Facts, facts
from tests.simdisk import SimDisk

FAIL = ("ledger", "fail", "AC1", "--error", "onward")


@functools.cache
def history() -> tuple[tuple[int, Facts], ...]:
    """Where each commit of `long` ends in the journal, and the facts from there on."""
    disk = frozen().settled()
    steps = [(len(disk.content(journal(disk))), facts(disk))]
    for words in (
        ("ledger", "pass", "AC1", "--evidence", "proof.txt"),
        ("ledger", "add", "more.md"),
        ("ledger", "fail", "AC2", "--error", "no card was taken"),
        ("note", "the bills are in bills.py"),
    ):
        done(disk, *words)
        steps.append((len(disk.content(journal(disk))), facts(disk)))
    disk.remove(f"{TREE}/.tallystick")  # the journal alone: what segments know of it would still be shown
    _LONG.append(disk)
    return tuple(steps)


_LONG: list[SimDisk] = []


def long() -> SimDisk:
    """A fresh copy of a disk with five commits, one of them of two records."""
    history()
    return _LONG[0].settled()


def before(end: int) -> Facts:
    """The facts of the last commit that is whole in the first `end` bytes of the journal."""
    return max((step for step in history() if step[0] <= end), default=(0, (True,)), key=lambda step: step[0])[1]


@pytest.mark.requirement("P1", "P2")
def test_an_unanchored_journal_cut_anywhere_is_the_state_before() -> None:
    disk = long()
    path, data = journal(disk), disk.content(journal(long()))
    disk.remove(f"{HOME}/anchors")
    wrong = []
    for end in range(len(data)):
        disk.put(path, data[:end])
        if facts(disk) != before(end):
            wrong.append(end)
    assert wrong == []


@pytest.mark.requirement("P2", "P3")
def test_after_a_torn_end_one_goes_on_and_the_bytes_are_kept() -> None:
    data = long().content(journal(long()))
    ends = {end + step for end, _ in history() for step in (-1, 0, 1)} | set(range(1, len(data), 37))
    wrong = []
    for end in sorted(ends & set(range(1, len(data)))):
        disk = long()
        disk.put(journal(disk), data[:end])
        disk.remove(f"{HOME}/anchors")
        disk.remove(VIEW)
        audit = on(disk, "audit")
        starts = [place for place, _ in history() if place <= end]
        torn = end - max(starts, default=0)
        told = not torn or f"{torn} bytes of an unfinished record" in audit.out
        words = FAIL if starts else ("ledger", "init", FEATURE, "criteria.md")
        marked = on(disk, *words)
        kept = not torn or f"{torn} bytes of an unfinished record were set aside" in marked.err
        if audit.status or not told or marked.status or not kept or on(disk, "audit").status:
            wrong.append((end, audit, marked))
    assert wrong == []


@pytest.mark.requirement("P3", "P11", "P20")
def test_a_journal_that_ends_before_its_anchor_is_a_roll_back() -> None:
    """Named by every reading command and by the next pass; the ways out stay open."""
    data = long().content(journal(long()))
    wrong = []
    for end in [0, *range(1, len(data), 41), len(data) - 1]:
        disk = long()
        disk.put(journal(disk), data[:end])
        answers = [on(disk, *words) for words in (("audit",), ("status", FEATURE), ("ledger", "show", FEATURE))]
        answers.append(on(disk, "ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt"))
        named = all(answer.status == 8 and "are gone" in answer.out + answer.err for answer in answers)
        way_out = 0 if before(end) != (True,) else 8  # without its first record there is nothing to mark
        if not named or on(disk, "ledger", "fail", FEATURE, "AC1", "--error", "onward").status != way_out:
            wrong.append((end, answers))
    assert wrong == []


@pytest.mark.requirement("P3", "P11")
def test_no_byte_of_a_journal_changes_unnoticed() -> None:
    disk = long()
    path, data = journal(disk), disk.content(journal(disk))
    wrong = []
    for place in range(0, len(data), 3):
        disk.put(path, data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        if not app(disk).store.snapshot(FEATURE).grave:
            wrong.append(place)
    assert wrong == []


@pytest.mark.requirement("P2", "P3")
def test_a_view_cut_anywhere_is_behind_and_written_anew() -> None:
    disk = worked().settled()
    data = disk.content(VIEW)
    wrong = []
    for end in range(0, len(data), 3):
        disk.put(VIEW, data[:end])
        audit = on(disk, "audit")
        if audit.status or ("view.behind" not in audit.out and end < len(data) - 1):
            wrong.append((end, audit))
    assert wrong == []
    marked = done(disk, *FAIL)
    assert disk.content(VIEW) == render(ledger_of(app(disk).store.snapshot(FEATURE)))
    assert marked.out


@pytest.mark.requirement("P3")
def test_a_view_cut_behind_an_edit_is_damage_and_stays() -> None:
    disk = edited().settled()
    data = disk.content(VIEW)
    done_by_hand = data.replace(b"the cart is kept", b"the cart is gone")
    disk.put(VIEW, done_by_hand[:-4])
    for words in (("status",), ("audit",), ("ledger", "pass", "AC2", "--evidence", "proof.txt")):
        answer = on(disk, *words)
        assert answer.status == 8
        assert VIEW in answer.out + answer.err
    assert disk.content(VIEW) == done_by_hand[:-4]


def _anchor(disk: SimDisk) -> str:
    writer = journal(disk).rpartition("/")[2].partition(".")[0]
    return f"{HOME}/anchors/{writer}/{FEATURE}"


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("file", "code"),
    [(f"{STORE}/store-id", "store.damaged"), (f"{HOME}/key", "key.damaged")],
    ids=["store-id", "key"],
)
def test_a_cut_identity_is_named_and_never_replaced(file: str, code: str) -> None:
    disk = worked().settled()
    data = disk.content(file)
    wrong = []
    for end in range(0, len(data) - 1, 3):
        disk.put(file, data[:end])
        answers = [on(disk, *words, "--json") for words in (("status",), ("audit",), ("ledger", "show", FEATURE), FAIL)]
        if any((answer.status, answer.code) != (8, code) for answer in answers) or disk.content(file) != data[:end]:
            wrong.append((end, answers))
    assert wrong == []


@pytest.mark.requirement("P11")
def test_a_cut_anchor_is_no_alarm_and_made_whole_by_the_next_mark() -> None:
    wrong = []
    for end in range(0, 256, 7):
        disk = worked().settled()
        file = _anchor(disk)
        whole = disk.content(file)
        disk.put(file, whole[:end])
        first = on(disk, "audit")
        marked = on(disk, *FAIL)
        last = on(disk, "audit", "--json", caller=YOU._replace(at=1))
        if (first.status, marked.status, last.status) != (0, 0, 0) or not last.document["anchored"]:
            wrong.append((end, first, marked, last))
    assert wrong == []


@pytest.mark.requirement("P2", "P3")
def test_a_journal_of_the_store_itself_cut_anywhere_can_be_gone_on_with() -> None:
    disk = frozen().settled()
    path = journal(disk, "_store")
    data = disk.content(path)
    wrong = []
    for end in range(0, len(data), 5):
        copy = disk.settled()
        copy.put(path, data[:end])
        copy.remove(f"{HOME}/anchors")
        answers = [on(copy, "status"), on(copy, *FAIL), on(copy, "audit")]
        joined = app(copy).store.members().state.joined
        if any(answer.status for answer in answers) or len(joined) != 1:
            wrong.append((end, answers))
    assert wrong == []
