"""Holds the use cases of outputs on a real disk: save, adopt, find, read, and have the files in the tree (formats:
outputs). Secrets never reach the disk by us; nothing that nobody knows is ever replaced."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.handoff.output.listing import Row, phases_of
from tallystick.handoff.output.model import outputs_of
from tallystick.handoff.output.service import OutputService
from tallystick.journal.record import By
from tallystick.limits import INPUT_FILE, PAGE_ROWS
from tallystick.system.files import OsFiles
from tallystick.wiring import assemble, outputs
from tests.desk import FEATURE, Desk
from tests.simdisk import Tap
from tests.simdisk.tap import Attempt
from tests.unit.handoff.bench import FILE, TOKEN, Bench
from tests.unit.handoff.examples import document, payload, printed_header
from tests.unit.masking.test_secrets import LOOK_ALIKES, PLANTED


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    desk = Desk(tmp_path)
    desk.freeze()
    return Bench(desk)


def refused(code: str, service: OutputService, given: Any, name: str = "") -> Refusal:
    with pytest.raises(Refusal) as caught:
        service.save(given, name)
    assert caught.value.code == code, caught.value
    assert caught.value.hint
    return caught.value


# -- saving -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("O1", "O2", "O3")
def test_an_output_is_saved_found_and_written_at_the_documented_place(bench: Bench) -> None:
    saved = bench.save()
    assert (saved.output.file, saved.output.version, saved.again) == (FILE, 1, False)
    assert json.loads(bench.read()) == document()
    assert bench.rows()[FILE]._replace(recorded_at=None) == Row(
        FILE, 8, "developer", "task-001", "developer-auth-001", "completed", "2024-01-01T00:00:00Z",
        canonical.sha256(bench.read()), len(bench.read()), 1, None, True, True, True,
    )  # fmt: skip


def test_bytes_that_are_whole_are_kept_as_they_came(bench: Bench) -> None:
    data = printed_header().replace(b"auth-feature-abc123", FEATURE.encode())
    assert bench.save(data).output.digest == canonical.sha256(data)
    assert bench.read() == data


@pytest.mark.requirement("O3")
def test_what_a_connection_knows_may_be_left_out_and_is_in_the_file(bench: Bench) -> None:
    given = {key: document()[key] for key in ("feature_id", "phase", "status", "output")}
    bench.save(given, "developer")
    whole = json.loads(bench.read())
    assert whole == {**document(), "agent_id": "developer", "timestamp": whole["timestamp"]}
    assert whole["timestamp"].startswith("2026-05-21T")
    assert list(whole) == list(document())


def test_the_same_again_is_no_new_version(bench: Bench) -> None:
    bench.save()
    assert bench.save().again
    given = {key: value for key, value in document(status="partial").items() if key != "timestamp"}
    assert not bench.save(given).again
    assert bench.save(given).again  # although its time would be another one now
    assert bench.rows()[FILE].versions == 2


@pytest.mark.requirement("F2.2")
def test_the_later_of_two_agents_replaces_the_file_and_both_stay(bench: Bench) -> None:
    bench.save()
    bench.save(document(agent_id="another"))
    assert json.loads(bench.read())["agent_id"] == "another"
    service = bench.service()
    assert json.loads(service.show(FEATURE, FILE, 1).data)["agent_id"] == "developer-auth-001"
    assert service.show(FEATURE, FILE).versions == 2
    with pytest.raises(Refusal, match="versions 1 to 2, not 3"):
        service.show(FEATURE, FILE, 3)


def test_an_earlier_content_saved_again_is_a_new_version(bench: Bench) -> None:
    for agent in ("one", "two", "one"):
        bench.save(document(agent_id=agent))
    assert json.loads(bench.read())["agent_id"] == "one"
    assert bench.rows()[FILE].versions == 3


@pytest.mark.requirement("F2.1")
def test_an_invalid_output_is_refused_with_all_its_mistakes_and_leaves_no_trace(bench: Bench) -> None:
    before = bench.desk.tree()
    given = document("tester", phase=-1, output={**payload("tester"), "passed": 20, "coverage": 180})
    error = refused("output.invalid", bench.service(), given)
    assert [one["path"] for one in error.facts["mistakes"]] == ["phase", "output.coverage", "output.total"]  # type: ignore[attr-defined,unused-ignore]
    assert "3 mistakes" in error.message
    assert bench.desk.tree() == before


@pytest.mark.requirement("P15")
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "input.invalid"),
        (b"{", "input.invalid"),
        (b"\xff{}", "input.invalid"),
        (b'{"a": NaN}', "input.invalid"),
        (b'{"a": 1, "a": 2}', "input.invalid"),
        (b'{"a": "\\ud800"}', "input.invalid"),
        (b'{"a":' * 100 + b"1" + b"}" * 100, "input.invalid"),
        (b"[]", "output.invalid"),
        (b"{}", "output.invalid"),
        (b"null", "output.invalid"),
        (b'"' + b"x" * INPUT_FILE + b'"', "input.too_large"),
    ],
    ids=["empty", "torn", "latin", "nan", "twice", "surrogate", "deep", "list", "nothing", "null", "large"],
)
def test_what_is_no_output_at_all_is_refused(bench: Bench, data: bytes, code: str) -> None:
    before = bench.desk.tree()
    refused(code, bench.service(), data)
    assert bench.desk.tree() == before


def test_what_json_cannot_say_is_refused(bench: Bench) -> None:
    for value in (float("inf"), "\ud800", b"bytes"):
        assert refused("input.invalid", bench.service(), document("other", output={"x": value})).message


@pytest.mark.requirement("F2.4")
def test_a_connection_with_a_role_saves_outputs_of_that_role_only(bench: Bench) -> None:
    error = refused("role.denied", bench.service("reviewer"), document())
    assert "reviewer" in error.message
    seen: list[str] = []
    bench.app().store.history(FEATURE, lambda record, _ours: seen.append(record.type))
    assert seen[-1] == "pass_refused"
    assert not bench.save(document("reviewer"), "reviewer").again
    for role in ("solo", "main", "user", "shell"):
        bench.save(document(agent_id=role), role)


@pytest.mark.requirement("P15")
@pytest.mark.parametrize("word", ["../../x", "..", "a/b", "C:x", "x" * 300, "", "a\0b", "."])
def test_no_word_of_a_header_becomes_a_path(bench: Bench, word: str) -> None:
    before = bench.desk.tree()
    for key in ("feature_id", "role", "slug"):
        refused("output.invalid", bench.service(), document(**{key: word}) if key != "role" else document(word))
    assert bench.desk.tree() == before


@pytest.mark.requirement("F2.3")
def test_the_name_of_the_file_that_is_saved_may_say_the_slug(bench: Bench) -> None:
    assert bench.save(document(), name="08-developer-login.json").output.file == "08-developer-login.json"
    assert bench.save(document(), name="result.json").output.file == FILE
    assert bench.save(document(), name="8-developer-x.json").output.file == "08-developer-x.json"
    refused("output.invalid", bench.service(), document(), "09-reviewer-x.json")


def test_a_feature_needs_no_ledger(tmp_path: Path) -> None:
    bench = Bench(Desk(tmp_path))
    bench.save()
    assert list(bench.rows()) == [FILE]
    assert bench.desk.run("audit").status == 0


@pytest.mark.requirement("P19")
def test_secrets_are_masked_before_anything_is_written(bench: Bench) -> None:
    given = json.dumps(document(output={**payload("developer"), "notes": f"token {TOKEN}"})).encode()
    output = bench.save(given).output
    assert (output.masked, output.original) == (1, canonical.sha256(given))
    assert TOKEN.encode() not in bench.on_disk()
    assert TOKEN.encode() not in bench.read()
    assert "[masked:" in json.loads(bench.read())["output"]["notes"]
    assert bench.save(given).again


@pytest.mark.requirement("P19")
@pytest.mark.parametrize("door", ["saved", "adopted"])
def test_no_secret_of_a_known_shape_reaches_the_store_and_look_alikes_stay(bench: Bench, door: str) -> None:
    honest = "\n".join(LOOK_ALIKES)
    secrets = [one for one in PLANTED if one.secret not in honest]
    planted = [f"{one.before}{one.secret}{one.after}" for one in secrets]
    given = json.dumps(document("other", output={"planted": planted, "honest": LOOK_ALIKES})).encode()
    if door == "saved":
        bench.save(given)
    else:
        bench.put("08-other-output.json", given)
        bench.mark()
    [output] = outputs_of(bench.app().store.snapshot(FEATURE))["08-other-output.json"]
    kept = json.loads(bench.service().show(FEATURE, "08-other-output.json").data)["output"]
    assert (output.original, output.masked >= len(secrets)) == (canonical.sha256(given), True)
    assert kept["honest"] == LOOK_ALIKES
    disk = bench.on_disk()
    assert len({one.name for one in secrets}) >= 12
    assert [one.name for one in secrets if json.dumps(one.secret)[1:-1].encode() in disk] == []


# -- adopting ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("O13")
def test_a_file_that_an_agent_wrote_is_listed_then_taken_in_by_any_writing_command(bench: Bench) -> None:
    path = bench.put(FILE, document())
    inode = path.stat().st_ino
    before = bench.desk.tree()
    row = bench.rows()[FILE]
    assert (row.adopted, row.valid, row.versions) == (False, True, 0)
    assert bench.service().show(FEATURE, FILE).output is None
    assert bench.desk.tree() == before
    assert bench.mark() == (f".jonggrang/.output/features/{FEATURE}/{FILE} was adopted",)
    row = bench.rows()[FILE]
    assert (row.adopted, row.versions, row.digest) == (True, 1, canonical.sha256(path.read_bytes()))
    assert path.stat().st_ino == inode
    assert bench.mark() == ()
    assert bench.rows()[FILE].versions == 1


@pytest.mark.requirement("O13", "P19")
def test_an_agents_own_file_keeps_its_secrets_and_what_we_keep_has_none(bench: Bench) -> None:
    path = bench.put(FILE, document(output={**payload("developer"), "notes": TOKEN}))
    data = path.read_bytes()
    bench.mark()
    assert path.read_bytes() == data
    assert TOKEN.encode() not in bench.on_disk()
    shown = bench.service().show(FEATURE, FILE)
    assert (shown.masked, TOKEN.encode() in shown.data) == (1, False)
    bench.mark()
    assert (path.read_bytes(), bench.rows()[FILE].versions) == (data, 1)
    path.unlink()
    bench.mark()
    assert bench.read() == shown.data


@pytest.mark.requirement("F2.2")
def test_what_an_agent_wrote_over_ours_is_a_new_version(bench: Bench) -> None:
    bench.save()
    bench.put(FILE, document(status="failed"))
    row = bench.rows()[FILE]
    assert (row.adopted, row.status, row.versions) == (False, "failed", 1)
    bench.mark()
    assert [one.status for one in outputs_of(bench.app().store.snapshot(FEATURE))[FILE]] == ["completed", "failed"]
    assert json.loads(bench.read())["status"] == "failed"


def test_an_earlier_version_that_somebody_put_back_is_the_newest(bench: Bench) -> None:
    bench.save()
    first = bench.read()
    bench.save(document(status="failed"))
    bench.mark()
    bench.put(FILE, first)
    bench.mark()
    assert (bench.read(), bench.rows()[FILE].status, bench.rows()[FILE].versions) == (first, "completed", 3)


def test_what_lay_there_before_a_save_is_the_version_before(bench: Bench) -> None:
    bench.put(FILE, document(status="failed"))
    bench.save()
    assert [one.status for one in outputs_of(bench.app().store.snapshot(FEATURE))[FILE]] == ["failed", "completed"]
    assert json.loads(bench.read())["status"] == "completed"


@pytest.mark.requirement("F2.5")
def test_a_broken_file_is_listed_with_all_its_mistakes_and_stays(bench: Bench) -> None:
    path = bench.put("13-tester-results.json", document("tester", phase=13, output={"passed": 7}))
    broken = path.read_bytes()
    row = bench.rows(role="tester")["13-tester-results.json"]
    assert (row.valid, row.adopted, row.phase, row.role, len(row.reasons)) == (False, False, 13, "tester", 5)
    bench.mark()
    assert (path.read_bytes(), bench.rows()["13-tester-results.json"].valid) == (broken, False)
    with pytest.raises(Refusal, match="5 mistakes") as caught:
        bench.service().show(FEATURE, "13-tester-results.json")
    assert caught.value.code == "output.invalid"


@pytest.mark.requirement("P19")
def test_a_save_takes_the_place_of_a_broken_file_whose_bytes_are_kept(bench: Bench) -> None:
    bench.put(FILE, b'{"half": "' + TOKEN.encode())
    saved = bench.save()
    assert json.loads(bench.read()) == document()
    [note] = saved.notes
    blob = note.rpartition("sha256:")[2]
    kept = bench.app().store.blobs.get(blob)
    assert kept is not None
    assert kept.startswith(b'{"half": "')
    assert TOKEN.encode() not in bench.on_disk()
    assert bench.rows()[FILE].valid


def test_a_broken_file_over_ours_is_named_and_what_is_recorded_is_shown(bench: Bench) -> None:
    bench.save()
    bench.put(FILE, b"{")
    row = bench.rows()[FILE]
    assert (row.adopted, row.valid, row.status) == (True, False, "completed")
    shown = bench.service().show(FEATURE, FILE)
    assert json.loads(shown.data) == document()
    assert "is no output" in shown.notes[0]
    bench.mark()
    assert bench.read() == b"{"


def test_a_header_of_another_feature_is_no_output_of_this_one(bench: Bench) -> None:
    bench.put(FILE, document(feature_id="refund"))
    [reason] = bench.rows()[FILE].reasons
    assert reason.path == "feature_id"


# -- the tree ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("O10", "O12")
def test_files_that_were_cleaned_away_come_back(bench: Bench) -> None:
    bench.save()
    bench.save(document("reviewer", phase=9))
    large = document("lead", phase=7)
    large["output"]["tech_decisions"] = ["x" * 40_000]
    bench.save(large)
    before = {path.name: path.read_bytes() for path in bench.folder.iterdir()}
    for path in bench.folder.iterdir():
        path.unlink()
    bench.folder.rmdir()
    assert set(bench.rows()) == set(before)
    bench.mark()
    assert {path.name: path.read_bytes() for path in bench.folder.iterdir()} == before
    assert [path.name for path in bench.folder.glob("09-reviewer-*.json")] == ["09-reviewer-output.json"]


def test_a_tree_that_has_an_earlier_version_is_brought_up(bench: Bench) -> None:
    bench.save()
    first = bench.read()
    bench.save(document(status="failed"))
    newest = bench.read()
    bench.put(FILE, first)
    for path in (bench.desk.store / "cache" / "outputs").iterdir():
        path.unlink()  # another work tree has never seen the newer one
    bench.mark()
    assert (bench.read(), bench.rows()[FILE].versions) == (newest, 2)


class Counting(Tap):
    """The disk, which notes the files that are opened in the features' folders."""

    def __init__(self, files: Any) -> None:
        super().__init__(files)
        self.opened_files: list[str] = []
        self.listed: list[str] = []

    def intercept(self, attempt: Attempt) -> Any:
        if attempt.name == "open" and "/features/" in attempt.path:
            self.opened_files.append(attempt.path.rpartition("/")[2])
        if attempt.name == "listdir":
            self.listed.append(attempt.path)
        return super().intercept(attempt)


