"""Configuration to assembled app: the one module that knows every part, and where a newcomer starts reading.

`assemble` reads where things lie and puts the parts together; it writes nothing and runs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from tallystick.evidence.model import SUBJECT as RUNS
from tallystick.evidence.model import RunsFold
from tallystick.handoff.notes import SUBJECT as NOTES
from tallystick.handoff.notes import NotesFold
from tallystick.journal.home import Home
from tallystick.journal.log import FileLog
from tallystick.journal.record import FORMAT, By
from tallystick.journal.store import Root, Store
from tallystick.journal.subjects import Subjects, SubjectsFold
from tallystick.ledger.keeping import Commits, Keeper
from tallystick.ledger.model import SUBJECT, LedgerFold
from tallystick.ledger.service import LedgerService
from tallystick.ledger.views import Views, exclude
from tallystick.moment import SystemClock
from tallystick.system.files import Files, OsFiles
from tallystick.system.git import Git
from tallystick.system.locks import Clock
from tallystick.system.place import Place, find_place, home_folder
from tallystick.waits import lock_wait

if TYPE_CHECKING:
    from tallystick.evidence.service import EvidenceService


class Machine(NamedTuple):
    """What the app stands on; the tests put a simulated disk, a set clock or a higher format in their place."""

    files: Files
    clock: Clock
    env: Mapping[str, str]
    commits: Commits | None = None
    format: int = FORMAT


class App(NamedTuple):
    """One process's view of one place."""

    machine: Machine
    place: Place
    home: Home
    store: Store[Subjects]
    git: Git
    views: Views
    ledger: LedgerService


def this_machine(env: Mapping[str, str]) -> Machine:
    """The real disk and clock."""
    return Machine(OsFiles(), SystemClock(), env)


def assemble(machine: Machine, folder: str, by: By) -> App:
    """The app for the repository that `folder` stands in, acting as `by`."""
    files, clock = machine.files, machine.clock
    place = find_place(files, folder)
    home = Home(files, home_folder(machine.env))
    wait = lock_wait(machine.env)
    top = place.common or place.tree
    log = FileLog(files, f"{place.store}/journal", top)
    store: Store[Subjects] = Store(
        files,
        Root(place.store, top),
        log,
        home,
        SubjectsFold({SUBJECT: LedgerFold(), RUNS: RunsFold(), NOTES: NotesFold()}),
        clock,
        wait,
        machine.format,
        exclude(files, place.common),
    )
    git = Git(files, place.tree, place.git_dir, place.common, machine.env)
    commits = machine.commits or git
    keeper = Keeper(files, place.tree, store.blobs, commits, clock)
    views = Views(files, place.tree, store, clock, wait)
    ledger = LedgerService(store, views, keeper, lambda: commits.commit("HEAD"), by)
    return App(machine, place, home, store, git, views, ledger)


def evidence(app: App) -> EvidenceService:
    """The service that runs checks; imported only by what runs one."""
    from tallystick.evidence.service import EvidenceService

    folder = app.place.store

    def tree_id() -> str | None:
        return app.git.tree(f"{folder}/objects", f"{folder}/cache/index-{os.getpid()}")

    return EvidenceService(app.machine.files, app.place.tree, app.store.blobs, app.ledger, app.machine.env, tree_id)
