"""Finding a program, ending its process group, and saying why it could not be started."""

from __future__ import annotations

import os

from tallystick.errors import Refusal
from tallystick.ids import shown


def find_program(name: str, path: str) -> str | None:
    """Where a program of that name lies in the folders of `path` (as in PATH), None if nowhere."""
    import shutil

    return shutil.which(name, path=path)


def kill_group(pid: int) -> None:
    """End the process group that `pid` leads, if anybody is left in it."""
    import signal

    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS says the second where only a zombie is left
        return


def not_started(program: str, cwd: str, number: int, no_folder: bool, code: str) -> Refusal:
    """The refusal for a program that could not be started; `number` is the system's errno."""
    import errno

    if no_folder:
        return Refusal(code, f"the folder {shown(cwd)} cannot be entered: {os.strerror(number)}", "give a folder")
    reasons = {
        errno.ENOENT: "there is no such program",
        errno.EACCES: "it may not be executed",
        errno.ENOEXEC: "it is no program: a script begins with a line like #!/bin/sh",
    }
    reason = reasons.get(number, os.strerror(number))
    return Refusal(code, f"{shown(program)} cannot be started: {reason}", "install it, or put its folder on PATH")
