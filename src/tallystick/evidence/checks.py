"""Running checks: requirements become a plan of runs, a run becomes facts and a verdict.

Criteria share a run wherever they can: all test ids of one runner are one run, and equal commands are one. Each
criterion is then judged by its own ids alone (`verdict.py`).

A check runs in place, in the tree it is about, and writes nothing there itself. It gets a home and a temporary folder
of its own, few variables, limits, no terminal; whatever it started is ended with it. `CheckPlace` is the seam for a
fresh tree and for confinement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.evidence.environment import check_environment
from tallystick.evidence.runners import RUNNERS, Command, Runner, runner_for_command, runner_for_ids
from tallystick.evidence.runners.base import REPORT_VARIABLE, Modes
from tallystick.evidence.runners.carried import carried_files
from tallystick.evidence.runners.python import find_interpreter
from tallystick.evidence.runners.report import Report, read
from tallystick.evidence.verdict import Ran, Verdict, judge, merge
from tallystick.ledger.requirement import Requirement, Reserved, Run, Tests
from tallystick.limits import MB
from tallystick.settings import Verify
from tallystick.system.process import Finished, Limits, capture, run
from tallystick.system.scratch import lay, scratch_folder

#: The limits of a check unless the user's configuration says otherwise (formats 5).
CHECK_LIMITS = Limits(
    wall_s=600, output=20 * MB, report=64 * MB, memory=4096 * MB, file=1024 * MB, keep=256 * 1024, grace_s=2.0
)


def limits_of(verify: Verify) -> Limits:
    """The limits of a check as the settings say them."""
    return CHECK_LIMITS._replace(
        wall_s=verify.time_limit_s,
        output=verify.output_limit_mb * MB,
        memory=verify.memory_limit_mb * MB,
        file=verify.file_limit_mb * MB,
    )


class Step(NamedTuple):
    """One run: `ids` by a runner, or the frozen command `argv`."""

    runner: str
    argv: tuple[str, ...]
    ids: tuple[str, ...]


class Part(NamedTuple):
    """What of a run is one criterion's: the place of the step in the plan, and its ids there (none for a command)."""

    step: int
    ids: tuple[str, ...]


class Plan(NamedTuple):
    """The runs that some criteria need. `parts` says by criterion which of them speak about it (none: there is no
    machine check), `refused` why a criterion cannot be checked."""

    steps: tuple[Step, ...]
    parts: dict[str, tuple[Part, ...]]
    refused: dict[str, Refusal]


class CheckPlace(NamedTuple):
    """Where a check runs: the top folder of the tree, and how far it is shut in there."""

    root: str
    confined: str = "unsandboxed"


class CheckResult(NamedTuple):
    """One run: its facts, and the verdict on everything it was asked for together."""

    ran: Ran
    verdict: Verdict


Launch = Callable[..., Finished]


def plan(requirements: Mapping[str, Sequence[Requirement]], found: Runner | None = None) -> Plan:
    """The runs for criteria (by id, with their parsed requirements). Pure; `found` is the project's own runner."""
    commands: dict[tuple[str, ...], None] = {}
    ids: dict[str, dict[str, None]] = {}
    wanted: dict[str, tuple[list[tuple[str, ...]], dict[str, list[str]]]] = {}
    refused: dict[str, Refusal] = {}
    for criterion, entries in requirements.items():
        try:
            own = _wanted(criterion, entries, found)
        except Refusal as refusal:
            refused[criterion] = refusal
            continue
        wanted[criterion] = own
        commands.update(dict.fromkeys(own[0]))
        for runner, test_ids in own[1].items():
            ids.setdefault(runner, {}).update(dict.fromkeys(test_ids))
    steps = [Step(runner, (), tuple(test_ids)) for runner, test_ids in ids.items()]
    steps += [Step(runner_for_command(argv).name, argv, ()) for argv in commands]
    place = {step.argv or step.runner: number for number, step in enumerate(steps)}
    parts = {
        criterion: (
            *(Part(place[runner], tuple(test_ids)) for runner, test_ids in own_ids.items()),
            *(Part(place[argv], ()) for argv in own_commands),
        )
        for criterion, (own_commands, own_ids) in wanted.items()
    }
    return Plan(tuple(steps), parts, refused)


