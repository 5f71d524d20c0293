"""The variables of a check: few, and none that leads to our own files or to the user's."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tallystick.evidence.runners.python import OWN_FOLDER

#: Names that are let through as they are (formats 5).
LET_THROUGH = ("PATH", "LANG", "LC_ALL")


def check_environment(variables: Mapping[str, str], root: str, home: str, temporary: str) -> dict[str, str]:
    """The variables of a check in the tree `root`, out of ours: `LET_THROUGH`, and folders of its own.

    The programs of the project's own `.venv` come first on PATH, so that `run: pytest` means the project's. No Python
    leaves byte code beside the sources.
    """
    env = {name: variables[name] for name in LET_THROUGH if name in variables}
    path = env.get("PATH") or os.defpath
    own = os.path.join(root, OWN_FOLDER)
    env["PATH"] = f"{own}{os.pathsep}{path}" if os.path.isdir(own) else path
    env.update(HOME=home, TMPDIR=temporary, PYTHONDONTWRITEBYTECODE="1")
    return env
