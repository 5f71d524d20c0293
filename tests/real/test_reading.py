"""Holds that looking changes nothing (P16) and runs nothing out of the repository (P13): every byte and every time
stamp of work tree, git folder, store and home stays, whatever state they are in, and no hook, monitor, filter or alias
of the repository ever runs, neither while looking nor while marking."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.real.project import PROOF, Project

READING = (
    ("status",),
    ("status", "--json"),
    ("status", "--line"),
    ("status", "--check"),
    ("ledger", "show", "checkout"),
    ("ledger", "failing", "checkout"),
    ("ledger", "get", "checkout", "C0001"),
    ("brief",),
    ("audit",),
    ("version",),
    ("completions", "bash"),
    ("--help",),
)


class Lies(NamedTuple):
    """How one name lies there: kind and permissions, the time of the last change, the bytes."""

    mode: int
    changed: int
    content: bytes


def _everything(*tops: Path) -> dict[Path, Lies]:
    """Every name below these folders, and the folders themselves, whose time tells of names that came and went."""
    found = {}
    for top in tops:
        for path in (top, *top.rglob("*")):
            status = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
            found[path] = Lies(status.st_mode, status.st_mtime_ns, content)
    return found


def _view(project: Project) -> Path:
    return project.folder / ".agent" / "tasks" / "checkout" / "feature_list.json"


def _torn(project: Project) -> None:
    (journal,) = (project.store / "journal" / "checkout").iterdir()
    with journal.open("ab") as file:
        file.write(b'{"at":"20')


def _behind(project: Project) -> None:
    old = _view(project).read_bytes()
    project.mark("checkout", "C0002")
    _view(project).write_bytes(old)


def _edited(project: Project) -> None:
    text = _view(project).read_text(encoding="utf-8")
    _view(project).write_text(text.replace('"passes": false', '"passes": true'), encoding="utf-8")


def _without_caches(project: Project) -> None:
    for name in ("cache", "locks"):
        (project.store / name).rename(project.store / f"{name}.moved")


STATES: dict[str, Callable[[Project], object]] = {
    "as it was written": lambda project: None,
    "a torn record": _torn,
    "a view that is behind": _behind,
    "a view edited by hand": _edited,
    "no view": lambda project: _view(project).unlink(),
    "a view that cannot be read": lambda project: _view(project).write_bytes(b"{"),
    "no caches, no locks": _without_caches,
    "a stale index": lambda project: os.utime(project.folder / PROOF, (1, 1)),
}


@pytest.mark.requirement("P16")
@pytest.mark.parametrize("state", STATES)
def test_looking_changes_nothing(project: Project, home: Path, state: str) -> None:
    names = project.freeze("checkout", 3)
    project.mark("checkout", names[0])
    STATES[state](project)
    porcelain = project.git("--no-optional-locks", "status", "--porcelain", "--ignored")
    before = _everything(project.folder, home)
    for words in READING:
        said = project.tally(*words)
        assert said.status in (0, 3, 8), said
        assert _everything(project.folder, home) == before, words
    assert project.git("--no-optional-locks", "status", "--porcelain", "--ignored") == porcelain


@pytest.mark.requirement("P16")
def test_looking_makes_neither_store_nor_home(project: Project, home: Path) -> None:
    before = _everything(project.folder, home)
    for words in READING:
        project.tally(*words)
        assert _everything(project.folder, home) == before, words


@pytest.mark.requirement("P16")
def test_looking_from_a_home_without_a_key_makes_none(project: Project, tmp_path: Path) -> None:
    names = project.freeze("checkout", 2)
    project.mark("checkout", names[0])
    guest = project.at(project.folder, {"XDG_STATE_HOME": str(tmp_path / "guest")})
    before = _everything(project.folder)
    for words in READING:
        guest.tally(*words)
    assert _everything(project.folder) == before
    assert not (tmp_path / "guest").exists()


def _trap(project: Project, trace: Path) -> None:
    """Everything in a repository's own settings that could run, each leaving its name in `trace`."""

    def script(name: str) -> str:
        path = project.folder / ".git" / "traps" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\necho {name} >> "{trace}"\ncat\n', encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    hooks = project.folder / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-index-change", "post-checkout", "pre-auto-gc", "post-rewrite"):
        (hooks / name).write_text(f'#!/bin/sh\necho {name} >> "{trace}"\n', encoding="utf-8")
        (hooks / name).chmod(0o755)
    (project.folder / ".git" / "info").mkdir(exist_ok=True)
    (project.folder / ".git" / "info" / "attributes").write_text("* filter=trap diff=trap\n", encoding="utf-8")
    for key in ("filter.trap.clean", "filter.trap.smudge", "diff.trap.textconv", "diff.external"):
        project.git("config", key, script(key))
    for key in ("core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "gpg.program", "credential.helper"):
        project.git("config", key, script(key))
    for name in ("rev-parse", "update-ref", "status"):
        project.git("config", f"alias.{name}", f"!{script('alias')}")
    project.git("config", "core.fsync", "all")


@pytest.mark.requirement("P13")
def test_nothing_out_of_the_repository_runs(project: Project, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    names = project.freeze("checkout", 3)
    head = project.git("rev-parse", "HEAD").strip()
    _trap(project, trace)
    os.utime(project.folder / PROOF, (1, 1))
    for words in READING:
        project.tally(*words)
    project.done("ledger", "init", "later", "-", given=b"- [ ] L1 later\n")
    project.done("ledger", "pass", "checkout", names[0], "--evidence", PROOF)
    project.done("ledger", "pass", "checkout", names[1], "--evidence", f"commit:{head}")
    project.done("ledger", "fail", "checkout", names[2], "--error", "not yet")
    project.done("ledger", "show", "checkout")
    project.done("init")
    project.done("audit", "--restore")
    assert not trace.exists(), trace.read_text(encoding="utf-8")


def test_the_traps_are_live(project: Project, tmp_path: Path) -> None:
    """The control: git itself, asked for the same, runs what the repository says."""
    trace = tmp_path / "trace"
    _trap(project, trace)
    os.utime(project.folder / PROOF, (1, 1))
    project.git("status")
    project.git("update-ref", "refs/heads/other", "HEAD")
    ran = trace.read_text(encoding="utf-8").split()
    assert {"core.fsmonitor", "filter.trap.clean", "reference-transaction"} <= set(ran)
