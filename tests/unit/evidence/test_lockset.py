"""Holds what is locked at red, what of a change is seen, and what a runner would take that was not there: each cheat
beside an honest change that nothing is said about."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.evidence.lockset import LOCK_CODES, LockSet, State, changed, lock_set, place_of, strangers
from tallystick.evidence.sections import ABSENT, section_digest

PRICES = 'def price():\n    """Price it.\n\n    >>> price()\n    2\n    """\n    return 1\n\n\ndef other():\n    pass\n'
PYPROJECT = '[project]\nname = "cart"\ndependencies = []\n\n[tool.pytest.ini_options]\naddopts = ["-q"]\n'
SETUP = "[metadata]\nname = cart\n\n[tool:pytest]\n# quiet\naddopts = -q\n"
TREE = {
    "pyproject.toml": PYPROJECT,
    "setup.cfg": SETUP,
    "package.json": '{"scripts": {"test": "vitest run", "build": "tsc"}, "dependencies": {}}',
    "src/cart/__init__.py": "",
    "src/cart/prices.py": PRICES,
    "src/cart/data.json": "{}",
    "tests/__init__.py": "",
    "tests/conftest.py": "",
    "tests/helper.py": "",
    "tests/unit/test_cart.py": "def test_total(): assert 0\n",
    "tests/unit/test_other.py": "",
    "tests/unit/__snapshots__/test_cart.ambr": "1",
    "tests/unit/test_cart/test_total.txt": "1",
    "tests/conftest_notes.md": "",
    "web/cart.test.ts": "",
    "web/__snapshots__/cart.test.ts.snap": "1",
    "web/vitest.config.ts": "",
    "README.md": "",
}
IDS = ("tests/unit/test_cart.py::test_total", "src/cart/prices.py::cart.prices.price", "web/cart.test.ts::total")


def state(files: dict[str, str], links: tuple[str, ...] = ()) -> State:
    """A state of the tree of these files and symbolic links."""
    return State(
        frozenset(files), frozenset(links), lambda name: files[name].encode("utf-8") if name in files else None
    )


LOCK = lock_set(IDS, state(TREE), support=("tests/helper.py", "src/cart/prices.py", "README.md"))


def said(files: dict[str, str], links: tuple[str, ...] = (), lock: LockSet = LOCK) -> list[tuple[str, str]]:
    return [(one.code, one.path) for one in changed(lock, state(files, links))]


def strange(*names: str, files: dict[str, str] | None = None) -> dict[str, str]:
    now = {**TREE, **dict.fromkeys(names, ""), **(files or {})}
    return {one.path: one.kind for one in strangers(LOCK, state(now))}


def test_the_lock_set_is_what_decides_how_the_tests_run() -> None:
    assert {(one.kind, one.path) for one in LOCK.locks if one.digest} == {
        ("test", "tests/unit/test_cart.py"),
        ("doctest", "src/cart/prices.py"),
        ("test", "web/cart.test.ts"),
        ("conftest", "tests/conftest.py"),
        ("package", "tests/__init__.py"),
        ("support", "tests/helper.py"),
        ("snapshot", "tests/unit/__snapshots__/test_cart.ambr"),
        ("snapshot", "tests/unit/test_cart/test_total.txt"),
        ("snapshot", "web/__snapshots__/cart.test.ts.snap"),
        ("config", "pyproject.toml"),
        ("config", "setup.cfg"),
        ("config", "package.json"),
        ("config", "web/vitest.config.ts"),
    }


def test_nothing_is_said_of_the_state_itself() -> None:
    assert said(TREE) == []
    assert strangers(LOCK, state(TREE)) == []


HONEST = {
    "the implementation": {"src/cart/prices.py": PRICES.replace("return 1", "return 2").replace("pass", "return 1")},
    "a module more": {"src/cart/tax.py": "", "src/cart/tax/__init__.py": "", "src/cart/help.txt": ""},
    "a dependency": {"pyproject.toml": PYPROJECT.replace("dependencies = []", 'dependencies = ["requests"]')},
    "a section moved": {
        "pyproject.toml": '# new\n[tool.pytest]\nini_options.addopts = ["-q"] # as before\n[project]\nname="cart"\n'
    },
    "another section": {"setup.cfg": SETUP.replace("# quiet\n", "\n") + "[flake8]\nmax-line-length = 100\n"},
    "a node dependency": {
        "package.json": '{"dependencies": {"left-pad": "1"}, "scripts": {"build": "x", "test": "vitest run"}}'
    },
    "an empty section of ours": {"tox.ini": "[tox]\nenvlist = py\n"},
    "documents": {"README.md": "new", "docs/usage.md": ""},
    "another test": {"tests/unit/test_other.py": "def test_more(): pass\n"},
    "a test package of the source's": {"src/cart/__init__.py": "from cart.prices import price\n"},
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_change_moves_no_lock_and_brings_no_stranger(name: str) -> None:
    assert said({**TREE, **HONEST[name]}) == []
    assert strange(files=HONEST[name]) == {}


CHEATS = {
    "the test": ("tests/unit/test_cart.py", "def test_total(): assert True\n"),
    "its doctest": ("src/cart/prices.py", PRICES.replace("    2\n", "    1\n")),
    "a doctest gone": ("src/cart/prices.py", PRICES.replace('"""', "'''").replace("def price", "def prices")),
    "a snapshot": ("tests/unit/__snapshots__/test_cart.ambr", "2"),
    "a recorded value": ("tests/unit/test_cart/test_total.txt", "2"),
    "a conftest": ("tests/conftest.py", "collect_ignore = ['unit']\n"),
    "a package of tests": ("tests/__init__.py", "import cart; cart.patch()\n"),
    "a helper": ("tests/helper.py", "def check(x): pass\n"),
    "addopts": ("pyproject.toml", PYPROJECT.replace('"-q"', '"-q", "-k", "nothing"')),
    "pytest's own table": ("pyproject.toml", PYPROJECT + '[tool.pytest]\naddopts = ["--co"]\n'),
    "no toml any more": ("pyproject.toml", PYPROJECT + "]\n"),
    "an ini": ("setup.cfg", SETUP.replace("-q", "-q --deselect tests")),
    "a section that was not there": ("tox.ini", "[pytest]\naddopts = -x\n"),
    "the script": ("package.json", '{"scripts": {"test": "true", "build": "tsc"}, "dependencies": {}}'),
    "a key for the runner": (
        "package.json",
        '{"jest": {"bail": 1}, "scripts": {"test": "vitest run"}, "dependencies": {}}',
    ),
    "the runner's own file": ("web/vitest.config.ts", "export default {test: {include: []}}"),
}


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_changes_a_lock(name: str) -> None:
    path, text = CHEATS[name]
    assert said({**TREE, path: text}) == [("lock.changed", path)]


