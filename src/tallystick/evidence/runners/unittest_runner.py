"""unittest: found by its imports, run by our small reporter in the place of `python -m unittest`."""

from __future__ import annotations

import os
import re

from tallystick.evidence.runners.base import Command, Interpreter, Runner, Tree
from tallystick.evidence.runners.python import behind_launcher, module_arguments

_REPORTER = "tallystick_unittest_reporter.py"
_ID = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+(::\*)?\Z|[^\W\d]\w*::\*\Z")
_TEST_FILE = re.compile(r"(.*/)?test[^/]*\.py\Z")
_IMPORTS_UNITTEST = re.compile(rb"^\s*(import|from)\s+unittest\b", re.MULTILINE)


def find(tree: Tree) -> bool:
    """Whether a test file of the project imports unittest."""
    return any(_IMPORTS_UNITTEST.search(tree.read(name) or b"") for name in tree.names if _TEST_FILE.match(name))


def speaks(test_id: str) -> bool:
    """Whether `test_id` is a dotted name as unittest takes it, or such a name and `::*`."""
    return bool(_ID.match(test_id))


def ids_command(python: Interpreter, ids: tuple[str, ...], root: str, folder: str) -> Command:
    """Run our reporter; it finds the ids beside itself."""
    del ids, root
    return Command((python.path, os.path.join(folder, _REPORTER)), {})


def by_command(argv: tuple[str, ...], ids: tuple[str, ...], root: str, folder: str) -> Command | None:
    """As `ids_command`, by the Python of the project's own command `… python -m unittest`, which says no more."""
    del ids, root
    at = behind_launcher(argv, lambda tail: module_arguments(tail, "unittest") == len(tail))
    return None if at is None else Command((*argv[: at + 1], os.path.join(folder, _REPORTER)), {})


def wrapped(argv: tuple[str, ...], folder: str) -> Command | None:
    """`python -m unittest …` by our reporter, with the same arguments; None for anything else."""
    at = module_arguments(argv, "unittest")
    return None if at is None else Command((argv[0], os.path.join(folder, _REPORTER), *argv[at:]), {})


UNITTEST = Runner(
    name="unittest",
    wrapped=wrapped,
    form="tests.test_cart.CartTest.test_total",
    module="",
    source="unittest_reporter.py",
    carried=_REPORTER,
    find=find,
    speaks=speaks,
    ids_command=ids_command,
    by_command=by_command,
)
