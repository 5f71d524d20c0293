"""Holds the life of a criterion by the command line: seen red for good reasons only, built, proven; then its tests
change, honestly or not, and what is said and done about it; and what keeps a run from showing more than that it ran."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tallystick.agents.scripted.client import Client
from tests.real.project import TALLYSTICK
from tests.real.red_scene import ABSENT, FEATURE, FILES, ID, PRESENT, TEST, Work

BAD = {
    "green": ("red.green", "def test_x():\n    assert True\n"),
    "skip": ("red.skip", "import pytest\n\n\n@pytest.mark.skip\ndef test_x():\n    assert False\n"),
    "xfail": ("red.skip", "import pytest\n\n\n@pytest.mark.xfail\ndef test_x():\n    assert False\n"),
    "syntax": ("red.syntax", "def test_x(:\n    pass\n"),
    "fixture": ("red.fixture", "def test_x(nobody_has_it):\n    assert False\n"),
    "module": ("red.module", "import left_pad_of_nobody\n\n\ndef test_x():\n    assert False\n"),
    "name": ("red.name", "def test_x():\n    assert totl([]) == 0\n"),
    "setup": ("red.setup", "def setup_module():\n    open('/nowhere')\n\n\ndef test_x():\n    assert False\n"),
    "absent": ("red.absent", "def test_other():\n    assert False\n"),
    "limit": ("red.limit", "def test_x():\n    raise MemoryError\n"),
}
EMPTY_ID = "tests/test_empty.py::test_empty"


@pytest.mark.requirement("P9")
def test_a_red_for_a_bad_reason_is_named_and_locks_nothing(tmp_path: Path) -> None:
    files = {f"tests/test_{name}.py": text for name, (_, text) in BAD.items()}
    checks = tuple(f"tests: tests/test_{name}.py::test_x" for name in BAD)
    work = Work.begun(tmp_path / "shop", {**FILES, **files}, (*checks, f"tests: {ID}"))
    said = work.tally("ledger", "red", FEATURE, "--json")
    rows = {row["id"]: row for row in said.document["criteria"]}
    found = {name: [one["code"] for one in rows[f"AC{at}"]["reasons"]] for at, name in enumerate(BAD, 1)}
    assert (said.status, found) == (4, {name: [code] for name, (code, _) in BAD.items()})
    assert rows[f"AC{len(BAD) + 1}"]["red"] == [ID], "each is judged by its own ids"
    seen = [record["data"] for record in work.records(FEATURE) if record["type"] == "red_seen"]
    assert [(one["criterion"], len(one["ids"])) for one in seen] == [("AC1", 0), (f"AC{len(BAD) + 1}", 1)]
    assert rows["AC1"]["born_green"] is True
    screen = work.tally("ledger", "red", FEATURE, "AC1", "AC9").out
    assert "born green" in screen
    assert "no test with this id was reported" in screen
    assert "Next     mend the tests" in screen


@pytest.mark.requirement("P9")
def test_a_crash_and_a_command_without_tests_are_no_red(tmp_path: Path) -> None:
    crash = "import os\n\n\ndef test_x():\n    os._exit(1)\n"
    checks = ("tests: tests/test_crash.py::test_x", "run: false")
    work = Work.begun(tmp_path / "shop", {**FILES, "tests/test_crash.py": crash}, checks)
    assert work.not_red("AC1") == ["red.crash"]
    assert work.not_red("AC2") == []
    assert "only an exit status" in work.tally("ledger", "red", FEATURE, "AC2").out
    assert not any(record["type"] == "red_seen" for record in work.records(FEATURE))


@pytest.mark.requirement("P8", "P9", "L15")
def test_red_then_built_is_proven_and_honest_changes_stay_so_until_looked_at(tmp_path: Path) -> None:
    work = Work.begun(tmp_path / "shop")
    assert work.why() == (4, ["check.red"])
    work.red()
    work.write({"cart.py": PRESENT})
    assert work.verified() == "proven"
    page = work.get()
    assert (page["state"], page["level"], page["red"]["ids"], page["red"]["reviewed"]) == ("holds", "proven", [ID], [])
    assert "are those that were seen red" in work.done("ledger", "get", FEATURE, "AC1", "--diff").out
    assert work.tally("ledger", "accept", FEATURE, "AC1", "--reason", "x").status == 1, "no person at a terminal"

    work.write({"tests/test_cart.py": TEST.replace("total([1, 2]) == 3", "(\n        total([1, 2]) == 3\n    )")})
    assert work.get()["state"] == "stale"
    assert work.verified() == "proven"
    assert work.get()["red"]["reviewed"] == ["tests/test_cart.py"]
    diff = work.done("ledger", "get", FEATURE, "AC1", "--diff").out
    assert "-    assert total([1, 2]) == 3" in diff

    added = "\n\ndef test_empty():\n    assert total([]) == 0\n"
    conftest = "import pytest\n\n\n@pytest.fixture\ndef none():\n    return []\n"
    text = (work.folder / "tests" / "test_cart.py").read_text()
    work.write({"tests/test_cart.py": text + added, "tests/conftest.py": conftest})
    assert work.verified() == "proven"
    page = work.done("ledger", "get", FEATURE, "AC1").out
    assert "reviewed   tests/test_cart.py, tests/conftest.py changed since, and red again" in page
    work.accept()
    assert work.get()["red"]["reviewed"] == []
    assert work.verified("AC1", "--all") == "proven"
    assert work.get()["red"]["reviewed"] == []


@pytest.mark.requirement("P9")
def test_a_softened_test_waits_for_a_person_and_is_made_red_again(tmp_path: Path) -> None:
    work = Work.proven(tmp_path / "shop")
    work.write({"tests/test_cart.py": TEST.replace("== 3", "> 0")})
    screen = work.tally("verify", FEATURE)
    assert screen.status == 4
    assert "its test was changed" in screen.out
    assert "1 line differs from the test seen red" in screen.out
    assert f"meant      tallystick ledger accept {FEATURE} AC1 --reason …" in screen.out
    assert f"not meant  tallystick ledger get {FEATURE} AC1 --diff" in screen.out
    assert "> 0" in work.done("ledger", "get", FEATURE, "AC1", "--diff").out
    assert work.tally("ledger", "accept", FEATURE, "AC1", "--reason", "x").status == 1
    assert work.why() == (4, ["lock.changed"])
    work.accept()
    assert work.verified() == "proven"
    work.write({"tests/test_cart.py": TEST.replace("== 3", "> 0").replace("assert total([1, 2])", "assert 1")})
    assert work.why() == (4, ["lock.changed"])
    work.accept()
    assert work.why() == (4, ["lock.changed"]), "accepted, and still not red without what was built"
    work.write({"tests/test_cart.py": TEST.replace("== 3", "> 0")})
    assert work.verified() == "proven", "what was accepted and red stands"


@pytest.mark.requirement("P9")
def test_a_renamed_test_is_asked_about_once(tmp_path: Path) -> None:
    work = Work.proven(tmp_path / "shop")
    work.git("mv", "tests/test_cart.py", "tests/test_total.py")
    said = work.verify()
    (reason,) = work.row(said)["reasons"]
    new = "tests/test_total.py::test_total"
    assert (said.status, reason["code"]) == (4, "ids.missing")
    assert reason["next"] == f"tallystick ledger accept {FEATURE} AC1 --tests {new} --reason …"
    shown = work.accept("--tests", new)
    assert f"its tests are now {new}" in shown
    assert work.verified() == "proven"
    page = work.get()
    assert (page["evidence_required"], page["amended"], page["red"]["ids"]) == ([f"tests: {new}"], 1, [new])


@pytest.mark.requirement("P9")
def test_links_and_strangers_among_the_tests(tmp_path: Path) -> None:
    work = Work.proven(tmp_path / "shop")
    work.write({"tests/test_cart.py": None, "real.py": TEST})
    (work.folder / "tests" / "test_cart.py").symlink_to("../real.py")
    assert work.why() == (4, ["lock.symlink"])
    (work.folder / "tests" / "test_cart.py").unlink()
    patch = "import cart\n\ncart.total = lambda lines: 3\n"
    work.write({"tests/test_cart.py": TEST, "real.py": None, "tests/conftest.py": patch, "cart.py": ABSENT})
    assert work.why() == (4, ["check.red"]), "the conftest was set aside"
    work.write({"cart.py": PRESENT + "\n\ndef first(lines):\n    return None\n"})
    assert work.verified() == "proven"

    fixture = "import pytest\n\n\n@pytest.fixture\ndef empty():\n    return []\n"
    test = "from cart import first\n\n\ndef test_empty(empty):\n    assert first(empty) == 'none'\n"
    work.write({"tests/conftest.py": fixture, "tests/test_empty.py": test})
    work.done("ledger", "add", FEATURE, "-", given=f"- [ ] AC2 nothing is first\n      tests: {EMPTY_ID}\n".encode())
    work.red("AC2")
    work.write({"cart.py": PRESENT + "\n\ndef first(lines):\n    return lines[0] if lines else 'none'\n"})
    said = work.verify("--all")
    assert {row["id"]: row["level"] for row in said.document["criteria"] if row["holds"]} == {
        "AC1": "proven",
        "AC2": "proven",
    }


@pytest.mark.requirement("P9")
def test_a_test_author_sees_red_by_checking(tmp_path: Path) -> None:
    work = Work.begun(tmp_path / "shop")
    env = {**os.environ, **work.env}
    argv = [*TALLYSTICK, "mcp", "--role", "test-author"]
    call = ("check", {"feature": FEATURE, "criterion": "AC1"})
    with Client(argv, cwd=str(work.folder), env=env, era="auto", stderr=None) as author:
        answer = author.call(*call)
        assert not answer.is_error, answer
    assert work.get()["red"]["ids"] == [ID]
    work.write({"cart.py": PRESENT})
    assert work.verified() == "proven"


@pytest.mark.requirement("P9", "F1.17")
def test_born_green_is_shown_for_ever(tmp_path: Path) -> None:
    work = Work.begun(tmp_path / "shop", {**FILES, "cart.py": PRESENT})
    assert work.verified() == "ran"
    assert work.get()["born_green"] is True
    assert work.not_red("AC1") == ["red.green"]
    work.person("ledger", "amend", FEATURE, "AC1", "--text", "it really works", "--reason", "said better")
    work.write({"cart.py": ABSENT})
    work.red()
    work.write({"cart.py": PRESENT})
    assert work.verified() == "proven"
    assert work.get()["born_green"] is True
    assert "born green" in work.done("ledger", "get", FEATURE, "AC1").out


@pytest.mark.requirement("P8", "P22")
@pytest.mark.needs("bubblewrap")
def test_a_flaky_test_is_told_and_cleared_by_a_change(tmp_path: Path) -> None:
    work, shared = flagged(
        tmp_path,
        "from pathlib import Path\nfrom cart import total\n\n\ndef test_total():\n"
        "    assert total([1, 2]) == 3\n    assert not Path({!r}, 'flag').exists()\n",
    )
    assert work.verified() == "proven"
    (shared / "flag").touch()
    assert work.why("AC1", "--all") == (4, ["check.red"])
    assert work.get()["state"] == "flaky"
    (shared / "flag").unlink()
    assert work.why() == (4, ["check.flaky"])
    assert work.get()["state"] == "flaky"
    assert "flaky" in work.tally("verify", FEATURE).out
    assert [row["state"] for row in work.done("ledger", "failing", FEATURE, "--json").document["criteria"]] == ["flaky"]
    work.write({"cart.py": PRESENT + "# mended\n"})
    assert work.verified() == "proven"
    assert work.get()["state"] == "holds"


def flagged(tmp_path: Path, test: str, **files: str) -> tuple[Work, Path]:
    """A criterion that was red and is built, whose test may write to a shared folder that it is told of."""
    shared = tmp_path / "shared"
    shared.mkdir()
    settings = f'[verify]\nallow = ["{shared}"]\n'
    texts = {**FILES, ".tallystick/config.toml": settings, "tests/test_cart.py": test.format(str(shared)), **files}
    work = Work.begun(tmp_path / "shop", texts)
    work.person("trust", "--yes")
    work.red()
    work.write({"cart.py": PRESENT})
    return work, shared


@pytest.mark.requirement("P8")
@pytest.mark.needs("bubblewrap")
def test_code_of_the_project_from_outside_the_tree_shows_only_that_it_ran(tmp_path: Path) -> None:
    conftest = f"import sys\n\nsys.path.insert(0, {str(tmp_path / 'shared')!r})\n"
    work, shared = flagged(tmp_path, TEST, **{"tests/conftest.py": conftest})
    work.write({"cart.py": ABSENT + "# another state\n"})
    (shared / "cart.py").write_text(PRESENT, encoding="utf-8")
    assert work.why() == (3, ["level.low", "import.outside"])


@pytest.mark.requirement("P8")
def test_what_the_policy_and_the_caller_ask_for(tmp_path: Path) -> None:
    work = Work.begun(tmp_path / "shop")
    for words in (("--level", "challenged"), ("--held-out", "somewhere")):
        said = work.tally("verify", FEATURE, *words, "--json")
        assert (said.status, said.document["error"]["code"]) == (1, "check.unsupported")
        assert words[0] in said.document["error"]["message"]
    work.write({"cart.py": PRESENT})
    assert work.verified() == "ran"
    assert work.why("AC1", "--level", "proven") == (3, ["level.low"])
    work.write({".tallystick/config.toml": '[policy]\nchecked = "proven"\n'})
    assert work.why() == (3, ["level.low"])
    assert work.get()["state"] == "failing"
    assert "it is ran, and proven is asked for" in work.done("ledger", "get", FEATURE, "AC1").out
    work.write({"cart.py": ABSENT})
    work.red("AC1")
    work.write({"cart.py": PRESENT})
    assert work.verified() == "proven"


@pytest.mark.requirement("P8")
def test_in_place_shows_only_that_it_ran(tmp_path: Path) -> None:
    in_place = '[verify]\nmode = "in-place"\n'
    work = Work.begun(tmp_path / "shop", {**FILES, ".tallystick/config.toml": in_place})
    said = work.tally("ledger", "red", FEATURE, "--json")
    assert (said.status, said.document["error"]["code"]) == (1, "check.no_runner")
    assert "needs a copy of the tree" in said.document["error"]["message"]
    work.write({"cart.py": PRESENT})
    said = work.tally("verify", FEATURE)
    assert (said.status, "in place" in said.out) == (0, True), said
    assert work.why("AC1", "--level", "proven") == (3, ["level.low"])
    work.write({".tallystick/config.toml": None})
    work.write({"cart.py": ABSENT})
    work.red("AC1")
    work.write({"cart.py": PRESENT})
    assert work.verified() == "proven"
    work.write({".tallystick/config.toml": in_place, "cart.py": PRESENT + "# in place\n"})
    assert work.why() == (3, ["level.low", "level.low"])
    assert "where the files lie, not in a copy" in work.tally("verify", FEATURE).out


@pytest.mark.requirement("P9", "P16")
def test_proven_whatever_git_and_names_do(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    odd = "tests/test_odd\nname.py"
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 12\n"
    files = {
        **FILES,
        odd: TEST,
        "tests/data\n.txt": "x\n",
        ".gitattributes": "*.bin filter=lfs\ncart.py filter=lfs\n",
        "large.bin": pointer,
        "apart/unneeded.py": "x = 1\n",
    }
    work = Work.begun(tmp_path / "shop", files, (f"tests: {ID}",))
    library = Work.begun(tmp_path / "library", {"lib.py": "x = 1\n"}, ("run: true",))
    work.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.folder), "library")
    work.commit()
    for name in ("clean", "smudge", "process"):
        work.git("config", f"filter.lfs.{name}", f"touch {canary}; cat")
    work.git("config", "filter.lfs.required", "true")
    work.git("sparse-checkout", "set", "--no-cone", "/*", "!/apart/")
    work.git("checkout", "--quiet", "--detach")
    canary.unlink(missing_ok=True)
    assert not (work.folder / "apart").exists()
    work.red()
    work.write({"cart.py": PRESENT})
    real, forged = (work.git("hash-object", "-w", "--no-filters", name).strip() for name in ("cart.py", "large.bin"))
    absent = work.git("rev-parse", "HEAD:cart.py").strip()
    work.git("replace", real, forged)
    work.git("replace", absent, real)
    said = work.verify()
    assert work.row(said)["level"] == "proven", said
    work.write({"tests/test_cart.py": "# laid out anew\n" + TEST})
    assert work.verified() == "proven", "the red was made again from the real bytes"
    for flag in ("--assume-unchanged", "--skip-worktree"):
        work.git("update-index", flag, "tests/test_cart.py")
        work.write({"tests/test_cart.py": TEST.replace("== 3", "> 0")})
        assert work.why() == (4, ["lock.changed"])
        work.write({"tests/test_cart.py": TEST})
        work.git("update-index", flag.replace("--", "--no-"), "tests/test_cart.py")
    assert not canary.exists()
