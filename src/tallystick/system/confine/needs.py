"""Did a program fail only because it was shut in? Then it needs something; it is not red."""

from __future__ import annotations

import os
from collections.abc import Iterable

from tallystick.system.confine.rules import ALL, Rules, within
from tallystick.system.process.finished import Finished

#: What tools say of a program, file or host that is not there or may not be used; the group is its name.
_NAMES = (
    r"^bwrap: execvp (.+): (?:No such file|Permission denied)",
    r"^tallystick: cannot start (.+): ",
    r"^(?:/\S+/)?(?:ba|da|k|z)?sh: (?:line )?(?:\d+: )*(\S+): (?:(?:command )?not found|Permission denied)",
    r"^(?:/\S+/)?zsh:(?:\d+:)? command not found: (\S+)",
    r"^(?:/usr/bin/)?env: ['‘]?([^'’\n:]+)['’]?: (?:No such file|Permission denied)",
    r"^make(?:\[\d+\])?: (\S+): No such file",
    r"(?:FileNotFound|Permission|OS)Error: \[Errno (?:2|13|30)\] [A-Z][\w -]+: ['\"](.+?)['\"]$",
    r"\b(?:ENOENT|EACCES|EROFS): [^'\n]*'([^'\n]+)'",
    r"\bspawn (\S+) (?:ENOENT|EACCES)",
    r"exec: \"([^\"\n]+)\": executable file not found",
    r"[:\s](/[^\s:'\"]+): (?:Read-only file system|Permission denied)",
)
_NETWORK = (
    r"Network is unreachable|network is unreachable|ENETUNREACH|EAI_AGAIN|Temporary failure in name resolution"
    r"|Could not resolve host|Name or service not known|no such host|getaddrinfo ENOTFOUND"
)
_REFUSED = r"Permission|Read-only|Errno 13|Errno 30|EACCES|EROFS"
NETWORK = "the network"


def missing_because_confined(finished: Finished, rules: Rules, path: str) -> str | None:
    """The name of what the program lacked only because of `rules`: a program, a file or "the network"; else None.

    `path` is the PATH it was given. Read from what it printed, so a check can say it without need; that makes it
    *not green* either way. A secret is never something that a check needs.
    """
    import re

    if finished.ok:
        return None
    text = finished.text()
    for pattern in _NAMES:
        for match in re.finditer(pattern, text, re.MULTILINE):
            name = match[1].strip()
            if _shut(name, match[0], rules, path):
                return name
    return NETWORK if rules.network != ALL and re.search(_NETWORK, text) else None


def confinement_failed(finished: Finished) -> str | None:
    """Why the program was not started: what bubblewrap or our launcher said last. None where it ran."""
    if finished.ok or finished.stopped:
        return None
    last = finished.text().rstrip().rpartition("\n")[2]
    return last if last.startswith(("bwrap: ", "tallystick: ")) else None


def _shut(name: str, said: str, rules: Rules, path: str) -> bool:
    """Whether `name` is there for us, and the rules take it away; `said` is what the program said of it."""
    import re

    from tallystick.system.confine.ground import CLOSED_FOLDERS, OWN_FOLDERS

    if "/" not in name:
        from tallystick.system.process.starting import find_program

        name = find_program(name, path) or ""
    if not os.path.isabs(name):
        return False  # nowhere on our PATH either, or relative to the tree, of which nothing is hidden
    place = _real(name)
    if _below(place, rules.secret) or _below(place, _free(rules)):
        return False
    if _below(place, (*rules.hidden, *OWN_FOLDERS, *CLOSED_FOLDERS)):
        return os.access(place, os.R_OK)
    return bool(re.search(_REFUSED, said)) and os.access(
        place if os.path.exists(place) else os.path.dirname(place), os.W_OK
    )


def _free(rules: Rules) -> tuple[str, ...]:
    """Where the rules take nothing away."""
    places = (at for _, at in rules.binds)
    return tuple(filter(None, (rules.tree, rules.mount_at, rules.home, *rules.writable, *rules.read_only, *places)))


def _below(place: str, folders: Iterable[str]) -> bool:
    return any(within(place, _real(folder)) for folder in folders)


def _real(path: str) -> str:
    return os.path.realpath(path)
