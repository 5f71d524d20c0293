"""The use case of an import: look at a source, say what it would do, do it. What a face calls.

Everything is read and decided for all features before the first record is written, so a refusal changes nothing; then
each feature is one commit. A second import of the same source records nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.handoff.folder import Folder
from tallystick.handoff.manifest.document import NAME, NAMES
from tallystick.handoff.manifest.model import manifest_of
from tallystick.handoff.output.model import is_inline
from tallystick.ids import feature_id, is_feature_id
from tallystick.imports.found import Left
from tallystick.imports.plan import Plan, Prepared, plan
from tallystick.imports.preparing import prepared
from tallystick.imports.source import Source
from tallystick.imports.survey import Foreign, Survey, together
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.store import Decision
from tallystick.journal.subjects import Subjects
from tallystick.ledger import rules
from tallystick.ledger.model import ledger_of
from tallystick.ledger.recording import Recording
from tallystick.ledger.views import Views
from tallystick.system.files import Files


class Imported(NamedTuple):
    """What was done in each feature (or would be), and notes for a person."""

    plans: tuple[Plan, ...]
    notes: tuple[str, ...]


class ImportService:
    """Imports into one tree, for one doer. `head` names the commit that is checked out, `settings` are the effective
    ones for a freeze."""

    def __init__(
        self,
        files: Files,
        tree: str,
        recording: Recording,
        views: Views,
        head: Callable[[], str | None],
        settings: Callable[[], Mapping[str, Json]],
    ) -> None:
        self._files = files
        self._tree = tree
        self._recording = recording
        self._store = recording.store
        self._views = views
        self._head = head
        self._settings = settings

    def run(self, path: str, said: str, feature: str | None, dry: bool) -> Imported:
        """Import the file or folder at `path`, which the user calls `said`; with `dry` only say what would be done.

        Durable when it returns. Raises `Refusal` with all mistakes of the source; nothing was written then.
        """
        if feature is not None:
            feature_id(feature)
        source = Source(self._files, path, said)
        mistakes: list[Refusal] = []
        found = Survey(source, feature, mistakes).features()
        ready = [prepared(self._without_view(one, source), mistakes) for one in found]
        commit = self._head()
        plans = [one for one in (self._planned(one, commit, mistakes) for one in ready) if one is not None]
        if mistakes:
            raise together(mistakes)
        if dry:
            return Imported(tuple(plans), ())
        notes: list[str] = []
        done = [self._carry_out(one, before, commit, notes) for one, before in zip(ready, plans, strict=True)]
        return Imported(tuple(done), tuple(notes))

    # -- inside -------------------------------------------------------------------------------------------------

    def _without_view(self, foreign: Foreign, source: Source) -> Foreign:
        """The feature without a file that is the view of a ledger here: what it says, the journal said."""
        names = [name for name in {foreign.feature, foreign.origin} if is_feature_id(name)]
        frozen = [name for name in names if ledger_of(self._store.snapshot(name)).created_at is not None]
        views = [self._files.realpath(self._views.path(name)) for name in frozen]
        others = tuple(one for one in foreign.criteria if source.place_of(one.file) not in views)
        mine = [Left(one.file, "it is the view of the ledger here") for one in foreign.criteria if one not in others]
        return foreign._replace(criteria=others, left=(*foreign.left, *mine))

    def _planned(self, one: Prepared, commit: str | None, mistakes: list[Refusal]) -> Plan | None:
        try:
            self._recording.permit(one.feature, "import")
            snapshot = self._store.snapshot(one.feature)
            rules.unsound(snapshot.findings)
            has, settings = self._has_manifest(snapshot), self._settings()
            return plan(snapshot, one, has, commit, self._store.now(), settings)
        except Refusal as refusal:
            mistakes.append(refusal)
            return None

    def _carry_out(self, one: Prepared, before: Plan, commit: str | None, notes: list[str]) -> Plan:
        manifest = any(part.kind == "manifest" and part.new for part in before.parts)
        done = before
        if before.events:
            for output in one.outputs:
                if not is_inline(output.kept):
                    self._store.blobs.keep(output.kept.data)

            def decide(snapshot: Snapshot[Subjects], now: str) -> Decision[Plan]:
                decided = plan(snapshot, one, not manifest, commit, now, self._settings())
                return Decision(decided.events, decided)

            committed = self._recording.commit(one.feature, "import", decide)
            done = committed.answer
            notes += committed.notes
        try:
            if before.events and done.before is None and done.taking.drafts:
                # What lay at the view's place was read, and is kept by its digest: the view may take that place.
                notes += self._views.write(one.feature, restore=True)
            if manifest and one.manifest is not None:
                self._folder(one.feature).put_over(NAME, one.manifest.data, frozenset())
        except Refusal as refusal:  # the records stand; what could not be written into the tree is said
            notes.append(refusal.message)
        return done

    def _has_manifest(self, snapshot: Snapshot[Subjects]) -> bool:
        names = self._folder(snapshot.feature).names()
        return manifest_of(snapshot) is not None or any(name in names for name in NAMES)

    def _folder(self, feature: str) -> Folder:
        return Folder(self._files, self._tree, self._store, feature)
