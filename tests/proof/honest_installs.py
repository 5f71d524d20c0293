"""Honest tasks whose package is installed: editable in every style, into environments that name the main tree.

In each of the editable ones the main tree differs on purpose: it holds `local.py`, which git ignores and which makes
the tests red. Whoever tests the main tree instead of the recorded state raises a false alarm.
"""

from __future__ import annotations

from pathlib import Path

from tests.proof.environments import BUILD, install_editable, own_environment, python_of
from tests.proof.scene import IGNORED, Scene, Stage, asks, caught

LOCAL = "RATE = 0  # this developer's own\n"
IGNORED_LOCAL = IGNORED + "local.py\n"
RATED = "try:\n    from shop.local import RATE\nexcept ImportError:\n    RATE = 1\n\n\n"
ABSENT = "def total(lines):\n    raise NotImplementedError\n"
PRESENT = RATED + "def total(lines):\n    return sum(lines) * RATE\n"
TESTS = {"tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"}
IDS = "tests/test_cart.py::test_total"
PROJECT = '[project]\nname = "shop"\nversion = "1.0"\n\n[build-system]\n'
SETUPTOOLS = PROJECT + 'requires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n\n'
HATCHLING = PROJECT + 'requires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n'
BELOW_SRC = '[tool.setuptools.packages.find]\nwhere = ["src"]\n'


def installed(stage: Stage, folder: str, *settings: str) -> None:
    """An environment of the project's own, the main tree's `local.py`, then the editable install."""
    python = own_environment(stage.folder)
    stage.write({f"{folder}/shop/local.py": LOCAL})
    stage.run(*install_editable(python, stage.folder, settings=settings))


def editable(name: str, says: str, build: str, folder: str = "src", settings: tuple[str, ...] = ()) -> Scene:
    """A package in `folder`, installed editable by what `build` says in pyproject.toml."""
    return Scene(
        name=name,
        says=says,
        criteria=(asks(IDS),),
        start={
            ".gitignore": IGNORED_LOCAL,
            "pyproject.toml": build,
            f"{folder}/shop/__init__.py": "",
            f"{folder}/shop/cart.py": ABSENT,
        },
        tests=TESTS,
        work={f"{folder}/shop/cart.py": PRESENT},
        prepare=lambda stage: installed(stage, folder, *settings),
        python=BUILD,
    )


def workspace(stage: Stage) -> None:
    """Both members of a workspace installed into one environment at its top."""
    python = own_environment(stage.folder)
    stage.write({"packages/shop/src/shop/local.py": LOCAL})
    stage.run(*install_editable(python, stage.folder / "packages/shop", stage.folder / "packages/front"))


def in_a_worktree(stage: Stage) -> None:
    """The implementer's work tree, with the environment of the main one, whose package is still wrong."""
    folder = stage.home / "beside"
    stage.git("worktree", "add", "--quiet", "-b", "implementer", str(folder))
    (folder / ".venv").symlink_to(stage.folder / ".venv")
    stage.move(folder)
    stage.write({"shop/cart.py": PRESENT})


def of_another_clone(stage: Stage, code: str) -> None:
    """An environment whose editable install names another clone with `code` in it, which a check can read."""
    other = stage.readable() / "other"
    stage.git("clone", "--quiet", str(stage.folder), str(other))
    (other / "src/shop/cart.py").write_text(code, encoding="utf-8")
    stage.run(*install_editable(own_environment(stage.folder), other))


def work_in_another_clone(stage: Stage) -> None:
    """The implementer works in the clone that is installed."""
    said = stage.run(own_python(stage), "-c", "import shop.cart; print(shop.cart.__file__)")
    Path(said.out.strip()).write_text(PRESENT, encoding="utf-8")


def own_python(stage: Stage) -> Path:
    """The Python of the project's own environment."""
    return stage.folder / ".venv" / "bin" / "python"


def copied(stage: Stage) -> None:
    """The package as it was at the start, installed as a copy."""
    python = own_environment(stage.folder)
    words = install_editable(python)
    stage.run(*words, str(stage.folder))


def elsewhere(stage: Stage) -> None:
    """An environment that lies elsewhere, with a link to it."""
    (stage.folder / ".venv").symlink_to(python_of(BUILD).parent.parent)


