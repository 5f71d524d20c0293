"""Holds that no edit which could soften a locked test passes for formatting or an addition, and that honest ones do."""

from __future__ import annotations

import ast
import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.evidence.changed_tests import KINDS, kind_of
from tallystick.evidence.fingerprints import SOURCE_MOST
from tallystick.evidence.used_names import used_names

PATH = "tests/test_cart.py"
TESTS = b'''"""Totals."""

import json
import unittest

import pytest

from cart import total
from tests.support import make_cart

LIMIT = 3


@pytest.fixture
def cart(tmp_path):
    return make_cart(tmp_path)


def doubled(number):
    """Twice.

    >>> doubled(2)
    4
    """
    return 2 * number


def shown(number):
    """What the command line says about it."""
    return number


@pytest.mark.parametrize("count, price", [(1, 2), (2, 4)])
def test_total(cart, count, price):
    """A cart has a total."""
    cart.add(count)
    assert total(cart) == price  # the sum
    assert len(json.dumps(price)) < LIMIT


def test_refuses(cart, client):
    with pytest.raises(ValueError, match="none"):
        total(cart, None)


class TestMore:
    """More of it."""

    def test_empty(self, cart):
        assert total(cart) == doubled(0)


class CartTest(unittest.TestCase):
    limit = 2

    def test_case(self):
        self.assertEqual(total([]), 0)
'''
CONFTEST = b"""import pytest


@pytest.fixture
def client():
    return Client()


@pytest.fixture(autouse=True)
def clean_database():
    yield
"""
USED = used_names((TESTS, CONFTEST, b"def make_cart(folder):\n    return Cart(folder)\n"))


def kind(after: bytes, before: bytes = TESTS, path: str = PATH) -> str:
    return kind_of(path, before, after, USED)


def edited(old: str, new: str) -> bytes:
    assert TESTS.count(old.encode()) >= 1, old
    return TESTS.replace(old.encode(), new.encode(), 1)


def after_imports(text: str) -> bytes:
    return edited("LIMIT = 3\n", f"LIMIT = 3\n\n\n{text}\n")


def at_end(text: str) -> bytes:
    return TESTS + f"\n\n{text}\n".encode()


