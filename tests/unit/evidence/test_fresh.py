"""Holds the parts of the fresh tree that need no git: what a listing says, where trees lie, what is lent and how, and
that the start-up file moves every shape of editable install and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import Refusal
from tallystick.evidence.fresh import trees_folder
from tallystick.evidence.needed import NAMED, Needed, binds, links
from tallystick.evidence.runners.repoint import PLACES, Move, places
from tallystick.evidence.startup import START_UP, startup_files
from tallystick.system.files import OsFiles
from tallystick.system.recorded import Known, parse_listed

FILES = OsFiles()
ID = "a" * 40


def test_a_listing_tells_flags_links_and_what_the_index_does_not_know() -> None:
    rows = ["? new", "? nested/", f"H 100644 {ID} 0\ta\tb", f"h 100755 {ID} 0\tx", f"S 120000 {ID} 0\ts", ""]
    known, others = parse_listed("\0".join(rows))
    assert others == {"new", "nested/"}
    assert known == {
        "a\tb": Known("100644", ID, False),
        "x": Known("100755", ID, False),
        "s": Known("120000", ID, True),
    }


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/tallystick/trees"),
        ({"XDG_CACHE_HOME": "c", "HOME": "/h"}, "/h/.cache/tallystick/trees"),
        ({"HOME": "/h"}, "/h/.cache/tallystick/trees"),
    ],
)
def test_trees_lie_in_the_users_cache_folder(env: dict[str, str], folder: str) -> None:
    assert trees_folder(FILES, env) == folder


def test_without_a_home_there_is_no_cache_folder() -> None:
    with pytest.raises(Refusal) as caught:
        trees_folder(FILES, {"HOME": "here"})
    assert caught.value.code == "home.unwritable"


def test_what_can_be_mounted_is_named_by_source_and_place() -> None:
    lent = [Needed(".venv", "/real/venv", "environment"), Needed("a/node_modules", "/m/a/node_modules", "node")]
    assert binds(lent, "/seen") == [("/real/venv", "/seen/.venv"), ("/m/a/node_modules", "/seen/a/node_modules")]


def test_links_of_a_workspace_lead_into_the_fresh_tree_and_all_others_home(tmp_path: Path) -> None:
    main, fresh = tmp_path / "main", tmp_path / "fresh"
    for folder in (
        "node_modules/left-pad",
        "node_modules/@shop",
        "node_modules/.pnpm/x/node_modules/x",
        "packages/cart",
    ):
        (main / folder).mkdir(parents=True)
    (main / "node_modules/@shop/cart").symlink_to("../../packages/cart")
    (main / "node_modules/x").symlink_to(".pnpm/x/node_modules/x")
    (fresh / "packages/cart").mkdir(parents=True)
    (main / ".venv").mkdir()
    lent = [
        Needed(".venv", f"{main}/.venv", "environment"),
        Needed("node_modules", f"{main}/node_modules", "node"),
        Needed("packages/cart", f"{main}/packages/cart", NAMED),
    ]
    assert links(FILES, lent[:2], str(main), str(fresh)) == ()
    real = {name: os.path.realpath(fresh / name) for name in ("node_modules/@shop/cart", "node_modules/x", ".venv")}
    assert real == {
        "node_modules/@shop/cart": f"{fresh}/packages/cart",
        "node_modules/x": f"{main}/node_modules/.pnpm/x/node_modules/x",
        ".venv": f"{main}/.venv",
    }
    assert not (fresh / "node_modules").is_symlink()
    assert os.readlink(fresh / "node_modules/left-pad") == f"{main}/node_modules/left-pad"
    assert links(FILES, lent[2:], str(main), str(fresh)) == ("packages/cart",)


MOVE = Move("/m/shop", "/f/shop", [".venv", "libs/lent"])


@pytest.mark.parametrize(
    ("path", "moved"),
    [
        ("/m/shop", "/f/shop"),
        ("/m/shop/src", "/f/shop/src"),
        ("/m/shopping/src", "/m/shopping/src"),
        ("/m/shop/.venv/lib/site-packages", "/m/shop/.venv/lib/site-packages"),
        ("/m/shop/.venvs", "/f/shop/.venvs"),
        ("/m/shop/libs/lent", "/m/shop/libs/lent"),
        ("m/shop", "m/shop"),
        ("", ""),
        ("/elsewhere", "/elsewhere"),
    ],
)
def test_a_path_of_the_main_tree_is_moved_and_no_other(path: str, moved: str) -> None:
    assert MOVE.path(path) == moved


def test_a_main_tree_reached_by_a_link_is_moved_too(tmp_path: Path) -> None:
    (tmp_path / "real/src").mkdir(parents=True)
    (tmp_path / "alias").symlink_to("real")
    for main in ("real", "alias"):
        move = Move(str(tmp_path / main), "/f", [])
        assert [move.path(str(tmp_path / name)) for name in ("real/src", "alias/src")] == ["/f/src", "/f/src"]


VALUES = st.recursive(
    st.text(max_size=9) | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=40)
@given(VALUES)
def test_what_is_no_path_of_the_main_tree_is_left(value: object) -> None:
    assert MOVE.value(value) == value


def test_places_are_read_as_they_were_written() -> None:
    carried = startup_files(
        "/m\udcff/shop", "/f", [Needed(".venv", "/v", "environment"), Needed("node_modules", "/n", "node")]
    )
    move = places(carried[PLACES])
    assert move is not None
    assert move.path("/m\udcff/shop/a") == "/f/a"
    assert move.path("/m\udcff/shop/.venv/a") == "/m\udcff/shop/.venv/a"
    assert places(b"") is None


#: What stands in site-packages after an editable install, by shape; MAIN is the main tree.
EDITABLE: dict[str, tuple[str, dict[str, str]]] = {
    "a path (setuptools src, hatchling, uv, flit)": ("src/pk", {"_pk.pth": "MAIN/src\n"}),
    "a finder (setuptools flat)": (
        "pk",
        {
            "__editable__.pk-1.pth": "import __editable___pk_1_finder; __editable___pk_1_finder.install()",
            "__editable___pk_1_finder.py": """\
