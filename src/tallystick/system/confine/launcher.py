"""Shuts itself in, then becomes the program. Run as a script of its own: `launcher.py ORDER -- PROGRAM ARGUMENTS`.

With namespaces it stays as two small processes around the program: one outside, which passes on how the program ended,
and the first one of the new process namespace, with which everything inside ends. The mounts are made before Landlock
forbids any more of them. ORDER is `landlock.order` as `marshal` in base 64: both sides are the same interpreter. It
loads nothing of Tallystick and little of the library. Exit status 125: it could not shut itself in; 126: it could not
start the program; the reason is the last line printed.

Numbers and structures are those of Linux' headers (`linux/landlock.h`, `linux/mount.h`, `linux/prctl.h`).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

NOT_SHUT_IN, NOT_STARTED = 125, 126

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _MOUNT_SETATTR = 444, 445, 446, 442
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL_DEV = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
_MAKE_CHAR, _MAKE_BLOCK, _RESOLVE_UNIX = 1 << 6, 1 << 11, 1 << 16
_READ = _EXECUTE | _READ_FILE | _READ_DIR
#: All rights over files that exist since each version of Landlock; version 9 speaks of sockets by name too.
_FILE_RIGHTS = ((9, (1 << 17) - 1), (5, (1 << 16) - 1), (3, (1 << 15) - 1))
_SCOPES = 0b11  # abstract sockets and signals stay inside; since version 6
_LEAST, _SCOPED, _KNOWN = 3, 6, 9
_OF_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV | _RESOLVE_UNIX

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = (
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
)
_NEWUSER, _NEWPID, _NEWNET = 0x10000000, 0x20000000, 0x40000000
_NEW = 0x00020000 | 0x08000000 | 0x04000000 | _NEWPID  # mounts, IPC, host name, processes
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REMOUNT, _MS_BIND, _MS_REC = 1, 2, 4, 8, 32, 4096, 16384
_PRIVATE, _RECURSIVE, _ATTR_RDONLY = 1 << 18, 0x8000, 1
_PDEATHSIG, _CAPBSET_DROP, _NO_NEW_PRIVS, _CAP_AMBIENT = 1, 24, 38, 47
_CAPABILITY_VERSION = 0x20080522
_SIOCSIFFLAGS, _UP_AND_RUNNING = 0x8914, 0x41
_SIGNALS = ("SIGINT", "SIGTERM", "SIGPIPE", "SIGXFSZ")

_libc = ctypes.CDLL(None, use_errno=True)


def main() -> NoReturn:
    """Do what the order says; returns never."""
    import binascii
    import marshal

    order = marshal.loads(binascii.a2b_base64(sys.argv[1]))
    argv = sys.argv[3:]
    try:
        _call("prctl", _PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if order["namespaces"]:
            _enter_namespaces(order["network"])
            _mount_all(order["mounts"], order["own_bytes"])
        _drop_capabilities()
        _restrict(order)
        os.chdir(order["folder"])
    except OSError as error:
        _give_up(NOT_SHUT_IN, f"cannot shut the program in: {error.filename or ''} {error.strerror}")
    if order["namespaces"]:
        _stay_first()
    for name in _SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        _give_up(NOT_STARTED, f"cannot start {argv[0]}: {error.strerror}")


def granted(path: str, shut: Sequence[str]) -> list[str]:
    """The paths that together are `path` without those of `shut`: `path` itself, or what lies between them."""
    if not any(other.startswith(path.rstrip("/") + "/") for other in shut):
        return [path]
    found = []
    for name in sorted(os.listdir(path)):
        below = os.path.join(path, name)
        if below not in shut and not os.path.islink(below):  # a link is followed by nobody here: it is granted or not
            found += granted(below, shut)
    return found


def rights(abi: int) -> int:
    """Every right over files that Landlock of version `abi` knows."""
    return next(known for since, known in _FILE_RIGHTS if abi >= since)


def _restrict(order: dict[str, Any]) -> None:
    """Grant what the order grants, and nothing else from now on, to this process and all that it starts."""
    abi = min(_libc.syscall(_CREATE_RULESET, None, 0, 1), _KNOWN)
    if abi < _LEAST:
        raise OSError(0, f"Landlock is of version {abi}, and {_LEAST} is needed")
    known = rights(abi)
    scopes = _SCOPES if abi >= _SCOPED else 0
    attributes = _words(known, 0, scopes) if scopes else _words(known)
    rules = _call("syscall", _CREATE_RULESET, attributes, len(attributes), 0)
    write = known & ~(_MAKE_CHAR | _MAKE_BLOCK | _IOCTL_DEV)
    for path in order["read"]:
        for part in granted(path, order["shut"]):
            _grant(rules, part, _READ)
    for path in order["write"]:
        for part in granted(path, order["shut"]):
            _grant(rules, part, write)
    for device in _DEVICES:
        _grant(rules, f"/dev/{device}", known & (_READ_FILE | _WRITE_FILE | _IOCTL_DEV))
    if order["namespaces"]:
        _grant(rules, "/dev/pts", known & (_READ | _WRITE_FILE | _IOCTL_DEV))
    if os.path.isdir("/dev/shm"):
        _grant(rules, "/dev/shm", write)
    _call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("syscall", _RESTRICT_SELF, rules, 0)
    os.close(rules)


def _grant(rules: int, path: str, wanted: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # it went away, or it is not for us: nothing to grant
    try:
        allowed = wanted if os.path.isdir(f"/proc/self/fd/{fd}") else wanted & _OF_A_FILE
        rule = allowed.to_bytes(8, sys.byteorder) + fd.to_bytes(4, sys.byteorder)
        _call("syscall", _ADD_RULE, rules, 1, rule, 0)
    finally:
        os.close(fd)


def _drop_capabilities() -> None:
    """Nothing of root's power but owning root's files; what root starts gets none back."""
    capability = 0
    while _libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0) == 0:
        capability += 1
    _libc.prctl(_CAP_AMBIENT, 4, 0, 0, 0)
    header = _CAPABILITY_VERSION.to_bytes(4, sys.byteorder) + bytes(4)
    _call("capset", header, bytes(24))
    if os.geteuid() == 0 and capability == 0:
        raise OSError(0, "root's capabilities cannot be given up")


def _enter_namespaces(network: bool) -> None:
    """Return in the first process of new namespaces; the one outside waits, and ends as that one ends."""
    new = _NEW | (_NEWNET if network else 0)
    user, group = os.geteuid(), os.getegid()
    if _libc.unshare(new | _NEWUSER) == 0:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    else:
        _call("unshare", new)  # root may, also where users may not
    if network:
        _raise_loopback()
    _fork_and_wait(lambda pid: os.waitpid(pid, 0)[1])
    _call("prctl", _PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _stay_first() -> None:
    """Return in the program-to-be; the first process of the namespace reaps until that one ends, then all end."""

    def wait(pid: int) -> int:
        while True:
            ended, status = os.wait()
            if ended == pid:
                return status

    _fork_and_wait(wait)


def _fork_and_wait(wait: Any) -> None:
    """Return in a child; its parent stays until `wait(pid)` gives a status, and ends with the same."""
    pid = os.fork()
    if pid == 0:
        return
    for name in _SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_IGN)  # asked to end, we give the program its time
    status = os.waitstatus_to_exitcode(wait(pid))
    if status < 0 and os.getpid() != 1:
        for name in _SIGNALS:
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status if status >= 0 else 128 - status)


def _raise_loopback() -> None:
    import fcntl

    fd = _call("socket", 2, 2 | 0o2000000, 0)  # IPv4, datagrams, closed by exec
    fcntl.ioctl(fd, _SIOCSIFFLAGS, b"lo".ljust(16, b"\0") + _UP_AND_RUNNING.to_bytes(2, sys.byteorder) + bytes(22))
    os.close(fd)


def _mount_all(mounts: Sequence[tuple[str, str, str]], own_bytes: int) -> None:
    """Make all the machine read-only, then the mounts of `layout.layout` on it, with /dev and /proc of our own."""
    sources = {source: os.open(source, os.O_PATH | os.O_CLOEXEC) for _, _, source in mounts if source}
    devices = {name: os.open(f"/dev/{name}", os.O_PATH | os.O_CLOEXEC) for name in _DEVICES}
    try:
        _set_attributes("/", _words(_ATTR_RDONLY, 0, _PRIVATE, 0))
        _make_devices(devices, own_bytes)
        for kind, place, source in mounts:
            _prepare(place, os.path.isdir(f"/proc/self/fd/{sources[source]}") if source else kind != "nothing")
            if kind in ("read", "write"):
                _bind(sources[source], place, writable=kind == "write")
            elif kind == "nothing":
                _bind(devices["null"], place, writable=False)
            else:
                _temporary(place, own_bytes, "1777" if kind == "own" else "0755")
        for kind, place, _ in mounts:
            if kind == "empty":
                _seal(place)
        # A machine that shows us only parts of its /proc gives no new one; then the old one stays, as it is.
        _libc.mount(b"proc", b"/proc", b"proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC, None)
    finally:
        for fd in (*sources.values(), *devices.values()):
            os.close(fd)


def _make_devices(devices: dict[str, int], own_bytes: int) -> None:
    _temporary("/dev", 1 << 16, "0755")
    for name, fd in devices.items():
        _prepare(f"/dev/{name}", False)
        _bind(fd, f"/dev/{name}", writable=True)
    for name, target in _LINKS:
        os.symlink(target, f"/dev/{name}")
    os.mkdir("/dev/pts")
    _mount("devpts", "/dev/pts", "devpts", _MS_NOSUID | _MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
    os.mkdir("/dev/shm")
    _temporary("/dev/shm", own_bytes, "1777")
    _seal("/dev")


def _prepare(place: str, folder: bool) -> None:
    """A mount point, where there is none yet and one can be made."""
    if folder:
        os.makedirs(place, exist_ok=True)
    elif not os.path.lexists(place):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def _temporary(place: str, size: int, mode: str) -> None:
    _mount("tmpfs", place, "tmpfs", _MS_NOSUID | _MS_NODEV, f"size={size},mode={mode}")


def _seal(place: str) -> None:
    _mount("", place, "", _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV, "")


def _bind(fd: int, place: str, *, writable: bool) -> None:
    _mount(f"/proc/self/fd/{fd}", place, "", _MS_BIND | _MS_REC, "")
    if writable:
        _set_attributes(place, _words(0, _ATTR_RDONLY, 0, 0))


def _mount(source: str, place: str, kind: str, flags: int, options: str) -> None:
    texts = [os.fsencode(text) for text in (source, place, kind, options)]
    if _libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), place)


def _set_attributes(place: str, attributes: bytes) -> None:
    _call("syscall", _MOUNT_SETATTR, -1, os.fsencode(place), _RECURSIVE, attributes, len(attributes))


def _words(*values: int) -> bytes:
    return b"".join(value.to_bytes(8, sys.byteorder) for value in values)


def _call(name: str, *arguments: Any) -> int:
    """A function of the C library that answers -1 when it fails; raises `OSError` then."""
    wide = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    answer: int = getattr(_libc, name)(*wide)
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), name)
    return answer


def _give_up(status: int, reason: str) -> NoReturn:
    os.write(2, f"tallystick: {reason}\n".encode("utf-8", "backslashreplace"))
    os._exit(status)


if __name__ == "__main__":
    main()
