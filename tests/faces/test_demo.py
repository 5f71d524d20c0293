"""Holds the demo: it is played for real, and what it claims is looked up on the disk, through the ledger, not in its
words. Wherever it is started, and however it ends, it leaves nothing behind but what was to be kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tallystick.agents.scripted.player import Outcome, play
from tallystick.agents.scripted.sample import CRITERIA, FEATURE
from tallystick.agents.scripted.script import Act, Ask, Edit, Expect, Scene
from tallystick.agents.scripted.stage import ROOMS, build
from tallystick.agents.scripted.story import NOTE
from tallystick.audit import inspect
from tallystick.errors import Refusal
from tallystick.evidence.origin import needed
from tallystick.handoff.notes import notes_of
from tallystick.journal.record import By, Record
from tallystick.ledger.model import Criterion, draft_of
from tallystick.moment import SystemClock
from tallystick.settings import Settings
from tallystick.system.files import OsFiles
from tallystick.wiring import App, assemble, this_machine, trust

TALLYSTICK = [sys.executable, "-m", "tallystick"]
SOURCE = Path(__file__).resolve().parents[2] / "src"
CHECKED = ("AC1", "AC2", "AC3", "AC4", "AC5")


def _surroundings(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), **more}


def _demo(*words: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TALLYSTICK, "demo", *words], cwd=cwd, env=_surroundings(**more), capture_output=True, text=True
    )


def _git(folder: Path, *words: str) -> list[str]:
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


class Kept(NamedTuple):
    """A demo that was kept: what it said as JSON, its folder, and the folder that it was started in."""

    said: dict[str, Any]
    folder: Path
    started_in: Path

    @property
    def project(self) -> Path:
        return self.folder / "shop"

    def app(self) -> App:
        """The project as somebody sees it who has this demo's user's half."""
        env = {"PATH": os.environ["PATH"], "XDG_STATE_HOME": str(self.folder / "state")}
        return assemble(this_machine(env), str(self.project), By("shell"))

    def records(self, kind: str) -> list[Record]:
        """The records of one type, in order; all of them are this store's own."""
        found: list[tuple[Record, bool]] = []
        self.app().store.history(FEATURE, lambda record, ours: found.append((record, ours)))
        assert all(ours for _, ours in found)
        return [record for record, _ in found if record.type == kind]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """The demo, played once for all tests that look at what it left."""
    top = tmp_path_factory.mktemp("demo")
    start, folder = top / "start", top / "a folder" / "kept"
    start.mkdir()
    played = _demo("--json", "--keep", str(folder), cwd=start)
    assert (played.returncode, played.stderr) == (0, "")
    return Kept(json.loads(played.stdout), folder, start)


def test_every_criterion_holds_by_the_verifiers_hand(kept: Kept) -> None:
    shown = kept.app().ledger.show(FEATURE)
    levels = {criterion.id: (state, criterion.level, criterion.passed_by) for criterion, state in shown.rows}
    assert levels == {
        **dict.fromkeys(CHECKED[:4], ("holds", "proven", "verifier")),
        "AC5": ("holds", "ran", "verifier"),
        "AC6": ("holds", "cited", "verifier"),
    }


def test_the_tests_were_seen_red_before_there_was_any_code(kept: Kept) -> None:
    runs = [run for run in kept.records("run_recorded") if run.by.role == "test-author"]
    verdicts: dict[str, str] = {}
    for run in runs:
        verdicts |= run.data["verdicts"]
    assert verdicts == dict.fromkeys(CHECKED, "red")
    assert [seen.data["criterion"] for seen in kept.records("red_seen")] == list(CHECKED[:4])
    frozen, first_code = kept.records("ledger_frozen")[0], kept.records("pass_refused")[0]
    assert frozen.n < min(run.n for run in runs) <= max(run.n for run in runs) < first_code.n


def test_what_was_refused_stands_in_the_journal(kept: Kept) -> None:
    denied = [(record.by.role, record.data["act"], record.data["criterion"]) for record in kept.records("pass_refused")]
    failed = [(record.by.role, record.data["criterion"]) for record in kept.records("failure_recorded")]
    assert denied == [("implementer", "pass", "AC1")]
    assert failed == [("verifier", "AC4")]
    assert "test_works_once" in kept.records("failure_recorded")[0].data["error"]


