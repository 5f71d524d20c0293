"""Holds that a recorded run says of each test file what it rests on: never less, and of what others need nothing."""

from __future__ import annotations

import ast
import importlib.resources
import sys
from pathlib import Path

import pytest

from tallystick.canonical import encode
from tallystick.evidence.runners.report import Recorded, Report, read
from tests.unit.evidence.samples import project
from tests.unit.evidence.test_recorder import PYTEST, RECORD, UNITTEST, recorded, report_of

CONFTEST = """
    import json
    from functools import lru_cache
    import pytest
    import shop.registry

    @pytest.fixture(scope="session")
    def settings():
        with open("data/settings.json") as file:
            return json.load(file)
"""
#: Test files by what is special about them; what they rest on besides what all do stands in `RESTS`.
SHOP = {
    "README.md": "the shop\n",
    "data/settings.json": "{}",
    "data/rates.txt": "1",
    "data/own.txt": "1",
    "data/kept.txt": "1",
    "shop/__init__.py": "",
    "shop/money.py": "def whole(x): return int(x)\n",
    "shop/registry.py": """
        from importlib import import_module
        found = [import_module(name) for name in ("shop.plugins.red",)]
        handlers = {}
    """,
    "shop/plugins/__init__.py": "",
    "shop/plugins/red.py": "",
    "shop/handler.py": "from shop import registry\nregistry.handlers['x'] = lambda: 1\n",
    "shop/late.py": "VALUE = 5\n",
    "shop/far.py": "VALUE = 5\n",
    "shop/rates.py": """
        from functools import lru_cache
        @lru_cache(maxsize=None)
        def rates():
            with open("data/rates.txt") as file:
                return file.read()
        @lru_cache(maxsize=None)
        def late():
            from . import late
            return late.VALUE
    """,
    "shop/reader.py": """
        from functools import lru_cache
        from pathlib import Path
        read = lru_cache(maxsize=None)(Path.read_text)
    """,
    "shop/types.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shop import money\n",
    "shop/lazy.py": """
        def __getattr__(name):
            if name.startswith("_"):
                raise AttributeError(name)
            from importlib import import_module
            return getattr(import_module("shop.far"), name)
    """,
    "shop/sub/__init__.py": "__all__ = ['leaf']\n",
    "shop/sub/leaf.py": "from ..money import *\n",
    "shop/sub/deep.py": "from .leaf import whole\n",
    "tests/__init__.py": "",
    "tests/conftest.py": CONFTEST,
    "tests/helper.py": "from shop.money import whole\n",
    "tests/below/__init__.py": "",
    "tests/below/conftest.py": "import shop.late\n",
    "tests/below/test_below.py": "def test_x(settings): pass\n",
    "tests/test_cached.py": "from shop import rates\ndef test_x(): assert rates.rates() and rates.late()\n",
    "tests/test_cached_too.py": "from shop.rates import rates, late\ndef test_x(): assert rates() and late()\n",
    "tests/test_dotted.py": "import shop.sub.deep as deep\ndef test_x(): assert deep.whole(1) == 1\n",
    "tests/test_dotted_too.py": "import shop.sub\ndef test_x(): assert shop.sub.deep.whole(1.5) == 1\n",
    "tests/test_dynamic.py": """
        from importlib import import_module
        def test_x(): import_module(".money", "shop")
    """,
    "tests/test_getattr.py": "from shop.lazy import VALUE\ndef test_x(): pass\n",
    "tests/test_getattr_too.py": "from shop import lazy\ndef test_x(): assert lazy.VALUE == 5\n",
    "tests/test_handler.py": "import shop.handler\ndef test_x(): pass\n",
    "tests/test_helper.py": "from .helper import *\ndef test_x(): assert whole(1.5) == 1\n",
    "tests/test_mock.py": """
        from unittest import mock
        def test_x():
            with mock.patch("shop.money.whole"): pass
    """,
    "tests/test_own.py": "def test_x(): open('data/own.txt').close()\n",
    "tests/test_plain.py": "def test_x(): pass\n",
    "tests/test_reader.py": "from pathlib import Path\nfrom shop import reader\n"
    "def test_x(): assert reader.read(Path('data/kept.txt'))\n",
    "tests/test_reader_too.py": "from pathlib import Path\nfrom shop.reader import read\n"
    "def test_x(): assert read(Path('data/kept.txt'))\n",
    "tests/test_star.py": "from shop.sub import *\ndef test_x(): assert leaf.whole(1) == 1\n",
    "tests/test_types.py": "import shop.types\ndef test_x(): pass\n",
    "tests/test_underlined.py": "def test_x(): __import__('shop.money')\n",
}
_ALL = """data/settings.json shop/__init__.py shop/registry.py shop/plugins/__init__.py shop/plugins/red.py
    shop/handler.py tests/__init__.py tests/conftest.py"""
