"""Honest tasks by the kind of their tests: parameter sets, classes, doctests, fixtures, files, processes, snapshots."""

from __future__ import annotations

from tests.proof.environments import PLUGINS
from tests.proof.scene import Criterion, Scene, asks

TOP = "[tool.pytest.ini_options]\n"
NO_WORDS = 'def count(text):\n    """How many words a text has."""\n    return None\n'
WORDS = 'def count(text):\n    """How many words a text has."""\n    return len(text.split())\n'
DOCTESTED = (
    'def count(text):\n    """How many words a text has.\n\n    >>> count("a b")\n    2\n    """\n    return {}\n'
)
READS = "import pathlib\n\nHERE = pathlib.Path(__file__).parent\n"

SCENES = (
    Scene(
        name="parametrised",
        says="one test with several parameter sets, required one by one",
        criteria=(asks("tests/test_words.py::test_count[a b-2]", "tests/test_words.py::test_count[-0]"),),
        start={"words.py": NO_WORDS},
        tests={
            "tests/test_words.py": "import pytest\nimport words\n\n\n"
            '@pytest.mark.parametrize(("text", "many"), [("a b", 2), ("", 0)])\n'
            "def test_count(text, many):\n    assert words.count(text) == many\n"
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="parametrised-to-come",
        says="all parameter sets of a test whose module does not exist yet",
        criteria=(asks("tests/test_words.py::test_count[*]"),),
        start={"pyproject.toml": TOP + 'pythonpath = ["."]\n', "text/__init__.py": ""},
        tests={
            "tests/test_words.py": "import pytest\nfrom text import words\n\n\n"
            '@pytest.mark.parametrize(("text", "many"), [("a b", 2), ("", 0)])\n'
            "def test_count(text, many):\n    assert words.count(text) == many\n"
        },
        work={"text/words.py": WORDS},
    ),
    Scene(
        name="ids-in-other-scripts",
        says="parameter sets with names in other scripts, and one with blanks and brackets",
        criteria=(
            asks(
                "tests/test_words.py::test_count[zwei wörter]",
                "tests/test_words.py::test_count[三つ の 言葉]",
                "tests/test_words.py::test_count[[none] of :: them]",
            ),
        ),
        start={
            "words.py": NO_WORDS,
            "pytest.ini": "[pytest]\ndisable_test_id_escaping_and_forfeit_all_rights_to_community_support = True\n",
        },
        tests={
            "tests/test_words.py": "import pytest\nimport words\n\nSETS = [\n"
            '    pytest.param("grüße an", 2, id="zwei wörter"),\n    pytest.param("三 つ 語", 3, id="三つ の 言葉"),\n'
            '    pytest.param("", 0, id="[none] of :: them"),\n]\n\n\n'
            '@pytest.mark.parametrize(("text", "many"), SETS)\n'
            "def test_count(text, many):\n    assert words.count(text) == many\n"
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="class-based",
        says="tests in a class, one of them in an inner class, with set-up of their own and inherited tests",
        criteria=(
            asks(
                "tests/test_words.py::TestCount::test_two",
                "tests/test_words.py::TestCount::TestNone::test_none",
                "tests/test_words.py::TestCount::test_again",
            ),
        ),
        start={"words.py": NO_WORDS},
        tests={
            "tests/test_words.py": "import words\n\n\nclass Again:\n    def test_again(self):\n"
            "        assert words.count(self.text) == 2\n\n\nclass TestCount(Again):\n    def setup_method(self):\n"
            '        self.text = "a b"\n\n    def test_two(self):\n        assert words.count(self.text) == 2\n\n'
            "    class TestNone:\n        @classmethod\n        def setup_class(cls):\n            cls.text = ''\n\n"
            "        def setup_method(self):\n            self.many = 0\n\n"
            "        def test_none(self):\n            assert words.count(self.text) == self.many\n"
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="unittest-suite",
        says="a suite of unittest alone, named by dotted ids",
        criteria=(asks("tests.test_words.CountTest.test_two", "tests.test_words.CountTest.test_none"),),
        start={"words.py": NO_WORDS, "tests/__init__.py": ""},
        tests={
            "tests/test_words.py": "import unittest\n\nimport words\n\n\nclass CountTest(unittest.TestCase):\n"
            '    def test_two(self):\n        self.assertEqual(words.count("a b"), 2)\n\n'
            '    def test_none(self):\n        for text in ("", " "):\n            with self.subTest(text=text):\n'
            "                self.assertEqual(words.count(text), 0)\n"
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="unittest-under-pytest",
        says="cases of unittest with a set-up for the class, run by pytest",
        criteria=(asks("tests/test_words.py::CountTest::test_two"),),
        start={"words.py": NO_WORDS, "pytest.ini": "[pytest]\n"},
        tests={
            "tests/test_words.py": "import unittest\n\nimport words\n\n\nclass CountTest(unittest.TestCase):\n"
            '    @classmethod\n    def setUpClass(cls):\n        cls.text = "a b"\n\n'
            "    def test_two(self):\n        self.assertEqual(words.count(self.text), 2)\n"
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="doctest-in-source",
        says="a doctest stands in the source file that the implementer changes",
        criteria=(asks("words.py::words.count"),),
        start={"words.py": NO_WORDS, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"},
        tests={"words.py": DOCTESTED.format("None")},
        work={"words.py": "import re\n\n\n" + DOCTESTED.format('len(re.findall(r"\\S+", text))')},
    ),
    Scene(
        name="doctest-in-text",
        says="a page of documentation is the test",
        criteria=(asks("docs/words.txt::words.txt"),),
        start={"words.py": NO_WORDS, "pytest.ini": "[pytest]\npythonpath = .\naddopts = --doctest-glob=*.txt\n"},
        tests={"docs/words.txt": 'Words are counted:\n\n    >>> import words\n    >>> words.count("a b")\n    2\n'},
        work={"words.py": WORDS},
    ),
    Scene(
        name="fixtures-in-conftest",
        says="fixtures of three kinds in conftest files on two levels",
        criteria=(asks("tests/unit/test_words.py::test_two"),),
        start={"words.py": NO_WORDS},
        tests={
            "tests/conftest.py": 'import pytest\n\n\n@pytest.fixture(scope="session")\ndef two():\n    return "a b"\n',
            "tests/unit/conftest.py": "import pytest\n\n\n@pytest.fixture(autouse=True)\n"
            "def here(tmp_path, monkeypatch):\n"
            "    monkeypatch.chdir(tmp_path)\n\n\n@pytest.fixture\ndef many(two):\n    yield len(two.split())\n",
            "tests/unit/test_words.py": "import words\n\n\ndef test_two(two, many):\n"
            "    assert words.count(two) == many\n",
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="fixture-uses-the-subject",
        says="the missing function is first called in a fixture, so the test fails in its set-up",
        criteria=(asks("tests/test_words.py::test_two"),),
        start={"words.py": '"""Words."""\n'},
        tests={
            "tests/test_words.py": "import pytest\nimport words\n\n\n@pytest.fixture\ndef counted():\n"
            '    return words.count("a b")\n\n\ndef test_two(counted):\n    assert counted == 2\n'
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="writes-files",
        says="a test leaves files in the working folder and beside itself",
        criteria=(asks("tests/test_words.py::test_two"),),
        start={"words.py": NO_WORDS},
        tests={
            "tests/test_words.py": READS + "import words\n\n\ndef test_two():\n"
            '    pathlib.Path("out").mkdir(exist_ok=True)\n    pathlib.Path("out", "text.txt").write_text("a b")\n'
            '    (HERE / "left.txt").write_text("a b")\n    assert words.count((HERE / "left.txt").read_text()) == 2\n'
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="reads-data",
        says="a test reads tables that lie beside it and in the package",
        criteria=(asks("tests/test_words.py::test_all"),),
        start={"words.py": NO_WORDS, "data/short.txt": "a b\n"},
        tests={
            "tests/data/words.json": '{"a b c": 3, "": 0}\n',
            "tests/test_words.py": READS + "import json\nimport words\n\n\ndef test_all():\n"
            '    table = json.loads((HERE / "data" / "words.json").read_text())\n'
            "    assert {text: words.count(text) for text in table} == table\n"
            '    assert words.count((HERE.parent / "data" / "short.txt").read_text()) == 2\n',
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="snapshots",
        says="what is expected lies in a folder of snapshots",
        criteria=(asks("tests/test_words.py::test_table"),),
        start={"words.py": NO_WORDS},
        tests={
            "tests/__snapshots__/table.txt": "a b: 2\nc: 1\n",
            "tests/test_words.py": READS + "import words\n\n\ndef test_table():\n"
            '    rows = "".join(f"{text}: {words.count(text)}\\n" for text in ("a b", "c"))\n'
            '    assert rows == (HERE / "__snapshots__" / "table.txt").read_text()\n',
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="starts-a-process",
        says="a test starts the project's own module as a process",
        criteria=(asks("tests/test_main.py::test_says"),),
        start={"words/__init__.py": "", "words/__main__.py": "raise SystemExit(1)\n"},
        tests={
            "tests/test_main.py": "import subprocess\nimport sys\n\n\ndef test_says():\n"
            '    done = subprocess.run([sys.executable, "-m", "words", "a b"], capture_output=True, text=True)\n'
            '    assert (done.returncode, done.stdout) == (0, "2\\n")\n'
        },
        work={
            "words/__main__.py": "import sys\n\nfrom words.count import count\n\nprint(count(sys.argv[1]))\n",
            "words/count.py": WORDS,
        },
    ),
    Scene(
        name="variables-and-time",
        says="a test sets variables of the environment and the folder of the user",
        criteria=(asks("tests/test_words.py::test_language"),),
        start={"words.py": NO_WORDS},
        tests={
            "tests/test_words.py": "import os\nimport words\n\n\ndef test_language(monkeypatch, tmp_path):\n"
            '    monkeypatch.setenv("WORDS_BORDER", ",")\n    monkeypatch.setenv("HOME", str(tmp_path))\n'
            '    assert words.count("a,b") == 2\n    assert (tmp_path / ".words").exists()\n'
            '    assert os.environ["WORDS_BORDER"] == ","\n'
        },
        work={
            "words.py": "import os\nimport pathlib\n\n\ndef count(text):\n"
            "    pathlib.Path.home().joinpath('.words').touch()\n"
            "    return len(text.split(os.environ.get('WORDS_BORDER')))\n"
        },
    ),
    Scene(
        name="hypothesis",
        says="properties, with an example database that the runs write",
        criteria=(asks("tests/test_words.py::test_sum"),),
        start={"words.py": NO_WORDS},
        tests={
            "tests/test_words.py": "import words\nfrom hypothesis import given, strategies as st\n\n\n"
            '@given(st.lists(st.text("ab", min_size=1)))\ndef test_sum(parts):\n'
            '    assert words.count(" ".join(parts)) == len(parts)\n'
        },
        work={"words.py": WORDS},
        python=PLUGINS,
    ),
    Scene(
        name="markers",
        says="registered markers, strict; skips on other platforms stand beside what is required",
        criteria=(asks("tests/test_words.py::test_two", "tests/test_words.py::test_slow"),),
        start={
            "words.py": NO_WORDS,
            "pyproject.toml": TOP + 'addopts = ["--strict-markers", "--strict-config"]\n'
            'markers = ["slow: takes its time", "words: about words"]\n',
        },
        tests={
            "tests/test_words.py": "import sys\n\nimport pytest\nimport words\n\npytestmark = pytest.mark.words\n\n\n"
            'def test_two():\n    assert words.count("a b") == 2\n\n\n@pytest.mark.slow\ndef test_slow():\n'
            '    assert words.count("a " * 1000) == 1000\n\n\n'
            '@pytest.mark.skipif(sys.platform != "plan9", reason="other words there")\ndef test_there():\n'
            "    assert False\n"
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="raises-and-warns",
        says="a test wants an error and a warning, and warnings are errors",
        criteria=(asks("tests/test_words.py::test_refuses", "tests/test_words.py::test_warns"),),
        start={"words.py": NO_WORDS, "pyproject.toml": TOP + 'filterwarnings = ["error"]\n'},
        tests={
            "tests/test_words.py": "import pytest\nimport words\n\n\ndef test_refuses():\n"
            "    with pytest.raises(TypeError, match='text'):\n        words.count(None)\n\n\n"
            "def test_warns():\n    with pytest.warns(UserWarning):\n        assert words.count('') == 0\n"
        },
        work={
            "words.py": "import warnings\n\n\ndef count(text):\n    if not isinstance(text, str):\n"
            "        raise TypeError('text')\n    if not text:\n        warnings.warn('nothing to count')\n"
            "    return len(text.split())\n"
        },
    ),
    Scene(
        name="two-criteria-one-file",
        says="two criteria whose tests stand in one file",
        criteria=(
            asks("tests/test_words.py::test_two"),
            asks("tests/test_words.py::test_none", name="AC2", text="nothing has no words"),
        ),
        start={"words.py": NO_WORDS},
        tests={
            "tests/test_words.py": 'import words\n\n\ndef test_two():\n    assert words.count("a b") == 2\n\n\n'
            'def test_none():\n    assert words.count("") == 0\n'
        },
        work={"words.py": WORDS},
    ),
    Scene(
        name="run-pytest",
        says="the criterion names a command of pytest instead of ids",
        criteria=(Criterion("AC1", "words are counted", ("run: python -m pytest -q tests/test_words.py",)),),
        start={"words.py": NO_WORDS},
        tests={"tests/test_words.py": 'import words\n\n\ndef test_two():\n    assert words.count("a b") == 2\n'},
        work={"words.py": WORDS},
    ),
    Scene(
        name="whole-file",
        says="a criterion asks for everything in one file and in one class of another",
        criteria=(asks("tests/test_words.py::*", "tests/test_more.py::TestCount::*"),),
        start={"words.py": NO_WORDS},
        tests={
            "tests/test_words.py": 'import words\n\n\ndef test_two():\n    assert words.count("a b") == 2\n',
            "tests/test_more.py": "import words\n\n\nclass TestCount:\n    def test_none(self):\n"
            '        assert words.count("") == 0\n\n\ndef test_module():\n    assert words.__name__ == "words"\n',
        },
        work={"words.py": WORDS},
    ),
)
