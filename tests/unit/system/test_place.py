"""Holds where things lie: git's layouts read without running git, the store that belongs to each tree, the user's
half by the XDG rules, and file systems that are shared (D2, formats 5)."""

from __future__ import annotations

import pytest

from tallystick.errors import Refusal
from tallystick.system.place import branch, find_place, home_folder, shared_file_system
from tests.simdisk import SimDisk


def git(disk: SimDisk, folder: str) -> None:
    """A git folder, as far as its layout goes."""
    disk.folders(f"{folder}/objects")
    disk.folders(f"{folder}/refs")
    disk.put(f"{folder}/HEAD", b"ref: refs/heads/main\n")


@pytest.fixture
def disk() -> SimDisk:
    made = SimDisk()
    git(made, "/p/.git")
    made.folders("/p/src/deep")
    return made


def found(disk: SimDisk, start: str) -> tuple[str, str, str, str]:
    """Tree, common folder, store and kind of a place."""
    place = find_place(disk.process(), start)
    return place.tree, place.common, place.store, place.kind


def refusal(disk: SimDisk, start: str) -> Refusal:
    with pytest.raises(Refusal) as caught:
        find_place(disk.process(), start)
    assert caught.value.code in ("store.place", "input.unreadable", "input.too_large")
    return caught.value


@pytest.mark.requirement("F5.1")
@pytest.mark.parametrize("start", ["/p", "/p/src", "/p/src/deep", "/p/.git"])
def test_a_repository_is_found_from_anywhere_inside(disk: SimDisk, start: str) -> None:
    assert found(disk, start) == ("/p", "/p/.git", "/p/.git/tallystick", "git")


@pytest.mark.requirement("F5.1")
def test_linked_worktrees_share_one_store(disk: SimDisk) -> None:
    """Bug reports 15: in a linked worktree `.git` is a file."""
    disk.put("/p/.git/worktrees/wt/HEAD", b"ref: refs/heads/other\n")
    disk.put("/p/.git/worktrees/wt/commondir", b"../..\n")
    disk.put("/wt/.git", b"gitdir: /p/.git/worktrees/wt\n")
    disk.folders("/wt/src")
    assert found(disk, "/wt/src") == ("/wt", "/p/.git", "/p/.git/tallystick", "worktree")
    place = find_place(disk.process(), "/wt")
    assert (place.git_dir, branch(disk.process(), place)) == ("/p/.git/worktrees/wt", "other")
    assert found(disk, "/p/.git/worktrees/wt")[2] == "/p/.git/tallystick"


def test_a_git_file_may_name_its_folder_from_where_it_lies(disk: SimDisk) -> None:
    disk.put("/p/.git/worktrees/wt/HEAD", b"ref: refs/heads/other\n")
    disk.put("/p/.git/worktrees/wt/commondir", b"../..")
    disk.put("/p/inner/.git", b"gitdir: ../.git/worktrees/wt\r\n")
    assert found(disk, "/p/inner") == ("/p/inner", "/p/.git", "/p/.git/tallystick", "worktree")


@pytest.mark.requirement("F5.1")
def test_a_submodule_has_a_store_of_its_own(disk: SimDisk) -> None:
    git(disk, "/p/.git/modules/lib")
    disk.put("/p/lib/.git", b"gitdir: ../.git/modules/lib\n")
    assert found(disk, "/p/lib") == ("/p/lib", "/p/.git/modules/lib", "/p/.git/modules/lib/tallystick", "git")


def test_a_bare_repository_has_a_store_and_no_tree(disk: SimDisk) -> None:
    git(disk, "/bare.git")
    assert found(disk, "/bare.git") == ("", "/bare.git", "/bare.git/tallystick", "bare")
    assert found(disk, "/bare.git/refs") == ("", "/bare.git", "/bare.git/tallystick", "bare")


@pytest.mark.requirement("F5.1")
def test_outside_git_the_store_lies_in_the_folder_or_above_it(disk: SimDisk) -> None:
    disk.folders("/q/src")
    assert found(disk, "/q/src") == ("/q/src", "", "/q/src/.tallystick/store", "plain")
    disk.put("/q/.tallystick/store/store-id", b"")
    assert found(disk, "/q/src") == ("/q", "", "/q/.tallystick/store", "plain")


@pytest.mark.requirement("F5.1", "P13")
def test_a_store_that_lies_inside_a_repository_is_not_taken_for_its_own(disk: SimDisk) -> None:
    for folder in ("/p", "/p/src", "/p/src/deep"):
        disk.put(f"{folder}/.tallystick/store/store-id", b"")
        assert found(disk, "/p/src/deep")[2] == "/p/.git/tallystick"


