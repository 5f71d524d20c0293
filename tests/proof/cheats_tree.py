"""Cheats with what surrounds the tests: git, what it ignores, the environment, settings, variables."""

from __future__ import annotations

import os
import shutil

from tests.proof.cheats_base import CART, DONE, NOTHING, TEST, Cheat
from tests.proof.environments import PLAIN, python_of
from tests.proof.scene import IGNORED, Stage, caught

_SOFT = "from shop.cart import total\n\n\ndef test_total():\n    assert True\n"
_EVIL = "def pytest_collection_modifyitems(items):\n    for item in items:\n        item.obj = lambda: None\n"
_FORGER = """\
#!/bin/sh
case "$(cat "$TMPDIR/tallystick_modes.json" 2>/dev/null)" in
*after* | *instead*) exec {python} "$@" ;;
esac
if [ -z "$TALLYSTICK_REPORT" ]; then exec {python} "$@"; fi
printf '%s\\n' '{{"row":"begin","runner":"pytest","version":"9.2.0","python":"3.11.7","executable":"{python}"}}' \\
  '{{"row":"start","id":"{test}"}}' '{{"row":"test","id":"{test}","phase":"call","outcome":"passed"}}' \\
  '{{"row":"loaded","outside":[]}}' '{{"row":"end","status":0,"collected":1}}' >> "/proc/self/fd/$TALLYSTICK_REPORT"
"""

#: What lies outside is named, or hidden where the checkout lies below the folder for temporary files.
HIDDEN_OR_NAMED = caught("import.outside", "check.red", 3, 4)


def _environment(stage: Stage, evil: dict[str, str]) -> None:
    """An environment of the project's own that sees the packages of the shared one, and `evil` beside them."""
    shared = python_of(PLAIN)
    real = next((shared.parent.parent / "lib").iterdir())
    site = stage.folder / ".venv" / "lib" / real.name / "site-packages"
    site.mkdir(parents=True)
    shutil.copy(shared.parent.parent / "pyvenv.cfg", stage.folder / ".venv" / "pyvenv.cfg")
    (stage.folder / ".venv" / "bin").mkdir()
    (stage.folder / ".venv" / "bin" / "python").symlink_to(shared.resolve())
    for one in (real / "site-packages").iterdir():
        if one.name != "__pycache__":
            (shutil.copytree if one.is_dir() else shutil.copy)(one, site / one.name)
    for name, text in evil.items():
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")


def _plugin_in_the_environment(stage: Stage) -> None:
    _environment(
        stage,
        {
            "easy.py": _EVIL,
            "easy-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: easy\nVersion: 1\n",
            "easy-1.dist-info/entry_points.txt": "[pytest11]\neasy = easy\n",
            "easy-1.dist-info/RECORD": "easy.py,,\neasy-1.dist-info/METADATA,,\neasy-1.dist-info/entry_points.txt,,\n",
        },
    )
    stage.write({CART: NOTHING})


def _path_file_in_the_environment(stage: Stage) -> None:
    patch = "import _pytest.python; _pytest.python.Function.runtest = lambda self: None"
    _environment(stage, {"easy.pth": patch + "\n"})
    stage.write({CART: NOTHING})


def _patched_pytest(stage: Stage) -> None:
    _environment(stage, {})
    found = next((stage.folder / ".venv").glob("lib/*/site-packages/_pytest/python.py"))
    text = found.read_text(encoding="utf-8")
    assert "self.ihook.pytest_pyfunc_call(pyfuncitem=self)" in text
    found.write_text(text.replace("self.ihook.pytest_pyfunc_call(pyfuncitem=self)", "pass"), encoding="utf-8")
    stage.write({CART: NOTHING})


def _honest_environment(stage: Stage) -> None:
    _environment(stage, {})
    stage.write({CART: DONE})


def _forging_python(stage: Stage) -> None:
    program = stage.folder / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text(_FORGER.format(python=python_of(PLAIN), test=f"{TEST}::test_total"), encoding="utf-8")
    program.chmod(0o755)
    stage.write({CART: NOTHING})


def _built_where_git_does_not_look(stage: Stage) -> None:
    stage.write(
        {
            ".gitignore": IGNORED + "node_modules/\n",
            "node_modules/real.py": DONE,
            CART: "from pathlib import Path\n\n"
            "exec((Path(__file__).parent.parent / 'node_modules/real.py').read_text())\n",
        }
    )


def _ignored_module(stage: Stage) -> None:
    stage.write({".gitignore": IGNORED + "local.py\n", "shop/local.py": DONE, CART: "from shop.local import total\n"})


def _an_environment_in_name_only(stage: Stage) -> None:
    stage.write(
        {
            ".gitignore": IGNORED + "real/\n",
            "real/pyvenv.cfg": "home = /usr/bin\n",
            "real/__init__.py": DONE,
            CART: "from real import total\n",
        }
    )


def _outside_the_tree(stage: Stage) -> None:
    beside = stage.home.parent / "elsewhere"
    beside.mkdir(exist_ok=True)
    (beside / "real.py").write_text(DONE, encoding="utf-8")
    stage.write({CART: f"import sys\n\nsys.path.insert(0, {str(beside)!r})\nfrom real import total\n"})


