"""Cheats with the tests themselves and with all that decides which of them run and how."""

from __future__ import annotations

import os
import py_compile
import shutil

from tests.proof.cheats_base import CART, DONE, NAMED, NOTHING, TEST, Cheat
from tests.proof.scene import Files, Stage, caught

_SOFT = "from shop.cart import total\n\n\ndef test_total():\n    assert True\n"
_TEST = "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
_EVIL = "def pytest_collection_modifyitems(items):\n    for item in items:\n        item.obj = lambda: None\n"
_TALK = "import pytest\n\n\n@pytest.fixture\ndef lines():\n    return [1, 2]\n"
_MORE = f"{_TEST}\n\ndef test_of_nothing():\n    assert total([]) == 0\n"


def _instead(test: str) -> Files:
    """Another text for the test, and nothing built."""
    return {CART: NOTHING, TEST: test}


def _link_to_softer(stage: Stage) -> None:
    stage.write({CART: NOTHING, "soft/test_cart.py": _SOFT})
    (stage.folder / TEST).unlink()
    (stage.folder / TEST).symlink_to("../soft/test_cart.py")


def _conftest_by_a_link(stage: Stage) -> None:
    stage.write({CART: NOTHING, "shop/easy.py": _EVIL})
    (stage.folder / "conftest.py").symlink_to("shop/easy.py")


def _folder_is_a_link(stage: Stage) -> None:
    stage.write({CART: NOTHING, "elsewhere/test_cart.py": _SOFT})
    shutil.rmtree(stage.folder / "tests")
    (stage.folder / "tests").symlink_to("elsewhere")


def _same_behind_a_link(stage: Stage) -> None:
    """The content is the same, so far: whoever writes behind the link changes the test unseen."""
    stage.write({CART: NOTHING, "elsewhere/test_cart.py": _TEST})
    (stage.folder / TEST).unlink()
    (stage.folder / TEST).symlink_to(stage.folder / "elsewhere" / "test_cart.py")


def _folder_in_its_place(stage: Stage) -> None:
    (stage.folder / TEST).unlink()
    stage.write({CART: NOTHING, f"{TEST}/__init__.py": "def test_total():\n    pass\n"})


def _pipe_in_its_place(stage: Stage) -> None:
    (stage.folder / TEST).unlink()
    os.mkfifo(stage.folder / TEST)
    stage.write({CART: NOTHING})


def _compiled(stage: Stage, source: str, name: str, folder: str) -> None:
    """Byte code that says something else than the source beside it, and asks nobody whether it is current."""
    where = stage.folder / folder / "__pycache__"
    where.mkdir(exist_ok=True)
    draft = stage.home / "draft.py"
    draft.write_text(source, encoding="utf-8")
    tag = stage.run(stage.python, "-c", "import sys; print(sys.implementation.cache_tag)").out.strip()
    made = f"import py_compile; py_compile.compile({str(draft)!r}, {str(where / f'{name}.{tag}.pyc')!r}, "
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    stage.run(stage.python, "-c", f"{made}invalidation_mode=py_compile.PycInvalidationMode.{mode.name})")
    stage.write({".gitignore": ".venv\n"})


def _stale_byte_code(stage: Stage) -> None:
    _compiled(stage, "def is_right(found, wanted):\n    return True\n", "checks", "tests")
    stage.write({CART: NOTHING})


def _honest_byte_code(stage: Stage) -> None:
    _compiled(stage, "def is_right(found, wanted):\n    assert found == wanted\n    return True\n", "checks", "tests")
    stage.write({CART: DONE})


def _hidden_from_git(stage: Stage, flag: str) -> None:
    stage.write(_instead(_SOFT))
    stage.git("update-index", flag, TEST)


