"""Holds what the machine may lack: a disk that cannot be written, a home, a repository, a clock that goes forward, a
lock that is free, the right version. Each is one line with a next step, and nothing is changed (P6, P17, P20)."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tallystick.system.files import OsFiles
from tests.desk import COMMIT, FEATURE, Desk, changes
from tests.inputs.commands import MORE, PERSONS, READING, WRITING
from tests.simdisk import Tap
from tests.simdisk.tap import Attempt

_CHANGING = {"mkdir", "rename", "link", "unlink", "write", "pwrite", "truncate"}


class ReadOnly(Tap):
    """A disk on which nothing below `folder` can be written."""

    def __init__(self, folder: Path, code: int) -> None:
        super().__init__(OsFiles())
        self._folder = str(folder)
        self._code = code

    def intercept(self, attempt: Attempt) -> Any:
        """Refuse what would change something there."""
        writing = attempt.name == "open" and attempt.args[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if (writing or attempt.name in _CHANGING) and attempt.path.startswith(self._folder):
            raise OSError(self._code, os.strerror(self._code), attempt.path)
        return super().intercept(attempt)


# -- a disk that cannot be written ------------------------------------------------------------------------------------


@pytest.mark.requirement("F5.2", "P6")
@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EPERM])
@pytest.mark.parametrize("what", ["store", "home", "both"])
def test_a_store_or_home_that_cannot_be_written_is_read_as_ever(desk: Desk, code: int, what: str) -> None:
    desk.put("more.md", MORE)
    folder = {"store": desk.store, "home": desk.home, "both": desk.base}[what]
    before = desk.tree()
    for words in READING:
        said = desk.run(*words, files=ReadOnly(folder, code))
        assert said == desk.run(*words), words
        assert said.status == (3 if "--check" in words else 0)
    for words in WRITING:
        error = desk.refused(*words, files=ReadOnly(folder, code))
        assert (error.code, str(folder) in error.message) == ("store.readonly", True), error
    for words in PERSONS:
        assert desk.refused(*words, person=True, files=ReadOnly(folder, code)).code == "store.readonly"
    assert desk.tree() == before


@pytest.mark.requirement("P12")
def test_a_role_that_may_not_is_told_so_even_where_no_trace_can_be_left(desk: Desk) -> None:
    for words in PERSONS:
        assert desk.refused(*words, files=ReadOnly(desk.store, errno.EROFS)).code == "role.denied"


def test_a_tree_that_cannot_be_written_takes_nothing_from_the_mark(desk: Desk) -> None:
    said = desk.run("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt", files=ReadOnly(desk.view.parent, 30))
    assert (said.status, "note: " in said.err, str(desk.view) in said.err) == (0, True, True)
    assert desk.counted() == ["AC1", "AC3"]
    desk.ok("ledger", "fail", "AC2", "--error", "again")
    assert json.loads(desk.view.read_bytes())["features"][2]["passes"]


@pytest.mark.requirement("F5.2")
@pytest.mark.parametrize("what", ["store", "home"])
def test_a_first_write_where_nothing_can_be_made_leaves_no_store(empty: Desk, what: str) -> None:
    folder = {"store": empty.folder, "home": empty.home}[what]
    before = empty.tree()
    said = empty.run("ledger", "init", FEATURE, "criteria.md", "--json", files=ReadOnly(folder, errno.EROFS))
    assert said.document["error"]["code"] == {"store": "store.readonly", "home": "home.unwritable"}[what]
    made = ("", "/tallystick", "/tallystick/key", "/tallystick/.gitignore")  # `tallystick init` would have, too
    key = {f"state{name}" for name in made}
    assert set(changes(before, empty.tree())) <= key


@pytest.mark.needs("read-only mounts")
def test_a_store_on_a_mount_that_is_read_only(desk: Desk) -> None:
    """The real thing, in a mount space of its own."""
    desk.put("more.md", MORE)
    lines = [
        f'mount --bind -o ro "{desk.store}" "{desk.store}" && mount -o remount,bind,ro "{desk.store}" || exit 99',
        'for one in "status" "ledger show" "ledger failing" "audit"; do "$@" $one > /dev/null || exit 98; done',
        '"$@" ledger pass AC3 --evidence proof.txt --json; exit $?',
    ]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", "\n".join(lines), "sh", sys.executable, "-m", "tallystick"],
        cwd=desk.folder,
        env={**os.environ, **desk.env()},
        capture_output=True,
    )
    assert done.returncode == 1, done
    assert json.loads(done.stdout)["error"]["code"] == "store.readonly"


# -- places -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("F5.1")
def test_outside_git_the_store_lies_in_the_project(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk", git=False)
    desk.freeze()
    desk.cite("AC1")
    below = desk.put("src/deep/x.py", "x").parent
    assert desk.run("ledger", "show", "--json", folder=below).document["counts"]["passing"] == 1
    assert (desk.findings(), desk.run("status", "--json").document["kind"]) == ([], "plain")


@pytest.mark.parametrize("root", ["nosuch", "proof.txt", "", "criteria.md/x", "x" * 300])
def test_a_root_that_is_no_folder_is_refused(desk: Desk, root: str) -> None:
    for words in (("status",), ("ledger", "show"), ("audit",), ("init",)):
        error = desk.refused(*words, "--root", root)
        assert error.code == "store.place", error
        assert "--root" in error.hint or "shorter" in error.hint


def test_a_root_is_taken_before_and_behind_the_words(desk: Desk) -> None:
    elsewhere = desk.base
    for words in (
        ("--root", str(desk.folder), "ledger", "show"),
        ("ledger", "show", f"--root={desk.folder}"),
        (f"--root={desk.folder}", "ledger", "show", "--json"),
    ):
        assert desk.run(*words, folder=elsewhere).status == 0, words


@pytest.mark.parametrize(
    "text", ["", "hello\n", "gitdir: \n", "gitdir: /nowhere\n", "\0" * 100, "gitdir: ../x\n", "x" * 9000]
)
def test_a_git_file_that_names_no_repository_is_refused(desk: Desk, text: str) -> None:
    inner = desk.put("module/.git", text).parent
    said = desk.run("status", folder=inner)
    assert (said.status, "module/.git" in said.err, said.err.count("\n")) == (1, True, 2), said


@pytest.mark.parametrize("name", ["HEAD", "objects", "refs"])
def test_a_git_folder_that_is_none_is_passed_over(desk: Desk, name: str) -> None:
    inner = desk.folder / "inner"
    (inner / ".git" / name).mkdir(parents=True)
    assert desk.run("status", "--json", folder=inner).document["store"] == str(desk.store)


def test_a_folder_that_is_gone_is_named(desk: Desk) -> None:
    error = desk.refused("status", "--root", str(desk.base / "gone"))
    assert error.code == "store.place"


@pytest.mark.requirement("F5.2")
@pytest.mark.parametrize(
    ("env", "where"),
    [
        ({"XDG_STATE_HOME": ""}, ".local/state/tallystick"),
        ({"XDG_STATE_HOME": "relative/path"}, ".local/state/tallystick"),
        ({"XDG_STATE_HOME": "~/state"}, ".local/state/tallystick"),
    ],
)
def test_a_state_folder_that_is_not_absolute_counts_as_unset(empty: Desk, env: dict[str, str], where: str) -> None:
    said = empty.run("init", "--json", env=env)
    assert said.document["home"] == str(empty.base / where)


@pytest.mark.requirement("F5.2")
def test_without_home_the_password_database_is_asked(empty: Desk) -> None:
    said = empty.run("audit", "--json", env={"HOME": "", "XDG_STATE_HOME": ""})
    assert (said.status, said.document["findings"]) == (0, [])
    said = empty.run("audit", "--json", env={"HOME": "not/absolute", "XDG_STATE_HOME": ""})
    assert (said.status, said.document["error"]["code"]) == (1, "home.unwritable")


def test_init_makes_a_key_once_and_says_where_things_lie(empty: Desk) -> None:
    first = empty.ok("init", "--json").document
    key = (empty.home / "key").read_bytes()
    again = empty.ok("init", "--json").document
    assert ((first["made"], again["made"]), (empty.home / "key").read_bytes()) == ((True, False), key)
    assert not empty.store.exists()
    assert str(empty.store) in empty.ok("init").out


# -- versions and clocks ----------------------------------------------------------------------------------------------


@pytest.mark.requirement("P17")
def test_a_newer_format_is_read_by_nothing_older_and_written_by_nothing_older(desk: Desk) -> None:
    desk.put("more.md", MORE)
    assert desk.run("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt", version=2).status == 0
    assert desk.run("audit", version=2).status == 0
    for words in (*READING, *WRITING):
        error = desk.refused(*words)
        assert (error.code, str(desk.journal) in error.message, "newer" in error.hint) == ("format.newer", True, True)
    for words in PERSONS:
        assert desk.refused(*words, person=True).code == "format.newer"


@pytest.mark.requirement("P17")
def test_a_store_that_a_newer_version_made_is_left_alone(empty: Desk) -> None:
    empty.put("more.md", MORE)
    assert empty.run("ledger", "init", FEATURE, "criteria.md", version=2).status == 0
    for words in (*READING, *WRITING, ("ledger", "init", "refunds", "criteria.md"), ("audit", "--restore")):
        error = empty.refused(*words)
        assert (error.code, str(empty.store / "store-id") in error.message) == ("format.newer", True), error


@pytest.mark.requirement("P17")
def test_an_old_store_opens_in_a_newer_version(desk: Desk) -> None:
    assert desk.run("audit", version=2).status == 0
    assert desk.run("ledger", "show", "--json", version=2).document["counts"]["passing"] == 1
    assert desk.run("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt", version=2).status == 0
    versions = [json.loads(line)["v"] for line in desk.journal.read_bytes().splitlines()]
    assert versions == [1, 1, 1, 2]


@pytest.mark.requirement("F1.19", "P11")
@pytest.mark.parametrize("back_s", [1, 86_400, 40 * 365 * 86_400, 100 * 365 * 86_400])
def test_a_clock_that_was_set_back_changes_no_order_and_no_state(desk: Desk, back_s: int) -> None:
    desk.clock.ns -= back_s * 10**9
    desk.cite("AC3")
    desk.ok("ledger", "fail", "AC2", "--error", "later, and earlier")
    assert desk.counted() == ["AC1", "AC3"]
    records = [json.loads(line) for line in desk.journal.read_bytes().splitlines()]
    assert [one["n"] for one in records] == [1, 2, 3, 4, 5]
    assert records[3]["at"] < records[0]["at"]
    for words in READING:
        assert desk.run(*words).status in (0, 3)
    desk.put("proof.txt", "13 passed\n")
    desk.cite("AC1")
    assert desk.findings() == []


def test_a_clock_far_ahead_is_told_in_days(desk: Desk) -> None:
    desk.clock.ns += 400 * 86_400 * 10**9
    assert "400 d ago" in desk.run("ledger", "get", "AC1").out
    desk.clock.ns -= 800 * 86_400 * 10**9
    assert "in the future" in desk.run("ledger", "get", "AC1").out


# -- locks ------------------------------------------------------------------------------------------------------------


class Taken(Tap):
    """A disk on which somebody else holds the lock `name`."""

    def __init__(self, name: str) -> None:
        super().__init__(OsFiles())
        self._name = name

    def try_lock(self, fd: int) -> bool:
        """Never free."""
        return not self.paths[fd].endswith(self._name) and super().try_lock(fd)


@pytest.mark.requirement("P4", "P5")
def test_a_lock_that_another_holds_is_waited_for_and_then_named(desk: Desk) -> None:
    """Bug reports 12 and 13: no quick success, no theft; the holder's number, and nothing changed."""
    desk.put("more.md", MORE)
    (desk.store / "locks" / FEATURE).write_bytes(b"4242       \n")
    before = desk.tree()
    for words in WRITING:
        said = desk.run(*words, "--json", files=Taken(f"locks/{FEATURE}"))
        error = said.document["error"]
        assert (said.status, error["code"], "process 4242" in error["message"]) == (1, "lock.busy", True), error
        assert error["hint"]
    for words in READING:
        assert desk.run(*words, files=Taken(f"locks/{FEATURE}")) == desk.run(*words)
    assert [name for name in changes(before, desk.tree()) if "/locks/" not in name] == []


