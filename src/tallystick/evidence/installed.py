"""Whether the test runner that is installed is the one that was installed: its files against its RECORD.

A runner that somebody edited where it lies, in a `.venv` that every check shares, passes everything. So before a run is
believed, each source file of pytest, of what it is made of and of its plugins is compared with the digest that the
installer wrote down, and the byte code beside it with the source. Nothing here is asked of the run itself.

It cannot see a RECORD that was rewritten together with the file: what a pass rests on names the digest of RECORD, so
that shows where an earlier run is known. A cache of stamps makes the second look one `stat` a file.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.evidence.site_folders import Ask, Environment, environment_of
from tallystick.limits import CITED_FILE
from tallystick.system.durable import each_entry, read_file
from tallystick.system.files import Files, Stat
from tallystick.system.stat_cache import StatCache, at_rest, stamp

#: The folders of what pytest is made of, and whose they are: no code of anybody else may lie there.
FOLDERS = {
    "_pytest": "pytest",
    **{name: name for name in ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "exceptiongroup", "tomli")},
}
PARTS = frozenset(FOLDERS.values())
_PLUGIN = re.compile(rb"^\s*\[\s*pytest11\s*\]", re.MULTILINE)
_RUNS_CODE = re.compile(rb"^import[ \t]", re.MULTILINE)
_CODE = (".py", ".pyc", ".so", ".pyd")
_SCRIPTS = ("pytest", "py.test")
_HONEST = "0" * 64  # what the cache says of byte code that was compared
_NO_TREE = "0" * 40
_PAIRS = 1000  # so many are compared by one program: an argument list has a limit
_DEPTH = 8  # of folders below one of `FOLDERS`: links may lead round in a circle


class Installed(NamedTuple):
    """What was found. Everything but `bound` is for people to read, ordered.

    `patched`: files that are not as they were installed. `unknown`: what cannot be compared, which accuses nobody.
    `starters`: files that run code at every start of this Python and belong to no distribution. `bound`: absolute
    paths of what says which environment this is; a pass rests on them.
    """

    patched: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    starters: tuple[str, ...] = ()
    bound: tuple[str, ...] = ()


class _Distribution(NamedTuple):
    """An installed distribution: `label` is its name and version, `files` the digest by name ("" for none)."""

    project: str
    label: str
    record: str
    files: dict[str, str]


def installed(files: Files, python: str, ask: Ask, cache: str, now_ns: int) -> Installed:
    """Compare the pytest of the Python at `python` (which is not believed, see `site_folders`).

    `ask` runs a command where the check runs; `cache` is a folder of our own (losing it is harmless), `now_ns` the wall
    clock. Reads only. Raises nothing: what cannot be read is unknown.
    """
    environment = environment_of(files, python, ask)
    if environment is None:
        return Installed(unknown=(f"where {python} has its distributions",))
    name = canonical.sha256(os.fsencode("\0".join((environment.python, *environment.sites))))[:16]
    look = _Look(files, environment, StatCache(files, f"{cache}/{name}", believe=True), now_ns)
    look.all(ask)
    return look.found


class _Look:
    """One comparison of all folders of an environment."""

    def __init__(self, files: Files, environment: Environment, stamps: StatCache, now_ns: int) -> None:
        self._files = files
        self._environment = environment
        self._stamps = stamps
        self._now = now_ns
        self._patched: list[str] = []
        self._unknown: list[str] = []
        self._starters: list[str] = []
        self._bound = [environment.config] if environment.config else []
        self._unlisted: set[str] = set()
        self._listings: dict[str, list[str]] = {}

    @property
    def found(self) -> Installed:
        """What the comparison found."""
        parts = (self._patched, self._unknown, self._starters, self._bound)
        return Installed(*(tuple(sorted(dict.fromkeys(part))) for part in parts))

    def all(self, ask: Ask) -> None:
        """Every folder: sources, strangers, starters; the byte code last, where the sources are honest."""
        pairs: list[tuple[str, str, str]] = []
        seen = False
        for site in self._environment.sites:
            there = list(self._distributions(site))
            version = next((one.label.partition(" ")[2] for one in there if one.project == "pytest"), "")
            seen = seen or bool(version) or "_pytest" in self._names(site)
            for one in there:
                self._bound.append(one.record)
                self._sources(site, one)
                self._script(site, one)
                pairs += [(site, *pair) for pair in self._pairs(site, one, version)]
            self._strangers(site, there)
            self._start(site)
        if not seen:
            self._unknown.append("pytest lies in none of the folders of this Python")
        if not self._patched:
            self._byte_code(pairs, ask)
        self._stamps.keep(_NO_TREE, _NO_TREE)

    def _distributions(self, site: str) -> Iterator[_Distribution]:
        """The distributions in a folder that a test run is made of and that have a list of their files."""
        for name in self._names(site):
            stem, dot, kind = name.rpartition(".")
            if not dot or kind not in ("dist-info", "egg-info") or name.startswith("~"):  # what pip is taking away
                continue
            written, _, version = stem.partition("-")
            project, label = written.lower().replace("_", "-"), f"{written} {version}".rstrip()
            if project not in PARTS and not _PLUGIN.search(self._read(f"{site}/{name}/entry_points.txt") or b""):
                continue
            record = f"{site}/{name}/RECORD"
            data = self._read(record) if kind == "dist-info" else None
            digests = _digests(data) if data is not None else None
            if digests is not None:
                yield _Distribution(project, label, record, digests)
            elif kind == "dist-info" and not _is_systems(site) and self._names(f"{site}/{name}"):
                self._patched.append(f"{label}: RECORD is missing or cannot be read")
            else:
                self._unlisted.add(project)
                self._unknown.append(f"{label}: no list of its files")

    def _sources(self, site: str, one: _Distribution) -> None:
        """Compare each Python file of a distribution."""
        for name, wanted in one.files.items():
            if not _is_source(name):
                continue
            says = self._compared(f"{site}/{name}", wanted)
            if says:
                self._accuse(site, f"{one.label}: {name} {says}")
        editable = any(name.endswith(".pth") or name.startswith("__editable__") for name in one.files)
        if one.project in PARTS and not any(FOLDERS.get(name.partition("/")[0]) == one.project for name in one.files):
            self._unknown.append(f"{one.label}: its files lie elsewhere")
        elif not editable and not any(map(_is_source, one.files)):
            self._unknown.append(f"{one.label}: RECORD names no source")

    def _script(self, site: str, one: _Distribution) -> None:
        """The command `pytest` itself. Moving an environment changes its first line, so it accuses nobody."""
        for name, wanted in one.files.items():
            if name.startswith("..") and name.rpartition("/")[2] in _SCRIPTS:
                says = self._compared(os.path.normpath(f"{site}/{name}"), wanted)
                if says.startswith("differs"):
                    self._unknown.append(f"{one.label}: bin/{name.rpartition('/')[2]} {says}")

    def _compared(self, path: str, wanted: str) -> str:
        """What is wrong with a file, "" for nothing."""
        try:
            status = self._files.stat(path)
        except OSError:
            return "is missing"
        key, mark = os.fsencode(path), stamp(status)
        found = self._stamps.known(key, mark)
        if found is None:
            data = self._read(path)
            if data is None:
                return "cannot be read"
            found = canonical.sha256(data)
            self._note(key, mark, found, status)
        return "" if found == wanted else "differs from RECORD" if wanted else "has no digest in RECORD"

    def _strangers(self, site: str, there: list[_Distribution]) -> None:
        """Code in the folders of what pytest is made of that no list names."""
        listed = {name for one in there for name in one.files}
        for top, project in FOLDERS.items():
            strange = [name for name in self._below(site, top, _DEPTH) if name not in listed]
            if not strange or project in self._unlisted:
                continue
            if not any(name.startswith(f"{top}/") for name in listed):
                self._accuse(site, f"{top}/ belongs to no distribution")
                continue
            for name in strange:
                self._accuse(site, f"{project}: {name} is not in RECORD")

    def _below(self, site: str, name: str, depth: int) -> Iterator[str]:
        """The code below a folder, byte code in its own folders apart."""
        for entry in self._names(f"{site}/{name}"):
            at = f"{name}/{entry}"
            if entry.endswith(_CODE):
                yield at
            elif entry != "__pycache__" and "." not in entry and depth:
                yield from self._below(site, at, depth - 1)

    def _start(self, site: str) -> None:
        """Files that run code at every start of this Python and that no distribution of the folder names."""
        starting = [
            name
            for name in self._names(site)
            if name in ("sitecustomize.py", "usercustomize.py")
            or (name.endswith(".pth") and _RUNS_CODE.search(self._read(f"{site}/{name}") or b""))
        ]
        if not starting:
            return
        infos = [name for name in self._names(site) if name.endswith(".dist-info")]
        records = [b"\n" + (self._read(f"{site}/{name}/RECORD") or b"") for name in infos]
        for name in starting:
            if not any(b"\n" + os.fsencode(name) + b"," in record for record in records):
                self._starters.append(f"{site}/{name}")
                self._bound.append(f"{site}/{name}")

    def _pairs(self, site: str, one: _Distribution, version: str) -> Iterator[tuple[str, str]]:
        """Each source of a distribution with each byte code that may be taken for it; `version` is pytest's."""
        for name in one.files:
            if not _is_source(name):
                continue
            folder, _, module = name.rpartition("/")
            beside = f"{folder}/__pycache__" if folder else "__pycache__"
            start = module[:-2]
            for entry in self._names(f"{site}/{beside}"):
                ours = "-pytest-" not in entry or entry.endswith(f"-pytest-{version}.pyc")
                if ours and entry.startswith(start) and entry.endswith(".pyc"):
                    yield name, f"{beside}/{entry}"

    def _byte_code(self, pairs: list[tuple[str, str, str]], ask: Ask) -> None:
        """Have those compared that are not known to be honest."""
        waiting: dict[str, list[tuple[str, str, bytes, bytes, Stat]]] = {}
        for site, source, compiled in pairs:
            try:
                first, second = self._files.stat(f"{site}/{source}"), self._files.stat(f"{site}/{compiled}")
            except OSError:
                continue
            key, mark = os.fsencode(f"{site}/{compiled}"), stamp(first) + b" " + stamp(second)
            if self._stamps.known(key, mark) is None:
                waiting.setdefault(site, []).append((source, compiled, key, mark, second))
        for site, rows in waiting.items():
            for at in range(0, len(rows), _PAIRS):
                self._ask(site, rows[at : at + _PAIRS], ask)

    def _ask(self, site: str, rows: list[tuple[str, str, bytes, bytes, Stat]], ask: Ask) -> None:
        """One program compares these; its own byte code it takes from its library alone."""
        alone = ("-I", "-S", "-B", "-X", "pycache_prefix=/dev/null")
        words = [word for source, compiled, *_ in rows for word in (source, compiled)]
        told = ask((self._environment.python, *alone, "-c", _program(), site, *words))
        lines = (told or b"").decode("utf-8", "surrogateescape").splitlines()
        if not lines or lines.pop() != "end":
            self._unknown.append("the byte code beside pytest's sources")
            return
        lying = set(lines)
        for _, compiled, key, mark, status in rows:
            if compiled in lying:
                self._accuse(site, f"{compiled} is not what its source says")
            else:
                self._note(key, mark, _HONEST, status)

    def _accuse(self, site: str, says: str) -> None:
        """A system's own packages are rewritten by its packagers after RECORD was made: that accuses nobody."""
        (self._unknown if _is_systems(site) else self._patched).append(says)

    def _note(self, key: bytes, mark: bytes, digest: str, status: Stat) -> None:
        if at_rest(status, self._now):
            self._stamps.note(key, mark, digest)

    def _names(self, folder: str) -> list[str]:
        if folder not in self._listings:
            try:
                self._listings[folder] = each_entry(self._files, folder, lambda name: True)
            except Refusal:
                self._listings[folder] = []
        return self._listings[folder]

    def _read(self, path: str) -> bytes | None:
        try:
            return read_file(self._files, path, CITED_FILE)
        except Refusal:
            return None


