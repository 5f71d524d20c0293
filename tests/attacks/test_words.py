"""Holds that words which an attacker put where we read them are shown as words: no terminal acts on them, no shell,
whichever command says them, and whoever copies a hint (P18)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.scene import LOOK, Scene, reseal
from tests.desk import FEATURE, Desk

pytestmark = pytest.mark.requirement("P18")

ESCAPE = "\x1b]0;gone\x07\x1b[2J\u202e"
LOOKING = (("status",), ("ledger", "show"), ("ledger", "failing"), ("ledger", "get", "AC1"), ("audit",), ("brief",))


def expect_harmless(desk: Desk) -> None:
    """Nothing that any looking command says acts on a terminal."""
    for words in (*LOOKING, ("init",), ("--help",)):
        said = desk.run(*words)
        assert said.status in (0, LOOK), (words, said)
        acting = {one for one in said.out + said.err if ord(one) < 32 or 127 <= ord(one) < 160 or one == "\u202e"}
        assert acting <= {"\n"}, (words, said)


def of_the_store(scene: Scene, kind: str, data: dict[str, Any]) -> None:
    """A record of another writer in the store's own journal."""
    body = {**json.loads(scene.lines(scene.members)[0]), "writer": "b" * 32, "type": kind, "data": data}
    path = scene.members.with_name(f"{'b' * 32}.jsonl")
    path.write_bytes(reseal(body, bytes(32)) + b"\n")


def test_what_another_writer_says_of_its_place(scene: Scene) -> None:
    of_the_store(scene, "store_joined", {"path": ESCAPE, "earlier": [ESCAPE]})
    expect_harmless(scene)
    assert (scene.run("audit").status, scene.counted()) == (0, ["AC1"])


@pytest.mark.requirement("P3")
@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("store_joined", {"path": 5, "earlier": 5}),
        ("store_joined", {"earlier": [5]}),
        ("rollback_accepted", {"marks": {"a": 1}}),
        ("rollback_accepted", {"marks": [[]]}),
    ],
)
def test_what_no_rule_would_say_of_the_store_is_named(scene: Scene, kind: str, data: dict[str, Any]) -> None:
    of_the_store(scene, kind, data)
    assert (scene.run("audit").status, scene.findings()) == (LOOK, ["journal.damaged"])
    assert scene.counted() == ["AC1"]
    scene.cite("AC3")


@pytest.mark.requirement("P11")
def test_an_acceptance_of_another_writer_accepts_nothing(scene: Scene) -> None:
    scene.write(scene.lines()[:-1])
    mark = scene.app().store.snapshot(FEATURE).findings[0].mark
    of_the_store(scene, "rollback_accepted", {"marks": [mark], "reason": "says who"})
    scene.expect_named("anchor.rolled_back", ["AC1"])


def test_names_written_into_the_view(scene: Scene) -> None:
    scene.edit_view("AC2", {ESCAPE: ESCAPE, "passes": True})
    document = json.loads(scene.view.read_bytes())
    document[ESCAPE] = ESCAPE
    document["features"].append({"id": ESCAPE, ESCAPE: 1})
    scene.view.write_text(json.dumps(document), encoding="utf-8")
    expect_harmless(scene)
    assert "AC2: passes" in scene.run("audit").out


def test_what_another_key_defined_and_said(scene: Scene) -> None:
    draft = {"id": "AC9", "description": ESCAPE, "evidence_required": [ESCAPE]}
    lines = [scene.forged("criterion_added", {"criterion": draft}, writer="b" * 32, i=1, prev="0" * 64, n=50)]
    said = {"criterion": "AC9", "digest": "0" * 64, "error": ESCAPE}
    prev = json.loads(lines[0])["id"]
    by = {"role": ESCAPE, "agent": None, "client": None, "session": None}
    lines.append(scene.forged("failure_recorded", said, writer="b" * 32, i=2, prev=prev, n=51, by=by))
    prev = json.loads(lines[1])["id"]
    lines.append(
        scene.forged("note_written", {"text": ESCAPE}, writer="b" * 32, i=3, prev=prev, n=52, at=ESCAPE, by=by)
    )
    scene.of_another_writer(*lines)
    expect_harmless(scene)
    assert scene.states()["AC9"] == "failing"


def test_the_folder_itself(scene: Scene) -> None:
    expect_harmless(Scene(scene.base / "a\x1b[2Jb\nc"))


COMMANDS = [
    "$(echo gone)",
    "`echo gone`",
    "'; echo gone; '",
    'a"; echo gone; "',
    "a b",
    "a|b",
    "~",
    "*",
    "a\\",
    "#x",
    "a&b",
    "é",
]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_hint_can_be_copied_into_a_shell(tmp_path: Path, name: str) -> None:
    desk = Desk(tmp_path / "desk")
    rows = [{"id": name, "description": "x"}, *({"id": f"AC{at}", "description": "x"} for at in range(30))]
    desk.ok("ledger", "init", FEATURE, "-", given=json.dumps({"features": [*rows[1:20], rows[0], *rows[20:]]}).encode())
    hints = [desk.run("ledger", "get", "--", FEATURE, name).out, desk.run("ledger", "failing").out]
    desk.ok("ledger", "pass", "--evidence", "proof.txt", "--", FEATURE, name)
    desk.put("proof.txt", "2\n")
    hints.append(desk.run("ledger", "get", "--", FEATURE, name).out)
    hints.append(
        "\n" + desk.refused("ledger", "add", FEATURE, "-", given=json.dumps({"features": rows[:1]}).encode()).hint
    )
    for hint in hints:
        typed = hint[hint.rindex("tallystick ledger ") :].split("\n")[0].split(" --text")[0]
        shell = typed.replace("tallystick", "printf '%s\\n'", 1)
        done = subprocess.run(["sh", "-c", shell], capture_output=True, check=True, text=True, cwd=desk.folder)
        assert name in done.stdout.split("\n"), hint
