"""The part of a configuration file that says how tests run, as a digest: what stands beside it may change. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tallystick.canonical import encode, parse, sha256
from tallystick.errors import Refusal
from tallystick.evidence.packages import parse_toml

#: The digest of a section that is not there.
ABSENT = ""
_HEAD = re.compile(r"\[([^\]]+)\]")
_PACKAGE_KEYS = ("jest", "vitest", "mocha", "ava")
_PACKAGE_SCRIPTS = ("test", "pretest", "posttest")
_PACKAGE_LOADING = ("type", "imports")


def section_digest(name: str, data: bytes | None) -> str:
    """The digest of the section about tests in the file `name` (its last part decides); `ABSENT` where there is none.

    Of a file that cannot be parsed all of it counts, and of one that is about tests alone.
    """
    if data is None:
        return ABSENT
    reader = SECTIONS.get(name.rpartition("/")[2])
    return sha256(data) if reader is None else reader(data)


def _pyproject(data: bytes) -> str:
    table = parse_toml(data)
    if not table and data.strip():
        return _whole_unless_comments(data)
    tool = table.get("tool")
    section = tool.get("pytest") if isinstance(tool, dict) else None
    return ABSENT if section is None else sha256(repr(_ordered(section)).encode("utf-8", "backslashreplace"))


def _ordered(value: Any) -> Any:
    """`value` with every table in the order of its keys; dates and numbers stay what they are."""
    if isinstance(value, dict):
        return [(key, _ordered(value[key])) for key in sorted(value)]
    return [_ordered(one) for one in value] if isinstance(value, list) else value


def _whole_unless_comments(data: bytes) -> str:
    lines = [line for line in data.splitlines() if line.strip() and not line.lstrip().startswith(b"#")]
    return sha256(data) if lines else ABSENT


def _ini(*sections: str) -> Callable[[bytes], str]:
    def read(data: bytes) -> str:
        text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        kept: list[str] = []
        inside = found = False
        for line in text.splitlines():
            head = _HEAD.match(line)
            if head is not None:
                inside = head.group(1).strip() in sections
                found = found or inside
            if inside and line.strip() and not line.lstrip().startswith(("#", ";")):
                kept.append(line.rstrip())
        return sha256("\n".join(kept).encode("utf-8", "surrogateescape")) if found else ABSENT

    return read


def _package_json(data: bytes) -> str:
    try:
        table = parse(data, "package.json")
    except Refusal:
        return sha256(data)
    if not isinstance(table, dict):
        return sha256(data)
    kept = {key: table[key] for key in (*_PACKAGE_KEYS, *_PACKAGE_LOADING) if key in table}
    scripts = table.get("scripts")
    if isinstance(scripts, dict):
        kept.update({f"scripts.{key}": scripts[key] for key in _PACKAGE_SCRIPTS if key in scripts})
    return sha256(encode(kept)) if kept else ABSENT


#: Configuration files of which a section is about tests. Any other is about tests as a whole.
SECTIONS: dict[str, Callable[[bytes], str]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _ini("tool:pytest"),
    "tox.ini": _ini("pytest"),
    "package.json": _package_json,
}
#: Files that a runner of the kind reads by itself in a folder above a test: those with sections, and whole ones.
PYTEST_FILES = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini", "setup.cfg")
_ENDINGS = ("js", "cjs", "mjs", "ts", "cts", "mts")
NODE_FILES = (
    "package.json",
    "jest.config.json",
    ".mocharc.json",
    "vitest.workspace.json",
    *(f"{name}.{ending}" for name in ("jest.config", "vitest.config", "vite.config") for ending in _ENDINGS),
    *(f"vitest.workspace.{ending}" for ending in _ENDINGS),
)
