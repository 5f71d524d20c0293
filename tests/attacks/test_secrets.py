"""Holds that a secret of a known shape never reaches the disk, whichever way an agent hands it over, and that honest
look-alikes do (P19; bug reports 31)."""

from __future__ import annotations

import hashlib
import json
import sys

import pytest

from tests.attacks.scene import Scene
from tests.desk import FEATURE
from tests.unit.masking.test_secrets import LOOK_ALIKES, PLANTED, Planted

#: One of each shape.
EACH = list({one.name: one for one in PLANTED}.values())


def lying(scene: Scene, secret: str) -> list[str]:
    """The files below everything that hold any line of the secret that is long enough to be one."""
    parts = [line.encode() for line in secret.splitlines() if len(line) > 12] or [secret.encode()]
    return [name for name, (_, data) in scene.tree().items() if any(part in data for part in parts)]


def output(text: str) -> bytes:
    """A developer's output that says `text`."""
    work = {"task_id": "t1", "files_modified": [], "files_created": [], "summary": text, "notes": text}
    head = {"feature_id": FEATURE, "phase": 8, "role": "developer", "task_id": "t1", "status": "completed"}
    return json.dumps({**head, "output": work}).encode()


def test_there_are_at_least_twelve_shapes() -> None:
    assert len(EACH) >= 12


@pytest.mark.requirement("P19")
@pytest.mark.parametrize("one", EACH, ids=[one.name for one in EACH])
def test_no_secret_reaches_the_disk(scene: Scene, one: Planted) -> None:
    text = f"it said {one.before}{one.secret}{one.after} and went on"
    given = output(text)
    saved = scene.ok("output", "save", "-", "--json", given=given)
    assert saved.document["masked"]
    scene.ok("ledger", "fail", FEATURE, "AC2", "--error", text)
    scene.ok("note", FEATURE, text)
    scene.ok("board", "add", FEATURE, text if len(text) < 400 else "a task", "--id", "t2", "--description", text)
    scene.ok("manifest", "start", FEATURE, "8", "--description", text)
    scene.ok("board", "block", FEATURE, "t2", "--reason", text)
    scene.ok("abandon", FEATURE, "--reason", text)
    assert lying(scene, one.secret) == []
    digest = hashlib.sha256(given).hexdigest().encode()
    assert any(digest in data for _, data in scene.tree().values()), "the digest of the original is kept"


@pytest.mark.requirement("P19")
def test_what_a_check_prints_is_masked_long_or_short(scene: Scene) -> None:
    one = next(one for one in EACH if one.name == "github-token")
    halves = (one.secret[:9], one.secret[9:])
    for times in (1, 2_000):
        scene.put(f"say{times}.py", f"print(({halves[0]!r} + {halves[1]!r} + ' said\\n') * {times})")
        command = f"run: {sys.executable} say{times}.py"
        document = {"features": [{"id": f"SAY{times}", "description": "it talks", "evidence_required": [command]}]}
        scene.ok("ledger", "add", FEATURE, "-", given=json.dumps(document).encode())
        scene.ok("ledger", "pass", FEATURE, f"SAY{times}")
    assert lying(scene, one.secret) == []


@pytest.mark.requirement("P19")
def test_honest_look_alikes_come_through_byte_for_byte(scene: Scene) -> None:
    text = "\n".join(LOOK_ALIKES)
    scene.ok("output", "save", "-", given=output(text))
    shown = scene.ok("output", "show", FEATURE, "08-developer-t1.json", "--json").document
    assert (shown["document"]["output"]["summary"], shown["masked"]) == (text, 0)
