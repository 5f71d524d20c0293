"""Our own fault: the user gets one line, the traceback goes into a report file in the user's half."""

from __future__ import annotations

import os

from tallystick.errors import Refusal
from tallystick.system.durable import make_folders, replace_file
from tallystick.system.place import home_folder
from tallystick.wiring import Machine


def report(error: Exception, machine: Machine) -> Refusal:
    """The refusal "internal", with the place of the report. Values are left out of it: a frame's code is enough."""
    import traceback

    kind = type(error).__name__
    try:
        frames = "".join(traceback.format_tb(error.__traceback__))
        folder = f"{home_folder(machine.env)}/reports"
        path = f"{folder}/{machine.clock.now() // 1_000_000}-{os.getpid()}.txt"
        make_folders(machine.files, folder)
        replace_file(machine.files, path, f"{kind}\n{frames}".encode(), sync=False, beside=f"{path}.tmp")
        hint = f"please send {path} with what you did"
    except (Refusal, OSError):
        hint = "the report could not be written; please say what you did"
    return Refusal("internal", f"this is our own fault ({kind}); nothing that was acknowledged is lost", hint)