RESTS = {
    "below/test_below": "shop/late.py tests/below/__init__.py tests/below/conftest.py",
    "test_cached": "data/rates.txt shop/late.py shop/rates.py",
    "test_cached_too": "data/rates.txt shop/late.py shop/rates.py",
    "test_dotted": "shop/money.py shop/sub/__init__.py shop/sub/deep.py shop/sub/leaf.py",
    "test_dotted_too": "shop/money.py shop/sub/__init__.py shop/sub/deep.py shop/sub/leaf.py",
    "test_dynamic": "shop/money.py",
    "test_getattr": "shop/far.py shop/lazy.py",
    "test_getattr_too": "shop/far.py shop/lazy.py",
    "test_handler": "",
    "test_helper": "shop/money.py tests/helper.py",
    "test_mock": "shop/money.py",
    "test_own": "data/own.txt",
    "test_plain": "",
    "test_reader": "data/kept.txt data/own.txt data/rates.txt shop/reader.py",
    "test_reader_too": "data/kept.txt data/own.txt data/rates.txt shop/reader.py",
    "test_star": "shop/money.py shop/sub/__init__.py shop/sub/leaf.py",
    "test_types": "shop/types.py",
    "test_underlined": "shop/money.py",
}


def test_every_test_file_rests_on_what_it_reaches_and_on_nothing_else(tmp_path: Path) -> None:
    found = recorded(project(tmp_path, SHOP))
    assert found.partial == ""
    rests = {}
    for name in RESTS:
        own = set(found.of([f"tests/{name}.py::test_x"]).read)
        assert own >= {f"tests/{name}.py", *_ALL.split()}, name
        rests[name] = " ".join(sorted(own - {f"tests/{name}.py", *_ALL.split()}))
    assert rests == RESTS


def test_what_is_nobodys_own_belongs_to_every_test(tmp_path: Path) -> None:
    """A plugin, a file that a library keeps for others, a hook that concerns the whole run, what no import reaches."""
    library = tmp_path / "lib/site-packages/keeping.py"
    files = {
        "pytest.ini": "[pytest]\naddopts = -p plugin\n",
        "plugin.py": "import beside\n",
        "beside.py": "",
        "provided.py": "import pytest\n@pytest.fixture\ndef one(): return 1\n",
        "kept.txt": "1",
        "threaded.txt": "1",
        "hidden.py": "",
        "conftest.py": f"import sys\nsys.path.append({str(library.parent)!r})\npytest_plugins = ['provided']\n",
        "tests/a/conftest.py": "def pytest_collection_modifyitems(): pass\n",
        "tests/a/test_a.py": """
            import keeping, plugin, sys, types
            from concurrent.futures import ThreadPoolExecutor
            from pathlib import Path
            def test_x():
                keeping.kept('kept.txt')
                with ThreadPoolExecutor(1) as pool:
                    pool.submit(Path.read_text, Path("threaded.txt")).result()
                hidden = types.ModuleType("hidden")
                hidden.__file__ = str(Path("hidden.py").absolute())
                sys.modules["hidden"] = hidden
        """,
        "tests/b/test_b.py": "def test_x(one): pass\n",
    }
    place = project(tmp_path / "tree", files)
    library.parent.mkdir(parents=True)
    library.write_text("_kept = {}\ndef kept(name): return _kept.setdefault(name, open(name).read())\n", "utf-8")
    found = recorded(place)
    assert set(found.of(["tests/b/test_b.py::test_x"]).read) == {
        "beside.py", "conftest.py", "provided.py", "hidden.py", "kept.txt", "plugin.py", "tests/a/conftest.py",
        "tests/b/test_b.py", "threaded.txt",
    }  # fmt: skip


