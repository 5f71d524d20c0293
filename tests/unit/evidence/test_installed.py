"""Holds that a test runner somebody edited where it lies is named, its byte code too; and that an honest environment,
however it was made, is accused of nothing."""

from __future__ import annotations

import importlib.util
import os
import py_compile
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tallystick.evidence.installed import Installed, installed
from tallystick.evidence.site_folders import environment_of, python_of
from tallystick.system.files import OsFiles, Stat
from tests.unit.evidence.environments import PYTEST, ask, copy_installed, install, virtual
from tests.unit.evidence.samples import program

RUNNER = "def runtest(item):\n    return item.run()\n"
PATCHED = "def runtest(item):\n    return None, None\n"
PLUGIN = "[pytest11]\nrates = pytest_rates\n"
LATER = 10**9  # the files were at rest by then


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The folder of distributions of an environment with a small pytest and a plugin."""
    folder = virtual(tmp_path / "env")
    install(folder, "pytest", "9.1", {"_pytest/__init__.py": "", "_pytest/runner.py": RUNNER, "pytest/__init__.py": ""})
    install(folder, "pluggy", "1.6", {"pluggy/__init__.py": "", "pluggy/_callers.py": "x = 1\n"})
    install(folder, "pytest_rates", "2", {"pytest_rates.py": "y = 2\n"}, PLUGIN)
    install(folder, "left_pad", "1", {"left_pad.py": "z = 3\n"})
    return folder


def look(site: Path, *, python: str = "", files: OsFiles | None = None) -> Installed:
    env = site.parents[2]
    cache = str(env.parent / "cache")
    return installed(files or OsFiles(), python or str(env / "bin/python"), ask, cache, time.time_ns() + LATER)


def swapped(source: Path, text: str, *, flags: int = 0) -> Path:
    """Byte code of `text` beside the source, which nothing tells from the source's own."""
    target = Path(importlib.util.cache_from_source(str(source)))
    py_compile.compile(str(source), doraise=True)
    head = bytearray(target.read_bytes()[:16])
    if flags:
        head[4:16] = flags.to_bytes(4, "little") + importlib.util.source_hash(source.read_bytes())
    other = source.with_name("other.py.txt")
    other.write_text(text, encoding="utf-8")
    made = source.with_name("other.made")
    py_compile.compile(str(other), cfile=str(made), dfile=str(source), doraise=True)
    target.write_bytes(bytes(head) + made.read_bytes()[16:])
    return target


def test_an_honest_environment_is_accused_of_nothing(site: Path) -> None:
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(site)], check=True)
    py_compile.compile(str(site / "_pytest/runner.py"), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    (site / "_pytest/py.typed").touch()
    (site / "left_pad.py").write_text("changed, and no runner\n", encoding="utf-8")
    (site / "~ytest-9.0.dist-info").mkdir()
    found = look(site)
    assert found[:3] == ((), (), ())
    names = {"pytest-9.1", "pluggy-1.6", "pytest_rates-2"}
    records = {str(site / f"{name}.dist-info/RECORD") for name in names}
    assert set(found.bound) == {str(site.parents[2] / "pyvenv.cfg"), *records}


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("_pytest/runner.py", PATCHED, "pytest 9.1: _pytest/runner.py differs from RECORD"),
        ("pluggy/_callers.py", "x = 2\n", "pluggy 1.6: pluggy/_callers.py differs from RECORD"),
        ("pytest_rates.py", "y = 3\n", "pytest_rates 2: pytest_rates.py differs from RECORD"),
        ("_pytest/extra.py", "", "pytest: _pytest/extra.py is not in RECORD"),
        ("_pytest/runner.cpython-399-x.so", "", "pytest: _pytest/runner.cpython-399-x.so is not in RECORD"),
        ("_pytest/runner/__init__.py", PATCHED, "pytest: _pytest/runner/__init__.py is not in RECORD"),
        ("iniconfig/__init__.py", "", "iniconfig/ belongs to no distribution"),
    ],
)
def test_a_file_that_is_not_as_it_was_installed_is_named(site: Path, name: str, text: str, says: str) -> None:
    assert look(site).patched == ()
    (site / name).parent.mkdir(exist_ok=True)
    (site / name).write_text(text, encoding="utf-8")
    assert look(site).patched == (says,)


