"""Holds what is read of recorded trees, that one is made from another with exactly the changes asked for, and that the
user's index, objects and refs are not touched by it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.moment import SystemClock
from tallystick.system.files import OsFiles
from tallystick.system.listing import Entry
from tallystick.system.trees import Trees, differing
from tests.real.fresh_scene import everything
from tests.real.project import Project

UGLY = ["new\nline.py", "tab\tx", '"q"', "-rf", " a ", "bad\udcff", "a\\b", ":(exclude)x", "git~1", "é", "e\u0301"]


class Desk:
    """A repository with one commit, and its trees."""

    def __init__(self, folder: Path, format_: str = "sha1") -> None:
        self.project = Project.made(folder / "shop", None, f"--object-format={format_}")
        self.project.git("config", "core.protectNTFS", "false")
        self.store = folder / "store"
        for name in UGLY:
            (self.project.folder / name).write_bytes(os.fsencode(name))
        (self.project.folder / "d").mkdir()
        (self.project.folder / "d" / "run.sh").write_bytes(b"#!/bin/sh\n")
        (self.project.folder / "d" / "run.sh").chmod(0o755)
        (self.project.folder / "link").symlink_to("d/run.sh")
        self.project.git("add", "--all")
        self.project.git("commit", "--quiet", "-m", "more")
        self.tree = self.project.git("rev-parse", "HEAD^{tree}").strip()

    @property
    def trees(self) -> Trees:
        """As a process that starts now has them."""
        return Trees(OsFiles(), f"{self.project.folder}/.git", str(self.store), os.environ, SystemClock())

    def lies(self, tree: str) -> dict[str, tuple[str, bytes]]:
        """Mode and bytes of everything in a tree."""
        rows = self.trees.rows(tree)
        assert rows is not None
        return {name: (rows[name].mode, data) for name, data in self.trees.contents(tree, rows).items()}


@pytest.mark.parametrize("format_", ["sha1", "sha256"])
def test_a_tree_is_read_whole_and_by_its_commit_too(tmp_path: Path, format_: str) -> None:
    desk = Desk(tmp_path, format_)
    lies = desk.lies(desk.tree)
    assert {name: lies[name][1] for name in UGLY} == {name: os.fsencode(name) for name in UGLY}
    assert (lies["d/run.sh"], lies["link"]) == (("100755", b"#!/bin/sh\n"), ("120000", b"d/run.sh"))
    assert desk.lies(desk.project.git("rev-parse", "HEAD").strip()) == lies
    assert desk.trees.contents(desk.tree, ["nowhere", "d", "../shop/link"]) == {}
    assert desk.trees.contents(desk.tree, []) == {}


def test_what_is_no_tree_here_is_none(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for tree in ("", "HEAD", "--help", "f" * 40, "f" * 64, "F" * 40, "0" * 40, "main", "f" * 39):
        assert desk.trees.rows(tree) is None
        assert desk.trees.contents(tree, ["link"]) == {}


@pytest.mark.requirement("P16")
def test_a_tree_is_made_with_the_changes_and_nothing_else(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (desk.project.folder / "dirty").write_bytes(b"dirty\n")
    desk.project.git("add", "dirty")
    before = everything(desk.project.folder / ".git"), everything(desk.project.folder)
    lies = desk.lies(desk.tree)
    rows = desk.trees.rows(desk.tree)
    assert rows is not None
    made = desk.trees.made(
        desk.tree,
        {
            "d": ("100644", b"a file now\n"),
            "d/run.sh": None,
            "link/inside": ("100755", b"a folder now\n"),
            "link": None,
            "-rf": ("100644", rows["git~1"].id),
            "new\n\tname \udcff": ("120000", b"anywhere"),
            "nowhere": None,
        },
    )
    kept = {name: row for name, row in lies.items() if name not in ("d/run.sh", "link")}
    assert desk.lies(made) == {
        **kept,
        "d": ("100644", b"a file now\n"),
        "link/inside": ("100755", b"a folder now\n"),
        "-rf": ("100644", b"git~1"),
        "new\n\tname \udcff": ("120000", b"anywhere"),
    }
    assert desk.trees.made(desk.tree, {}) == desk.tree
    assert (everything(desk.project.folder / ".git"), everything(desk.project.folder)) == before


def test_a_name_that_no_tree_can_have_is_left_out(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    names = ("../x", "/x", ".git/x", ".GIT/x", "a/../x", "a//x")
    assert desk.trees.made(desk.tree, dict.fromkeys(names, ("100644", b"evil\n"))) == desk.tree


def test_what_git_cannot_take_is_a_refusal(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(Refusal) as caught:
        desk.trees.made(desk.tree, {"x": ("100644", "no id")})
    assert caught.value.code == "git.missing"


def test_replaced_objects_are_not_believed(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    real, forged = (desk.project.git("hash-object", "-w", name).strip() for name in ("link", "git~1"))
    desk.project.git("replace", real, forged)
    assert desk.lies(desk.tree)["d/run.sh"] == ("100755", b"#!/bin/sh\n")


ROWS = st.dictionaries(st.sampled_from("abcd"), st.builds(Entry, st.just("100644"), st.sampled_from("12")))


@given(ROWS, ROWS)
def test_what_differs_and_what_lay_there(before: dict[str, Entry], now: dict[str, Entry]) -> None:
    found = differing(before, now)
    back = {**now, **{name: entry for name, entry in found.items() if entry is not None}}
    assert {name: entry for name, entry in back.items() if found.get(name, entry) is not None} == before
    assert list(found) == sorted(found)
    assert differing(now, now) == {}