def test_each_pass_is_recorded_once_although_a_server_was_killed(kept: Kept) -> None:
    passed = [record.data["criterion"] for record in kept.records("pass_recorded")]
    assert sorted(passed[:5]) == sorted({*CHECKED, "AC6"} - {"AC4"})
    assert sorted(passed[5:]) == sorted(CHECKED), "the change that made AC4 green made the others stale"
    assert kept.said["happened"]["kills"] == 1
    report = inspect(kept.app(), None)
    assert (report.holds, report.anchored, report.findings) == (True, True, ())


def test_the_file_that_was_edited_by_hand_is_a_view_again(kept: Kept) -> None:
    view = json.loads((kept.project / f".agent/tasks/{FEATURE}/feature_list.json").read_bytes())
    assert all(row["passes"] for row in view["features"])
    blobs = [path.read_bytes() for path in (kept.project / ".git/tallystick/blobs").rglob("*") if path.is_file()]
    edited = [json.loads(blob) for blob in blobs if blob.startswith(b"{")]
    claimed = [{row["id"]: row["passes"] for row in one["features"]} for one in edited if "features" in one]
    assert any(rows["AC4"] and not rows["AC6"] for rows in claimed), "the edited bytes are kept"


def test_the_fixer_changed_the_code_and_left_a_note(kept: Kept) -> None:
    assert [note.text for note in notes_of(kept.app().ledger.snapshot(FEATURE))] == [NOTE]
    assert _git(kept.project, "log", "--reverse", "--format=%an") == [
        "you", "spec-freezer", "test-author", "implementer", "fixer"
    ]  # fmt: skip
    changed = _git(kept.project, "show", "--format=", "--name-only", "HEAD")
    assert [name for name in changed if not name.startswith(".tallystick/")] == ["shop/cart.py"]
    assert [row for row in _git(kept.project, "status", "--short") if ".tallystick/" not in row] == []


def test_its_own_command_looks_at_what_was_kept(kept: Kept) -> None:
    checked = subprocess.run(
        [kept.folder / "bin" / "tallystick", "status", "--check"], cwd=kept.project, env=_surroundings()
    )
    assert checked.returncode == 0


