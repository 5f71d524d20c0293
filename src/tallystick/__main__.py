"""`python -m tallystick`: the command line."""

from __future__ import annotations

from tallystick.faces.cli.main import run

raise SystemExit(run())