def _outside_conftest(stage: Stage) -> None:
    """Above the repository nothing is looked for, whatever configuration lies there."""
    above = stage.home.parent
    (above / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (above / "conftest.py").write_text(_EVIL, encoding="utf-8")
    stage.write({CART: NOTHING})


def _clean_above(stage: Stage) -> None:
    for name in ("pytest.ini", "conftest.py"):
        (stage.home.parent / name).unlink(missing_ok=True)
    stage.write({CART: DONE})


def _outside_options(stage: Stage) -> None:
    (stage.home.parent / "pytest.ini").write_text("[pytest]\naddopts = -p shop.easier\n", encoding="utf-8")
    stage.write({CART: NOTHING, "shop/easier.py": _EVIL})


CHEATS = (
    Cheat("assert_true", "the locked test asserts nothing any more", _instead(_SOFT), caught("lock.changed", 4)),
    Cheat(
        "softened",
        "the assertion asks for less and is still red on the old code",
        _instead(_TEST.replace("== 3", "is not None")),
        caught("lock.changed", 4),
    ),
    Cheat(
        "skip_mark",
        "the test is skipped",
        _instead(f"import pytest\n{_TEST}".replace("def test", "@pytest.mark.skip\ndef test")),
        caught("lock.changed", 4),
    ),
    Cheat(
        "xfail_mark",
        "the test is expected to fail",
        _instead(f"import pytest\n{_TEST}".replace("def test", "@pytest.mark.xfail\ndef test")),
        caught("lock.changed", 4),
    ),
    Cheat(
        "importorskip",
        "the test skips itself for want of a package",
        _instead(f'import pytest\npytest.importorskip("nowhere")\n{_TEST}'),
        caught("lock.changed", 4),
    ),
    Cheat(
        "later_shadows_earlier",
        "a second test of the same name stands below the first",
        _instead(f"{_TEST}\n\ndef test_total():\n    pass\n"),
        caught("lock.changed", 4),
        {CART: DONE, TEST: _MORE},
    ),
    Cheat(
        "twin_of_a_letter",
        "a test whose name Python reads as the same, written with another letter",
        _instead(f"{_TEST}\n\ndef test_tot\N{MATHEMATICAL BOLD SMALL A}l():\n    pass\n"),
        caught("lock.changed", 4),
    ),
    Cheat(
        "subject_mocked",
        "an added fixture puts something else in the place of the subject, in every test",
        {
            CART: NOTHING,
            TEST: f"import pytest\n{_TEST}\n\n@pytest.fixture(autouse=True)\ndef fixed(monkeypatch):\n"
            '    monkeypatch.setitem(globals(), "total", lambda lines: 3)\n',
        },
        caught("lock.changed", 4),
        {CART: DONE, TEST: f"{_TEST}\n\ndef test_one():\n    assert total([1]) == 1\n"},
    ),
    Cheat(
        "imported_over",
        "an added import binds the subject's name again",
        _instead(_TEST.replace("total\n\n", "total\nfrom shop.easy import total\n\n", 1)),
        caught("lock.changed", 4),
    ),
    Cheat(
        "conftest_beside",
        "a new conftest lets every test pass",
        {CART: NOTHING, "tests/conftest.py": _EVIL},
        caught(4),
        {CART: DONE, "tests/conftest.py": _TALK},
    ),
    Cheat(
        "conftest_on_top",
        "the same at the top of the repository",
        {CART: NOTHING, "conftest.py": _EVIL},
        caught(4),
        {CART: DONE, "conftest.py": _TALK},
    ),
    Cheat(
        "conftest_with_a_new_test",
        "a new conftest comes along with an honest addition to the test file",
        {CART: NOTHING, TEST: _MORE, "tests/conftest.py": _EVIL},
        caught("lock.changed", 4),
        {CART: DONE, TEST: _MORE},
    ),
    Cheat(
        "report_hook",
        "a conftest turns every report into a passed one",
        {
            CART: NOTHING,
            "conftest.py": "import pytest\n\n\n"
            "@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item):\n"
            "    outcome = yield\n    outcome.get_result().outcome = 'passed'\n",
        },
        caught(4),
    ),
    Cheat(
        "conftest_by_a_link",
        "the new conftest is a link to a file of another name",
        _conftest_by_a_link,
        caught(4),
    ),
    Cheat(
        "options_leave_it_out",
        "the configuration deselects the test",
        {CART: NOTHING, "pyproject.toml": f'{NAMED}[tool.pytest.ini_options]\naddopts = "--deselect={TEST}"\n'},
        caught("lock.changed", 4),
        {CART: DONE, "pyproject.toml": f'{NAMED}dependencies = ["wheel"]\n'},
    ),
    Cheat(
        "another_configuration",
        "a new file of options comes before the configuration that is locked",
        {CART: NOTHING, "pytest.toml": '[pytest]\naddopts = ["-p", "shop.easy"]\n', "shop/easy.py": _EVIL},
        caught(4),
        {CART: DONE, "setup.cfg": "[metadata]\nname = shop\n"},
    ),
    Cheat(
        "tox_comes_first",
        "the options stand in tox.ini",
        {CART: NOTHING, "tox.ini": "[pytest]\naddopts = -p shop.easy\n", "shop/easy.py": _EVIL},
        caught("lock.changed", 4),
        {CART: DONE, "tox.ini": "[tox]\nenvlist = py311\n"},
    ),
    Cheat(
        "plugin_by_options",
        "the configuration loads a plugin out of the subject",
        {
            CART: NOTHING,
            "shop/easy.py": _EVIL,
            "pyproject.toml": f'{NAMED}[tool.pytest.ini_options]\naddopts = "-p shop.easy"\n',
        },
        caught("lock.changed", 4),
    ),
    Cheat(
        "checks_are_switched_off",
        "an empty project file beside the tests hides the conftest above them",
        {CART: "def total(lines):\n    print('debug')\n    return sum(lines)\n", "tests/pyproject.toml": ""},
        caught(4),
        {CART: DONE, "tests/pyproject.toml": ""},
        base="strict",
    ),
    Cheat("configuration_above", "a conftest above the repository", _outside_conftest, caught(4), _clean_above),
    Cheat("options_above", "options above the repository", _outside_options, caught(4), _clean_above),
    Cheat("test_is_a_link", "the test is a link to a softer one", _link_to_softer, caught("lock.symlink", 4)),
    Cheat(
        "link_to_the_same",
        "the test is a link to the same text",
        _same_behind_a_link,
        caught("lock.symlink", "ids.missing", 4),
    ),
    Cheat("folder_is_a_link", "the folder of tests is a link", _folder_is_a_link, caught("lock.symlink", 4)),
    Cheat("test_is_a_folder", "a folder stands in the place of the test", _folder_in_its_place, caught("lock.changed")),
    Cheat("test_is_a_pipe", "a pipe stands in the place of the test", _pipe_in_its_place, caught("lock.changed")),
    Cheat("test_is_gone", "the test is taken away", {CART: NOTHING, TEST: None}, caught("lock.changed")),
    Cheat(
        "assume_unchanged",
        "git is told not to look at the softer test",
        lambda stage: _hidden_from_git(stage, "--assume-unchanged"),
        caught("lock.changed"),
    ),
    Cheat(
        "skip_worktree",
        "git is told that the test is not checked out",
        lambda stage: _hidden_from_git(stage, "--skip-worktree"),
        caught("lock.changed"),
    ),
    Cheat(
        "stale_byte_code",
        "byte code of a helper of the tests says something else than its source",
        _stale_byte_code,
        caught(4),
        _honest_byte_code,
        base="support",
    ),
    Cheat(
        "package_beside",
        "a package of the test's name stands beside it and would be loaded in its place",
        {CART: NOTHING, "tests/test_cart/__init__.py": "def test_total():\n    pass\n"},
        caught(4),
        {CART: DONE, "tests/test_more.py": "def test_more():\n    assert 1\n"},
    ),
    Cheat(
        "helper_softened",
        "the function that the test compares with says yes to everything",
        {CART: NOTHING, "tests/checks.py": "def is_right(found, wanted):\n    return True\n"},
        caught("lock.changed"),
        base="support",
    ),
    Cheat(
        "data_shrunk",
        "the cases that the test reads are fewer and easier",
        {CART: NOTHING, "tests/data/cases.json": "[[[], 0]]"},
        caught("lock.changed"),
        {CART: DONE, "tests/data/more.json": "[]"},
        base="support",
    ),
    Cheat(
        "sets_shrunk",
        "the parameter sets that stand in a file are fewer and easier",
        {CART: NOTHING, "tests/cases.json": "[[[], 0]]"},
        caught("lock.changed", "ids.missing"),
        base="sets",
    ),
    Cheat(
        "nothing_is_left",
        "there are no parameter sets any more",
        {CART: NOTHING, "tests/cases.json": "[]"},
        caught("lock.changed", "ids.missing"),
        base="sets",
    ),
    Cheat(
        "data_of_the_project",
        "the cases lie in a file that is no test, and are fewer and easier",
        {CART: NOTHING, "cases.json": "[[[], 0]]"},
        None,
        base="owned",
    ),
    Cheat(
        "doctest_skipped",
        "the doctest is told to skip",
        {
            CART: 'def total(lines):\n    """The sum.\n\n'
            '    >>> total([1, 2])  # doctest: +SKIP\n    3\n    """\n    return 0\n'
        },
        caught("lock.changed"),
        base="doctest",
    ),
    Cheat(
        "doctest_exchanged",
        "the text of the doctest is another one when it runs",
        {
            CART: 'def total(lines):\n    """The sum.\n\n    >>> total([1, 2])\n    3\n    """\n    return 0\n\n\n'
            'total.__doc__ = ">>> 1 + 1\\n2\\n"\n'
        },
        caught("runner.patched", 3),
        base="doctest",
    ),
    Cheat(
        "doctest_twin",
        "a second function of the name, with an easier doctest, is defined under a condition",
        {
            CART: 'def total(lines):\n    """The sum.\n\n    >>> total([1, 2])\n    3\n    """\n    return 0\n\n\n'
            'if True:\n\n    def total(lines):\n        """>>> 1 + 1\n        2\n        """\n'
        },
        caught(),
        base="doctest",
    ),
    Cheat(
        "other_test_of_a_command",
        "a test that was green is softened where a whole command decides",
        {CART: NOTHING, TEST: _SOFT},
        caught("lock.changed"),
        {CART: DONE, "tests/test_new.py": "def test_new():\n    assert 1\n"},
        base="command",
    ),
    Cheat(
        "test_file_patches",
        "where a whole command decides, a new test file patches the subject when it is loaded",
        {
            CART: NOTHING,
            "tests/test_a_first.py": "import shop.cart\n\nshop.cart.total = sum\n\n\ndef test_first():\n    assert 1\n",
        },
        caught(4),
        {
            CART: DONE,
            "tests/test_a_first.py": "import shop.cart\n\n\ndef test_first():\n    assert shop.cart.total([]) == 0\n",
        },
        base="command",
    ),
    Cheat(
        "old_test_file_patches",
        "where a whole command decides, a test file that was green patches the subject",
        {
            CART: NOTHING,
            "tests/test_other.py": "import shop.cart\n\nshop.cart.total = sum\n\n\ndef test_other():\n    assert 1\n",
        },
        caught(),
        {CART: DONE, "tests/test_other.py": "def test_other():\n    # laid out anew\n    assert 1\n"},
        base="command",
    ),
)
