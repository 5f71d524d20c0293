"""Small sample projects for the tests of running checks, and the way to check them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from textwrap import dedent

from tallystick.evidence.checks import CHECK_LIMITS, CheckPlace, CheckResult, execute, plan, verdict_of
from tallystick.evidence.verdict import Verdict
from tallystick.ledger.requirement import parse
from tallystick.system.process import Limits

#: What a check sees of our variables; a real home among them shows that it is not let through.
VARIABLES = {"PATH": os.environ["PATH"], "HOME": "/", "XDG_STATE_HOME": "/", "TALLYSTICK_HOME": "/", "LANG": "C.UTF-8"}


def project(root: Path, files: dict[str, str], *, venv: bool = True) -> CheckPlace:
    """A project of these files. Its `.venv` has a `python` and a `pytest` that lead to those of this test run, without
    the plugins that are installed here."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
    if venv:
        start = f"#!/bin/sh\nPYTEST_DISABLE_PLUGIN_AUTOLOAD=1 exec '{sys.executable}'"
        program(root / ".venv/bin/python", f'{start} "$@"\n')
        program(root / ".venv/bin/pytest", f'{start} -m pytest "$@"\n')
    return CheckPlace(str(root))


def program(path: Path, text: str) -> None:
    """An executable script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


def check_all(place: CheckPlace, *entries: str, limits: Limits = CHECK_LIMITS) -> list[Verdict]:
    """The verdict on each entry, every one a criterion of its own."""
    planned = plan({entry: [parse(entry)] for entry in entries})
    for refusal in planned.refused.values():
        raise refusal
    results = [execute(step, place, VARIABLES, limits) for step in planned.steps]
    return [verdict_of(planned, entry, results) for entry in entries]


def check_one(place: CheckPlace, entry: str, limits: Limits = CHECK_LIMITS) -> CheckResult:
    """The result of the one run that `entry` needs."""
    planned = plan({"AC1": [parse(entry)]})
    for refusal in planned.refused.values():
        raise refusal
    (step,) = planned.steps
    return execute(step, place, VARIABLES, limits)


def codes(verdict: Verdict) -> list[str]:
    """The codes of its reasons."""
    return [reason.code for reason in verdict.reasons]