def _is_source(name: str) -> bool:
    """Whether a row of a RECORD is a Python file in the folder of distributions (scripts lie outside of it)."""
    return name.endswith(".py") and not name.startswith(("/", ".."))


def _is_systems(site: str) -> bool:
    """Whether the packages of a folder came from the system's own packagers, who change files or leave RECORD out."""
    debian = os.path.basename(site) == "dist-packages" and "/local/" not in site
    return debian or site.startswith(("/usr/lib/", "/usr/lib64/"))


def _digests(record: bytes) -> dict[str, str] | None:
    """The rows of a RECORD: the SHA-256 by name, in hexadecimal digits, "" where there is none; None if it is none."""
    import csv

    if b"\0" in record:
        return None
    try:
        rows = list(csv.reader(record.decode("utf-8", "surrogateescape").splitlines()))
    except csv.Error:
        return None
    return {row[0]: _hexadecimal(row[1]) if len(row) > 1 else "" for row in rows if row}


def _hexadecimal(written: str) -> str:
    algorithm, _, digest = written.partition("=")
    if algorithm != "sha256":
        return ""
    try:
        return base64.urlsafe_b64decode(digest + "=" * (-len(digest) % 4)).hex()
    except ValueError:
        return ""


def _program() -> str:
    """The text of the program that compares byte code. Raises `Refusal` "internal" where it is not there."""
    import pkgutil

    source = pkgutil.get_data("tallystick.evidence.runners", "byte_code.py")
    if source is None:
        raise Refusal("internal", "byte_code.py is not part of this installation", "install Tallystick again")
    return source.decode()
