"""Holds that submodules are told by their commit, moved or dirty, and that no program of a repository is run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.system.changes import count_lines
from tests.real.phase import Tree


@pytest.fixture
def outer(tmp_path: Path) -> Tree:
    """A repository with a submodule `lib`, and one `embedded` that `.gitmodules` does not name; both checked out."""
    library = Tree(tmp_path / "library")
    library.write("code.c", "int x;\n")
    library.commit()
    made = Tree(tmp_path / "shop")
    made.write("own.c", "int y;\n")
    made.git("submodule", "--quiet", "add", str(library.folder), "lib")
    inner(made, "embedded", new=True).commit()
    made.commit()
    return made


def inner(outer: Tree, name: str, new: bool = False) -> Tree:
    """The repository in a folder of another one."""
    if new:
        return Tree(outer.folder / name)
    found = Tree.__new__(Tree)
    found.folder = outer.folder / name
    return found


def told(tree: Tree, base: str) -> dict[str, tuple[str, str | None, str | None, tuple[str, ...]]]:
    return {one.path: (one.kind, one.digest, one.mode, one.state) for one in tree.changes(base)}


DIRT: dict[str, Callable[[Tree], object]] = {
    "edited": lambda lib: lib.write("code.c", "int z;\n"),
    "untracked": lambda lib: lib.write("new.c", "int n;\n"),
    "staged": lambda lib: [lib.write("new.c", "int n;\n"), lib.git("add", "new.c")],
    "hidden": lambda lib: [lib.git("update-index", "--assume-unchanged", "code.c"), lib.write("code.c", "int z;\n")],
}


@pytest.mark.requirement("O8")
@pytest.mark.parametrize("name", ["lib", "embedded"])
@pytest.mark.parametrize("dirt", DIRT)
def test_a_submodule_with_work_in_it_is_told(outer: Tree, name: str, dirt: str) -> None:
    base = outer.head
    assert told(outer, base) == {}
    lib = inner(outer, name)
    if name == "embedded":
        lib.write("code.c", "int x;\n")
        lib.commit()
        base = outer.commit()
    DIRT[dirt](lib)
    assert told(outer, base) == {name: ("submodule", lib.head, "160000", ("unstaged",))}


@pytest.mark.requirement("O8")
def test_a_submodule_that_moved_is_told_by_its_commit(outer: Tree) -> None:
    base = outer.head
    lib = inner(outer, "lib")
    moved = lib.commit()
    assert told(outer, base) == {"lib": ("submodule", moved, "160000", ("unstaged",))}
    outer.git("add", "lib")
    assert told(outer, base) == {"lib": ("submodule", moved, "160000", ("staged",))}
    outer.git("commit", "--quiet", "-m", "moved")
    assert told(outer, base) == {"lib": ("submodule", moved, "160000", ("committed",))}
    outer.git("config", "submodule.lib.ignore", "all")
    outer.git("config", "diff.ignoreSubmodules", "all")
    assert told(outer, base) == {"lib": ("submodule", moved, "160000", ("committed",))}
    lib.git("checkout", "--quiet", "HEAD~1")
    assert told(outer, base) == {}


def test_submodules_come_and_go(outer: Tree, tmp_path: Path) -> None:
    base = outer.head
    outer.git("mv", "lib", "moved lib")
    outer.git("rm", "--quiet", "--cached", "embedded")
    outer.at("embedded/.git").rename(tmp_path / "away")
    nested = inner(outer, "nested", new=True)
    found = {one.path: (one.kind, one.old, one.digest) for one in outer.changes(base)}
    assert found == {
        ".gitmodules": ("modified", None, found[".gitmodules"][2]),
        "moved lib": ("renamed", "lib", inner(outer, "moved lib").head),
        "embedded": ("deleted", None, None),
        "nested": ("created", None, None),
    }
    nested.write("of its own", "n\n")
    commit = nested.commit()
    assert told(outer, base)["nested"] == ("created", commit, "160000", ("untracked",))


def test_a_submodule_that_is_not_checked_out_is_no_change(outer: Tree) -> None:
    base = outer.head
    outer.git("submodule", "--quiet", "deinit", "--force", "lib")
    found = told(outer, base)
    assert found == {}
    outer.at("embedded/.git").rename(outer.at("embedded/not git"))
    outer.at("embedded/.git").write_text("gitdir: /nowhere\n")
    assert told(outer, base) == {}


@pytest.mark.parametrize("option", ["--index-version=4", "--split-index"])
def test_whatever_form_the_index_has_submodules_and_flags_are_found(outer: Tree, option: str) -> None:
    base = outer.head
    outer.git("update-index", option)
    outer.git("update-index", "--skip-worktree", "own.c")
    outer.write("own.c", "hidden\n")
    inner(outer, "lib").write("code.c", "dirty\n")
    assert {path: row[0] for path, row in told(outer, base).items()} == {"lib": "submodule", "own.c": "modified"}
    outer.git("update-index", "--no-skip-worktree", "own.c")
    assert set(told(outer, base)) == {"lib", "own.c"}


def trap(tree: Tree, program: Path) -> None:
    """Name the program in every setting by which git would run it while it looks at a tree."""
    tree.git("config", "core.fsmonitor", str(program))
    tree.git("config", "core.hooksPath", str(program.parent))
    tree.git("config", "diff.external", str(program))
    tree.git("config", "filter.a=b.c.clean", str(program))
    for driver in ("filter.x", "filter.y"):
        tree.git("config", f"{driver}.required", "true")
        tree.git("config", f"{driver}.{'clean' if driver == 'filter.x' else 'process'}", str(program))
    for name in ("textconv", "command"):
        tree.git("config", f"diff.x.{name}", str(program))
    attributes = "*.c filter=x diff=x\n*.h filter=y diff=x\n*.z filter=a=b.c\n"
    (tree.folder / ".gitattributes").write_text(attributes)


@pytest.mark.requirement("P16")
def test_no_program_of_the_repository_or_of_a_submodule_is_run(outer: Tree, tmp_path: Path) -> None:
    program, ran = tmp_path / "hooks" / "post-index-change", tmp_path / "ran"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho ran >> "{ran}"\nexit 0\n')
    program.chmod(0o755)
    lib = inner(outer, "lib")
    for tree in (outer, lib):
        for name in ("a.c", "a.h", "a.z"):
            tree.write(name, "0\n")
    lib.commit()
    base = outer.commit()
    for tree in (outer, lib):
        trap(tree, program)
        for name in ("a.c", "a.h", "a.z"):
            tree.write(name, "1\n")
            os.utime(tree.at(name), (1, 1))
    outer.write("b.c", "2\n")
    found = count_lines(outer.asked(), base, outer.changes(base))
    assert not ran.exists()
    assert {one.path: one.kind for one in found} == {
        ".gitattributes": "created",
        **dict.fromkeys(("a.c", "a.h", "a.z"), "modified"),
        "b.c": "created",
        "lib": "submodule",
    }
    assert {one.path: (one.added, one.removed) for one in found if one.kind == "modified"} == dict.fromkeys(
        ("a.c", "a.h", "a.z"), (1, 1)
    )
    outer.git("-c", f"alias.try=!git diff {base} || true", "try")
    assert ran.exists(), "git itself falls into the trap"
