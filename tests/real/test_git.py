"""Holds that what people do with git every day loses nothing and raises no alarm (P11): the records lie where no reset,
stash, checkout, clean or collection reaches, and what a pass rests on is judged by content."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from tests.real.project import PROOF, Project


def _work_on(project: Project) -> None:
    """A second commit and something that is not committed."""
    (project.folder / "cart.py").write_text("lines = []\n", encoding="utf-8")
    project.git("add", "cart.py")
    project.git("commit", "--quiet", "-m", "second")
    (project.folder / "cart.py").write_text("lines = [1]\n", encoding="utf-8")
    (project.folder / "notes.txt").write_text("not tracked\n", encoding="utf-8")


EVERYDAY: dict[str, Callable[[Project], object]] = {
    "reset --hard": lambda project: project.git("reset", "--quiet", "--hard", "HEAD~1"),
    "stash -u": lambda project: project.git("stash", "--quiet", "-u"),
    "stash -a": lambda project: project.git("stash", "--quiet", "--all"),
    "clean -fdx": lambda project: project.git("clean", "--quiet", "-ffdx"),
    "checkout --detach": lambda project: project.git("checkout", "--quiet", "--force", "--detach", "HEAD~1"),
    "switch --orphan": lambda project: [
        project.git("stash", "--quiet"),
        project.git("switch", "--quiet", "--orphan", "empty"),
        project.git("checkout", "--quiet", "main", "--", PROOF),
    ],
    "gc": lambda project: [
        project.git("reflog", "expire", "--expire=now", "--all"),
        project.git("gc", "--quiet", "--aggressive", "--prune=now"),
    ],
    "repack and pack-refs": lambda project: [project.git("repack", "-adq"), project.git("pack-refs", "--all")],
    "merge with a conflict left": lambda project: [
        project.git("commit", "--quiet", "-am", "third"),
        project.git("checkout", "--quiet", "-b", "other", "HEAD~1"),
        (project.folder / "cart.py").write_text("lines = [2]\n", encoding="utf-8"),
        project.git("commit", "--quiet", "-am", "fourth"),
        project.git("-c", "alias.try=!git merge main || true", "try"),
    ],
}


@pytest.mark.requirement("P11")
@pytest.mark.parametrize("act", EVERYDAY)
def test_everyday_git_loses_nothing_and_alarms_nobody(project: Project, act: str) -> None:
    first, second, third = project.freeze("checkout", 3)
    assert project.mark("checkout", first).status == 0
    assert project.tally("ledger", "fail", "checkout", second, "--error", "not yet").status == 0
    _work_on(project)
    records = project.records("checkout")
    EVERYDAY[act](project)
    assert project.records("checkout") == records
    assert project.passing("checkout") == {first}
    audit = project.audit()
    assert (audit.status, audit.document) == (0, {"holds": True, "anchored": True, "findings": []}), act
    marked = project.mark("checkout", third)
    assert (marked.status, marked.err) == (0, "")
    assert project.passing("checkout") == {first, third}
    assert project.audit().status == 0


@pytest.mark.requirement("P10", "P11")
def test_an_old_branch_shows_what_is_to_be_run_again_and_the_way_back_makes_it_hold(project: Project) -> None:
    (name,) = project.freeze("checkout", 1)
    project.git("branch", "old")
    (project.folder / PROOF).write_text("seen once more\n", encoding="utf-8")
    project.git("commit", "--quiet", "-am", "second")
    assert project.mark("checkout", name).status == 0
    project.git("checkout", "--quiet", "old")
    assert project.rows("checkout")[name]["state"] == "stale"
    assert project.audit().document == {"holds": True, "anchored": True, "findings": []}
    project.git("checkout", "--quiet", "main")
    assert project.passing("checkout") == {name}


@pytest.mark.requirement("P16")
def test_the_whole_story_leaves_index_branches_and_work_tree_alone(project: Project) -> None:
    before = (project.git("for-each-ref"), project.git("ls-files", "--stage"))
    first, second = project.freeze("checkout", 2)
    project.mark("checkout", first)
    project.done("ledger", "fail", "checkout", second, "--error", "not yet")
    project.done("abandon", "checkout", "--reason", "replaced")
    assert project.audit().status == 0
    assert (project.git("for-each-ref"), project.git("ls-files", "--stage")) == before
    (segment,) = project.git("status", "--porcelain", "--untracked-files=all").splitlines()
    assert segment.startswith("?? .tallystick/journal/checkout/")


@pytest.mark.requirement("P11")
@pytest.mark.parametrize("format_", ["sha1", "sha256"])
def test_a_cited_commit_outlives_every_branch_and_collection(project: Project, format_: str) -> None:
    shutil.rmtree(project.folder)
    project = Project.made(project.folder, None, f"--object-format={format_}")
    first, second = project.freeze("checkout", 2)
    shas = []
    for name in ("cited", "forgotten"):
        project.git("checkout", "--quiet", "-b", name, "main")
        project.git("commit", "--quiet", "--allow-empty", "-m", name)
        shas.append(project.git("rev-parse", "HEAD").strip())
    cited, forgotten = shas
    project.done("ledger", "pass", "checkout", first, "--evidence", f"commit:{cited[:12]}")
    project.git("checkout", "--quiet", "main")
    project.git("branch", "--quiet", "-D", "cited", "forgotten")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "--quiet", "--prune=now")
    assert project.git("cat-file", "-t", cited) == "commit\n"
    assert project.passing("checkout") == {first}
    gone = project.tally("ledger", "pass", "checkout", second, "--evidence", f"commit:{forgotten}")
    assert gone.status == 1
    assert "is no commit of this repository" in gone.err
    kept = project.git("for-each-ref", "--format=%(refname)", "refs/tallystick").split()
    assert kept == [f"refs/tallystick/keep/{cited}"]
    assert project.audit().status == 0


@pytest.mark.requirement("P10")
def test_a_cited_commit_that_was_lost_is_to_be_run_again(project: Project) -> None:
    """Somebody took our reference away and collected: the pass is not broken, it is to be run again."""
    (name,) = project.freeze("checkout", 1)
    project.git("commit", "--quiet", "--allow-empty", "-m", "cited")
    cited = project.git("rev-parse", "HEAD").strip()
    project.done("ledger", "pass", "checkout", name, "--evidence", f"commit:{cited}")
    project.git("reset", "--quiet", "--hard", "HEAD~1")
    project.git("update-ref", "-d", f"refs/tallystick/keep/{cited}")
    project.git("reflog", "expire", "--expire=now", "--all")
    project.git("gc", "--quiet", "--prune=now")
    assert project.rows("checkout")[name]["state"] == "stale"
    assert project.audit().status == 0


@pytest.mark.requirement("P11")
def test_a_store_that_was_deleted_is_made_anew_with_nothing_carried_over(project: Project) -> None:
    (name,) = project.freeze("checkout", 1)
    project.mark("checkout", name)
    shutil.rmtree(project.store)
    shutil.rmtree(project.folder / ".tallystick")
    status = project.tally("status")
    assert (status.status, status.err) == (0, "")
    assert "no records yet" in status.out  # the view of before still lies in the tree
    begun = project.tally("ledger", "init", "checkout", "-", given=b"- [ ] N1 a new beginning\n")
    assert begun.status == 0
    assert "an earlier store was at this place" in begun.err
    assert "nothing was carried over" in begun.err
    assert project.passing("checkout") == set()
    assert list(project.rows("checkout")) == ["N1"]
    audit = project.audit()
    assert (audit.status, audit.document["holds"]) == (0, True)
    assert ["earlier store" in finding["says"] for finding in audit.document["findings"]] == [True]
    assert project.mark("checkout", "N1").err == "", "the note stands in one answer and in the audit"


@pytest.mark.requirement("P11")
def test_one_journal_file_that_was_deleted_is_a_roll_back(project: Project) -> None:
    """The other side of the same coin: the store is there, the records are not."""
    (name,) = project.freeze("checkout", 1)
    project.mark("checkout", name)
    shutil.rmtree(project.store / "journal" / "checkout")
    for words in (("audit",), ("status",), ("ledger", "show", "checkout")):
        said = project.tally(*words)
        assert said.status == 8, said
        assert "written here" in said.err + said.out
    assert project.mark("checkout", name).status == 8