def test_nothing_lies_anywhere_else(kept: Kept) -> None:
    assert list(kept.started_in.iterdir()) == []
    assert {path.name for path in kept.folder.iterdir()} == set(ROOMS)


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Surroundings in which a careless git would sign, run hooks, ignore files and work in another repository."""
    hook = "#!/bin/sh\ntouch '{}/hook-ran'\nexit 1\n"
    for folder in ("hooks", "template/hooks", "temporary", "outer"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("hooks", "template/hooks"):
        (tmp_path / folder / "pre-commit").write_text(hook.format(tmp_path), encoding="utf-8")
        (tmp_path / folder / "pre-commit").chmod(0o755)
    (tmp_path / "ignored").write_text("*.py\n", encoding="utf-8")
    (tmp_path / ".gitconfig").write_text(
        f"[commit]\n gpgSign = true\n[gpg]\n program = false\n[user]\n useConfigOnly = true\n"
        f"[init]\n templateDir = {tmp_path}/template\n defaultBranch = other\n"
        f"[core]\n hooksPath = {tmp_path}/hooks\n excludesFile = {tmp_path}/ignored\n autocrlf = true\n",
        encoding="utf-8",
    )
    outer = tmp_path / "outer"
    subprocess.run(["git", "init", "--quiet", "--template=", str(outer)], check=True)
    before = sorted(outer.rglob("*"))
    yield {
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path / "temporary"),
        "GIT_DIR": str(outer / ".git"),
        "GIT_WORK_TREE": str(outer),
        "GIT_INDEX_FILE": str(outer / ".git" / "index"),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "commit.gpgSign",
        "GIT_CONFIG_VALUE_0": "true",
        "CLAUDECODE": "1",
        "TALLYSTICK_LOCK_WAIT_S": "no number",
    }
    assert sorted(outer.rglob("*")) == before
    assert not (tmp_path / "hook-ran").exists()


def test_no_setting_and_no_place_disturbs_it_and_it_leaves_nothing(hostile: dict[str, str], tmp_path: Path) -> None:
    home = {path.name for path in tmp_path.iterdir()}
    played = _demo(cwd=tmp_path / "outer", **hostile)
    assert (played.returncode, played.stderr) == (0, "")
    assert "\x1b" not in played.stdout
    assert "6 of 6 hold" in played.stdout
    wide = [line for line in played.stdout.splitlines() if len(line) > 80 and str(tmp_path) not in line]
    assert wide == []
    assert list((tmp_path / "temporary").iterdir()) == []
    assert {path.name for path in tmp_path.iterdir()} == home


def test_without_git_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    told = _demo(cwd=tmp_path, PATH=str(tmp_path / "empty"), TMPDIR=str(tmp_path))
    assert told.returncode == 1
    assert (told.stdout, "git" in told.stderr.split("\n")[0]) == ("", True)
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def test_only_an_empty_folder_is_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    for taken in (tmp_path, tmp_path / "mine.txt"):
        refused = _demo("--json", "--keep", str(taken), cwd=tmp_path)
        assert (refused.returncode, json.loads(refused.stdout)["error"]["code"]) == (1, "input.invalid")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_it_takes_its_folder_and_its_processes_away(number: int, status: int, tmp_path: Path) -> None:
    (tmp_path / "temporary").mkdir()
    env = _surroundings(TMPDIR=str(tmp_path / "temporary"))
    words = [*TALLYSTICK, "demo", "--keep", "kept"]
    with subprocess.Popen(words, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as playing:
        assert playing.stdout is not None
        lines = iter(playing.stdout.readline, b"")
        process = next(line.split()[1].rstrip(b":") for line in lines if line.split()[-1:] == [b"verifier"])
        next(line for line in lines if b"mark_pass AC1" in line)
        playing.send_signal(number)
        playing.communicate()
    assert playing.returncode == status
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]
    assert list((tmp_path / "temporary").iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int(process), 0)


class Silent:
    """Looks on and says nothing."""

    def scene(self, number: int, scene: Scene, process: int | None) -> None: ...
    def begins(self, act: Act) -> None: ...
    def ended(self, act: Act, outcome: Outcome) -> None: ...


@pytest.mark.parametrize(
    ("scene", "says"),
    [
        (Scene("verifier", "asks", (Ask("list_failing", {"task_id": "nothing"}, Expect()),)), "step 1, verifier"),
        (Scene("verifier", "asks", (Ask("brief", {}, Expect(says=("a word that is not there",))),)), "brief was to be"),
        (Scene("solo", "asks", (Ask("brief", {}, Expect("role.denied")),)), "refused with role.denied"),
        (Scene("nobody", "comes", ()), "step 1, nobody: the server ended"),
        (Scene("", "edits", (Edit("README.md", "not there", "never"),)), "step 1, somebody: README.md"),
    ],
)
def test_a_story_that_does_not_come_true_breaks_off_by_name(scene: Scene, says: str, tmp_path: Path) -> None:
    for room in (*ROOMS, "scratch"):
        (tmp_path / room).mkdir()
    stage = build(OsFiles(), SystemClock(), _surroundings(), str(tmp_path), str(tmp_path / "scratch"))
    with pytest.raises(Refusal) as caught:
        play((scene,), stage, Silent())
    assert caught.value.code == "internal"
    assert says in caught.value.message


@pytest.mark.requirement("P13")
def test_where_nothing_shuts_checks_in_the_demo_trusts_its_own_sample_and_nothing_else(tmp_path: Path) -> None:
    for room in ROOMS:
        (tmp_path / room).mkdir()
    stage = build(OsFiles(), SystemClock(), os.environ, str(tmp_path), str(tmp_path))
    drafts = [draft_of(one) for one in CRITERIA]
    asked = needed(Settings(), {"": [Criterion(*draft, draft.digest) for draft in drafts]}, confined=False)
    table = trust(assemble(this_machine(stage.env), stage.project, By("shell")))
    assert (table.missing(asked), [one.command.origin for one in table.entries()]) == ([], ["runner", "own"])
