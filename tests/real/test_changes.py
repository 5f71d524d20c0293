"""Holds that what a phase changed is read from git and is complete: committed, staged, unstaged, untracked, deleted and
renamed work with names of every kind, net, byte for byte, and against git's own account."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Event

import pytest

from tallystick.errors import Refusal
from tallystick.system.changes import Change, changes, count_lines
from tallystick.system.files import OsFiles
from tallystick.system.git import Git
from tallystick.system.place import find_place
from tests.real.phase import UGLY, Tree, digest, told


def text(name: str) -> str:
    """Forty lines that are no other file's."""
    return "".join(f"{name} {number}\n" for number in range(40))


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A repository with some files, each with a text of its own, and one commit."""
    made = Tree(tmp_path / "shop")
    fill(made)
    return made


def fill(tree: Tree) -> None:
    """Some files, each with a text of its own, and one commit."""
    for name in ("keep", "edit", "gone", "moved", "moved too", "tool", "kind", "back", "lost", "src/deep/x.py"):
        tree.write(name, text(name))
    tree.commit("first")


def phase(tree: Tree) -> None:
    """A phase that does everything: committed first, then staged, then neither."""
    for place, name in enumerate(UGLY.values()):
        tree.write(name, f"text {place}\n" * 9)
    tree.git("mv", "moved", "was moved")
    tree.write("back", "for a while\n")
    tree.commit()
    tree.write("edit", text("edit") + "more\n")
    tree.write(b"staged\xff", "staged\n")
    tree.git("add", "edit", b"staged\xff")
    tree.git("rm", "--quiet", "lost", "keep")
    tree.write("keep", text("keep"))
    tree.write("edit", text("edit") + "more\nand more\n")
    tree.write("back", text("back"))
    tree.at("gone").unlink()
    tree.at("moved too").rename(tree.at(b"moved\n\xff\ttoo"))
    with tree.at(b"moved\n\xff\ttoo").open("a") as file:
        file.write("and edited\n")
    tree.at("tool").chmod(0o755)
    tree.at("kind").unlink()
    tree.at("kind").symlink_to("src/deep")
    for place, name in enumerate(UGLY.values()):
        tree.write(b"new/" + name, f"new {place}\n")
    for own in (".jonggrang/x.json", ".agent/tasks/f/feature_list.json", ".tallystick/config.toml"):
        tree.write(own, "ours\n")
    tree.write(".gitignore", "ignored\n.jonggrang/\n.agent/\n.tallystick/\n")
    tree.write("ignored", "x\n")


@pytest.mark.requirement("O8", "F3.4")
@pytest.mark.parametrize("format_", ["sha1", "sha256"])
def test_a_phase_that_does_everything_reads_as_git_tells_it(tmp_path: Path, format_: str) -> None:
    tree = Tree(tmp_path / "shop", f"--object-format={format_}")
    fill(tree)
    base = tree.head
    phase(tree)
    found = tree.changes(base)
    assert told(found) == tree.account(base, tmp_path / "index")
    assert len(found) > 2 * len(UGLY)
    for one in found:
        if one.kind == "deleted":
            assert (one.size, one.digest, one.mode) == (None, None, None)
            continue
        path = tree.at(one.path.encode("utf-8", "surrogateescape"))
        assert (one.digest, one.size) == (digest(path), path.lstat().st_size), one.path


@pytest.mark.requirement("O8")
def test_each_path_says_what_it_took_part_in(tree: Tree) -> None:
    base = tree.head
    phase(tree)
    found = tree.by_path(base)
    assert {name: (one.kind, one.old, one.state) for name, one in found.items() if "new/" not in name} == {
        **{name.decode("utf-8", "surrogateescape"): ("created", None, ("committed",)) for name in UGLY.values()},
        ".gitignore": ("created", None, ("untracked",)),
        "was moved": ("renamed", "moved", ("committed",)),
        "edit": ("modified", None, ("staged", "unstaged")),
        "staged\udcff": ("created", None, ("staged",)),
        "lost": ("deleted", None, ("staged",)),
        "gone": ("deleted", None, ("unstaged",)),
        "moved\n\udcff\ttoo": ("renamed", "moved too", ("unstaged", "untracked")),
        "tool": ("mode", None, ("unstaged",)),
        "kind": ("type", None, ("unstaged",)),
    }
    rows = tree.git("status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=all").split("\0")
    untracked = {row[2:] for row in rows if row.startswith("? ")} - {"keep"}  # taken out of the index, unchanged
    assert {name for name, one in found.items() if "untracked" in one.state} == untracked


@pytest.mark.requirement("O8")
def test_lines_are_counted_as_git_counts_them(tree: Tree) -> None:
    tree.write("picture", "\0\1\n")
    base = tree.commit()
    phase(tree)
    tree.write("picture", "\0\2\n\n")
    tree.write("new picture", "\0\n")
    tree.write("no end", "one\ntwo")
    found = count_lines(tree.asked(), base, tree.changes(base))
    counted = {one.path: (one.added, one.removed) for one in found}
    assert counted["edit"] == (2, 0)
    assert counted["gone"] == (0, 40)
    assert counted["was moved"] == counted["tool"] == (0, 0)
    assert counted["picture"] == counted["new picture"] == (None, None)
    assert counted["no end"] == (2, 0)
    rows = [row.split("\t", 2) for row in tree.git("diff", "--numstat", "--no-renames", "-z", base).split("\0") if row]
    theirs = {path: (int(added), int(removed)) for added, removed, path in rows if added != "-"}
    alike = set(theirs) & {one.path for one in found if one.kind in ("created", "modified", "deleted", "type")}
    assert {path: counted[path] for path in alike} == {path: theirs[path] for path in alike}
    assert len(alike) > len(UGLY)


@pytest.mark.requirement("O8")
def test_before_the_first_commit_everything_is_created(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "shop")
    assert tree.changes(None) == ()
    tree.write("staged", "s\n")
    tree.git("add", "staged")
    tree.write("loose", "l\n")
    before = [(one.path, one.kind, one.state) for one in tree.changes(None)]
    assert before == [("loose", "created", ("untracked",)), ("staged", "created", ("staged",))]
    tree.commit()
    after = [(one.path, one.kind, one.state) for one in tree.changes(None)]
    assert after == [("loose", "created", ("committed",)), ("staged", "created", ("committed",))]


def test_without_a_work_tree_there_is_nothing_to_say(tmp_path: Path) -> None:
    bare = Tree(tmp_path / "bare.git", "--bare")
    (tmp_path / "plain").mkdir()
    plain = Tree.__new__(Tree)
    plain.folder = tmp_path / "plain"
    assert bare.changes(None) == plain.changes("c0ffee") == ()


HISTORIES: dict[str, Callable[[Tree], object]] = {
    "amend": lambda tree: tree.git("commit", "--quiet", "--amend", "--all", "-m", "otherwise"),
    "reset to before": lambda tree: tree.git("reset", "--quiet", "HEAD~1"),
    "reset hard": lambda tree: tree.git("reset", "--quiet", "--hard", "HEAD~1"),
    "orphan": lambda tree: tree.git("switch", "--quiet", "--force", "--orphan", "empty"),
    "rebase": lambda tree: [
        tree.git("commit", "--quiet", "--all", "-m", "second"),
        tree.git("checkout", "--quiet", "-b", "side", "HEAD~2"),
        tree.write("side", "s\n"),
        tree.commit(),
        tree.git("rebase", "--quiet", "side", "main"),
    ],
    "conflict": lambda tree: [
        tree.git("commit", "--quiet", "--all", "-m", "second"),
        tree.git("checkout", "--quiet", "-b", "side", "HEAD~1"),
        tree.write("edit", "theirs\n"),
        tree.commit(),
        tree.git("-c", "alias.try=!git merge main || true", "try"),
    ],
}


@pytest.mark.requirement("O8")
@pytest.mark.parametrize("history", HISTORIES)
def test_the_start_may_lie_on_no_branch_any_more(tree: Tree, tmp_path: Path, history: str) -> None:
    tree.write("edit", text("edit") + "at the start\n")
    base = tree.commit("start")
    tree.write("edit", text("edit") + "at the start\nand then\n")
    HISTORIES[history](tree)
    if history == "orphan":  # nothing lies there, and there is no HEAD for git's own account
        assert {one.kind for one in tree.changes(base)} == {"deleted"}
    else:
        assert told(tree.changes(base)) == tree.account(base, tmp_path / "index") != []


@pytest.mark.parametrize("name", ["1" * 40, "2" * 64, "--output=x", "nowhere"])
def test_a_start_that_is_gone_is_refused_with_a_way_on(tree: Tree, name: str) -> None:
    with pytest.raises(Refusal) as refused:
        tree.changes(name)
    assert refused.value.code == "git.missing"
    assert "is not in this repository any more" in refused.value.message
    assert "git reflog" in refused.value.hint
    assert not tree.at("x").exists()


def test_a_damaged_index_is_no_empty_answer(tree: Tree) -> None:
    tree.at(".git/index").write_bytes(b"DIRC nonsense")
    with pytest.raises(Refusal, match="did not work"):
        tree.changes(tree.head)


@pytest.mark.requirement("O8")
def test_work_that_was_undone_is_not_listed(tree: Tree) -> None:
    base = tree.head
    tree.write("made", "m\n")
    tree.write("keep", "otherwise\n")
    tree.git("rm", "--quiet", "gone")
    tree.commit()
    tree.at("made").unlink()
    tree.write("keep", text("keep"))
    tree.write("gone", text("gone"))
    tree.git("mv", "edit", "elsewhere")
    tree.git("mv", "elsewhere", "edit")
    assert tree.changes(base) == ()


@pytest.mark.requirement("O8")
@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_flag_in_the_index_hides_nothing(tree: Tree, flag: str) -> None:
    base = tree.head
    tree.git("update-index", flag, "edit", "gone", "keep", "tool", "back")
    tree.write("edit", "hidden\n")
    tree.at("gone").unlink()
    tree.at("tool").chmod(0o755)
    tree.write("back", text("back"))
    assert tree.git("status", "--porcelain") == ""
    found = [(one.path, one.kind, one.state) for one in tree.changes(base)]
    assert found == [(name, kind, ("unstaged",)) for name, kind in
                     (("edit", "modified"), ("gone", "deleted"), ("tool", "mode"))]  # fmt: skip


def test_what_a_sparse_checkout_leaves_out_is_not_deleted(tree: Tree) -> None:
    base = tree.head
    tree.write("src/deep/y.py", "y\n")
    tree.commit()
    tree.git("sparse-checkout", "set", "--no-cone", "/*", "!/src/")
    assert not tree.at("src").exists()
    tree.write("edit", "seen\n")
    found = [(one.path, one.kind, one.size, one.state) for one in tree.changes(base)]
    assert found == [
        ("edit", "modified", 5, ("unstaged",)),
        ("src/deep/y.py", "created", None, ("committed",)),
    ]


@pytest.mark.requirement("O8")
@pytest.mark.parametrize("settings", [("core.autocrlf=true",), ("core.autocrlf=input", "core.eol=crlf")])
def test_line_ends_that_git_converts_are_no_change(tree: Tree, settings: tuple[str, ...]) -> None:
    base = tree.head
    for setting in (*settings, "core.quotePath=true"):
        tree.git("config", *setting.split("="))
    tree.write("keep", text("keep").replace("\n", "\r\n"))
    tree.write("back", "otherwise\n")
    tree.git("add", "back")
    tree.write("back", text("back").replace("\n", "\r\n"))
    tree.git("update-index", "--assume-unchanged", "edit")
    tree.write("edit", text("edit").replace("\n", "\r\n"))
    tree.write("é", "new\r\n")
    assert [(one.path, one.kind, one.digest) for one in tree.changes(base)] == [("é", "created", digest(tree.at("é")))]


def test_executable_bits_count_where_git_counts_them(tree: Tree) -> None:
    base = tree.head
    tree.git("config", "core.fileMode", "false")
    tree.at("tool").chmod(0o755)
    tree.at("keep").chmod(0o755)
    tree.git("update-index", "--skip-worktree", "keep")
    assert tree.changes(base) == ()
    tree.git("config", "core.fileMode", "true")
    assert [(one.path, one.kind, one.mode) for one in tree.changes(base)] == [
        ("keep", "mode", "100755"),
        ("tool", "mode", "100755"),
    ]


@pytest.mark.requirement("O8")
def test_it_is_the_same_from_a_folder_below_and_in_a_linked_worktree(tree: Tree, tmp_path: Path) -> None:
    base = tree.head
    tree.write("src/deep/new.py", "n\n")
    tree.at("gone").unlink()
    below = tree.changes(base, start="src/deep")
    assert below == tree.changes(base)
    assert [one.path for one in below] == ["gone", "src/deep/new.py"]
    tree.git("worktree", "add", "--quiet", str(tmp_path / "linked"), base)
    linked = Tree.__new__(Tree)
    linked.folder = tmp_path / "linked"
    assert linked.changes(base) == ()
    linked.write("here", "h\n")
    assert [one.path for one in linked.changes(base)] == ["here"]


def test_a_repository_cannot_point_to_another_work_tree(tree: Tree, tmp_path: Path) -> None:
    base = tree.head
    (tmp_path / "clean").mkdir()
    tree.git("--work-tree", str(tmp_path / "clean"), "checkout", "--quiet", "--force", base)
    tree.write("edit", "hidden\n")
    tree.git("config", "core.worktree", str(tmp_path / "clean"))
    assert tree.git("status", "--porcelain") == ""
    assert [one.path for one in tree.changes(base)] == ["edit"]


def test_an_edit_that_keeps_size_and_time_shows(tree: Tree) -> None:
    base = tree.head
    before = tree.at("edit").stat()
    os.utime(tree.at("edit"), ns=(10**18, 10**18))
    tree.git("update-index", "--refresh")
    index = bytearray(tree.at(".git/index").read_bytes()[:-20])
    entry = index.index(b"edit\0") - 62
    index[entry + 3] ^= 1  # as if the entry had been made a second before or after
    tree.at(".git/index").write_bytes(index + hashlib.sha1(index).digest())
    for setting in ("core.trustctime", "core.checkStat"):
        tree.git("config", setting, "false" if setting.endswith("ctime") else "minimal")
    tree.at("edit").write_bytes(b"x" * before.st_size)
    os.utime(tree.at("edit"), ns=(10**18, 10**18))
    assert tree.git("status", "--porcelain") == "", "git itself believes the time stamp"
    assert [one.path for one in tree.changes(base)] == ["edit"]


@pytest.mark.requirement("P16")
@pytest.mark.parametrize("locked", [True, False])
def test_nothing_of_the_users_is_written(tree: Tree, locked: bool) -> None:
    """Nor is a lock waited for that lies around; without one, git would like to write new stat times down."""

    def lying() -> dict[Path, tuple[int, int]]:
        return {path: (path.lstat().st_mtime_ns, path.lstat().st_ino) for path in tree.folder.rglob("*")}

    base = tree.head
    phase(tree)
    os.utime(tree.at("src/deep/x.py"), (1, 1))
    if locked:
        tree.at(".git/index.lock").touch()
    before = lying()
    assert count_lines(tree.asked(), base, tree.changes(base))
    assert lying() == before


def test_it_takes_four_processes_and_a_fifth_after_a_commit(tree: Tree, tmp_path: Path) -> None:
    """Each costs milliseconds; one more is a decision."""
    log = tmp_path / "log"
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec "{real}" "$@"\n')
    (tmp_path / "bin" / "git").chmod(0o755)
    base = tree.head
    tree.write("edit", "other\n")
    tree.write("new", "n\n")
    git = tree.asked()
    os.environ["PATH"] = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    counted = Tree.asked(tree)
    assert git.top == counted.top
    assert len(changes(OsFiles(), counted, base)) == 2
    assert len(log.read_text().splitlines()) == 4
    tree.commit()
    log.unlink()
    assert [one.state for one in changes(OsFiles(), counted, base)] == [("committed",)] * 2
    assert len(log.read_text().splitlines()) == 5


@pytest.mark.requirement("O8")
def test_a_commit_made_while_we_look_is_taken_in(tree: Tree) -> None:
    base = tree.head
    tree.write("edit", "other\n")

    looked = Event()

    class Late(Git):
        def head(self) -> str | None:
            found = super().head()
            looked.set()
            return found

        def ask(
            self,
            *words: str,
            given: bytes | None = None,
            extra: Mapping[str, str] | None = None,
            held: Sequence[int] = (),
        ) -> tuple[int, str]:
            if words[0] == "status":
                assert looked.wait(60)
                tree.commit()
            return super().ask(*words, given=given, extra=extra, held=held)

    place = find_place(OsFiles(), str(tree.folder))
    git = Late(OsFiles(), place.tree, place.git_dir, place.common, dict(os.environ))
    assert [(one.path, one.state) for one in changes(OsFiles(), git, base)] == [("edit", ("committed",))]


def test_renamed_and_edited_files_are_those_that_git_pairs(tree: Tree, tmp_path: Path) -> None:
    """Several candidates, thresholds, empty and binary files: pairs are the ones of git's own measure."""
    texts = {f"a{place}": "".join(f"{place} {line}\n" for line in range(20 + place)) for place in range(6)}
    texts |= {"binary": "\0" + "x" * 300, "empty": "", "crlf": text("crlf")}
    for name, content in texts.items():
        tree.write(name, content)
    base = tree.commit()
    for name, content in texts.items():
        tree.at(name).unlink()
        kept = content.splitlines(keepends=True)
        share = {"a0": 1.0, "a1": 0.9, "a2": 0.6, "a3": 0.3, "a4": 0.0}.get(name, 0.8)
        new = "".join(kept[: int(len(kept) * share)]) + "".join(f"new {name} {line}\n" for line in range(4))
        tree.write(f"there/{name}", content if name in ("empty", "binary") else new)
    found = tree.changes(base)
    assert told(found) == tree.account(base, tmp_path / "index")
    assert sum(one.kind == "renamed" for one in found) >= 6


