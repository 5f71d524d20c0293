"""Honest tasks in which something moves between red and proof: formatted tests, fixtures, names, history, places."""

from __future__ import annotations

from collections.abc import Callable

from tests.proof.environments import PLAIN, PLUGINS
from tests.proof.scene import FEATURE, Criterion, Files, Scene, Stage, Step, asks

ABSENT = "def total(lines):\n    raise NotImplementedError\n"
PRESENT = "def total(lines):\n    return sum(lines)\n"
TEST = "from cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
TESTS: Files = {"tests/test_cart.py": TEST}
START: Files = {"cart.py": ABSENT, "README.md": "# Cart\n"}
WORK: Files = {"cart.py": PRESENT}
ID = "tests/test_cart.py::test_total"
CONFTEST = "import pytest\n\n\n@pytest.fixture\ndef lines():\n    return [1, 2]\n"
WITH_LINES = "from cart import total\n\n\ndef test_total(lines):\n    assert total(lines) == 3\n"
EMPTY_TEST = "\n\ndef test_empty():\n    assert total([]) == 0\n"
REASON = ("--reason", "the file was renamed with the module")


def later(
    name: str,
    says: str,
    *after: Step,
    criteria: tuple[Criterion, ...] = (asks(ID),),
    start: Files = START,
    tests: Step = TESTS,
    work: Step = WORK,
    python: str = PLAIN,
) -> Scene:
    """The plain task of this room, with what happens after the work."""
    return Scene(name, says, criteria, start, tests, work, after=after, python=python)


def renamed(stage: Stage) -> None:
    """The test file gets another name: one question, whose answer is the one command that a person gives."""
    stage.git("mv", "tests/test_cart.py", "tests/test_total.py")
    asked = stage.verify("refused-at-first")
    assert "tests/test_total.py::test_total" in asked.out, asked
    new = ("--tests", "tests/test_total.py::test_total")
    stage.person("accepted", "ledger", "accept", FEATURE, "AC1", *new, *REASON)


def renamed_function(stage: Stage) -> None:
    """The test gets another name; the same question."""
    stage.write({"tests/test_cart.py": TEST.replace("test_total", "test_sum")})
    asked = stage.verify("refused-at-first")
    assert "tests/test_cart.py::test_sum" in asked.out, asked
    stage.person("accepted", "ledger", "accept", FEATURE, "AC1", "--tests", "tests/test_cart.py::test_sum", *REASON)


def another_criterion(stage: Stage) -> None:
    """A criterion that is added when the first one is proven, with a conftest that was not there."""
    stage.verify("verify-first")
    stage.commit("the work")
    text = "- [ ] AC2 an empty cart costs nothing\n      tests: tests/test_empty.py::test_empty\n"
    stage.tally("added", "ledger", "add", FEATURE, "-", given=text)
    stage.write(
        {
            "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef empty():\n    return []\n",
            "tests/test_empty.py": "from cart import first\n\n\n"
            "def test_empty(empty):\n    assert first(empty) is None\n",
        }
    )
    stage.red("red-later", "AC2")
    stage.write({"cart.py": PRESENT + "\n\ndef first(lines):\n    return lines[0] if lines else None\n"})


def untidy(stage: Stage) -> None:
    """Staged, unstaged, untracked and deleted files of every kind, none of them the task's."""
    stage.write(
        {"README.md": "# The cart\n", "staged.txt": "one\n", "notes/new file.txt": "x\n", "big.bin": b"\0" * 9999}
    )
    stage.git("add", "staged.txt")
    stage.write({"staged.txt": "two\n", "old.txt": None})
    (stage.folder / "link").symlink_to("notes")
    (stage.folder / "nowhere").symlink_to("not/there")


def beside(stage: Stage) -> None:
    """A linked work tree on a branch of its own, in which the work is done."""
    folder = stage.home / "beside"
    stage.git("worktree", "add", "--quiet", "-b", "implementer", str(folder))
    stage.move(folder)
    stage.write({"cart.py": PRESENT})


def committed(stage: Stage) -> None:
    """Everything committed."""
    stage.verify("verify-first")
    stage.commit("the work")


def squashed(stage: Stage) -> None:
    """All commits since the start become one, and the old ones are gone."""
    committed(stage)
    start = stage.git("rev-list", "--max-parents=0", "HEAD").strip()
    stage.git("reset", "--quiet", "--soft", start)
    stage.commit("the whole task")
    stage.git("reflog", "expire", "--expire=now", "--all")
    stage.git("gc", "--quiet", "--prune=now")


def rebased(stage: Stage) -> None:
    """The branch is put on top of what others did meanwhile."""
    committed(stage)
    start = stage.git("rev-list", "--max-parents=0", "HEAD").strip()
    stage.git("checkout", "--quiet", "-b", "theirs", start)
    stage.write({"docs/other.txt": "of others\n", "other.py": "x = 1\n"})
    stage.commit("theirs")
    stage.git("checkout", "--quiet", "main")
    stage.git("rebase", "--quiet", "theirs")


def taken_back(stage: Stage) -> None:
    """The tests get one more, it is proven, and they become again what they were when they were red."""
    stage.write({"tests/test_cart.py": TEST + EMPTY_TEST})
    stage.verify("verify-first")
    stage.write({"tests/test_cart.py": TEST})


def detached(stage: Stage) -> None:
    """The same commit, on no branch."""
    committed(stage)
    stage.git("checkout", "--quiet", "--detach")


def cloned(*options: str) -> Callable[[Stage], None]:
    """Somebody else's clone, in which nothing has been run before."""

    def step(stage: Stage) -> None:
        folder = stage.outside / "elsewhere" / "work"
        folder.parent.mkdir(exist_ok=True)
        stage.git("clone", "--quiet", *options, f"file://{stage.folder}", str(folder))
        stage.move(folder, elsewhere=True)

    return step


