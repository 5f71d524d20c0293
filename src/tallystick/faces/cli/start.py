"""What is put right about the process before the first word and after the last: its streams, its spelling of names."""

from __future__ import annotations

import os
import sys

from tallystick.errors import REFUSED


def occupy_streams() -> None:
    """Open the null device in the place of each closed standard stream.

    Else a file of ours would get its number, and whatever is printed there would land in the file.
    """
    fd = os.open(os.devnull, os.O_RDWR)
    while fd <= 2:
        fd = os.open(os.devnull, os.O_RDWR)
    os.close(fd)


def spell_in_utf8() -> None:
    """Start this very process again in Python's UTF-8 mode (PEP 540) where the locale spells file names otherwise.

    Names and texts are bytes to git and to the disk, and UTF-8 in our files; under another locale a name that was
    cited would not be found again. It costs one more start, and only there.
    """
    if sys.getfilesystemencoding() != "utf-8" and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def settled(status: int) -> int:
    """`status`, once the answer is out; an answer that nobody takes is dropped, and 0 becomes 1 then.

    Python would complain about what is left in the buffer while it shuts down.
    """
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return status or REFUSED
    return status
