"""Code that asks whether it is tested: it may behave then. Nothing follows from it, but a person should know. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tallystick.evidence.lockset import in_test_folder
from tallystick.evidence.verdict import Reason
from tallystick.ids import escaped

#: Variables by which code can tell that a test runner, a build server or we run it.
_TELLING = re.compile(rb"\b(PYTEST_CURRENT_TEST|PYTEST_VERSION|PYTEST_XDIST_WORKER|TALLYSTICK_\w+|GITHUB_ACTIONS)\b")
_SERVER = re.compile(rb"""["'](CI)["']""")
#: So many files are named of one run.
_NAMED = 20


def is_subject(name: str) -> bool:
    """Whether a file is code that is tested, not a test."""
    last = name.rpartition("/")[2]
    tests = in_test_folder(name) or last.startswith(("test_", "conftest.")) or last.endswith("_test.py")
    return last.endswith(".py") and not tests


def flags(contents: Mapping[str, bytes]) -> tuple[Reason, ...]:
    """What of these files, by name, asks for such a variable: the first line of each."""
    found = []
    for name in sorted(contents):
        match = _TELLING.search(contents[name]) or _SERVER.search(contents[name])
        if match is not None:
            line = contents[name].count(b"\n", 0, match.start()) + 1
            says = f"{escaped(name)} reads {match[1].decode()}, by which it can tell that it is tested"
            found.append(Reason("source.flagged", says, name, line))
    return tuple(found[:_NAMED])
