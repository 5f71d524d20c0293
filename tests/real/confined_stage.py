"""The stage of the confinement tests: a user's home with a key and a store, a fresh tree, and things outside that
somebody could get at. Run as a script it plays every scene under every means and prints what came of them, as JSON;
so the same scenes can be played by another user."""

from __future__ import annotations

import ctypes
import glob
import json
import os
import secrets
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

from tallystick.system.confine import Means, Rules, wrap
from tallystick.system.confine.probing import candidates
from tallystick.system.process import Finished, Limits, run

HERE = Path(__file__).resolve().parent
LIMITS = Limits(wall_s=60, output=1_000_000, report=1_000_000, memory=0, file=0, grace_s=5)
HASTY = LIMITS._replace(grace_s=0.2)
FILES_ONLY = "landlock, files only"
TOKEN = "TOKEN_OF_THE_STAGE"  # set when this script is started, so that it stands in /proc
MEANS = ("bubblewrap", "landlock", FILES_ONLY, "unsandboxed")


def means_named(word: str) -> Means:
    """The means that a pass would call `word`."""
    return next((means for means in candidates() if means.word == word), Means("unsandboxed"))


class Stage:
    """Everything lies below one folder; listeners answer "welcome" as long as the stage stands."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.token = os.environ.get(TOKEN) or secrets.token_hex(8)
        self.home, self.project = base / "user", base / "user" / "shop"
        self.tree = self.home / ".cache" / "tree"
        self.elsewhere, self.own = base / "elsewhere", base / "own"
        self.key = self.home / ".local" / "state" / "tallystick" / "key"
        self.store = self.project / ".git" / "tallystick"
        for folder in (self.tree, self.elsewhere, self.own / "home", self.own / "tmp", self.key.parent, self.store):
            folder.mkdir(parents=True)
        (self.home / ".ssh").mkdir()
        (self.project / ".venv").mkdir()
        (self.project / ".venv" / "dependency").write_text("a dependency")
        for secret in (self.key, self.store / "journal", self.home / ".ssh" / "id"):
            secret.write_text("the secret")
            secret.chmod(0o600)
        for name in ("file", "file too"):
            (self.elsewhere / name).write_text("some text")
        (self.tree / "link").symlink_to(self.key)
        self._memory = ctypes.create_string_buffer(b"the secret of the process")
        self._open = [self.key.open()]
        self._terminal = os.openpty()
        self._listeners = self._listening()

    def close(self) -> None:
        """Every listener, file and terminal is given back."""
        for listener in self._listeners:
            listener.shutdown(socket.SHUT_RDWR)
        for thread in self._answering:
            thread.join()
        for listener in self._listeners:
            listener.close()
        for file in self._open:
            file.close()
        for fd in self._terminal:
            os.close(fd)

    def _listening(self) -> list[socket.socket]:
        found = []
        for address in (str(self.home / "socket"), str(self.elsewhere / "socket"), "\0" + self.token):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(address)
            listener.listen()
            found.append(listener)
        found.append(socket.create_server(("0.0.0.0", 0)))
        self._answering = [threading.Thread(target=_welcome, args=(listener,), daemon=True) for listener in found]
        for thread in self._answering:
            thread.start()
        return found

    def facts(self, word: str) -> dict[str, Any]:
        """What an attacker under the means called `word` is told."""
        return {
            "unconfined": word == "unsandboxed",
            "pid": os.getpid(),
            "address": ctypes.addressof(self._memory),
            "token": self.token,
            "key": str(self.key),
            "store": str(self.store / "journal"),
            "private": str(self.home / ".ssh" / "id"),
            "key_in_mount": str(self.project / ".git" / "tallystick" / "journal"),
            "link": "link",
            "home": str(self.home),
            "elsewhere": str(self.elsewhere / "file"),
            "elsewhere_too": str(self.elsewhere / "file too"),
            "bind": str(self.project / ".venv"),
            "bound": str(self.project / ".venv" / "dependency"),
            "terminal": os.ttyname(self._terminal[1]),
            "port": self._listeners[-1].getsockname()[1],
            "address_out": outside_address(),
            "socket_home": str(self.home / "socket"),
            "socket_elsewhere": str(self.elsewhere / "socket"),
        }

    def rules(self) -> Rules:
        """What a check of this stage may do; `elsewhere` is readable like the rest of a machine."""
        return Rules(
            tree=str(self.tree),
            home=str(self.own / "home"),
            writable=(str(self.own / "tmp"),),
            hidden=(str(self.home),),
            secret=(str(self.key.parent), str(self.store)),
            read_only=(str(self.elsewhere), str(HERE), sys.base_prefix, sys.prefix),
            mount_at=str(self.project),
            binds=((str(self.project / ".venv"), str(self.project / ".venv")),),
        )

    def play(
        self, word: str, *command: str, rules: Rules | None = None, limits: Limits = LIMITS, report_as: str = ""
    ) -> Finished:
        """Run `command` under the means called `word`."""
        means = means_named(word)
        if not means.mounts and not (self.tree / ".venv").is_symlink():
            (self.tree / ".venv").symlink_to(self.project / ".venv")
        wrapped = wrap(command, rules or self.rules(), means)
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.own / "home"),
            "TMPDIR": str(self.own / "tmp"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return run(wrapped.argv, wrapped.cwd, env, limits, report_as=report_as)

    def python(self, word: str, script: str, *arguments: str, limits: Limits = LIMITS) -> Finished:
        """Run a script that lies beside this file, by the interpreter that runs us."""
        return self.play(word, sys.executable, "-I", str(HERE / script), *arguments, limits=limits)

    def strays(self) -> list[int]:
        """The processes that carry the token of this stage on their command line."""
        found = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            pid = int(path.split("/")[2])
            try:
                with open(path, "rb") as file:
                    words = file.read()
            except OSError:
                continue
            if f'"daemon": "{self.token}"'.encode() in words:
                found.append(pid)
        return found

    def daemon(self, word: str, *, kill: bool) -> dict[str, Any]:
        """How a check ends that leaves a process behind, and whether that one is gone with it."""
        told = json.dumps({"daemon": self.token, "kill": kill})
        finished = self.python(word, "confined_attacks.py", told, limits=HASTY)
        left = self.strays()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return {"left": len(left), "stopped": finished.stopped, "text": finished.text()}


def landlock_version() -> int:
    """The version of Landlock of this kernel; -1 where there is none."""
    return int(ctypes.CDLL(None).syscall(444, None, 0, 1))


def outside_address() -> str:
    """An address of this machine that is not loopback, or one that nobody has (documentation) where there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        try:
            line.connect(("198.51.100.1", 9))
        except OSError:
            return "198.51.100.1"
        return str(line.getsockname()[0])


def _welcome(listener: socket.socket) -> None:
    while True:
        try:
            line, _ = listener.accept()
        except OSError:
            return
        with line:
            line.sendall(b"welcome")


def scenes(base: Path) -> dict[str, Any]:
    """Every scene under every means: means -> scene -> what came of it."""
    played: dict[str, Any] = {}
    for number, word in enumerate(MEANS):
        stage = Stage(base / str(number))
        honest = stage.python(word, "confined_honest.py")
        attacks = stage.python(word, "confined_attacks.py", json.dumps(stage.facts(word)))
        played[word] = {
            "honest": said(honest),
            "attacks": said(attacks),
            "daemon": stage.daemon(word, kill=False),
            "killer": stage.daemon(word, kill=True),
        }
        stage.close()
    return played


def said(finished: Finished) -> dict[str, str]:
    """The JSON object that a script printed last."""
    try:
        found: dict[str, str] = json.loads(finished.text().splitlines()[-1])
    except (ValueError, IndexError):
        return {"": f"{finished.status} {finished.signal} {finished.stopped}: {finished.text()}"}
    return found


if __name__ == "__main__":
    print(json.dumps(scenes(Path(sys.argv[1]))))
