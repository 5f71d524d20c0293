"""Holds that no source gets further than it should: each bad one is refused by name with a next step and changes
nothing, and a source with several mistakes has them all named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.imports.source import Source, TooMuch
from tallystick.limits import IMPORT_BYTES, IMPORT_FILES, INPUT_FILE
from tallystick.system.files import OsFiles
from tests.desk import Desk
from tests.simdisk import Tap
from tests.unit.imports.stores import AUTH, criterion, ledger, of_another_server, of_jonggrang, output, passed, put

LEDGER = ".agent/tasks/checkout/feature_list.json"
EVIDENCE = ".agent/tasks/checkout/evidence.json"
BOARD = f".jonggrang/.output/features/{AUTH}/jonggrang-tasks.json"
MANIFEST = f".jonggrang/.output/features/{AUTH}/MANIFEST.yaml"
OUTPUT = f".jonggrang/.output/features/{AUTH}/08-developer-task-001.json"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with a ledger of another feature."""
    made = Desk(tmp_path / "here")
    made.freeze(feature="other")
    return made


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Where the foreign store lies."""
    folder = tmp_path / "old-project"
    folder.mkdir()
    return folder


class Crowded(Tap):
    """A disk on which the folder of tasks holds more names than an import looks at."""

    def listdir(self, path: str) -> list[str]:
        """As `Files.listdir`."""
        return [str(number) for number in range(IMPORT_FILES + 1)] if path.endswith("tasks") else super().listdir(path)


def sparse(path: Path, size: int) -> None:
    """A file of that many NUL bytes, without writing them."""
    put(path, b"")
    os.truncate(path, size)


def fifo(path: Path) -> None:
    """A pipe that nobody writes to."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def leads_out(path: Path) -> None:
    """A link to a sound ledger outside the source."""
    target = put(path.parents[3].parent / "outside.json", ledger(passed(1)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def folder_leads_out(path: Path) -> None:
    """A task's folder that is a link out of the source."""
    target = put(path.parents[3].parent / "elsewhere" / "feature_list.json", ledger(passed(1))).parent
    path.parent.parent.mkdir(parents=True)
    path.parent.symlink_to(target)


def nested(path: Path) -> None:
    """JSON deeper than the limit."""
    put(path, b"[" * 100_000)


def bad(value: object) -> Callable[[Path], None]:
    """A file of that content."""

    def make(path: Path) -> None:
        put(path, value)

    return make


ROWS: list[tuple[str, str, Callable[[Path], None], str, str]] = [
    ("cut off", LEDGER, bad(b'{"features": ['), "input.invalid", "is not JSON"),
    ("no UTF-8", LEDGER, bad(b"\xff\xfe"), "input.invalid", "is not UTF-8"),
    ("NaN", LEDGER, bad(b'{"features": [{"id": NaN}]}'), "input.invalid", "NaN"),
    ("a key twice", LEDGER, bad(b'{"features": [], "features": []}'), "input.invalid", "twice in one object"),
    ("a lone surrogate", LEDGER, bad(b'[{"description": "\\ud800"}]'), "input.invalid", "lone surrogate"),
    ("deep", LEDGER, nested, "input.invalid", "nests deeper"),
    ("too large", LEDGER, lambda path: sparse(path, INPUT_FILE + 1), "input.too_large", "the limit is"),
    ("a pipe", LEDGER, fifo, "input.unreadable", "no regular file"),
    ("a folder", LEDGER, lambda path: path.mkdir(parents=True), "input.unreadable", "no regular file"),
    ("a link out", LEDGER, leads_out, "input.unreadable", "leads outside the source"),
    ("a folder that leads out", LEDGER, folder_leads_out, "input.unreadable", "leads outside the source"),
    ("empty", LEDGER, bad(b""), "input.invalid", "is not JSON"),
    ("no list", LEDGER, bad({"tasks": []}), "input.invalid", "is no feature list"),
    ("no criteria", LEDGER, bad(ledger()), "input.invalid", "no criterion was found"),
    ("a newer schema", LEDGER, bad({**ledger(criterion(1)), "schema_version": 2}), "format.newer", "schema_version"),
    ("an id twice", LEDGER, bad(ledger(criterion(1), criterion(1))), "input.invalid", "stands there twice"),
    ("an id with a line end", LEDGER, bad(ledger(criterion(1, id="a\nb"))), "input.invalid", "no printable character"),
    ("a check nobody can run", LEDGER, bad(ledger(criterion(1, evidence_required=["run: a && b"]))), "input.invalid",
     "no shell"),
    ("a text too long", LEDGER, bad([{"description": "x" * 9000}]), "input.invalid", "9,000 characters"),
    ("another feature's", LEDGER, bad(ledger(criterion(1), feature="shop")), "input.invalid",
     'is the folder of "checkout" and names "shop"'),
    ("no feature's name", ".agent/tasks/Check_Out/feature_list.json", bad(ledger(criterion(1), feature="Check_Out")),
     "input.invalid", '"Check_Out" cannot name a feature'),
    ("no name at all", "feature_list.json", bad([{"description": "a"}]), "usage", "feature_list.json names no feature"),
    ("evidence of nothing", EVIDENCE, bad({"AC1": "PASS"}), "input.invalid", "is no criterion of a ledger beside it"),
    ("evidence without verdicts", EVIDENCE, bad({"note": "x"}), "input.invalid", "no verdict"),
    ("a board that is none", BOARD, bad({"tasks": 7}), "input.invalid", "tasks is no list"),
    ("a board with a circle", BOARD, bad({"tasks": [{"id": "a", "title": "A", "blocked_by": ["b"]},
                                                    {"id": "b", "title": "B", "blocked_by": ["a"]}]}),
     "input.invalid", "in a circle"),
    ("a board of another", BOARD, bad({"feature": "shop", "tasks": [{"id": "a", "title": "A"}]}), "input.invalid",
     'is of "shop"'),
    ("a manifest with tags", MANIFEST, bad("feature_id: !!python/object:os.system x\n"), "input.invalid", "MANIFEST"),
    ("a manifest of another", MANIFEST, bad("feature_id: shop\n"), "input.invalid", 'is of "shop"'),
    ("an output that is a pipe", OUTPUT, fifo, "input.unreadable", "no regular file"),
    ("nothing", "src/main.py", bad("print()\n"), "input.invalid", "holds no store"),
]  # fmt: skip


@pytest.mark.parametrize(("inner", "make", "code", "says"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_bad_source_is_refused_by_name(
    desk: Desk, old: Path, inner: str, make: Callable[[Path], None], code: str, says: str
) -> None:
    make(old / inner)
    error = desk.refused("import", str(old))
    assert error.code == code
    assert says in error.message
    assert desk.refused("import", str(old), "--dry-run") == error


@pytest.mark.parametrize("name", ["gone", "gone/deeper", "a\nb", "x" * 300, "\0", ""])
def test_a_source_that_is_not_there_is_refused(desk: Desk, name: str) -> None:
    if name:
        assert desk.refused("import", name).code == "input.unreadable"
    else:
        assert desk.refused("import", "--feature", "x", "").code in ("input.invalid", "input.unreadable", "usage")


def test_a_pipe_as_source_is_not_waited_for(desk: Desk, old: Path) -> None:
    fifo(old / "pipe")
    assert desk.refused("import", str(old / "pipe")).code == "input.unreadable"


@pytest.mark.parametrize("inner", [BOARD, MANIFEST, OUTPUT])
def test_one_file_of_a_folder_names_the_folder_as_next_step(desk: Desk, old: Path, inner: str) -> None:
    put(old / inner, "{}")
    assert desk.refused("import", str(old / inner)).hint == "import the folder that it lies in"


def test_all_mistakes_are_named_and_nothing_is_imported(desk: Desk, old: Path) -> None:
    of_another_server(old)
    put(old / ".agent/tasks/shop/feature_list.json", b"{")
    put(old / ".agent/tasks/Bad_Name/feature_list.json", [{"description": "a"}])
    put(old / MANIFEST, "a: [")
    said = desk.run("import", str(old), "--json")
    assert said.status == 1
    assert said.document["error"]["message"].startswith("3 things are wrong, so nothing was imported")
    assert len(said.document["mistakes"]) == 3
    assert desk.ok("status", "--json").document["features"][0]["feature"] == "other"
    assert not (desk.store / "journal" / "checkout").exists()


def test_a_name_that_cannot_be_a_feature_gets_the_command_that_helps(desk: Desk, old: Path) -> None:
    place = old / ".agent/tasks/Check Out v2"
    put(place / "feature_list.json", ledger(criterion(1), feature="Check Out v2"))
    hint = desk.refused("import", str(old)).hint
    assert hint == f"`tallystick import '{place}' --feature check-out-v2`"
    [feature] = desk.ok("import", str(place), "--feature", "check-out-v2", "--json").document["features"]
    assert feature["frozen"] == 1


@pytest.mark.parametrize("name", ["Bad_Name", "con", "", "../x", "a\nb"])
def test_a_feature_that_is_given_must_be_one(desk: Desk, old: Path, name: str) -> None:
    of_another_server(old)
    assert desk.refused("import", str(old), f"--feature={name}").code == "input.invalid"


def test_a_feature_that_several_do_not_hold_is_refused(desk: Desk, old: Path) -> None:
    of_jonggrang(of_another_server(old))
    error = desk.refused("import", str(old), "--feature", "third")
    assert error.code == "usage"
    assert f'"{AUTH}", "checkout"' in error.message


def test_an_abandoned_feature_takes_nothing(desk: Desk, old: Path) -> None:
    desk.freeze(feature="checkout")
    desk.ok("abandon", "checkout", "--reason", "replaced")
    of_another_server(old)
    assert desk.refused("import", str(old)).code == "feature.abandoned"


def test_a_damaged_store_takes_nothing(desk: Desk, old: Path) -> None:
    desk.freeze(feature="checkout")
    journal = desk.journal
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0].replace(b"cart", b"dart") + b"".join(lines[1:]))
    of_another_server(old)
    assert desk.refused("import", str(old)).code in ("journal.damaged", "anchor.rolled_back")


def test_too_many_files_are_not_looked_at(desk: Desk, old: Path) -> None:
    files = Crowded(OsFiles())
    of_another_server(old)
    error = desk.refused("import", str(old), files=files)
    assert error.code == "input.too_large"
    assert f"{IMPORT_FILES:,} files" in error.message


def test_too_many_bytes_are_not_read(old: Path) -> None:
    sparse(old / "large.json", INPUT_FILE)
    source = Source(OsFiles(), str(old), "old-project")
    for _ in range(IMPORT_BYTES // INPUT_FILE):
        assert source.read("large.json")
    with pytest.raises(TooMuch) as caught:
        source.read("large.json")
    assert f"{IMPORT_BYTES:,} bytes to import" in caught.value.message


def test_names_of_every_kind_are_shown_and_do_nothing(desk: Desk, old: Path) -> None:
    folder = old / ".jonggrang/.output/features" / AUTH
    put(folder / "08-developer-task-001.json", output())
    for name in (b"a\nb", b"--force", b"quote'\"", b"\xff\xfe.json", b"n" * 255, "‮x".encode()):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(b"{}")
    said = desk.ok("import", str(old))
    assert "\u202e" not in said.out
    assert len([line for line in said.out.splitlines() if ": left, " in line]) == 6
    json.dumps(desk.ok("import", str(old), "--json").document).encode()
