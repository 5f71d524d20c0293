"""Holds what a test file is found to need by its text: helpers that it imports and data that it names, in folders of
tests, also through each other, and nothing else."""

from __future__ import annotations

import pytest

from tallystick.evidence.supports import supports

FILES = {
    "tests/__init__.py": "",
    "tests/helpers.py": "from tests.deep import more\nOPEN = 'rows.csv'\n",
    "tests/deep/__init__.py": "",
    "tests/deep/more.py": "",
    "tests/other.py": "",
    "tests/data/cases.json": "[]",
    "tests/data/rows.csv": "",
    "tests/data/other.json": "[]",
}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import tests.other", {"tests/__init__.py", "tests/other.py"}),
        ("from . import other", {"tests/__init__.py", "tests/other.py"}),
        ("from .deep import more", {"tests/deep/__init__.py", "tests/deep/more.py"}),
        ("import other", {"tests/other.py"}),
        ("def test_x():\n    from .deep.more import x\n", {"tests/deep/__init__.py", "tests/deep/more.py"}),
        ("P = HERE / 'data' / 'cases.json'", {"tests/data/cases.json"}),
        ("P = open('tests/data/cases.json')", {"tests/data/cases.json"}),
        ("P = HERE.glob('data/c*.json')", {"tests/data/cases.json"}),
        ("P = HERE.glob('*')", set()),
        ("import json, shop.cart\nT = 'cases'\n", set()),
        ("def broken(:", set()),
    ],
)
def test_what_a_test_imports_or_names_is_found(text: str, wanted: set[str]) -> None:
    files = {**FILES, "tests/test_x.py": text}
    found = supports(["tests/test_x.py"], FILES, lambda name: files[name].encode(), [""])
    assert found - {"tests/__init__.py"} == wanted - {"tests/__init__.py"}
    assert wanted <= found


def test_what_a_helper_needs_is_found_too() -> None:
    files = {**FILES, "tests/test_x.py": "import tests.helpers"}
    found = supports(["tests/test_x.py"], FILES, lambda name: files[name].encode(), [""])
    assert {"tests/helpers.py", "tests/deep/more.py", "tests/data/rows.csv"} <= found
    assert not {"tests/other.py", "tests/data/cases.json"} & found


def test_two_helpers_that_import_each_other_end() -> None:
    files = {"tests/a.py": "import tests.b", "tests/b.py": "import tests.a", "tests/test_x.py": "import tests.a"}
    found = supports(["tests/test_x.py"], files, lambda name: files[name].encode(), [""])
    assert found == {"tests/a.py", "tests/b.py"}
