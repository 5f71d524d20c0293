"""A command and its rules become what `system.process.run` starts."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tallystick.system.confine.means import BUBBLEWRAP, LANDLOCK, SANDBOX_EXEC, Means
from tallystick.system.confine.rules import Rules, Wrapped


def wrap(command: Sequence[str], rules: Rules, means: Means, *, folder: str = "") -> Wrapped:
    """How to start `command` in `folder` of the tree (relative to it), shut in by `means`.

    Nothing is started and nothing is written; a missing mount point inside the tree is made when the command starts.
    Raises `Refusal` "input.invalid" where a rule would make a secret visible.
    """
    from tallystick.system.confine.ground import doubts, ground_of

    ground = ground_of(rules)
    tree = ground.rules.tree
    cwd = os.path.normpath(os.path.join(tree, folder))
    place = ground.place if means.mounts else tree
    inner = os.path.normpath(os.path.join(place, folder))
    argv = tuple(command)
    if means.name == BUBBLEWRAP:
        from tallystick.system.confine.bubblewrap import bubblewrap

        argv = bubblewrap(means.program, command, ground, inner, root=os.geteuid() == 0, sized=means.sized)
    elif means.name == LANDLOCK:
        from tallystick.system.confine.landlock import landlock

        argv = landlock(means.program, command, ground, inner, namespaces=means.namespaces)
    elif means.name == SANDBOX_EXEC:
        from tallystick.system.confine.seatbelt import PROGRAM, profile

        argv = (PROGRAM, "-p", profile(ground), *command)
    return Wrapped(argv, cwd, place, doubts(ground) if means.confines else ())