def counted(bench: Bench, do: str) -> Counting:
    files = Counting(OsFiles())
    app = assemble(bench.desk.machine(files), str(bench.desk.folder), By("solo"))
    if do == "mark":
        app.ledger.mark_failure(FEATURE, "AC1", "x")
        app.due.finish()
    else:
        outputs(app).find(FEATURE)
    app.store.close()
    return files


def at_rest(bench: Bench) -> None:
    """Let time pass: every file was last changed an hour ago."""
    for path in bench.folder.iterdir():
        before = path.stat().st_mtime_ns - 3_600_000_000_000
        os.utime(path, ns=(before, before))
    bench.mark()
    for path in (bench.desk.store / "cache" / "outputs").iterdir():
        later = path.stat().st_mtime_ns + 3_600_000_000_000
        os.utime(path, ns=(later, later))


def test_a_mark_beside_a_hundred_outputs_reads_none_of_them(bench: Bench) -> None:
    for number in range(100):
        bench.put(f"08-developer-task-{number}.json", document("developer", task_id=None))
    bench.put("08-developer-broken.json", b"{")
    assert len(bench.mark()) == 100
    at_rest(bench)
    assert counted(bench, "mark").opened_files == []
    assert counted(bench, "find").opened_files == ["08-developer-broken.json"]
    bench.put("08-developer-task-7.json", document("developer", task_id=None, status="failed"))
    assert "08-developer-task-7.json" in counted(bench, "mark").opened_files


