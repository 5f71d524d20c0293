"""What is carried beside a check that runs where nothing can be mounted: the start-up file and its places.

`runners/repoint.py` says what it does. The files go into a folder of the run, which is put first on PYTHONPATH.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from tallystick.errors import Refusal
from tallystick.evidence.needed import KINDS, Needed
from tallystick.evidence.runners.repoint import PLACES

START_UP = "sitecustomize.py"


def startup_files(main: str, fresh: str, lent: Iterable[Needed]) -> dict[str, bytes]:
    """Name and content of each file to carry, so that Python looks in the tree `fresh` for what it knows in `main`.

    What is `lent` stays where it is, unless it leads back into the tree.

    Raises `Refusal` "internal" where the installation is not whole.
    """
    import pkgutil

    source = pkgutil.get_data("tallystick.evidence.runners", "repoint.py")
    if source is None:
        raise Refusal("internal", "repoint.py is not part of this installation", "install Tallystick again")
    fields = (main, fresh, *(one.path for one in lent if not KINDS[one.kind].links))
    return {START_UP: source, PLACES: b"\0".join(map(os.fsencode, fields))}