def test_an_object_that_one_module_leaves_in_another_belongs_to_it(tmp_path: Path) -> None:
    files = {
        "core.py": """
            import enum
            class Registry:
                def __init__(self): self.inside = {}
            registry = Registry()
            class Shape:
                kinds = []
            def area(): return 1
        """,
        "added.py": "from core import registry\nregistry.inside['x'] = [lambda: 1]\n",
        "patching.py": "import core\ndef area(): return 2\ncore.area = area\n",
        "kinds.py": "from core import Shape\nclass Round(Shape): pass\nShape.kinds.append(Round())\n",
        "unrelated.py": "from core import Shape\nclass Square(Shape): pass\n",
        "searching.py": "from core import Shape\ndef all_of(): return Shape.__subclasses__()\n",
        "tests/test_a.py": "import added, patching, kinds, unrelated\ndef test_x(): pass\n",
        "tests/test_b.py": "import core\ndef test_x(): assert core.area() == 2\n",
        "tests/test_c.py": "import searching\ndef test_x(): assert len(searching.all_of()) == 2\n",
    }
    found = recorded(project(tmp_path, files))
    own = found.of(["tests/test_b.py::test_x"]).read
    assert own == ("added.py", "core.py", "kinds.py", "patching.py", "tests/test_b.py")
    own = found.of(["tests/test_c.py::test_x"]).read
    assert own == (
        "added.py", "core.py", "kinds.py", "patching.py", "searching.py", "tests/test_c.py", "unrelated.py"
    )  # fmt: skip


def test_the_dotted_ids_of_unittest_are_told_apart(tmp_path: Path) -> None:
    case = (
        "import unittest\nimport {0}\nclass Case(unittest.TestCase):\n    def test_x(self): open('{0}.txt').close()\n"
    )
    files = {"tests/__init__.py": ""}
    for name in ("one", "two"):
        files |= {f"{name}.py": "", f"{name}.txt": "", f"tests/test_{name}.py": case.format(name)}
    step = UNITTEST._replace(argv=(*UNITTEST.argv[:-1], "tests.test_one", "tests.test_two"))
    found = recorded(project(tmp_path, files), step=step)
    one = ("one.py", "one.txt", "tests/__init__.py", "tests/test_one.py")
    assert found.of(["tests.test_one.Case.test_x"]).read == one
    assert found.of(["tests.test_one.Case::*"]).read == one
    assert found.of(["tests::*"]).read == found.read
    assert found.of(["tests.test_one.Case.test_x", "tests.test_two.Case.test_x"]).read == found.read


@pytest.mark.parametrize(
    "text",
    [
        "import os\ndef test_x():\n p = os.fork()\n if not p: os._exit(0)\n os.waitpid(p, 0)\n",
        "import builtins\ndef test_x():\n was = builtins.__import__\n builtins.__import__ = lambda *a: was(*a)\n",
    ],
    ids=["fork", "replaced"],
)
def test_what_hides_who_reads_makes_everything_everyones(tmp_path: Path, text: str) -> None:
    files = {"shop.py": "", "tests/test_a.py": text, "tests/test_b.py": "import shop\ndef test_x(): pass\n"}
    found = recorded(project(tmp_path, files))
    assert (found.tests, found.of(["tests/test_a.py::test_x"]).read) == ((), found.read)


def test_a_test_file_that_cannot_be_imported_is_told_apart_too(tmp_path: Path) -> None:
    files = {
        "helper.py": "",
        "tests/test_red.py": "import helper\nimport missing\ndef test_x(): pass\n",
        "tests/test_b.py": "def test_x(): assert 1 == 2\n",
    }
    report = report_of(project(tmp_path, files), None, PYTEST)
    assert report.recorded is None
    found = recorded(project(tmp_path, files))
    assert found.of(["tests/test_red.py::test_x"]).read == ("helper.py", "tests/test_red.py")
    assert found.of(["tests/test_b.py::test_x"]).read == ("tests/test_b.py",)


def test_an_import_keeps_its_traceback_and_the_place_that_a_warning_names(tmp_path: Path) -> None:
    text = """
        import importlib, traceback, warnings
        import pytest
        def test_statement():
            with pytest.raises(ImportError) as caught:
                import nowhere
            assert len(traceback.extract_tb(caught.value.__traceback__)) == 1
        def test_warning():
            with pytest.warns(DeprecationWarning) as seen:
                import old
            with pytest.warns(DeprecationWarning) as again:
                importlib.reload(old)
            assert seen[0].filename == __file__
        def test_call():
            with pytest.warns(DeprecationWarning) as seen:
                importlib.import_module("older")
            assert "importlib" in seen[0].filename
            assert __import__("os.path").__name__ == "os"
            assert __import__("os.path", fromlist=["join"]).join("a", "b") == "a/b"
    """
    warn = "import warnings\nwarnings.warn('old', DeprecationWarning, stacklevel=2)\n"
    place = project(tmp_path, {"tests/test_a.py": text, "old.py": warn, "older.py": warn})
    plain, told = report_of(place, None), report_of(place, RECORD)
    assert {one.id: one.outcome for one in told.tests.values()} == dict.fromkeys(plain.tests, "passed")


