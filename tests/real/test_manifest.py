"""Holds the manifest on a real repository: what a phase changed is listed as git would, with digests, whatever the
names are; what an agent claimed and did not do is marked; a reader that knows nothing of us reads what we write."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.real.phase import UGLY, Tree, digest
from tests.real.project import Project, Said, run

FEATURE = "auth-feature-abc123"
OUTPUTS = f".jonggrang/.output/features/{FEATURE}"
READER = Path(__file__).with_name("seed_reader.py")
RUN = "import sys; sys.path.insert(0, {!r}); from tallystick.faces.cli.main import run; sys.exit(run())"


class Work:
    """A repository with some files, and the command line run in it."""

    def __init__(self, folder: Path) -> None:
        self.tree = Tree(folder)
        self.project = Project(folder)
        for name in ("edit", "gone", "moved", "tool", "lost"):
            self.tree.write(name, "".join(f"{name} {number}\n" for number in range(40)))
        self.base = self.tree.commit("first")

    def tally(self, *words: str, **more: Any) -> Said:
        """Run the command line; it must end well."""
        said = self.project.tally(*words, **more)
        assert said.status == 0, said
        return said

    def phase(self, name: str) -> Any:
        """The row of one phase as `manifest show --json` has it."""
        [row] = self.tally("manifest", "show", "--phase", name, "--json").document["phases"]
        return row

    def hand_over(self, name: str, number: float, role: str, payload: dict[str, Any]) -> None:
        """An agent writes an output itself, as the seed says."""
        document = {
            "jonggrang-output": True, "feature_id": FEATURE, "phase": number, "role": role, "task_id": "task-001",
            "agent_id": f"{role}-auth-001", "timestamp": "2024-01-01T00:00:00Z", "status": "completed",
            "output": payload,
        }  # fmt: skip
        self.tree.write(f"{OUTPUTS}/{name}", json.dumps(document))


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "shop")


def path_of(row: dict[str, Any]) -> str:
    """The path as the system has it."""
    raw = row["path_bytes"]
    return os.fsdecode(base64.b64decode(raw)) if raw is not None else str(row["path"])


def scripted(tree: Tree) -> None:
    """A phase that commits, stages, edits, adds, deletes and renames, under ugly names."""
    for place, name in enumerate(UGLY.values()):
        tree.write(name, f"text {place}\n" * 9)
    tree.git("mv", "moved", "was moved")
    tree.commit()
    tree.write("edit", "one line\n")
    tree.git("add", "edit")
    tree.git("rm", "--quiet", "lost")
    tree.at("gone").unlink()
    tree.at("tool").chmod(0o755)
    for place, name in enumerate(UGLY.values()):
        tree.write(b"new/" + name, f"new {place}\n")


@pytest.mark.requirement("O8", "F3.4")
def test_what_a_phase_changed_is_listed_as_git_would_with_digests(work: Work, tmp_path: Path) -> None:
    work.tally("manifest", "start", FEATURE, "implementation")
    scripted(work.tree)
    work.hand_over(
        "08-developer-task-001.json",
        8,
        "developer",
        {
            "task_id": "task-001", "summary": "s", "notes": "n", "files_created": ["new/-rf", "made up.ts"],
            "files_modified": ["edit", str(work.tree.at("tool")), "nothing.ts"],
        },
    )  # fmt: skip
    said = work.tally("manifest", "end", "implementation", "--status", "completed")
    account = [one for one in work.tree.account(work.base, tmp_path / "index") if not one.path.startswith(".")]
    row = work.phase("8")
    kinds = {"mode": "modified"}
    listed = [(path_of(one), kinds.get(one["type"], one["type"]), one["old"]) for one in row["files"]]
    assert listed == [(one.path, one.kind, one.old) for one in account]
    assert len(listed) > 2 * len(UGLY)
    for one in row["files"]:
        path = work.tree.at(os.fsencode(path_of(one)))
        if one["type"] == "deleted":
            assert one["digest"] is None
        else:
            assert (one["digest"], one["size"]) == (digest(path), path.stat().st_size)
    owners = {one["path"]: one["task_id"] for one in row["files"]}
    assert (owners["edit"], owners["tool"], owners["new/-rf"], owners["gone"]) == (
        "task-001",
        "task-001",
        "task-001",
        None,
    )
    marked = {one["path"] for one in row["claims"]["differences"] if one["says"] == "claimed, not changed"}
    assert marked == {"made up.ts", "nothing.ts"}
    assert "! claimed, not changed: made up.ts" in said.out
    lying = yaml.safe_load((work.tree.folder / OUTPUTS / "MANIFEST.yaml").read_text(encoding="utf-8"))
    assert len(lying["phases"]["8"]["output_files"]) == len(account)


@pytest.mark.requirement("O8")
def test_three_phases_record_files_and_another_when_asked(work: Work) -> None:
    recorded = ("implementation", "code-quality", "testing")
    for phase in (*recorded, "coverage"):
        work.tally("manifest", "start", FEATURE, phase)
    work.tree.write("edit", "one line\n")
    for phase in (*recorded, "coverage"):
        work.tally("manifest", "end", phase, "--status", "failed")
    work.tally("manifest", "start", "coverage")
    rows = work.tally("manifest", "show", "--json").document["phases"]
    listed = {row["name"]: [one["path"] for one in row["files"]] for row in rows if row["files"]}
    assert listed == {phase: ["edit"] for phase in recorded}
    work.tally("manifest", "end", "coverage", "--status", "completed", "--files")
    assert [one["path"] for one in work.phase("coverage")["files"]] == ["edit"]


def test_lines_are_counted_and_shown_to_people(work: Work) -> None:
    work.tally("manifest", "start", FEATURE, "implementation")
    work.tree.git("mv", "moved", "was \x1b[31m moved")
    work.tree.write("edit", "one line\n")
    work.tree.at("gone").unlink()
    work.tally("manifest", "end", "implementation", "--status", "completed")
    shown = work.tally("manifest", "show", "--files").out
    assert "3 files, +1 -80" in shown
    assert "changed  edit  +1 -40" in shown
    assert "gone     gone  +0 -40" in shown
    assert "renamed  moved -> was \\x1b[31m moved" in shown
    assert "\x1b" not in shown


def test_the_commit_of_the_start_outlives_every_clean_up(work: Work) -> None:
    work.tally("manifest", "start", FEATURE, "implementation")
    work.tree.write("edit", "one line\n")
    work.tree.git("commit", "--quiet", "--all", "--amend", "-m", "another first")
    work.tree.git("reflog", "expire", "--expire=now", "--all")
    work.tree.git("gc", "--quiet", "--prune=now")
    work.tally("manifest", "end", "implementation", "--status", "completed")
    assert [(one["path"], one["state"]) for one in work.phase("8")["files"]] == [("edit", ["committed"])]


def test_a_list_of_many_files_is_kept_apart_and_shown_whole(work: Work) -> None:
    work.tally("manifest", "start", FEATURE, "implementation")
    for number in range(300):
        work.tree.write(f"many/{number:03}.ts", f"{number}\n")
    work.tally("manifest", "end", "implementation", "--status", "completed")
    assert len(work.phase("8")["files"]) == 300
    journals = (work.tree.folder / ".git/tallystick/journal" / FEATURE).glob("*.jsonl")
    assert sum(path.stat().st_size for path in journals) < 20_000
    work.tally("manifest", "start", "simplification")
    lying = yaml.safe_load((work.tree.folder / OUTPUTS / "MANIFEST.yaml").read_text(encoding="utf-8"))
    assert len(lying["phases"]["8"]["output_files"]) == 300


def test_without_git_a_phase_ends_all_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    project = Project(folder)
    for words in (("start", FEATURE, "8"), ("end", FEATURE, "8", "--status", "completed")):
        assert project.tally("manifest", *words).status == 0
    [row] = project.tally("manifest", "show", "--phase", "8", "--json").document["phases"]
    assert (row["state"], row["files"]) == ("completed", [])


@pytest.mark.requirement("F3.1", "O11")
def test_a_reader_written_from_the_seed_reads_what_we_write(work: Work) -> None:
    payload = {
        "task_id": "task-001", "files_modified": ["edit"], "files_created": ["new é.ts"],
        "summary": "JWT: no\nyes", "notes": "8",
    }  # fmt: skip
    work.tally("manifest", "start", FEATURE, "implementation", "--description", "no: yes # 10:00")
    work.tree.write("edit", "one line\n")
    work.tree.write("new é.ts", "x\n")
    document = {
        "jonggrang-output": True, "feature_id": FEATURE, "phase": 8, "role": "developer", "task_id": "task-001",
        "agent_id": "developer-auth-001", "timestamp": "2024-01-01T00:00:00Z", "status": "completed", "output": payload,
    }  # fmt: skip
    work.tally("output", "save", "-", given=json.dumps(document).encode())
    work.tally("manifest", "end", "implementation", "--status", "completed")
    read = run([sys.executable, "-I", READER, str(work.tree.folder), FEATURE, "08", "developer"], work.tree.folder)
    assert read.status == 0, read
    found = read.document
    assert found["feature_id"] == FEATURE
    assert [*found["outputs"].values()] == [payload]
    assert found["phases"]["8"] == {"status": "completed", "files": ["edit", "new é.ts"]}
    assert found["phases"]["9"]["status"] == "pending"


def test_without_the_library_only_foreign_manifests_are_not_read(work: Work) -> None:
    source = str(Path(__file__).resolve().parents[2] / "src")

    def bare(*words: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-I", "-S", "-c", RUN.format(source), *words]
        return subprocess.run(argv, cwd=work.tree.folder, capture_output=True, text=True)

    work.tree.write(f"{OUTPUTS}/MANIFEST.yaml", f"feature_id: {FEATURE}\nphases: {{8: done}}\n")
    shown = bare("manifest", "show", FEATURE)
    assert (shown.returncode, shown.stdout) == (1, "")
    assert shown.stderr.splitlines() == [
        f"{OUTPUTS}/MANIFEST.yaml is YAML, and PyYAML, which reads it, is not installed here",
        "Next: python3 -m pip install pyyaml",
    ]
    assert bare("status").returncode == 0
    started = bare("manifest", "start", FEATURE, "8")
    assert started.returncode == 0
    assert "was not taken over" in started.stderr
    assert bare("manifest", "end", FEATURE, "8", "--status", "completed").returncode == 0
    assert "completed" in bare("manifest", "show", FEATURE).stdout
    assert (work.tree.folder / OUTPUTS / "MANIFEST.yaml").read_text() == f"feature_id: {FEATURE}\nphases: {{8: done}}\n"


@pytest.mark.requirement("F3.1")
def test_a_phase_whose_first_commit_is_gone_can_be_ended_as_failed_and_begun_again(work: Work) -> None:
    work.tally("manifest", "start", FEATURE, "implementation")
    for name in work.project.git("for-each-ref", "--format=%(refname)", "refs/tallystick").split():
        work.project.git("update-ref", "-d", name)
    work.project.git("checkout", "--quiet", "--orphan", "fresh")
    work.tree.commit("another beginning")
    work.project.git("branch", "--quiet", "-D", "main")
    work.project.git("reflog", "expire", "--expire=now", "--all")
    work.project.git("gc", "--quiet", "--prune=now")
    said = work.project.tally("manifest", "end", FEATURE, "implementation", "--status", "completed")
    assert said.status == 1
    assert "--status failed" in said.err
    said = work.tally("manifest", "end", FEATURE, "implementation", "--status", "failed", "--reason", "no base")
    assert "which files it changed is not known" in said.err
    work.tally("manifest", "start", FEATURE, "implementation")
    work.tree.write("new", "1\n")
    work.tally("manifest", "end", FEATURE, "implementation", "--status", "completed")
    assert [one["path"] for one in work.phase("implementation")["files"]] == ["new"]


@pytest.mark.requirement("F3.1")
def test_names_are_shown_as_they_are(work: Work) -> None:
    work.tally("manifest", "start", FEATURE, "implementation")
    for name in ("two  blanks", "line\nend"):
        work.tree.write(name, "1\n")
    work.tally("manifest", "end", FEATURE, "implementation", "--status", "completed")
    shown = work.tally("manifest", "show", "--files", "--phase", "8").out
    assert "two  blanks" in shown
    assert "line\\x0aend" in shown


def test_a_board_and_a_manifest_that_somebody_wrote_into_are_named_and_written_anew(project: Project) -> None:
    project.done("manifest", "start", "checkout", "implementation")
    project.done("board", "add", "checkout", "Add JWT", "--id", "t1")
    folder = project.folder / ".jonggrang" / ".output" / "features" / "checkout"
    assert "view.edited" not in project.done("audit").out
    for name, old, new in (("MANIFEST.yaml", "running", "completed"), ("jonggrang-tasks.json", "pending", "completed")):
        path = folder / name
        before = path.read_text(encoding="utf-8")
        path.write_text(before.replace(old, new), encoding="utf-8")
        assert f"{name} is not as it was written" in project.done("audit").out
        project.done("audit", "--restore")
        assert path.read_text(encoding="utf-8") == before
    assert project.done("board", "next", "checkout", "--json").document["task"]["id"] == "t1"
