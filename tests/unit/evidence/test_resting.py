"""Holds that a pass rests on the environment its run took something from, and on nothing else that is installed; and
that a look at many criteria looks at it once."""

from __future__ import annotations

import os
import shutil
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tallystick import canonical
from tallystick.evidence.resting import LIST, Resting
from tallystick.evidence.runners.report import Distribution, Recorded
from tallystick.journal.blobs import Blobs
from tallystick.moment import SystemClock
from tallystick.system.files import OsFiles, Stat
from tests.unit.evidence.environments import install, virtual


class Desk:
    """A tree with one file, an environment with one distribution, a `.pth` file and a stray module, and the lists."""

    def __init__(self, folder: Path, files: OsFiles) -> None:
        self.folder = folder
        (folder / "tree").mkdir()
        self.source = folder / "tree" / "cart.py"
        self.source.write_text("x = 1\n", encoding="utf-8")
        self.site = virtual(folder / "env")
        self.record = install(self.site, "left_pad", "1.2", {"left_pad.py": ""}) / "RECORD"
        self.start = self.site / "start.pth"
        self.stray = folder / "stray.py"
        for path in (self.start, self.stray):
            path.write_text("import sys\n", encoding="utf-8")
        self.blobs = Blobs(files, f"{folder}/blobs", f"{folder}/spares")
        for name in ("blobs", "spares"):
            (folder / name).mkdir()
        self.resting = Resting(files, f"{folder}/tree", self.blobs, f"{folder}/cache/stamps", SystemClock())

    def recorded(self) -> Recorded:
        """What an honest run says."""
        row = Distribution("left_pad", "1.2", canonical.sha256(self.record.read_bytes()), str(self.record))
        return Recorded(("cart.py",), start=(said(self.start),), elsewhere=(said(self.stray),), distributions=(row,))

    def keep(self, recorded: Recorded, bound: Sequence[str] = (), *, began_ns: int | None = None) -> str:
        """The list of a pass by this run, which began after everything here was written unless said otherwise."""
        after = time.time_ns() + 10**9 if began_ns is None else began_ns
        return self.resting.keep(["cart.py"], [recorded], (), (), after, bound)

    def changed(self, name: str) -> str | None:
        """What a later look says."""
        return self.resting.look()(name)


def said(path: Path) -> tuple[str, str]:
    return str(path), canonical.sha256(path.read_bytes())


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, OsFiles())


def test_a_distribution_that_is_upgraded_is_named_and_the_way_back_holds(desk: Desk) -> None:
    name = desk.keep(desk.recorded())
    assert desk.changed(name) is None
    before = desk.record.read_text(encoding="utf-8")
    desk.record.write_text(before + "left_pad/more.py,,\n", encoding="utf-8")
    assert desk.changed(name) == "left_pad 1.2 (environment)"
    desk.record.write_text(before, encoding="utf-8")
    assert desk.changed(name) is None
    desk.record.parent.rename(desk.site / "left_pad-1.3.dist-info")
    assert desk.changed(name) == "left_pad 1.2 (environment)"


def test_start_files_and_strays_are_named(desk: Desk) -> None:
    name = desk.keep(desk.recorded())
    for path, label in ((desk.start, "start.pth"), (desk.stray, str(desk.stray))):
        before = path.read_text(encoding="utf-8")
        path.write_text("import os\n", encoding="utf-8")
        assert desk.changed(name) == f"{label} (environment)"
        path.write_text(before, encoding="utf-8")
    assert desk.changed(name) is None


def test_what_nobody_used_may_come_and_go(desk: Desk) -> None:
    name = desk.keep(desk.recorded())
    install(desk.site, "unrelated", "3", {"unrelated.py": "", "unrelated.pth": "import sys\n"})
    (desk.site / "__pycache__").mkdir()
    (desk.site / "__pycache__" / "left_pad.cpython-311.pyc").touch()
    os.utime(desk.record)
    assert desk.changed(name) is None
    shutil.rmtree(desk.site / "unrelated-3.dist-info")
    assert desk.changed(name) is None


def test_what_was_in_a_runs_own_folders_is_left_out_and_what_has_gone_meanwhile_is_not(desk: Desk) -> None:
    recorded = desk.recorded()
    gone = desk.folder / "scratch"
    own = recorded._replace(
        elsewhere=((f"{gone}/made.py", "0" * 64),),
        distributions=(Distribution("made", "1", "0" * 64, f"{gone}/site-packages/made-1.dist-info/RECORD"),),
    )
    assert desk.changed(desk.keep(own)) is None
    shutil.rmtree(desk.record.parent)
    assert desk.changed(desk.keep(recorded)) == "left_pad 1.2 (environment)"


def test_what_the_run_saw_otherwise_than_it_lies_there_holds_nothing(desk: Desk) -> None:
    other = desk.recorded()._replace(start=((str(desk.start), "0" * 64),))
    assert desk.changed(desk.keep(other)) == "start.pth (environment)"


def test_what_is_bound_besides_needs_no_word_of_the_run(desk: Desk) -> None:
    silent = Recorded(("cart.py",))
    name = desk.keep(silent, [str(desk.record)])
    assert desk.changed(name) is None
    desk.record.write_text("", encoding="utf-8")
    assert desk.changed(name) == "left_pad 1.2 (environment)"
    assert desk.changed(desk.keep(silent, [str(desk.record)], began_ns=0)) is not None


def test_a_list_without_an_environment_still_reads(desk: Desk) -> None:
    row = ["cart.py", canonical.sha256(desk.source.read_bytes())]
    digest = desk.blobs.keep(canonical.encode({"files": [row], "names": [], "roots": []}))
    assert desk.changed(f"{LIST}{digest}") is None
    desk.source.write_text("x = 2\n", encoding="utf-8")
    assert desk.changed(f"{LIST}{digest}") == "cart.py"


class Counting(OsFiles):
    """The real disk, and how often each path was looked at."""

    def __init__(self) -> None:
        self.looked: Counter[str] = Counter()

    def stat(self, path: str) -> Stat:  # type: ignore[override]
        """Look, and count."""
        self.looked[path] += 1
        return os.stat(path)


def test_a_look_at_two_hundred_criteria_looks_at_the_environment_once(tmp_path: Path) -> None:
    files = Counting()
    desk = Desk(tmp_path, files)
    recorded = desk.recorded()
    names = [desk.keep(recorded._replace(names=(f"name{number}",))) for number in range(200)]
    assert len(set(names)) == 200
    files.looked.clear()
    ask = desk.resting.look()
    assert [ask(name) for name in names] == [None] * 200
    assert [files.looked[str(path)] for path in (desk.record, desk.start, desk.stray)] == [1, 1, 1]
