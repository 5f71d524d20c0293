"""Holds what a pass that we ran rests on: the files its run read, by content; and that a check has fewer rights than
whoever marks it (P10, P22): it runs in a copy of the tree, and reaches neither the key, the store nor the home."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tallystick.system.confine import available
from tests.real.project import Project

FEATURE = "checkout"
CART = "def total(lines):\n    return sum(lines)\n"
TEST = "import unittest\nfrom shop import cart\n\n\nclass CartTest(unittest.TestCase):\n    def test_total(self):\n"
TEST += "        self.assertEqual(cart.total([1, 2]), 3)\n"
CRITERIA = "- [ ] AC1 the total is right\n      tests: tests.test_cart.CartTest.test_total\n"


@pytest.fixture
def shop(project: Project) -> Project:
    """A small package with one test, committed, and a pass of its criterion."""
    for name, text in {
        "shop/__init__.py": "",
        "shop/cart.py": CART,
        "tests/__init__.py": "",
        "tests/test_cart.py": TEST,
    }.items():
        path = project.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (project.folder / "other.py").write_text("x = 1\n", encoding="utf-8")
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "the cart")
    project.done("ledger", "init", FEATURE, "-", given=CRITERIA.encode())
    project.done("ledger", "pass", FEATURE, "AC1")
    assert project.passing(FEATURE) == {"AC1"}
    return project


def state(project: Project) -> str:
    return str(project.rows(FEATURE)["AC1"]["state"])


@pytest.mark.requirement("P10")
@pytest.mark.parametrize("name", ["shop/cart.py", "tests/test_cart.py", "shop/__init__.py"])
def test_one_line_of_what_it_read_makes_it_stale_and_the_way_back_makes_it_hold(shop: Project, name: str) -> None:
    path = shop.folder / name
    before = path.read_text(encoding="utf-8")
    path.write_text(f"{before}# one line more\n", encoding="utf-8")
    assert state(shop) == "stale"
    assert f"{name} since its proof" in shop.done("ledger", "get", FEATURE, "AC1").out
    path.write_text(before, encoding="utf-8")
    assert state(shop) == "holds"
    path.unlink()
    assert state(shop) == "stale"


@pytest.mark.requirement("P10")
def test_what_it_never_read_turns_nothing_stale(shop: Project) -> None:
    (shop.folder / "README.md").write_text("# The shop\n", encoding="utf-8")
    (shop.folder / "other.py").write_text("x = 2\n", encoding="utf-8")
    output = (
        b'{"feature_id": "checkout", "phase": 3, "role": "designer", "status": "completed", "output": {"says": "x"}}'
    )
    shop.done("output", "save", "-", given=output)
    shop.done("note", FEATURE, "a note")
    shop.git("add", "--all")
    shop.git("commit", "--quiet", "-m", "more")
    shop.git("commit", "--quiet", "--amend", "-m", "another word")
    assert state(shop) == "holds"


@pytest.mark.requirement("P10")
def test_a_new_file_that_would_be_imported_instead_makes_it_stale(shop: Project) -> None:
    (shop.folder / "shop" / "cart").mkdir()
    (shop.folder / "shop" / "cart" / "__init__.py").write_text("def total(lines):\n    return 3\n", encoding="utf-8")
    assert state(shop) == "stale"


@pytest.mark.requirement("P8", "P16")
def test_a_check_runs_on_a_copy_and_leaves_the_tree_alone(shop: Project) -> None:
    script = "import pathlib; pathlib.Path('left.txt').write_text('x'); pathlib.Path('shop/cart.py').unlink()"
    (shop.folder / "spoil.py").write_text(script, encoding="utf-8")
    shop.done(
        "ledger", "add", FEATURE, "-", given=f"- [ ] AC2 it spoils\n      run: {sys.executable} spoil.py\n".encode()
    )
    shop.done("ledger", "pass", FEATURE, "AC2")
    assert not (shop.folder / "left.txt").exists()
    assert (shop.folder / "shop" / "cart.py").read_text(encoding="utf-8") == CART
    run = [record for record in shop.records(FEATURE) if record["type"] == "run_recorded"][-1]["data"]
    assert (len(run["tree"]), run["confined"]) == (40, available().word)


SNOOP = """\
import os, pathlib, sys
reached = []
for path in sys.argv[1:]:
    try:
        reached += [path] if pathlib.Path(path).read_bytes() else []
    except OSError:
        pass
    try:
        pathlib.Path(path).with_name("planted").write_bytes(b"x")
        reached.append("wrote beside " + path)
    except OSError:
        pass
