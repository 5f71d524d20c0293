"""The commands that make a fresh tree ready for its checks (`verify.setup`): run in the copy, shut in as a check is.

One that does not end well is a refusal that names it, and never a red check: nothing was asked of the code yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.evidence.checks import CheckPlace, Launch, limits_of
from tallystick.evidence.environment import check_environment
from tallystick.ids import shown, typed
from tallystick.settings import FILE, Verify
from tallystick.system.process import Finished
from tallystick.system.scratch import scratch_folder

#: So many characters of what a command printed last stand in the facts of a refusal, and of its last line in a message.
_PRINTED, _LINE = 4000, 300


class SetUp(NamedTuple):
    """One command that made the copy ready, and how it ended."""

    argv: tuple[str, ...]
    finished: Finished


def set_up(
    verify: Verify,
    place: CheckPlace,
    variables: Mapping[str, str],
    launch: Launch,
    lacks: Callable[[], str | None],
    cancelled: Callable[[], bool] | None = None,
    on_output: Callable[[bytes], None] | None = None,
) -> tuple[SetUp, ...]:
    """Run every command of `verify.setup` at `place`, in order, with one home; `launch` and `lacks` are the ground's.

    Raises `Refusal`: "check.setup" for one that does not end well, "check.needs" where it only lacked what it cannot
    reach, "check.no_runner" where there is no such program, "interrupted".
    """
    done: list[SetUp] = []
    with scratch_folder(folders=("home", "tmp", "carried")) as folder:
        env = check_environment(variables, place.root, f"{folder}/home", f"{folder}/tmp", verify, place.copy)
        for argv in verify.setup:
            finished = launch(
                argv, place.root, env, limits_of(verify), report_as="", cancelled=cancelled, on_output=on_output
            )
            if finished.stopped == "cancelled":
                raise Refusal("interrupted", "making the copy ready was stopped: its call was cancelled", "call again")
            if not finished.ok:
                raise _failed(argv, finished, lacks(), place.confined)
            done.append(SetUp(argv, finished))
    return tuple(done)


def _failed(argv: tuple[str, ...], finished: Finished, lacks: str | None, confined: str) -> Refusal:
    from tallystick.masking.secrets import masked

    said = masked(finished.text(), ()).text
    command = shown(" ".join(map(typed, argv)), 200)
    facts: dict[str, object] = {
        "setup": {
            "command": list(argv),
            "status": finished.status,
            "signal": finished.signal,
            "stopped": finished.stopped,
            "output": said[-_PRINTED:],
        }
    }
    if lacks is not None:
        return Refusal(
            "check.needs",
            f"{command}, which makes the copy ready, needs {shown(lacks, 300)}, which it cannot reach ({confined})",
            f"allow it below [verify] in {FILE} (allow, network)",
            facts=facts,
        )
    last = next((line for line in reversed(said.splitlines()) if line.strip()), "")
    how = f"was stopped ({finished.stopped})" if finished.stopped else f"ended with {_status(finished)}"
    return Refusal(
        "check.setup",
        f"{command}, which makes the copy ready, {how}{': ' if last else ''}{shown(last, _LINE) if last else ''}",
        f"mend it, or verify.setup in {FILE}; no check was run",
        facts=facts,
    )


def _status(finished: Finished) -> str:
    return f"status {finished.status}" if finished.signal is None else f"signal {finished.signal}"
