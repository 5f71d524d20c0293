"""Holds that the ids read from a test file's syntax tree are those that the runner itself collects."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.evidence.checks import Step, execute
from tallystick.evidence.selectors import covers
from tallystick.evidence.source_ids import Patterns, parametrised_fixtures, pytest_ids, unittest_ids
from tests.unit.evidence.samples import VARIABLES, project

TEXT = """
    import asyncio, sys, unittest
    import pytest
    from pytest import mark

    def test_plain(): pass
    async def test_async(): pass
    def helper(): pass
    class TestClass:
        def test_method(self): pass
        def helper(self): pass
        class TestInner:
            @mark.parametrize("x", [1, 2])
            def test_inner(self, x): pass
    class TestMore(TestClass):
        def test_more(self): pass
    class TestWithInit:
        def __init__(self): pass
        def test_x(self): pass
    class TestOff:
        __test__ = False
        def test_x(self): pass
    class Other:
        def test_x(self): pass
    @pytest.mark.parametrize("x", [1])
    class TestSets:
        def test_x(self, x): pass
    class TestMarked:
        pytestmark = [pytest.mark.parametrize("x", [1])]
        def test_x(self, x): pass
    @pytest.mark.parametrize("x", [1, "a"])
    @pytest.mark.parametrize("y", [1])
    def test_sets(x, y): pass
    @pytest.fixture(params=[1, 2])
    def sized(request): return request.param
    @pytest.fixture
    def through(sized): return sized
    def test_fixture(through): pass
    @pytest.mark.usefixtures("sized")
    def test_used(): pass
    if sys.version_info > (3,):
        def test_under_if(): pass
    else:
        x = 1
    try:
        import json
    except ImportError:
        pass
    else:
        def test_under_try(): pass
    class Base(unittest.TestCase):
        def test_base(self): pass
    class DerivedCase(Base):
        async def test_async(self): pass
        def testCamel(self): pass
        def check(self): pass
"""


def test_they_are_what_pytest_collects(tmp_path: Path) -> None:
    place = project(tmp_path, {"tests/test_a.py": TEXT})
    report = execute(Step("pytest", (".venv/bin/pytest", "-Wignore", "tests"), ()), place, VARIABLES).ran.report
    assert report is not None
    listed = pytest_ids("tests/test_a.py", dedent(TEXT).encode())
    assert listed is not None
    assert [one for one in report.tests if not any(covers(wanted, one) for wanted in listed)] == []
    assert [wanted for wanted in listed if not any(covers(wanted, one) for one in report.tests)] == []


def test_they_are_what_unittest_collects(tmp_path: Path) -> None:
    place = project(tmp_path, {"test_a.py": TEXT})
    argv = (".venv/bin/python", "-m", "unittest", "test_a")
    report = execute(Step("unittest", argv, ()), place, VARIABLES).ran.report
    assert report is not None
    listed = unittest_ids("test_a", dedent(TEXT).encode())
    assert listed is not None
    assert sorted(listed) == sorted(report.tests)


def test_parameter_sets_of_other_files_and_other_names_are_told() -> None:
    conftest = b"import pytest\n@pytest.fixture(params=[1], name='size', autouse=False)\ndef _s(request): pass\n"
    assert parametrised_fixtures(conftest) == {"size"}
    assert parametrised_fixtures(conftest.replace(b"False", b"True")) == {"size", "*"}
    plain = b"import pytest\n@pytest.fixture(params=[1])\ndef size(request): pass\n"
    source = b"def test_x(size): pass\ndef should_x(): pass\nclass Feature:\n    def test_y(self): pass\n"
    assert pytest_ids("a.py", source, parametrised_fixtures(plain)) == ("a.py::test_x[*]",)
    patterns = Patterns(("should",), ("Fe?ture",))
    assert pytest_ids("a.py", source.replace(b"test_y", b"should_y"), (), patterns) == (
        "a.py::should_x",
        "a.py::Feature::should_y",
    )


@pytest.mark.parametrize("source", [b"def test_x(: pass", b"\0", b"\xff\xfe", b"(" * 5000])
def test_what_is_no_python_has_no_ids_to_tell(source: bytes) -> None:
    assert (pytest_ids("a.py", source), unittest_ids("a", source)) == (None, None)


def test_classes_that_inherit_in_a_circle_end() -> None:
    assert pytest_ids("a.py", b"class TestA(TestB): pass\nclass TestB(TestA):\n    def test_x(self): pass\n") == (
        "a.py::TestA::test_x",
        "a.py::TestB::test_x",
    )


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_read_or_told(source: bytes) -> None:
    listed = pytest_ids("a.py", source)
    assert listed is None or all(one.startswith("a.py::") for one in listed)
