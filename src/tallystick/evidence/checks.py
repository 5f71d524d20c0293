"""Running checks: requirements become a plan of runs, a run becomes facts and a verdict.

Criteria share a run wherever they can: all test ids of one runner are one run, and equal commands are one. Each
criterion is then judged by its own ids alone (`verdict.py`).

A check runs in place, in the tree it is about, and writes nothing there itself. It gets a home and a temporary folder
of its own, few variables, limits, no terminal; whatever it started is ended with it. `CheckPlace` is the seam for a
fresh tree and for confinement.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.evidence.environment import check_environment
from tallystick.evidence.runners import RUNNERS, Command, Runner, runner_for_command, runner_for_ids
from tallystick.evidence.runners.base import MODES_FILE, REPORT_VARIABLE, Interpreter, Modes
from tallystick.evidence.runners.carried import carried_files
from tallystick.evidence.runners.python import find_interpreter
from tallystick.evidence.runners.report import Recorded, Report, read
from tallystick.evidence.verdict import Ran, Verdict, judge, merge
from tallystick.ledger.requirement import Requirement, Reserved, Run, Tests
from tallystick.limits import MB
from tallystick.settings import Settings, Verify
from tallystick.system.process import PRINTED, Finished, Limits, run
from tallystick.system.scratch import lay, scratch_folder

#: The limits of a check unless the user's configuration says otherwise (formats 5).
CHECK_LIMITS = Limits(
    wall_s=600, output=20 * MB, report=64 * MB, memory=4096 * MB, file=1024 * MB, keep=256 * 1024, grace_s=2.0
)
_USUAL = Settings()


def limits_of(verify: Verify) -> Limits:
    """The limits of a check as the settings say them."""
    return CHECK_LIMITS._replace(
        wall_s=verify.time_limit_s,
        output=verify.output_limit_mb * MB,
        memory=verify.memory_limit_mb * MB,
        file=verify.file_limit_mb * MB,
    )


class Step(NamedTuple):
    """One run: `ids` by a runner, or the frozen command `argv`; `without` names the files that are set aside for it."""

    runner: str
    argv: tuple[str, ...]
    ids: tuple[str, ...]
    without: tuple[str, ...] = ()


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
    """Where a check runs: the top folder of the tree as the check sees it, how far it is shut in there, and where that
    tree lies for us where it is another place (`copy`)."""

    root: str
    confined: str = "unsandboxed"
    copy: str = ""


class CheckResult(NamedTuple):
    """One run: its facts, and the verdict on everything it was asked for together."""

    ran: Ran
    verdict: Verdict

    def recorded(self, ids: tuple[str, ...]) -> Recorded | None:
        """What these ids of the run read (none: all of it); None where nobody recorded it."""
        whole = self.ran.report.recorded if self.ran.report is not None else None
        return whole.of(ids) if whole is not None else None


Launch = Callable[..., Finished]
#: What tells one run from another: runner, command, files set aside; and the ids of one criterion in such a run.
_Key = tuple[str, tuple[str, ...], tuple[str, ...]]
_Share = tuple[_Key, tuple[str, ...]]


def plan(
    requirements: Mapping[str, Sequence[Requirement]],
    found: Runner | None = None,
    apart: Mapping[str, tuple[str, ...]] | None = None,
) -> Plan:
    """The runs for criteria (by id, with their parsed requirements). Pure; `found` is the project's own runner.

    `apart` names by criterion the files that are set aside for it: only criteria with the same ones share a run.
    """
    steps: dict[_Key, dict[str, None]] = {}
    wanted: dict[str, list[_Share]] = {}
    refused: dict[str, Refusal] = {}
    for criterion, entries in requirements.items():
        without = (apart or {}).get(criterion, ())
        try:
            commands, ids = _wanted(criterion, entries, found)
        except Refusal as refusal:
            refused[criterion] = refusal
            continue
        own: list[_Share] = [((runner, (), without), tuple(test_ids)) for runner, test_ids in ids.items()]
        own += [((runner_for_command(argv).name, argv, without), ()) for argv in commands]
        for key, test_ids in own:
            steps.setdefault(key, {}).update(dict.fromkeys(test_ids))
        wanted[criterion] = own
    ordered = sorted(steps, key=lambda key: bool(key[1]))  # ids first: they tell most
    place = {key: number for number, key in enumerate(ordered)}
    return Plan(
        tuple(Step(key[0], key[1], tuple(steps[key]), key[2]) for key in ordered),
        {name: tuple(Part(place[key], test_ids) for key, test_ids in own) for name, own in wanted.items()},
        refused,
    )


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
    settings: Settings = _USUAL,
    modes: Modes | None = None,
    launch: Launch = run,
    cancelled: Callable[[], bool] | None = None,
    on_output: Callable[[bytes], None] | None = None,
) -> CheckResult:
    """Run `step` at `place` and judge it as a whole. `variables` are ours; few of them are let through. The `settings`
    say which, and by which command ids are run; `modes` is what the run is for beyond a plain check.

    Raises `Refusal`: "check.no_runner" when there is no interpreter, no runner in it or no such program, and
    "interrupted" when `cancelled` (asked now and then) said so. A red check is no refusal.
    """
    runner = RUNNERS[step.runner]
    with scratch_folder(folders=("home", "tmp", "carried")) as folder:
        carried = f"{folder}/carried"
        env = check_environment(variables, place.root, f"{folder}/home", f"{folder}/tmp", settings.verify, place.copy)
        start = _started(runner, step, place, carried, env["PATH"], settings.tests.command)
        command = start.command
        for name, data in carried_files(runner, step.ids, modes).items():
            lay(f"{folder}/tmp" if name == MODES_FILE else carried, name, data)
        env.update(_beside(command.env, env))
        if modes is not None and not modes.home:  # in place there may lie byte code that is not its source
            env["PYTHONPYCACHEPREFIX"] = f"{folder}/tmp"
        finished = launch(
            command.argv,
            place.root,
            env,
            limits._replace(memory=0) if runner.reserves else limits,
            report_as=REPORT_VARIABLE if runner.carried else PRINTED if runner.reads else "",
            cancelled=cancelled,
            on_output=on_output,
        )
        if finished.stopped == "cancelled":
            raise Refusal("interrupted", "the check was stopped because its call was cancelled", "call it again")
        report = (runner.reads or read)(finished.report) if runner.carried or runner.reads else None
        if report is not None and not report.runner and not finished.stopped:
            _look_for_module(runner, command, finished)
    ran = Ran(
        runner=runner.name,
        command=step.argv or (*start.by, *step.ids),
        python=_python(report, start.found),
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


class _Start(NamedTuple):
    """How a step is started; in words which Python was chosen for it ("" for a command that names its own), and what
    stands before the ids where one says what was run."""

    command: Command
    found: str
    by: tuple[str, ...] = ()


def _started(
    runner: Runner, step: Step, place: CheckPlace, carried: str, path: str, project: tuple[str, ...]
) -> _Start:
    """`project` is the project's own command for its tests, () where it names none."""
    if not step.ids or runner.ids_command is None:
        return _Start(runner.wrapped(step.argv, carried) or Command(step.argv, {}), "")
    if project and runner.by_command is not None:
        own = runner.by_command(project, step.ids, place.root, carried)
        if own is not None:
            return _Start(own, "tests.command", project)
    program = program_at(place, runner, path)
    return _Start(runner.ids_command(program, step.ids, place.root, carried), program.found, (runner.name,))


