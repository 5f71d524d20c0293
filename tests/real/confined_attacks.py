"""Runs inside a confinement and tries to get out. Prints one JSON object: attack -> "done", or what stopped it.

A script of its own, standard library alone. Its first argument is `Facts` of the stage as JSON: where the things lie
that it must not get at. No attack harms what it is aimed at, also where it succeeds.
"""

from __future__ import annotations

import contextlib
import ctypes
import glob
import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

FACTS: dict[str, Any] = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
ATTACKS: dict[str, Callable[[], bool]] = {}
LIBC = ctypes.CDLL(None, use_errno=True)
NEWNS, NEWUSER = 0x20000, 0x10000000
SECRET = "the secret"


def attack(name: str) -> Callable[[Callable[[], bool]], Callable[[], bool]]:
    def enter(deed: Callable[[], bool]) -> Callable[[], bool]:
        ATTACKS[name] = deed
        return deed

    return enter


def call(name: str, *arguments: Any) -> int:
    answer: int = getattr(LIBC, name)(*arguments)
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def reads(path: str) -> bool:
    with open(path, encoding="utf-8", errors="replace") as file:
        return SECRET in file.read()


def reads_a_key() -> bool:
    try:
        return reads(FACTS["key"])
    except OSError:
        return False


def in_a_child(deed: Callable[[], bool]) -> bool:
    """Whether `deed` works in a process of its own: what it does to itself stays there."""
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(0 if deed() else 1)
        finally:
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


for thing in ("key", "store", "private", "key_in_mount"):
    attack(f"read the {thing.replace('_', ' ')}")(lambda thing=thing: reads(FACTS[thing]))  # type: ignore[misc]
attack("read the key by a symbolic link")(lambda: reads(FACTS["link"]))
attack("list the key folder")(lambda: bool(os.listdir(os.path.dirname(FACTS["key"]))))


@attack("read the key by a new hard link")
def _() -> bool:
    os.link(FACTS["key"], "linked")
    return reads("linked")


@attack("read the key from the tree upwards")
def _() -> bool:
    return any(_quietly(lambda up=up: reads("../" * up + FACTS["key"].lstrip("/"))) for up in range(12))  # type: ignore[misc]


@attack("read the key from an inherited descriptor")
def _() -> bool:
    def look(fd: int, up: int) -> bool:
        found = os.open("../" * up + FACTS["key"].lstrip("/"), os.O_RDONLY, dir_fd=fd)
        return bool(os.read(found, 64))

    return any(_quietly(lambda fd=fd, up=up: look(fd, up)) for fd in range(64) for up in range(12))  # type: ignore[misc]


@attack("read the key by somebody's root")
def _() -> bool:
    processes = glob.glob("/proc/[0-9]*")
    places = [f"{process}/{name}" for process in processes for name in ("root", "cwd" + "/.." * 12)]
    return any(_quietly(lambda place=place: reads(place + FACTS["key"])) for place in places)  # type: ignore[misc]


@attack("read the key by an open file of the process outside")
def _() -> bool:
    opened = [fd for fd in glob.glob(f"/proc/{FACTS['pid']}/fd/*") if os.path.isfile(fd)]
    return any(_quietly(lambda fd=fd: reads(fd)) for fd in opened)  # type: ignore[misc]


@attack("read the memory that holds the key")
def _() -> bool:
    with open(f"/proc/{FACTS['pid']}/mem", "rb") as file:
        file.seek(FACTS["address"])
        return SECRET.encode() in file.read(64)


@attack("read the environment of the process outside")
def _() -> bool:
    return any(
        _quietly(lambda path=path: FACTS["token"] in open(path, errors="replace").read())  # type: ignore[misc]
        for path in glob.glob("/proc/[0-9]*/environ")
    )


@attack("trace the process outside")
def _() -> bool:
    return in_a_child(lambda: call("ptrace", 0x4206, FACTS["pid"], None, None) == 0)  # seize: it goes on meanwhile


@attack("signal the process outside")
def _() -> bool:
    os.kill(FACTS["pid"], 0)
    return True


@attack("signal the parent")
def _() -> bool:
    if os.getppid() == 1:
        return False  # the first process of a namespace of its own takes none from inside
    os.kill(os.getppid(), 0)
    return True


@attack("enter the mounts of the process outside")
def _() -> bool:
    def enter() -> bool:
        with open(f"/proc/{FACTS['pid']}/ns/mnt", "rb") as space:
            call("setns", space.fileno(), NEWNS)
        return reads_a_key()

    return in_a_child(enter)


@attack("enter its mounts by a descriptor of the process")
def _() -> bool:
    return in_a_child(lambda: call("setns", os.pidfd_open(FACTS["pid"]), NEWNS) == 0 and reads_a_key())


@attack("unmount what hides the key")
def _() -> bool:
    return in_a_child(lambda: _unmount() and reads_a_key())


@attack("unmount what hides it, as root of a new namespace")
def _() -> bool:
    return in_a_child(lambda: _new_root(NEWNS) and _unmount() and reads_a_key())


