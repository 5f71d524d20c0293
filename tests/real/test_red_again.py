"""Holds that a red can be made again whatever became of history and place: squashed, rebased, in a shallow clone, in a
linked or dirty work tree, in another store that has the records alone; that a forged red counts for nothing; and that a
broken-off proof leaves nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from select import select
from typing import Any

import pytest

from tallystick.canonical import Json, encode, sha256
from tests.real.fresh_scene import Entry, everything
from tests.real.project import TALLYSTICK
from tests.real.red_scene import ABSENT, FEATURE, FILES, ID, PRESENT, TEST, Work

BASE = ("--trust-base", "HEAD")


def cloned(work: Work, folder: Path, *options: str) -> Work:
    """Somebody else's clone: another home, another key, nothing run there yet."""
    work.git("clone", "--quiet", *options, f"file://{work.folder}", str(folder))
    return work.moved(folder, {"XDG_STATE_HOME": str(folder.parent / f"{folder.name}-home")})


def squash(work: Work) -> None:
    """One commit on top of the first, and what was between them gone."""
    work.git("reset", "--quiet", "--soft", work.git("rev-list", "--max-parents=0", "HEAD").strip())
    work.commit("squashed")
    work.git("reflog", "expire", "--expire=now", "--all")
    work.git("gc", "--quiet", "--prune=now")


def rebase(work: Work) -> None:
    """On top of another main."""
    work.git("checkout", "--quiet", "-b", "theirs", work.git("rev-list", "--max-parents=0", "HEAD").strip())
    work.write({"other.py": "x = 1\n"})
    work.commit("theirs")
    work.git("checkout", "--quiet", "main")
    work.git("rebase", "--quiet", "theirs")


def soil(work: Work) -> None:
    """Staged, unstaged and untracked files."""
    work.write({"staged.py": "x = 1\n", "new file.py": "x = 1\n"})
    work.git("add", "staged.py")
    work.write({"staged.py": "x = 2\n", ".gitignore": "__pycache__/\nout/\n"})


@pytest.mark.requirement("P9")
def test_squashed_rebased_dirty_and_linked_the_red_is_made_again_with_the_same_verdict(tmp_path: Path) -> None:
    work = Work.proven(tmp_path / "shop")
    for number, change in enumerate((squash, rebase, soil)):
        change(work)
        assert work.get()["state"] == "holds", "what history does turns nothing stale"
        work.write({"tests/test_cart.py": f"# laid out anew {number}\n{TEST}"})
        assert work.verified() == "proven"
        assert work.get()["red"]["reviewed"] == ["tests/test_cart.py"]
        assert work.why("AC1", "--all") == (0, [])
    work.commit()
    work.git("worktree", "add", "--quiet", "-b", "beside", str(tmp_path / "beside"))
    beside = work.moved(tmp_path / "beside")
    beside.write({"tests/test_cart.py": TEST})
    assert beside.verified() == "proven"
    beside.write({"tests/test_cart.py": TEST.replace("== 3", "> 0")})
    assert beside.why() == (4, ["lock.changed"])


@pytest.mark.requirement("P9")
def test_another_store_makes_it_red_from_the_records_alone(tmp_path: Path) -> None:
    work = Work.proven(tmp_path / "shop", {**FILES, "gone.py": "x = 1\n", "odd\nname.py": "x = 1\n"})
    squash(work)
    other = cloned(work, tmp_path / "other", "--depth=1")
    shutil.rmtree(work.folder)
    assert other.get()["state"] == "elsewhere"
    said = other.verify()
    assert (said.status, said.document["error"]["code"]) == (7, "trust.needed")
    assert other.verified("AC1", *BASE) == "proven"
    assert len(other.steps()) == 1
    assert (other.get()["state"], other.get()["red"]["ids"]) == ("holds", [ID])
    other.write({"tests/test_cart.py": TEST.replace("== 3", "> 0")})
    assert other.why("AC1", *BASE) == (4, ["lock.changed"])
    other.write({"tests/test_cart.py": TEST, "cart.py": "def total(lines):\n    return 3\n"})
    assert other.verified("AC1", *BASE) == "proven", "held-out tests would tell, this red stands"
    other.commit()

    third = cloned(other, tmp_path / "third", "--depth=1")
    assert third.verified("AC1", *BASE) == "proven", "handed on once more"


@pytest.mark.requirement("P9")
def test_a_red_that_came_along_is_compared_with_the_tests_that_came_along(tmp_path: Path) -> None:
    work = Work.begun(tmp_path / "shop")
    work.red()
    work.commit()
    other = cloned(work, tmp_path / "other")
    other.write({"cart.py": PRESENT})
    assert other.verified("AC1", *BASE) == "proven", "only the red travelled, and its commit is there"

    third = cloned(work, tmp_path / "third")
    third.write({"cart.py": PRESENT, "tests/test_cart.py": TEST.replace("== 3", "> 0")})
    assert third.why("AC1", *BASE) == (4, ["lock.changed"])
    third.write({"tests/test_cart.py": None, "tests/test_total.py": TEST})
    assert third.why("AC1", *BASE) == (4, ["ids.missing"])
    third.accept("--tests", "tests/test_total.py::test_total")
    assert third.verified("AC1", *BASE) == "proven", "asked about once"


