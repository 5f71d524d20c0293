"""Holds that a pass cannot be had without the work: each cheat of `docs/gauntlet.md` is tried by the real command line
and does not become *proven*, and honest work that looks like it does. What no run can tell from honest work is shown as
*proven*, never as more."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proof import cheats_process, cheats_red, cheats_tests, cheats_tree
from tests.proof.cheats_base import BASES, Cheat, Step
from tests.proof.scene import FEATURE, IGNORED, PROVEN, Caught, Scene, Stage, checklist, play, played, wrong

ROOT = Path(__file__).resolve().parents[2]
CHEATS = (*cheats_tests.CHEATS, *cheats_process.CHEATS, *cheats_tree.CHEATS)
CATCHABLE = [one for one in CHEATS if one.expect is not None]
NOT_TO_BE_TOLD = [one for one in CHEATS if one.expect is None]
TWINS = [one for one in CHEATS if one.twin is not None]
#: What a cheat leaves behind where `git clean` does not look.
_LEFT = ("pytest.ini", "conftest.py", "elsewhere")


class Tables:
    """One project for each base, red once; every cheat begins from that state again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made_so_far = 0
        self._stages: dict[str, tuple[Stage, dict[str, str]]] = {}

    def play(self, base: str, step: Step, expect: str | Caught) -> str:
        """What is wrong when `step` is taken on the base of that name and everything is verified anew."""
        stage = self._ready(base)
        stage.step(step)
        stage.said = {"red": stage.said["red"]}
        stage.verify("verify", "--all")
        found = played(stage)
        if sum(record["type"] == "red_seen" for record in stage.project.records(FEATURE)) > 1:
            del self._stages[base]  # the lock has moved along with the tests: the next one begins anew
        told = wrong(BASES[base]._replace(expect=expect), found)
        return f"{told}\n{found.told}" if told else ""

    def _ready(self, base: str) -> Stage:
        if base not in self._stages:
            stage = self._made(base)
            self._stages[base] = (stage, dict(stage.project.env))
        stage, env = self._stages[base]
        stage.project.env = dict(env)
        self._set_back(stage)
        return stage

    def _made(self, base: str) -> Stage:
        scene = BASES[base]
        self._made_so_far += 1
        stage = Stage(scene, self._folder / f"{base}-{self._made_so_far}" / "home")
        stage.folder.mkdir(parents=True)
        stage.write({".gitignore": IGNORED, **scene.start})
        stage.git("init", "--quiet")
        stage.commit("start")
        stage.tally("init", "ledger", "init", FEATURE, "-", given=checklist(scene.criteria))
        stage.step(scene.tests)
        assert stage.red().status == 0, stage.said["red"]
        stage.commit("the tests")
        return stage

    @staticmethod
    def _set_back(stage: Stage) -> None:
        for name in _LEFT:
            left = stage.home.parent / name
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink(missing_ok=True)
        (stage.folder / ".git" / "info" / "exclude").write_text("", encoding="utf-8")
        shutil.rmtree(stage.folder / "tests" / ".git", ignore_errors=True)
        for replaced in stage.git("replace", "--list").split():
            stage.git("replace", "--delete", replaced)
        stage.git("config", "--remove-section", "filter.soft") if "soft" in stage.git("config", "--list") else None
        (stage.folder / ".git" / "index").unlink()
        stage.git("reset", "--quiet", "--hard", "HEAD")
        stage.git("clean", "-ffdxq")


@pytest.fixture(scope="module")
def tables() -> Iterator[Tables]:
    """All bases, in a folder that every check can see: a home or `/tmp` would hide what lies above them."""
    (ROOT / ".dev" / "cache").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / ".dev" / "cache", prefix="gauntlet-") as folder:
        yield Tables(Path(folder))


def named(cheats: list[Cheat]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("cheat", cheats, ids=[one.name for one in cheats])


def test_every_cheat_has_a_name_of_its_own_and_stands_in_the_list() -> None:
    names = [one.name for one in (*CHEATS, *cheats_red.SCENES)]
    assert len(set(names)) == len(names)
    listed = (ROOT / "docs" / "gauntlet.md").read_text(encoding="utf-8")
    assert [name for name in names if f"`{name}`" not in listed] == []


@pytest.mark.parametrize("base", BASES)
def test_honest_work_is_proven(tables: Tables, base: str) -> None:
    assert not tables.play(base, BASES[base].work, PROVEN)


@named(CATCHABLE)
def test_a_cheat_is_not_proven(tables: Tables, cheat: Cheat) -> None:
    assert cheat.expect is not None
    assert not tables.play(cheat.base, cheat.work, cheat.expect)


@named(TWINS)
def test_honest_work_that_looks_like_it_is_proven(tables: Tables, cheat: Cheat) -> None:
    assert cheat.twin is not None
    assert not tables.play(cheat.base, cheat.twin, PROVEN)


@named(NOT_TO_BE_TOLD)
def test_what_no_run_can_tell_is_proven_and_never_called_more(tables: Tables, cheat: Cheat) -> None:
    assert not tables.play(cheat.base, cheat.work, PROVEN)


@pytest.mark.parametrize("scene", cheats_red.SCENES, ids=[one.name for one in cheats_red.SCENES])
def test_a_red_that_proves_nothing_is_refused(tmp_path: Path, scene: Scene) -> None:
    found = play(scene, tmp_path)
    assert not wrong(scene, found), found.told


def test_two_criteria_that_share_a_run_are_proven_where_both_are_built(tmp_path: Path) -> None:
    found = play(cheats_red.HONEST, tmp_path)
    assert not wrong(cheats_red.HONEST, found), found.told


def test_tests_that_changed_after_work_had_begun_are_shown_though_they_are_red_again(tmp_path: Path) -> None:
    found = play(cheats_red.LIMIT, tmp_path)
    assert not wrong(cheats_red.LIMIT, found), found.told
    assert "tests/test_cart.py" in found.said["get"].out, found.told
