"""The one table of test runners, and the choices made from it."""

from __future__ import annotations

from collections.abc import Iterable

from tallystick.errors import Refusal
from tallystick.evidence.runners.base import Command, Runner, Tree
from tallystick.evidence.runners.cargo_runner import CARGO
from tallystick.evidence.runners.exit_runner import EXIT
from tallystick.evidence.runners.go_runner import GO
from tallystick.evidence.runners.junit import JUNIT, PROJECTS_JUNIT
from tallystick.evidence.runners.node_runner import JEST, VITEST
from tallystick.evidence.runners.pytest_runner import PYTEST
from tallystick.evidence.runners.unittest_runner import UNITTEST
from tallystick.ids import shown, typed
from tallystick.settings import FILE

#: In the order in which they are tried: what a command says of its report comes first. The last takes any command and
#: knows no ids.
RUNNERS: dict[str, Runner] = {
    runner.name: runner for runner in (JUNIT, PYTEST, UNITTEST, CARGO, GO, VITEST, JEST, EXIT)
}


def find_runner(tree: Tree) -> Runner | None:
    """The runner of a project's tests by what lies in it, None when nothing tells."""
    return next((runner for runner in RUNNERS.values() if runner.find(tree)), None)


def runner_for_ids(ids: Iterable[str], found: Runner | None) -> dict[str, list[str]]:
    """Test ids by the name of the runner that can run them: the form of an id tells it.

    `found`, the project's own runner, comes first, for some forms belong to two. Raises `Refusal` "check.no_runner" for
    an id in no known form.
    """
    tried = [*([] if found is None else [found]), *RUNNERS.values()]
    by_runner: dict[str, list[str]] = {}
    for test_id in ids:
        name = next((runner.name for runner in tried if runner.speaks(test_id)), None)
        if name is None:
            known = [found] if found is not None and found.form else [one for one in RUNNERS.values() if one.form]
            forms = " or ".join(f"{runner.name}: {runner.form}" for runner in known)
            raise Refusal(
                "check.no_runner",
                f"no runner that this version knows has test ids like {shown(test_id)}",
                f"ids look like this: {forms}; anything else can be started by run:",
            )
        by_runner.setdefault(name, []).append(test_id)
    return by_runner


def runner_for_command(argv: tuple[str, ...]) -> Runner:
    """The runner whose command this is; a command that is nobody's has its exit status alone."""
    return next(runner for runner in RUNNERS.values() if runner.wrapped(argv, "/") is not None)


def project_runner(command: tuple[str, ...]) -> Runner:
    """The runner that the project's own command (`tests.command`) starts. Raises `Refusal` "check.no_runner"."""
    for runner in RUNNERS.values():
        if runner.by_command is not None and runner.by_command(command, (runner.form,), "/", "/") is not None:
            return PROJECTS_JUNIT if runner is JUNIT else runner
    raise Refusal(
        "check.no_runner",
        f"tests.command in {FILE} is `{' '.join(map(typed, command))}`, which starts no test runner that is known",
        'end it with the runner itself, such as ["uv", "run", "pytest"]; anything else can be started by run:',
    )


__all__ = [
    "RUNNERS", "Command", "Runner", "Tree", "find_runner", "project_runner", "runner_for_command", "runner_for_ids",
]  # fmt: skip
