"""Holds that names and texts of every kind either come through byte for byte or are refused with a reason, wherever
they come in, and that what came through acts on nobody's terminal (P18, P15, formats 1)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest

from tallystick.limits import INPUT_FILE
from tests.desk import FEATURE, Desk

UGLY_FEATURES = [
    "../../x", "..", ".", "a/b", "a\\b", "C:x", "con", "nul", "com1", "lpt0", "x" * 300, "x" * 65, "", " ", "a b", "A",
    "é", "-x", "_store", "a\nb", "a\x1bb", "\udcff", "a.b", "~", "$HOME", "*",
]  # fmt: skip


@pytest.mark.requirement("F1.5", "P18")
@pytest.mark.parametrize("name", UGLY_FEATURES)
def test_a_name_that_cannot_be_a_folder_is_refused_wherever_it_comes_in(empty: Desk, name: str) -> None:
    """Bug reports 30: one allow-list at every door."""
    document = {"task_id": name, "features": [{"id": "AC1", "description": "x"}]}
    empty.put("named.json", json.dumps(document))
    if not name.startswith("-"):
        assert empty.refused("ledger", "init", name, "criteria.md").code == "input.invalid"
        for words in (
            ("ledger", "show", name),
            ("status", name),
            ("ledger", "failing", name),
            ("ledger", "get", name, "AC1"),
            ("ledger", "pass", name, "AC1", "--evidence", "proof.txt"),
            ("ledger", "fail", name, "AC1", "--error", "x"),
            ("ledger", "add", name, "criteria.md"),
            ("ledger", "override", name, "AC1", "--reason", "x"),
            ("abandon", name, "--reason", "x"),
            ("note", name, "x"),
            ("brief", name),
        ):
            assert empty.refused(*words).code in ("input.invalid", "feature.unknown"), words
    assert empty.refused("ledger", "init", "named.json").code == "input.invalid"


@pytest.mark.requirement("F1.5")
@pytest.mark.parametrize("name", ["a", "0", "checkout", "list-json", "a-", "con-1", "x" * 64])
def test_a_good_name_is_good_everywhere(empty: Desk, name: str) -> None:
    empty.freeze(feature=name)
    empty.cite("AC1", feature=name)
    assert empty.counted(name) == ["AC1"]


UGLY_CRITERIA = [
    "",
    " AC1",
    "AC1 ",
    "A\nC",
    "A\tC",
    "A\0C",
    "A\x7fC",
    "A\x85C",
    "A\u202eC",
    "A\u2028C",
    "A\ufeffC",
    "x" * 65,
]


@pytest.mark.requirement("F1.6", "P18")
@pytest.mark.parametrize("name", UGLY_CRITERIA)
def test_a_criterion_id_that_nobody_could_read_is_refused(empty: Desk, name: str) -> None:
    document = {"features": [{"id": name, "description": "x"}]}
    assert empty.refused("ledger", "init", FEATURE, "-", given=json.dumps(document).encode()).code == "input.invalid"


GOOD_CRITERIA = [
    "AC1.2",
    "a/b",
    "C:x",
    "../../x",
    "con",
    "a b",
    "-rf",
    "--json",
    "été",
    "日本語",
    "'; rm",
    '"',
    "\\",
    "%s",
    "👍",
    ".",
]


@pytest.mark.requirement("F1.6", "P18")
@pytest.mark.parametrize("name", GOOD_CRITERIA)
def test_any_other_text_is_a_criterion_id_and_never_a_path(empty: Desk, name: str) -> None:
    document = {"features": [{"id": name, "description": "x"}]}
    empty.ok("ledger", "init", FEATURE, "-", given=json.dumps(document).encode())
    inside = {path for path in empty.tree() if path.startswith("shop") and "/.tallystick/" not in path}
    empty.ok("ledger", "pass", "--evidence", "proof.txt", "--", FEATURE, name)
    empty.ok("ledger", "get", "--", FEATURE, name)
    assert empty.counted() == [name]
    assert {path for path in empty.tree() if path.startswith("shop") and "/.tallystick/" not in path} == inside
    assert json.loads(empty.view.read_bytes())["features"][0]["id"] == name


TEXTS = [
    "a: b # c",
    "a\nb\r\nc",
    "\t\0\x1b]0;title\x07\x1b[31mred\x1b[0m",
    "\u202eevil\u2066",
    "e\u0301 vs é",
    "🎉🏳️‍🌈",
    "a\u2028\u2029\x85\x0b\x0cb",
    "'single' \"double\" `back` $(x) ${y} %s {z}",
    "</script><img src=x onerror=alert(1)>",
    "NaN null true 1e999 \\ud800 \\n",
    "x" * 8000,
]


@pytest.mark.requirement("P18", "L2", "F1.7")
@pytest.mark.parametrize("text", TEXTS)
def test_any_text_comes_through_byte_for_byte_and_acts_on_no_terminal(empty: Desk, text: str) -> None:
    row = {"id": "AC1", "description": text, "evidence_required": [text.strip() or "x"]}
    empty.ok("ledger", "init", FEATURE, "-", given=json.dumps({"features": [row]}).encode())
    error = text[:2000]
    empty.ok("ledger", "fail", "AC1", f"--error={error}")
    shown = empty.ok("ledger", "get", "AC1", "--json").document
    assert (shown["description"], shown["last_attempt_error"]) == (text, error)
    view = json.loads(empty.view.read_bytes())["features"][0]
    assert (view["description"], view["evidence_required"], view["last_attempt_error"]) == (
        text,
        row["evidence_required"],
        error,
    )
    assert empty.journal.read_bytes().count(b"\n") == 2
    for words in (
        ("status",),
        ("ledger", "show"),
        ("ledger", "get", "AC1"),
        ("ledger", "failing"),
        ("brief",),
        ("audit",),
    ):
        said = empty.ok(*words)
        acting = {c for c in said.out + said.err if ord(c) < 32 or ord(c) == 127} - {"\n"}
        assert not acting, words
        assert not {"\u202e", "\u2066", "\u2028", "\u2029", "\x85"} & set(said.out + said.err), words
    assert empty.findings() == []


@pytest.mark.requirement("P18")
@pytest.mark.parametrize("reason", TEXTS[:-1])
def test_any_reason_comes_through(desk: Desk, reason: str) -> None:
    desk.ok("ledger", "override", "AC2", f"--reason={reason}", person=True)
    desk.ok("ledger", "amend", "AC3", f"--text={reason}", f"--reason={reason}", person=True)
    rows = json.loads(desk.view.read_bytes())["features"]
    assert (rows[1]["evidence_ref"], rows[2]["description"]) == (f"override: {reason}", reason)
    desk.ok("abandon", f"--reason={reason}")
    assert desk.run("status", "--json").document["features"][0]["abandoned"] == reason


@pytest.mark.requirement("P18")
@pytest.mark.parametrize(
    "words",
    [
        ("ledger", "fail", "AC2", "--error"),
        ("ledger", "override", "AC2", "--reason"),
        ("ledger", "amend", "AC2", "--text", "x", "--reason"),
        ("ledger", "amend", "AC2", "--reason", "x", "--text"),
        ("ledger", "amend", "AC2", "--reason", "x", "--require"),
        ("ledger", "pass", "AC2", "--evidence"),
        ("abandon", "--reason"),
        ("note",),
        ("ledger", "get"),
        ("ledger", "failing", "--after"),
    ],
)
def test_bytes_that_are_no_text_are_refused(desk: Desk, words: tuple[str, ...]) -> None:
    error = desk.refused(*words, "caf\udce9", person=True)
    assert error.code in ("input.invalid", "criterion.unknown"), error


@pytest.mark.parametrize("empty_text", ["", " ", "\n"])
def test_a_text_that_says_nothing_is_refused(desk: Desk, empty_text: str) -> None:
    for words in (
        ("ledger", "fail", "AC2", "--error", empty_text),
        ("ledger", "override", "AC2", "--reason", empty_text),
        ("ledger", "amend", "AC2", "--text", empty_text, "--reason", "x"),
        ("ledger", "amend", "AC2", "--text", "x", "--reason", empty_text),
        ("ledger", "amend", "AC2", "--close", "--reason", empty_text),
        ("abandon", "--reason", empty_text),
        ("note", empty_text),
    ):
        assert desk.refused(*words, person=True).code == "input.invalid", words
    assert desk.refused("ledger", "pass", "AC2", "--evidence", empty_text).code == "evidence.free_text"


# -- files that come in -----------------------------------------------------------------------------------------------


def rows(count: int) -> bytes:
    return json.dumps({"features": [{"id": f"C{at}", "description": "x"} for at in range(count)]}).encode()


BAD_INPUT: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "empty": (lambda: b"", "input.invalid", "empty"),
    "blank": (lambda: b"\n \t\r\n", "input.invalid", "empty"),
    "prose": (lambda: b"nothing to do here\n", "input.invalid", "no criterion"),
    "NUL": (lambda: b"\0" * 4096, "input.invalid", ""),
    "UTF-16": (lambda: "- [ ] AC1 x\n".encode("utf-16"), "input.invalid", "UTF-8"),
    "Latin-1": (lambda: b"- [ ] AC1 caf\xe9\n", "input.invalid", "byte 13"),
    "half a file": (lambda: rows(9)[:-30], "input.invalid", "JSON"),
    "a key twice": (
        lambda: b'{"features": [{"id": "AC1", "id": "AC2", "description": "x"}]}',
        "input.invalid",
        "twice",
    ),
    "NaN": (lambda: b'{"features": NaN}', "input.invalid", "NaN"),
    "a lone surrogate": (
        lambda: rb'{"features": [{"id": "AC1", "description": "\ud800"}]}',
        "input.invalid",
        "surrogate",
    ),
    "100,000 deep": (lambda: b'{"features":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "input.invalid", "deep"),
    "a description of 5 MB": (
        lambda: json.dumps({"features": [{"id": "AC1", "description": "x" * 5_000_000}]}).encode(),
        "input.too_large",
        "5,000,000 characters",
    ),
    "a line of 5 MB": (lambda: b"- [ ] AC1 " + b"x" * 5_000_000 + b"\n", "input.too_large", "5,000,000 characters"),
    "10,001 criteria": (lambda: rows(10_001), "input.too_large", "criteria, the limit is 10,000"),
    "17 MB": (lambda: b"x" * (INPUT_FILE + 1), "input.too_large", "16,000,000"),
    "an id twice": (lambda: b"- [ ] AC1 x\n- [ ] ac1 y\n", "input.invalid", "twice"),
    "a shell in run:": (lambda: b"- [ ] AC1 x\n  run: make | tee log\n", "input.invalid", "no shell"),
    "a path out of the project": (lambda: b"- [ ] AC1 x\n  file: ../x\n", "input.invalid", "out of the project"),
    "an unknown prefix": (lambda: b"- [ ] AC1 x\n  RUN: make\n", "input.invalid", "run:"),
    "a newer schema": (lambda: b'{"schema_version": 2, "features": []}', "format.newer", "schema_version"),
    "a list": (lambda: b'[{"description": "x", "passes": false}]', "input.invalid", "no feature list"),
    "another's ledger": (lambda: b'{"task_id": "refunds", "features": []}', "input.invalid", ""),
}


@pytest.mark.requirement("F1.2", "F1.4", "F1.7", "P15")
@pytest.mark.parametrize("kind", BAD_INPUT)
def test_a_file_that_is_no_ledger_is_refused_with_place_and_reason(desk: Desk, kind: str) -> None:
    make, code, says = BAD_INPUT[kind]
    data = make()
    desk.put("input", data)
    for words, given in (
        (("ledger", "init", "refunds", "input"), b""),
        (("ledger", "init", "refunds", "-"), data),
        (("ledger", "add", FEATURE, "input"), b""),
    ):
        if words[1] == "add" and kind == "another's ledger":
            continue
        error = desk.refused(*words, given=given)
        place = "standard input" if words[-1] == "-" else "input"
        assert (error.code, says in error.message) == (code, True), error
        assert place in error.message or "criteri" in error.message or "AC1" in error.message, error


@pytest.mark.requirement("F1.7")
def test_ten_thousand_criteria_are_taken(empty: Desk) -> None:
    empty.ok("ledger", "init", FEATURE, "-", given=rows(10_000))
    assert empty.ok("ledger", "failing", "--json").document["more"] == 9980
    assert empty.refused("ledger", "add", "criteria.md").code == "input.too_large"


@pytest.mark.parametrize("kind", ["gone", "folder", "pipe", "socket", "device", "loop", "dangling", "too long"])
def test_a_file_that_cannot_be_read_is_refused(desk: Desk, kind: str) -> None:
    path = desk.folder / "in"
    name = "in"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        name = "/dev/zero"
    elif kind in ("loop", "dangling"):
        path.symlink_to("in" if kind == "loop" else "nowhere")
    elif kind == "too long":
        name = "x" * 300
    elif kind == "socket":
        import socket

        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind(os.path.relpath(path))
    error = desk.refused("ledger", "init", "refunds", name)
    assert (error.code, name[:40] in error.message) == ("input.unreadable", True), error


@pytest.mark.requirement("P18")
@pytest.mark.parametrize("name", ["new\nline.md", "caf\udce9.md", "-x.md", "a b.md", "\x1b[31m.md", "é.md"])
def test_an_input_file_of_any_name_is_read_and_named_in_one_line(empty: Desk, name: str) -> None:
    (empty.folder / name).write_bytes(b"- [ ] AC1 x\n")
    empty.ok("ledger", "init", "--", FEATURE, name)
    (empty.folder / name).write_bytes(b'{"features": NaN}')
    assert empty.refused("ledger", "init", "--", "refunds", name).code == "input.invalid"


@pytest.mark.requirement("P18")
@pytest.mark.parametrize("name", ["proof é.txt", "new\nline", "-rf", '"q"', "tab\tx", "日本", "a;b"])
def test_evidence_of_any_name_is_cited(desk: Desk, name: str) -> None:
    desk.put(name, "proof")
    desk.ok("ledger", "pass", "AC3", f"--evidence={name}")
    assert desk.run("ledger", "get", "AC3", "--json").document["rests_on"][0]["target"] == name
    desk.put(name, "other")
    assert desk.states()["AC3"] == "stale"


@pytest.mark.requirement("P18", "F5.1")
@pytest.mark.parametrize("name", ["a b", "new\nline", "caf\udce9", "é", "\x1b[31m", "-rf", "x" * 200])
@pytest.mark.parametrize("git", [True, False])
def test_a_project_in_a_folder_of_any_name(empty: Desk, name: str, git: bool) -> None:
    desk = Desk(empty.base / name, git)
    desk.freeze()
    desk.cite("AC1")
    for words in (("status",), ("ledger", "show"), ("audit",), ("brief",)):
        said = desk.ok(*words)
        json.loads(desk.ok(*words, "--json").out)
        assert "\x1b" not in said.out + said.err
    assert (desk.counted(), desk.findings()) == (["AC1"], [])
    desk.journal.write_bytes(desk.journal.read_bytes()[:-300])
    assert desk.run("audit").status == 8
    desk.ok("audit", "--restore", "--accept", "--reason", "the disk was restored", person=True)
    assert desk.run("audit").status == 0
