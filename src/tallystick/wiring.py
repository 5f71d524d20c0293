"""Configuration to assembled app: the one module that knows every part, and where a newcomer starts reading.

`assemble` reads where things lie and puts the parts together; it writes nothing and runs nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tallystick import canonical
from tallystick.evidence.model import SUBJECT as RUNS
from tallystick.evidence.model import RunsFold
from tallystick.handoff.notes import SUBJECT as NOTES
from tallystick.handoff.notes import NotesFold
from tallystick.journal.due import Due
from tallystick.journal.home import Home
from tallystick.journal.log import FileLog
from tallystick.journal.record import FORMAT, By
from tallystick.journal.segments import BLOBS, FOLDER
from tallystick.journal.store import Root, Store
from tallystick.journal.subjects import LateFold, Subjects, SubjectsFold
from tallystick.journal.tree_segments import TreeSegments
from tallystick.ledger.fold import LedgerFold
from tallystick.ledger.keeping import Commits, Keeper
from tallystick.ledger.model import SUBJECT
from tallystick.ledger.recording import Recording
from tallystick.ledger.service import LedgerService
from tallystick.ledger.views import Views, exclude
from tallystick.moment import SystemClock
from tallystick.system.files import Files, OsFiles
from tallystick.system.git import Git
from tallystick.system.locks import Clock, Lock
from tallystick.system.place import Place, find_place, home_folder
from tallystick.system.settings_file import SettingsFile
from tallystick.waits import lock_wait

if TYPE_CHECKING:
    from tallystick.board.service import BoardService
    from tallystick.evidence.proving import Prover
    from tallystick.evidence.resting import Resting
    from tallystick.evidence.service import EvidenceService
    from tallystick.evidence.trust import TrustTable
    from tallystick.handoff.manifest.service import ManifestService
    from tallystick.handoff.output.service import OutputService
    from tallystick.imports.service import ImportService
    from tallystick.journal.sharing import Sharing
    from tallystick.system.confine.means import Means


#: Subjects that most features have nothing of; state is a table, empty at the beginning.
LATE = {
    "outputs": LateFold(
        "1", frozenset(("output_saved", "output_adopted")), "tallystick.handoff.output.model", "OutputsFold"
    ),
    "phases": LateFold(
        "1",
        frozenset(("phase_started", "phase_ended", "manifest_closed")),
        "tallystick.handoff.manifest.model",
        "PhasesFold",
    ),
    "board": LateFold(
        "1", frozenset(("task_added", "task_claimed", "task_moved")), "tallystick.board.model", "BoardFold"
    ),
}


class Machine(NamedTuple):
    """What the app stands on; the tests put a simulated disk, a set clock or a higher format in their place.

    `means` finds what shuts a check in; None is whatever works on this machine.
    """

    files: Files
    clock: Clock
    env: Mapping[str, str]
    commits: Commits | None = None
    format: int = FORMAT
    means: Callable[[], Means] | None = None


class App(NamedTuple):
    """One process's view of one place."""

    machine: Machine
    place: Place
    home: Home
    store: Store[Subjects]
    git: Git
    views: Views
    due: Due
    recording: Recording
    ledger: LedgerService
    segments: TreeSegments | None
    settings: SettingsFile


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
    git = Git(files, place.tree, place.git_dir, place.common, machine.env)
    settings = SettingsFile(files, place.tree)
    segments = TreeSegments(files, place.tree, git, lambda: git.may_hide(FOLDER)) if place.common else None
    log = FileLog(files, f"{place.store}/journal", top)
    store: Store[Subjects] = Store(
        files,
        Root(place.store, top),
        log,
        home,
        SubjectsFold({SUBJECT: LedgerFold(), RUNS: RunsFold(), NOTES: NotesFold(), **LATE}),
        clock,
        wait,
        machine.format,
        exclude(files, place.common, lambda: settings.damage() is None and settings.read().views.tracked),
        segments,
        f"{place.tree}/{BLOBS}" if place.tree else "",
    )
    commits = machine.commits or git
    keeper = Keeper(files, place.tree, store.blobs, commits, clock, lambda: outputs(app))
    views = Views(files, place.tree, store, clock, wait)
    due = Due(store.flush)
    recording = Recording(store, due, by)
    ledger = LedgerService(
        recording,
        views,
        keeper,
        lambda: commits.commit("HEAD"),
        lambda: resting(app).look(),
        lambda: prover(app).state() if place.common and machine.commits is None else None,
        settings.checked,
        settings,
    )
    app = App(machine, place, home, store, git, views, due, recording, ledger, segments, settings)
    due.call([views.write, lambda feature: _hand_over(app, feature), lambda feature: _share(app, feature)])
    return app


