"""The view in the work tree: looked at before it is trusted to be ours, written after the answer (D1).

Written atomically, not synced: it can be made anew from the journal. What a person or an agent wrote into it is named
and kept by digest before the file is replaced; a file that cannot be parsed is left alone. A receipt in the store's
cache, sealed with the key, lets a reading command tell a current view by its digest without making it again.
"""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tallystick import canonical
from tallystick.errors import Refusal
from tallystick.journal.chain import Finding
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.store import Store
from tallystick.journal.subjects import Subjects
from tallystick.ledger.model import ledger_of
from tallystick.limits import INPUT_FILE
from tallystick.system.durable import make_folders, read_file, replace_file
from tallystick.system.faults import explained
from tallystick.system.files import Files
from tallystick.system.locks import Clock, Lock

if TYPE_CHECKING:
    from tallystick.ledger import comparison

_PURPOSE = "tallystick/view/1"
_LARGEST_VIEW = 12 * INPUT_FILE
EXCLUDED = (
    "/.agent/tasks/*/feature_list.json",
    "/.agent/tasks/*/.feature_list.json.tmp",
    "/.jonggrang/",
    "/.tallystick/**/.tmp",
)
#: What lies beside views for a moment, and is never tracked.
_PASSING = tuple(line for line in EXCLUDED if line.endswith(".tmp"))


class Look(NamedTuple):
    """What lies there: `kind` is absent, current, behind, hollow, edited or damaged."""

    kind: str
    finding: Finding | None = None
    failures: dict[str, str] = {}  # noqa: RUF012 - never changed


class Views:
    """The views of one work tree ("" = none, as in a bare repository)."""

    def __init__(self, files: Files, tree: str, store: Store[Subjects], clock: Clock, lock_wait_s: float) -> None:
        self._files = files
        self._tree = tree
        self._store = store
        self._clock = clock
        self._wait = lock_wait_s
        self._ours: dict[str, str] = {}
        self._looked: dict[str, tuple[str, Look]] = {}

    def path(self, feature: str) -> str:
        """Where the view of `feature` lies."""
        return f"{self._tree}/{shown_path(feature)}"

    def look(self, snapshot: Snapshot[Subjects], thorough: bool = False) -> Look:
        """What the view of this feature is now. Writes nothing. `thorough` believes no receipt (for `audit`)."""
        if not self._tree:
            return Look("absent")
        path = self.path(snapshot.feature)
        try:
            data = read_file(self._files, path, _LARGEST_VIEW)
        except Refusal as refusal:
            return Look("damaged", Finding("view.damaged", refusal.message, path))
        if data is None:
            return Look("absent")
        digest = canonical.sha256(data)
        head = snapshot.head()
        if not thorough and (self._ours.get(snapshot.feature) == head + digest or self._receipt(snapshot, digest)):
            return Look("current")
        from tallystick.ledger import comparison  # a view that has its receipt needs neither
        from tallystick.ledger.document import render

        wanted = render(ledger_of(snapshot))
        if data == wanted:
            self._ours[snapshot.feature] = head + digest
            return Look("current")
        if comparison.hollow(data):
            return Look(
                "hollow", Finding("view.behind", f"{path} is empty, half written or half merged", path, grave=False)
            )
        try:
            view = comparison.parse(data, path)
        except Refusal as refusal:
            cut = comparison.cut_short(data, wanted)
            if cut is not None and self._compared(snapshot, cut, path).kind == "behind":
                return Look("hollow", Finding("view.behind", f"{path} ends in the middle", path, grave=False))
            line = refusal.where.line if refusal.where else None
            return Look("damaged", Finding("view.damaged", refusal.message, path, line))
        look = self._compared(snapshot, view, path)
        self._looked[snapshot.feature] = (digest, look)
        return look

    def _compared(self, snapshot: Snapshot[Subjects], view: comparison.View, path: str) -> Look:
        from tallystick.ledger import comparison

        compared = comparison.Comparison(view, snapshot.feature)
        self._store.history(snapshot.feature, compared.take)
        verdict = compared.verdict()
        if verdict.kind == "behind":
            says = f"{shown_path(snapshot.feature)} is behind the journal"
            return Look("behind", Finding("view.behind", says, path, grave=False))
        says = f"{shown_path(snapshot.feature)} was edited by hand and does not count: {comparison.edits(verdict.says)}"
        return Look("edited", Finding("view.edited", says, path, grave=False), verdict.failures)

    def write(self, feature: str, restore: bool = False) -> tuple[str, ...]:
        """Bring the view up to date; what was lost from sight, as notes. Current when this returns.

        One lock keeps two writers apart, and each writes what the journal holds at that moment, so the last one
        to finish is never behind. A damaged view stays as it is unless `restore`. Raises `Refusal` when the tree
        cannot be written.
        """
        if not self._tree:
            return ()
        lock = Lock(self._files, f"{self._store.root.folder}/locks/{feature}.view", self._clock, self._wait)
        lock.acquire()
        try:
            return self._write(self._store.snapshot(feature), restore)
        finally:
            lock.close()  # this one is taken anew for each write

    def _write(self, snapshot: Snapshot[Subjects], restore: bool) -> tuple[str, ...]:
        from tallystick.ledger.document import render

        if ledger_of(snapshot).created_at is None:
            return ()
        path = self.path(snapshot.feature)
        folder = os.path.dirname(path)
        self._guard(folder)
        data = render(ledger_of(snapshot))
        notes: tuple[str, ...] = ()
        try:
            old = read_file(self._files, path, _LARGEST_VIEW)
        except Refusal:
            if not restore:
                return (f"{path} cannot be read and was left as it is",)
            raise
        if old == data:
            self._remember(snapshot, data)
            return ()
        if old is not None and not self._ours.get(snapshot.feature, "").endswith(canonical.sha256(old)):
            told, look = self._looked.get(snapshot.feature, ("", Look("absent")))
            if told != canonical.sha256(old):
                look = self.look(snapshot)
                notes = (look.finding.says,) if look.finding is not None and look.kind != "behind" else ()
            if look.kind == "damaged" and not restore:
                return (f"{shown_path(snapshot.feature)} cannot be parsed and was left as it is",)
            if look.kind in ("damaged", "edited", "hollow") and old.strip(b"\0 \t\r\n"):
                digest = self._store.blobs.keep(old)
                kept = f"{shown_path(snapshot.feature)} was written anew; its old bytes are kept as sha256:{digest}"
                notes = (*notes, kept)
        make_folders(self._files, folder, 0o755)
        replace_file(self._files, path, data, mode=0o644, sync=False, beside=f"{folder}/.feature_list.json.tmp")
        self._remember(snapshot, data)
        return notes

    def _guard(self, folder: str) -> None:
        """A link inside the project is followed; one that leads outside is refused, and a file is not overwritten."""
        real = self._files.realpath(folder)
        if real != folder and not real.startswith(self._tree.rstrip("/") + "/"):
            raise Refusal(
                "store.place",
                f"{folder} leads outside the project by a symbolic link; the view was not written",
                "look at what lies there; the journal is not touched by it",
            )
        try:
            kind = self._files.lstat(f"{folder}/feature_list.json").st_mode
        except OSError:
            return
        if not modes.S_ISREG(kind):
            raise Refusal(
                "store.place",
                f"{folder}/feature_list.json is no regular file and was left as it is",
                "look at what lies there; the journal is not touched by it",
            )

    def _receipt_path(self, feature: str) -> str:
        tree = canonical.sha256(os.fsencode(self._tree))[:16]
        return f"{self._store.root.folder}/cache/views/{tree}-{feature}"

    def _receipt(self, snapshot: Snapshot[Subjects], digest: str) -> bool:
        key = self._store.home.key()
        if key is None:
            return False
        try:
            data = read_file(self._files, self._receipt_path(snapshot.feature), 4096)
        except Refusal:
            return False
        return data is not None and canonical.same(
            canonical.mac(key, _PURPOSE, snapshot.head() + digest), data.decode("ascii", "replace")
        )

    def _remember(self, snapshot: Snapshot[Subjects], data: bytes) -> None:
        digest = canonical.sha256(data)
        self._ours[snapshot.feature] = snapshot.head() + digest
        key = self._store.home.key()
        if key is None:
            return
        path = self._receipt_path(snapshot.feature)
        text = canonical.mac(key, _PURPOSE, snapshot.head() + digest).encode()
        make_folders(self._files, os.path.dirname(path))
        replace_file(self._files, path, text, sync=False, beside=f"{path}.tmp")


