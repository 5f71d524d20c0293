"""Holds that a file of ours that is half written, empty, foreign or damaged gets one verdict from every command, is
never taken for an empty one, is never overwritten, and that a refusal leaves every byte where it was (P2, P3, P6)."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.system.files import OsFiles
from tests.desk import FEATURE, Desk
from tests.inputs.commands import COUNTING, MORE, READING, WAYS_OUT, WRITING
from tests.simdisk import Fail, Fault, Faulty

LOOK = 8
JUNK = (b"", b"\0" * 600, b"hello\n", b"\xff\xfe\x00", b"{}\n", b"x" * 20_000)

Spoil = Callable[[Path], object]


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


OTHER_KINDS: dict[str, Spoil] = {"folder": _folder, "pipe": _pipe, "dangling link": _dangling}


def expect_reads(desk: Desk, status: int, says: str = "") -> None:
    """Every reading command ends with `status`, says `says`, and leaves every byte where it was."""
    before = desk.tree()
    for words in READING:
        said = desk.run(*words)
        if words != ("status", "--check") or status:
            assert said.status == status, (words, said)
        assert says in said.out + said.err or words[0] == "brief", (words, said)  # which cuts what is long
    assert desk.tree() == before


def expect_refused_writes(desk: Desk, code: str) -> None:
    """Every writing command is refused with `code`."""
    desk.put("more.md", MORE)
    for words in WRITING:
        assert desk.refused(*words).code == code, words


def expect_unharmed(desk: Desk) -> None:
    """Nothing was lost: all can be read, marked and audited."""
    expect_reads(desk, 0)
    desk.cite("AC3")
    assert desk.counted() == ["AC1", "AC3"]
    assert desk.findings() == []


# -- the store's own identity -----------------------------------------------------------------------------------------


@pytest.mark.requirement("P3", "F1.4")
@pytest.mark.parametrize("data", JUNK)
def test_a_store_id_that_is_none(desk: Desk, data: bytes) -> None:
    path = desk.store / "store-id"
    whole = path.read_bytes()
    path.write_bytes(data)
    expect_reads(desk, LOOK, "store-id")
    expect_refused_writes(desk, "store.damaged")
    assert path.read_bytes() == data
    assert desk.run("audit", "--restore").status == 0
    assert path.read_bytes() == whole
    expect_unharmed(desk)


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_store_id_that_is_no_file(desk: Desk, kind: str) -> None:
    OTHER_KINDS[kind](desk.store / "store-id")
    expect_reads(desk, LOOK, "store-id")
    expect_refused_writes(desk, "store.damaged")


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("kind", ["gone", "dangling link"])
def test_a_store_id_that_is_gone_while_there_are_records(desk: Desk, kind: str) -> None:
    path = desk.store / "store-id"
    _dangling(path) if kind == "dangling link" else path.unlink()
    expect_reads(desk, LOOK, "store-id")
    expect_refused_writes(desk, "store.damaged")
    if kind == "gone":
        assert desk.run("audit", "--restore").status == 0
        expect_unharmed(desk)


@pytest.mark.requirement("P3", "P11")
def test_a_store_id_cut_or_changed_at_any_place(desk: Desk) -> None:
    path = desk.store / "store-id"
    whole = path.read_bytes()
    for at in range(len(whole)):
        for data in (whole[:at], whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :]):
            path.write_bytes(data)
            said = desk.run("ledger", "show", FEATURE)
            newer = b"tallystick 1" not in data and said.status == 1
            assert said.status == LOOK or newer, (data, said)
            assert desk.run("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt").status == said.status
            assert path.read_bytes() == data
    path.write_bytes(whole)
    expect_unharmed(desk)


# -- the key ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("P3", "F1.4")
@pytest.mark.parametrize("data", JUNK)
def test_a_key_that_is_none(desk: Desk, data: bytes) -> None:
    path = desk.home / "key"
    path.write_bytes(data)
    expect_reads(desk, LOOK, str(path))
    expect_refused_writes(desk, "key.damaged")
    assert desk.refused("init").code == "key.damaged"
    assert path.read_bytes() == data


@pytest.mark.requirement("P6")
@pytest.mark.parametrize("kind", ["folder", "pipe", "dangling link", "gone"])
def test_a_key_that_cannot_be_seen(desk: Desk, kind: str) -> None:
    path = desk.home / "key"
    path.unlink() if kind == "gone" else OTHER_KINDS[kind](path)
    expect_reads(desk, 0, "")
    assert "not checkable here" in desk.run("ledger", "show").err
    expect_refused_writes(desk, "key.missing")


@pytest.mark.requirement("P11")
def test_a_key_changed_at_any_place_proves_nothing_and_counts_nothing(desk: Desk) -> None:
    path = desk.home / "key"
    whole = path.read_bytes()
    for at in range(64):
        path.write_bytes(whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :])
        said = desk.run("ledger", "show", "--json")
        assert said.status in (0, LOOK)
        if said.status == 0:
            assert [row["state"] for row in said.document["criteria"]] == ["elsewhere", "failing", "failing"]
        path.write_bytes(whole[:at])
        assert desk.run("ledger", "show").status == LOOK
    path.write_bytes(whole)
    expect_unharmed(desk)


# -- journals ---------------------------------------------------------------------------------------------------------


def spoilt(whole: bytes) -> dict[str, bytes]:
    """The journal damaged in its middle, in every way and in every line but the last."""
    found = {}
    start = 0
    for number, line in enumerate(whole.splitlines(keepends=True)[:-1], 1):
        for way, at in (("head", start), ("text", start + line.index(b'"data":') + 9), ("end", start + len(line) - 2)):
            found[f"{number} {way} flipped"] = whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :]
            found[f"{number} {way} zeroed"] = whole[:at] + b"\0" * 20 + whole[at + 20 :]
        found[f"{number} gone"] = whole[:start] + whole[start + len(line) :]
        found[f"{number} doubled"] = whole[: start + len(line)] + line + whole[start + len(line) :]
        found[f"{number} in CRLF"] = whole[: start + len(line) - 1] + b"\r\n" + whole[start + len(line) :]
        found[f"{number} with a blank line"] = whole[:start] + b"\n" + whole[start:]
        start += len(line)
    return found


@pytest.mark.requirement("P3", "P6", "F5.6", "P20")
def test_a_journal_damaged_in_its_middle(desk: Desk) -> None:
    desk.put("more.md", MORE)
    whole = desk.journal.read_bytes()
    for way, data in spoilt(whole).items():
        desk.journal.write_bytes(data)
        expect_reads(desk, LOOK, "")
        findings = desk.run("audit", "--json").document["findings"]
        code, file, line = (findings[0][key] for key in ("code", "file", "line"))
        merged = way == "2 end zeroed"  # with the last line: nothing is left behind it that would show it to be damage
        assert (code, file, line is None) == (
            "anchor.rolled_back" if merged else "journal.damaged",
            str(desk.journal),
            merged,
        ), (way, findings)
        for words in COUNTING:
            assert desk.refused(*words).code == code, way
        assert desk.journal.read_bytes() == data
    desk.journal.write_bytes(whole)
    expect_unharmed(desk)


@pytest.mark.requirement("P20", "P3")
@pytest.mark.parametrize("words", WAYS_OUT)
def test_the_ways_out_stay_open_over_damage(desk: Desk, words: tuple[str, ...]) -> None:
    lines = desk.journal.read_bytes().splitlines(keepends=True)
    damaged = b"".join([lines[0], lines[1].replace(b"2026", b"2025"), lines[2]])
    desk.journal.write_bytes(damaged)
    said = desk.run(*words)
    assert said.status == 0, said
    assert desk.journal.read_bytes().startswith(damaged)
    assert desk.journal.read_bytes().count(b"\n") == 4
    assert desk.run("audit").status == LOOK


@pytest.mark.requirement("P2", "P3", "F5.5")
@pytest.mark.parametrize("tail", [b"{", b'{"at":"2026-05-', b"\0" * 600, b"\n", b"\xff\xff", b"null\n", b"x" * 20_000])
def test_what_a_crash_left_behind_the_last_record_is_no_damage(desk: Desk, tail: bytes) -> None:
    desk.journal.write_bytes(desk.journal.read_bytes() + tail)
    expect_reads(desk, 0)
    assert desk.findings() == ["journal.torn"]
    said = desk.cite("AC3")
    assert "set aside" in said.err
    assert desk.counted() == ["AC1", "AC3"]
    assert desk.findings() == []


@pytest.mark.requirement("P2", "P11")
def test_a_journal_cut_at_any_byte_is_what_was_there_before_and_the_rest_is_missed(desk: Desk) -> None:
    """Every byte is cut in the unit tests; here the verdict of the commands is the same around every line end."""
    whole = desk.journal.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    for at in sorted({max(0, end + step) for end in (0, *ends) for step in (-30, -1, 0, 1, 30)}):
        if at >= len(whole):
            continue
        desk.journal.write_bytes(whole[:at])
        expect_reads(desk, LOOK, "are gone")
        for words in COUNTING:
            desk.put("more.md", MORE)
            assert desk.refused(*words).code == "anchor.rolled_back", at
        assert desk.counted() == (["AC1"] if at >= ends[1] else [])
    desk.journal.write_bytes(whole)
    expect_unharmed(desk)


@pytest.mark.parametrize("data", [b"", b"\0" * 600, b"hello\n"])
def test_a_journal_that_is_empty_or_foreign(desk: Desk, data: bytes) -> None:
    desk.journal.write_bytes(data)
    expect_reads(desk, LOOK, "3 were written here")


@pytest.mark.parametrize("kind", [*OTHER_KINDS])
def test_a_journal_that_is_no_file(desk: Desk, kind: str) -> None:
    path = desk.journal
    OTHER_KINDS[kind](path)
    desk.put("more.md", MORE)
    before = desk.tree()
    statuses = {desk.run(*words).status for words in (*READING, *WRITING)}
    assert statuses == {LOOK}
    assert desk.tree() == before


@pytest.mark.requirement("F5.8", "P3")
@pytest.mark.parametrize("data", [b"\0" * 60 + b"\n", b"{}\n", b"hello\n{}\n"])
def test_the_stores_own_journal_damaged(desk: Desk, data: bytes) -> None:
    desk.members.write_bytes(data + desk.members.read_bytes())
    assert (desk.run("audit").status, desk.findings()[0]) == (LOOK, "journal.damaged")
    assert desk.counted() == ["AC1"]


@pytest.mark.requirement("P15")
def test_a_journal_beyond_the_limit_is_named_and_not_read(desk: Desk) -> None:
    """Bug reports 9: a log of gigabytes."""
    os.truncate(desk.journal, 5_000_000_000)
    path = str(desk.journal)
    desk.put("more.md", MORE)
    for words in (*READING, *WRITING):
        said = desk.run(*words)
        assert (said.status != 0, path in said.err or "status" in words) == (True, True), (words, said)
        assert "1,000,000,000" in said.err + said.out


# -- what can be made again -------------------------------------------------------------------------------------------


@pytest.mark.requirement("F5.10", "F5.9", "P3")
@pytest.mark.parametrize("what", ["anchor", "receipt", "lock", "place", "spare"])
@pytest.mark.parametrize("data", JUNK)
def test_what_can_be_made_again_is_made_again(desk: Desk, what: str, data: bytes) -> None:
    path = {
        "anchor": desk.anchor,
        "receipt": next((desk.store / "cache" / "views").iterdir()),
        "lock": desk.store / "locks" / FEATURE,
        "place": next((desk.home / "places").iterdir()),
        "spare": desk.store / "tmp" / "1-1",
    }[what]
    path.write_bytes(data)
    expect_unharmed(desk)


@pytest.mark.requirement("F5.9")
def test_an_anchor_changed_at_any_place_is_no_alarm(desk: Desk) -> None:
    whole = desk.anchor.read_bytes()
    for at in range(0, len(whole), 5):
        desk.anchor.write_bytes(whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :])
        assert desk.run("ledger", "show").status == 0
        desk.anchor.write_bytes(whole[:at])
        assert desk.run("ledger", "show").status == 0
    desk.anchor.write_bytes(whole)
    expect_unharmed(desk)


@pytest.mark.parametrize("what", ["anchor", "lock", "checkpoint folder", "blobs"])
def test_a_folder_or_file_of_the_wrong_kind_is_named_by_what_needs_it(desk: Desk, what: str) -> None:
    path = {
        "anchor": desk.anchor,
        "lock": desk.store / "locks" / FEATURE,
        "checkpoint folder": desk.store / "cache",
        "blobs": desk.store / "blobs",
    }[what]
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    if what in ("anchor", "lock"):
        path.mkdir()
    else:
        path.write_bytes(b"a file")
    desk.put("large.txt", "x" * 20_000)
    before = desk.journal.read_bytes()
    said = desk.run("ledger", "pass", FEATURE, "AC3", "--evidence", "large.txt")
    if what == "checkpoint folder":
        assert (said.status, str(path) in said.err) == (0, True), said
    else:
        assert (said.status, str(path) in said.err, desk.journal.read_bytes()) == (1, True, before), said


# -- evidence ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("P3")
@pytest.mark.parametrize("data", [None, *JUNK])
def test_kept_evidence_that_is_changed_or_gone_is_named_by_the_audit(desk: Desk, data: bytes | None) -> None:
    desk.put("large.txt", "x" * 20_000)
    desk.cite("AC3", "large.txt")
    [blob] = [path for path in (desk.store / "blobs").rglob("*") if path.is_file()]
    if data == b"x" * 20_000:
        data = b"y" * 20_000
    blob.unlink() if data is None else blob.write_bytes(data)
    audit = desk.run("audit", "--json")
    assert (audit.status, audit.document["findings"][0]["code"]) == (LOOK, "blob.changed")
    assert (audit.document["findings"][0]["file"], "AC3" in audit.out) == (str(blob), True)
    desk.ok("ledger", "fail", FEATURE, "AC2", "--error", "again")
    if data is not None:
        assert blob.read_bytes() == data


# -- git's list of what is ignored ------------------------------------------------------------------------------------


@pytest.mark.requirement("F5.19", "P16", "P18")
@pytest.mark.parametrize("old", [None, b"", b"*.log", b"*.log\n", b"# caf\xe9\r\n*.log\r\n", b"\xff\xfe"])
def test_the_list_of_ignored_files_keeps_every_byte_it_had(empty: Desk, old: bytes | None) -> None:
    path = empty.folder / ".git" / "info" / "exclude"
    if old is not None:
        empty.put(".git/info/exclude", old)
    empty.freeze()
    now = path.read_bytes()
    assert now.startswith(old or b"")
    assert b"\n/.agent/tasks/*/feature_list.json\n" in now
    empty.freeze(feature="refunds")
    assert path.read_bytes() == now


@pytest.mark.requirement("P16")
def test_a_list_of_ignored_files_that_is_a_link_stays_a_link(empty: Desk) -> None:
    """Bug reports 29: writing beside and renaming would turn the user's link into a plain file."""
    inside = empty.put(".git/ignored", "*.log\n")
    outside = empty.base / "ignored-everywhere"
    outside.write_bytes(b"*.tmp\n")
    for target, grows in ((inside, True), (outside, False)):
        path = empty.folder / ".git" / "info" / "exclude"
        path.unlink(missing_ok=True)
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(target)
        shutil.rmtree(empty.store, ignore_errors=True)
        shutil.rmtree(empty.folder / ".tallystick", ignore_errors=True)
        before = target.read_bytes()
        empty.freeze()
        assert path.is_symlink()
        assert (target.read_bytes() != before) is grows