def test_writing_commands_of_one_process_leave_no_descriptor_behind(bench: Bench) -> None:
    files = Tap(OsFiles())
    app = assemble(bench.desk.machine(files), str(bench.desk.folder), By("solo"))
    held: list[int] = []
    for number in range(4):
        outputs(app).save(document(agent_id=f"a{number}"))
        app.ledger.mark_failure(FEATURE, "AC1", str(number))
        app.due.finish()
        held.append(len(files.paths))
    app.store.close()
    assert held[1:] == held[:1] * 3


def test_find_looks_at_no_other_feature(bench: Bench) -> None:
    bench.save()
    bench.desk.ok("ledger", "init", "refund", "-", given=b"- [ ] AC1 x\n")
    bench.save(document(feature_id="refund"))
    files = counted(bench, "find")
    assert not [path for path in files.paths.values() if "refund" in path]
    assert not [path for path in files.listed if "refund" in path or path.endswith("/features")]


def test_a_reading_command_writes_nothing(bench: Bench) -> None:
    bench.put(FILE, document())
    bench.put("junk", b"x")
    before = bench.desk.tree()
    bench.rows()
    bench.service().show(FEATURE, FILE)
    assert bench.desk.tree() == before


# -- finding ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("O10", "O12")
def test_outputs_are_found_by_phase_role_task_and_status_newest_first(bench: Bench) -> None:
    bench.save()
    bench.save(document("reviewer", phase=12))
    bench.save(document("tester", phase=14, status="failed"))
    assert [row.role for row in bench.service().find(FEATURE).rows] == ["tester", "reviewer", "developer"]
    assert [row.role for row in bench.rows(role="reviewer").values()] == ["reviewer"]
    assert [row.role for row in bench.rows(task="task-001").values()] == ["developer"]
    assert [row.role for row in bench.rows(status="failed").values()] == ["tester"]
    assert [row.role for row in bench.rows(phases=phases_of("implementation")).values()] == ["developer"]
    assert [row.role for row in bench.rows(phases=phases_of("code-quality")).values()] == ["reviewer"]
    assert [row.role for row in bench.rows(phases=phases_of("14")).values()] == ["tester"]
    assert bench.rows(phases=phases_of("6.5")) == {}
    with pytest.raises(Refusal, match="no phase"):
        phases_of("dreaming")


