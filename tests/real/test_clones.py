"""Holds that copies of a repository learn of each other through git alone: two clones work on one feature, merge,
squash and rebase; no record is lost, nothing conflicts, what the other passed counts only once it ran here (D3)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tallystick.canonical import encode, mac, sha256
from tests.real.project import PROOF, Project
from tests.real.pseudo import on_terminal

FEATURE = "checkout"


def segments(project: Project, feature: str = FEATURE) -> list[Path]:
    """The segments in the tree of a project."""
    return sorted((project.folder / ".tallystick" / "journal" / feature).glob("*.jsonl"))


def told(project: Project) -> set[str]:
    """The ids of all records that lie in the segments of a tree."""
    lines = [line for path in segments(project) for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    return {json.loads(line)["id"] for line in lines}


def recorded(project: Project) -> set[str]:
    """The ids of all records in the live store of a project."""
    files = (project.store / "journal" / FEATURE).glob("*.jsonl")
    return {json.loads(line)["id"] for path in files for line in path.read_text(encoding="utf-8").splitlines()}


def add(project: Project, name: str) -> None:
    project.done("ledger", "add", FEATURE, "-", given=f"- [ ] {name} what {name} asks for\n".encode())


def commit(project: Project, message: str) -> None:
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", message)


def by_person(project: Project, *words: str) -> None:
    """Carry a command out as a person at a terminal; it must end well."""
    status, screen = on_terminal(words, project.folder, project.env)
    assert status == 0, screen


def states(project: Project) -> dict[str, str]:
    return {name: row["state"] for name, row in project.rows(FEATURE).items()}


@pytest.fixture
def pair(project: Project, tmp_path: Path) -> tuple[Project, Project]:
    """A repository with a frozen ledger, committed, and a clone of it with a home of its own."""
    project.freeze(FEATURE, 2)
    commit(project, "criteria")
    project.git("clone", "--quiet", str(project.folder), str(tmp_path / "clone"))
    clone = project.at(tmp_path / "clone", {"XDG_STATE_HOME": str(tmp_path / "other-home")})
    return project, clone


@pytest.mark.requirement("F5.15", "P11")
@pytest.mark.parametrize("way", ["merge", "squash", "rebase"])
def test_two_clones_work_on_one_feature(pair: tuple[Project, Project], way: str) -> None:
    one, other = pair
    assert one.mark(FEATURE, "C0001").status == 0
    add(one, "AC901")
    other.done("ledger", "fail", FEATURE, "C0002", "--error", "the total is wrong")
    add(other, "AC902")
    assert other.mark(FEATURE, "AC902").status == 0
    commit(one, "work of the one")
    commit(other, "work of the other")
    known = recorded(one) | recorded(other)

    one.git("fetch", "--quiet", str(other.folder), "main")
    if way == "merge":
        one.git("merge", "--quiet", "--no-edit", "FETCH_HEAD")
    elif way == "squash":
        one.git("merge", "--quiet", "--squash", "FETCH_HEAD")
        one.git("commit", "--quiet", "-m", "squashed")
    else:
        one.git("rebase", "--quiet", "FETCH_HEAD")
    other.git("pull", "--quiet", "--no-edit", "--no-rebase", str(one.folder), "main")

    assert told(one) | recorded(one) >= known
    assert told(other) | recorded(other) >= known
    assert states(one) == {"C0001": "holds", "C0002": "failing", "AC901": "failing", "AC902": "elsewhere"}
    assert states(other) == {"C0001": "elsewhere", "C0002": "failing", "AC901": "failing", "AC902": "holds"}
    assert one.rows(FEATURE)["AC902"]["passes"] is False
    assert one.rows(FEATURE)["C0002"]["last_attempt_error"] == "the total is wrong"
    for project in pair:
        assert (project.audit().status, project.tally("status", "--check").status) == (0, 3)
        assert project.git("status", "--porcelain") == ""
    assert one.mark(FEATURE, "AC902").status == 0
    assert states(one)["AC902"] == "holds"


@pytest.mark.requirement("P11")
def test_a_commit_without_a_word_about_sharing_then_cloned(project: Project, tmp_path: Path) -> None:
    (name,) = project.freeze(FEATURE, 1)
    project.mark(FEATURE, name)
    commit(project, "everything that lay there")
    project.git("clone", "--quiet", str(project.folder), str(tmp_path / "clone"))
    for home in ({}, {"XDG_STATE_HOME": str(tmp_path / "nobody")}):
        clone = project.at(tmp_path / "clone", home)
        said = clone.done("status")
        assert "elsewhere" in said.out
        assert states(clone) == {name: "elsewhere"}
        assert (clone.audit().status, clone.git("status", "--porcelain")) == (0, "")
        assert not clone.store.exists()


@pytest.mark.requirement("F5.15")
def test_there_is_about_one_segment_for_each_commit_of_git(project: Project) -> None:
    names = project.freeze(FEATURE, 6)
    for name in names[:3]:
        project.mark(FEATURE, name)
    assert len(segments(project)) == 1
    assert told(project) == recorded(project)
    commit(project, "three")
    (first,) = segments(project)
    before = first.read_bytes()
    for name in names[3:]:
        project.mark(FEATURE, name)
    assert len(segments(project)) == 2
    assert first.read_bytes() == before
    assert told(project) == recorded(project)


@pytest.mark.requirement("F5.15")
def test_a_check_alone_writes_no_segment_and_share_does(project: Project) -> None:
    project.done("ledger", "init", FEATURE, "-", given=b"- [ ] AC1 it runs\n      run: true\n")
    commit(project, "criteria")
    project.done("check", FEATURE)
    assert project.git("status", "--porcelain") == ""
    said = project.done("share", "--json").document
    assert len(said["written"]) == 1
    assert told(project) == recorded(project)
    assert project.done("share", "--json").document["written"] == []


@pytest.mark.requirement("F5.15")
def test_segments_that_the_work_tree_does_not_show_are_read_from_head(
    pair: tuple[Project, Project], tmp_path: Path
) -> None:
    one, other = pair
    names = {"C0001", "C0002"}
    other.git("sparse-checkout", "set", "--no-cone", PROOF)
    assert not (other.folder / ".tallystick").exists()
    assert set(states(other)) == names
    one.git("clone", "--quiet", "--bare", str(one.folder), str(tmp_path / "bare.git"))
    bare = one.at(tmp_path / "bare.git")
    assert set(states(bare)) == names
    whole = one.at(tmp_path / "whole")
    one.git("clone", "--quiet", str(one.folder), str(whole.folder))
    shutil.rmtree(whole.folder / ".tallystick")
    assert set(states(whole)) == names


def test_what_another_copy_amended_waits_for_a_person(pair: tuple[Project, Project]) -> None:
    one, other = pair
    by_person(other, "ledger", "amend", FEATURE, "C0001", "--text", "softer", "--reason", "too hard")
    commit(other, "amended")
    assert one.mark(FEATURE, "C0001").status == 0
    one.git("pull", "--quiet", "--no-edit", "--no-rebase", str(other.folder), "main")
    row = one.rows(FEATURE)["C0001"]
    assert (row["description"], row["state"]) == ("what C0001 asks for", "holds")
    page = one.done("ledger", "get", FEATURE, "C0001").out
    assert 'amended it to "softer"' in page
    assert one.tally("ledger", "accept", FEATURE, "C0001", "--reason", "fine").status == 1
    by_person(one, "ledger", "accept", FEATURE, "C0001", "--reason", "agreed")
    row = one.rows(FEATURE)["C0001"]
    assert (row["description"], row["state"]) == ("softer", "failing")
    assert "amended it to" not in one.done("ledger", "get", FEATURE, "C0001").out


@pytest.mark.requirement("P11")
def test_two_texts_for_one_id_are_both_shown(pair: tuple[Project, Project]) -> None:
    one, other = pair
    for project, text in ((one, "blue"), (other, "red")):
        project.done("ledger", "add", FEATURE, "-", given=f"- [ ] AC900 it is {text}\n".encode())
    commit(other, "red")
    commit(one, "blue")
    one.git("pull", "--quiet", "--no-edit", "--no-rebase", str(other.folder), "main")
    page = one.done("ledger", "get", FEATURE, "AC900").out
    assert "it is blue" in page
    assert "it is red" in page


def forged(project: Project, clone: Project, key: bytes) -> None:
    """A segment that passes both criteria, every digest and link in order, sealed with `key`."""
    lines = [
        json.loads(line) for path in segments(project) for line in path.read_text(encoding="utf-8").splitlines()[1:]
    ]
    frozen = next(line for line in lines if line["type"] == "ledger_frozen")
    made, prev = [], frozen["id"]
    for place, criterion in enumerate(frozen["data"]["criteria"], 2):
        digest = sha256(encode(criterion))
        data = {
            "criterion": criterion["id"],
            "digest": digest,
            "level": "ran",
            "evidence_ref": "run:r-aaaaaaaa",
            "evidence": [],
        }
        record = {**frozen, "type": "pass_recorded", "data": data, "i": place, "n": frozen["n"] + place, "prev": prev}
        record = {name: value for name, value in record.items() if name not in ("id", "mac")} | {"seen": {}}
        identity = sha256(encode(record))
        made.append(encode({**record, "id": identity, "mac": mac(key, "tallystick/record/1", identity)}) + b"\n")
        prev = identity
    name = "f" * 32
    held = {f"{frozen['store']}/{frozen['writer']}": [2, 1 + len(made)]}
    head = encode({"segment": 1, "feature": FEATURE, "id": name, "held": held}) + b"\n"
    folder = clone.folder / ".tallystick" / "journal" / FEATURE
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.jsonl").write_bytes(b"".join((head, *made)))


@pytest.mark.requirement("P11", "F5.15")
def test_a_forged_segment_counts_for_nothing_even_with_a_valid_seal(project: Project) -> None:
    project.freeze(FEATURE, 2)
    key = bytes.fromhex(Path(os.environ["XDG_STATE_HOME"], "tallystick", "key").read_text(encoding="utf-8").strip())
    for seal in (b"a guessed key, 32 bytes of it ...", key):
        forged(project, project, seal)
        assert set(states(project).values()) <= {"elsewhere", "failing"}
        assert not any(row["passes"] for row in project.rows(FEATURE).values())
        assert (project.audit().status, project.tally("status", "--check").status) == (0, 3)
    assert project.mark(FEATURE, "C0001").status == 0
    assert states(project) == {"C0001": "holds", "C0002": "elsewhere"}


def test_a_segment_that_only_says_it_holds_our_records_keeps_none_from_being_shared(project: Project) -> None:
    (name,) = project.freeze(FEATURE, 1)
    commit(project, "criteria")
    writer = next((project.store / "journal" / FEATURE).glob("*.jsonl")).stem
    store = (project.store / "store-id").read_text().split()[2]
    lie = "e" * 32
    head = encode({"segment": 1, "feature": FEATURE, "id": lie, "held": {f"{store}/{writer}": [1, 900]}})
    (segments(project)[0].parent / f"{lie}.jsonl").write_bytes(head + b"\n")
    project.mark(FEATURE, name)
    assert told(project) == recorded(project)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\0" * 400, b"<<<<<<< HEAD\n{}\n", b'{"segment":2}\n', b"[" * 100_000, b'{"a":1,"a":2}\n'],
    ids=["empty", "half", "nul", "conflict", "newer", "deep", "twice"],
)
@pytest.mark.requirement("P3")
def test_a_damaged_segment_is_named_and_holds_nothing_up(project: Project, content: bytes) -> None:
    (name,) = project.freeze(FEATURE, 1)
    bad = segments(project)[0].parent / ("d" * 32 + ".jsonl")
    bad.write_bytes(content)
    shown = project.done("ledger", "show", FEATURE, "--json").document
    assert [row["id"] for row in shown["criteria"]] == [name]
    assert bad.name in project.done("audit").out
    assert project.mark(FEATURE, name).status == 0
    assert bad.read_bytes() == content


@pytest.mark.requirement("F5.14")
def test_a_leap_of_the_counter_and_a_gap(pair: tuple[Project, Project]) -> None:
    one, other = pair
    for error in ("first", "second"):
        other.done("ledger", "fail", FEATURE, "C0001", "--error", error)
        commit(other, error)
    (last,) = [path for path in segments(other) if "second" in path.read_text(encoding="utf-8")]
    shutil.copy(last, segments(one)[0].parent)
    said = one.done("audit").out
    assert "incomplete" in said
    assert one.rows(FEATURE)["C0001"]["last_attempt_error"] == "second"
    lines = last.read_text(encoding="utf-8").splitlines()
    record = json.loads(lines[-1])
    far = {name: value for name, value in record.items() if name not in ("id", "mac")} | {"n": 2**52, "i": 900}
    far["data"] = {**far["data"], "error": "far away"}
    identity = sha256(encode(far))
    head = encode({**json.loads(lines[0]), "id": "c" * 32})
    leap = segments(one)[0].parent / ("c" * 32 + ".jsonl")
    leap.write_bytes(head + b"\n" + encode({**far, "id": identity, "mac": "0" * 64}) + b"\n")
    assert "leaps" in one.done("audit").out
    assert one.done("ledger", "show", FEATURE, "--json").document["head"]["n"] < 1_000


@pytest.mark.requirement("O12", "F5.15")
def test_what_outputs_manifest_and_board_say_is_written_anew_in_a_clone(project: Project, tmp_path: Path) -> None:
    project.freeze(FEATURE, 1)
    small, large = output("task-001", "short"), output("task-002", "x" * 40_000)
    for document in (small, large):
        project.done("output", "save", "-", given=json.dumps(document).encode())
    project.done("manifest", "start", FEATURE, "implementation", "--role", "developer")
    project.done("manifest", "end", FEATURE, "implementation", "--status", "completed")
    project.done("board", "add", FEATURE, "Add JWT", "--id", "task-001")
    commit(project, "handed over")
    project.git("clone", "--quiet", str(project.folder), str(tmp_path / "clone"))
    clone = project.at(tmp_path / "clone", {"XDG_STATE_HOME": str(tmp_path / "other-home")})
    found = clone.done("output", "find", FEATURE, "--json").document["outputs"]
    assert {row["file"] for row in found} == {"08-developer-task-001.json", "08-developer-task-002.json"}
    assert not (clone.folder / ".jonggrang").exists()
    clone.done("ledger", "fail", FEATURE, "C0001", "--error", "not yet")
    folder = clone.folder / ".jonggrang" / ".output" / "features" / FEATURE
    assert json.loads((folder / "08-developer-task-001.json").read_text(encoding="utf-8"))["output"] == small["output"]
    assert json.loads((folder / "08-developer-task-002.json").read_text(encoding="utf-8"))["output"] == large["output"]
    assert "implementation" in (folder / "MANIFEST.yaml").read_text(encoding="utf-8")
    tasks = json.loads((folder / "jonggrang-tasks.json").read_text(encoding="utf-8"))["tasks"]
    assert [(task["id"], task["title"]) for task in tasks] == [("task-001", "Add JWT")]
    claimed = clone.done("board", "claim", FEATURE, "task-001", "--json").document
    assert claimed["fence"] == 1
    brief = clone.done("brief", FEATURE).out
    assert "08-developer-task-002.json" in brief
    assert "task-001 Add JWT" in brief


def output(task: str, summary: str) -> dict[str, object]:
    """A developer's output."""
    work = {"task_id": task, "files_modified": [], "files_created": [], "summary": summary, "notes": ""}
    return {
        "feature_id": FEATURE,
        "phase": 8,
        "role": "developer",
        "task_id": task,
        "status": "completed",
        "output": work,
    }


def test_sharing_says_where_git_ignores_what_is_to_be_shared(project: Project) -> None:
    project.freeze(FEATURE, 1)
    assert "ignores" not in project.done("share").err
    (project.folder / ".gitignore").write_text(".tallystick\n", encoding="utf-8")
    shutil.rmtree(project.folder / ".tallystick")
    said = project.done("share")
    assert "git ignores .tallystick/journal" in said.err
    assert "git add" not in said.out
