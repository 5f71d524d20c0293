"""Holds that no damage to any of our files, of any kind and anywhere, is a fault of ours: every command ends with a
status of the table, and what it refuses it refuses in one line (P3, P6)."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.desk import FEATURE, Desk, changes
from tests.inputs.commands import COUNTING, MORE, READING, WAYS_OUT

ROUNDS, SEEDS = 10, 5


def _files(desk: Desk) -> list[Path]:
    """Every file of ours, the view and git's list included."""
    places = (desk.store, desk.home, desk.view.parent, desk.folder / ".git" / "info")
    return sorted(path for place in places for path in place.rglob("*") if path.is_file() and not path.is_symlink())


def _instead(path: Path, make: Callable[[], object]) -> None:
    """Something else in the place of a file."""
    path.unlink()
    make()


def spoil(path: Path, chance: random.Random) -> str:
    """Do one bad thing to a file; what it was."""
    data = path.read_bytes()
    at = chance.randrange(len(data) + 1)
    flipped = data[: at - 1] + bytes((data[at - 1] ^ (1 << chance.randrange(8)),)) + data[at:] if at else b"x" + data
    ways: dict[str, Callable[[], object]] = {
        "flip": lambda: path.write_bytes(flipped),
        "cut": lambda: path.write_bytes(data[:at]),
        "zero": lambda: path.write_bytes(data[:at] + b"\0" * chance.randrange(1, 900) + data[at + 40 :]),
        "grow": lambda: path.write_bytes(data + chance.randbytes(chance.randrange(1, 90))),
        "double": lambda: path.write_bytes(data + data),
        "noise": lambda: path.write_bytes(chance.randbytes(len(data))),
        "turned round": lambda: path.write_bytes(b"\n".join(reversed(data.split(b"\n")))),
        "gone": path.unlink,
        "folder": lambda: _instead(path, path.mkdir),
        "pipe": lambda: _instead(path, lambda: os.mkfifo(path)),
        "link": lambda: _instead(path, lambda: path.symlink_to(os.devnull)),
        "loop": lambda: _instead(path, lambda: path.symlink_to(path.name)),
        "folder gone": lambda: shutil.rmtree(path.parent),
    }
    way = chance.choice(list(ways))
    ways[way]()
    return f"{way} {path.name} at {at}"


@pytest.mark.requirement("P3", "P6")
@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_is_damaged_no_command_breaks(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    whole = Desk(tmp_path / "whole")
    whole.freeze()
    whole.put("large.txt", "x" * 20_000)
    whole.cite("AC1", "large.txt")
    whole.put("more.md", MORE)
    for at in range(6):
        whole.ok("ledger", "fail", "AC2", "--error", f"{at}" * 1900)
    for number in range(ROUNDS):
        desk = Desk(tmp_path / f"{number}")
        shutil.rmtree(desk.base)
        shutil.copytree(whole.base, desk.base, symlinks=True)
        done = [spoil(chance.choice(_files(desk)), chance) for _ in range(chance.choice((1, 1, 2)))]
        before = desk.tree()
        for words in READING:
            said = desk.run(*words)
            assert said.status in (0, 1, 3, 8), (done, words, said)
            assert said.status != 1 or said.err.count("\n") == 2, (done, words, said)
        assert changes(before, desk.tree()) == {}, done
        for words in (("ledger", "init", "refunds", "criteria.md"), *COUNTING, *WAYS_OUT, ("audit", "--restore")):
            said = desk.run(*words)
            assert said.status in (0, 1, 8), (done, words, said)
        assert desk.run("ledger", "show", FEATURE).status in (0, 1, 8), done
