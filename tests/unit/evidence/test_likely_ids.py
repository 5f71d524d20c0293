"""Holds that a test which was moved or renamed is found again, and that nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.evidence.likely_ids import likely_ids

CART = """
import pytest


@pytest.mark.parametrize("n", [1, 2])
def test_sum(n):
    assert total([n]) == n


def test_none():
    '''An empty cart.'''
    assert total([]) == 0 or fail()


class TestCart:
    def test_add(self):
        assert add(1, 2).total == 3

    def test_drop(self):
        assert drop(2, 1).total == 1

    def test_clear(self):
        assert clear([1]).total == 0

    def test_todo(self):
        assert False
"""
BEFORE = {"tests/test_cart.py": CART.encode()}
P = "tests/test_cart.py::"


def likely(missing: str, changes: dict[str, str], now: str = "tests/test_cart.py", more: str = "") -> dict[str, str]:
    text = CART
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return likely_ids([missing], BEFORE, {now: (text + more).encode()})


@pytest.mark.parametrize(
    ("missing", "changes", "now", "found"),
    [
        (P + "test_none", {"test_none": "test_empty"}, "", P + "test_empty"),
        (P + "test_none", {"test_none": "test_empty", "An empty cart": "None"}, "", P + "test_empty"),
        (P + "test_sum[1]", {"test_sum": "test_total"}, "", P + "test_total[1]"),
        (P + "test_sum[*]", {"test_sum": "test_total"}, "", P + "test_total[*]"),
        (P + "TestCart::test_add", {"TestCart": "TestBasket"}, "", P + "TestBasket::test_add"),
        (P + "TestCart::test_add", {"TestCart": "TestB", "test_add": "test_put"}, "", P + "TestB::test_put"),
        (P + "TestCart::test_todo", {"TestCart": "TestBasket"}, "", P + "TestBasket::test_todo"),
        (P + "TestCart::*", {"TestCart": "TestBasket"}, "", P + "TestBasket::*"),
        (P + "TestCart::test_todo", {}, "tests/a/test_b.py", "tests/a/test_b.py::TestCart::test_todo"),
        (P + "TestCart::test_inherited", {}, "tests/a/test_b.py", "tests/a/test_b.py::TestCart::test_inherited"),
        (P + "test_sum[1-a::b[c]]", {}, "test_b.py", "test_b.py::test_sum[1-a::b[c]]"),
        (P + "test_none", {"== 3": "== 4"}, "test_b.py", "test_b.py::test_none"),
        (P + "TestCart::test_add", {"== 3": "== 4"}, "test_b.py", "test_b.py::TestCart::test_add"),
        (P + "test_none", {"test_none": "test_empty", "== 3": "== 4"}, "test_b.py", "test_b.py::test_empty"),
        (P + "*", {"== 3": "== 4"}, "test_b.py", "test_b.py::*"),
        ("tests.test_cart.TestCart.test_add", {}, "tests/a/test_b.py", "tests.a.test_b.TestCart.test_add"),
        ("test_cart.TestCart.test_add", {}, "tests/test_b.py", "test_b.TestCart.test_add"),
        ("test_cart.TestCart.test_add", {"test_add": "test_put"}, "", "test_cart.TestCart.test_put"),
        ("test_cart.TestCart::*", {"TestCart": "TestB"}, "", "test_cart.TestB::*"),
    ],
)
def test_a_test_is_found_again(missing: str, changes: dict[str, str], now: str, found: str) -> None:
    assert likely(missing, changes, now or "tests/test_cart.py") == {missing: found}


@pytest.mark.parametrize(
    ("missing", "changes", "now", "more"),
    [
        (P + "test_none", {}, "", ""),  # it is there
        (P + "test_never", {}, "", ""),
        (P + "test_sum[9]", {}, "", ""),
        (P + "test_none", {"test_none": "test_empty", "== 0 or": "== 1 or"}, "", ""),  # another body
        (P + "test_none", {"test_none": "test_a"}, "", "def test_b():\n    assert total([]) == 0 or fail()\n"),  # two
        (P + "test_sum[1]", {"test_sum": "test_total", "[1, 2]": "[1]"}, "", ""),  # other parameter sets
        (P + "TestCart::test_todo", {"test_todo": "test_a"}, "", ""),  # a body that says nothing
        (P + "TestCart::test_add", {"test_add(self):\n        assert": "test_add(self, x):\n        assert"}, "", ""),
        (P + "*", {"== ": "!= "}, "test_b.py", ""),  # a file of other tests
        ("test_cart.TestCart.test_add", {}, "test_b.py", ""),  # out of the folder that names start from
        ("test_cart", {}, "tests/test_b.py", ""),
        ("other.TestCart.test_add", {}, "tests/test_b.py", ""),
        ("web/cart.test.ts::adds", {}, "web/b.test.ts", ""),
    ],
)
def test_nothing_is_guessed(missing: str, changes: dict[str, str], now: str, more: str) -> None:
    assert likely(missing, changes, now or "tests/test_cart.py", more) == {}


def test_a_file_that_was_copied_says_nothing() -> None:
    copies = {"test_a.py": CART.encode(), "test_b.py": CART.encode()}
    assert likely_ids([P + "test_none"], BEFORE, copies) == {}


def test_two_tests_with_one_body_are_told_apart_by_their_names_alone() -> None:
    text = "def test_{}():\n    assert total(1) == 1\n\n\ndef test_{}():\n    assert total(1) == 1\n"
    before = {"test_a.py": text.format("one", "two").encode()}
    missing = ["test_a.py::test_one", "test_a.py::test_two"]
    assert likely_ids(missing, before, {"test_a.py": text.format("three", "four").encode()}) == {}
    moved = {"test_b.py": text.format("two", "one").encode()}
    assert likely_ids(missing, before, moved) == {one: one.replace("_a.py", "_b.py") for one in missing}


def test_no_python_and_no_files_say_nothing() -> None:
    assert likely_ids([P + "test_none"], {"tests/test_cart.py": b"def ("}, {"test_b.py": b"def ("}) == {}
    assert likely_ids([P + "test_none", ""], {}, {}) == {}
    assert likely_ids([P + "test_none"], {"tests/test_cart.py": b""}, {"test_b.py": b""}) == {}


@given(st.permutations(range(6)), st.sets(st.integers(0, 5)), st.booleans())
def test_answers_are_one_to_one_and_name_what_is_there(order: list[int], renamed: set[int], moved: bool) -> None:
    def source(names: dict[int, str], order: list[int]) -> bytes:
        return "".join(f"def {names[at]}():\n    assert total({at}) == {at}\n\n\n" for at in order).encode()

    old = {at: f"test_{at}" for at in range(6)}
    new = {at: f"test_new_{at}" if at in renamed else f"test_{at}" for at in range(6)}
    path = "test_b.py" if moved else "test_a.py"
    missing = {at: f"test_a.py::test_{at}" for at in range(6) if moved or at in renamed}
    found = likely_ids(list(missing.values()), {"test_a.py": source(old, list(range(6)))}, {path: source(new, order)})
    assert found == {test_id: f"{path}::{new[at]}" for at, test_id in missing.items()}