@attack("mount everything writable again")
def _() -> bool:
    def remount() -> bool:
        for place in (b"/", os.path.dirname(FACTS["elsewhere"]).encode(), FACTS["bind"].encode()):
            LIBC.mount(None, place, None, ctypes.c_ulong(32 | 4096), None)
        return _writes_elsewhere()

    return in_a_child(remount)


@attack("mount everything writable again, as root of a new namespace")
def _() -> bool:
    def remount() -> bool:
        _new_root(NEWNS)
        LIBC.mount(None, os.path.dirname(FACTS["elsewhere"]).encode(), None, ctypes.c_ulong(32 | 4096), None)
        return _writes_elsewhere()

    return in_a_child(remount)


@attack("set what starts when a program dumps its core")
def _() -> bool:
    with open("/proc/sys/kernel/core_pattern", "r+b"):
        return True  # opened for writing; nothing is written


@attack("make a device")
def _() -> bool:
    os.mknod("device", 0o600 | 0o020000, os.makedev(1, 3))
    return True


@attack("open the terminal of the user")
def _() -> bool:
    os.close(os.open(FACTS["terminal"], os.O_RDWR | os.O_NOCTTY))
    return True


def _writes_elsewhere() -> bool:
    with open(FACTS["elsewhere"], "a", encoding="utf-8") as file:
        return file.write("!") == 1


attack("write a file elsewhere")(_writes_elsewhere)


for thing in ("key", "store", "private", "bound"):

    @attack(f"write the {thing}")
    def _(thing: str = thing) -> bool:
        with open(FACTS[thing], "a", encoding="utf-8") as file:
            return file.write("!") == 1


for thing in ("home", "bind", "elsewhere"):

    @attack(f"make a file beside the {thing}")
    def _(thing: str = thing) -> bool:
        place = FACTS[thing] if os.path.isdir(FACTS[thing]) else os.path.dirname(FACTS[thing])
        with open(os.path.join(place, f"new-{FACTS['token']}"), "x", encoding="utf-8") as file:
            return file.write("!") == 1


@attack("empty a file elsewhere")
def _() -> bool:
    os.truncate(FACTS["elsewhere"], 3)
    return True


@attack("rename a file elsewhere")
def _() -> bool:
    os.rename(FACTS["elsewhere"], FACTS["elsewhere"] + "!")
    os.rename(FACTS["elsewhere"] + "!", FACTS["elsewhere"])
    return True


@attack("take a file elsewhere away")
def _() -> bool:
    os.unlink(FACTS["elsewhere_too"])
    return True


@attack("open the key for everybody")
def _() -> bool:
    os.chmod(FACTS["key"], 0o604)
    return True


@attack("change the time stamp of a file elsewhere")
def _() -> bool:
    os.utime(FACTS["elsewhere"], (1, 1))
    return True


def _connect(address: tuple[str, int]) -> bool:
    with socket.create_connection(address, timeout=5) as line:
        return line.recv(8) == b"welcome"


attack("reach a port of this machine")(lambda: _connect(("127.0.0.1", FACTS["port"])))
attack("reach another address")(lambda: _connect((FACTS["address_out"], FACTS["port"])))


@attack("send a datagram out")
def _() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        return line.sendto(b"hello", (FACTS["address_out"], FACTS["port"])) == 5


def _speak(name: str) -> bool:
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(name)
        return line.recv(8) == b"welcome"


attack("speak to a socket in the home")(lambda: _speak(FACTS["socket_home"]))
attack("speak to a socket elsewhere")(lambda: _speak(FACTS["socket_elsewhere"]))
attack("speak to a socket without a file")(lambda: _speak("\0" + FACTS["token"]))


def _quietly(deed: Callable[[], bool]) -> bool:
    try:
        return deed()
    except OSError:
        return False


def _unmount() -> bool:
    """Take away every mount on the way to the key, however deep they are stacked."""
    done = False
    place = FACTS["key"]
    while place != "/":
        place = os.path.dirname(place)
        while place != "/" and LIBC.umount2(place.encode(), 2) == 0:
            done = True
    return done


def _new_root(new: int) -> bool:
    """Become root in a namespace of our own."""
    user, group = os.geteuid(), os.getegid()
    call("unshare", NEWUSER | new)
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    return True


def leave_a_daemon() -> None:
    """Leave a process behind that belongs to no session, group or terminal of ours; perhaps kill who watches us."""
    ready, told = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.close(ready)
            for fd in (0, 1, 2):
                os.close(fd)
            os.write(told, b"!")
            os.close(told)
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            while True:
                signal.pause()
        os._exit(0)
    os.wait()
    os.read(ready, 1)
    if FACTS.get("kill"):
        with contextlib.suppress(OSError):
            os.kill(os.getppid(), signal.SIGKILL)


def main() -> None:
    said: dict[str, str] = {}
    for name, deed in ATTACKS.items():
        if "mount" in name.split()[0] and FACTS["unconfined"]:
            continue  # there is nothing to unmount, and the machine is not to be touched
        try:
            said[name] = "done" if deed() else "nothing came of it"
        except OSError as error:
            said[name] = error.strerror or type(error).__name__
    print(json.dumps(said))


if __name__ == "__main__":
    leave_a_daemon() if "daemon" in FACTS else main()
