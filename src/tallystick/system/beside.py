"""One piece of slow work, such as waiting for a tool, done in a thread beside its caller's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Beside(Generic[_T]):
    """`work`, which begins at once. Whoever makes one asks for its `result`, also when there is an error to report."""

    __slots__ = ("_error", "_found", "_thread", "_work")

    def __init__(self, work: Callable[[], _T]) -> None:
        from threading import Thread

        self._work = work
        self._found: list[_T] = []
        self._error: Exception | None = None
        self._thread = Thread(target=self._run)
        self._thread.start()

    def result(self) -> _T:
        """What the work gave, once it is done; what it raised is raised here."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found[0]

    def _run(self) -> None:
        try:
            self._found.append(self._work())
        except Exception as error:  # noqa: BLE001 - raised in the thread that asks for the result
            self._error = error