def test_a_file_that_grows_while_it_is_read_counts_as_read(tree: Tree) -> None:
    base = tree.head
    tree.write("edit", "first\n")

    class Growing(OsFiles):
        grown = False

        def read(self, fd: int, size: int) -> bytes:
            data = os.read(fd, size)
            if data == b"first\n" and not self.grown:
                self.grown = True
                with tree.at("edit").open("a") as file:
                    file.write("second\n")
            return data

    [found] = tree.changes(base, Growing())
    assert (found.size, found.digest) == (13, digest(tree.at("edit")))


@pytest.mark.requirement("F3.4")
def test_a_large_file_is_read_in_pieces(tree: Tree) -> None:
    base = tree.head
    with tree.at("large").open("wb") as file:
        file.truncate(65_000_000)
    sizes: list[int] = []

    class Counting(OsFiles):
        def read(self, fd: int, size: int) -> bytes:
            data = os.read(fd, size)
            sizes.append(len(data))
            return data

    [found] = tree.changes(base, Counting())
    assert (found.size, found.digest, found.added) == (65_000_000, digest(tree.at("large")), None)
    assert max(sizes) <= 1 << 20


def test_what_is_no_file_is_not_opened(tree: Tree) -> None:
    base = tree.head
    os.mkfifo(tree.at("pipe"))
    tree.at("edit").unlink()
    os.mkfifo(tree.at("edit"))
    tree.git("update-index", "--assume-unchanged", "keep")
    tree.at("keep").unlink()
    os.mkfifo(tree.at("keep"))
    tree.at("gone").unlink()
    tree.at("gone").mkdir()
    tree.write("gone/inside", "i\n")
    found = {one.path: (one.kind, one.size, one.digest, one.mode) for one in tree.changes(base)}
    assert found == {
        "edit": ("type", None, None, None),
        "keep": ("type", None, None, None),
        "gone": ("deleted", None, None, None),
        "gone/inside": ("created", 2, digest(tree.at("gone/inside")), "100644"),
    }