REFUSES = "def test_refuses"
CHEATS: dict[str, bytes] = {
    "autouse fixture": after_imports("@pytest.fixture(autouse=True)\ndef fake():\n    import cart"),
    "autouse by a name": after_imports("@pytest.fixture(autouse=LIMIT)\ndef fake():\n    pass"),
    "autouse in a mapping": after_imports("@pytest.fixture(**{'autouse': True})\ndef fake():\n    pass"),
    "autouse by position": after_imports("@pytest.fixture(None, scope='module')\ndef fake():\n    pass"),
    "fixture of pytest": after_imports("@pytest.fixture\ndef tmp_path():\n    return 1"),
    "fixture that pytest uses": after_imports("@pytest.fixture\ndef tmp_path_factory():\n    return 1"),
    "fixture of the conftest": after_imports("@pytest.fixture\ndef client():\n    return 1"),
    "fixture named as another": after_imports("@pytest.fixture(name='client')\ndef other():\n    return 1"),
    "fixture named by a name": after_imports("@pytest.fixture(name=LIMIT)\ndef other():\n    return 1"),
    "fixture instead of an autouse one": after_imports("@pytest.fixture\ndef clean_database():\n    pass"),
    "fixture of a plugin": after_imports("@pytest.fixture\ndef django_db_setup():\n    pass"),
    "fixture with a scope that is called": after_imports("@pytest.fixture(scope=doubled)\ndef other():\n    pass"),
    "fixture with ids that are called": after_imports("@pytest.fixture(params=[1], ids=shown)\ndef other():\n    pass"),
    "fixture with a call in its parameters": after_imports("@pytest.fixture(params=fake())\ndef other():\n    pass"),
    "fixture under another decorator": after_imports("@print\n@pytest.fixture\ndef other():\n    pass"),
    "decorator that looks like a fixture": after_imports("@cart.fixture\ndef other():\n    pass"),
    "hook": after_imports("def pytest_runtest_call(item):\n    return True"),
    "import that is a hook": after_imports("from cart import fake as pytest_runtest_call"),
    "module set-up": after_imports("def setup_module():\n    import cart"),
    "module set-up of unittest": after_imports("def setUpModule():\n    import cart"),
    "set-up of nose": after_imports("def setup():\n    import cart"),
    "loading protocol": after_imports("def load_tests(loader, tests, pattern):\n    return None"),
    "attribute of the module": after_imports("def __getattr__(name):\n    return 1"),
    "collected no more": after_imports("collect_ignore = ['test_cart.py']"),
    "collected no more, as a function": after_imports("def collect_ignore():\n    pass"),
    "mark for the whole file": after_imports("pytestmark = pytest.mark.skip"),
    "plugins": after_imports("pytest_plugins = ['fake']"),
    "not to be tested": after_imports("__test__ = False"),
    "a class not to be tested": edited('"""More of it."""\n', '"""More of it."""\n\n    __test__ = False\n'),
    "import of a helper that patches": after_imports("import fake_cart"),
    "import of a helper beside": edited("import make_cart", "import fake, make_cart"),
    "relative import": after_imports("from . import fake"),
    "import of a submodule": after_imports("import cart.fake"),
    "import that acts": after_imports("import antigravity"),
    "import of the tests": after_imports("import tests"),
    "future": edited("import json\n", "from __future__ import annotations\n\nimport json\n"),
    "star import": after_imports("from cart import *"),
    "star import of Python's": after_imports("from math import *"),
    "import instead of the subject": after_imports("from math import fsum as total"),
    "subject imported before all else": edited("import json\n", "from cart import other\nimport json\n"),
    "imports in another order": edited("import json\nimport unittest\n", "import unittest\nimport json\n"),
    "import under another name": edited("import total", "import fake as total"),
    "import away": edited("from tests.support import make_cart\n", ""),
    "import of one name less": edited("from cart import total", "from cart import other"),
    "assignment": after_imports("total = print"),
    "new assignment": after_imports("OTHER = print('now')"),
    "constant": edited("LIMIT = 3", "LIMIT = 30"),
    "constant of another type": edited("LIMIT = 3", "LIMIT = 3.0"),
    "bool for a number": edited("(1, 2)", "(True, 2)"),
    "call": after_imports("print('now')"),
    "subject patched": after_imports("json.dumps = str"),
    "skip": edited(REFUSES, f"@pytest.mark.skip\n{REFUSES}"),
    "expected to fail": edited(REFUSES, f"@pytest.mark.xfail\n{REFUSES}"),
    "decorator away": edited('@pytest.mark.parametrize("count, price", [(1, 2), (2, 4)])\n', ""),
    "fewer parameter sets": edited("[(1, 2), (2, 4)]", "[(1, 2)]"),
    "parameter sets in another order": edited("[(1, 2), (2, 4)]", "[(2, 4), (1, 2)]"),
    "class decorator": edited("class TestMore", "@pytest.mark.skip\nclass TestMore"),
    "default that is called": after_imports("def helper(value=print('now')):\n    pass"),
    "default with walrus": after_imports("def helper(value=(total := 1)):\n    pass"),
    "default of a keyword": after_imports("def helper(*, value=[fake() for _ in 'a']):\n    pass"),
    "default that is a function": after_imports("def helper(value=lambda: 1):\n    pass"),
    "default on a test": edited("def test_refuses(cart, client)", "def test_refuses(cart, client=None)"),
    "annotation that is called": after_imports("def helper(value: print('now')):\n    pass"),
    "result that is called": after_imports("def helper() -> print('now'):\n    pass"),
    "helper with a decorator": after_imports("@json.loads\ndef helper():\n    pass"),
    "helper instead of a built-in": after_imports("def len(value):\n    return 0"),
    "helper instead of a built-in that nobody names": after_imports("def AssertionError(value):\n    return 0"),
    "helper instead of the subject": after_imports("def total(cart):\n    return 2"),
    "helper instead of a fixture": after_imports("def cart(tmp_path):\n    return 2"),
    "global": after_imports("def helper():\n    global total\n    total = print"),
    "global in a test": edited("    cart.add(count)\n", "    global LIMIT\n    cart.add(count)\n"),
    "class": after_imports("class Fake:\n    pass"),
    "metaclass": at_end("class TestNew(metaclass=Meta):\n    def test_new(self):\n        pass"),
    "class under another": at_end("class TestNew(TestMore):\n    def test_new(self):\n        pass"),
    "class with a base that is called": at_end("class TestNew(fake()):\n    def test_new(self):\n        pass"),
    "class with code": at_end("class TestNew:\n    print('now')\n\n    def test_new(self):\n        pass"),
    "class with a name for a value": at_end("class TestNew:\n    x = total\n\n    def test_new(self):\n        pass"),
    "class with a call": at_end("class TestNew:\n    x = fake()\n\n    def test_new(self):\n        pass"),
    "class twice": at_end("class TestMore:\n    def test_new(self):\n        pass"),
    "test twice": at_end("def test_total():\n    pass"),
    "test that shadows a test": edited("class TestMore:", "def test_total():\n    pass\n\n\nclass TestMore:"),
    "test before the others": edited(
        "@pytest.mark.parametrize(", "def test_a():\n    pass\n\n\n@pytest.mark.parametrize("
    ),
    "test with a decorator that acts": at_end("@fake\ndef test_new():\n    pass"),
    "test with a call in its mark": at_end("@pytest.mark.parametrize('x', [fake()])\ndef test_new(x):\n    pass"),
    "test with ids that are called": at_end(
        "@pytest.mark.parametrize('x', [1], ids=shown)\ndef test_new(x):\n    pass"
    ),
    "mark that marks another test": at_end(
        "@pytest.mark.parametrize('x', [pytest.mark.skip(test_total)])\ndef test_new(x):\n    pass"
    ),
    "test first in order": at_end("@pytest.mark.order(0)\ndef test_new():\n    pass"),
    "method before the others": edited(
        "    def test_empty", "    def test_a(self):\n        pass\n\n    def test_empty"
    ),
    "set-up in a class": TESTS + b"\n    def setUp(self):\n        pass\n",
    "method twice": TESTS + b"\n    def test_case(self):\n        pass\n",
    "attribute of a class": edited("    limit = 2\n", "    limit = 2\n    maxDiff = 1\n"),
    "attribute of a class changed": edited("    limit = 2\n", "    limit = 3\n"),
    "softened": edited("== price", ">= price"),
    "assertion away": edited("    assert total(cart) == price  # the sum\n", ""),
    "assertion as a comment": edited("    assert total(cart) == price", "    # assert total(cart) == price"),
    "assertion of a pair": edited("assert total(cart) == price", "assert (total(cart), price)"),
    "try around": edited(
        "    assert total(cart) == price  # the sum\n",
        "    try:\n        assert total(cart) == price\n    except AssertionError:\n        pass\n",
    ),
    "suppressed": edited(
        "    cart.add(count)\n    assert", "    with suppress(Exception):\n        cart.add(count)\n    assert"
    ),
    "early return": edited("    cart.add(count)\n", "    return\n    cart.add(count)\n"),
    "yield in it": edited("    cart.add(count)\n", "    yield\n    cart.add(count)\n"),
    "made async": edited("def test_refuses", "async def test_refuses"),
    "parameter renamed": edited("def test_refuses(cart, client)", "def test_refuses(cart, request)"),
    "test renamed": edited("def test_refuses", "def test_refuses_none"),
    "test as a helper": edited("def test_refuses", "def check_refuses"),
    "test away": edited(TESTS[TESTS.index(b"def test_refuses") : TESTS.index(b"class TestMore")].decode(), ""),
    "if around": edited("def test_refuses(cart, client):\n", "if LIMIT:\n  def test_refuses(cart, client):\n"),
    "if in the module": after_imports("if LIMIT:\n    total = print"),
    "try in the module": after_imports("try:\n    from fake import total\nexcept ImportError:\n    pass"),
    "del": TESTS + b"\n\ndel test_total\n",
    "raise": TESTS + b"\n\nraise SystemExit\n",
    "wider exception": edited("ValueError", "Exception"),
    "other message": edited('match="none"', 'match=""'),
    "other context manager": edited('pytest.raises(ValueError, match="none")', "open(__file__)"),
    "doctest changed": edited("    4\n", "    5\n"),
    "doctest skipped": edited("doubled(2)\n", "doubled(2)  # doctest: +SKIP\n"),
    "doctest away": edited("\n    >>> doubled(2)\n    4\n", "\n"),
    "docstring that the subject may show": edited("What the command line says", "What it says"),
    "no rewriting": edited('"""Totals."""', '"""Totals. PYTEST_DONT_REWRITE"""'),
    "string with other spaces": edited('match="none"', 'match="none "'),
    "form feed in a string": edited('match="none"', 'match="no\fne"'),
    "another letter that looks the same": edited('match="none"', 'match="n\u043ene"'),
    "bytes for text": edited('match="none"', 'match=b"none"'),
    "other encoding": edited('"""Totals."""', '# coding: latin-1\n"""Totals."""').replace(b"none", "nö".encode()),
    "encoding of the project's": edited('"""Totals."""', '# coding: cart\n"""Totals."""'),
    "encoding that holds code": edited(
        '"""Totals."""', '# coding: unicode_escape\n# \\u000aimport fake\n"""Totals."""'
    ),
    "encoding that escapes": edited('"""Totals."""', '# coding: utf-7\n"""Totals."""'),
    "two encodings": codecs.BOM_UTF8 + edited('"""Totals."""', '# coding: latin-1\n"""Totals."""'),
    "other Unicode": TESTS.decode().encode("utf-16"),
    "carriage return that ends a line": edited("    cart.add(count)\n", "    # \r    return\n    cart.add(count)\n"),
    "NUL": edited("LIMIT = 3", "LIMIT = 3\0"),
    "no Python": edited("LIMIT = 3", "LIMIT = = 3"),
    "empty": b"",
    "only comments": b"# nothing here\n",
    "twice": TESTS + TESTS,
    "cut": TESTS[: len(TESTS) // 2],
}
FIXTURE = """@pytest.fixture(scope='module', params=[1, -2], ids=['a', 'b'])
def other(request):
    yield request.param"""
NAMED_FIXTURE = """@pytest.fixture(autouse=False, name='another')
def other() -> int | None:
    return 1"""
HELPER = """def helper(value: list[int], *more: 'Cart', key=LIMIT, **rest) -> dict[str, int]:
    return {}"""
MARKED = """@pytest.mark.slow
@pytest.mark.parametrize('a, b', [(1, LIMIT), pytest.param(2, 3, marks=pytest.mark.xfail, id='x')], ids=['a', 'b'])
def test_new(a, b):
    pass"""
CLASS = """class TestNew:
    '''New.'''

    size = -3
    pytestmark = pytest.mark.slow

    @staticmethod
    def sized():
        return 1

    @pytest.fixture
    def big(self):
        return 1

    def test_new(self, big):
        pass"""
CASE = """class NewCases(unittest.TestCase):
    def setUp(self):
        self.x = 1

    def test_new(self):
        pass"""
METHOD = """== doubled(0)

    @pytest.mark.slow
    def test_full(self, cart):
        assert total(cart)
"""
FORMATTED: dict[str, bytes] = {
    "another comment": edited("# the sum", "# of all"),
    "comment away": edited("  # the sum", ""),
    "type comment": edited("LIMIT = 3", "LIMIT = 3  # type: int"),
    "first line": b"#!/usr/bin/env python\n# coding: utf-8\n" + TESTS,
    "byte order mark": codecs.BOM_UTF8 + TESTS,
    "quotes": TESTS.replace(b'"none"', b"'none'").replace(b'"count, price"', b"'count, price'"),
    "joined strings": edited('"none"', '"no" "ne"'),
    "trailing comma": edited("test_refuses(cart, client)", "test_refuses(\n    cart,\n    client,\n)"),
    "empty lines": TESTS.replace(b"\n\n\n", b"\n\n"),
    "form feed between tests": edited("\n\nclass TestMore", "\n\f\nclass TestMore"),
    "line ends": TESTS.replace(b"\n", b"\r\n"),
    "tabs": TESTS.replace(b"    ", b"\t"),
    "parentheses": edited("assert total(cart) == price", "assert (total(cart)) == (price)"),
    "number": edited("LIMIT = 3", "LIMIT = 0x3"),
    "docstring of a test": edited("A cart has a total.", "Each cart has its total."),
    "docstring for a test": edited("client):\n", 'client):\n    """None."""\n'),
    "docstring of the file": edited("Totals.", "All about totals."),
    "docstring of a class of tests": edited("More of it.", "And more."),
    "indentation, of a doctest too": TESTS.replace(b"\n    ", b"\n  "),
    "written anew": ast.unparse(ast.parse(TESTS)).encode(),
}
ADDED: dict[str, bytes] = {
    "fixture": after_imports(FIXTURE),
    "fixture with another name": after_imports(NAMED_FIXTURE),
    "helper": after_imports(HELPER),
    "helper and comments": after_imports("# new\ndef helper():\n    pass").replace(b"# the sum", b""),
    "import of Python's": edited("import json\n", "import json\nimport re\n"),
    "more imports of Python's": edited("import json\n", "import json\nimport os.path\nfrom unittest import mock\n"),
    "more of the subject": edited("import total", "import discount, total"),
    "more of the subject in a new line": edited("from tests.", "from cart import discount\nfrom tests."),
    "test": at_end("def test_new(cart):\n    assert total(cart)"),
    "test with parameter sets": at_end(MARKED),
    "async test": at_end("@pytest.mark.asyncio\nasync def test_new(cart):\n    assert await total(cart)"),
    "class of tests": at_end(CLASS),
    "case of unittest": at_end(CASE),
    "method": TESTS + b"\n    def test_new(self):\n        pass\n",
    "method of the other class": edited("== doubled(0)\n", METHOD),
    "all of it": edited("import json\n", "import json\nimport re\n") + f"\n\n{HELPER}\n\n\n{CLASS}\n".encode(),
}


@pytest.mark.parametrize("after", [pytest.param(after, id=name) for name, after in CHEATS.items()])
def test_an_edit_that_could_soften_a_test_is_a_change(after: bytes) -> None:
    assert after != TESTS
    assert kind(after) == "changed"


@pytest.mark.parametrize("after", [pytest.param(after, id=name) for name, after in FORMATTED.items()])
def test_another_layout_is_no_change(after: bytes) -> None:
    assert after != TESTS
    assert kind(after) == "formatted"


@pytest.mark.parametrize("after", [pytest.param(after, id=name) for name, after in ADDED.items()])
def test_a_fair_addition_is_no_change(after: bytes) -> None:
    assert kind(after) == "added"


def test_nothing_is_the_same() -> None:
    assert kind(TESTS) == "same"


def test_another_kind_of_file_changes_with_any_byte() -> None:
    assert kind(b"{ }", b"{}", "tests/data.json") == "changed"
    assert kind(b"{}", b"{}", "tests/data.json") == "same"
    assert kind_of(PATH, TESTS, None, USED) == "changed"


def test_a_fixture_is_no_addition_where_unknown_ones_are_in_use() -> None:
    added = after_imports("@pytest.fixture\ndef other():\n    return 1")
    open_names = used_names((TESTS,))  # client is nobody's here
    assert kind_of(PATH, TESTS, added, open_names) == "changed"
    assert kind_of(PATH, TESTS, after_imports("def helper():\n    return 1"), open_names) == "added"


@pytest.mark.parametrize(
    ("before", "added"),
    [
        (b"from cart import *\n", b"def total():\n    pass\n"),
        (b"def test_all():\n    for name in globals():\n        print(name)\n", b"def helper():\n    pass\n"),
        (b"def test_doc():\n    assert cart.__doc__ == 'x'\n", b"def helper():\n    pass\n"),
        (b"class TestA(Contract):\n    x = 1\n", b"    def test_contract(self):\n        pass\n"),
        (b"class TestA:\n    x = 1\n\nclass TestB(TestA):\n    y = 1\n", b""),
        (b"pytest = Fake()\nimport pytest\n", b"@pytest.fixture\ndef other():\n    pass\n"),
        (b"from . import pytest\n", b"@pytest.fixture\ndef other():\n    pass\n"),
        (b"try:\n    import pytest\nexcept ImportError:\n    pass\n", b"@pytest.fixture\ndef other():\n    pass\n"),
        (b"import fake as pytest\n", b"@pytest.mark.x\ndef test_new():\n    pass\n"),
    ],
)
def test_what_cannot_be_seen_through_takes_no_additions(before: bytes, added: bytes) -> None:
    after = before + added if added else before.replace(b"x = 1", b"x = 1\n    def test_new(self):\n        pass")
    ast.parse(after)
    assert kind(after, before) == "changed"


def test_a_test_may_come_before_the_guard_of_a_script() -> None:
    guard = b"\n\nif __name__ == '__main__':\n    pytest.main()\n"
    new = b"\n\ndef test_new():\n    pass\n"
    assert kind(TESTS + new + guard, TESTS + guard) == "added"


def test_marks_of_hypothesis_are_additions_where_it_is_loaded() -> None:
    before = b"from hypothesis import given\nfrom hypothesis import strategies as st\n"
    new = b"@given(some=st.lists(st.integers(0, 3)), key=st.none())\ndef test_new(some, key):\n    pass\n"
    assert kind(before + new, before) == "added"
    assert kind(before + new.replace(b"st.none()", b"st.register_type_strategy(int, 1)"), before) == "changed"
    assert kind(before + new.replace(b"st.none()", b"st.none().map(lambda x: x)"), before) == "changed"


@pytest.mark.parametrize(
    "source",
    [
        b"x = " + b"(" * 3_000 + b")" * 3_000,
        b"x = " + b"-" * 100_000 + b"1",
        b"x = a" + b".b" * 100_000,
        b"x = " + b"+".join([b"1"] * 100_000),
        b"if 1:\n pass\n" + b"elif 1:\n pass\n" * 20_000,
        b"x = [" + b"0," * 2_500_000 + b"]",
        b"x = " + b"a[" * 199 + b"]" * 199,
        b"# " + b"x" * SOURCE_MOST,
    ],
)
def test_a_huge_or_deep_source_ends_nothing(source: bytes) -> None:
    assert kind(source + b"\n", source) in ("changed", "formatted")
    assert kind(source + b"\nx = 1\n", source) == "changed"
    assert kind(source, source) == "same"


STATEMENTS = st.sampled_from(
    [
        "import os",
        "X = 1",
        "def helper():\n    return 1",
        "def test_a(x):\n    'doc'\n    assert x == 'a'",
        "class TestA:\n    def test_b(self):\n        assert 1",
        "@fixture\ndef some(x=1):\n    yield x",
        "with a as b:\n    pass",
        "'text'",
    ]
)
SOURCES = st.lists(STATEMENTS, max_size=6).map(lambda parts: "\n".join(parts) + "\n")


def said(source: str) -> list[str]:
    """The statements of a source without its docstring."""
    tree = ast.parse(source)
    return [ast.dump(one) for one in tree.body[ast.get_docstring(tree) is not None :]]


@given(SOURCES, SOURCES)
def test_what_is_less_than_changed_holds_all_that_was_there(before: str, after: str) -> None:
    found = kind(after.encode(), before.encode())
    if found == "changed":
        return
    old, new = said(before), said(after)
    left = iter(new)
    assert all(one in left for one in old)
    assert found == "added" or old == new


@given(SOURCES)
def test_written_anew_a_source_is_formatted_at_most(source: str) -> None:
    assert kind(ast.unparse(ast.parse(source)).encode(), source.encode()) in ("same", "formatted")


@given(st.integers(0, len(TESTS) - 1), st.sampled_from([b"", b" ", b"\n", b"0", b"#", b"'", b"\\", b"\f", b"\xff"]))
def test_one_byte_is_formatting_only_where_python_sees_the_same(at: int, byte: bytes) -> None:
    after = TESTS[:at] + byte + TESTS[at + 1 :]
    found = kind(after)
    assert found != "added"
    if found == "formatted":
        assert undocumented(after) == undocumented(TESTS)


def undocumented(source: bytes) -> str:
    """The syntax tree of a source without the docstrings, as text."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.dump(tree)


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_bytes_have_a_kind(before: bytes, after: bytes) -> None:
    assert kind(after, before) in KINDS
