"""`python -m tallystick`: the command line."""

from __future__ import annotations

import os
import sys

# `python -m` looks for modules where it was started, and there may lie somebody's json.py, which would run with our
# rights. (What Python looked for before it came here only `-P` keeps from there.)
if sys.path and sys.path[0] == os.getcwd() and not sys.flags.safe_path:
    del sys.path[0]

from tallystick.faces.cli.main import run

raise SystemExit(run())
