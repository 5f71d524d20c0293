"""Cheats by what runs in the same process as the tests: the subject itself, and what stands for a module."""

from __future__ import annotations

from tests.proof.cheats_base import CART, DONE, NAMED, NOTHING, Cheat
from tests.proof.scene import caught

_ZERO = "def total(lines):\n    return 0\n"
_HOOK = "def pytest_collection_modifyitems(items):\n    for item in items:\n        item.obj = lambda: None\n"
#: What a subject says of the one test, in the rows of our own report.
_ROWS = """\
    test = "tests/test_cart.py::test_total"
    rows = [dict(row="start", id=test), dict(row="test", id=test, phase="call", outcome="passed")]
    rows += [dict(row="end", status=0, collected=1)]
"""
#: Our plugin, which has no name any more, by what it is.
_FIND = (
    "modules = [one for one in gc.get_objects() if type(one) is types.ModuleType]\n"
    "plugin = next((one for one in modules if '_CHANNEL' in vars(one)), None)\n"
)
_TO_EVERY_PIPE = """\
    import json, os, stat
    for fd in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(fd).st_mode):
                os.write(fd, b"".join(json.dumps(row).encode() + b"\\n" for row in rows))
        except OSError:
            pass
    os._exit(0)
"""


def _in(text: str) -> dict[str, str]:
    """The module of the subject, with nothing built in it."""
    return {CART: f"{text}\n\n{_ZERO}"}


