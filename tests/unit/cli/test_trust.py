"""Holds `tallystick trust`: what waits is shown whole and asked about, a no changes nothing, only a person at a
terminal gives or takes trust, and a check that another key froze is not run before."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tallystick.system.confine.means import LANDLOCK, UNSANDBOXED, Means
from tests.desk import FEATURE, Desk

CHECKS = "- [ ] AC1 it builds\n      run: make all\n- [ ] AC2 it prints\n      run: sh -c 'echo done'\n"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A copy of a repository in which somebody else froze two checks."""
    theirs, mine = Desk(tmp_path / "theirs"), Desk(tmp_path / "mine")
    theirs.freeze(CHECKS)
    shutil.copytree(theirs.folder / ".tallystick", mine.folder / ".tallystick")
    return mine


def table(desk: Desk) -> Path:
    return desk.home / "trust.json"


@pytest.mark.requirement("P13")
def test_a_check_of_another_key_waits_for_trust(desk: Desk) -> None:
    desk.ok("init")
    error = desk.refused("check", FEATURE, "AC1")
    assert error.code == "trust.needed"
    assert "`make all` (AC1, frozen by another key)" in error.message
    assert "`tallystick trust`" in error.hint
    assert "2 commands wait" in desk.refused("check", FEATURE).message


@pytest.mark.requirement("P13")
def test_showing_needs_nobody_and_changes_nothing(desk: Desk) -> None:
    before = desk.tree()
    document = desk.ok("trust", "--show", "--json").document
    assert (document["trusted"], [one["argv"] for one in document["waiting"]]) == (
        [],
        [["make", "all"], ["sh", "-c", "echo done"]],
    )
    said = desk.ok("trust", "--show")
    assert "waits    make all   checkout/AC1, frozen by another key" in said.out
    assert desk.tree() == before


@pytest.mark.requirement("P13")
def test_a_person_reads_and_answers(desk: Desk) -> None:
    before = desk.tree()
    for answer in (b"", b"\n", b"n\n", b"yess\n", b"no\ny\n"):
        said = desk.run("trust", given=answer, person=True)
        assert (said.status, said.out) == (7, "")
        assert "make all   (checkout/AC1, frozen by another key)" in said.err
        assert desk.tree() == before
    for answer in (b"y\n", b"Yes"):
        assert "2 commands are trusted now" in desk.ok("trust", given=answer, person=True).out
        desk.ok("trust", "--revoke", person=True)
    desk.ok("trust", "--yes", person=True)
    assert table(desk).stat().st_mode & 0o077 == 0
    assert "Nothing waits" in desk.ok("trust", person=True).out
    document = desk.ok("trust", "--show", "--json").document
    assert ([one["argv"][0] for one in document["trusted"]], document["waiting"]) == (["make", "sh"], [])


@pytest.mark.requirement("P13", "P12")
@pytest.mark.parametrize("words", [("trust",), ("trust", "--yes"), ("trust", "--revoke")])
def test_nobody_but_a_person_at_a_terminal_gives_or_takes_trust(desk: Desk, words: tuple[str, ...]) -> None:
    assert desk.refused(*words, given=b"y\n").code == "role.denied"
    error = desk.refused(*words, given=b"y\n", person=True, env={"CLAUDECODE": "1"})
    assert (error.code, "ask your user" in error.hint) == ("role.denied", True)


@pytest.mark.requirement("P13")
def test_trust_is_for_these_words_alone(desk: Desk, tmp_path: Path) -> None:
    desk.ok("init")
    desk.ok("trust", "--yes", person=True)
    theirs = Desk(tmp_path / "more")
    theirs.freeze("- [ ] AC1 it builds\n      run: make all install\n", feature="more")
    shutil.copytree(theirs.folder / ".tallystick", desk.folder / ".tallystick", dirs_exist_ok=True)
    assert "`make all install`" in desk.refused("check", "more").message
    [waiting] = desk.ok("trust", "--show", "--json").document["waiting"]
    assert waiting["criteria"] == ["more/AC1"]


