"""Holds that a confined program gets at no key, no store, no file of the user, no network and no process outside, and
leaves nothing behind (P22), as root and as a user without rights; and that what honest tests do still works.

Each attack is played unconfined too: one that fails there shows nothing. `confined_stage.py` has the scene.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import Refusal
from tallystick.system.confine import available, confinement_failed, missing_because_confined, wrap
from tallystick.system.process import Limits, run
from tests.real.confined_stage import FILES_ONLY, HASTY, LIMITS, TOKEN, Stage, landlock_version, means_named

ROOT = Path(__file__).resolve().parent.parent.parent
MB = 1024 * 1024

OURS, OTHER = "ours", "another user"
BWRAP = pytest.param("bubblewrap", marks=pytest.mark.needs("bubblewrap"))
LANDLOCK = pytest.param("landlock", marks=pytest.mark.needs("landlock"))
FILES = pytest.param(FILES_ONLY, marks=pytest.mark.needs("landlock"))
USERS = [OURS, pytest.param(OTHER, marks=pytest.mark.needs("another user"))]

#: What Landlock alone cannot stop, by the version that can; such a pass counts as unsandboxed.
FILES_ONLY_GAPS = {
    "open the key for everybody": 99,
    "change the time stamp of a file elsewhere": 99,
    "reach a port of this machine": 99,
    "reach another address": 99,
    "send a datagram out": 99,
    "speak to a socket in the home": 9,
    "speak to a socket elsewhere": 9,
    "speak to a socket without a file": 6,
    "signal the process outside": 6,
    "signal the parent": 6,
}
#: What needs a right that only root has, or something that is there only under a confinement.
ROOTS_ALONE = {
    "enter the mounts of the process outside",
    "enter its mounts by a descriptor of the process",
    "set what starts when a program dumps its core",
    "make a device",
}
NOTHING_TO_SHOW = {"read the key from an inherited descriptor"}  # nobody hands one in: it guards the way we start

#: In a mount space of its own: a place that everybody may enter, with our Python and this project in it.
AS_ANOTHER = """\
set -e
mount -t tmpfs none /mnt
mkdir /mnt/python /mnt/project /mnt/stage
chown 65534:65534 /mnt/stage
mount --bind "$1" /mnt/python
mount --bind "$2" /mnt/project
cd /mnt/project
export PYTHONPATH=src:.
exec setpriv --reuid 65534 --regid 65534 --clear-groups \
    "/mnt/python/bin/$3" -B -m tests.real.confined_stage /mnt/stage
"""


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A stage that does not lie in a temporary folder of the system: those are never visible."""
    (ROOT / ".dev" / "cache").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / ".dev" / "cache", prefix="stage-") as folder:
        stage = Stage(Path(folder))
        yield stage
        stage.close()


@functools.cache
def _played(user: str) -> dict[str, Any]:
    """All scenes, as `user` plays them."""
    token = {TOKEN: f"token-of-{os.getpid()}"}
    if user == OTHER:
        python = Path(os.path.realpath(sys.executable))
        command = ["unshare", "-m", "sh", "-c", AS_ANOTHER, "sh", sys.base_prefix, str(ROOT), python.name]
        done = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]} | token)
    else:
        (ROOT / ".dev" / "cache").mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=ROOT / ".dev" / "cache", prefix="stage-") as folder:
            command = [sys.executable, "-m", "tests.real.confined_stage", folder]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=os.environ | token)
    assert done.returncode == 0, done.stderr
    played: dict[str, Any] = json.loads(done.stdout)
    return played


def _done(user: str, means: str, scene: str = "attacks") -> set[str]:
    said = _played(user)[means][scene]
    assert "" not in said, said
    return {name for name, result in said.items() if result == "done"}


@pytest.mark.parametrize("user", USERS)
def test_every_attack_works_where_nothing_is_shut(user: str) -> None:
    root = user == OURS and os.geteuid() == 0
    played = set(_played(user)["unsandboxed"]["attacks"])
    assert played - _done(user, "unsandboxed") <= (NOTHING_TO_SHOW if root else NOTHING_TO_SHOW | ROOTS_ALONE)
    assert len(played) > 35


@pytest.mark.requirement("P22")
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("means", [BWRAP, LANDLOCK])
def test_no_attack_gets_out(means: str, user: str) -> None:
    assert _done(user, means) == set()


