"""Holds what a recorded run says that it read, and from where its code came; a plain run says nothing of it."""

from __future__ import annotations

import os
import py_compile
import sys
from pathlib import Path

import pytest

from tallystick.canonical import encode, sha256
from tallystick.evidence.checks import CheckPlace, Step, execute
from tallystick.evidence.runners import RUNNERS
from tallystick.evidence.runners.base import Modes
from tallystick.evidence.runners.carried import carried_files
from tallystick.evidence.runners.report import Distribution, Recorded, Report, read
from tests.unit.evidence.samples import VARIABLES, project

PYTEST = Step("pytest", (".venv/bin/pytest", "-q", "tests"), ())
UNITTEST = Step("unittest", (".venv/bin/python", "-m", "unittest", "tests.test_case"), ())
RECORD = Modes(alone=True, record=True, packages=("cart", "shop.till"))
SPAWNED = """
    import multiprocessing
    def test_x():
        process = multiprocessing.get_context("spawn").Process(target=print)
        process.start()
        process.join()
"""
EXECUTED = """
    import os
    def test_x():
        process = os.fork()
        if not process:
            os.execv("/bin/sh", ["sh", "-c", ""])
        os.waitpid(process, 0)
"""


def report_of(place: CheckPlace, modes: Modes | None, step: Step = PYTEST) -> Report:
    report = execute(step, place, VARIABLES, modes=modes).ran.report
    assert report is not None
    assert report.unreadable == ""
    return report


def recorded(place: CheckPlace, modes: Modes = RECORD, step: Step = PYTEST) -> Recorded:
    found = report_of(place, modes, step).recorded
    assert found is not None
    return found


def test_it_names_what_was_opened_and_imported_and_nothing_else(tmp_path: Path) -> None:
    place = project(
        tmp_path,
        {
            "cart/__init__.py": "from cart import prices\n",
            "cart/prices.py": "",
            "cart/unused.py": "",
            "README.md": "",
            "setup.cfg": "[tool:pytest]\nxfail_strict = true\n",
            "data/read.txt": "1",
            "data/raw.txt": "1",
            "data/kept.txt": "1",
            "data/missing": "1",
            "tests/conftest.py": "",
            "tests/helper.py": "",
            "tests/test_cart.py": """
                import io, os, sqlite3
                from pathlib import Path
                import cart, helper
                def test_x(tmp_path, monkeypatch):
                    Path("data/read.txt").read_text()
                    os.close(os.open(b"data/raw.txt", os.O_RDONLY))
                    sqlite3.connect("data/base.db").close()
                    Path("out.txt").write_text("x")
                    Path("out.txt").read_text()
                    with open("data/kept.txt", "a"): pass
                    (tmp_path / "elsewhere").write_text("x")
                    try:
                        import fast_cart
                    except ImportError:
                        pass
                    monkeypatch.chdir("data")
                    open("./../tests/by_name.json").close()
                    try:
                        open("nowhere")
                    except OSError:
                        pass
                    try:
                        open(object())
                    except TypeError:
                        pass
                    with open(os.dup(0)): pass
            """,
            "tests/by_name.json": "{}",
        },
    )
    found = recorded(place)
    assert found.read == (
        "cart/__init__.py", "cart/prices.py", "data/base.db", "data/raw.txt", "data/read.txt", "tests/by_name.json",
        "tests/conftest.py", "tests/helper.py", "tests/test_cart.py",
    )  # fmt: skip
    assert found.written == ("data/kept.txt", "out.txt")
    assert {"cart", "helper", "fast_cart", "json", "pytest"} <= set(found.names)
    assert "tests" in found.roots
    assert (found.partial, found.programs, found.outside, found.elsewhere) == ("", (), (), ())


def test_byte_code_stands_for_its_source(tmp_path: Path) -> None:
    text = """
        import sys, cart
        del sys.modules["cart"]
        def test_x(): pass
    """
    place = project(tmp_path, {"cart.py": "", "tests/test_a.py": text})
    compiled = tmp_path / "__pycache__" / f"cart.{sys.implementation.cache_tag}.pyc"
    compiled.parent.mkdir()
    py_compile.compile(str(tmp_path / "cart.py"), str(compiled))
    assert recorded(place).read == ("cart.py", "tests/test_a.py")


