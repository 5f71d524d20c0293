"""Holds which files a verdict rests on, and which new ones would be loaded in the place of what it used."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.evidence.relevant import (
    Reads,
    matches,
    relevant_names,
    shadowing,
)
from tallystick.evidence.runners.report import Recorded

OWN = (
    ".agent/tasks/x/manifest.yaml", ".jonggrang/a", ".tallystick/config.toml", ".git/HEAD", ".claude/settings.json",
    ".codex/config.toml", ".opencode/a", ".mcp.json", "part/.claude/a", "src/__pycache__/cart.pyc",
)  # fmt: skip
NAMES = ("README.md", "docs/a/b.txt", "src/cart.py", "src/other.py", "tests/test_cart.py", "data.json", *OWN)
RECORDED = Recorded(read=("src/cart.py", "tests/test_cart.py", "README.md", ".git/HEAD", ".claude/settings.json"))
LOCKED = ("tests/test_cart.py", "pyproject.toml")


def test_what_the_recorder_saw_and_what_is_locked_counts() -> None:
    assert relevant_names(NAMES, RECORDED, ["data.json", "none"]) == (
        "README.md",
        "data.json",
        "src/cart.py",
        "tests/test_cart.py",
    )


@pytest.mark.parametrize("recorded", [None, RECORDED._replace(partial="programs")])
def test_where_the_recorder_did_not_see_the_whole_all_but_documents_counts(recorded: Recorded | None) -> None:
    found = relevant_names(NAMES, recorded, LOCKED)
    assert set(found) - {"README.md"} == {"data.json", "src/cart.py", "src/other.py", "tests/test_cart.py"}
    assert ("README.md" in found) == (recorded is not None)  # it was read
    assert "docs/a/b.txt" in relevant_names(NAMES, None, (), irrelevant=())


def test_declared_paths_win_and_the_lock_set_stays() -> None:
    assert relevant_names(NAMES, RECORDED, LOCKED, paths=("src/**", ".claude/**")) == (
        "src/cart.py",
        "src/other.py",
        "tests/test_cart.py",
    )


@given(st.sets(st.sampled_from(NAMES)), st.none() | st.just(RECORDED), st.sampled_from([(), ("**",), ("*.json",)]))
def test_our_own_folders_and_those_of_clients_never_count(
    names: set[str], recorded: Recorded | None, paths: tuple[str, ...]
) -> None:
    assert not set(relevant_names(names, recorded, OWN, paths=paths)) & set(OWN)


@pytest.mark.parametrize(
    ("name", "glob", "matched"),
    [
        ("a.md", "*.md", True), ("x/y/a.md", "*.md", True), ("a.mdx", "*.md", False), ("docs/a/b", "docs/**", True),
        ("src/docs/a", "docs/**", False), ("src/docs/a", "**/docs/**", True), ("docs/a", "**/docs/**", True),
        ("src/a.py", "src/*.py", True), ("src/b/a.py", "src/*.py", False), ("src/b/a.py", "src/**/*.py", True),
        ("src/a.py", "src/**/*.py", True), ("src/a.py", "src/", True), ("src/a.py", "./src/?.py", True),
        ("a+b", "a+b", True), ("aab", "a+b", False), ("a\nb.md", "*.md", True),
    ],
)  # fmt: skip
def test_globs_mean_what_they_mean_elsewhere(name: str, glob: str, matched: bool) -> None:
    assert matches(name, glob) is matched


USED = ("src/cart/__init__.py", "src/cart/prices.py", "src/space/a.py", "tests/test_cart.py", "tests/helper.py")
READS = Reads(frozenset({"cart", "prices", "space", "json", "requests", "fast", "helper", "test_cart"}), ("", "src"))


@pytest.mark.parametrize(
    "name",
    [
        "cart.py", "cart/__init__.py", "src/cart.py", "src/cart/prices/__init__.py", "src/space/__init__.py",
        "src/cart/prices.cpython-311-darwin.so", "json.py", "src/requests/__init__.py", "fast.py", "helper.pyc",
    ],
)  # fmt: skip
def test_a_new_file_that_would_be_imported_instead_is_named(name: str) -> None:
    assert shadowing({*USED, name}, USED, READS) == (name,)


@pytest.mark.parametrize(
    "name",
    [
        "src/cart/tax.py", "src/cart/json.py", "tests/json.py", "other.py", "json.txt", "requests/data.py",
        "src/other/__init__.py", ".tallystick/json.py", "docs/json/__init__.py", "src/cart/sub/__init__.py",
    ],
)  # fmt: skip
def test_a_new_file_that_nobody_looked_for_is_not(name: str) -> None:
    assert shadowing({*USED, name}, USED, READS) == ()
