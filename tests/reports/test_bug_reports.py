"""Public bug reports of this kind of tool, each kind as a test of ours: files, logs, locks, git, names, encodings.

The sketches of the reports have `$P` for the tool, `$S` for its store, `J` for a valid record. What they become here:

    sketch                                       ours
    $P put, $P new, record-changes               `ledger pass`, `fail`, `add`, `init`: what makes a record
    $P list, $P show                             `ledger show`, `status`, `ledger failing`
    append, verify, serve                        `ledger fail`, `audit`, a process that keeps the store open
    $S/ledger.json                               the view, .agent/tasks/FEATURE/feature_list.json
    the log, a record J                          journal/FEATURE/WRITER.jsonl in the store, one line of it
    $S/locks, any derived folder                 locks/, cache/, tmp/ in the store
    $P doctor                                    `audit`, `init` (what they say of the place)
    an older copy, a lower head                  anchors in the user's half

    report                                       where
    1  anthropics/claude-code#28922              here; sixteen processes: tests/real/test_writers.py
    2  anthropics/claude-code#29008              here
    3  netease-lcap/wave-agent#387               here; ids of records: tests/real/test_writers.py
    4  marcusquinn/aidevops#19689                tests/real/test_board_claims.py
    5  anthropics/claude-code#53821              here
    6  anthropics/claude-code#49876              here
    7  github/copilot-cli#2649                   here
    8  genai-io/gen-code#364                     here
    9  openai/codex#28866                        here
    10 PixelPaw-Labs/codex-trace#279             here, for errors; outputs of checks: tests/unit/evidence
    11 anthropics/claude-code#23821              here; the hook comes later
    12 cupcakearmy/autorestic#16                 here
    13 Yeachan-Heo/gajae-code#669                here; a stopped holder: tests/real/test_writers.py
    14 restic/restic#1532                        here
    15 toplenboren/simple-git-hooks#148          here
    16 Digital-Process-Tools/claude-supertool#1280  here: nothing of ours lies in a worktree
    17 agent-tools-org/ai-dispatch#32            here
    18 tj-actions/changed-files#437              here
    19 amule-org/amule#312                       here
    20 kamp-us/phoenix#4232                      here, for citations
    21 vercel/turborepo#12554                    comes with fresh trees
    22 gastownhall/beads#1103                    here
    23 eyaltoledano/claude-task-master#348       here
    24 anomalyco/opencode#14970                  here
    25 hypercycle-development/mosaic-companion#136  here
    26 beaussan/update-time-on-edit-obsidian#17  here
    27 snap-stanford/Biomni#286                  here
    28 microsoft/vscode#34915                    here; every call: tests/crash
    29 imbue-ai/mngr#1238                        here
    30 ultraworkers/claw-code#3243               here; every door: tests/inputs/test_texts.py
    31 NousResearch/hermes-agent#19845           outputs: tests/unit/handoff/test_output_service.py
    32 anthropics/claude-code#63370 and on       come with hooks, the page and proofs
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tallystick.journal.record import By
from tallystick.system.files import Files, OsFiles
from tallystick.wiring import assemble
from tests.desk import FEATURE, Desk
from tests.real.project import PROOF, Project
from tests.simdisk import Tap
from tests.simdisk.tap import Attempt
from tests.unit.handoff.examples import document

LOOK = 8


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A ledger in use."""
    made = Desk(tmp_path / "desk")
    made.freeze()
    made.cite("AC1")
    made.ok("ledger", "fail", FEATURE, "AC2", "--error", "assert 2 == 1")
    return made


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with one commit and a proof to cite."""
    return Project.made(tmp_path / "shop")


# -- A. Concurrent writers and torn files -----------------------------------------------------------------------------


@pytest.mark.requirement("P4")
def test_1_a_reader_never_sees_half_of_what_is_being_written(desk: Desk) -> None:
    """A view is put in place whole: the same name, another file."""
    held = os.open(desk.view, os.O_RDONLY)
    for at in range(20):
        desk.ok("ledger", "fail", FEATURE, "AC2", "--error", f"{at}" * 500)
        assert json.loads(desk.view.read_bytes())["features"][1]["last_attempt_error"] == f"{at}" * 500
    assert json.loads(os.pread(held, 1 << 20, 0))["features"][1]["last_attempt_error"] == "assert 2 == 1"
    os.close(held)


@pytest.mark.requirement("P3", "F1.4", "F5.13")
def test_2_a_file_that_does_not_parse_is_refused_and_kept_once(desk: Desk) -> None:
    broken = b'{"task_id": "other", "features": [{"id": "AC'
    desk.view.write_bytes(broken)
    for _ in range(10):
        assert desk.run("ledger", "show").status == LOOK
        assert desk.refused("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt").code == "view.damaged"
    for _ in range(3):
        desk.view.write_bytes(broken)
        desk.ok("audit", "--restore")
    kept = [path for path in (desk.store / "blobs").rglob("*") if path.is_file()]
    assert [path.read_bytes() for path in kept] == [broken]
    assert len(json.loads(desk.view.read_bytes())["features"]) == 3


@pytest.mark.requirement("P4", "F1.6")
def test_3_an_id_is_given_out_once(desk: Desk) -> None:
    desk.ok("ledger", "add", FEATURE, "-", given=b"- [ ] AC4 later\n")
    for twin in ("AC4", "ac4", "ＡＣ４"):
        given = f"- [ ] {twin} again\n".encode()
        assert desk.refused("ledger", "add", FEATURE, "-", given=given).code == "criterion.exists"
    assert desk.refused("ledger", "init", FEATURE, "criteria.md").code == "feature.exists"


# -- B. Append logs and resume ----------------------------------------------------------------------------------------


@pytest.mark.requirement("P2", "F5.5")
def test_5_a_torn_last_line_hides_nothing_and_the_next_record_has_a_line_of_its_own(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk")
    desk.freeze("".join(f"- [ ] C{at:03d} text\n" for at in range(300)))
    whole = desk.journal.read_bytes()
    torn = b'{"at":"2026-05-21T00:00:01.000Z","by":{"ag'
    desk.journal.write_bytes(whole + torn)
    shown = desk.run("ledger", "show", "--json")
    assert (shown.status, len(shown.document["criteria"]), desk.findings()) == (0, 300, ["journal.torn"])
    said = desk.ok("ledger", "fail", FEATURE, "C001", "--error", "red")
    assert f"{len(torn)} bytes of an unfinished record were set aside" in said.err
    lines = desk.journal.read_bytes()[len(whole) :].splitlines()
    assert [json.loads(line)["i"] for line in lines] == [2]
    assert torn in [path.read_bytes() for path in (desk.store / "blobs").rglob("*") if path.is_file()]


@pytest.mark.requirement("P3", "F5.6")
def test_6_a_run_of_nul_in_the_middle_is_located_and_the_records_around_it_stay(desk: Desk) -> None:
    first, second, third = desk.journal.read_bytes().splitlines(keepends=True)
    desk.journal.write_bytes(first + b"\0" * 400 + b"\n" + second + third)
    shown = desk.run("ledger", "show", "--json")
    assert (shown.status, desk.counted()) == (LOOK, ["AC1"])
    finding = shown.document["findings"][0]
    assert (finding["code"], finding["file"], finding["line"]) == ("journal.damaged", str(desk.journal), 2)
    error = desk.refused("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt")
    assert (error.where["line"], error.where["offset"]) == (2, len(first))


@pytest.mark.requirement("P18")
def test_7_line_ends_in_a_text_make_no_second_line(desk: Desk) -> None:
    before = desk.journal.read_bytes().count(b"\n")
    desk.ok("ledger", "fail", FEATURE, "AC2", "--error", "a\nb\r\nc\u2028d")
    assert desk.journal.read_bytes().count(b"\n") == before + 1
    assert desk.run("ledger", "get", "AC2", "--json").document["last_attempt_error"] == "a\nb\r\nc\u2028d"


@pytest.mark.requirement("P6", "P3")
@pytest.mark.parametrize("spoil", ["torn", "damaged", "rolled back"])
def test_8_every_reader_and_writer_has_the_same_verdict(desk: Desk, spoil: str) -> None:
    whole = desk.journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    damaged = lines[1].replace(b"2026", b"2025")
    data = {"torn": whole + b'{"at', "damaged": lines[0] + damaged + lines[2], "rolled back": b"".join(lines[:2])}[
        spoil
    ]
    running = assemble(desk.machine(), str(desk.folder), By("solo"))
    running.ledger.show(FEATURE)
    desk.journal.write_bytes(data)
    looking = [("ledger", "show"), ("status",), ("ledger", "failing"), ("ledger", "get", "AC1"), ("audit",), ("brief",)]
    statuses = {words: desk.run(*words).status for words in looking}
    grave = bool(running.ledger.show(FEATURE).snapshot.grave)
    running.store.close()
    writing = desk.run("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt").status
    if spoil == "torn":
        assert (set(statuses.values()), grave, writing) == ({0}, False, 0)
    else:
        assert (set(statuses.values()), writing) == ({LOOK}, LOOK)
        assert grave == (spoil != "damaged")  # what a process has read and hashed it does not read again


@pytest.mark.requirement("P15")
def test_9_a_log_above_the_stated_size_is_named_and_not_read(desk: Desk) -> None:
    os.truncate(desk.journal, 5_000_000_000)
    for words in (("ledger", "show", FEATURE), ("ledger", "fail", FEATURE, "AC2", "--error", "x")):
        said = desk.run(*words)
        assert said.status == 1
        assert said.err.startswith(f"{desk.journal} has 5,000,000,000 bytes, the limit is 1,000,000,000\n")


@pytest.mark.requirement("F1.10", "P18")
@pytest.mark.parametrize("length", [1999, 2000, 2001])
def test_10_a_text_is_cut_between_characters_and_says_so(desk: Desk, length: int) -> None:
    desk.ok("ledger", "fail", FEATURE, "AC2", "--error", "🎉" * length)
    error = desk.run("ledger", "get", "AC2", "--json").document["last_attempt_error"]
    assert error == ("🎉" * length if length <= 2000 else "🎉" * 1999 + "…")


@pytest.mark.requirement("O12")
def test_11_what_helpers_handed_over_is_listed_and_read_whatever_happened_to_the_session(desk: Desk) -> None:
    for number in range(14):
        given = document("reviewer", phase=9, task_id=f"task-{number}", agent_id=f"helper-{number}")
        desk.ok("output", "save", "-", given=json.dumps(given).encode())
    shutil.rmtree(desk.folder / ".jonggrang")
    listed = desk.ok("output", "find", FEATURE, "--json").document["outputs"]
    assert [row["task_id"] for row in listed] == [f"task-{number}" for number in reversed(range(14))]
    for row in listed:
        shown = desk.ok("output", "show", FEATURE, row["file"], "--json").document["document"]
        assert shown["agent_id"] == f"helper-{row['task_id'].partition('-')[2]}"


# -- C. Locks ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("P4", "P5")
def test_12_and_13_a_held_lock_is_no_success_and_no_prey(desk: Desk) -> None:
    holder = assemble(desk.machine(), str(desk.folder), By("solo"))
    held = os.open(desk.store / "locks" / FEATURE, os.O_RDWR)
    assert OsFiles.try_lock(held)
    said = desk.run("ledger", "pass", FEATURE, "AC3", "--evidence", "proof.txt", env={"TALLYSTICK_LOCK_WAIT_S": "5"})
    assert (said.status, said.out, "was held by process" in said.err, "5 s" in said.err) == (1, "", True, True)
    assert desk.counted() == ["AC1"]
    os.close(held)
    desk.cite("AC3")
    holder.store.close()


@pytest.mark.requirement("P5")
@pytest.mark.parametrize("name", ["locks", "cache", "tmp", "blobs"])
def test_14_a_folder_that_follows_from_the_rest_is_made_again(desk: Desk, name: str) -> None:
    running = desk.app()
    running.ledger.mark_failure(FEATURE, "AC2", "still red")
    shutil.rmtree(desk.store / name, ignore_errors=True)
    running.ledger.mark_failure(FEATURE, "AC2", "red once more")
    running.due.finish()
    running.store.close()
    desk.cite("AC3")
    assert (desk.counted(), desk.findings()) == (["AC1", "AC3"], [])


# -- D. Git, worktrees, file names ------------------------------------------------------------------------------------


@pytest.mark.requirement("F5.1", "F5.19")
def test_15_a_linked_worktree_and_a_submodule_are_where_git_says(project: Project, tmp_path: Path) -> None:
    project.git("config", "core.hooksPath", "hooks")
    project.git("worktree", "add", "--quiet", "../tree")
    tree = project.at(tmp_path / "tree")
    (name,) = tree.freeze("checkout", 1)
    assert tree.mark("checkout", name).status == 0
    assert project.passing("checkout") == {name}
    assert project.git("status", "--porcelain") == ""
    assert tree.git("status", "--porcelain") == "?? .tallystick/\n"
    library = Project.made(tmp_path / "library")
    project.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.folder), "lib")
    inner = project.at(project.folder / "lib")
    inner.freeze("inner", 1)
    assert inner.store == project.folder / ".git" / "modules" / "lib" / "tallystick"
    assert inner.git("status", "--porcelain") == "?? .tallystick/\n"


@pytest.mark.requirement("P11")
def test_16_a_worktree_that_is_removed_takes_no_record_with_it(project: Project, tmp_path: Path) -> None:
    project.git("worktree", "add", "--quiet", "../tree")
    tree = project.at(tmp_path / "tree")
    (name,) = tree.freeze("checkout", 1)
    tree.mark("checkout", name)
    project.git("worktree", "remove", "--force", "../tree")
    assert project.passing("checkout") == {name}
    assert project.audit().status == 0


@pytest.mark.requirement("P16")
@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"])
def test_17_a_lock_of_gits_stops_nobody_and_is_not_ours_to_remove(project: Project, name: str) -> None:
    lock = project.folder / ".git" / name
    lock.write_bytes(b"")
    first, second = project.freeze("checkout", 2)
    assert project.mark("checkout", first).status == 0
    head = project.git("rev-parse", "HEAD").strip()
    assert project.tally("ledger", "pass", "checkout", second, "--evidence", f"commit:{head}").status == 0
    assert project.passing("checkout") == {first, second}
    assert lock.read_bytes() == b""


@pytest.mark.requirement("P18")
@pytest.mark.parametrize("name", ["é.py", "a b.py", "tab\tx", "new\nline", '"q".py', "-rf", "\\303\\251.py"])
def test_18_a_name_is_kept_byte_for_byte_and_found_again(project: Project, name: str) -> None:
    (criterion,) = project.freeze("checkout", 1)
    path = project.folder / name
    path.write_text("proof\n", encoding="utf-8")
    project.done("ledger", "pass", "checkout", criterion, f"--evidence={name}")
    row = project.done("ledger", "get", "checkout", criterion, "--json").document
    assert os.fsencode(row["rests_on"][0]["target"]) == os.fsencode(path.name)
    path.write_text("another\n", encoding="utf-8")
    assert project.rows("checkout")[criterion]["state"] == "stale"


@pytest.mark.requirement("F1.5", "F1.6", "P18")
def test_19_names_that_look_the_same_are_one_id_and_two_paths(desk: Desk) -> None:
    composed, apart = "é1", "e\u03011"
    desk.ok("ledger", "add", FEATURE, "-", given=f"- [ ] {composed} text\n".encode())
    assert (
        desk.refused("ledger", "add", FEATURE, "-", given=f"- [ ] {apart} text\n".encode()).code == "criterion.exists"
    )
    assert desk.run("ledger", "get", apart, "--json").document["id"] == composed
    desk.put("é.txt", "composed")
    desk.put("e\u0301.txt", "apart")
    desk.cite(composed, "e\u0301.txt")
    desk.put("é.txt", "changed")
    assert desk.states()[composed] == "holds"
    desk.put("e\u0301.txt", "changed")
    assert desk.states()[composed] == "stale"
    assert desk.refused("ledger", "init", "é", "criteria.md").code == "input.invalid"


@pytest.mark.requirement("P10")
def test_20_what_held_in_one_tree_is_stale_in_another_that_differs(project: Project, tmp_path: Path) -> None:
    (name,) = project.freeze("checkout", 1)
    project.git("worktree", "add", "--quiet", "../tree")
    tree = project.at(tmp_path / "tree")
    (tree.folder / PROOF).write_text("something else\n", encoding="utf-8")
    project.mark("checkout", name)
    assert project.passing("checkout") == {name}
    assert tree.rows("checkout")[name]["state"] == "stale"


# -- E. Sync and merge ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("P16", "F5.19")
def test_22_no_flag_of_the_index_is_set_and_the_view_is_no_file_of_gits(project: Project) -> None:
    (name,) = project.freeze("checkout", 1)
    project.mark("checkout", name)
    assert all(row.startswith("H ") for row in project.git("ls-files", "-v").splitlines())
    assert project.git("status", "--porcelain", "--ignored=no") == "?? .tallystick/\n"
    assert project.git("check-ignore", ".agent/tasks/checkout/feature_list.json")


@pytest.mark.requirement("P4", "P6")
def test_23_a_process_that_keeps_the_store_open_sees_what_others_write(desk: Desk) -> None:
    running = desk.app()
    assert running.ledger.show(FEATURE).ledger.criteria["AC3"].passes is False
    desk.cite("AC3")
    assert running.ledger.show(FEATURE).ledger.criteria["AC3"].passes is True
    running.store.close()


class Mounted(Tap):
    """A machine whose store lies on a shared file system."""

    def __init__(self, folder: Path, kind: str) -> None:
        super().__init__(OsFiles())
        self._text = f"20 1 8:1 / / rw - ext4 /dev/sda rw\n21 20 0:40 / {folder} rw - {kind} server:/ rw\n".encode()
        self._fd = -1

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        """The table of mounts is ours."""
        fd = super().open("/dev/null" if path == "/proc/self/mountinfo" else path, flags, mode)
        self._fd = fd if path == "/proc/self/mountinfo" else self._fd
        return fd

    def close(self, fd: int) -> None:
        """The number may be given to another file."""
        super().close(fd)
        self._fd = -1 if fd == self._fd else self._fd

    def read(self, fd: int, size: int) -> bytes:
        """Its text, once."""
        if fd != self._fd:
            return super().read(fd, size)
        text, self._text = self._text, b""
        return text


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "9p", "fuse.sshfs"])
def test_24_a_store_on_a_network_is_named_and_is_no_alarm(desk: Desk, kind: str) -> None:
    for words in (("audit",), ("init",)):
        said = desk.run(*words, files=Mounted(desk.folder, kind))
        assert (said.status, kind in said.out, "shared file system" in said.out) == (0, True, True)
    assert "shared file system" not in desk.run("audit").out


# -- F. Formats and versions ------------------------------------------------------------------------------------------


@pytest.mark.requirement("P11", "P17")
def test_25_an_older_copy_that_is_valid_by_itself_is_a_roll_back(desk: Desk) -> None:
    old = desk.journal.read_bytes()
    desk.cite("AC3")
    desk.journal.write_bytes(old)
    shown = desk.run("ledger", "show")
    assert (shown.status, "ends at record 3; 4 were written here" in shown.err) == (LOOK, True)


@pytest.mark.requirement("L10", "P18")
def test_26_what_was_not_edited_keeps_its_bytes(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk")
    text = "a: b # c, \"d\": {e} -- 'f' \\ % & *g !h"
    desk.freeze(f"- [ ] AC1 {text}\n- [ ] AC2 other\n")
    before = desk.view.read_bytes()
    desk.ok("ledger", "fail", FEATURE, "AC2", "--error", "x: y # z")
    after = desk.view.read_bytes()
    assert after == before.replace(
        b'"last_attempt_error": null\n    }\n  ]', b'"last_attempt_error": "x: y # z"\n    }\n  ]'
    )


@pytest.mark.requirement("P18")
@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_27_the_encoding_of_the_machine_takes_no_part(project: Project, locale: str) -> None:
    env = {"LC_ALL": locale, "LANG": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    criteria = "- [ ] AC1 größer als 日本 🎉\n".encode()
    (project.folder / "prüfung.md").write_bytes(criteria)
    assert project.tally("ledger", "init", "checkout", "prüfung.md", env=env).status == 0
    (project.folder / "schön.txt").write_text("ja\n", encoding="utf-8")
    said = project.tally("ledger", "pass", "AC1", "--evidence", "schön.txt", env=env)
    assert (said.status, said.out) == (0, "AC1 passes, cited: schön.txt\n")
    view = (project.folder / ".agent/tasks/checkout/feature_list.json").read_bytes()
    assert "größer als 日本 🎉".encode() in view
    assert "größer als 日本 🎉" in project.tally("ledger", "show", env=env).out
    assert project.tally("audit", env=env).status == 0


# -- G. Disk, permissions, paths --------------------------------------------------------------------------------------


class Full(Tap):
    """A disk without room: the `nth` write and all later ones fail."""

    def __init__(self, files: Files, nth: int) -> None:
        super().__init__(files)
        self._left = nth

    def intercept(self, attempt: Attempt) -> Any:
        """Count writes."""
        if attempt.name in ("write", "pwrite", "fsync"):
            self._left -= 1
            if self._left <= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), attempt.path)
        return super().intercept(attempt)


@pytest.mark.requirement("P1", "P2", "P3")
def test_28_a_full_disk_empties_no_file_and_acknowledges_nothing(desk: Desk) -> None:
    desk.put("large.txt", "x" * 20_000)
    view, journal = desk.view.read_bytes(), desk.journal.read_bytes()
    statuses = []
    for nth in range(1, 12):
        said = desk.run("ledger", "pass", FEATURE, "AC3", "--evidence", "large.txt", files=Full(OsFiles(), nth))
        statuses.append(said.status)
        if said.status == 0:  # the record was synced; what failed is the view, which can be made again
            break
        assert ("no room left" in said.err, said.out) == (True, "")
        assert desk.journal.read_bytes() == journal
        assert desk.view.read_bytes() == view
        assert desk.counted() == ["AC1"]
    assert statuses[-1] == 0
    assert statuses[:-1] == [1] * (len(statuses) - 1) != []
    desk.ok("ledger", "fail", FEATURE, "AC2", "--error", "again")
    assert json.loads(desk.view.read_bytes())["features"][2]["passes"]
    assert desk.findings() == []
    assert list((desk.store / "tmp").iterdir()) == []


@pytest.mark.requirement("P16")
def test_29_a_link_stays_a_link(desk: Desk) -> None:
    """Of folders, links inside the project are followed and others refused; a view that is a link is left alone."""
    inside = desk.folder / "ledgers"
    (desk.folder / ".agent" / "tasks" / FEATURE).rename(inside)
    (desk.folder / ".agent" / "tasks" / FEATURE).symlink_to("../../ledgers")
    desk.cite("AC3")
    assert (desk.folder / ".agent" / "tasks" / FEATURE).is_symlink()
    assert json.loads((inside / "feature_list.json").read_bytes())["features"][2]["passes"]
    outside = desk.base / "elsewhere.json"
    (inside / "feature_list.json").rename(outside)
    (inside / "feature_list.json").symlink_to(outside)
    before = outside.read_bytes()
    said = desk.run("ledger", "fail", FEATURE, "AC2", "--error", "again")
    assert (said.status, "no regular file" in said.err, outside.read_bytes()) == (0, True, before)


@pytest.mark.requirement("F1.5", "P18")
@pytest.mark.parametrize("name", ["../../x", "..", "a/b", "C:x", "con", "x" * 300, ""])
def test_30_an_id_is_never_a_path(desk: Desk, name: str) -> None:
    assert desk.refused("ledger", "init", name, "criteria.md").code == "input.invalid"
    if 0 < len(name) <= 64:
        desk.ok(
            "ledger", "add", FEATURE, "-", given=json.dumps({"features": [{"id": name, "description": "x"}]}).encode()
        )
        before = {path for path in desk.tree() if "/tallystick/journal/" in path or "/.agent/" in path}
        desk.cite(name)
        assert {path for path in desk.tree() if "/tallystick/journal/" in path or "/.agent/" in path} == before
        assert desk.states()[name] == "holds"
