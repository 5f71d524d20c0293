"""Holds on which tree a red can be made again: from the state itself, from its commit, or from what came along with the
records; and that what came along and is not sound is not followed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.evidence.lockset import Lock, LockSet
from tallystick.evidence.reds import Past, not_passed
from tallystick.journal.blobs import Blobs
from tallystick.ledger.model import Red
from tallystick.moment import SystemClock
from tallystick.system.files import OsFiles
from tallystick.system.trees import Trees
from tests.real.project import Project

RED = Red("r-1", "0" * 64, "", None, "1" * 64, ("tests/test_cart.py::test_total",))
LOCKED = LockSet((Lock("test", "tests/test_cart.py", "2" * 64), Lock("config", "setup.cfg", "")), ())
THEN = {"cart.py": b"then\n", "tests/test_cart.py": b"then\n", "setup.cfg": b"then\n", "gone.py": b"then\n"}
NOW = {"cart.py": b"now\n", "tests/test_cart.py": b"now\n", "setup.cfg": b"now\n", "new.py": b"now\n"}
BACK = {**THEN, "tests/test_cart.py": b"now\n"}
_WHO = {f"GIT_{one}_{what}": "t@example.invalid" for one in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class Desk:
    """A repository of two states, our objects beside it, and two stores: here and elsewhere."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = Project(folder / "shop", _WHO)
        self.project.folder.mkdir()
        self.project.git("init", "--quiet")
        files = OsFiles()
        self.trees = Trees(files, f"{self.project.folder}/.git", f"{folder}/store", os.environ, SystemClock())
        self.blobs = Blobs(files, f"{folder}/blobs", f"{folder}/spares")
        self.then, self.now = self.commit(THEN), self.commit(NOW)

    def commit(self, files: dict[str, bytes]) -> str:
        """Commit exactly these files; the id of their tree."""
        self.project.git("rm", "--quiet", "-r", "--force", "--ignore-unmatch", ".")
        for name, data in files.items():
            path = self.project.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self.project.git("add", "--all", "--force")
        self.project.git("commit", "--quiet", "--allow-empty", "-m", "state")
        return self.project.git("rev-parse", "HEAD^{tree}").strip()

    @property
    def past(self) -> Past:
        """What a process that starts now knows."""
        return Past(self.trees, self.blobs)

    def outside(self) -> list[Path]:
        """Every path but what is ours."""
        ours = self.folder / "store"
        return sorted(path for path in self.folder.rglob("*") if path != ours and ours not in path.parents)

    def lies(self, tree: str | None) -> dict[str, bytes]:
        """The files of a tree."""
        assert tree is not None
        rows = self.trees.rows(tree)
        assert rows is not None
        return self.trees.contents(tree, rows)

    def came_along(self, rows: Json) -> Red:
        """The red of a state that is not here, with a list of what has changed since."""
        return RED._replace(tree="f" * 40, was=self.blobs.keep(canonical.encode(rows)))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"))


@pytest.mark.requirement("P9")
def test_everything_is_set_back_but_what_is_locked(desk: Desk) -> None:
    assert desk.lies(desk.past.set_back(RED._replace(tree=desk.then), desk.now, LOCKED)) == BACK
    commit = desk.project.git("rev-list", "--max-parents=0", "HEAD").strip()
    assert desk.lies(desk.past.set_back(RED._replace(tree="f" * 40, commit=commit), desk.now, LOCKED)) == BACK


@pytest.mark.requirement("P9")
def test_what_was_kept_with_a_pass_sets_back_where_no_state_is_known(desk: Desk) -> None:
    red = RED._replace(tree=desk.then)
    was = desk.past.keep(red, desk.now)
    assert was is not None
    elsewhere = red._replace(tree="f" * 40, was=was)
    assert desk.lies(desk.past.set_back(elsewhere, desk.now, LOCKED)) == BACK
    assert desk.past.keep(elsewhere, desk.now) == was, "who does not know the state hands on what came along"
    later = desk.commit({**NOW, "cart.py": b"later\n", "more.py": b"later\n"})
    assert desk.lies(desk.past.set_back(elsewhere, later, LOCKED)) == {**BACK, "more.py": b"later\n"}


def test_documents_and_our_own_folders_are_not_kept(desk: Desk) -> None:
    now = desk.commit({**THEN, "README.md": b"x\n", "docs/a.txt": b"x\n", ".tallystick/config.toml": b"x\n"})
    was = desk.past.keep(RED._replace(tree=desk.then), now)
    assert was is not None
    assert canonical.parse(desk.blobs.get(was) or b"", "list") == []


def test_an_unknown_state_sets_nothing_back(desk: Desk) -> None:
    for red in (RED, RED._replace(tree="f" * 40, commit="HEAD"), RED._replace(was="3" * 64)):
        assert desk.past.set_back(red, desk.now, LOCKED) is None
        assert desk.past.contents(red, ["cart.py"]) == {}