def test_pages_give_each_row_once(bench: Bench) -> None:
    for number in range(45):
        bench.put(f"08-developer-{number}.json", document("developer", task_id=None))
    service, seen, cursor = bench.service(), [], None
    while True:
        page = service.find(FEATURE, cursor=cursor)
        assert len(page.rows) <= PAGE_ROWS
        seen += [row.file for row in page.rows]
        cursor = page.cursor
        if cursor is None:
            break
    assert (len(seen), len(set(seen)), page.total, page.more) == (45, 45, 45, 0)
    with pytest.raises(Refusal, match="cursor"):
        service.find(FEATURE, cursor="nosuch")


def test_a_feature_that_nobody_knows_is_named(bench: Bench) -> None:
    for call in (lambda: bench.service().find("nosuch"), lambda: bench.service().show("nosuch", FILE)):
        with pytest.raises(Refusal) as caught:
            call()
        assert caught.value.code == "feature.unknown"
    with pytest.raises(Refusal) as caught:
        bench.service().show(FEATURE, FILE)
    assert caught.value.code == "output.unknown"


@pytest.mark.parametrize(
    "file", ["../checkout/x", "/etc/passwd", "..", "", "a\0b", "MANIFEST.yaml", ".hidden", "\udcff"]
)
def test_no_name_that_is_asked_for_leads_out(bench: Bench, file: str) -> None:
    bench.save()
    bench.put("MANIFEST.yaml", b"feature_id: x\n")
    with pytest.raises(Refusal) as caught:
        bench.service().show(FEATURE, file)
    assert caught.value.code == "output.unknown"
