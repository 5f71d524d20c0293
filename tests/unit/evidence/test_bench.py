"""Holds that each run of a proof is made on the tree it is meant for, laid out anew where something ran before; that
the copy is made ready once for each laying out; and that what is lacking only because it is shut in is no red."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import Refusal
from tallystick.evidence.bench import Bench, Watch
from tallystick.evidence.checks import Step
from tallystick.evidence.places import Ground
from tallystick.settings import Settings
from tallystick.system.process import Finished
from tests.unit.evidence.test_reds import Desk

STEP = Step("exit", ("make", "test"), ())
USUAL = Settings()
SET_UP = USUAL._replace(verify=USUAL.verify._replace(setup=(("make", "ready"),)))


class Yard:
    """A ground that notes what is laid out and started on it; `lacking` is what the last program lacked."""

    def __init__(self, desk: Desk, settings: Settings = USUAL, *, copy: bool = True, status: int = 0) -> None:
        self.did: list[str] = []
        self.said: list[str] = []
        self.lacking: str | None = None
        self.status = status
        self.desk = desk
        self.tree = desk.commit({"a.py": b"a\n", "b.py": b"b\n"})
        ground = Ground(
            "/shop",
            "/shop" if copy else "",
            self.tree,
            "a fake",
            0,
            self.launch,
            lambda: self.lacking,
            self.lay,
            "/copy",
        )
        self.bench = Bench(
            ground if copy else ground._replace(copy=""), desk.trees, {"PATH": "/bin"}, settings, (), self.watch
        )

    @property
    def watch(self) -> Watch:
        return Watch(says=self.said.append)

    def launch(self, argv: tuple[str, ...], *_: Any, **__: Any) -> Finished:
        """Start nothing."""
        self.did.append(" ".join(argv))
        return Finished(self.status, None, b"", took_s=0.5)

    def lay(self, tree: str) -> None:
        """Lay out nothing."""
        self.did.append("lay " + ",".join(sorted(self.desk.trees.rows(tree) or {})))


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk"))


def test_what_is_laid_out_already_is_used_and_after_a_run_laid_out_anew(desk: Desk) -> None:
    yard = Yard(desk)
    yard.bench.run(STEP)
    yard.bench.run(STEP)
    assert yard.did == ["make test", "lay a.py,b.py", "make test"]
    assert yard.bench.took_s == 1.0


def test_a_run_has_its_own_tree_without_what_is_set_aside(desk: Desk) -> None:
    yard = Yard(desk)
    yard.bench.run(STEP._replace(without=("b.py",)))
    other = desk.commit({"c.py": b"c\n"})
    yard.bench.run(STEP, other)
    yard.bench.lay(yard.tree)
    yard.bench.lay(yard.tree)
    yard.bench.run(STEP)
    assert yard.did == ["lay a.py", "make test", "lay c.py", "make test", "lay a.py,b.py", "make test"]


def test_byte_code_is_never_laid_out(desk: Desk) -> None:
    tree = desk.commit({"a.py": b"a\n", "__pycache__/a.cpython-311.pyc": b"lies\n", "d/__pycache__/x": b"lies\n"})
    ground = Ground("/shop", "/shop", tree, "a fake", 0, lambda *_, **__: Finished(0, None, b""), copy="/copy")
    assert set(desk.trees.rows(Bench(ground, desk.trees, {}, Settings(), (), Watch()).tree) or {}) == {"a.py"}


def test_the_copy_is_made_ready_once_for_each_laying_out(desk: Desk) -> None:
    yard = Yard(desk, SET_UP)
    yard.bench.run(STEP)
    yard.bench.run(STEP)
    assert yard.did == ["make ready", "make test", "lay a.py,b.py", "make ready", "make test"]
    assert yard.said == ["making the copy ready"] * 2
    assert [one.argv for one in yard.bench.setup] == [("make", "ready")]


def test_in_place_nothing_is_laid_out_or_made_ready(desk: Desk) -> None:
    yard = Yard(desk, SET_UP, copy=False)
    yard.bench.run(STEP)
    yard.bench.run(STEP)
    assert (yard.did, yard.bench.tree) == (["make test", "make test"], "")


def test_what_a_red_run_lacked_only_because_it_is_shut_in_is_no_red(desk: Desk) -> None:
    yard = Yard(desk, status=1)
    assert not yard.bench.run(STEP).verdict.green
    yard.lacking = "/var/run/docker.sock"
    with pytest.raises(Refusal) as caught:
        yard.bench.run(STEP)
    assert (caught.value.code, "docker.sock" in caught.value.message) == ("check.needs", True)
    yard.status = 0
    assert yard.bench.run(STEP).verdict.green, "a green one lacked nothing"


def test_only_a_runner_of_ours_is_looked_at(desk: Desk, tmp_path: Path) -> None:
    from tallystick.system.files import OsFiles

    yard = Yard(desk)
    assert yard.bench.installed(OsFiles(), STEP, str(tmp_path)) is None
    assert yard.did == []
