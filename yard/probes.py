"""What a test may need of a machine: one table of probes, for whole groups (`groups.py`) and for single tests.

A probe answers "" where the need is met, else the reason in a few words. It looks, it changes nothing.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

_SUPERUSER_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def missing(need: str) -> str:
    """Why this machine cannot meet `need`, a row of `PROBES`; "" if it can. Asked once for each need and process."""
    return _asked(need)


@functools.cache
def _asked(need: str) -> str:
    return PROBES[need]()


def program(name: str) -> str | None:
    """The path of a program, looked for in the superuser's folders too, which a plain PATH leaves out."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", os.defpath), *_SUPERUSER_FOLDERS]))


def _programs(*names: str) -> str:
    absent = [name for name in names if program(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


def _answers(*argv: str) -> bool:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return False
    return done.returncode == 0


def _loop_mounts() -> str:
    if sys.platform != "linux":
        return "power cuts are played on Linux only"
    if os.geteuid() != 0:
        return "only root can mount a disk image"
    absent = _programs("mkfs.ext4", "losetup", "mount", "umount")
    if absent:
        return absent
    return "" if _answers(str(program("losetup")), "--find") else "the kernel offers no loop device here"


def _strace() -> str:
    absent = _programs("strace")
    if absent:
        return absent
    tracer = str(program("strace"))
    return "" if _answers(tracer, "-o", os.devnull, sys.executable, "-c", "pass") else "tracing is not permitted here"


def _node() -> str:
    from yard import node

    return node.lacks()


def _node_packages() -> str:
    from yard import node

    return node.lacks() or ("" if node.fetched() else "python3 dev.py test faces fetches them")


def _official_client() -> str:
    there = importlib.util.find_spec("mcp") is not None
    return "" if there else "the package mcp is not installed; python3 dev.py test faces fetches it"


def _scan_library() -> str:
    there = importlib.util.find_spec("detect_secrets") is not None
    return "" if there else "the package detect-secrets is not installed; python3 dev.py test unit fetches it"


def _read_only_mounts() -> str:
    if sys.platform != "linux":
        return "mount spaces are of Linux only"
    return (
        "" if _answers("unshare", "-m", "mount", "--bind", "-o", "ro", "/tmp", "/tmp") else "mounting is not permitted"
    )


def _bubblewrap() -> str:
    absent = _programs("bwrap")
    if absent:
        return absent
    works = _answers(str(program("bwrap")), "--ro-bind", "/", "/", "--proc", "/proc", "--unshare-net", "true")
    return "" if works else "no namespaces can be made here"


def _c_compiler() -> str:
    import sysconfig

    header = Path(sysconfig.get_path("include"), "Python.h")
    return _programs("cc") or ("" if header.exists() else f"there is no {header}")


def _landlock() -> str:
    if sys.platform != "linux":
        return "Landlock is of Linux only"
    import ctypes

    version: int = ctypes.CDLL(None).syscall(444, None, 0, 1)
    if version < 3:
        return f"the kernel's Landlock is of version {version}"
    works = _answers("unshare", "-n", "true") or _answers("unshare", "-Urn", "true")
    return "" if works else "no namespaces can be made here"


def _another_user() -> str:
    if sys.platform != "linux" or os.geteuid() != 0:
        return "only root can become somebody else"
    return _programs("unshare", "setpriv", "mount") or (
        "" if _answers("unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt") else "mounting is not permitted"
    )


#: The Python versions that Tallystick must run on.
SUPPORTED = ("3.11", "3.12", "3.13")

PROBES: dict[str, Callable[[], str]] = {
    "git": lambda: _programs("git"),
    "bash": lambda: _programs("bash"),
    "loop mounts": _loop_mounts,
    "read-only mounts": _read_only_mounts,
    "strace": _strace,
    "go": lambda: _programs("go"),
    "node": _node,
    "node packages": _node_packages,
    "official client": _official_client,
    "scan library": _scan_library,
    "bubblewrap": _bubblewrap,
    "landlock": _landlock,
    "another user": _another_user,
    "c compiler": _c_compiler,
}


@functools.cache
def pythons() -> dict[str, str]:
    """The supported Pythons of this machine, version -> program: this one, those on PATH and those of pyenv."""
    shelf = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    candidates = [sys.executable]
    for version in SUPPORTED:
        candidates += [f"python{version}", *map(str, sorted(shelf.glob(f"{version}.*/bin/python{version}")))]
    found: dict[str, str] = {}
    for candidate in candidates:
        version = _version_of(candidate)
        if version in SUPPORTED:
            found.setdefault(version, candidate)
    return found


def _version_of(candidate: str) -> str:
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([candidate, "-I", "-c", question], capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip()
