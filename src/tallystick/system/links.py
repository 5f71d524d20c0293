"""Symbolic links in a folder of ours, many at once. Nothing is durable, nothing that lies there is replaced."""

from __future__ import annotations

import os
from collections.abc import Mapping

from tallystick.system.faults import explained


def make_links(root: str, links: Mapping[str, str]) -> tuple[str, ...]:
    """Make each link (path below `root`) lead to its target, folders on the way included; the paths that were taken.

    Raises `Refusal` where the disk does not allow it.
    """
    taken = []
    for path, target in links.items():
        whole = os.path.join(root, path)
        try:
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            os.symlink(target, whole)
        except FileExistsError:
            taken.append(path)
        except OSError as error:
            raise explained(error, whole, "making a link") from error
    return tuple(taken)