def test_links_on_the_way_are_resolved(disk: SimDisk) -> None:
    disk.symlink("/p/src", "/link")
    assert found(disk, "/link") == ("/p", "/p/.git", "/p/.git/tallystick", "git")


@pytest.mark.parametrize("text", [b"", b"\0" * 50, b"hello", b"gitdir:/p/.git", b"gitdir: /nowhere", b"gitdir: \n"])
def test_a_git_file_that_names_nothing_is_named(disk: SimDisk, text: bytes) -> None:
    disk.put("/p/broken/.git", text)
    assert "/p/broken/.git" in refusal(disk, "/p/broken").message
    assert refusal(disk, "/p/broken").hint


def test_an_incomplete_git_folder_is_passed_over(disk: SimDisk) -> None:
    disk.folders("/p/inner/.git/objects")
    assert found(disk, "/p/inner")[0] == "/p"


@pytest.mark.parametrize("start", ["/nowhere", "/p/.git/HEAD", "/p/.git/HEAD/x"])
def test_what_is_no_folder_is_named(disk: SimDisk, start: str) -> None:
    assert start in refusal(disk, start).message


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"ref: refs/heads/main\n", "main"),
        (b"ref: refs/heads/feature/cart\n", "feature/cart"),
        (b"ref: refs/heads/caf\xe9\n", "caf\udce9"),
        (b"c0ffee0000000000000000000000000000000000\n", None),
        (b"", None),
        (b"ref: refs/tags/v1\n", None),
    ],
)
def test_the_branch_is_read_from_head(disk: SimDisk, head: bytes, name: str | None) -> None:
    disk.put("/p/.git/HEAD", head)
    files = disk.process()
    assert branch(files, find_place(files, "/p")) == name


@pytest.mark.requirement("F5.2")
@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"XDG_STATE_HOME": "/state", "HOME": "/user/a"}, "/state/tallystick"),
        ({"XDG_STATE_HOME": "", "HOME": "/user/a"}, "/user/a/.local/state/tallystick"),
        ({"HOME": "/user/a"}, "/user/a/.local/state/tallystick"),
        ({"XDG_STATE_HOME": "state", "HOME": "/user/a"}, "/user/a/.local/state/tallystick"),
        ({"XDG_STATE_HOME": "~/state", "HOME": "/user/a"}, "/user/a/.local/state/tallystick"),
    ],
)
def test_the_users_half_by_the_rules_of_xdg(env: dict[str, str], folder: str) -> None:
    assert home_folder(env) == folder


@pytest.mark.requirement("F5.2")
def test_without_home_the_account_says_where_and_a_relative_home_is_refused() -> None:
    account = home_folder({})
    assert account.endswith("/.local/state/tallystick")
    assert home_folder({"HOME": ""}) == account
    with pytest.raises(Refusal) as caught:
        home_folder({"HOME": "relative"})
    assert caught.value.code == "home.unwritable"


MOUNTS = """\
20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
21 20 0:40 / /user rw - nfs4 server:/user rw
22 21 8:2 / /user/local rw - xfs /dev/sdb rw
23 20 0:41 / /mnt/with\\040blank rw - fuse.sshfs user@host:/ rw
24 20 0:42 / /mnt/dav rw - fuseblk /dev/sdc rw
25 20 0:43 / /mnt/win rw - 9p drvfs rw
26 20 0:44 / /mnt/smb rw - cifs //server/x rw
27 20 0:45 / /mnt/smb rw - ext4 /dev/sdd rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/p", None),
        ("/user/a/p", "nfs4"),
        ("/user/local/p", None),
        ("/usernames", None),
        ("/mnt/with blank/p", "fuse.sshfs"),
        ("/mnt/dav/p", "fuseblk"),
        ("/mnt/win", "9p"),
        ("/mnt/smb/p", None),
    ],
)
def test_a_shared_file_system_is_named(path: str, kind: str | None) -> None:
    """Bug reports 24; the mount that was made last at a point is the one that is seen."""
    assert shared_file_system(MOUNTS, path) == kind


@pytest.mark.parametrize("text", ["", "x", " - ", "1 2 3 4 - nfs", "\0\n\0"])
def test_a_mount_table_that_says_nothing_names_nothing(text: str) -> None:
    assert shared_file_system(text, "/p") is None
