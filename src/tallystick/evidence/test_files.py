"""Which files hold the tests of an id of Go, Rust or Node.js: what is locked for it. Pure.

Go compiles all test files of a package together, so all of them are one test's, with what lies in its `testdata`. Tests
of Rust that stand inside a source file have no file of their own: nothing is locked for them.
"""

from __future__ import annotations

from collections.abc import Collection

from tallystick.evidence.runners.cargo_runner import CARGO
from tallystick.evidence.runners.go_runner import GO
from tallystick.evidence.runners.node_runner import VITEST, file_of


def files_of(test_id: str, names: Collection[str]) -> tuple[str, ...] | None:
    """The test files of an id among `names`, that of its own first; None for an id of pytest or unittest.

    A file that an id names is given whether it is there or not.
    """
    if GO.speaks(test_id):
        return _go(test_id.partition("::")[0].removeprefix("./"), names)
    if VITEST.speaks(test_id):
        return (file_of(test_id),)
    if "Cargo.toml" in names and CARGO.speaks(test_id):
        return _cargo(test_id.partition("::")[0], names)
    return None


def _go(package: str, names: Collection[str]) -> tuple[str, ...]:
    folder = f"{package}/" if package else ""
    tests = [name for name in names if name.endswith("_test.go") and name.rpartition("/")[0] == package]
    data = [name for name in names if name.startswith(f"{folder}testdata/")]
    return (*sorted(tests), *sorted(data))


def _cargo(crate: str, names: Collection[str]) -> tuple[str, ...]:
    """The integration tests of this name in any package of the workspace, with the modules beside them, which they may
    share: all that lies in a folder below `tests` and is no other test itself."""
    own: list[str] = []
    shared: list[str] = []
    for name in names:
        before, tests, rest = name.rpartition("tests/")
        if not tests or before[-1:] not in ("", "/"):
            continue
        head, inside, _ = rest.partition("/")
        if head.removesuffix(".rs").replace("-", "_") == crate and (inside or head.endswith(".rs")):
            own.append(name)
        elif inside and f"{before}tests/{head}/main.rs" not in names:
            shared.append(name)
    return (*sorted(own), *sorted(shared)) if own else ()
