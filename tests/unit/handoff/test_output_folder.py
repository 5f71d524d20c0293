"""Holds what else may lie in a folder of outputs: nothing there stops a command, is lost, or leads out of the project;
and what a pass that cites an output rests on."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.handoff.output.listing import Row
from tallystick.handoff.output.schemas import Mistake
from tallystick.journal.record import By
from tallystick.limits import INPUT_FILE
from tallystick.system.files import OsFiles
from tallystick.wiring import assemble, outputs
from tests.desk import FEATURE, Desk
from tests.simdisk import Tap
from tests.simdisk.tap import Attempt
from tests.unit.handoff.bench import FILE, TOKEN, Bench
from tests.unit.handoff.examples import document, payload


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    desk = Desk(tmp_path)
    desk.freeze()
    return Bench(desk)


# -- a folder full of other things ------------------------------------------------------------------------------------


@pytest.fixture
def foreign(bench: Bench) -> Iterator[Bench]:
    """A folder that holds everything but outputs, and one output."""
    outside = bench.desk.base / "outside.json"
    outside.write_text(json.dumps(document()))
    bench.put(FILE, document())
    bench.put("01-lead-large.json", b"")
    os.truncate(bench.folder / "01-lead-large.json", INPUT_FILE + 1)
    (bench.folder / "02-lead-folder.json").mkdir()
    os.mkfifo(bench.folder / "03-lead-pipe.json")
    (bench.folder / "04-lead-outside.json").symlink_to(outside)
    (bench.folder / "05-lead-nowhere.json").symlink_to("nowhere")
    (bench.folder / "06-lead-loop.json").symlink_to("06-lead-loop.json")
    (bench.folder / "07-developer-inside.json").symlink_to(FILE)
    held = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(bench.folder)  # a socket's path is short
    held.bind("08-lead-socket.json")
    os.chdir(here)
    for name in (b"li\nne.json", b'"q".json', b"-rf", b"x" * 255, b"\xff\xfe.json", b"tab\t.json", b"a\\x0ab"):
        bench.put(name, b"{}")
    for other in ("MANIFEST.yaml", "jonggrang-tasks.json", ".dot.json", ".08-developer-x.json.tmp"):
        bench.put(other, b"x")
    for number in range(100):
        bench.put(f"junk-{number}.txt", b"x")
    yield bench
    held.close()


@pytest.mark.requirement("F2.5", "P18")
def test_every_foreign_thing_is_a_row_with_its_reason(foreign: Bench) -> None:
    rows: list[Row] = []
    cursor = None
    while True:
        page = foreign.service().find(FEATURE, cursor=cursor)
        rows += page.rows
        cursor = page.cursor
        if cursor is None:
            break
    assert rows[0].file == FILE
    assert len({row.file for row in rows}) == len(rows) == 1 + 8 + 7 + 100
    assert all(row.file.isprintable() and row.file.isascii() for row in rows)
    assert all(row.reasons and row.reasons[0].says and not row.valid for row in rows[1:])
    said = {row.file: row.reasons[0] for row in rows[1:]}
    assert "the limit is" in said["01-lead-large.json"].says
    assert "no regular file" in said["02-lead-folder.json"].says
    assert "no regular file" in said["03-lead-pipe.json"].says
    assert "outside the project" in said["04-lead-outside.json"].says
    assert "nowhere" in said["05-lead-nowhere.json"].says
    assert "cannot be read" in said["06-lead-loop.json"].says
    assert said["07-developer-inside.json"] == Mistake(
        "phase", 'is 8, but the file\'s name "07-developer-inside.json" says 7'
    )
    assert "cannot be read" in said["08-lead-socket.json"].says
    assert {"li\\x0ane.json", '"q".json', "-rf", "\\xff\\xfe.json", "tab\\x09.json", "a\\\\x0ab"} <= said.keys()


def test_foreign_things_are_left_as_they_are_by_a_write(foreign: Bench) -> None:
    def left() -> dict[str, tuple[str, bytes]]:
        return {name: row for name, row in foreign.desk.tree().items() if "/features/" in name and FILE not in name}

    before = left()
    assert foreign.mark() == (f".jonggrang/.output/features/{FEATURE}/{FILE} was adopted",)
    after = left()
    assert {name: after[name] for name in before if "MANIFEST" not in name and "jonggrang-tasks" not in name} == {
        name: row for name, row in before.items() if "MANIFEST" not in name and "jonggrang-tasks" not in name
    }


@pytest.mark.parametrize("kind", ["folder", "pipe", "outside"])
def test_a_save_is_kept_although_something_else_lies_at_its_place(bench: Bench, kind: str) -> None:
    path = bench.folder / FILE
    bench.folder.mkdir(parents=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        (bench.desk.base / "outside.json").write_text("{}")
        path.symlink_to(bench.desk.base / "outside.json")
    saved = bench.save()
    assert saved.notes
    assert json.loads(bench.service().show(FEATURE, FILE).data) == document()
    row = bench.rows()[FILE]
    assert (row.adopted, row.valid) == (True, False)
    if kind == "outside":
        assert (bench.desk.base / "outside.json").read_text() == "{}"


def test_a_features_folder_that_leads_outside_is_not_written_to(bench: Bench) -> None:
    elsewhere = bench.desk.base / "elsewhere"
    elsewhere.mkdir()
    (bench.desk.folder / ".jonggrang").symlink_to(elsewhere)
    app = bench.app()
    outputs(app).save(document())
    assert "leads outside" in " ".join(app.due.finish())
    app.store.close()
    assert [path for path in elsewhere.rglob("*") if path.is_file()] == []
    assert bench.rows()[FILE].adopted


class Restless(Tap):
    """A disk on which somebody writes on while a file is read."""

    def __init__(self, files: Any) -> None:
        super().__init__(files)
        self.met: set[int] = set()

    def intercept(self, attempt: Attempt) -> Any:
        if attempt.name == "open":
            self.met.clear()
        if attempt.name == "read" and attempt.path.endswith(FILE) and attempt.args[0] not in self.met:
            self.met.add(attempt.args[0])
            with open(attempt.path, "ab") as file:
                file.write(b"\n")
        return super().intercept(attempt)


def test_a_file_that_changes_while_it_is_read_is_looked_at_again_later(bench: Bench) -> None:
    bench.put(FILE, document())
    app = assemble(bench.desk.machine(Restless(OsFiles())), str(bench.desk.folder), By("solo"))
    [row] = outputs(app).find(FEATURE).rows
    assert "changed while it was read" in row.reasons[0].says
    app.ledger.mark_failure(FEATURE, "AC1", "x")
    app.due.finish()
    app.store.close()
    assert not bench.rows()[FILE].adopted
    bench.mark()
    assert bench.rows()[FILE].adopted


# -- citing -----------------------------------------------------------------------------------------------------------


def test_a_pass_rests_on_the_kept_bytes_and_is_stale_once_there_is_a_newer_version(bench: Bench) -> None:
    bench.save()
    digest = canonical.sha256(bench.read())
    bench.desk.cite("AC1", f"output:{FEATURE}/{FILE}")
    bench.desk.cite("AC2", f"output:{FEATURE}/{FILE}")
    rests_on = bench.desk.run("ledger", "get", "AC1", "--json").document["rests_on"]
    assert rests_on == [{"kind": "output", "target": f"{FEATURE}/{FILE}", "digest": digest}]
    (bench.folder / FILE).unlink()
    assert bench.desk.states()["AC1"] == "holds"
    bench.put(FILE, document(status="failed"))
    assert bench.desk.states()["AC1"] == "stale"
    bench.mark()
    assert bench.desk.states()["AC2"] == "stale"


def test_an_output_that_is_not_adopted_yet_can_be_cited_without_its_secrets(bench: Bench) -> None:
    bench.put(FILE, document(output={**payload("developer"), "notes": TOKEN}))
    bench.desk.cite("AC1", f"output:{FEATURE}/{FILE}")
    assert bench.desk.states()["AC1"] == "holds"
    assert TOKEN.encode() not in bench.on_disk()
    assert bench.rows()[FILE].adopted


@pytest.mark.parametrize(
    "target", [f"{FEATURE}/nosuch.json", f"nosuch/{FILE}", f"{FEATURE}/", f"{FEATURE}/../x", FEATURE]
)
def test_an_output_that_is_not_there_cannot_be_cited(bench: Bench, target: str) -> None:
    bench.save()
    error = bench.desk.refused("ledger", "pass", FEATURE, "AC1", "--evidence", f"output:{target}")
    assert error.code == "evidence.missing"


def test_a_kept_output_that_was_damaged_is_found_by_the_audit(bench: Bench) -> None:
    large = document(output={**payload("developer"), "notes": "x" * 100_000})
    digest = bench.save(large).output.digest
    bench.desk.ok("audit")
    (bench.desk.store / "blobs" / digest[:2] / digest).write_bytes(b"other")
    assert "blob.changed" in bench.desk.findings()
    (bench.folder / FILE).unlink()
    with pytest.raises(Refusal) as caught:
        bench.service().show(FEATURE, FILE)
    assert caught.value.code == "journal.damaged"