@pytest.mark.parametrize(
    ("text", "programs", "partial"),
    [
        ("import subprocess, sys\ndef test_x(): subprocess.run([sys.executable, '-c', ''])\n", True, "programs"),
        ("import os\ndef test_x(): os.system('true')\n", True, "programs"),
        (
            "import os, sys\ndef test_x(): os.waitpid(os.posix_spawn('/bin/sh', ['sh', '-c', ''], {}), 0)\n",
            True,
            "programs",
        ),
        ("import subprocess\ndef test_x(): subprocess.run(['uname'], stdout=-1)\n", True, ""),
        (SPAWNED, True, "programs"),
        (EXECUTED, True, "programs"),
        ("import os\ndef test_x():\n p = os.fork()\n if not p: os._exit(0)\n os.waitpid(p, 0)\n", False, ""),
    ],
)
def test_a_program_beside_the_run_makes_the_list_partial(
    tmp_path: Path, text: str, programs: bool, partial: str
) -> None:
    found = recorded(project(tmp_path, {"tests/test_a.py": text}))
    assert (bool(found.programs), found.partial) == (programs, partial)


def test_what_a_forked_child_reads_is_read(tmp_path: Path) -> None:
    text = """
        import multiprocessing, os
        def child():
            open("data.txt").read()
            open("out.txt", "w").close()
        def test_x():
            process = multiprocessing.get_context("fork").Process(target=child)
            process.start()
            process.join()
            assert process.exitcode == 0
    """
    found = recorded(project(tmp_path, {"tests/test_a.py": text, "data.txt": "x"}))
    assert (found.read, found.partial) == (("data.txt", "tests/test_a.py"), "")


def test_links_name_what_they_lead_to(tmp_path: Path) -> None:
    text = "def test_x(): open('alias.txt').close(); open('folder/b.txt').close()\n"
    place = project(tmp_path, {"tests/test_a.py": text, "real/a.txt": "", "real/b.txt": ""})
    (tmp_path / "alias.txt").symlink_to("real/a.txt")
    (tmp_path / "folder").symlink_to("real")
    assert recorded(place).read == ("alias.txt", "real/a.txt", "real/b.txt", "tests/test_a.py")


def test_a_name_that_no_report_can_say_makes_the_list_partial(tmp_path: Path) -> None:
    text = "import os\ndef test_x(): open(b'\\xff').close()\n"
    place = project(tmp_path, {"tests/test_a.py": text})
    with open(os.path.join(os.fsencode(tmp_path), b"\xff"), "wb"):
        pass
    found = recorded(place)
    assert (found.read, found.partial) == (("tests/test_a.py",), "names")


def test_more_files_than_a_record_holds_make_it_partial(tmp_path: Path) -> None:
    text = "def test_x():\n for n in range(100_001):\n  try: open(f'/nowhere/{n}')\n  except OSError: pass\n"
    assert recorded(project(tmp_path, {"tests/test_a.py": text})).partial == "bound"


def test_the_projects_code_from_outside_the_tree_is_named(tmp_path: Path) -> None:
    """An editable install leads to the main tree: the cheat and the accident; its twin has all it needs in the tree."""
    main, fresh = tmp_path / "main", tmp_path / "fresh"
    files = {"src/cart/__init__.py": "", "src/cart/rates.txt": "", "src/shop/till.py": "", "lib/friend.py": ""}
    project(main, files, venv=False)
    text = """
        import sys
        sys.path[:0] = [{src!r}, {lib!r}]
        import cart, friend, shop.till
        def test_x(): open({rates!r}).close()
    """
    away = text.format(src=f"{main}/src", lib=str(tmp_path / "other"), rates=f"{main}/src/cart/rates.txt")
    project(tmp_path / "other", {"friend.py": ""}, venv=False)
    modes = RECORD._replace(home=str(main))
    found = recorded(project(fresh, {**files, "tests/test_a.py": away}), modes)
    assert found.outside == (
        f"{main}/src/cart/rates.txt",
        f"cart: {main}/src/cart/__init__.py",
        f"friend: {tmp_path}/other/friend.py",
        f"shop.till: {main}/src/shop/till.py",
    )
    assert found.elsewhere == (), "what this Python did not reach when it started, the project's own code led to"

    inside = text.format(src="src", lib="lib", rates="src/cart/rates.txt")
    found = recorded(project(fresh, {"tests/test_a.py": inside}), modes)
    assert (found.outside, found.elsewhere) == ((), ())
    assert {"src/cart/__init__.py", "src/shop/till.py", "lib/friend.py"} <= set(found.read)


