"""What the next session must know of a feature: its ledger, notes, last outputs and open tasks in one text (P21).

A session that knows nothing but the folder begins here; the text is the same for an agent and for a person.
"""

from __future__ import annotations

from tallystick.handoff.brief import LISTED, TOKENS, Tasks, compose
from tallystick.handoff.service import standing
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.subjects import Subjects
from tallystick.ledger.service import Shown
from tallystick.wiring import App


def brief(app: App, shown: Shown, most: int = TOKENS) -> str:
    """The brief of what was looked at, at most `most` tokens. Writes nothing."""
    return compose(standing(shown, _tasks(shown.snapshot, app.store.now())), most)


def _tasks(snapshot: Snapshot[Subjects], now: str) -> Tasks | None:
    """The first tasks to work on, and why there is none where there is none."""
    if not snapshot.state.get("board"):
        return None
    from tallystick.board.answer import next_of
    from tallystick.board.model import board_of

    board = board_of(snapshot)
    left = sorted((task for task in board.values() if not task.done), key=lambda one: (one.priority, one.order))
    answer = next_of(board, now)
    if answer.task is not None:
        left.remove(answer.task)
        left.insert(0, answer.task)
    first = [f"{task.id} {task.title}" + ("" if task.status == "pending" else f" [{task.status}]") for task in left]
    return Tasks(first[:LISTED], max(0, len(first) - LISTED), answer.says)