@pytest.mark.requirement("P9")
def test_what_is_too_large_to_travel_stops_at_ran_and_is_named(tmp_path: Path) -> None:
    large = "".join(f"x{at} = {at}\n" for at in range(9_000))
    work = Work.begun(tmp_path / "shop", {**FILES, "large.py": large})
    work.red()
    work.commit()
    work.write({"cart.py": PRESENT, "large.py": "x = 1\n"})
    assert work.verified() == "proven"
    squash(work)
    other = cloned(work, tmp_path / "other", "--depth=1")
    said = other.verify(*BASE)
    row = other.row(said)
    assert (said.status, row["level"], [one["code"] for one in row["reasons"]]) == (0, "ran", ["red.absent"])
    assert other.why("AC1", *BASE, "--level", "proven") == (3, ["level.low", "red.absent"])


def forge(work: Work, *datas: dict[str, Json]) -> None:
    """Lay a segment of these `red_seen` and `pass_recorded` into the tree, every digest and link in order."""
    folder = work.folder / ".tallystick" / "journal" / FEATURE
    lines = [json.loads(line) for path in folder.glob("*.jsonl") for line in path.read_text().splitlines()[1:]]
    frozen = next(line for line in lines if line["type"] == "ledger_frozen")
    digest = sha256(encode(frozen["data"]["criteria"][0]))
    made, prev = [], "0" * 64
    for place, data in enumerate(datas, 1):
        kind = "pass_recorded" if "was" in data else "red_seen"
        record: dict[str, Any] = {
            **{name: value for name, value in frozen.items() if name not in ("id", "mac")},
            "store": "e" * 32,
            "writer": "d" * 32,
            "type": kind,
            "i": place,
            "n": 50 + place,
            "prev": prev,
            "seen": {},
            "tx": [1, 1],
            "data": {"criterion": "AC1", "digest": digest, **data},
        }
        prev = sha256(encode(record))
        made.append(encode({**record, "id": prev, "mac": "0" * 64}) + b"\n")
    name = "f" * 32
    held = {f"{'e' * 32}/{'d' * 32}": [1, len(made)]}
    head = encode({"segment": 1, "feature": FEATURE, "id": name, "held": held}) + b"\n"
    (folder / f"{name}.jsonl").write_bytes(b"".join((head, *made)))


def blob(work: Work, value: Json) -> str:
    """Lay a blob into the tree; its name."""
    data = encode(value)
    name = sha256(data)
    path = work.folder / ".tallystick" / "blobs" / name[:2] / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return name


@pytest.mark.requirement("P9", "P11")
def test_a_forged_red_counts_for_nothing_and_writes_nowhere(tmp_path: Path) -> None:
    work = Work.begun(tmp_path / "shop", {**FILES, "cart.py": PRESENT})
    evil = blob(work, "evil")
    lock = blob(work, {"known": [], "locks": [["test", "tests/test_cart.py", sha256(TEST.encode()), ""]]})
    red: dict[str, Json] = {"run": "r-1", "ids": [ID], "tree": "f" * 40, "commit": None, "lock": lock}
    passed: dict[str, Json] = {"level": "proven", "evidence_ref": "run:r-1", "evidence": []}
    before = everything(work.folder / ".git" / "hooks"), sorted(tmp_path.iterdir())
    lists: dict[str, Json] = {
        "up": [["../../evil", ["100644", evil]]],
        "hook": [[".git/hooks/post-checkout", ["100755", evil]]],
        "link": [["x", ["120000", blob(work, "../../..")]], ["x/evil", ["100644", evil]]],
        "many": [[f"f{at}", ["100644", evil]] for at in range(10_000)],
        "types": [[{"a": 1}, {"b": 2}], 7, None],
    }
    for name, rows in lists.items():
        forge(work, red, {**passed, "was": blob(work, rows)})
        said = work.verify("--all")
        row = work.row(said)
        assert (said.status, row["level"]) == (0, "ran"), (name, said)
        assert work.get()["red"] is None
        assert {one["code"] for one in row["reasons"]} <= {"red.absent", "red.green", "red.setup", "red.module"}, name
        assert row["reasons"], name
    for odd in ({"ids": [""]}, {"tree": "../x"}, {"commit": "--upload-pack=x"}, {"lock": evil}, {"ids": ["\x1b[2J"]}):
        forge(work, {**red, **odd}, {**passed, "was": blob(work, [])})
        screen = work.tally("verify", FEATURE, "--all")
        assert screen.status in (0, 4), (odd, screen)
        assert "\x1b" not in screen.out
        assert work.get()["level"] in ("ran", "claimed")
    for wrong in ({"ids": "x"}, {"ids": [7]}, {"lock": "../x"}, {"tree": None}, {"moved": 7}):
        forge(work, {**red, **wrong})
        assert "that no red_seen has" in work.tally("audit").out
    assert work.verified("AC1", "--all") == "ran"
    assert (everything(work.folder / ".git" / "hooks"), sorted(tmp_path.iterdir())) == before
    assert not (tmp_path / "evil").exists()


