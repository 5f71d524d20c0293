"""Holds that a tree is recorded while others write in it: what is recorded can be had again, each file as it was when
it was read, and nothing that a link leads to comes in. And that two who sweep at once do not meet."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tallystick.evidence.fresh import sweep_daily, trees_folder
from tallystick.moment import SystemClock
from tallystick.system.files import OsFiles
from tallystick.system.recorded import Recorded, record_tree
from tests.real.fresh_scene import FILES, Entry, Scene, everything
from tests.real.project import Project

FIRST, SECOND = b"first line\n", b"first line\nand a second one\n"
SECRET = b"nobody asked for this\n"
Act = Callable[[Path], object]


class Meanwhile(OsFiles):
    """The real disk, on which somebody does something at `path`, once: right after `FIRST` was first read."""

    def __init__(self, path: Path, act: Act) -> None:
        self.happened = False
        self._path = path
        self._act = act

    def read(self, fd: int, size: int) -> bytes:
        data = os.read(fd, size)
        if data == FIRST and not self.happened:
            self.happened = True
            self._act(self._path)
        return data


@pytest.fixture
def scene(project: Project, tmp_path: Path) -> Scene:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/log.jsonl").write_bytes(SECRET)
    return Scene(project, tmp_path / "store")


def record(scene: Scene, files: OsFiles) -> Recorded:
    recorded = record_tree(files, scene.git, scene.common, str(scene.store), os.environ, time.time_ns(), believe=True)
    assert recorded is not None
    return recorded


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(SECOND[len(FIRST) :])


def replace(path: Path) -> None:
    path.with_name("beside").write_bytes(SECOND)
    path.with_name("beside").chmod(0o755)
    path.with_name("beside").rename(path)


def vanish(path: Path) -> None:
    path.unlink()


def vanish_with_its_folder(path: Path) -> None:
    shutil.rmtree(path.parent)


def become_a_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("../../elsewhere/log.jsonl")


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inner").write_bytes(b"not listed any more\n")


def become_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def be_reached_by_a_link(path: Path) -> None:
    shutil.rmtree(path.parent)
    path.parent.symlink_to("../elsewhere")


@pytest.mark.parametrize(
    ("act", "lies", "left_out"),
    [
        (append, Entry("file", False, SECOND), ()),
        (replace, Entry("file", True, SECOND), ()),
        (vanish, None, ()),
        (vanish_with_its_folder, None, ()),
        (become_a_link, Entry("link", False, b"../../elsewhere/log.jsonl"), ()),
        (become_a_folder, None, ()),
        (become_a_pipe, None, ("journal/log.jsonl",)),
        (be_reached_by_a_link, None, ()),
    ],
)
def test_a_file_that_others_write_is_recorded_as_it_was_read(
    scene: Scene, act: Act, lies: Entry | None, left_out: tuple[str, ...]
) -> None:
    before = everything(scene.top)
    path = scene.write("journal/log.jsonl", FIRST)
    files = Meanwhile(path, act)
    recorded = record(scene, files)
    assert files.happened
    assert scene.laid(recorded.tree) == before | ({b"journal/log.jsonl": lies} if lies else {})
    assert recorded.left_out == left_out
    again = scene.record()
    assert scene.laid(again.tree) == without_pipes(everything(scene.top))


def without_pipes(found: dict[bytes, Entry]) -> dict[bytes, Entry]:
    return {path: entry for path, entry in found.items() if entry.kind != "other"}


def test_another_file_with_the_bytes_that_are_gone_is_recorded_too(scene: Scene) -> None:
    path = scene.write("journal/a.jsonl", FIRST)
    scene.write("journal/b.jsonl", FIRST)
    scene.write("journal/c.jsonl", FIRST)
    recorded = record(scene, Meanwhile(path, append))
    assert recorded.stored == 2
    assert scene.laid(recorded.tree) == everything(scene.top)
    assert scene.record() == recorded._replace(stored=0)


def test_a_link_that_others_turn_is_recorded_as_it_was_read(scene: Scene) -> None:
    link = scene.top / "latest"
    link.symlink_to("one")

    class Turned(OsFiles):
        @staticmethod
        def readlink(path: str) -> str:
            target = os.readlink(path)
            if target == "one":
                link.unlink()
                link.symlink_to("two")
            return target

    recorded = record(scene, Turned())
    assert scene.laid(recorded.tree)[b"latest"] == Entry("link", False, b"two")


def test_a_link_that_goes_before_it_is_read_is_not_there(scene: Scene) -> None:
    before = everything(scene.top)
    link = scene.top / "latest"
    link.symlink_to("one")

    class Gone(OsFiles):
        @staticmethod
        def readlink(path: str) -> str:
            link.unlink()
            return os.readlink(path)

    assert scene.laid(record(scene, Gone()).tree) == before


def test_two_that_sweep_at_once_are_not_in_each_others_way() -> None:
    clock = SystemClock()
    folder = Path(trees_folder(FILES, os.environ))
    (folder / "locks").mkdir(parents=True)

    class Beside(OsFiles):
        """Another process sweeps while our stamp is being written."""

        @staticmethod
        def open(path: str, flags: int, mode: int = 0o600) -> int:
            fd = os.open(path, flags, mode)
            if flags & os.O_TRUNC:
                sweep_daily(FILES, os.environ, clock)
            return fd

    sweep_daily(Beside(), os.environ, clock)
    assert [path.name for path in (folder / "locks").iterdir()] == ["swept"]
