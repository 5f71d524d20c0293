"""Holds which ignored folders are found to be needed, that lending them changes nothing of the main tree, and that a
laying out takes what was lent away again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tallystick.errors import Refusal
from tallystick.evidence.needed import links, needed
from tallystick.evidence.startup import startup_files
from tests.real.fresh_scene import FILES, Scene, everything
from tests.real.project import Project

STRICT = "build/__editable__.pk-1-py3-none-any"


@pytest.fixture
def scene(project: Project, tmp_path: Path) -> Scene:
    scene = Scene(project, tmp_path / "store")
    scene.write(".gitignore", b"node_modules/\n.venv/\n/env\ntarget/\nbuild/\n*.log\n__pycache__/\n")
    scene.write("packages/cart/index.js", b"main\n")
    scene.write("packages/shop/index.js", b"main\n")
    scene.write("pk/__init__.py", b"WHICH = 'main'\n")
    scene.commit()
    scene.write(".venv/pyvenv.cfg", b"home = /usr/bin\n")
    scene.write("env/pyvenv.cfg", b"home = /usr/bin\n")
    scene.write("node_modules/left-pad/index.js", b"left\n")
    scene.write("packages/shop/node_modules/right-pad/index.js", b"right\n")
    (scene.top / "packages/shop/node_modules/cart").symlink_to("../../cart")
    scene.write("target/debug/app", b"built\n")
    scene.write("build/lib/pk/__init__.py", b"built\n")
    scene.write("noise.log", b"noise\n")
    (scene.top / STRICT / "pk").mkdir(parents=True)
    (scene.top / STRICT / "pk/__init__.py").symlink_to(scene.top / "pk/__init__.py")
    return scene


def test_environments_and_packages_are_found_and_what_was_built_is_not(scene: Scene) -> None:
    found = {one.path: one.kind for one in needed(FILES, scene.git)}
    assert found == {
        ".venv": "environment",
        "env": "environment",
        "node_modules": "node",
        "packages/shop/node_modules": "node",
        STRICT: "editable",
    }
    assert all(one.source == f"{scene.top}/{one.path}" for one in needed(FILES, scene.git))


def test_what_the_user_names_is_lent_too(scene: Scene) -> None:
    assert "target" in {one.path for one in needed(FILES, scene.git, ["target/"])}


@pytest.mark.parametrize("name", ["..", ".", "/etc", "noise.log", "nowhere", "a/../.."])
def test_what_is_no_folder_of_the_tree_is_not_lent(scene: Scene, name: str) -> None:
    with pytest.raises(Refusal) as caught:
        needed(FILES, scene.git, [name])
    assert caught.value.code == "input.invalid"


def test_links_lead_into_the_fresh_tree_and_are_gone_after_the_next_laying_out(scene: Scene) -> None:
    scene.write("packages/cart/index.js", b"fresh\n")
    scene.write("pk/__init__.py", b"WHICH = 'fresh'\n")
    recorded = scene.record()
    scene.write("packages/cart/index.js", b"main again\n")
    scene.write("pk/__init__.py", b"WHICH = 'main again'\n")
    before = scene.untouchable()
    with scene.fresh(recorded.tree) as fresh:
        root = Path(fresh.root)
        clean = everything(root, folders=True)
        lent = needed(FILES, scene.git)
        assert links(FILES, lent, str(scene.top), fresh.root) == ()
        assert (root / "packages/shop/node_modules/cart/index.js").read_bytes() == b"fresh\n"
        assert (root / "packages/shop/node_modules/right-pad/index.js").read_bytes() == b"right\n"
        assert (root / "node_modules/left-pad/index.js").read_bytes() == b"left\n"
        assert (root / ".venv/pyvenv.cfg").is_file()
        assert not (root / "target").exists()
        carried = root.parent.parent / "carried"
        carried.mkdir()
        for name, data in startup_files(str(scene.top), fresh.root, lent).items():
            (carried / name).write_bytes(data)
        env = {**os.environ, "PYTHONPATH": f"{carried}{os.pathsep}{scene.top / STRICT}"}
        ask = [sys.executable, "-c", "import pk; print(pk.WHICH)"]
        said = subprocess.run(ask, env=env, cwd="/", capture_output=True, text=True, check=True)
        assert said.stdout == "fresh\n"
    with scene.fresh(recorded.tree) as fresh:
        assert everything(Path(fresh.root), folders=True) == clean
    assert scene.untouchable() == before
