"""Holds that a place is what git says it is (D2, D6): worktrees share one store, submodules have their own, and a move,
a copy, another home, a container or a new clone loses nothing and is never called tampering (P6, P11)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real.project import PROOF, Project, run
from yard.probes import program


def _sound(project: Project) -> None:
    """Everything holds. A view in another tree or at another path may be behind, which is a note."""
    audit = project.audit()
    assert (audit.status, audit.document["holds"]) == (0, True), audit
    assert {finding["code"] for finding in audit.document["findings"]} <= {"view.behind"}, audit


def _home(folder: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(folder)}


@pytest.mark.requirement("P4")
def test_five_worktrees_see_one_anothers_marks_at_once(project: Project, tmp_path: Path) -> None:
    names = project.freeze("checkout", 5)
    trees = []
    for number in range(5):
        folder = tmp_path / f"tree {number}"
        project.git("worktree", "add", "--quiet", "--detach", str(folder))
        trees.append(project.at(folder))
    for number, (tree, name) in enumerate(zip(trees, names, strict=True)):
        assert tree.mark("checkout", name).status == 0
        assert trees[(number + 1) % 5].passing("checkout") == set(names[: number + 1])
    assert [one.passing("checkout") for one in (project, *trees)] == [set(names)] * 6
    assert {one.store for one in (project, *trees)} == {project.store}
    _sound(project)
    _sound(trees[0])
    project.git("worktree", "remove", "--force", str(trees[0].folder))
    assert project.passing("checkout") == set(names)
    _sound(project)


@pytest.mark.requirement("P11")
def test_a_moved_repository(project: Project, tmp_path: Path) -> None:
    first, second = project.freeze("checkout", 2)
    project.mark("checkout", first)
    records = project.records("checkout")
    there = project.at(project.folder.rename(tmp_path / "moved here"))
    assert there.records("checkout") == records
    assert there.passing("checkout") == {first}
    _sound(there)
    assert there.mark("checkout", second).status == 0
    assert there.passing("checkout") == {first, second}
    _sound(there)


@pytest.mark.requirement("P11")
def test_a_copied_repository_and_its_original_go_their_own_ways(project: Project, tmp_path: Path) -> None:
    first, second, third = project.freeze("checkout", 3)
    project.mark("checkout", first)
    run(["cp", "-a", str(project.folder), str(tmp_path / "copy")], tmp_path, check=True)
    copy = project.at(tmp_path / "copy")
    assert copy.mark("checkout", second).status == 0
    assert project.mark("checkout", third).status == 0
    assert copy.passing("checkout") == {first, second}
    assert project.passing("checkout") == {first, third}
    _sound(copy)
    _sound(project)


@pytest.mark.requirement("P6", "P11")
def test_another_home_without_a_key_reads_and_writes_after_init(project: Project, tmp_path: Path) -> None:
    first, second = project.freeze("checkout", 2)
    project.mark("checkout", first)
    guest = project.at(project.folder, _home(tmp_path / "guest"))
    for words in (("status",), ("ledger", "show", "checkout"), ("audit",)):
        said = guest.tally(*words)
        assert said.status == 0, said
        assert "not checkable here" in said.out + said.err
        assert "tamper" not in (said.out + said.err).lower()
    assert guest.rows("checkout")[first]["passes"] is True  # shown as recorded, and counted by no gate
    assert guest.tally("status", "--check").status == 3
    refused = guest.mark("checkout", second)
    assert (refused.status, refused.out) == (1, "")
    assert "tallystick init" in refused.err
    assert not (tmp_path / "guest").exists()
    guest.done("init")
    assert guest.mark("checkout", second).status == 0
    assert {name: row["state"] for name, row in guest.rows("checkout").items()} == {first: "elsewhere", second: "holds"}
    assert {name: row["state"] for name, row in project.rows("checkout").items()} == {
        first: "holds",
        second: "elsewhere",
    }
    _sound(project)
    assert guest.tally("ledger", "fail", "checkout", first, "--error", "not in this container").status == 0
    _sound(project)  # what the other home wrote into the view is no edit by hand
    assert project.tally("ledger", "fail", "checkout", second, "--error", "not on this machine").status == 0
    _sound(guest)


@pytest.mark.requirement("P6", "P11")
def test_another_home_with_the_same_key(project: Project, tmp_path: Path) -> None:
    first, second = project.freeze("checkout", 2)
    project.mark("checkout", first)
    (tmp_path / "other" / "tallystick").mkdir(parents=True, mode=0o700)
    shutil.copy2(Path(os.environ["XDG_STATE_HOME"], "tallystick", "key"), tmp_path / "other" / "tallystick" / "key")
    other = project.at(project.folder, _home(tmp_path / "other"))
    assert other.passing("checkout") == {first}
    assert other.mark("checkout", second).status == 0
    assert project.passing("checkout") == other.passing("checkout") == {first, second}
    assert project.audit().status == other.audit().status == 0


@contextmanager
def _bound(folder: Path, at: Path) -> Iterator[None]:
    at.mkdir()
    subprocess.run([str(program("mount")), "--bind", folder, at], check=True)
    try:
        yield
    finally:
        subprocess.run([str(program("umount")), at], check=True)


@pytest.mark.needs("loop mounts")
@pytest.mark.requirement("P11")
def test_a_containers_path(project: Project, tmp_path: Path) -> None:
    """The same bytes under another path, as a container mounts them: with the home, and with one that is empty."""
    first, second, third = project.freeze("checkout", 3)
    project.mark("checkout", first)
    with _bound(project.folder, tmp_path / "workspace"):
        inside = project.at(tmp_path / "workspace")
        assert inside.passing("checkout") == {first}
        _sound(inside)
        assert inside.mark("checkout", second).status == 0
        assert project.mark("checkout", third).status == 0
        assert inside.passing("checkout") == project.passing("checkout") == {first, second, third}
        assert inside.audit().status == project.audit().status == 0
        empty = inside.at(inside.folder, _home(tmp_path / "nobody"))
        assert "not checkable here" in empty.done("status").err
    assert project.passing("checkout") == {first, second, third}
    assert project.audit().status == 0


@pytest.mark.requirement("P11")
@pytest.mark.parametrize("tracked", [False, True], ids=["view ignored", "view tracked"])
def test_a_new_clone_has_no_records_and_says_so_in_one_line(project: Project, tmp_path: Path, tracked: bool) -> None:
    (name,) = project.freeze("checkout", 1)
    project.mark("checkout", name)
    if tracked:
        project.git("add", "--force", ".agent/tasks/checkout/feature_list.json")
        project.git("commit", "--quiet", "-m", "the view is ours to track")
    project.git("clone", "--quiet", str(project.folder), str(tmp_path / "clone"))
    clone = project.at(tmp_path / "clone")
    said = clone.done("status")
    (line,) = [line for line in said.out.splitlines() if ("no records yet" if tracked else "No criteria yet") in line]
    assert ("files of checkout" in line) == tracked
    assert said.err == ""
    _sound(clone)
    shown = clone.tally("ledger", "show", "checkout")
    assert shown.status == 1
    assert "there is no ledger of checkout here" in shown.err
    assert clone.done("ledger", "init", "checkout", "-", given=f"- [ ] {name} here too\n".encode()).status == 0
    assert clone.passing("checkout") == set(), "a tick in a file that came with the clone is no pass"


@pytest.mark.requirement("P11")
def test_a_submodule_has_its_own_store(project: Project, tmp_path: Path) -> None:
    library = Project.made(tmp_path / "library")
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.folder), "lib")
    project.git("commit", "--quiet", "-m", "with a library")
    (outer,) = project.freeze("checkout", 1)
    inner = project.at(project.folder / "lib")
    (name,) = inner.freeze("parsing", 1)
    assert inner.mark("parsing", name).status == 0
    assert inner.store == project.store.parent / "modules" / "lib" / "tallystick"
    assert inner.done("status", "--json").document["store"] == str(inner.store)
    assert project.passing("checkout") == set()
    assert [row["feature"] for row in project.done("status", "--json").document["features"]] == ["checkout"]
    assert project.git("status", "--porcelain", "--ignore-submodules=untracked") == "?? .tallystick/\n"
    _sound(inner)
    _sound(project)
    assert project.mark("checkout", outer).status == 0


@pytest.mark.requirement("P11")
def test_a_bare_repository_cites_commits(project: Project, tmp_path: Path) -> None:
    project.git("clone", "--quiet", "--bare", str(project.folder), str(tmp_path / "shop.git"))
    bare = project.at(tmp_path / "shop.git")
    (name,) = bare.freeze("checkout", 1)
    refused = bare.mark("checkout", name)
    assert refused.status == 1
    assert "a bare repository has no files to cite" in refused.err
    head = bare.git("rev-parse", "HEAD").strip()
    bare.done("ledger", "pass", "checkout", name, "--evidence", f"commit:{head}")
    assert bare.passing("checkout") == {name}
    assert bare.done("status", "--json").document["kind"] == "bare"
    assert not (bare.folder / ".agent").exists()
    _sound(bare)


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)], ids=["unborn", "unborn sha256"])
def test_an_unborn_branch(tmp_path: Path, options: tuple[str, ...]) -> None:
    project = Project(tmp_path / "new")
    project.folder.mkdir()
    project.git("init", "--quiet", *options)
    (project.folder / PROOF).write_text("seen\n", encoding="utf-8")
    (name,) = project.freeze("checkout", 1)
    assert project.mark("checkout", name).status == 0
    assert project.passing("checkout") == {name}
    assert project.records("checkout")[0]["data"]["commit"] is None
    _sound(project)


def test_a_repository_in_a_format_that_this_git_cannot_read(project: Project) -> None:
    """References kept in another format (reftable, on a git that is too old): files can still be cited."""
    first, second = project.freeze("checkout", 2)
    head = project.git("rev-parse", "HEAD").strip()
    (project.folder / ".git" / "reftable").mkdir()
    (project.folder / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n", encoding="utf-8")
    project.git("config", "core.repositoryformatversion", "1")
    project.git("config", "extensions.refstorage", "unheard-of")
    assert project.mark("checkout", first).status == 0
    refused = project.tally("ledger", "pass", "checkout", second, "--evidence", f"commit:{head}")
    assert (refused.status, refused.out) == (1, "")
    assert project.passing("checkout") == {first}
    _sound(project)


def test_no_git_at_all(tmp_path: Path) -> None:
    project = Project(tmp_path / "plain", {"GIT_CEILING_DIRECTORIES": str(tmp_path)})
    (project.folder / "deep").mkdir(parents=True)
    (project.folder / PROOF).write_text("seen\n", encoding="utf-8")
    (name,) = project.freeze("checkout", 1)
    assert project.at(project.folder / "deep").mark("checkout", name).status == 0
    assert project.passing("checkout") == {name}
    assert project.done("status", "--json").document["store"] == str(project.folder / ".tallystick" / "store")
    _sound(project)


@pytest.mark.requirement("P11", "P16")
def test_a_hook_of_git_calls_us(project: Project, tmp_path: Path) -> None:
    """A real hook, in which git sets GIT_DIR, GIT_INDEX_FILE and more: the mark lands where the hook stands."""
    first, second = project.freeze("checkout", 2)
    folder = tmp_path / "linked"
    project.git("worktree", "add", "--quiet", "-b", "linked", str(folder))
    hook = project.folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\n"
        "env | grep ^GIT_ > hook.env\n"
        'cited="commit:$(git rev-parse HEAD)"\n'
        'exec "$PYTHON" -m tallystick ledger pass checkout "$CRITERION" --evidence "$cited"\n',
        encoding="utf-8",
    )
    hook.chmod(0o755)

    for where, name in ((project.folder, first), (folder, second)):
        tree = project.at(where, {"PYTHON": sys.executable, "CRITERION": name, "GIT_WORK_TREE": str(where)})
        tree.env["GIT_DIR"] = tree.at(where, {}).git("rev-parse", "--absolute-git-dir").strip()
        tree.git("commit", "--quiet", "--allow-empty", "-m", "through the hook")
        seen = (where / "hook.env").read_text(encoding="utf-8")
        assert "GIT_INDEX_FILE=" in seen
        assert "GIT_DIR=" in seen
        assert "GIT_WORK_TREE=" in seen
        (where / "hook.env").unlink()
    assert project.passing("checkout") == {first, second}
    _sound(project)


@pytest.mark.requirement("P16")
def test_variables_of_git_that_name_another_repository_mislead_nobody(project: Project, tmp_path: Path) -> None:
    (name,) = project.freeze("checkout", 1)
    project.git("commit", "--quiet", "--allow-empty", "-m", "cited")
    head = project.git("rev-parse", "HEAD").strip()
    stranger = Project.made(tmp_path / "stranger")
    misled = project.at(
        project.folder,
        {
            "GIT_DIR": str(stranger.folder / ".git"),
            "GIT_WORK_TREE": str(stranger.folder),
            "GIT_INDEX_FILE": str(stranger.folder / ".git" / "index"),
            "GIT_OBJECT_DIRECTORY": str(stranger.folder / ".git" / "objects"),
            "GIT_COMMON_DIR": str(stranger.folder / ".git"),
            "GIT_NAMESPACE": "elsewhere",
        },
    )
    misled.done("ledger", "pass", "checkout", name, "--evidence", f"commit:{head}")
    assert misled.done("status", "--json").document["store"] == str(project.store)
    assert project.passing("checkout") == {name}
    assert project.git("for-each-ref", "--format=%(refname)", "refs/tallystick") == f"refs/tallystick/keep/{head}\n"
    assert stranger.git("for-each-ref", "refs/tallystick", "refs/namespaces") == ""
    assert not stranger.store.exists()
    _sound(project)