TEST_THAT_WAITS = """\
import os
import time

from cart import total


def test_total():
    folder = {!r}
    at = len(os.listdir(folder))
    open(os.path.join(folder, str(at)), "w").close()
    if os.path.exists(folder + "-stop/" + str(at)):
        time.sleep(600)
    assert total([1, 2]) == 3
"""


class Stopped:
    """A project whose test can be made to wait in its nth run, counted in a folder that it may write to."""

    def __init__(self, tmp_path: Path) -> None:
        self.runs = tmp_path / "runs"
        self.stop = tmp_path / "runs-stop"
        self.runs.mkdir()
        self.stop.mkdir()
        settings = f'[verify]\nallow = ["{self.runs}", "{self.stop}"]\n'
        test = TEST_THAT_WAITS.format(str(self.runs))
        files = {**FILES, "tests/test_cart.py": test, ".tallystick/config.toml": settings}
        self.work = Work.begun(tmp_path / "shop", files)
        self.work.person("trust", "--yes")
        self.work.write({"dirty.py": "x = 1\n", "staged.py": "x = 1\n"})
        self.work.git("add", "staged.py")

    def untouchable(self) -> dict[bytes, Entry]:
        """Work tree, index, refs and git's objects: everything but our own store in git's folder."""
        found = everything(self.work.folder / ".git", folders=True)
        kept = {b"git/" + path: entry for path, entry in found.items() if not path.startswith(b"tallystick")}
        return kept | everything(self.work.folder, folders=True)

    def running(self) -> list[str]:
        """The command lines of what runs and has to do with this project."""
        words = [os.fsencode(self.work.folder), os.fsencode(self.runs)]
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                line = (place / "cmdline").read_bytes()
            except OSError:
                continue
            if any(word in line for word in words):
                found.append(line.replace(b"\0", b" ").decode(errors="replace"))
        return found

    def breaks_off(self, nth: int, *words: str) -> None:
        """Break off a command in the nth run of the test with five times Ctrl-C within 200 ms; nothing is left."""
        for path in (*self.runs.iterdir(), *self.stop.iterdir()):
            path.unlink()
        (self.stop / str(nth)).touch()
        before = self.untouchable()
        env = {**os.environ, **self.work.env}
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [*TALLYSTICK, *words], cwd=self.work.folder, env=env, stdout=pipe, stderr=pipe, start_new_session=True
        ) as process:
            while not (self.runs / str(nth)).exists():
                assert process.poll() is None, process.communicate()
                select([], [], [], 0.01)
            for _ in range(5):
                try:
                    os.killpg(process.pid, signal.SIGINT)
                except ProcessLookupError:
                    break
                select([], [], [], 0.04)
            out, err = process.communicate()
        assert process.returncode in (130, -signal.SIGINT), (out, err)  # a shell says 130 of both
        assert b"Traceback" not in err
        (self.stop / str(nth)).unlink()
        until(lambda: self.running() == [])
        assert self.untouchable() == before


def until(holds: Callable[[], bool]) -> None:
    """Wait until it holds; what never comes true ends with the test runner's patience."""
    while not holds():
        select([], [], [], 0.01)


@pytest.mark.requirement("P16", "P22")
@pytest.mark.needs("bubblewrap")
def test_broken_off_at_any_run_nothing_is_left_and_it_works_afterwards(tmp_path: Path) -> None:
    stopped = Stopped(tmp_path)
    work = stopped.work
    stopped.breaks_off(0, "ledger", "red", FEATURE)
    work.red()
    work.write({"cart.py": PRESENT})
    stopped.breaks_off(0, "check", FEATURE)
    stopped.breaks_off(1, "check", FEATURE)
    test = work.folder / "tests" / "test_cart.py"
    test.write_text("# laid out anew\n" + test.read_text(encoding="utf-8"), encoding="utf-8")
    for nth in (0, 1, 2):
        stopped.breaks_off(nth, "verify", FEATURE)
    assert work.get()["passes"] is False
    assert work.verified() == "proven"
    assert work.get()["red"]["reviewed"] == ["tests/test_cart.py"]
    assert work.audit().document["holds"] is True
    assert ABSENT not in test.read_text(encoding="utf-8")