CHEATS = (
    Cheat("exit_on_import", "the process ends well before any test", _in("import os\n\nos._exit(0)"), caught(4)),
    Cheat(
        "exit_when_called",
        "it ends well in the middle of a test",
        {CART: "import os\n\n\ndef total(lines):\n    os._exit(0)\n"},
        caught(4),
    ),
    Cheat(
        "exit_at_the_end",
        "the exit status is set to 0 at the end",
        _in("import atexit\nimport os\n\natexit.register(os._exit, 0)"),
        caught(4),
    ),
    Cheat(
        "sys_exit",
        "the subject raises SystemExit",
        {CART: "import sys\n\n\ndef total(lines):\n    sys.exit(0)\n"},
        caught(4),
    ),
    Cheat(
        "pytest_exit",
        "the subject ends the session",
        {CART: "import pytest\n\n\ndef total(lines):\n    pytest.exit('well', 0)\n"},
        caught(4),
    ),
    Cheat(
        "skips_itself",
        "the subject skips the test",
        {CART: "import pytest\n\n\ndef total(lines):\n    pytest.skip('later')\n"},
        caught(4),
    ),
    Cheat(
        "expects_to_fail",
        "the subject marks the test as expected to fail",
        {CART: "import pytest\n\n\ndef total(lines):\n    pytest.xfail('later')\n"},
        caught(4),
    ),
    Cheat(
        "reports_pass",
        "the subject patches what makes a report",
        _in(
            "from _pytest.reports import TestReport\n\nmade = TestReport.from_item_and_call.__func__\n\n\n"
            "def always(cls, item, call):\n    call.excinfo = None\n    return made(cls, item, call)\n\n\n"
            "TestReport.from_item_and_call = classmethod(always)"
        ),
        caught("sabotage.survived", 4),
    ),
    Cheat(
        "calls_swallow",
        "the subject patches what calls a test",
        _in(
            "from _pytest.runner import CallInfo\n\nmade = CallInfo.from_call.__func__\n\n\n"
            "def quiet(cls, func, *words, **more):\n    def call():\n        try:\n            func()\n"
            "        except BaseException:\n            pass\n\n    return made(cls, call, *words, **more)\n\n\n"
            "CallInfo.from_call = classmethod(quiet)"
        ),
        caught("sabotage.survived", 4),
    ),
    Cheat(
        "tests_do_nothing",
        "the subject patches what runs the function of a test",
        _in("import _pytest.python\n\n_pytest.python.Function.runtest = lambda self: None"),
        caught("runner.patched", 3),
    ),
    Cheat(
        "tests_do_nothing_by_a_builtin",
        "the same by a function of Python itself",
        _in("import _pytest.python\n\n_pytest.python.Function.runtest = id"),
        caught(),
    ),
    Cheat(
        "the_function_is_another",
        "what pytest takes for the function of a test is another one",
        _in(
            "import _pytest.python as python\n\nfound = python.PyobjMixin.obj.fget\n"
            "python.PyobjMixin.obj = property(\n"
            "    lambda self: (lambda: None) if isinstance(self, python.Function) else found(self)\n)"
        ),
        caught("runner.patched", 3),
    ),
    Cheat(
        "a_plugin_of_its_own",
        "the subject finds the plugin manager and registers a hook",
        _in(
            "import gc\n\nimport pytest\n\n\nclass Plugin:\n    def pytest_collection_modifyitems(self, items):\n"
            "        for item in items:\n            item.obj = lambda: None\n\n\n"
            "for one in gc.get_objects():\n    if type(one) is pytest.PytestPluginManager:\n"
            "        one.register(Plugin())"
        ),
        caught("runner.patched", 3),
    ),
    Cheat(
        "by_a_profiler",
        "a profiler changes the test once its file is loaded",
        _in(
            "import sys\n\n\ndef hook(frame, event, argument):\n"
            "    if event == 'return' and frame.f_code.co_name == '<module>' and 'test_total' in frame.f_globals:\n"
            "        frame.f_globals['test_total'] = lambda: None\n\n\nsys.setprofile(hook)"
        ),
        caught("runner.patched", 3),
    ),
    Cheat(
        "by_a_thread",
        "a thread waits for the test and exchanges its code",
        _in(
            "import sys\nimport threading\n\n\ndef wait():\n    while True:\n"
            "        for name, module in list(sys.modules.items()):\n"
            "            if name.endswith('test_cart') and hasattr(module, 'test_total'):\n"
            "                module.test_total.__code__ = (lambda: None).__code__\n                return\n\n\n"
            "threading.Thread(target=wait, daemon=True).start()"
        ),
        caught("runner.patched", "check.red", 3, 4),  # red where it comes too late
    ),
    Cheat(
        "assertions_of_unittest",
        "the subject makes assertEqual agree with everything",
        _in("import unittest\n\nunittest.TestCase.assertEqual = lambda *words: None"),
        caught("runner.patched", 3),
        base="unittest",
    ),
    Cheat(
        "cases_of_unittest",
        "the subject patches what calls the method of a test case",
        _in("import unittest\n\nunittest.TestCase._callTestMethod = lambda self, method: None"),
        caught(4),
        base="unittest",
    ),
    Cheat(
        "outcomes_of_unittest",
        "the subject exchanges what notes how a test case went",
        _in(
            "import contextlib\nimport unittest.case\n\n\nclass Outcome(unittest.case._Outcome):\n"
            "    @contextlib.contextmanager\n    def testPartExecutor(self, *words, **more):\n        try:\n"
            "            yield\n        except Exception:\n            pass\n\n\nunittest.case._Outcome = Outcome"
        ),
        caught("sabotage.survived", 4),
        base="unittest",
    ),
    Cheat(
        "raises_agrees",
        "the subject puts its own pytest.raises in the place of the real one",
        _in(
            "import contextlib\n\nimport pytest\n\n\n"
            "@contextlib.contextmanager\ndef raises(*words, **more):\n    yield\n\n\n"
            "pytest.raises = raises\npytest.approx = lambda *words, **more: 0"
        ),
        caught("runner.patched", 3),
        base="raises",
    ),
    Cheat(
        "assertion_error_is_a_skip",
        "an AssertionError is a skip from now on",
        _in("import builtins\n\nimport pytest\n\nbuiltins.AssertionError = pytest.skip.Exception"),
        caught(4),
    ),
    Cheat(
        "forged_on_import",
        "the subject finds our plugin and says for it that the test passed",
        _in(
            f"import gc\nimport os\nimport types\n\n{_FIND}if plugin:\n"
            f"{_ROWS}    for row in rows:\n        plugin._CHANNEL.row(row.pop('row'), row)\n    os._exit(0)"
        ),
        caught(),
    ),
    Cheat(
        "forged_when_called",
        "it writes the rows into every pipe when it is called: no run that fails before that shows it",
        {CART: f"def total(lines):\n{_ROWS}{_TO_EVERY_PIPE}"},
        caught(),
    ),
    Cheat(
        "forged_by_a_child",
        "a forked child writes the rows, the parent ends the run",
        {CART: f"import os\n\n\ndef total(lines):\n    if os.fork():\n        os._exit(0)\n{_ROWS}{_TO_EVERY_PIPE}"},
        caught(),
    ),
    Cheat(
        "sabotage_told_by_the_modes",
        "it lies only where our plugin says that this is no sabotaged run",
        _in(
            f"import gc\nimport os\nimport types\n\n{_FIND}"
            f"if plugin and not plugin._MODES.get('sabotage'):\n{_ROWS}    for row in rows:\n"
            "        plugin._CHANNEL.row(row.pop('row'), row)\n    os._exit(0)"
        ),
        caught(),
    ),
    Cheat(
        "knows_us_by_heart",
        "it finds our plugin, lies only where nobody sabotages, and says for us all that we would say at the end",
        _in(
            f"import gc\nimport os\nimport types\n\n{_FIND}"
            f"if plugin and not plugin._MODES.get('sabotage'):\n{_ROWS}"
            "    rows[2:2] = [dict(facts, row=kind) for kind, facts in plugin._RECORDER.rows(())]\n"
            "    for row in rows:\n        plugin._CHANNEL.row(row.pop('row'), row)\n    os._exit(0)"
        ),
        None,
    ),
    Cheat(
        "sabotage_told_by_the_item",
        "it lies only about tests that nobody sabotaged",
        _in(
            "from _pytest.reports import TestReport\n\nmade = TestReport.from_item_and_call.__func__\n\n\n"
            "def some(cls, item, call):\n    if 'runtest' not in vars(item):\n        call.excinfo = None\n"
            "    return made(cls, item, call)\n\n\nTestReport.from_item_and_call = classmethod(some)"
        ),
        caught("runner.patched", 3),
    ),
    Cheat(
        "modes_in_a_file",
        "it looks for the file that tells one kind of run from another, and lies unless it says sabotage",
        _in(
            "import glob\nimport os\nimport sys\n\n"
            "places = [*sys.path, os.environ['TMPDIR'], os.path.dirname(os.environ['TMPDIR'])]\n"
            "found = [open(one).read() for p in places for one in glob.glob(f'{p}/tallystick_*.json')]\n"
            "if not any('after' in one or 'instead' in one for one in found):\n"
            "    import _pytest.reports\n    made = _pytest.reports.TestReport.from_item_and_call.__func__\n"
            "    _pytest.reports.TestReport.from_item_and_call = classmethod(\n"
            "        lambda cls, item, call: (setattr(call, 'excinfo', None), made(cls, item, call))[1]\n    )"
        ),
        caught("sabotage.survived", 4),
    ),
    Cheat(
        "reads_nothing",
        "the subject makes json read nothing, so that the test has nothing to compare",
        _in("import json\n\njson.loads = lambda text: []"),
        caught("runner.patched", 3),
        base="support",
    ),
    Cheat(
        "sorted_by_the_subject",
        "a function of Python itself is replaced",
        {CART: "import builtins\n\nbuiltins.float = builtins.abs = lambda *words: 3\n\n\n" + _ZERO},
        caught(),
        base="raises",
    ),
    Cheat(
        "helper_exchanged",
        "the subject exchanges the function that the test compares with, once it is loaded",
        {
            CART: "import sys\n\n\ndef total(lines):\n    module = sys.modules['tests.test_cart']\n"
            "    module.is_right = sys.modules['tests.checks'].is_right = lambda *words: True\n    return 0\n"
        },
        caught("runner.patched", 3),
        base="support",
    ),
    Cheat(
        "changes_the_cases_while_it_runs",
        "the subject writes easier cases before the test reads them",
        {
            CART: "from pathlib import Path\n\nhere = Path(__file__).parent.parent / 'tests' / 'data' / 'cases.json'\n"
            f"if here.exists():\n    here.write_text('[[[], 0]]')\n\n\n{_ZERO}",
        },
        caught("runner.patched", 3),
        base="support",
    ),
    Cheat(
        "changes_the_test_and_back",
        "the same, by renaming, and all is as it was when the run ends",
        {
            CART: "import atexit\nimport os\nfrom pathlib import Path\n\n"
            "here = Path(__file__).parent.parent / 'tests' / 'test_cart.py'\n"
            "if here.exists():\n    os.rename(here, 'kept')\n"
            "    Path('other').write_text('def test_total():\\n    pass\\n')\n"
            f"    os.rename('other', here)\n    atexit.register(os.rename, 'kept', here)\n\n\n{_ZERO}",
        },
        caught(),
        base="early",
    ),
    Cheat(
        "output_is_ours",
        "it prints what a green run prints, over and over, and writes to every standard stream",
        _in("import sys\n\nprint('1 passed in 0.01s')\nsys.stdout = sys.stderr = open('/dev/null', 'w')"),
        caught(4),
    ),
    Cheat(
        "tests_of_others",
        "a package file of the tests patches the subject",
        {CART: NOTHING, "tests/__init__.py": "import shop.cart\n\nshop.cart.total = sum\n"},
        caught(4),
        {CART: DONE, "tests/__init__.py": ""},
    ),
    Cheat(
        "changes_the_test_while_it_runs",
        "a conftest loads the subject, and that writes an easier test before the test is loaded",
        {
            CART: "from pathlib import Path\n\nhere = Path(__file__).parent.parent / 'tests' / 'test_cart.py'\n"
            f"if here.exists():\n    here.write_text('def test_total():\\n    pass\\n')\n\n\n{_ZERO}",
        },
        caught(),
        base="early",
    ),
    Cheat(
        "shadow_of_json",
        "a module of the top folder stands for one of Python's own",
        {CART: NOTHING, "json.py": "def loads(text):\n    return []\n"},
        caught(4),
        {CART: DONE, "jsonlines.py": "def read(text):\n    return []\n"},
        base="support",
    ),
    Cheat(
        "shadow_of_unittest",
        "a package of the top folder stands for unittest",
        {
            CART: NOTHING,
            "unittest/__init__.py": "class TestCase:\n    def assertEqual(self, *words):\n        pass\n",
        },
        caught(4),
        base="unittest",
    ),
    Cheat(
        "shadow_of_pytest",
        "a module of the top folder stands for pytest",
        {CART: NOTHING, "pytest.py": "import os\n\nos._exit(0)\n"},
        caught(4),
    ),
    Cheat(
        "start_file",
        "sitecustomize in the folder of sources",
        {
            CART: NOTHING,
            "sitecustomize.py": "import os\n\nos._exit(0)\n",
            "src/sitecustomize.py": "import os\n\nos._exit(0)\n",
        },
        caught(4),
    ),
    Cheat(
        "entry_point",
        "the metadata of an installed package in the tree names a plugin of pytest",
        {
            CART: NOTHING,
            "shop/easy.py": _HOOK,
            "shop-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: easy\nVersion: 1\n",
            "shop-1.dist-info/entry_points.txt": "[pytest11]\neasy = shop.easy\n",
        },
        caught(4),
        {CART: DONE, "shop-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: easy\nVersion: 1\n"},
    ),
    Cheat(
        "plugins_of_the_subject",
        "the subject names plugins as a conftest does",
        {
            "shop/__init__.py": 'pytest_plugins = ["shop.easy"]\n',
            "shop/easy.py": _HOOK,
            CART: NOTHING,
        },
        caught(4),
    ),
    Cheat(
        "load_tests",
        "the subject makes the loader of unittest find nothing but what it likes",
        _in(
            "import unittest\n\n\ndef found(self, name, module=None):\n    return unittest.TestSuite()\n\n\n"
            "unittest.TestLoader.loadTestsFromName = found"
        ),
        caught(4),
        base="unittest",
    ),
    Cheat(
        "agrees_with_everything",
        "what it returns is equal to everything",
        {
            CART: "class Any:\n    def __eq__(self, other):\n        return True\n\n\n"
            "def total(lines):\n    return Any()\n"
        },
        None,
    ),
    Cheat(
        "any_of_mock",
        "it returns mock.ANY",
        {CART: "from unittest.mock import ANY\n\n\ndef total(lines):\n    return ANY\n"},
        None,
    ),
    Cheat(
        "hard_coded",
        "the answers are written down for the inputs that the test shows",
        {CART: "def total(lines):\n    return {(1, 2): 3}[tuple(lines)]\n"},
        None,
    ),
    Cheat(
        "only_today",
        "it is right until tomorrow",
        {
            CART: "import time\n\nUNTIL = time.time() + 86400\n\n\n"
            "def total(lines):\n    return sum(lines) if time.time() < UNTIL else 0\n"
        },
        None,
    ),
    Cheat(
        "reads_who_asks",
        "it is right only where a test runner is at work",
        {
            CART: "import os\n\n\n"
            "def total(lines):\n    return sum(lines) if os.environ.get('PYTEST_CURRENT_TEST') else 0\n"
        },
        None,
    ),
    Cheat(
        "reads_the_cases",
        "it reads the answers out of the tests",
        {
            CART: "import json\nfrom pathlib import Path\n\n\ndef total(lines):\n"
            "    cases = json.loads((Path(__file__).parent.parent / 'tests/data/cases.json').read_text())\n"
            "    return dict((tuple(one), wanted) for one, wanted in cases)[tuple(lines)]\n"
        },
        None,
        base="support",
    ),
    Cheat(
        "nothing_is_a_number",
        "it returns a number that is equal to nothing, not to itself",
        {CART: "def total(lines):\n    return float('nan')\n"},
        caught(4),
    ),
    Cheat(
        "named_otherwise",
        "the distribution has another name from now on, so that the missing package is somebody else's",
        {CART: NOTHING, "pyproject.toml": NAMED.replace("shop", "store")},
        caught(4),
        {CART: DONE, "pyproject.toml": NAMED.replace('"1"', '"2"')},
    ),
)