def test_an_installed_copy_of_the_project_is_outside_and_other_distributions_are_bound(tmp_path: Path) -> None:
    text = "import sys\nsys.path.insert(0, {!r})\nimport cart, left_pad\ndef test_x(): pass\n"
    site = tmp_path / "lib/site-packages"
    record = "left_pad/__init__.py,,\nleft_pad-1.2.dist-info/RECORD,,\n"
    project(
        site,
        {
            "cart.py": "",
            "left_pad/__init__.py": "",
            "left_pad-1.2.dist-info/RECORD": record,
            "unused-3.dist-info/RECORD": "unused.py,,\n",
            "start.pth": "import sys\n",
        },
        venv=False,
    )
    found = recorded(project(tmp_path / "tree", {"tests/test_a.py": text.format(str(site))}))
    assert found.outside == (f"cart: {site}/cart.py",)
    place = f"{site}/left_pad-1.2.dist-info/RECORD"
    assert Distribution("left_pad", "1.2", sha256(record.encode()), place) in found.distributions
    assert {"pytest", "pluggy"} <= {one.name for one in found.distributions}
    assert "unused" not in {one.name for one in found.distributions}
    assert (f"{site}/start.pth", sha256(b"import sys\n")) in found.start


def test_installed_code_of_no_distribution_is_from_elsewhere_and_a_copys_own_is_named_where_it_stays(
    tmp_path: Path,
) -> None:
    text = "import sys\nsys.path.insert(0, 'lib/site-packages')\nimport loose\ndef test_x(): pass\n"
    vendored = {"lib/site-packages/loose.py": "", "lib/site-packages/start.pth": "import sys\n"}
    main = tmp_path / "main"
    project(main, vendored, venv=False)
    place = project(tmp_path / "fresh", {**vendored, "tests/test_a.py": text})
    found = recorded(place, RECORD._replace(home=str(main)))
    assert (f"{main}/lib/site-packages/loose.py", sha256(b"")) in found.elsewhere
    assert (f"{main}/lib/site-packages/start.pth", sha256(b"import sys\n")) in found.start


def test_unittest_is_recorded_by_the_same_recorder(tmp_path: Path) -> None:
    text = """
        import unittest
        import cart
        class CartTest(unittest.TestCase):
            def test_x(self): open("data.txt").close()
    """
    place = project(tmp_path, {"cart.py": "", "other.py": "", "data.txt": "", "tests/test_case.py": text})
    found = recorded(place, step=UNITTEST)
    assert found.read == ("cart.py", "data.txt", "tests/test_case.py")
    assert found.partial == ""


@pytest.mark.parametrize("modes", [None, Modes(alone=True)])
def test_a_run_that_is_not_recorded_says_nothing_of_it(tmp_path: Path, modes: Modes | None) -> None:
    place = project(tmp_path, {"tests/test_a.py": "def test_x(): pass\n"})
    report = report_of(place, modes)
    assert (report.recorded, report.tests["tests/test_a.py::test_x"].outcome) == (None, "passed")


def test_a_run_that_broke_off_has_no_record(tmp_path: Path) -> None:
    place = project(tmp_path, {"tests/test_a.py": "import os\ndef test_x(): os._exit(0)\n"})
    assert report_of(place, RECORD).recorded is None


def test_what_is_carried_is_what_the_modes_ask_for() -> None:
    runner = RUNNERS["pytest"]
    assert list(carried_files(runner, ())) == ["tallystick_pytest_plugin.py"]
    assert set(carried_files(runner, ("a.py::x",), RECORD)) == {
        "tallystick_pytest_plugin.py",
        "tallystick_ids.json",
        "tallystick_modes.json",
        "tallystick_recorder.py",
        "tallystick_attribution.py",
        "tallystick_import_graph.py",
        "tallystick_integrity.py",
    }
    assert carried_files(RUNNERS["exit"], (), RECORD) == {}


def test_a_record_is_read_only_when_it_is_whole() -> None:
    rows: list[dict[str, object]] = [
        {"row": "files", "how": "read", "files": ["a", 1]},
        {"row": "files", "how": "read", "files": ["b"]},
        {"row": "files", "how": "written", "files": ["c"]},
        {"row": "names", "names": ["json"]},
        {"row": "loaded", "outside": "x", "start": [["p", "d"], ["p"]], "distributions": [["n", "1", "r", "p"], [1]]},
    ]

    def told(*some: dict[str, object]) -> Report:
        return read(b"".join(encode(row) + b"\n" for row in some))

    whole = Recorded(("a", "b"), ("c",), ("json",), start=(("p", "d"),), distributions=(Distribution(*"n1rp"),))
    assert told(*rows).recorded == whole
    assert told(*rows[:-1]).recorded is None
    assert told({"row": "files", "how": "eaten", "files": []}).unreadable == (
        "row 1 does not say what was done with the files"
    )