def test_ids_that_a_run_does_not_know_rest_on_all_of_it() -> None:
    found = Recorded(("a.py", "b.py", "c.txt"), rests=((0, 2),), tests=(("a.py", 0), ("b.py", 1)))
    assert found.of(["a.py::test_x"]).read == ("a.py", "c.txt")
    assert found.of(["b.py::test_x[a::*]"]).read == ("b.py",)
    assert found.of(["b.py::test_x[*]"]).read == ("b.py",)
    for ids in ([], ["c.py::test_x"], ["a.py::test_x", "c.py::test_x"], ["b.pyx::test_x"]):
        assert found.of(ids) == found
    assert found._replace(partial="programs").of(["a.py::test_x"]).read == found.read


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"on": [[0, 1]]}, "names a file that was not read"),
        ({"tests": [["a.py", True]]}, "names a file that was not read"),
        ({"everyones": [-1]}, "names a file that was not read"),
        ({"tests": [["a.py"]]}, "does not say what rests on what"),
        ({"on": [0]}, "does not say what rests on what"),
        ({"on": {}}, "does not say what rests on what"),
    ],
)
def test_a_row_that_cannot_be_believed_makes_the_report_unreadable(more: dict[str, object], says: str) -> None:
    rows: list[dict[str, object]] = [{"row": "files", "how": "read", "files": ["a.py"]}, {"row": "rests", **more}]
    report: Report = read(b"".join(encode(row) + b"\n" for row in rows))
    assert report.unreadable == f"row 2 {says}"


@pytest.mark.parametrize("module", ["recorder", "attribution", "import_graph"])
def test_what_listens_is_old_python_and_loads_nothing_of_ours(module: str) -> None:
    text = importlib.resources.files("tallystick.evidence.runners").joinpath(f"{module}.py").read_text(encoding="utf-8")
    parsed = ast.parse(text, feature_version=(3, 8))
    loaded = {node.module or "" for node in ast.walk(parsed) if isinstance(node, ast.ImportFrom)}
    loaded |= {alias.name for node in ast.walk(parsed) if isinstance(node, ast.Import) for alias in node.names}
    assert {name.partition(".")[0] for name in loaded} <= sys.stdlib_module_names


def test_a_module_that_was_loaded_by_other_ways_is_found_too(tmp_path: Path) -> None:
    """By a path, by `runpy`, in a thread, by `pickle`, and kept for whoever asks next."""
    ways = {
        "path": "import importlib.util as u\ndef make():\n    s = u.spec_from_file_location('x', 'needed/path.py')\n"
        "    m = u.module_from_spec(s)\n    s.loader.exec_module(m)\n    return m\n",
        "run": "import runpy\ndef make(): return runpy.run_path('needed/run.py')\n",
        "thread": "from threading import Thread\ndef work():\n    from needed import thread\n"
        "def make():\n    t = Thread(target=work)\n    t.start()\n    t.join()\n    return t\n",
        "pickled": "import pickle\ndef make(): return pickle.loads(b'\\x80\\x04cneeded.pickled\\nT\\n.')\n",
    }
    kept = "_kept = {}\ndef load():\n    if not _kept: _kept['x'] = make()\n    return _kept['x']\n"
    files = {"needed/__init__.py": "", "tests/conftest.py": ""}
    for name, text in ways.items():
        files |= {f"needed/{name}.py": "class T: pass\n", f"by_{name}.py": text + kept}
        for turn in "ab":
            files[f"tests/test_{name}_{turn}.py"] = f"import by_{name}\ndef test_x(): assert by_{name}.load()\n"
    found = recorded(project(tmp_path, files))
    for name in ways:
        for turn in "ab":
            own = found.of([f"tests/test_{name}_{turn}.py::test_x"]).read
            needed = {f"by_{name}.py", f"needed/{name}.py", "tests/conftest.py", f"tests/test_{name}_{turn}.py"}
            assert set(own) - {"needed/__init__.py"} == needed
