"""A profile for macOS' `sandbox-exec`. Pure, and not tried on a Mac yet: until somebody did, `available` never
answers it. The last rule that matches wins there, as the more exact path wins here."""

from __future__ import annotations

from tallystick.system.confine.layout import READ, Ground, visible

PROGRAM = "/usr/bin/sandbox-exec"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/dtracehelper")


def profile(ground: Ground) -> str:
    """The profile for `ground`. What it does not hold: a process that is left behind, and services of the system that
    are asked by message (`launchd` starts programs for whoever asks), so that class of services is refused whole."""
    rules: list[tuple[str, int, list[str]]] = []
    for path in ground.covered:
        rules.append((path, 1, [f"(deny file-read* file-write* {_below(path)})"]))
    for mount in visible(ground):
        lines = [f"(allow file-read* {_below(mount.source)})"]
        if mount.kind != READ:
            lines.append(f"(allow file-write* {_below(mount.source)})")
        rules.append((mount.source, 0, lines))
    head = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        *(f'(allow file-write* (literal "{device}"))' for device in _DEVICES),
        "(deny signal)",
        "(allow signal (target same-sandbox))",
        "(deny mach-lookup)",
        "(deny process-info* (target others))",
    ]
    if ground.rules.network == "loopback":
        head += [
            "(deny network*)",
            '(allow network* (local ip "localhost:*"))',
            '(allow network* (remote ip "localhost:*"))',
        ]
    body = [line for _, _, lines in sorted(rules, key=lambda rule: (rule[0].split("/"), rule[1])) for line in lines]
    return "\n".join([*head, *body]) + "\n"


def _below(path: str) -> str:
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'(subpath "{quoted}")'
