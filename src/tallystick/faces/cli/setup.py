"""`tallystick init` and `tallystick version`."""

from __future__ import annotations

import sys

from tallystick import __version__
from tallystick.errors import DONE
from tallystick.faces.cli.call import Call
from tallystick.ids import escaped
from tallystick.journal.record import FORMAT
from tallystick.system.place import shared_file_system


def init(call: Call) -> int:
    """Make the key of this home, and say where things lie. An existing key stays."""
    app = call.app
    made = app.home.key() is None
    app.home.make_key()
    lines = [
        f"Key      {escaped(app.home.folder)}/key, {'made now' if made else 'was there already'}",
        f"Store    {escaped(app.place.store)}" + ("" if app.store.id() else ", made with the first criteria"),
    ]
    network = shared_file_system(mounts(call), app.place.store)
    if network is not None:
        lines.append(
            f"Note     the store lies on {network}, a shared file system: locks and syncs there are not proven"
        )
    lines += ["", "Next     tallystick ledger init FEATURE criteria.md"]
    document = {"home": app.home.folder, "made": made, "store": app.place.store, "file_system": network}
    call.terminal.answer(document, lines)
    return DONE


def mounts(call: Call) -> str:
    """What is mounted where, as the kernel says it; "" where it does not."""
    try:
        fd = call.machine.files.open("/proc/self/mountinfo", 0)
    except OSError:
        return ""
    pieces = []
    try:
        while piece := call.machine.files.read(fd, 1 << 16):
            pieces.append(piece)
    except OSError:
        return ""
    finally:
        call.machine.files.close(fd)
    return b"".join(pieces).decode("utf-8", "surrogateescape")


def version(call: Call) -> int:
    """The version, the format it writes, the Python it runs on."""
    python = sys.version.split()[0]
    call.terminal.answer(
        {"version": __version__, "format": FORMAT, "python": python},
        [f"tallystick {__version__} (format {FORMAT}, Python {python})"],
    )
    return DONE
