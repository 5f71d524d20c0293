"""The packages for Node.js that tests and benchmarks run: clients of the protocol, a token counter, a test runner.

`tests/faces/mcp/node/package.json` names them, with ranges; they lie in `.dev/node` and nowhere else. A program finds
them when it runs with that folder as its working directory and is handed to Node.js as text.
"""

from __future__ import annotations

import shutil
import subprocess

from yard.console import ROOT, Stop, run_quietly, say
from yard.environment import HOME

WANTED = ROOT / "tests" / "faces" / "mcp" / "node" / "package.json"
FOLDER = HOME / "node"
#: The oldest Node.js that all of the packages run on.
OLDEST = 20
_STAMP = FOLDER / "installed"


def lacks() -> str:
    """Why this machine cannot run the packages once they are there; "" if it can."""
    absent = [name for name in ("node", "npm") if shutil.which(name) is None]
    if absent:
        return f"not installed: {', '.join(absent)}"
    version = node_version()
    major = version.removeprefix("v").partition(".")[0]
    if not major.isdigit() or int(major) < OLDEST:
        return f"Node.js {OLDEST} or later is needed, this is {version or 'none that answers'}"
    return ""


def node_version() -> str:
    """What Node.js says of itself, such as v20.1.0."""
    status, said = run_quietly(["node", "--version"])
    return said.strip() if status == 0 else ""


def fetched() -> bool:
    """Whether the packages are there, as `package.json` names them now."""
    try:
        return _STAMP.read_text(encoding="utf-8") == _stamp()
    except OSError:
        return False


def fetch() -> None:
    """Fetches the packages unless they are there. Raises `Stop` when that fails. No script of a package is run."""
    if fetched():
        return
    say("fetching packages for Node.js into .dev")
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(WANTED, FOLDER / "package.json")
    words = ["npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    done = subprocess.run(words, cwd=FOLDER, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        raise Stop(f"npm could not fetch the packages: {(lines or ['no reason given'])[-1]}")
    _STAMP.write_text(_stamp(), encoding="utf-8")


def _stamp() -> str:
    return f"{node_version()}\n{WANTED.read_text(encoding='utf-8')}"