import sys
from importlib.util import spec_from_file_location
MAPPING = {'pk': 'MAIN/pk'}
NAMESPACES = {}
class _EditableFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in MAPPING:
            return spec_from_file_location(fullname, MAPPING[fullname] + '/__init__.py')
def install():
    sys.meta_path.append(_EditableFinder)
""",
        },
    ),
    "a finder of namespaces (setuptools)": (
        "lib/pk",
        {
            "__editable__.pk-1.pth": "import __editable___pk_1_finder; __editable___pk_1_finder.install()",
            "__editable___pk_1_finder.py": """\
import sys
from importlib.machinery import PathFinder
NAMESPACES = {'pk': ['MAIN/lib/pk']}
class _EditableNamespaceFinder:
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in NAMESPACES:
            return PathFinder.find_spec(fullname, [one.rpartition('/')[0] for one in NAMESPACES[fullname]])
def install():
    sys.meta_path.append(_EditableNamespaceFinder)
""",
        },
    ),
    "redirections (hatchling's exact mode)": (
        "src/pk",
        {
            "_editable_impl_pk.pth": "import _editable_impl_pk",
            "_editable_impl_pk.py": """\
from redirecting import RedirectingFinder as F
F.install()
F.map_module('pk', 'MAIN/src/pk/__init__.py')
""",
            "redirecting.py": """\
import sys
from importlib.util import spec_from_file_location
class RedirectingFinder:
    _redirections = {}
    @classmethod
    def map_module(cls, name, path):
        cls._redirections[name] = path
    @classmethod
    def install(cls):
        sys.meta_path.append(cls)
    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        if fullname in cls._redirections:
            return spec_from_file_location(fullname, cls._redirections[fullname])
""",
        },
    ),
    "an instance that knows files (scikit-build)": (
        "src/pk",
        {
            "_pk.pth": "import _pk_editable",
            "_pk_editable.py": """\
import sys
from importlib.util import spec_from_file_location
class Finder:
    def __init__(self, known):
        self.known_source_files = known
        self.submodule_search_locations = {'pk': {'MAIN/src/pk'}}
    def find_spec(self, fullname, path=None, target=None):
        if fullname in self.known_source_files:
            below = sorted(self.submodule_search_locations.get(fullname, ())) or None
            file = self.known_source_files[fullname]
            return spec_from_file_location(fullname, file, submodule_search_locations=below)
sys.meta_path.insert(0, Finder({'pk': 'MAIN/src/pk/__init__.py'}))
""",
        },
    ),
}


class Home:
    """A main tree, a fresh one, a folder that stands for site-packages, and a run of Python."""

    def __init__(self, folder: Path) -> None:
        self.main, self.fresh, self.site, self.carried = (
            folder / name for name in ("main", "fresh", "site", "carried")
        )
        for one in (self.main, self.fresh, self.site, self.carried):
            one.mkdir()

    def install(self, package: str, files: dict[str, str]) -> None:
        for tree in (self.main, self.fresh):
            (tree / package).mkdir(parents=True)
            (tree / package / "__init__.py").write_text(f"WHICH = {tree.name!r}\n", encoding="utf-8")
            (tree / package / "inner.py").write_text(f"WHICH = {tree.name!r}\n", encoding="utf-8")
        for name, text in files.items():
            (self.site / name).write_text(text.replace("MAIN", str(self.main)), encoding="utf-8")

    def carry(self) -> None:
        for name, data in startup_files(str(self.main), str(self.fresh), []).items():
            (self.carried / name).write_bytes(data)

    def says(self, code: str, *path: Path) -> str:
        """What a Python prints for which `site` is one of its site folders before any sitecustomize is read."""
        start = f"import sys, site\nsite.addsitedir({str(self.site)!r})\nsite.execsitecustomize()\n"
        env = {"PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, "-S", "-c", start + code],
            env=env,
            cwd=self.site,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip() + done.stderr.strip()


WHICH = "import pk, pk.inner; print(getattr(pk, 'WHICH', pk.inner.WHICH), pk.inner.WHICH)"


@pytest.mark.parametrize("shape", EDITABLE)
def test_an_editable_install_leads_into_the_fresh_tree(tmp_path: Path, shape: str) -> None:
    home = Home(tmp_path)
    home.install(*EDITABLE[shape])
    assert home.says(WHICH) == "main main"
    home.carry()
    assert home.says(WHICH, home.carried) == "fresh fresh"


def test_the_sitecustomize_that_it_stands_in_for_still_runs(tmp_path: Path) -> None:
    home = Home(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("import sys; sys.theirs = __name__\n", encoding="utf-8")
    home.carry()
    ask = "print(sys.theirs, sys.modules['sitecustomize'].__file__)"
    assert home.says(ask, home.carried, other) == f"sitecustomize {other / 'sitecustomize.py'}"
    (home.carried / PLACES).unlink()
    assert home.says(ask, home.carried, other) == f"sitecustomize {other / 'sitecustomize.py'}"
    (other / "sitecustomize.py").unlink()
    assert home.says("print('sitecustomize' in sys.modules)", home.carried, other) == "True"


def test_the_start_up_file_brings_all_it_needs() -> None:
    assert set(startup_files("/m", "/f", [])) == {START_UP, PLACES}