def _hand_over(app: App, feature: str) -> tuple[str, ...]:
    """Take in what agents left in the feature's folder, and write outputs, manifest and board there.

    One lock keeps two writers apart, and each writes what the journal holds at that moment, so the last one to finish
    is never behind.
    """
    from tallystick.handoff.folder import Folder

    folder = Folder(app.machine.files, app.place.tree, app.store, feature)
    if not any(app.store.peek(feature).state[name] for name in LATE) and not folder.names():
        return ()
    wait = lock_wait(app.machine.env)
    lock = Lock(app.machine.files, f"{app.place.store}/locks/{feature}.handoff", app.machine.clock, wait)
    lock.acquire()
    try:
        return (*outputs(app).write(feature), *manifests(app).write(feature), *boards(app).write(feature))
    finally:
        lock.close()


def _share(app: App, feature: str) -> tuple[str, ...]:
    """Let other copies of the repository know what was recorded, if something was that they must know.

    Settings that cannot be read may say that nothing is to be written into the tree, so nothing is until they can.
    """
    if feature not in app.recording.unshared or app.segments is None:
        return ()
    if feature not in app.recording.asked and (app.settings.damage() is not None or not app.settings.read().share.auto):
        return ()
    notes = sharing(app).write(feature)
    app.recording.unshared.discard(feature)
    return notes


def sharing(app: App) -> Sharing:
    """What writes segments; imported only after a write."""
    from tallystick.journal.sharing import Sharing

    assert app.segments is not None
    wait = lock_wait(app.machine.env)
    return Sharing(app.machine.files, app.place.tree, app.store, app.segments, app.git, app.machine.clock, wait)


def outputs(app: App) -> OutputService:
    """The service for what agents hand over; imported only by what needs it."""
    from tallystick.handoff.output.service import OutputService

    return OutputService(app.machine.files, app.place.tree, app.recording)


def manifests(app: App) -> ManifestService:
    """The service for what each phase did; imported only by what needs it."""
    from tallystick.handoff.manifest.service import ManifestService

    return ManifestService(app.machine.files, app.place.tree, app.recording, app.git)


def boards(app: App) -> BoardService:
    """The service for the tasks of a feature; imported only by what needs it."""
    from tallystick.board.service import BoardService

    return BoardService(app.machine.files, app.place.tree, app.recording, app.ledger.shown)


def imports(app: App) -> ImportService:
    """The service that reads foreign stores; imported only by what imports one."""
    from tallystick.imports.service import ImportService

    commits = app.machine.commits or app.git
    return ImportService(
        app.machine.files,
        app.place.tree,
        app.recording,
        app.views,
        lambda: commits.commit("HEAD"),
        app.settings.effective,
    )


def evidence(app: App) -> EvidenceService:
    """The service that runs checks; imported only by what runs one."""
    from tallystick.evidence.project import project_tree
    from tallystick.evidence.service import EvidenceService

    machine, place = app.machine, app.place

    def names() -> Sequence[str]:
        listed = app.git.names() if place.common else None
        return listed if listed is not None else project_tree(machine.files, place.tree).names

    return EvidenceService(place.tree, app.ledger, prover(app), resting(app), names)


def prover(app: App) -> Prover:
    """What runs the checks of this tree; imported only by what runs one, or freezes criteria."""
    from tallystick.evidence.fresh import Source, installed_folder
    from tallystick.evidence.places import Places
    from tallystick.evidence.proving import Prover
    from tallystick.system.trees import Trees

    machine, place = app.machine, app.place
    source = Source(place.tree, place.common, place.store)
    means = _means(machine)
    places = Places(machine.files, app.git, source, app.home.folder, machine.env, machine.clock, means)
    trees = Trees(machine.files, place.common, place.store, machine.env, machine.clock) if place.common else None
    return Prover(
        machine.files,
        place.tree,
        app.store.blobs,
        machine.env,
        places,
        trees,
        app.settings.read,
        trust(app),
        lambda: app.git.commit("HEAD"),
        lambda: installed_folder(machine.files, machine.env),
    )


def shut_in(app: App) -> bool:
    """Whether checks are shut in here by something that holds all that is promised; tried once in a process."""
    return _means(app.machine)().whole


def _means(machine: Machine) -> Callable[[], Means]:
    from tallystick.system.confine import available

    return machine.means or available


def trust(app: App) -> TrustTable:
    """What this user trusts of the repository; imported only by what asks or tells."""
    from tallystick.evidence.trust import TrustTable

    place = app.place.common or app.place.tree
    return TrustTable(app.machine.files, app.home.folder, place, app.machine.clock, lock_wait(app.machine.env))


def resting(app: App) -> Resting:
    """The lists of what passes rest on; imported only where a pass has one."""
    from tallystick.evidence.resting import Resting

    tree = canonical.sha256(os.fsencode(app.place.tree))[:16]
    cache = f"{app.place.store}/cache/resting/{tree}"
    return Resting(app.machine.files, app.place.tree, app.store.blobs, cache, app.machine.clock)
