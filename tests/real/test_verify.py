"""Holds `tallystick verify`: what does not hold now runs again in one batch, the exit status carries the verdict, and
in another clone nothing counts before it ran there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.real.project import Project

FEATURE = "checkout"
PACKAGE = {
    "shop/__init__.py": "",
    "shop/cart.py": "def total(lines):\n    return sum(lines)\n\n\ndef first(lines):\n    return lines[0]\n",
    "tests/__init__.py": "",
    "tests/test_cart.py": (
        "import unittest\nfrom shop import cart\n\n\nclass CartTest(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(cart.total([1, 2]), 3)\n\n"
        "    def test_first(self):\n        self.assertEqual(cart.first([1, 2]), 1)\n"
    ),
}
CRITERIA = """\
- [ ] AC1 the total is right
      tests: tests.test_cart.CartTest.test_total
- [ ] AC2 the first line comes first
      tests: tests.test_cart.CartTest.test_first
"""


@pytest.fixture
def shop(project: Project) -> Project:
    """A small package, committed, with a criterion for each of its two tests."""
    for name, text in PACKAGE.items():
        path = project.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    project.done("ledger", "init", FEATURE, "-", given=CRITERIA.encode())
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "the shop")
    return project


def runs(project: Project) -> int:
    return sum(1 for record in project.records(FEATURE) if record["type"] == "run_recorded")


@pytest.mark.requirement("P8")
def test_one_batch_runs_what_does_not_hold_and_then_nothing(shop: Project) -> None:
    said = shop.done("verify", "--json").document
    assert (said["holds"], [row["level"] for row in said["criteria"]]) == (True, ["ran", "ran"])
    assert (runs(shop), shop.passing(FEATURE)) == (1, {"AC1", "AC2"})
    assert shop.done("verify", "--json").document["run"] is None
    assert runs(shop) == 1
    assert shop.done("verify", "--all", "--json").document["run"] is not None
    assert len([record for record in shop.records(FEATURE) if record["type"] == "pass_recorded"]) == 2


def test_a_red_one_is_named_recorded_and_ends_with_4(shop: Project) -> None:
    shop.done("verify")
    cart = shop.folder / "shop" / "cart.py"
    cart.write_text(cart.read_text(encoding="utf-8").replace("sum(lines)", "0"), encoding="utf-8")
    said = shop.tally("verify")
    assert (said.status, "FAILS" in said.out, "0 != 3" in said.out) == (4, True, True)
    assert "1 of 2 hold" in said.out
    assert shop.rows(FEATURE)["AC1"]["state"] == "regressed"
    cart.write_text(PACKAGE["shop/cart.py"], encoding="utf-8")
    assert shop.tally("verify", FEATURE, "AC1").status == 0
    assert shop.passing(FEATURE) == {"AC1"}, "AC2 was green on the other text"
    assert shop.tally("verify").status == 0
    assert shop.passing(FEATURE) == {"AC1", "AC2"}


def test_what_no_machine_decides_is_open_and_ends_with_3(shop: Project) -> None:
    shop.done("ledger", "add", FEATURE, "-", given=b"- [ ] AC3 it looks good\n      a screenshot\n")
    said = shop.tally("verify", "--json")
    rows = {row["id"]: row for row in said.document["criteria"]}
    assert (said.status, rows["AC1"]["holds"], rows["AC3"]["holds"]) == (3, True, False)
    assert rows["AC3"]["reasons"][0]["code"] == "evidence.missing"


@pytest.mark.requirement("P13")
def test_in_a_clone_it_waits_for_trust_and_then_runs_there(shop: Project, tmp_path: Path) -> None:
    shop.done("verify")
    shop.git("add", "--all")
    shop.git("commit", "--quiet", "-m", "verified")
    shop.git("clone", "--quiet", str(shop.folder), str(tmp_path / "clone"))
    clone = shop.at(tmp_path / "clone", {"XDG_STATE_HOME": str(tmp_path / "other-home")})
    assert {row["state"] for row in clone.rows(FEATURE).values()} == {"elsewhere"}
    said = clone.tally("verify")
    assert (said.status, "trust" in said.err) == (7, True)
    assert clone.tally("verify", "--trust-base", "HEAD").status == 0
    assert clone.passing(FEATURE) == {"AC1", "AC2"}
    poisoned = f"- [ ] AC9 new\n      run: {sys.executable} -c pass\n".encode()
    shop.done("ledger", "add", FEATURE, "-", given=poisoned)
    shop.git("add", "--all")
    shop.git("commit", "--quiet", "-m", "one more command")
    clone.git("pull", "--quiet", "--no-edit", "--no-rebase", str(shop.folder), "main")
    said = clone.tally("verify", "--trust-base", "HEAD~1")
    assert (said.status, "-c pass" in said.err) == (7, True), said


@pytest.mark.requirement("P22")
@pytest.mark.needs("bubblewrap")
def test_what_a_check_lacks_only_because_it_is_shut_in_is_neither_green_nor_red(shop: Project, tmp_path: Path) -> None:
    tool = tmp_path / "home" / "measures.txt"
    tool.parent.mkdir(parents=True, exist_ok=True)
    tool.write_text("12 ms\n", encoding="utf-8")
    (shop.folder / "measure.py").write_text(f"print(open({str(tool)!r}).read())\n", encoding="utf-8")
    text = f"- [ ] AC4 it is measured\n      run: {sys.executable} measure.py\n"
    shop.done("ledger", "add", FEATURE, "-", given=text.encode())
    home = {"HOME": str(tmp_path / "home")}
    said = shop.tally("ledger", "pass", FEATURE, "AC4", "--json", env=home)
    assert (said.status, said.document["error"]["code"]) == (1, "check.needs"), said
    assert str(tool) in said.document["error"]["message"]
    assert shop.rows(FEATURE)["AC4"]["last_attempt_error"] is None


def test_no_check_is_judged_by_what_another_left_in_the_copy(project: Project) -> None:
    writes = "- [ ] AC1 it writes\n      run: sh -c 'rm keep.txt; touch left.txt'\n"
    looks = "- [ ] AC2 it looks\n      run: sh -c 'test -f keep.txt && test ! -f left.txt'\n"
    (project.folder / "keep.txt").write_text("kept\n", encoding="utf-8")
    project.done("ledger", "init", FEATURE, "-", given=f"{writes}{looks}".encode())
    said = project.done("verify")
    assert ("2 of 2 hold" in said.out, "fresh copy of your tree" in said.out) == (True, True)
    assert (project.folder / "keep.txt").exists()


def test_a_tree_that_is_run_in_place_is_not_called_a_copy(project: Project) -> None:
    settings = project.folder / ".tallystick" / "config.toml"
    settings.parent.mkdir()
    settings.write_text('[verify]\nmode = "in-place"\n', encoding="utf-8")
    project.done("ledger", "init", FEATURE, "-", given=b"- [ ] AC1 it runs\n      run: true\n")
    said = project.done("verify")
    assert ("in place" in said.out, "copy" in said.out) == (True, False)


def test_a_home_in_the_work_tree_is_no_part_of_its_state(project: Project) -> None:
    key = "home/.local/state/tallystick/key"
    env = {"HOME": str(project.folder / "home"), "XDG_STATE_HOME": "", "XDG_CACHE_HOME": ""}
    (project.folder / "home").mkdir()
    given = f"- [ ] AC1 no key\n      run: sh -c 'test ! -s {key}'\n".encode()
    project.done("ledger", "init", FEATURE, "-", given=given, env=env)
    project.done("verify", env=env)
    assert (project.folder / key).exists()
    assert "re-run" not in project.done("status", env=env).out, "our own trees made it stale"
    assert key not in project.git("ls-files", "--others", "--exclude-standard")
