"""The variables of a check: few, and none that leads to our own files or to the user's."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tallystick.evidence.runners.python import OWN_FOLDER
from tallystick.settings import Verify

#: What another variable brings along: with LANG alone a check could have another language than whoever started it.
_TOGETHER = {"LANG": ("LC_ALL",)}
_USUAL = Verify()


def check_environment(
    variables: Mapping[str, str], root: str, home: str, temporary: str, verify: Verify = _USUAL, copy: str = ""
) -> dict[str, str]:
    """The variables of a check in the tree `root`: those of ours that `verify.env` names, what `verify.set` sets, and
    folders of its own.

    The programs of the project's own `.venv` come first on PATH, so that `run: pytest` means the project's; it may lie
    in the `copy` alone. No Python leaves byte code beside the sources.
    """
    named = [other for name in verify.env for other in (name, *_TOGETHER.get(name, ()))]
    env = {name: variables[name] for name in named if name in variables}
    env.update(verify.set)
    path = env.get("PATH") or os.defpath
    own = os.path.join(root, OWN_FOLDER)
    there = any(os.path.isdir(os.path.join(place, OWN_FOLDER)) for place in (root, copy) if place)
    env["PATH"] = f"{own}{os.pathsep}{path}" if there else path
    env.update(HOME=home, TMPDIR=temporary, PYTHONDONTWRITEBYTECODE="1")
    return env