def hexed(name: str) -> list[str]:
    """A name as a list says one whose bytes are no UTF-8."""
    return [name.encode().hex()]


EVIL = b"evil\n"
FILE: Json = ["100644", canonical.sha256(EVIL)]
UNSOUND: dict[str, Json] = {
    "up": [["../x", FILE]],
    "up inside": [["a/../../x", FILE]],
    "absolute": [["/etc/x", FILE]],
    "git's own": [[".git/hooks/x", FILE]],
    "git's own in capitals": [["a/.GIT/x", FILE]],
    "ours": [[".tallystick/journal/x", FILE]],
    "empty": [["", FILE]],
    "empty part": [["a//x", FILE]],
    "dot": [["./x", FILE]],
    "NUL": [["x\x00100644 " + "0" * 40 + "\ty", FILE]],
    "hidden up": [[hexed("../x"), FILE]],
    "hidden NUL": [[hexed("x\0y"), FILE]],
    "no hex": [[["zz"], FILE]],
    "no text": [[[7], FILE]],
    "no name": [[None, FILE]],
    "object": [[{"a": 1}, FILE]],
    "long part": [["x" * 300, FILE]],
    "long path": [["/".join(["x" * 200] * 40), FILE]],
    "submodule": [["x", ["160000", "4" * 64]]],
    "folder": [["x", ["040000", "4" * 64]]],
    "setuid": [["x", ["104755", "4" * 64]]],
    "no mode": [["x", [None, "4" * 64]]],
    "bytes missing": [["x", ["100644", "4" * 64]]],
    "bytes by a path": [["x", ["100644", "../../../shop/cart.py"]]],
    "bytes by NUL": [["x", ["100644", "\0"]]],
    "bytes by a number": [["x", ["100644", 7]]],
    "half a row": [["x", ["100644"]]],
    "a row's object": [["x", {"mode": "100644"}]],
    "short row": [["x"]],
    "long row": [["x", None, None]],
    "rows in an object": {"x": None},
    "number": 7,
    "text": "xy",
    "null": None,
    "one bad among good ones": [*([f"f{at}", FILE] for at in range(50)), ["../x", FILE]],
}


@pytest.mark.requirement("P9")
@pytest.mark.parametrize("rows", UNSOUND.values(), ids=UNSOUND)
def test_an_unsound_list_is_not_followed_and_writes_nothing(desk: Desk, rows: Json) -> None:
    desk.blobs.keep(EVIL)
    red = desk.came_along(rows)
    before = desk.outside()
    assert desk.past.set_back(red, desk.now, LOCKED) is None
    assert desk.outside() == before


@pytest.mark.parametrize("data", [b"", b"[", b"\0" * 99, b'[["\\ud800x",null]]', b"[" * 100_000, b"[[1,2"])
def test_bytes_that_are_no_list_are_none(desk: Desk, data: bytes) -> None:
    assert desk.past.set_back(RED._replace(was=desk.blobs.keep(data)), desk.now, LOCKED) is None


@pytest.mark.parametrize("target", [b"/etc/passwd", b"../../..", b".git/config", b""])
def test_a_link_that_came_along_is_a_link_in_the_tree_and_nothing_else(desk: Desk, target: bytes) -> None:
    red = desk.came_along([["cart.py", ["120000", desk.blobs.keep(target)]], ["cart.py/x", None]])
    tree = desk.past.set_back(red, desk.now, LOCKED)
    assert tree is not None
    assert desk.lies(tree) == {**NOW, "cart.py": target}
    assert (desk.trees.rows(tree) or {})["cart.py"].mode == "120000"


def test_a_long_list_is_followed(desk: Desk) -> None:
    tree = desk.past.set_back(desk.came_along([[f"d{at % 9}/f{at}", None] for at in range(10_000)]), desk.now, LOCKED)
    assert desk.lies(tree) == NOW


def test_a_file_may_stand_where_a_folder_was_and_the_other_way_round(desk: Desk) -> None:
    then = {"tests": b"file\n", "cart.py/__init__.py": b"then\n"}
    red = RED._replace(tree=desk.commit(then))
    was = desk.past.keep(red, desk.now)
    for one in (red, red._replace(tree="f" * 40, was=was)):
        assert desk.lies(desk.past.set_back(one, desk.now, LockSet((), ()))) == then


IDS = st.sampled_from(["a.py::x", "a.py::y", "a.py::z[1]", "a.py::z[2]", "a.py::z[*]", "a.py::*", "b.py::x"])


@given(st.lists(IDS, unique=True), st.lists(IDS, unique=True))
def test_what_was_red_must_be_among_what_passed(red: list[str], passed: list[str]) -> None:
    lost = not_passed(RED._replace(ids=tuple(red)), passed)
    assert set(lost) <= set(red) - set(passed)
    assert not_passed(RED._replace(ids=tuple(red)), [*passed, *lost]) == []