def _wanted(
    criterion: str, entries: Sequence[Requirement], found: Runner | None
) -> tuple[list[tuple[str, ...]], dict[str, list[str]]]:
    """The commands and the ids (by runner) of one criterion. Raises `Refusal` where this version cannot check it."""
    for entry in entries:
        if isinstance(entry, Reserved):
            raise Refusal(
                "check.unsupported",
                f"{criterion} asks for {entry.prefix}:, which cannot be checked by this version",
                "a person or a later version decides it; until then the criterion stays open",
            )
    commands = list(dict.fromkeys(entry.argv for entry in entries if isinstance(entry, Run)))
    test_ids = [test_id for entry in entries if isinstance(entry, Tests) for test_id in entry.ids]
    return commands, runner_for_ids(dict.fromkeys(test_ids), found)


def execute(
    step: Step,
    place: CheckPlace,
    variables: Mapping[str, str],
    limits: Limits = CHECK_LIMITS,
    *,
    modes: Modes | None = None,
    launch: Launch = run,
    cancelled: Callable[[], bool] | None = None,
    on_output: Callable[[bytes], None] | None = None,
) -> CheckResult:
    """Run `step` at `place` and judge it as a whole. `variables` are ours; few of them are let through. `modes` is what
    the run is for beyond a plain check.

    Raises `Refusal`: "check.no_runner" when there is no interpreter, no runner in it or no such program, and
    "interrupted" when `cancelled` (asked now and then) said so. A red check is no refusal.
    """
    runner = RUNNERS[step.runner]
    with scratch_folder(folders=("home", "tmp", "carried")) as folder:
        carried = f"{folder}/carried"
        env = check_environment(variables, place.root, f"{folder}/home", f"{folder}/tmp")
        command, python = _command(runner, step, place.root, carried, env)
        for name, data in carried_files(runner, step.ids, modes).items():
            lay(carried, name, data)
        env.update(command.env)
        finished = launch(
            command.argv,
            place.root,
            env,
            limits,
            report_as=REPORT_VARIABLE if runner.carried else "",
            cancelled=cancelled,
            on_output=on_output,
        )
        if finished.stopped == "cancelled":
            raise Refusal("interrupted", "the check was stopped because its call was cancelled", "call it again")
        report = read(finished.report) if runner.carried else None
        if report is not None and not report.runner and not finished.stopped:
            _look_for_module(runner, command, place.root, env)
    ran = Ran(
        runner=runner.name,
        command=step.argv or (runner.name, *step.ids),
        python=_python(report, python),
        report=report,
        status=finished.status,
        signal=finished.signal,
        stopped=finished.stopped,
        limits=limits,
        output=finished.out,
        output_total=finished.total,
        output_digest=finished.digest,
        took_s=finished.took_s,
        strays=finished.strays,
        confined=place.confined,
    )
    return CheckResult(ran, judge(ran, step.ids))


def verdict_of(plan: Plan, criterion: str, results: Sequence[CheckResult]) -> Verdict:
    """The verdict on one criterion; `results` are those of the plan's steps, in their order."""
    return merge(judge(results[part.step].ran, part.ids) for part in plan.parts[criterion])


def _command(runner: Runner, step: Step, root: str, carried: str, env: Mapping[str, str]) -> tuple[Command, str]:
    """How the step is started, and in words which Python was chosen for it ("" for a command that names its own)."""
    if not step.ids or runner.ids_command is None:
        return runner.wrapped(step.argv, carried) or Command(step.argv, {}), ""
    python = find_interpreter(root, env["PATH"])
    return runner.ids_command(python, step.ids, root, carried), python.found


def _look_for_module(runner: Runner, command: Command, root: str, env: Mapping[str, str]) -> None:
    """Raise "check.no_runner" when the run failed because its Python has no such runner."""
    if not runner.module or command.argv[1:3] != ("-m", runner.module):
        return
    question = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({runner.module!r}) is None)"
    if not capture((command.argv[0], "-c", question), root, env, missing="check.no_runner").ok:
        raise Refusal(
            "check.no_runner",
            f"{runner.name} is not installed for {command.argv[0]}",
            f"install it there: {command.argv[0]} -m pip install {runner.module}",
        )


def _python(report: Report | None, found: str) -> str:
    """Which Python ran the tests, as the report says it, and why that one."""
    if report is None or not report.runner:
        return found
    version = "" if report.runner == "unittest" else f", {report.runner} {report.version}"
    why = f" ({found})" if found else ""
    return f"Python {report.python}{version} at {report.executable}{why}"