sys.exit(len(reached) != 0)
"""


@pytest.mark.requirement("P22")
@pytest.mark.needs("bubblewrap")
def test_a_check_reaches_neither_key_nor_store_nor_home(shop: Project, tmp_path: Path) -> None:
    home = Path(os.environ["HOME"])
    private = home / "private.txt"
    private.write_text("mine\n", encoding="utf-8")
    key = Path(os.environ["XDG_STATE_HOME"], "tallystick", "key")
    (shop.folder / "snoop.py").write_text(SNOOP, encoding="utf-8")
    words = " ".join(map(str, (key, shop.store / "store-id", private)))
    text = f"- [ ] AC2 it looks around\n      run: {sys.executable} snoop.py {words}\n"
    shop.done("ledger", "add", FEATURE, "-", given=text.encode())
    said = shop.tally("ledger", "pass", FEATURE, "AC2")
    assert said.status == 0, said
    assert "bubblewrap" in said.out
    assert not list(tmp_path.rglob("planted"))
    unshut = shop.at(shop.folder)
    ran = unshut.folder / "snoop.py"
    assert os.spawnv(os.P_WAIT, sys.executable, [sys.executable, str(ran), str(key)]) == 1, "unconfined it reaches it"


def test_a_name_that_is_no_utf8_is_one_of_the_files_it_rests_on(project: Project) -> None:
    name = os.path.join(os.fsencode(project.folder), b"bad\xff.txt")
    try:
        with open(name, "wb") as file:
            file.write(b"one\n")
    except OSError:
        pytest.skip("this file system refuses such a name")
    project.done("ledger", "init", FEATURE, "-", given=b"- [ ] AC1 it can be listed\n      run: ls\n")
    project.done("ledger", "pass", FEATURE, "AC1")
    assert state(project) == "holds"
    with open(name, "wb") as file:
        file.write(b"two\n")
    assert state(project) == "stale"


def test_what_is_no_readable_file_does_not_keep_a_proof_from_holding(project: Project) -> None:
    (project.folder / "inner").mkdir()
    for name in ("inner/x.txt", "deleted.txt"):
        (project.folder / name).write_text("x\n", encoding="utf-8")
    for name, target in {"nowhere": "gone/away", "folder": "inner", "loop": "loop", "out": "/etc"}.items():
        (project.folder / name).symlink_to(target)
    project.git("add", "--all")
    (project.folder / "deleted.txt").unlink()
    project.done("ledger", "init", FEATURE, "-", given=b"- [ ] AC1 it can be listed\n      run: ls\n")
    project.done("ledger", "pass", FEATURE, "AC1")
    assert state(project) == "holds"
    (project.folder / "nowhere").unlink()
    (project.folder / "nowhere").symlink_to("inner")
    assert state(project) == "stale"
    (project.folder / "nowhere").unlink()
    (project.folder / "nowhere").symlink_to("gone/away")
    assert state(project) == "holds"
    (project.folder / "deleted.txt").write_text("x\n", encoding="utf-8")
    assert state(project) == "stale"


def test_copies_that_nobody_used_for_two_weeks_are_taken_away_by_the_next_check(shop: Project) -> None:
    trees = Path(os.environ.get("XDG_CACHE_HOME") or Path(os.environ["HOME"], ".cache"), "tallystick", "trees")
    old = trees / ("0" * 24 + "-0")
    (old / "tree").mkdir(parents=True)
    long_ago = 1_600_000_000
    os.utime(old, (long_ago, long_ago))
    shop.done("check", FEATURE)
    assert old.exists(), "once a day is enough"
    os.utime(trees / "locks" / "swept", (long_ago, long_ago))
    shop.done("check", FEATURE)
    assert not old.exists()
    assert shop.passing(FEATURE) == {"AC1"}