def built(stage: Stage, folder: str) -> None:
    """The extension, compiled into an ignored folder of the work tree."""
    python = own_environment(stage.folder)
    stage.run(python, "setup.py", "--quiet", "build_ext", "--build-lib", folder, "--build-temp", stage.home / "objects")


FAST = (
    "#include <Python.h>\n"
    "static PyObject *twice(PyObject *self, PyObject *arg) {\n    return PyNumber_Add(arg, arg);\n}\n"
    'static PyMethodDef methods[] = {{"twice", twice, METH_O, ""}, {NULL, NULL, 0, NULL}};\n'
    'static struct PyModuleDef fast = {PyModuleDef_HEAD_INIT, "fast", "", -1, methods};\n'
    "PyMODINIT_FUNC PyInit_fast(void) { return PyModule_Create(&fast); }\n"
)
SETUP = 'from setuptools import Extension, setup\n\nsetup(name="shop", ext_modules=[Extension("fast", ["fast.c"])])\n'
TWICE = "import fast\n\n\ndef total(lines):\n    return fast.twice(sum(lines))\n"
TWICE_TESTS = {"tests/test_cart.py": TESTS["tests/test_cart.py"].replace("== 3", "== 6").replace("shop.cart", "cart")}


def trusting(stage: Stage) -> None:
    """The tests, and a person who lets the settings' own commands run."""
    stage.write(TWICE_TESTS)
    stage.person("trust", "trust", "--yes")