def test_the_change_shows_though_size_and_time_are_the_same(site: Path) -> None:
    path = site / "_pytest/runner.py"
    before = path.stat()
    look(site)
    path.write_text(RUNNER.replace("item.run()", "None or ()"), encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert look(site).patched == ("pytest 9.1: _pytest/runner.py differs from RECORD",)


def test_a_list_that_is_gone_or_says_less_is_named(site: Path) -> None:
    record = site / "pytest-9.1.dist-info/RECORD"
    whole = record.read_bytes()
    (site / "_pytest/__init__.py").unlink()
    assert look(site).patched == ("pytest 9.1: _pytest/__init__.py is missing",)
    (site / "_pytest/__init__.py").touch()
    for text in (whole.replace(b"_pytest/runner.py", b"_pytest/walker.py"), b"", b"a,\0,\n", None):
        record.unlink()
        if text is not None:
            record.write_bytes(text)
        assert look(site).patched, text
    record.write_bytes(b"".join(line.partition(b",")[0] + b",,\n" for line in whole.splitlines()))
    assert "pytest 9.1: _pytest/runner.py has no digest in RECORD" in look(site).patched
    record.write_bytes(whole)
    assert look(site).patched == ()


@pytest.mark.parametrize("flags", [0, 1, 3])
def test_byte_code_that_is_not_its_sources_is_named(site: Path, flags: int) -> None:
    honest = swapped(site / "_pytest/runner.py", RUNNER, flags=flags)
    assert look(site).patched == ()
    swapped(site / "_pytest/runner.py", PATCHED, flags=flags)
    assert look(site).patched == (f"{honest.relative_to(site)} is not what its source says",)


def test_byte_code_that_nobody_takes_is_no_matter(site: Path) -> None:
    target = swapped(site / "_pytest/runner.py", PATCHED)
    os.utime(site / "_pytest/runner.py", (1, 1))  # made of an older source: Python makes it anew
    target.with_name("runner.cpython-399.pyc").write_bytes(b"another version's")
    assert look(site).patched == ()


def test_what_cannot_be_compared_is_unknown(site: Path, tmp_path: Path) -> None:
    for name in ("_pytest", "pytest"):
        (site / name).rename(tmp_path / name)
    install(site, "pytest", "9.1", {"__editable___pytest_finder.py": ""})
    assert look(site)[:2] == ((), ("pytest 9.1: its files lie elsewhere",))
    assert look(site, python=str(tmp_path / "nowhere/bin/python")).unknown
    bare = virtual(tmp_path / "bare")
    assert look(bare).unknown == ("pytest lies in none of the folders of this Python",)


def test_a_systems_own_packages_are_unknown_and_accused_of_nothing(tmp_path: Path) -> None:
    """Its packagers change files after the list was made, and leave the list out."""
    prefix = tmp_path / "usr"
    site = prefix / "lib/python3/dist-packages"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/python3").symlink_to("python3.11")
    (prefix / "bin/python3.11").write_bytes(b"\x7fELF")
    install(site, "pytest", "7.2.1", {"_pytest/runner.py": RUNNER, "pytest/__init__.py": ""})
    (site / "pluggy").mkdir()
    (site / "pluggy/__init__.py").touch()
    (site / "pluggy-1.0.0+repack.egg-info").mkdir()
    (site / "_pytest/runner.py").write_text(f"#! /usr/bin/python3\n{RUNNER}", encoding="utf-8")
    found = installed(OsFiles(), f"{prefix}/bin/python3", ask, str(tmp_path / "cache"), time.time_ns())
    assert found.patched == ()
    assert found.unknown == (
        "pluggy 1.0.0+repack: no list of its files", "pytest 7.2.1: _pytest/runner.py differs from RECORD",
    )  # fmt: skip


def test_what_starts_with_every_python_and_belongs_to_nobody_is_told(site: Path) -> None:
    install(site, "coverage", "7", {"a1_coverage.pth": "import sys\n"})
    (site / "paths.pth").write_text("../elsewhere\n", encoding="utf-8")
    assert look(site).starters == ()
    (site / "evil.pth").write_text("import evil\n", encoding="utf-8")
    (site / "sitecustomize.py").touch()
    found = look(site)
    assert found.starters == (f"{site}/evil.pth", f"{site}/sitecustomize.py")
    assert set(found.starters) <= set(found.bound)


class Counting(OsFiles):
    """The real disk, and which files were opened on it."""

    def __init__(self) -> None:
        self.opened_paths: list[str] = []

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:  # type: ignore[override]
        """Open, and remember."""
        self.opened_paths.append(path)
        return super().open(path, flags, mode)

    def lstat(self, path: str) -> Stat:  # type: ignore[override]
        """As it is."""
        return os.lstat(path)


def test_the_second_look_reads_no_source_again(site: Path) -> None:
    first, second = Counting(), Counting()
    look(site, files=first)
    look(site, files=second)
    assert f"{site}/_pytest/runner.py" in first.opened_paths
    assert [path for path in second.opened_paths if path.endswith((".py", ".pyc"))] == []


def test_the_real_pytest_and_what_it_rewrote_are_honest_until_somebody_touches_it(tmp_path: Path) -> None:
    site = virtual(tmp_path / "env")
    copy_installed(site, *PYTEST)
    install(site, "pytest_rates", "2", {"pytest_rates.py": "def rate(x):\n    assert x\n"}, PLUGIN)
    (tmp_path / "test_a.py").write_text("def test_a():\n    assert True\n", encoding="utf-8")
    python = str(tmp_path / "env/bin/python")
    subprocess.run([python, "-m", "pytest", "-q", "test_a.py"], cwd=tmp_path, check=True, capture_output=True)
    [rewritten] = (site / "__pycache__").glob("pytest_rates.*-pytest-*.pyc")
    assert look(site)[:3] == ((), (), ())
    data = rewritten.read_bytes()
    py_compile.compile(str(site / "pytest_rates.py"), cfile=str(tmp_path / "plain"), doraise=True)
    rewritten.write_bytes(data[:16] + (tmp_path / "plain").read_bytes()[16:])
    assert look(site).patched == (f"__pycache__/{rewritten.name} is not what its source says",)
    rewritten.write_bytes(data)
    with (site / "_pytest/runner.py").open("a", encoding="utf-8") as file:
        file.write("def check_interactive_exception(*_): return False\n")
    [says] = look(site).patched
    assert says.endswith("_pytest/runner.py differs from RECORD")


def test_a_script_that_stands_for_a_python_is_asked_which(site: Path, tmp_path: Path) -> None:
    python = site.parents[2] / "bin/python"
    program(tmp_path / "shim", f'#!/bin/sh\nexec "{python}" "$@"\n')
    found = environment_of(OsFiles(), str(tmp_path / "shim"), ask)
    assert found is not None
    assert (found.python, found.sites) == (str(python), (str(site),))
    program(tmp_path / "liar", "#!/bin/sh\necho nonsense\n")
    assert environment_of(OsFiles(), str(tmp_path / "liar"), ask) is None


def test_the_python_of_a_command_is_itself_or_the_one_its_script_names(tmp_path: Path) -> None:
    folder = tmp_path / "env/bin"
    program(folder / "python3.11", "")
    program(folder / "pytest", f"#!{folder}/python3.11\nimport sys\n")
    program(folder / "py.test", "#!/bin/sh\n'''exec' \"" + str(folder) + '/python3" "$0" "$@"\n\' \'\'\'\n')
    program(folder / "tox", "#!/usr/bin/env python3.11\n")
    program(folder / "make", "\x7fELF")
    path = str(folder)
    said = {
        name: python_of(OsFiles(), (name,), path) for name in ("pytest", "py.test", "tox", "make", "python3.11", "x")
    }
    assert said == {
        "pytest": f"{folder}/python3.11",
        "py.test": f"{folder}/python3",
        "tox": f"{folder}/python3.11",
        "make": None,
        "python3.11": f"{folder}/python3.11",
        "x": None,
    }