def regressed(stage: Stage) -> None:
    """It is proven, then it breaks, then it is mended."""
    stage.verify("verify-first")
    stage.write({"cart.py": "def total(lines):\n    return 0\n"})
    stage.verify("refused-while-broken")
    stage.write({"cart.py": "def total(lines):\n    return sum(lines, 0)\n"})


SETTINGS = '[project]\nname = "cart"\nversion = "1"\n{}\n[tool.pytest.ini_options]\n{}addopts = "-q"\n'
ON_PATH = 'pythonpath = ["."]\n'

SCENES = (
    later(
        "formatted-tests",
        "a formatter ran over the tests after red",
        {
            "tests/test_cart.py": "from cart import (\n    total,\n)\n\n\ndef test_total():\n    # the sum\n"
            "    assert total(\n        [1, 2],\n    ) == 3\n"
        },
    ),
    later(
        "formatted-quotes",
        "a formatter changed quotes and line lengths in tests and conftest",
        {"tests/conftest.py": CONFTEST.replace("[1, 2]", '[\n        "1",\n        "2",\n    ]')},
        tests={
            "tests/conftest.py": CONFTEST.replace("[1, 2]", "['1', '2']"),
            "tests/test_cart.py": WITH_LINES.replace("assert total(lines)", "assert total(map(int, lines))"),
        },
    ),
    later(
        "added-fixture",
        "the implementer adds a fixture to the conftest, for a test of their own",
        {
            "tests/conftest.py": CONFTEST + "\n\n@pytest.fixture\ndef none():\n    return []\n",
            "tests/test_none.py": "from cart import total\n\n\ndef test_none(none):\n    assert total(none) == 0\n",
        },
        tests={"tests/conftest.py": CONFTEST, "tests/test_cart.py": WITH_LINES},
    ),
    later(
        "added-test",
        "the implementer adds a test to the file of the required one",
        {"tests/test_cart.py": TEST + EMPTY_TEST},
    ),
    later("added-and-taken-back", "the same, and it is taken back after the proof", taken_back),
    later(
        "added-test-file", "the implementer adds a test file of their own", {"tests/test_empty.py": TEST + EMPTY_TEST}
    ),
    later("renamed-test-file", "the test file is renamed: one question, one command", renamed),
    later("renamed-test", "the test itself is renamed: one question, one command", renamed_function),
    later("another-criterion", "a criterion is added later, with a conftest that was not there", another_criterion),
    later(
        "settings-around",
        "a dependency and another tool's table come into the file of the runner's settings",
        {"pyproject.toml": SETTINGS.format('dependencies = ["six"]\n\n[tool.black]\nline-length = 100\n', "# quiet\n")},
        start={"cart.py": ABSENT, "pyproject.toml": SETTINGS.format("", "")},
    ),
    later(
        "untidy-tree",
        "a work tree full of other changes",
        untidy,
        start={"cart.py": ABSENT, "README.md": "# Cart\n", "old.txt": "old\n"},
    ),
    later("linked-worktree", "the work is done in a linked work tree", work=beside),
    later(
        "committed",
        "after the proof it is committed, and the page of the project changes",
        committed,
        {"README.md": "# The cart\n"},
    ),
    later("squashed", "all commits become one and the old ones are gone", squashed),
    later("squashed-elsewhere", "the same, and somebody else's clone makes the red again", squashed, cloned()),
    later("rebased", "the branch is put on top of others' work", rebased),
    later("rebased-elsewhere", "the same, in somebody else's clone", rebased, cloned()),
    later("shallow-clone", "somebody else's clone of the last commit alone", committed, cloned("--depth", "1")),
    later("detached", "a checkout without a branch", detached),
    later(
        "module-becomes-package",
        "the module under test becomes a package",
        {
            "cart.py": None,
            "cart/__init__.py": "from cart.sums import total\n\n__all__ = ['total']\n",
            "cart/sums.py": PRESENT,
        },
    ),
    later(
        "line-ends",
        "attributes say CRLF for Python files",
        start={"cart.py": ABSENT.replace("\n", "\r\n"), ".gitattributes": "*.py text eol=crlf\n"},
        tests={"tests/test_cart.py": TEST.replace("\n", "\r\n")},
        work={"cart.py": PRESENT.replace("\n", "\r\n")},
    ),
    later(
        "line-ends-changed",
        "an editor saves the tests with other line ends",
        {"tests/test_cart.py": TEST.replace("\n", "\r\n")},
    ),
    later("regressed-and-mended", "it breaks after the proof and is mended", regressed),
    later(
        "two-passes",
        "the work comes in two parts, with a proof of one criterion between",
        lambda stage: stage.verify("refused-half"),
        {"cart.py": PRESENT + "\n\nNAME = 'cart'\n"},
        criteria=(asks(ID), asks("tests/test_name.py::test_name", name="AC2", text="it has a name")),
        start={"cart.py": ABSENT},
        work={"cart.py": ABSENT + "\n\nNAME = 'cart'\n"},
        tests={**TESTS, "tests/test_name.py": "import cart\n\n\ndef test_name():\n    assert cart.NAME == 'cart'\n"},
    ),
    later(
        "run-and-words-of-settings",
        "a command of pytest, and plugins in the settings that are formatted",
        {"pyproject.toml": SETTINGS.format("", ON_PATH + "# both\n").replace('"-q"', "[\n  '-q',\n]")},
        criteria=(Criterion("AC1", "sums", ("run: pytest tests/test_cart.py --strict-markers",)),),
        start={"cart.py": ABSENT, "pyproject.toml": SETTINGS.format("", ON_PATH).replace('"-q"', '["-q"]')},
        python=PLUGINS,
    ),
)