@pytest.mark.parametrize("user", USERS)
def test_landlock_alone_leaves_gaps_and_no_others(user: str) -> None:
    if landlock_version() < 3:
        assert means_named(FILES_ONLY).name == "landlock"
        return
    known = {name for name, since in FILES_ONLY_GAPS.items() if landlock_version() < since}
    assert _done(user, FILES_ONLY) <= known


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("means", [BWRAP, LANDLOCK, FILES, "unsandboxed"])
def test_honest_deeds_work(means: str, user: str) -> None:
    said = _played(user)[means]["honest"]
    amiss = {name: result for name, result in said.items() if result != "done"}
    assert set(amiss) <= ({"use a terminal"} if means == FILES_ONLY else set()), amiss
    assert len(said) > 9


@pytest.mark.requirement("P22")
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("means", [BWRAP, LANDLOCK, FILES, "unsandboxed"])
def test_no_daemon_is_left(means: str, user: str) -> None:
    assert _played(user)[means]["daemon"] == {"left": 0, "stopped": "", "text": ""}


@pytest.mark.requirement("P22")
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("means", [BWRAP, LANDLOCK])
def test_nobody_is_left_behind_by_killing_who_watches(means: str, user: str) -> None:
    assert _played(user)["unsandboxed"]["killer"]["left"] > 0, "the attack must work where nothing is shut"
    assert _played(user)[means]["killer"] == {"left": 0, "stopped": "", "text": ""}


@pytest.mark.needs("bubblewrap")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root has anything to lose here")
@pytest.mark.parametrize(
    ("without", "attack"),
    [
        (("--cap-drop", "ALL"), "unmount what hides the key"),
        (("--remount-ro", "/proc"), "set what starts when a program dumps its core"),
    ],
)
def test_what_we_ask_of_bubblewrap_is_needed(stage: Stage, without: tuple[str, str], attack: str) -> None:
    """Taken away, it lets root out; so the tests above would see it missing."""
    script = (sys.executable, "-I", str(Path(__file__).with_name("confined_attacks.py")))
    rules = stage.rules()
    wrapped = wrap((*script, json.dumps(stage.facts("bubblewrap"))), rules, means_named("bubblewrap"))
    at = next(place for place in range(len(wrapped.argv)) if wrapped.argv[place : place + 2] == without)
    argv = wrapped.argv[:at] + wrapped.argv[at + 2 :]
    finished = run(argv, wrapped.cwd, {"PATH": os.environ["PATH"]}, LIMITS)
    assert json.loads(finished.text().splitlines()[-1])[attack] == "done"


SHUT = [BWRAP, LANDLOCK, FILES]


@pytest.mark.parametrize("means", SHUT)
def test_the_best_means_is_found_by_trying(means: str) -> None:
    found = available()
    assert found.confines
    assert found is available()
    assert means_named(means).program


@pytest.mark.requirement("P15")
@pytest.mark.parametrize("means", SHUT)
@pytest.mark.parametrize(
    ("code", "limits", "stopped", "says"),
    [
        ("bytearray(600_000_000)", LIMITS._replace(memory=400 * MB), "", "MemoryError"),
        ("open('big', 'wb').write(bytes(3_000_000))", LIMITS._replace(file=MB), "", "File too large"),
        ("import signal; print('begun', flush=True); signal.pause()", HASTY._replace(wall_s=1), "time", "begun"),
        ("while True: print('x' * 5000)", HASTY._replace(output=MB), "output", "xxx"),
    ],
    ids=["memory", "file", "time", "output"],
)
def test_limits_hold(stage: Stage, means: str, code: str, limits: Limits, stopped: str, says: str) -> None:
    finished = stage.play(means, sys.executable, "-c", code, limits=limits)
    assert (finished.stopped, finished.ok, finished.left) == (stopped, False, 0), finished
    assert says in finished.text()


@pytest.mark.parametrize("means", SHUT)
def test_a_report_comes_through(stage: Stage, means: str) -> None:
    code = "import os; os.write(int(os.environ['REPORT']), b'green'); os._exit(7)"
    finished = stage.play(means, sys.executable, "-c", code, report_as="REPORT")
    assert (finished.status, finished.report) == (7, b"green")


