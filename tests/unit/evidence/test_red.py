"""Holds which reds count: those that say that something is still to come, in real runs of pytest and unittest, and none
that would stay red whatever is implemented."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.evidence.checks import Step, execute
from tallystick.evidence.packages import project_packages
from tallystick.evidence.project import project_tree
from tallystick.evidence.red import BAD, Bad, Good, RedVerdict, classify, judge_red
from tallystick.evidence.runners.report import Failure, Test
from tallystick.evidence.source_ids import pytest_ids, unittest_ids
from tallystick.system.files import OsFiles
from tallystick.system.process import Limits
from tests.unit.evidence.samples import VARIABLES, project

CART = "def total(lines):\n    return 0\n\n\ndef later():\n    raise NotImplementedError\n\n\nclass Till:\n    pass\n"
TESTS = """
    import asyncio, sys, unittest
    import pytest
    import cart

    @pytest.fixture
    def made(): return cart.make()
    @pytest.fixture
    def opened(): return cart.Till().opened
    @pytest.fixture
    def not_yet(): return cart.later()
    @pytest.fixture
    def claims(): assert cart.total([1]) == 1
    @pytest.fixture
    def crooked(): return {}["x"]
    @pytest.fixture
    def nothing(): return None.opened

    def test_assertion(): assert cart.total([1]) == 1
    def test_attribute(): cart.refund(1)
    def test_import(): from cart import refund
    def test_not_implemented(): cart.later()
    def test_key(): {}["x"]
    def test_exit(): sys.exit(2)
    def test_raises():
        with pytest.raises(ValueError):
            cart.total([])
    def test_fail(): pytest.fail("not there")
    def test_made(made): pass
    def test_opened(opened): pass
    def test_not_yet(not_yet): pass
    def test_claims(claims): pass
    @pytest.mark.parametrize("n", [1, 2])
    def test_sets(n): assert cart.total([n]) == n
    class TestTill:
        def test_it(self): assert cart.Till().opened
    class CaseTest(unittest.TestCase):
        def test_it(self): self.assertEqual(cart.total([1]), 1)
    class AsyncTest(unittest.IsolatedAsyncioTestCase):
        async def test_it(self): self.assertEqual(cart.total([1]), 1)

    def test_green(): pass
    def test_name(): total([1])
    def test_no_fixture(nowhere): pass
    def test_crooked(crooked): pass
    def test_nothing(nothing): pass
    def test_third_party(): import not_of_this_world
    def test_skipped(): pytest.skip("later")
    @pytest.mark.xfail
    def test_expected(): assert 0
    @pytest.mark.xfail(strict=True)
    def test_better(): pass
    async def test_async(): assert 0
