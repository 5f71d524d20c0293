"""From rules to what lies on this machine: real paths, other names of hidden places, sockets that listen outside."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from tallystick.errors import Refusal
from tallystick.ids import shown
from tallystick.system.confine.layout import Ground
from tallystick.system.confine.rules import Rules, moved, within

#: Folders of the system of which a program gets its own, and those that it finds empty: sockets of services lie there.
OWN_FOLDERS = ("/tmp", "/var/tmp")
CLOSED_FOLDERS = ("/run", "/var/run")
_MOST_SOCKETS = 500
_MOST_LOOKED_AT = 64


def ground_of(rules: Rules) -> Ground:
    """`rules` on this machine. Raises `Refusal` "input.invalid" where a rule would make a secret visible."""
    real = _real(rules)
    hidden = [path for path in (*real.hidden, *real.secret) if os.path.lexists(path)]
    mounts = _text("/proc/self/mountinfo")
    covered = {other for path in hidden for other in (path, *other_names(mounts, path)) if os.path.lexists(other)}
    ground = Ground(
        real,
        tuple(sorted(covered)),
        frozenset(path for path in covered if not os.path.isdir(path)),
        _folders(OWN_FOLDERS),
        _folders(CLOSED_FOLDERS),
        tuple(path for path in listening(_text("/proc/net/unix")) if _is_socket(path)),
        os.path.realpath("/etc/resolv.conf"),
    )
    if not os.path.lexists(ground.resolver):
        ground = ground._replace(resolver="")
    _keep_secrets(ground)
    return ground


def doubts(ground: Ground) -> tuple[str, ...]:
    """What cannot be shut on this machine for these rules: a second hard link of a secret has a name that we do not
    know, and with the machine's own network its abstract sockets are reachable too."""
    found = [f"{shown(path)} has a further name (a hard link) that may be readable" for path in _linked(ground)]
    if ground.rules.network != "loopback":
        found.append("with the whole network, services of this machine can be asked to do something")
    return tuple(found)


def other_names(mountinfo: str, path: str) -> tuple[str, ...]:
    """Under which further paths the place `path` is visible, because its file system is mounted there too. Pure."""
    rows = list(_mounts(mountinfo))
    around = [row for row in rows if within(path, row[2])]
    if not around:
        return ()
    device, root, point = max(enumerate(around), key=lambda row: (len(row[1][2]), row[0]))[1]
    inside = moved(path, point, root)
    found: dict[str, None] = {}
    for other_device, other_root, other_point in rows:
        if other_device != device or other_point == point:
            continue
        if within(inside, other_root):
            found[moved(inside, other_root, other_point)] = None
        elif within(other_root, inside):
            found[other_point] = None
    return tuple(name for name in found if not within(name, path))


def listening(unix: str) -> tuple[str, ...]:
    """The absolute paths of sockets out of the text of /proc/net/unix. Pure."""
    paths = [row.split(None, 7)[7] for row in unix.splitlines()[1:] if len(row.split(None, 7)) == 8]
    return tuple(dict.fromkeys(path for path in paths if path.startswith("/")))[:_MOST_SOCKETS]


def _mounts(mountinfo: str) -> Iterable[tuple[str, str, str]]:
    """Device, root inside its file system and mount point of every mount."""
    for row in mountinfo.splitlines():
        fields = row.split()
        if len(fields) > 4:
            yield fields[2], _plain(fields[3]), _plain(fields[4])


def _plain(field: str) -> str:
    """A path of mountinfo without the octal escapes of blanks and line ends."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field


def _real(rules: Rules) -> Rules:
    """Every path without symbolic links. A place keeps its last name: a link there is mounted over, not followed."""
    real = os.path.realpath
    at = real(rules.mount_at) if rules.mount_at else ""
    binds = []
    for source, place in rules.binds:
        above, name = os.path.split(os.path.normpath(place))
        binds.append((real(source), os.path.join(real(above), name)))
    return rules._replace(
        tree=real(rules.tree),
        home=real(rules.home),
        writable=tuple(map(real, rules.writable)),
        hidden=tuple(map(real, rules.hidden)),
        secret=tuple(map(real, rules.secret)),
        read_only=tuple(map(real, rules.read_only)),
        mount_at="" if at == real(rules.tree) else at,
        binds=tuple(binds),
    )


def _keep_secrets(ground: Ground) -> None:
    rules = ground.rules
    asked = (rules.tree, rules.home, *rules.writable, *rules.read_only, *(source for source, _ in rules.binds))
    for path in asked:
        for secret in rules.secret:
            if within(path, secret):
                raise Refusal(
                    "input.invalid",
                    f"{shown(path, 200)} lies in {shown(secret, 200)}, which no check may see",
                    "take away the link or the setting that leads there",
                )


def _linked(ground: Ground) -> list[str]:
    found = []
    for secret in ground.rules.secret:
        try:
            names = [os.path.join(secret, name) for name in os.listdir(secret)] if os.path.isdir(secret) else [secret]
            for name in sorted(names)[:_MOST_LOOKED_AT]:
                seen = os.lstat(name)
                if stat.S_ISREG(seen.st_mode) and seen.st_nlink > 1:
                    found.append(name)
        except OSError:
            continue  # who cannot look has nothing to lose there
    return found


def _folders(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(real for name in names if os.path.isdir(real := os.path.realpath(name))))


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""  # no Linux
