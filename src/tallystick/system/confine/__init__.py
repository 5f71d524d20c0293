"""Shuts a program in: what a check may read, write and reach, by the best means that works on this machine.

`available` finds that means by trying it, `wrap` turns a command and its `Rules` into what `system.process.run` is to
start, `missing_because_confined` tells afterwards whether it failed only because it was shut in. Limits, output and
the end of what is left behind stay with `system.process`. Importing this costs nothing.
"""

from __future__ import annotations

from tallystick.system.confine.means import Means
from tallystick.system.confine.needs import confinement_failed, missing_because_confined
from tallystick.system.confine.probing import available
from tallystick.system.confine.rules import Rules, Wrapped
from tallystick.system.confine.wrapping import wrap

__all__ = ["Means", "Rules", "Wrapped", "available", "confinement_failed", "missing_because_confined", "wrap"]
