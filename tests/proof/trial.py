"""Trying the scenes: each in a folder of its own, two at a time, in an environment that is nobody's.

A row is one line of what `python3 dev.py proof` prints: an honest task that has to be proven, or a cheat that has to be
caught. Both the command and the tests try the rows of `ROOMS`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.conftest import KEPT, KEPT_BEGINNINGS
from tests.proof import honest_changes, honest_installs, honest_layouts, honest_plugins, honest_tests
from tests.proof.scene import Caught, Scene, play, wrong
from yard.console import ROOT

AT_ONCE = 2


class Row(NamedTuple):
    """One thing to try: a `cheat`, or an honest task. `needs` are rows of `yard/probes.py`.

    `tried` gives "" where it ended as it has to, else what did not and all that was said.
    """

    name: str
    room: str
    says: str
    cheat: bool
    needs: tuple[str, ...]
    tried: Callable[[], str]


def row_of(scene: Scene, room: str) -> Row:
    """The row of a scene."""
    cheat = isinstance(scene.expect, Caught)
    return Row(scene.name, room, scene.says, cheat, scene.needs, lambda: _tried(scene))


#: The rooms of honest tasks, by the word for each.
ROOMS: dict[str, tuple[Scene, ...]] = {
    "layouts": honest_layouts.SCENES,
    "installs": honest_installs.SCENES,
    "tests": honest_tests.SCENES,
    "plugins": honest_plugins.SCENES,
    "changes": honest_changes.SCENES,
}
HONEST = tuple(row_of(scene, room) for room, scenes in ROOMS.items() for scene in scenes)


@contextmanager
def cleared() -> Iterator[None]:
    """The environment without what the developer's own holds; it comes back at the end. Threads may read it meanwhile,
    for it does not change in between."""
    before = dict(os.environ)
    kept = {name: text for name, text in before.items() if name in KEPT or name.startswith(KEPT_BEGINNINGS)}
    os.environ.clear()
    os.environ.update(kept, PYTHONPATH=str(ROOT / "src"))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def trying(rows: Iterable[Row]) -> Iterator[Mapping[str, Future[str]]]:
    """Try the rows in their order, two at a time: the answers to come, by name. At the end no further one begins."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            yield {row.name: pool.submit(row.tried) for row in rows}
        finally:
            pool.shutdown(cancel_futures=True)


def _tried(scene: Scene) -> str:
    with TemporaryDirectory(prefix=f"{scene.name}-", ignore_cleanup_errors=True) as folder:
        found = play(scene, Path(folder))
    why = wrong(scene, found)
    return f"{why}\n{found.told}" if why else ""
