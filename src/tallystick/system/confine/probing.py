"""Finds the means of confinement that works here by trying them, the best one first."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable

from tallystick.errors import Refusal
from tallystick.system.confine.means import BUBBLEWRAP, LANDLOCK, UNSANDBOXED, Means
from tallystick.system.confine.rules import Rules
from tallystick.system.confine.wrapping import wrap
from tallystick.system.process import capture, find_program
from tallystick.system.scratch import lay, scratch_folder

#: Where bubblewrap is looked for: in the system's folders alone, since whoever sets PATH could bring his own.
SYSTEM_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/usr/sbin")

#: Asks from inside: is what is hidden readable, is the tree writable, is the network our own? Builtins of sh only.
_QUESTION = """\
if read -r word < "$1"; then exit 41; fi 2> /dev/null
: > "$2" || exit 42
test "$3" = own || exit 0
while read -r name rest; do
    case $name in *:*) case $name in lo:*) ;; *) exit 43 ;; esac ;; esac
done < /proc/net/dev
"""
_ANSWERS = {
    41: "what should be hidden could be read",
    42: "the tree could not be written",
    43: "the network was not its own",
}
_TRIAL_S = 20.0


_found: list[Means] = []


def available() -> Means:
    """The best means that works here: tried for real once, then remembered for this process. About 0.1 s."""
    if not _found:
        _found.append(choose(candidates(), attempt))
    return _found[0]


def choose(offered: Iterable[Means], attempt: Callable[[Means], str]) -> Means:
    """The first of `offered` for which `attempt` answers "" (else why it does not work). Pure but for `attempt`."""
    tried: list[str] = []
    for means in offered:
        reason = attempt(means)
        if not reason:
            return means._replace(tried=tuple(tried))
        tried.append(f"{means.word}: {reason}")
    return Means(UNSANDBOXED, tried=tuple(tried))


def candidates() -> list[Means]:
    """What could work on this system, the best first; nothing is started but bubblewrap for its own help."""
    if not sys.platform.startswith("linux"):
        return []
    program = find_program("bwrap", os.pathsep.join(SYSTEM_FOLDERS)) or ""
    sized = bool(program) and "--size" in capture((program, "--help"), "/", {}, timeout_s=_TRIAL_S).text()
    return [
        Means(BUBBLEWRAP, program, sized=sized),
        Means(LANDLOCK, sys.executable, namespaces=True),
        Means(LANDLOCK, sys.executable),
    ]


def attempt(means: Means) -> str:
    """Why `means` does not work here; "" if it does. Runs a shell in it, in a temporary folder."""
    if not means.program:
        return "not installed"
    with scratch_folder(folders=("tree", "home", "hidden")) as folder:
        secret = lay(f"{folder}/hidden", "secret", b"secret\n")
        rules = Rules(f"{folder}/tree", f"{folder}/home", secret=(f"{folder}/hidden",))
        question = ("/bin/sh", "-c", _QUESTION, "sh", secret, f"{folder}/tree/written", "own" if means.whole else "")
        try:
            wrapped = wrap(question, rules, means)
            done = capture(wrapped.argv, wrapped.cwd, {}, timeout_s=_TRIAL_S, missing="check.no_runner")
        except Refusal as refusal:
            return refusal.message
        if done.ok and os.path.exists(f"{folder}/tree/written"):
            return ""
    said = (done.err or done.out).decode("utf-8", "replace").strip().splitlines()
    return _ANSWERS.get(done.status or 0) or (said[-1][:200] if said else f"it ended with {done.status}")