@pytest.mark.parametrize("path", [one.path for one in LOCK.locks if one.digest])
def test_what_is_locked_may_not_go(path: str) -> None:
    assert said({name: text for name, text in TREE.items() if name != path}) == [("lock.changed", path)]


@pytest.mark.parametrize(
    ("link", "path"),
    [
        ("tests", "tests/conftest.py"),
        ("tests/unit", "tests/unit/test_cart.py"),
        ("tests/unit/test_cart.py", "tests/unit/test_cart.py"),
        ("pyproject.toml", "pyproject.toml"),
        ("src/cart", "src/cart/prices.py"),
    ],
)
def test_a_symbolic_link_is_no_locked_file_though_its_content_is_the_same(link: str, path: str) -> None:
    assert ("lock.symlink", path) in said(TREE, (link,))
    elsewhere = {name: text for name, text in TREE.items() if not name.startswith(link)}
    assert ("lock.symlink", path) in said(elsewhere, (link,))


STRANGERS = {
    "conftest.py": "conftest", "tests/unit/conftest.py": "conftest", "src/conftest.py": "conftest",
    "tests/unit/test_extra.py": "test", "extra_test.py": "test", "web/extra.spec.tsx": "test",
    "tests/unit/__init__.py": "package", "tests/unit/__snapshots__/new.ambr": "snapshot",
    "web/__snapshots__/new.snap": "snapshot", "pytest.ini": "config", "tests/.pytest.ini": "config",
    "pytest.toml": "config", "jest.config.js": "config", "web/vite.config.mts": "config",
    "sitecustomize.py": "start", "src/usercustomize/__init__.py": "start", "tests/sitecustomize.py": "start",
    "pytest.py": "shadow", "src/_pytest/__init__.py": "shadow", "json/__init__.py": "shadow",
    "tests/unit/random.py": "shadow", "tests/unit/test_cart/__init__.py": "shadow",
    "tests/helper/__init__.py": "shadow", "tests/conftest/__init__.py": "shadow",
    "tests/unit/test_cart.cpython-311-darwin.so": "shadow", "src/unittest.pyc": "shadow",
    "pluggy.cpython-311-x86_64-linux-gnu.so": "shadow",
}  # fmt: skip


