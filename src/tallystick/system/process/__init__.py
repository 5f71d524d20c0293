"""The only place that starts programs.

`run` is for a program that nobody vouches for: watched by a supervisor, with limits, and with every process it
started ended. `capture` is for a quick tool that we trust (git): less work, an output limit and a time limit.
Importing this costs nothing; what is heavy is imported when a program is started.
"""

from __future__ import annotations

from tallystick.system.process.finished import Finished, Limits
from tallystick.system.process.launch import PRINTED, run
from tallystick.system.process.quick import capture
from tallystick.system.process.starting import find_program

__all__ = ["PRINTED", "Finished", "Limits", "capture", "find_program", "run"]
