"""Holds that code which asks whether it is tested is named with its place, and that other code is not."""

from __future__ import annotations

import pytest

from tallystick.evidence.flags import flags, is_subject


@pytest.mark.parametrize(
    "line",
    [
        'if "PYTEST_CURRENT_TEST" in os.environ:',
        "os.environ.get('CI')",
        'getenv("GITHUB_ACTIONS")',
        'env["TALLYSTICK_REPORT"]',
    ],
)
def test_code_that_asks_for_a_telling_variable_is_named_with_its_line(line: str) -> None:
    (found,) = flags({"src/shop/cart.py": f"import os\n{line}\n".encode(), "src/shop/mail.py": b"total = 1\n"})
    assert (found.code, found.file, found.line) == ("source.flagged", "src/shop/cart.py", 2)
    assert "can tell that it is tested" in found.says


@pytest.mark.parametrize("line", ['"CITY"', "CI = 3", '"PYTEST_CURRENT_TESTS"', '"circle"', "pytest"])
def test_code_that_only_looks_like_it_is_not(line: str) -> None:
    assert flags({"src/shop/cart.py": f"{line}\n".encode()}) == ()


def test_tests_may_ask_what_they_like() -> None:
    names = ["tests/helper.py", "test_cart.py", "shop/cart_test.py", "conftest.py", "data.txt"]
    assert [name for name in names if is_subject(name)] == []
    assert is_subject("src/shop/cart.py")
