"""`tallystick demo`: the whole story on a small sample project, played by scripted agents, and where things then stand.

It needs Python and git, and works in a folder of its own, which is gone afterwards unless it is to be kept.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple

from tallystick.agents.scripted.player import play
from tallystick.agents.scripted.sample import FEATURE
from tallystick.agents.scripted.stage import PROGRAMS, PROJECT, ROOMS, build
from tallystick.agents.scripted.story import LEVELS, SCENES
from tallystick.audit import Report, inspect
from tallystick.canonical import Json
from tallystick.errors import DONE, Refusal
from tallystick.faces.cli import audit, ledger, rows, status
from tallystick.faces.cli.call import Call, Streams
from tallystick.faces.cli.live import Live
from tallystick.faces.cli.main import parse
from tallystick.faces.cli.terminal import Terminal, safe
from tallystick.journal.record import By, Record
from tallystick.ledger.service import Shown
from tallystick.system.scratch import kept_folder, scratch_folder
from tallystick.wiring import Machine, assemble


class End(NamedTuple):
    """How the story ended: the ledger as it stands, what the audit says, and how often each record was written."""

    shown: Shown
    report: Report
    records: Counter[str]


def demo(call: Call) -> int:
    """Play the story, show where things stand, and take everything away again unless it is to be kept."""
    clock, terminal, keep = call.machine.clock, call.terminal, call.arguments.keep
    started = clock.monotonic()
    with ExitStack() as stack:
        scratch = stack.enter_context(scratch_folder())
        folder = stack.enter_context(
            scratch_folder(folders=ROOMS)
            if keep is None
            else kept_folder(os.path.join(call.folder(), keep), folders=ROOMS)
        )
        stage = build(call.machine.files, clock, call.machine.env, folder, scratch)
        for line in _opening(folder):
            terminal.piece(f"{line}\n")
        live = Live(terminal, clock)
        try:
            play(SCENES, stage, live)
        finally:
            live.break_off()
        machine = call.machine._replace(env=stage.env)
        end = _end(machine, stage.project)
        if not terminal.json:
            _screens(machine, stage.project, terminal)
    took = clock.monotonic() - started
    kept = None if keep is None else folder
    terminal.answer(_document(live, end, took, kept), _closing(live, end, took, kept, terminal))
    return DONE


def _end(machine: Machine, project: str) -> End:
    """How it ended. Raises `Refusal` "internal" unless every criterion holds as the story says, and the audit holds."""
    app = assemble(machine, project, By("shell"))
    records: Counter[str] = Counter()

    def visit(record: Record, _ours: bool) -> None:
        records[record.type] += 1

    app.store.history(FEATURE, visit)
    end = End(app.ledger.show(FEATURE), inspect(app, None), records)
    levels = {criterion.id: criterion.level for criterion, state in end.shown.rows if state == "holds"}
    if levels != LEVELS:
        raise Refusal(
            "internal", f"the story broke off at its end: {levels} hold, and {LEVELS} should", "please say what you did"
        )
    if not end.report.holds or not end.report.anchored:
        says = "; ".join(finding.says for finding in end.report.findings)
        raise Refusal(
            "internal", f"the story broke off at its end: the audit does not hold: {says}", "please say what you did"
        )
    return end


def _screens(machine: Machine, project: str, terminal: Terminal) -> None:
    """The commands of every day, with what they say now."""
    shown: tuple[tuple[str, Callable[[Call], int]], ...] = (
        ("status", status.status),
        ("ledger show", ledger.show),
        ("audit", audit.audit),
    )
    for words, command in shown:
        _, arguments = parse(words.split(), terminal)
        assert arguments is not None
        terminal.piece(f"\n{terminal.paint(f'$ tallystick {words}', 'dim')}\n")
        command(Call(arguments, terminal, machine, Streams(None, False), lambda: project))


def _opening(folder: str) -> list[str]:
    return [
        "Five roles build one small feature; one agent is killed, three shortcuts fail.",
        "The agents follow a script. Processes, calls, files, commits, tests are real.",
        f"All of it lies in {safe(folder)}",
    ]


def _closing(live: Live, end: End, took: float, kept: str | None, terminal: Terminal) -> list[str]:
    """The last lines: what happened, counted, and what can be done next."""
    levels = Counter(criterion.level for criterion, _ in end.shown.rows)
    proven, ran, cited = (levels[level] for level in ("proven", "ran", "cited"))
    happened = (
        (
            end.records["pass_recorded"],
            "passes",
            f"{proven} proven (red first, then green), {ran} ran, {cited} cited a file",
        ),
        (live.refusals, "refusals", "a mark by the wrong role, a red test, a citation of nothing"),
        (live.kills, "kill -9", "in the middle of a mark; each acknowledged mark was still there"),
        (live.edits, "hand edit", "of feature_list.json; it was named and did not count"),
    )
    lines = ["", terminal.paint(f"What happened in {took:.1f} s", "strong")]
    for number, what, how in happened:
        amount = terminal.paint(f"{number:>2} {what:<11}", "good" if what == "passes" else "warn")
        lines.append(f"  {amount} {how}")
    lines.append("")
    if kept is None:
        lines.append("Look     tallystick demo --keep DIR       keeps the repository to look around in")
    else:
        lines += [
            f"Look     cd {shlex.quote(safe(f'{kept}/{PROJECT}'))}",
            "         git log --stat",
            f"         ../{PROGRAMS}/tallystick ledger get AC4",
        ]
    return [*lines, "Yours    tallystick ledger init FEATURE criteria.md"]


def _document(live: Live, end: End, took: float, kept: str | None) -> dict[str, Json]:
    return {
        "feature": FEATURE,
        "steps": live.steps,
        "criteria": [rows.criterion_document(criterion, state) for criterion, state in end.shown.rows],
        "counts": rows.counts(end.shown),
        "audit": {"holds": end.report.holds, "anchored": end.report.anchored},
        "happened": {
            "passes": end.records["pass_recorded"],
            "runs": end.records["run_recorded"],
            "refusals": live.refusals,
            "kills": live.kills,
            "edits": live.edits,
        },
        "took_s": round(took, 1),
        "kept": kept,
    }
