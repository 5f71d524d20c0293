"""What can never be worked on: tasks that wait for each other in a circle, or for one that is not there. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from tallystick.board.model import Board


def missing(board: Board) -> list[tuple[str, str]]:
    """Each open task that waits for one that is not on the board, and that one."""
    return [
        (task.id, name) for task in board.values() if not task.done for name in task.blocked_by if name not in board
    ]


def circle(board: Board, starts: Iterable[str] | None = None) -> list[str]:
    """The first circle of open tasks, each waiting for the next, its first again at the end; empty where none is.

    With `starts` only what can be reached from these is looked at. Walks without recursion: a board may be one chain
    of ten thousand tasks.
    """
    left: set[str] = set()
    for start in board if starts is None else starts:
        road: dict[str, list[str]] = {}
        ahead = start
        while ahead:
            if ahead in road:
                names = list(road)
                return [*names[names.index(ahead) :], ahead]
            if ahead not in left and not board[ahead].done:
                road[ahead] = [name for name in board[ahead].blocked_by if name in board]
            ahead = _onward(road, left)
    return []


def _onward(road: dict[str, list[str]], left: set[str]) -> str:
    """The next task to look at, "" at the end; whatever has none behind it leaves the road."""
    while road:
        last = next(reversed(road))
        if road[last]:
            return road[last].pop()
        left.add(last)
        del road[last]
    return ""
