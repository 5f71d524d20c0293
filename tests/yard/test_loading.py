"""Holds what each entry point may load: every command of every agent pays for its start, so each module on it is a
decision and has its row here. The interpreter tells (`-X importtime`, without site packages); what an empty program
loads is taken off."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.yard.source import within

#: What the installed command does.
START = "import sys; from tallystick.faces.cli.main import run; sys.exit(run())"

#: Never on a start path, whatever the entry: each costs more than it gives there.
HEAVY = (
    "asyncio", "bz2", "concurrent", "ctypes", "dataclasses", "datetime", "difflib", "email", "fnmatch", "html", "http",
    "importlib.metadata", "inspect", "logging", "lzma", "multiprocessing", "pathlib", "pprint", "random", "selectors",
    "shutil", "socket", "sqlite3", "ssl", "subprocess", "tempfile", "threading", "tomllib", "typing_extensions",
    "unittest", "urllib", "uuid", "xml", "zipfile", "zlib",
)  # fmt: skip

#: What the standard library loads for `re`, `json`, `enum` and `typing`; no start comes without these.
FOUNDATION = {
    "__future__", "collections", "contextlib", "copyreg", "enum", "functools", "gc", "genericpath", "itertools", "json",
    "keyword", "operator", "os", "posixpath", "re", "reprlib", "stat", "types", "typing", "warnings",
}  # fmt: skip
DIGESTS = {"hashlib", "hmac", "unicodedata"}
DISK = {"errno", "fcntl", "signal"}
WORDS = {"argparse", "gettext", "importlib", "locale"}

#: What a client asks when it meets a server.
QUESTIONS = ("server/discover", "tools/list")
MEETING = (
    '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}'
)

GROUND = tuple(f"tallystick.{name}" for name in ("errors", "limits", "ids", "canonical", "moment", "waits"))
#: What wiring folds records with, beside the ledger.
FOLDS = ("tallystick.evidence.model", "tallystick.handoff.notes")
STORE = (*GROUND, "tallystick.system", "tallystick.journal", "tallystick.ledger", *FOLDS, "tallystick.wiring")
#: What tells whether this user has a key.
KEY = tuple(f"tallystick.journal.{name}" for name in ("home", "anchor", "record"))
COMMAND_LINE = "tallystick.faces"
#: The doors of packages, which hold nothing but a docstring.
PACKAGES = {"tallystick", *(f"tallystick.{name}" for name in ("evidence", "handoff", "journal", "ledger"))}


class Entry(NamedTuple):
    """One way in: the words after `tallystick`, the library it may load, and the rooms of ours it may enter; `given`
    is what it reads from standard input."""

    words: tuple[str, ...]
    library: set[str]
    rooms: tuple[str, ...]
    given: str = ""


ENTRIES = {
    "version": Entry(("version",), FOUNDATION | DIGESTS | DISK | WORDS, (*STORE, COMMAND_LINE)),
    "status": Entry(("status",), FOUNDATION | DIGESTS | DISK | WORDS, (*STORE, COMMAND_LINE)),
    "ledger failing": Entry(
        ("ledger", "failing", "--json"), FOUNDATION | DIGESTS | DISK | WORDS, (*STORE, COMMAND_LINE)
    ),
    # No argparse; no ledger and no thread before a tool is called.
    "mcp": Entry(
        ("mcp", "--role", "verifier"),
        FOUNDATION | DIGESTS | DISK | {"select"},
        (*GROUND, "tallystick.system", *KEY, "tallystick.ledger.permissions", COMMAND_LINE, "tallystick.mcp"),
        given="".join(f'{{"jsonrpc":"2.0","id":"{one}","method":"{one}","params":{MEETING}}}\n' for one in QUESTIONS),
    ),
}


def _loaded(*words: str, cwd: Path, given: str = "") -> set[str]:
    """The modules that a start of the interpreter with `words` loads."""
    done = subprocess.run(
        [sys.executable, "-S", "-X", "importtime", *words], cwd=cwd, input=given, capture_output=True, text=True
    )
    rows = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")]
    assert (done.returncode, rows[0]) == (0, "imported package"), done.stderr
    return set(rows[1:])


def _paid_for(*words: str, cwd: Path, given: str = "") -> set[str]:
    """The same, less what an empty program loads and the private halves of the library's modules."""
    loaded = _loaded(*words, cwd=cwd, given=given) - _loaded("-c", "pass", cwd=cwd)
    return {name for name in loaded if not name.startswith("_")}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with a ledger of one criterion."""
    place = tmp_path / "shop"
    place.mkdir()
    (place / "criteria.md").write_text("- [ ] AC1 the cart keeps its lines\n", encoding="utf-8")
    subprocess.run(["git", "init", "--quiet"], cwd=place, check=True)
    freeze = [sys.executable, "-c", START, "ledger", "init", "checkout", "criteria.md"]
    subprocess.run(freeze, cwd=place, check=True, stdout=subprocess.DEVNULL)
    return place


def test_importing_the_package_loads_nothing_else(tmp_path: Path) -> None:
    assert _paid_for("-c", "import tallystick", cwd=tmp_path) == {"tallystick"}


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_loads_nothing_heavy(name: str, shop: Path) -> None:
    loaded = _paid_for("-c", START, *ENTRIES[name].words, cwd=shop, given=ENTRIES[name].given)
    assert sorted(module for module in loaded if within(module, HEAVY)) == []


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_loads_only_what_its_row_names(name: str, shop: Path) -> None:
    entry = ENTRIES[name]
    loaded = _paid_for("-c", START, *entry.words, cwd=shop, given=entry.given)
    library = {module.partition(".")[0] for module in loaded if not within(module, "tallystick")}
    rooms = {module for module in loaded if within(module, "tallystick") and module not in PACKAGES}
    assert sorted(library - entry.library - {"__future__"} - set(HEAVY)) == []
    assert sorted(room for room in rooms if not within(room, entry.rooms)) == []
