"""Holds which files are locked for an id of Go, Rust or Node.js, and that those of Python are none of its business."""

from __future__ import annotations

import pytest

from tallystick.evidence.lockset import State, changed, lock_set, strangers
from tallystick.evidence.test_files import files_of

NAMES = (
    "Cargo.toml", "src/lib.rs", "tests/cart.rs", "tests/ship-it/main.rs", "tests/ship-it/rows.rs",
    "tests/common/mod.rs", "part/tests/cart.rs", "contests/cart.rs", "go.mod", "all_test.go", "cart/cart.go",
    "cart/b_test.go", "cart/a_test.go", "cart/testdata/a.json", "cart/inner/c_test.go", "src/cart.test.ts",
)  # fmt: skip


@pytest.mark.parametrize(
    ("test_id", "files"),
    [
        ("./cart::TestTotal", ("cart/a_test.go", "cart/b_test.go", "cart/testdata/a.json")),
        ("./::TestAll", ("all_test.go",)),
        ("./none::*", ()),
        ("src/cart.test.ts > cart > total", ("src/cart.test.ts",)),
        ("src/none.test.ts > total", ("src/none.test.ts",)),
        ("cart::total", ("part/tests/cart.rs", "tests/cart.rs", "tests/common/mod.rs")),
        ("ship_it::*", ("tests/ship-it/main.rs", "tests/ship-it/rows.rs", "tests/common/mod.rs")),
        ("shop::tests::total", ()),
        ("tests/test_cart.py::test_total", None),
        ("tests.test_cart.CartTest.test_total", None),
    ],
)
def test_an_id_names_its_files(test_id: str, files: tuple[str, ...] | None) -> None:
    assert files_of(test_id, NAMES) == files


def test_a_form_that_unittest_has_too_is_rusts_only_beside_a_package_of_cargo() -> None:
    assert files_of("cart::*", ("tests/cart.rs",)) is None


def state(**files: str) -> State:
    """A state of Go test files of one package."""
    named = {f"cart/{name}_test.go": text.encode() for name, text in files.items()}
    return State(frozenset(named), frozenset(), named.get)


def test_all_test_files_of_a_package_are_locked_and_a_new_one_is_a_stranger() -> None:
    lock = lock_set(["./cart::TestA"], state(a="1", b="2"))
    assert changed(lock, state(a="1", b="2")) == []
    assert [(one.path, one.code) for one in changed(lock, state(a="1", b="3"))] == [("cart/b_test.go", "lock.changed")]
    assert [one.path for one in strangers(lock, state(a="1", b="2", c="3"))] == ["cart/c_test.go"]


def test_a_test_without_a_file_of_its_own_locks_nothing() -> None:
    empty = State(frozenset(("Cargo.toml",)), frozenset(), lambda _: b"")
    assert lock_set(["shop::tests::total"], empty).locks == ()
