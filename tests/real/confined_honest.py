"""Runs inside a confinement and does what honest tests do. Prints JSON: deed -> "done", or what stopped it."""

from __future__ import annotations

import json
import multiprocessing
import os
import pty
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable

DEEDS: dict[str, Callable[[], bool]] = {}


def deed(act: Callable[[], bool]) -> Callable[[], bool]:
    DEEDS[act.__name__.replace("_", " ")] = act
    return act


@deed
def write_into_the_tree() -> bool:
    os.makedirs("made/deep", exist_ok=True)
    with open("made/deep/file", "w", encoding="utf-8") as file:
        file.write("text")
    os.rename("made/deep/file", "made/file")
    os.symlink("file", "made/link")
    os.link("made/file", "made/linked")
    os.mkfifo("made/pipe")
    os.chmod("made/file", 0o600)
    with open("made/link", encoding="utf-8") as file:
        return file.read() == "text"


@deed
def write_into_a_temporary_folder() -> bool:
    with tempfile.TemporaryDirectory() as folder, open(os.path.join(folder, "file"), "w", encoding="utf-8") as file:
        return file.write("text") == 4


@deed
def write_into_the_home() -> bool:
    place = os.path.expanduser("~/.config/tool")
    os.makedirs(place)
    with open(os.path.join(place, "settings"), "w", encoding="utf-8") as file:
        return file.write("text") == 4


@deed
def read_a_dependency() -> bool:
    with open(".venv/dependency", encoding="utf-8") as file:
        return file.read() == "a dependency"


@deed
def read_the_system() -> bool:
    with open("/etc/passwd", encoding="utf-8") as file:
        return "root" in file.read()


@deed
def run_a_script() -> bool:
    with open("script", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho hello > /dev/null; echo $((6 * 7))\n")
    os.chmod("script", 0o700)
    return subprocess.run(["./script"], capture_output=True, text=True, check=True).stdout == "42\n"


@deed
def serve_and_ask_on_loopback() -> bool:
    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = threading.Thread(target=_answer, args=(server,))
        answering.start()
        with socket.create_connection(("localhost", server.getsockname()[1]), timeout=10) as line:
            answer = line.recv(8)
        answering.join()
    return answer == b"welcome"


@deed
def serve_on_a_socket_of_its_own() -> bool:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/socket")
        server.listen()
        answering = threading.Thread(target=_answer, args=(server,))
        answering.start()
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(f"{folder}/socket")
            answer = line.recv(8)
        answering.join()
    return answer == b"welcome"


@deed
def share_a_lock_between_processes() -> bool:
    context = multiprocessing.get_context("fork")
    with context.Lock():
        worker = context.Process(target=os.getpid)
        worker.start()
        worker.join()
    return worker.exitcode == 0


@deed
def use_a_terminal() -> bool:
    ours, theirs = pty.openpty()
    return os.write(theirs, b"text") == 4 and os.read(ours, 4) == b"text"


@deed
def look_at_itself() -> bool:
    with open("/proc/self/status", encoding="ascii") as file:
        return file.readline().startswith("Name:") and os.path.exists("/dev/fd/0")


def _answer(server: socket.socket) -> None:
    line, _ = server.accept()
    with line:
        line.sendall(b"welcome")


def main() -> None:
    said = {}
    for name, act in DEEDS.items():
        try:
            said[name] = "done" if act() else "nothing came of it"
        except OSError as error:
            said[name] = f"{type(error).__name__}: {error}"
    print(json.dumps(said))
    sys.exit(0 if set(said.values()) == {"done"} else 1)


if __name__ == "__main__":
    main()