@pytest.mark.parametrize(("path", "kind"), STRANGERS.items())
def test_what_the_runner_would_take_by_itself_is_a_stranger(path: str, kind: str) -> None:
    assert strange(path)[path] == kind


def test_a_link_that_the_runner_would_follow_is_a_stranger_too() -> None:
    found = {
        one.path: one.kind
        for one in strangers(LOCK, state(TREE, ("conftest.py", "json", "docs/json", "lib", "tests/helper")))
    }
    assert found == {"conftest.py": "conftest", "json": "shadow", "tests/helper": "shadow"}


def test_a_plugin_that_lies_beside_the_sources_is_a_stranger_and_other_metadata_is_not() -> None:
    path = "evil-1.dist-info/entry_points.txt"
    assert strange(files={path: "[pytest11]\nevil = evil\n"}) == {path: "plugin"}
    assert strange(files={"cart-1.dist-info/entry_points.txt": "[console_scripts]\ncart = cart:main\n"}) == {}


@pytest.mark.parametrize(
    "path",
    [
        "src/cart/json.py",
        "src/cart/conftests.py",
        "docs/random.py",
        "json/data.txt",
        "test/__init__.py",
        "json.md",
        "src/cart/prices/__init__.py",
    ],
)
def test_other_files_are_no_strangers(path: str) -> None:
    assert strange(path) == {}


@pytest.mark.parametrize(
    ("test_id", "place"),
    [
        ("tests/test_a.py::test_x", ("tests/test_a.py", "")),
        ("tests/test_a.py::TestA::test_x[a::b.c]", ("tests/test_a.py", "")),
        ("tests/test_a.py::*", ("tests/test_a.py", "")),
        ("tests/test_a.py::test_a[1]", ("tests/test_a.py", "")),
        ("src/cart/prices.py::cart.prices.price", ("src/cart/prices.py", "price")),
        ("src/cart/prices.py::src.cart.prices.P.price", ("src/cart/prices.py", "P.price")),
        ("src/cart/prices.py::prices", ("src/cart/prices.py", ".")),
        ("src/cart/__init__.py::cart.total", ("src/cart/__init__.py", "total")),
        ("README.md::README.md", ("README.md", "")),
        ("web/cart.test.ts::total > adds", ("web/cart.test.ts", "")),
        ("tests.unit.test_cart.CartTest.test_x", ("tests/unit/test_cart.py", "")),
        ("tests.unit.test_cart::*", ("tests/unit/test_cart.py", "")),
        ("tests.CaseTest.test_x", ("tests/__init__.py", "")),
        ("later.test_new.NewTest.test_x", ("later/test_new.py", "")),
    ],
)
def test_an_id_lies_in_a_file_or_in_a_docstring(test_id: str, place: tuple[str, str]) -> None:
    assert place_of(test_id, state(TREE)) == place


def test_a_test_that_is_not_there_yet_is_locked_as_such() -> None:
    lock = lock_set(["tests/test_new.py::test_x"], state(TREE))
    assert ("test", "tests/test_new.py", ABSENT) in [one[:3] for one in lock.locks]
    assert changed(lock, state(TREE)) == []
    assert said({**TREE, "tests/test_new.py": ""}, lock=lock) == [("lock.changed", "tests/test_new.py")]


TEXTS = st.sampled_from(["", "a", "[pytest]\n", "[tool:pytest]\nx = 1\n", "{}", '"""d"""', PYPROJECT, "\x00", "]"])
TREES = st.dictionaries(st.sampled_from([*TREE, *STRANGERS]), TEXTS, max_size=12)


@given(TREES)
def test_a_lock_holds_for_its_own_state_whatever_that_is(files: dict[str, str]) -> None:
    lock = lock_set(IDS, state(files), support=tuple(files))
    assert changed(lock, state(files)) == []
    assert strangers(lock, state(files)) == []


@given(TREES, TREES)
def test_two_states_differ_where_something_is_said_and_only_there(
    before: dict[str, str], after: dict[str, str]
) -> None:
    lock = lock_set(IDS, state(before))
    for one in changed(lock, state(after)):
        assert one.code in LOCK_CODES
        assert before.get(one.path) != after.get(one.path)
    for stranger in strangers(lock, state(after)):
        assert stranger.path in set(after) - set(before) or changed(lock, state(after))


@given(st.binary(max_size=60))
def test_any_configuration_has_a_digest(data: bytes) -> None:
    for name in ("pyproject.toml", "setup.cfg", "tox.ini", "package.json", "pytest.ini"):
        assert section_digest(name, data) == section_digest(name, data)
        assert section_digest(name, None) == ABSENT