def test_a_folder_that_became_a_link_takes_its_files_along(tree: Tree, tmp_path: Path) -> None:
    base = tree.head
    tree.at("src").rename(tmp_path / "away")
    tree.at("src").symlink_to(tmp_path / "away")
    tree.git("update-index", "--skip-worktree", "keep")
    found = [(one.path, one.kind, one.mode) for one in tree.changes(base)]
    assert found == [("src", "created", "120000"), ("src/deep/x.py", "deleted", None)]


def test_a_file_that_may_not_be_read_is_listed_without_a_digest(tree: Tree) -> None:
    base = tree.head
    tree.write("secret", "s\n")

    class Refusing(OsFiles):
        @staticmethod
        def open(path: str, flags: int, mode: int = 0o600) -> int:
            if path.endswith("/secret"):
                raise PermissionError(13, "Permission denied", path)
            return os.open(path, flags, mode)

    [found] = tree.changes(base, Refusing())
    assert (found.path, found.size, found.digest) == ("secret", 2, None)


def test_an_ignore_file_that_was_changed_is_listed_and_what_it_hides_is_not(tree: Tree) -> None:
    tree.write(".gitignore", "node_modules/\n")
    tree.write("node_modules/x.js", "x\n")
    base = tree.commit()
    tree.write(".gitignore", "node_modules/\n\n")
    found: tuple[Change, ...] = tree.changes(base)
    assert [(one.path, one.kind) for one in found] == [(".gitignore", "modified")]