@pytest.mark.requirement("P16")
def test_a_list_of_ignored_files_keeps_its_bits(empty: Desk) -> None:
    path = empty.put(".git/info/exclude", "*.log\n")
    path.chmod(0o600)
    empty.freeze()
    assert (path.stat().st_mode & 0o777, b"/.agent/tasks/" in path.read_bytes()) == (0o600, True)


@pytest.mark.requirement("F5.19", "P2")
def test_a_list_of_ignored_files_that_could_not_be_written_is_written_the_next_time(empty: Desk) -> None:
    full = Faulty(OsFiles(), [Fault(Fail(errno.ENOSPC), call="write", path="exclude")])
    assert empty.run("ledger", "init", FEATURE, "criteria.md", files=full).status == 1
    empty.freeze()
    assert b"/.agent/tasks/*/feature_list.json\n" in (empty.folder / ".git" / "info" / "exclude").read_bytes()


def test_where_gits_folder_for_it_is_none_nobody_is_stopped(empty: Desk) -> None:
    empty.put(".git/info", "a file")
    empty.freeze()
    assert (empty.folder / ".git" / "info").read_bytes() == b"a file"


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_list_of_ignored_files_that_is_no_file_stops_nobody(empty: Desk, kind: str) -> None:
    OTHER_KINDS[kind](empty.put(".git/info/exclude", ""))
    empty.freeze()
    empty.cite("AC1")
    assert empty.counted() == ["AC1"]