SCENES = (
    editable(
        "setuptools-finder",
        "setuptools' finder, for a package whose folder is named by a table",
        SETUPTOOLS + '[tool.setuptools]\npackages = ["shop"]\npackage-dir = { shop = "code/shop" }\n',
        "code",
    ),
    editable("setuptools-path", "setuptools' path file, for a package below src", SETUPTOOLS + BELOW_SRC),
    editable(
        "setuptools-strict",
        "setuptools' folder of links to single files",
        SETUPTOOLS + BELOW_SRC,
        settings=("editable_mode=strict",),
    ),
    editable(
        "hatchling", "hatchling's path file", HATCHLING + '[tool.hatch.build.targets.wheel]\npackages = ["src/shop"]\n'
    ),
    editable(
        "hatchling-exact",
        "hatchling's exact mode, with a finder of the library editables",
        HATCHLING + "[tool.hatch.build]\ndev-mode-exact = true\n\n[tool.hatch.build.targets.wheel]\n"
        'packages = ["src/shop"]\n',
    ),
    Scene(
        name="workspace",
        says="a workspace of two members, one of which uses the other, both editable in one environment",
        criteria=(asks("packages/front/tests/test_page.py::test_page"),),
        start={
            ".gitignore": IGNORED_LOCAL,
            "pyproject.toml": '[tool.uv.workspace]\nmembers = ["packages/*"]\n'
            '\n[tool.pytest.ini_options]\naddopts = "-q"\n',
            "packages/shop/pyproject.toml": HATCHLING,
            "packages/shop/src/shop/__init__.py": "",
            "packages/shop/src/shop/cart.py": ABSENT,
            "packages/front/pyproject.toml": HATCHLING.replace('"shop"', '"front"')
            + "[tool.uv.sources]\nshop = { workspace = true }\n",
            "packages/front/src/front/__init__.py": "",
            "packages/front/src/front/page.py": '"""Pages."""\n',
        },
        tests={
            "packages/front/tests/test_page.py": "from front.page import page\n\n\ndef test_page():\n"
            '    assert page([1, 2]) == "3 in all"\n'
        },
        work={
            "packages/shop/src/shop/cart.py": PRESENT,
            "packages/front/src/front/page.py": "from shop.cart import total\n\n\ndef page(lines):\n"
            '    return f"{total(lines)} in all"\n',
        },
        prepare=workspace,
        python=BUILD,
    ),
    Scene(
        name="worktree-with-mains-environment",
        says="a linked work tree uses the main one's environment, whose install names the main tree, still wrong",
        criteria=(asks(IDS),),
        start={
            ".gitignore": IGNORED_LOCAL,
            "pyproject.toml": SETUPTOOLS + '[tool.setuptools]\npackages = ["shop"]\n',
            "shop/__init__.py": "",
            "shop/cart.py": ABSENT,
        },
        tests=TESTS,
        work=in_a_worktree,
        prepare=lambda stage: installed(stage, ""),
        python=BUILD,
    ),
    Scene(
        name="install-of-another-clone",
        says="the install names another clone whose code is wrong, but the configuration puts this one's first",
        criteria=(asks(IDS),),
        start={
            "pyproject.toml": SETUPTOOLS + BELOW_SRC + '\n[tool.pytest.ini_options]\npythonpath = ["src"]\n',
            "src/shop/__init__.py": "",
            "src/shop/cart.py": ABSENT,
        },
        tests=TESTS,
        work={"src/shop/cart.py": PRESENT},
        prepare=lambda stage: of_another_clone(stage, "def total(lines):\n    return 7\n"),
        python=BUILD,
    ),
    Scene(
        name="only-another-clone-is-right",
        says="the twin that must not be proven: what is installed and right is another clone's",
        criteria=(asks(IDS),),
        start={"pyproject.toml": SETUPTOOLS + BELOW_SRC, "src/shop/__init__.py": "", "src/shop/cart.py": ABSENT},
        tests=TESTS,
        work={"README.md": "# Done over there\n"},
        after=(work_in_another_clone,),
        prepare=lambda stage: of_another_clone(stage, ABSENT),
        expect=caught("import.outside", "check.red", "check.no_tests"),  # named, or hidden below the temporary folder
        python=BUILD,
    ),
    Scene(
        name="stale-copy-installed",
        says="an older version of the package itself is installed as a copy",
        criteria=(asks(IDS),),
        start={
            "pyproject.toml": SETUPTOOLS + BELOW_SRC + '\n[tool.pytest.ini_options]\npythonpath = "src"\n',
            "src/shop/__init__.py": "",
            "src/shop/cart.py": ABSENT,
        },
        tests=TESTS,
        work={"src/shop/cart.py": PRESENT},
        prepare=copied,
        python=BUILD,
    ),
    Scene(
        name="console-script",
        says="a test calls the command that the editable install put into the environment",
        criteria=(asks("tests/test_shop.py::test_says"),),
        start={
            "pyproject.toml": SETUPTOOLS.replace(
                "\n[build", '\n[project.scripts]\nshop-total = "shop.main:main"\n\n[build'
            )
            + BELOW_SRC,
            "src/shop/__init__.py": "",
            "src/shop/main.py": "def main():\n    return 1\n",
        },
        tests={
            "tests/test_shop.py": "import subprocess\n\n\ndef test_says():\n"
            '    done = subprocess.run(["shop-total", "1", "2"], capture_output=True, text=True)\n'
            '    assert (done.stdout, done.stderr, done.returncode) == ("3\\n", "", 0)\n'
        },
        work={"src/shop/main.py": "import sys\n\n\ndef main():\n    print(sum(map(int, sys.argv[1:])))\n"},
        prepare=lambda stage: stage.run(*install_editable(own_environment(stage.folder), stage.folder)),
        python=BUILD,
    ),
    Scene(
        name="environment-elsewhere",
        says="the environment lies outside the project, which holds a link to it",
        criteria=(asks(IDS),),
        start={"shop/__init__.py": "", "shop/cart.py": ABSENT},
        tests=TESTS,
        work={"shop/cart.py": "def total(lines):\n    return sum(lines)\n"},
        prepare=elsewhere,
    ),
    Scene(
        name="extension-lent",
        says="a compiled extension in an ignored folder that the settings lend",
        criteria=(asks(IDS),),
        start={
            ".gitignore": IGNORED + "native/\n",
            ".tallystick/config.toml": '[verify]\nlink = ["native"]\n',
            "pytest.ini": "[pytest]\npythonpath = . native\n",
            "setup.py": SETUP,
            "fast.c": FAST,
            "cart.py": ABSENT,
        },
        tests=TWICE_TESTS,
        work={"cart.py": TWICE},
        prepare=lambda stage: built(stage, "native"),
        needs=("c compiler",),
        python=BUILD,
    ),
    Scene(
        name="extension-built",
        says="a compiled extension beside the sources, built anew in each copy by the settings",
        criteria=(asks(IDS),),
        start={
            ".tallystick/config.toml": '[verify]\nsetup = [["python", "setup.py", "-q", "build_ext", "--inplace"]]\n',
            "pytest.ini": "[pytest]\npythonpath = .\n",
            "setup.py": SETUP,
            "fast.c": FAST,
            "cart.py": ABSENT,
        },
        tests=trusting,
        work={"cart.py": TWICE},
        needs=("c compiler",),
        python=BUILD,
    ),
)