@pytest.mark.parametrize("means", SHUT)
def test_an_ordinary_pytest_run(stage: Stage, means: str) -> None:
    (stage.tree / "pytest.ini").write_text("[pytest]\n")
    (stage.tree / "shop.py").write_text("def total(prices):\n    return sum(prices)\n")
    (stage.tree / "test_shop.py").write_text(
        "from shop import total\n\ndef test_total(tmp_path):\n    (tmp_path / 'a').write_text('b')\n"
        "    assert total([1, 2]) == 3\n"
    )
    finished = stage.play(means, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert (finished.status, "1 passed" in finished.text()) == (0, True), finished.text()


@pytest.mark.parametrize("means", [BWRAP, LANDLOCK])
def test_the_tree_appears_where_the_real_one_lies(stage: Stage, means: str) -> None:
    (stage.project / "module").write_text("of the main tree")
    (stage.tree / "module").write_text("of the fresh tree")
    finished = stage.play(means, "sh", "-c", f"pwd; cat '{stage.project}/module'")
    assert finished.text() == f"{stage.project}\nof the fresh tree"
    assert (stage.project / "module").read_text() == "of the main tree"


@pytest.mark.parametrize("means", SHUT)
def test_a_secret_inside_the_tree_stays_hidden(stage: Stage, means: str) -> None:
    inside = stage.tree / "deep" / "store"
    inside.mkdir(parents=True)
    (inside / "journal").write_text("the secret")
    (stage.tree / "deep" / "beside").write_text("is visible")
    rules = stage.rules()._replace(secret=(str(inside),))
    finished = stage.play(means, "sh", "-c", "cat deep/beside deep/store/journal", rules=rules)
    assert "is visible" in finished.text()
    assert "the secret" not in finished.text()


@pytest.mark.parametrize("means", SHUT)
def test_a_link_to_a_secret_is_not_followed(stage: Stage, means: str) -> None:
    shutil.rmtree(stage.project / ".venv")
    (stage.project / ".venv").symlink_to(stage.key.parent)
    with pytest.raises(Refusal, match="no check may see"):
        wrap(("true",), stage.rules(), means_named(means))


def test_a_second_name_of_the_key_is_a_doubt(stage: Stage) -> None:
    assert wrap(("true",), stage.rules(), means_named("bubblewrap")).doubts == ()
    (stage.elsewhere / "linked").hardlink_to(stage.key)
    assert "hard link" in wrap(("true",), stage.rules(), means_named("bubblewrap")).doubts[0]


@pytest.mark.parametrize("means", [BWRAP, LANDLOCK])
def test_the_network_and_a_socket_can_be_allowed(stage: Stage, means: str) -> None:
    facts = stage.facts(means)
    rules = stage.rules()._replace(network="all", writable=(*stage.rules().writable, facts["socket_elsewhere"]))
    script = (sys.executable, "-I", str(Path(__file__).with_name("confined_attacks.py")), json.dumps(facts))
    said = json.loads(stage.play(means, *script, rules=rules).text().splitlines()[-1])
    done = {name for name, result in said.items() if result == "done"}
    asked = {"reach a port of this machine", "reach another address", "send a datagram out"}
    assert asked | {"speak to a socket elsewhere"} <= done
    assert done - asked <= {"speak to a socket elsewhere", "speak to a socket without a file"}


@pytest.mark.parametrize("means", SHUT)
def test_a_program_that_is_missing_only_here_is_told(stage: Stage, means: str) -> None:
    tool = stage.home / ".tools" / "bin" / "measure"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\necho measured\n")
    tool.chmod(0o755)
    path = f"{tool.parent}{os.pathsep}{os.environ['PATH']}"
    rules = stage.rules()
    for command in (("measure",), (str(tool),), ("sh", "-c", "measure"), ("sh", "-c", str(tool))):
        wrapped = wrap(command, rules, means_named(means))
        finished = run(wrapped.argv, wrapped.cwd, {"PATH": path}, LIMITS)
        assert missing_because_confined(finished, rules, path) in ("measure", str(tool)), finished.text()
    absent = stage.play(means, "no-such-program")
    assert missing_because_confined(absent, rules, path) is None
    assert "no-such-program" in (confinement_failed(absent) or "")
    seen = rules._replace(read_only=(*rules.read_only, str(tool.parent)))
    wrapped = wrap(("measure",), seen, means_named(means))
    assert run(wrapped.argv, wrapped.cwd, {"PATH": path}, LIMITS).text() == "measured\n"