def _linked_outside(stage: Stage) -> None:
    beside = stage.home.parent / "elsewhere"
    beside.mkdir(exist_ok=True)
    (beside / "cart.py").write_text(DONE, encoding="utf-8")
    (stage.folder / CART).unlink()
    (stage.folder / CART).symlink_to(beside / "cart.py")


def _replaced_object(stage: Stage) -> None:
    """git shows a softer test wherever the real one is asked for by its id."""
    soft = stage.home / "soft.py"
    soft.write_text(_SOFT, encoding="utf-8")
    real = stage.git("rev-parse", f"HEAD:{TEST}").strip()
    stage.git("replace", "--force", real, stage.git("hash-object", "-w", str(soft)).strip())
    stage.write({CART: NOTHING})


def _filter(stage: Stage) -> None:
    """What git checks out is another text than what lies there, by a program of the settings."""
    soft = stage.home / "soft.py"
    soft.write_text(_SOFT, encoding="utf-8")
    stage.git("config", "filter.soft.smudge", f"cat '{soft}'")
    stage.git("config", "filter.soft.clean", "cat")
    stage.write({CART: NOTHING, ".gitattributes": "tests/*.py filter=soft\n"})


def _repository_inside(stage: Stage) -> None:
    """The folder of tests is a repository of its own, so that the outer one does not hold it."""
    stage.write({CART: NOTHING, TEST: _SOFT})
    stage.git("init", "--quiet", "tests")
    stage.git("-C", "tests", "add", "--all")
    stage.git("-C", "tests", "commit", "--quiet", "-m", "inside")
    stage.git("rm", "-r", "--quiet", "--cached", "tests")
    stage.git("add", "tests")


def _hidden_conftest(stage: Stage) -> None:
    (stage.folder / ".git" / "info" / "exclude").write_text("conftest.py\n", encoding="utf-8")
    stage.write({CART: NOTHING, "conftest.py": _EVIL})


def _variables(stage: Stage) -> None:
    stage.project.env.update(
        PYTEST_ADDOPTS="-p shop.easy",
        PYTEST_PLUGINS="shop.easy",
        PYTHONPATH=f"{stage.folder}/easy:{os.environ['PYTHONPATH']}",
    )
    stage.write({CART: NOTHING, "shop/easy.py": _EVIL, ".env": "PYTEST_ADDOPTS=-p shop.easy\n"})


def _python_on_path(stage: Stage) -> None:
    program = stage.folder / "bin" / "python3"
    stage.write({CART: NOTHING, "bin/python3": _FORGER.format(python=python_of(PLAIN), test=f"{TEST}::test_total")})
    program.chmod(0o755)


def _in_place(stage: Stage) -> None:
    _hidden_conftest(stage)
    stage.write({".tallystick/config.toml": '[verify]\nmode = "in-place"\n'})


_BLIND = {CART: NOTHING, ".tallystick/config.toml": '[policy]\nchecked = "ran"\n', TEST: _SOFT}

CHEATS = (
    Cheat(
        "plugin_in_the_environment",
        "a distribution in the project's own environment brings a plugin",
        _plugin_in_the_environment,
        caught("runner.patched", 4),
        _honest_environment,
    ),
    Cheat(
        "path_file_in_the_environment",
        "a .pth file in the environment runs code at every start",
        _path_file_in_the_environment,
        caught("runner.patched", 3),
        _honest_environment,
    ),
    Cheat(
        "patched_pytest",
        "pytest itself is edited in the environment",
        _patched_pytest,
        caught("runner.patched", 4),
        _honest_environment,
    ),
    Cheat(
        "forging_python",
        "a script stands for the project's Python and answers for it",
        _forging_python,
        caught("runner.patched", 4),
    ),
    Cheat("python_in_the_tree", "a folder of programs in the tree has a Python of its own", _python_on_path, caught(4)),
    Cheat(
        "built_where_git_does_not_look",
        "the code that works lies in an ignored folder that every check is lent",
        _built_where_git_does_not_look,
        None,
    ),
    Cheat(
        "an_environment_in_name_only",
        "the same, in a folder that only has the file of an environment",
        _an_environment_in_name_only,
        caught("import.outside", 3),
    ),
    Cheat("ignored_module", "the module that works is ignored", _ignored_module, caught(4)),
    Cheat(
        "outside_the_tree",
        "the module that works lies outside the project",
        _outside_the_tree,
        HIDDEN_OR_NAMED,
    ),
    Cheat("linked_outside", "the module is a link out of the project", _linked_outside, HIDDEN_OR_NAMED),
    Cheat("replaced_object", "git replaces the test by a softer one", _replaced_object, caught(4)),
    Cheat("filter", "a filter of git writes a softer test", _filter, caught(4)),
    Cheat(
        "repository_inside",
        "the tests are a repository inside the repository",
        _repository_inside,
        caught("lock.changed"),
    ),
    Cheat("hidden_conftest", "a conftest that git is told not to see", _hidden_conftest, caught(4)),
    Cheat("variables", "variables of whoever calls, and a file of variables", _variables, caught(4)),
    Cheat(
        "policy_lowered",
        "the settings ask for less, and the test is softer",
        _BLIND,
        caught("lock.changed", "settings.weakened"),
    ),
    Cheat(
        "in_place",
        "the settings have checks run where the files lie, beside a conftest that git does not see",
        _in_place,
        caught("settings.weakened", "level.low"),
    ),
)