def program_at(place: CheckPlace, runner: Runner, path: str) -> Interpreter:
    """What starts the ids of a runner: as it lies in the copy first, for it may have been made there."""
    find = runner.program or find_interpreter
    made: Interpreter | None = None
    if place.copy and place.copy != place.root:
        try:
            made = find(place.copy, path)
        except Refusal:
            made = None
        if made is not None and made.path.startswith(f"{place.copy}/"):
            return made._replace(path=place.root + made.path[len(place.copy) :])
    try:
        return find(place.root, path)
    except Refusal:
        if made is None:
            raise
        return made


def _beside(ours: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """The variables of a runner; where it needs a folder of modules, what the settings say of those comes behind."""
    paths = [one.get("PYTHONPATH", "") for one in (ours, env)]
    return {**ours, "PYTHONPATH": os.pathsep.join(paths)} if all(paths) else dict(ours)


def _look_for_module(runner: Runner, command: Command, finished: Finished) -> None:
    """Raise "check.no_runner" when the run ended because its Python has no such runner, as Python itself says."""
    if runner.module and finished.status == 1 and f"No module named {runner.module}\n".encode() in finished.out:
        raise Refusal(
            "check.no_runner",
            f"{runner.name} is not installed for {command.argv[0]}",
            f"install it there: {command.argv[0]} -m pip install {runner.module}",
        )


def _python(report: Report | None, found: str) -> str:
    """Which Python ran the tests, as the report says it, and why that one."""
    if report is None or not report.runner:
        return found
    if not report.python:
        return " by ".join(filter(None, (f"{report.runner} {report.version}".strip(), found)))
    version = "" if report.runner == "unittest" else f", {report.runner} {report.version}"
    why = f" ({found})" if found else ""
    return f"Python {report.python}{version} at {report.executable}{why}"