"""
GOOD = [
    "assertion", "attribute", "import", "not_implemented", "key", "exit", "raises", "fail", "made", "opened",
    "not_yet", "claims", "sets[1]", "sets[*]",
]  # fmt: skip
REFUSED = {
    "green": "red.green", "name": "red.name", "no_fixture": "red.fixture", "crooked": "red.setup",
    "nothing": "red.setup", "third_party": "red.module", "skipped": "red.skip", "expected": "red.skip",
    "better": "red.unclear", "async": "red.unentered", "nowhere": "red.absent",
}  # fmt: skip
FILES = {
    # a test file that cannot be collected, what it holds, an id in it, and what its red is
    "import_name": ("from cart import refund\ndef test_x(): pass\n", "test_x", ""),
    "import_part": ("import cart.refunds\nclass TestX:\n    async def test_x(self): pass\n", "TestX::test_x", ""),
    "declared": ("import shop\ndef test_x(): pass\n", "test_x", ""),
    "attribute": ("import cart\nR = cart.RATE\ndef test_x(): pass\n", "test_x", ""),
    "other_id": ("import cart.refunds\ndef test_x(): pass\n", "test_y", "red.absent"),
    "third_party": ("import not_of_this_world\ndef test_x(): pass\n", "test_x", "red.module"),
    "third_name": ("from json import not_there\ndef test_x(): pass\n", "test_x", "red.module"),
    "own_support": ("import tests.nowhere\ndef test_x(): pass\n", "test_x", "red.module"),
    "syntax": ("def test_x(: pass\n", "test_x", "red.syntax"),
    "name": ("nope\ndef test_x(): pass\n", "test_x", "red.name"),
    "skip": ("import pytest\npytest.importorskip('not_of_this_world')\ndef test_x(): pass\n", "test_x", "red.skip"),
    "value": ("int('x')\ndef test_x(): pass\n", "test_x", "red.setup"),
    "through": ("import cart_user\ndef test_x(): pass\n", "test_x", "red.module"),
}
SHOP = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "cart.py": CART,
    "cart_user.py": "import not_of_this_world\n",
    "tests/__init__.py": "",
    "tests/test_cart.py": TESTS,
    **{f"tests/test_{name}.py": text for name, (text, _, _) in FILES.items()},
    "made/conftest.py": "import cart.made\n",
    "made/test_made.py": "def test_x(): pass\n",
    "src/price.py": '"""Prices.\n\n>>> 1 + 1\n3\n"""\ndef f():\n    """\n    >>> nope\n    """\n',
    "tests/test_case.py": """
        import unittest
        import cart
        class CartTest(unittest.TestCase):
            def test_red(self): self.assertEqual(cart.total([1]), 1)
            def test_lacks(self): cart.refund()
            def test_green(self): pass
            def test_name(self): total([1])
            @unittest.skip("later")
            def test_skipped(self): pass
            @unittest.expectedFailure
            def test_expected(self): self.fail()
        class MadeTest(unittest.TestCase):
            @classmethod
            def setUpClass(cls): cart.make()
            def test_x(self): pass
        class CrookedTest(unittest.TestCase):
            @classmethod
            def setUpClass(cls): {}["x"]
            def test_x(self): pass
    """,
}
CASES = {
    "test_case.CartTest.test_red": "", "test_case.CartTest.test_lacks": "", "test_case.MadeTest.test_x": "",
    "test_import_part.TestX.test_x": "red.absent",  # no test case: unittest would never run it
    "test_case.CartTest.test_green": "red.green", "test_case.CartTest.test_name": "red.name",
    "test_case.CartTest.test_skipped": "red.skip", "test_case.CartTest.test_expected": "red.skip",
    "test_case.CrookedTest.test_x": "red.setup", "test_case.CartTest.test_none": "red.absent",
    "test_syntax.X.test_x": "red.syntax", "test_third_party.X.test_x": "red.module",
}  # fmt: skip


def red(root: Path, runner: str, ids: list[str], limits: Limits | None = None) -> RedVerdict:
    """What each of `ids` is in a run of ours in the project at `root`."""
    place = project(root, {})
    step = Step(runner, (), tuple(ids))
    result = execute(step, place, VARIABLES, *(() if limits is None else (limits,)))
    tree = project_tree(OsFiles(), str(root))

    def listed(name: str) -> tuple[str, ...] | None:
        path = name if runner == "pytest" else "/".join(name.split(".")[:2]) + ".py"
        source = tree.read(path) or b""
        return pytest_ids(path, source) if runner == "pytest" else unittest_ids(path[:-3].replace("/", "."), source)

    return judge_red(result.ran, ids, project_packages(tree), listed)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("shop")
    project(root, SHOP)
    return root


@pytest.fixture(scope="module")
def by_pytest(shop: Path) -> RedVerdict:
    ids = [f"tests/test_cart.py::test_{one}" for one in (*GOOD, *REFUSED)]
    ids += [f"tests/test_cart.py::{one}::test_it" for one in ("TestTill", "CaseTest", "AsyncTest")]
    return red(shop, "pytest", ids)


@pytest.mark.parametrize("name", [*(f"test_{one}" for one in GOOD[:-1]), "TestTill::test_it", "CaseTest::test_it"])
def test_a_red_that_says_what_is_to_come_counts(by_pytest: RedVerdict, name: str) -> None:
    assert isinstance(by_pytest.ids[f"tests/test_cart.py::{name}"], Good)


@pytest.mark.parametrize(("name", "code"), REFUSED.items())
def test_a_red_that_no_implementation_changes_is_refused(by_pytest: RedVerdict, name: str, code: str) -> None:
    said = by_pytest.ids[f"tests/test_cart.py::test_{name}"]
    assert isinstance(said, Bad)
    # before 8.4 pytest leaves an async test out instead of failing it
    assert said.code == code or (name, said.code) == ("async", "red.skip")


@pytest.fixture(scope="module")
def not_collected(shop: Path) -> RedVerdict:
    return red(shop, "pytest", [f"tests/test_{name}.py::{test_id}" for name, (_, test_id, _) in FILES.items()])


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_collected_is_red_by_its_exception(not_collected: RedVerdict, name: str) -> None:
    _, test_id, code = FILES[name]
    said = not_collected.ids[f"tests/test_{name}.py::{test_id}"]
    assert (said.code if isinstance(said, Bad) else "") == code


def test_all_tests_of_a_file_are_those_of_its_syntax_tree(shop: Path) -> None:
    assert list(red(shop, "pytest", ["tests/test_import_part.py::*"]).ids) == [
        "tests/test_import_part.py::TestX::test_x"
    ]


def test_a_conftest_that_needs_what_is_to_come_is_red_for_the_tests_below_it(shop: Path) -> None:
    said = red(shop, "pytest", ["made/test_made.py::test_x"])
    assert said.counts, said.bad


def test_a_doctest_is_red_by_what_it_shows_and_not_by_a_name_that_it_lacks(shop: Path) -> None:
    place = project(shop, {})
    argv = (".venv/bin/pytest", "--doctest-modules", "src/price.py")
    tests = execute(Step("pytest", argv, ()), place, VARIABLES).ran.report
    assert tests is not None
    said = {test_id: classify(test, frozenset()) for test_id, test in tests.tests.items()}
    assert isinstance(said["src/price.py::price"], Good)
    assert said["src/price.py::price.f"] == Bad("red.name", f"{BAD['red.name']}: nope")


@pytest.fixture(scope="module")
def by_unittest(shop: Path) -> RedVerdict:
    return red(shop, "unittest", [f"tests.{one}" for one in CASES])


@pytest.mark.parametrize(("name", "code"), CASES.items())
def test_unittest_is_judged_by_the_same_rules(by_unittest: RedVerdict, name: str, code: str) -> None:
    said = by_unittest.ids[f"tests.{name}"]
    assert (said.code if isinstance(said, Bad) else "") == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import os; os._exit(0)\ndef test_x(): pass\n", "red.absent"),
        ("import os\ndef test_x(): os._exit(1)\n", "red.crash"),
        ("import os, signal\ndef test_x(): os.kill(os.getpid(), signal.SIGKILL)\n", "red.crash"),
        ("x = 1\n", "red.absent"),
    ],
)
def test_a_run_that_says_nothing_is_no_red(tmp_path: Path, text: str, code: str) -> None:
    project(tmp_path, {"test_a.py": text})
    said = red(tmp_path, "pytest", ["test_a.py::test_x"])
    assert {test_id: bad.code for test_id, bad in said.bad.items()} == {"test_a.py::test_x": code}


def test_nothing_asked_for_is_no_red() -> None:
    assert not RedVerdict({}).counts


# The rules alone

KINDS = st.lists(
    st.sampled_from(
        ["AssertionError", "NameError", "AttributeError", "ImportError", "SyntaxError", "KeyError", "MemoryError"]
    ),
    max_size=2,
)
NAMES = st.sampled_from(["", "cart", "cart.prices", "cartography", "json", "tests.cart", "cart.tests.x", "test_cart"])
FAILURES = st.builds(
    Failure,
    kinds=KINDS.map(lambda kinds: (*kinds, "Exception", "BaseException")),
    missing=NAMES,
    owner=NAMES,
    raised=NAMES,
    in_test=st.booleans(),
    entered=st.booleans(),
)
REPORTED = st.builds(
    Test,
    id=st.just("t"),
    outcome=st.sampled_from(["passed", "failed", "error", "skipped", "unfinished"]),
    phase=st.sampled_from(["collect", "setup", "call", "teardown"]),
    says=st.text(max_size=5),
    failure=st.none() | FAILURES,
)


@given(REPORTED)
def test_every_refusal_has_a_code_and_only_failures_count(test: Test) -> None:
    said = classify(test, frozenset({"cart"}))
    if isinstance(said, Bad):
        assert said.code in BAD
    else:
        assert test.outcome in ("failed", "error")
        assert test.failure is not None


@given(REPORTED)
def test_outside_its_call_a_test_is_red_only_by_a_claim_or_by_what_the_project_lacks(test: Test) -> None:
    said = classify(test, frozenset({"cart"}))
    if isinstance(said, Good) and test.phase != "call":
        assert test.failure is not None
        owners = {test.failure.owner, test.failure.raised}
        assert "AssertionError" in test.failure.kinds or owners & {"cart", "cart.prices"}