def test_how_long_to_wait_can_be_said(desk: Desk) -> None:
    for wait in ("0", "0.5", "60"):
        desk.clock.seconds = 0
        env = {"TALLYSTICK_LOCK_WAIT_S": wait}
        said = desk.run("abandon", "--reason", "x", files=Taken(f"locks/{FEATURE}"), env=env)
        assert said.status == 1
        assert float(wait) <= desk.clock.seconds < float(wait) + 0.1


class Removing(Tap):
    """A disk on which somebody removes the lock file between its opening and its locking, once."""

    def __init__(self, path: Path) -> None:
        super().__init__(OsFiles())
        self._path = path
        self.removed = 0

    def try_lock(self, fd: int) -> bool:
        """Take it, of a file that has no name any more."""
        if self.paths[fd] == str(self._path) and not self.removed:
            self._path.unlink()
            self.removed += 1
        return super().try_lock(fd)


@pytest.mark.requirement("P5", "P4")
def test_a_lock_file_that_is_removed_under_us_guards_nothing_so_another_is_made(desk: Desk) -> None:
    lock = desk.store / "locks" / FEATURE
    disk = Removing(lock)
    said = desk.run("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt", files=disk)
    assert (said.status, disk.removed, lock.exists()) == (0, 1, True)
    assert desk.counted() == ["AC1", "AC3"]


def test_a_commit_that_git_does_not_know_any_more_is_to_be_run_again(desk: Desk) -> None:
    desk.cite("AC3", f"commit:{COMMIT}")
    assert desk.states()["AC3"] == "holds"
    desk.commits.known.clear()
    desk.commits.kept.clear()
    assert desk.states()["AC3"] == "stale"