def shown_path(feature: str) -> str:
    """The view's path from the project's top folder."""
    return f".agent/tasks/{feature}/feature_list.json"


def _list_views(files: Files, path: str, wanted: Sequence[str]) -> None:
    """Add our lines to git's list of ignored files, which keeps every byte and bit it had."""
    old = read_file(files, path, INPUT_FILE)
    lines = (old or b"").decode("utf-8", "surrogateescape").splitlines()
    missing = [line for line in wanted if line not in lines]
    if missing:
        make_folders(files, os.path.dirname(path), 0o755)
        try:
            bits = 0o644 if old is None else files.stat(path).st_mode & 0o777
        except OSError as error:
            raise explained(error, path, "looking there") from error
        end = b"" if not old or old.endswith(b"\n") else b"\n"
        added = "".join(f"{line}\n" for line in ["# views of tallystick, made from its journal", *missing])
        data = (old or b"") + end + added.encode()
        replace_file(files, path, data, mode=bits, sync=True, beside=f"{path}.tallystick.tmp")


def exclude(files: Files, common: str, tracked: Callable[[], bool] = lambda: False) -> Callable[[], None]:
    """What the process that makes a store does for its views: list them in the common dir's `info/exclude`.

    Where they may be `tracked`, only what lies beside them for a moment is listed.
    """

    def write() -> None:
        if not common:
            return
        # A link is followed inside git's own folder; one that leads elsewhere is somebody else's file and stays.
        path = files.realpath(f"{common}/info/exclude")
        if path.startswith(f"{common}/"):
            try:
                _list_views(files, path, _PASSING if tracked() else EXCLUDED)
            except Refusal as refusal:
                if refusal.code not in ("store.place", "input.unreadable", "input.too_large"):
                    raise  # else there is no file there, nor one that git would read

    return write
