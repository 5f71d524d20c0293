"""What a screen says of a feature beside its criteria: outputs, phase, tasks. Nothing is loaded where there is none."""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.faces.cli.terminal import safe
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.subjects import Subjects
from tallystick.moment import ago


def document(snapshot: Snapshot[Subjects]) -> dict[str, Json]:
    """How many outputs and tasks there are, with the keys others build on."""
    done, total = _tasks(snapshot)
    return {"outputs": len(snapshot.state["outputs"]), "tasks": {"total": total, "done": done}}


def lines(snapshot: Snapshot[Subjects], now_ns: int) -> list[str]:
    """A line for each thing there is."""
    found = []
    if snapshot.state["phases"]:
        from tallystick.handoff.manifest.model import manifest_of

        manifest = manifest_of(snapshot)
        if manifest is not None and manifest.current is not None:
            found.append(f"  {'phase':<10} {manifest.current.phase.name} {manifest.current.status}")
    if snapshot.state["outputs"]:
        from tallystick.handoff.output.model import current, outputs_of

        newest = max((current(versions) for versions in outputs_of(snapshot).values()), key=lambda one: one.at)
        count = len(snapshot.state["outputs"])
        found.append(f"  {'outputs':<10} {count}, the newest {safe(newest.file, 60)}  {ago(newest.at, now_ns)}")
    done, total = _tasks(snapshot)
    if total:
        found.append(f"  {'tasks':<10} {done} of {total} done")
    return found


def _tasks(snapshot: Snapshot[Subjects]) -> tuple[int, int]:
    """How many tasks are done, of how many."""
    if not snapshot.state["board"]:
        return 0, 0
    from tallystick.board.model import board_of

    board = board_of(snapshot)
    return sum(1 for task in board.values() if task.done), len(board)
