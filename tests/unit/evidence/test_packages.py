"""Holds which modules count as the project's own, in the layouts that projects have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.evidence.packages import import_roots, is_project, project_packages
from tallystick.evidence.runners.base import Tree


def tree(files: dict[str, str]) -> Tree:
    """A project of these files."""
    return Tree(tuple(files), lambda name: files[name].encode() if name in files else None)


def plain(*names: str) -> Tree:
    return tree(dict.fromkeys(names, ""))


@pytest.mark.parametrize(
    ("files", "packages"),
    [
        (plain("cart.py", "setup.py", "conftest.py", "test_cart.py", "noxfile.py"), {"cart"}),
        (plain("cart/__init__.py", "cart/prices/__init__.py", "cart/prices/a.py"), {"cart"}),
        (plain("src/cart/__init__.py", "tests/__init__.py", "tests/helper.py", "docs/conf.py"), {"cart"}),
        (plain("src/cart/tests/test_x.py", "src/cart/__init__.py"), {"cart"}),
        (plain("src/acme/cloud/cart/__init__.py", "src/acme/cloud/cart/a.py"), {"acme.cloud.cart"}),
        (plain("acme/cart/a.py", "acme/shop/b.py"), {"acme.cart", "acme.shop"}),
        (plain("fast.cpython-311-x86_64-linux-gnu.so", "no-name.py"), {"fast"}),
        (plain("packages/one/pyproject.toml", "packages/one/src/one/__init__.py"), {"one", "packages.one.src.one"}),
        (tree({"pyproject.toml": '[project]\nname = "My.Shop-2"\n'}), {"My_Shop_2"}),
        (tree({"pyproject.toml": '[tool.poetry]\nname = "till"\n[tool.flit.module]\nname = "a.b"\n'}), {"till", "a.b"}),
        (
            tree(
                {
                    "pyproject.toml": '[tool.setuptools]\npackages = ["a"]\npy-modules = ["b", 1]\n'
                    '[tool.hatch.build.targets.wheel]\npackages = ["lib/c"]\n'
                }
            ),
            {"a", "b", "c"},
        ),
        (tree({"setup.cfg": "[metadata]\nname = shop\n"}), {"shop"}),
        (tree({"setup.py": "setup(\n    name='shop',\n)\n"}), {"shop"}),
        (tree({"pyproject.toml": "[project\n"}), set()),
        (plain("README.md"), set()),
    ],
)
def test_the_projects_packages_are_those_that_lie_there_or_are_declared(files: Tree, packages: set[str]) -> None:
    assert project_packages(files) == packages


def test_further_folders_are_roots_where_the_configuration_says_so() -> None:
    files = {
        "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["lib", "../out"]\n'
        '[tool.setuptools.packages.find]\nwhere = ["./python"]\n',
        "lib/a.py": "",
        "python/b/__init__.py": "",
        "c.py": "",
    }
    assert import_roots(tree(files)) == ("", "lib/", "python/")
    assert {"a", "b", "c"} <= project_packages(tree(files))


@pytest.mark.parametrize(
    ("module", "ours"),
    [
        ("cart", True), ("cart.prices.a", True), ("cartography", False), ("acme.cloud", False), ("acme.cart.x", True),
        ("acme", False), ("cart.tests.test_x", False), ("tests.cart", False), ("cart.test_x", False), ("json", False),
        ("", False), ("cart.latest", True),
    ],
)  # fmt: skip
def test_a_module_is_the_projects_by_whole_names(module: str, ours: bool) -> None:
    assert is_project(module, frozenset({"cart", "acme.cart"})) is ours


@given(st.binary(max_size=80))
def test_any_configuration_is_read(data: bytes) -> None:
    files = Tree(("pyproject.toml", "setup.cfg", "setup.py"), lambda _: data)
    assert all(isinstance(name, str) for name in project_packages(files))