@pytest.mark.requirement("P13")
def test_what_this_store_froze_needs_no_trust_and_the_settings_do(tmp_path: Path) -> None:
    mine = Desk(tmp_path / "own")
    mine.freeze(CHECKS)
    assert mine.ok("trust", "--show", "--json").document["waiting"] == []
    mine.put(".tallystick/config.toml", '[tests]\ncommand = ["make", "test"]\n')
    assert "`make test` (tests.command in .tallystick/config.toml)" in mine.refused("check", FEATURE, "AC1").message


@pytest.mark.requirement("P13")
def test_an_amended_check_is_whose_words_it_is(desk: Desk, tmp_path: Path) -> None:
    """A person may let another copy's amendment count; its command still waits for trust."""
    mine, theirs = Desk(tmp_path / "ours"), Desk(tmp_path / "copy")
    mine.freeze(CHECKS)
    shutil.copytree(mine.folder / ".tallystick", theirs.folder / ".tallystick")
    amend = ("ledger", "amend", FEATURE, "AC1", "--require", "run: make evil", "--reason", "agreed")
    theirs.ok(*amend, person=True)
    shutil.copytree(theirs.folder / ".tallystick", mine.folder / ".tallystick", dirs_exist_ok=True)
    mine.ok("ledger", "accept", FEATURE, "AC1", "--reason", "agreed", person=True)
    assert "`make evil` (AC1, frozen by another key)" in mine.refused("check", FEATURE, "AC1").message
    theirs_only = desk.ok("ledger", "amend", FEATURE, "AC1", "--require", "run: make own", "--reason", "x", person=True)
    assert theirs_only.status == 0
    waiting = desk.ok("trust", "--show", "--json").document["waiting"]
    assert [one["argv"] for one in waiting] == [["sh", "-c", "echo done"]]


@pytest.mark.requirement("P3", "P13")
def test_a_table_that_cannot_be_read_is_named_and_trusts_nothing(desk: Desk) -> None:
    desk.ok("init")
    desk.ok("trust", "--yes", person=True)
    table(desk).write_text("{", encoding="utf-8")
    said = desk.run("trust", "--show", "--json")
    assert (said.status, said.document["trusted"], len(said.document["waiting"])) == (8, [], 2)
    assert "trust.damaged" in said.err
    assert str(table(desk)) in said.err
    assert desk.refused("check", FEATURE, "AC1").code == "trust.damaged"
    assert desk.refused("trust", "--yes", person=True).code == "trust.damaged"


@pytest.mark.parametrize("words", [("--show", "--revoke"), ("--show", "--yes")])
def test_words_that_do_not_go_together_are_refused(desk: Desk, words: tuple[str, ...]) -> None:
    assert desk.refused("trust", *words, person=True).code == "usage"


@pytest.mark.requirement("P13")
@pytest.mark.parametrize("means", [Means(UNSANDBOXED), Means(LANDLOCK)])
def test_our_own_checks_wait_for_trust_where_nothing_shuts_them_in(tmp_path: Path, means: Means) -> None:
    mine = Desk(tmp_path / "own")
    mine.freeze("- [ ] AC1 it runs\n      run: true\n")
    mine.ok("check", FEATURE)
    mine.means = lambda: means
    assert "`true` (AC1, frozen here, to be run without confinement)" in mine.refused("check", FEATURE).message
    assert mine.run("verify", FEATURE).status == 7
    assert mine.run("ledger", "pass", FEATURE, "AC1").status == 7
    [waiting] = mine.ok("trust", "--show", "--json").document["waiting"]
    assert (waiting["origin"], waiting["argv"]) == ("own", ["true"])
    mine.ok("trust", "--yes", person=True)
    if not means.confines:
        assert "unsandboxed" in mine.ok("check", FEATURE).out


def test_what_shuts_a_check_in_is_only_tried_where_there_is_a_check(tmp_path: Path) -> None:
    def means() -> Means:
        raise AssertionError("nothing asks for it")

    mine = Desk(tmp_path / "own")
    mine.freeze("- [ ] AC1 it looks good\n")
    mine.means = means
    assert mine.ok("trust", "--show", "--json").document["waiting"] == []
