"""Holds which names of the locked files nothing that is added may take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.evidence.used_names import OPEN, used_names

SOURCE = b'''
import json as codec
from cart.prices import total

@pytest.fixture(name="basket")
def make_basket(tmp_path, currency):
    yield Basket(size=3)

def test_sum(basket, monkeypatch, *, kind="x"):
    """Sums.

    >>> in_doctest(1)
    """
    monkeypatch.setattr("cart.rates.exchange", lambda: 1)
    for row in basket.rows:
        assert total(row) == f"{row!r} and {other.text}"
    with suppress(KeyError) as caught:
        eval("evaluated(inner['x'])")

class TestMore:
    """Prose about nothing_here."""
'''


def test_whatever_is_looked_up_is_in() -> None:
    found = used_names((SOURCE,))
    used = (
        "codec json cart prices total make_basket basket tmp_path currency monkeypatch kind in_doctest exchange rates"
    )
    more = "row rows other text suppress caught evaluated inner x setattr"
    assert {*used.split(), *more.split()} <= found
    assert not {"test_sum", "TestMore", "size", "nothing_here"} & found


@pytest.mark.parametrize(
    ("source", "is_open"),
    [
        ("def test_a(tmp_path, mocker): pass", False),
        ("def test_a(client): pass", True),
        ("import pytest\n@pytest.fixture\ndef client(app): pass", True),
        ("import pytest\n@pytest.fixture\ndef client(): pass\ndef test_a(client): pass", False),
        ("@mark.parametrize('a, b', [(1, 2)])\ndef test_a(a, b): pass", False),
        ("@mark.parametrize(['a', 'b'], [(1, 2)])\ndef test_a(a, b): pass", False),
        ("@given(b=st.none(), a=st.none())\ndef test_a(a, *, b): pass", False),
        ("@given(st.none())\ndef test_a(a, b): pass", True),
        ("@mark.usefixtures('db')\ndef test_a(): pass", True),
        ("def test_a(request): request.getfixturevalue('cache')", False),
        ("def test_a(request): request.getfixturevalue(name)", True),
        ("from fixtures import *", True),
        ("pytest_plugins = ['some']", True),
        ("def pytest_generate_tests(metafunc): pass", True),
        ("class TestA:\n    def test_a(self, x=1, *, y=2): pass", False),
        ("no python", True),
        ("# " + "x" * 600_000, True),
    ],
)
def test_unknown_fixtures_leave_the_names_open(source: str, is_open: bool) -> None:
    assert (OPEN in used_names((source.encode(),))) == is_open


def test_a_fixture_may_be_defined_in_another_file() -> None:
    conftest = b"import pytest\n@pytest.fixture\ndef client(): pass\n"
    assert OPEN not in used_names((b"def test_a(client): pass", conftest))


def test_of_what_is_no_python_every_word_is_in() -> None:
    assert {"no", "python", "client"} <= used_names((b"no python, client! \xff",))


@given(st.lists(st.binary(max_size=100)))
def test_any_bytes_have_names(sources: list[bytes]) -> None:
    assert all(used_names((one,)) - {OPEN} <= used_names(sources) for one in sources)
