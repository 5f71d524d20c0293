"""The use cases of a manifest: begin, end and close phases, and have MANIFEST.yaml say what the journal says.

What a phase changed is asked of git when it ends, against the commit that was checked out when it began; that commit
is held by a reference of ours, so that no clean-up of git loses it. Reading and recording are apart: looking at git and
at outputs happens before the lock is taken, and the rules decide again inside the commit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.handoff.manifest import phase_outputs
from tallystick.handoff.manifest import rules as rules
from tallystick.handoff.manifest.document import NAME, active_names, whole
from tallystick.handoff.manifest.model import (
    SUBJECT,
    Attempt,
    Head,
    Manifest,
    PhaseEntry,
    RecordedFile,
    manifest_of,
)
from tallystick.handoff.manifest.phase_outputs import Said, by_phase
from tallystick.handoff.manifest.phases import named
from tallystick.handoff.manifest.place import ManifestPlace
from tallystick.handoff.manifest.reading import OldManifest
from tallystick.handoff.manifest.rules import End, Start
from tallystick.handoff.output.model import Output, outputs_of
from tallystick.ids import feature_id, shown
from tallystick.journal.record import Event
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.store import Decision
from tallystick.journal.subjects import Subjects
from tallystick.limits import INLINE_EVIDENCE

if TYPE_CHECKING:
    from tallystick.ledger.recording import Recording
    from tallystick.system.files import Files
    from tallystick.system.git import Git

T = TypeVar("T")


class ShownManifest(NamedTuple):
    """A manifest to look at. `adopted` is False where it is only a file that no record made, called `file`.

    `outputs` are the current ones of each phase by its name, `files` what it changed. `notes` say what a person should
    see, `damage` what is kept apart and not whole.
    """

    manifest: Manifest
    old: OldManifest | None
    adopted: bool
    file: str
    outputs: dict[str, list[Output]]
    files: dict[str, tuple[RecordedFile, ...]]
    notes: tuple[str, ...]
    damage: tuple[str, ...]
    snapshot: Snapshot[Subjects]


class Done(NamedTuple):
    """What was acknowledged: the manifest as it stands now, the phase (None where it is closed), notes for a person.

    `again`: it was so before, and nothing was recorded.
    """

    manifest: Manifest
    entry: PhaseEntry | None
    again: bool
    notes: tuple[str, ...]


class ManifestService:
    """The manifests of one tree ("" = none), for one doer."""

    def __init__(self, files: Files, tree: str, recording: Recording, git: Git) -> None:
        self._files = files
        self._tree = tree
        self._recording = recording
        self._store = recording.store
        self._git = git
        self._place = ManifestPlace(files, tree, recording.store)

    # -- looking ------------------------------------------------------------------------------------------------

    def show(self, feature: str) -> ShownManifest:
        """The manifest of a feature: of its records, else of the file in its folder. Writes nothing.

        Raises `Refusal` "feature.unknown" where there is neither, "phase.state" where no phase was begun, and what is
        wrong with a file that cannot be read.
        """
        snapshot = self._store.snapshot(feature_id(feature))
        manifest = manifest_of(snapshot)
        if manifest is None:
            return self._lying(feature, snapshot)
        damage: list[str] = []
        old = _whole(lambda: self._place.old(manifest.head.found), None, damage)
        full = whole(manifest, old)
        files = self._files_of(full, damage)
        outputs, notes = by_phase(outputs_of(snapshot), full), self._place.aside(manifest)
        return ShownManifest(full, old, True, NAME, outputs, files, notes, tuple(damage), snapshot)

    def _lying(self, feature: str, snapshot: Snapshot[Subjects]) -> ShownManifest:
        """The manifest of a feature without records of phases: the file in its folder."""
        lying = self._place.lying(feature)
        if lying is None:
            if snapshot.exists or self._place.is_there(feature):
                raise rules.no_manifest(feature)
            raise Refusal("feature.unknown", f"there is no feature {shown(feature)}", "tallystick manifest list")
        notes = [f"{lying.name} is not adopted yet: no record made it; the first `manifest start` takes it over"]
        if lying.old.feature not in (None, feature):
            notes.append(f"the file says that it is the manifest of {shown(str(lying.old.feature))}")
        full = _as_manifest(feature, lying.old)
        outputs, files = by_phase(outputs_of(snapshot), full), self._files_of(full, [])
        return ShownManifest(full, lying.old, False, lying.name, outputs, files, tuple(notes), (), snapshot)

    def _files_of(self, manifest: Manifest, damage: list[str]) -> dict[str, tuple[RecordedFile, ...]]:
        """What each phase changed, by its name."""
        nothing: tuple[RecordedFile, ...] = ()
        found = {}
        for entry in manifest.phases:
            attempt = entry.current
            if attempt is not None:
                found[entry.phase.name] = _whole(partial(self.changed, attempt), nothing, damage)
        return found

    def features(self) -> list[str]:
        """The features that have a manifest: by their records, or as a file in a folder."""
        recorded = {name for name in self._store.features() if self._store.snapshot(name).state[SUBJECT]}
        return sorted(recorded.union(self._place.features()))

    def changed(self, attempt: Attempt) -> tuple[RecordedFile, ...]:
        """The files that an attempt changed. A long list lies apart: raises "journal.damaged" where it is gone."""
        if attempt.files_kept is None:
            return attempt.files
        return tuple(map(RecordedFile.of, self._place.kept(attempt.files_kept)))

    # -- writing ------------------------------------------------------------------------------------------------

    def start(self, feature: str, said: Start) -> Done:
        """Begin a phase; the first one makes the manifest. Durable when it returns. Raises as `manifest_rules.start`.

        The commit that is checked out is what the phase's changes will be told against.
        """
        self._recording.permit(feature_id(feature), "phase", said.phase)
        before = manifest_of(self._store.snapshot(feature))
        notes: tuple[str, ...] = ()
        if before is None:
            said, notes = self._taking_over(feature, said)
        if rules.start(feature, before, said):
            base = self._git.head()
            if base is not None:
                self._git.hold(base)
            said = said._replace(base=base)
        return self._commit(feature, said.phase, lambda manifest: rules.start(feature, manifest, said), notes)

    def end(self, feature: str, said: End, files: bool = False) -> Done:
        """End a phase. What it changed is recorded where the phase is one of those, or where `files` asks for it.

        What agents left in the folder is taken in first. Raises as `manifest_rules.end`, and "git.missing" where git
        cannot tell what a completed phase changed; one that failed or is skipped ends all the same, with a note.
        """
        self._recording.permit(feature_id(feature), "phase", said.phase)
        rules.ending(feature, manifest_of(self._store.snapshot(feature)), said)
        notes = self._adopt(feature)
        snapshot = self._store.snapshot(feature)
        manifest = manifest_of(snapshot)
        entry, again = rules.ending(feature, manifest, said)
        if not again and manifest is not None:
            try:
                facts = self._facts(snapshot, manifest, entry, files or entry.phase.files)
            except Refusal as refusal:
                if refusal.code != "git.missing":
                    raise
                if said.status == "completed":  # what it changed is part of that, and not to be guessed
                    raise _not_completed(feature, entry, refusal) from None
                facts = self._facts(snapshot, manifest, entry, False)
                notes = (*notes, f"which files it changed is not known: {refusal.message}")
            said = said._replace(facts=facts)
        return self._commit(feature, said.phase, lambda manifest: rules.end(feature, manifest, said), notes)

    def close(self, feature: str, status: str) -> Done:
        """Close or pause the manifest. Raises as `manifest_rules.close`."""
        return self._commit(feature_id(feature), None, lambda manifest: rules.close(feature, manifest, status), ())

    def write(self, feature: str) -> tuple[str, ...]:
        """Have MANIFEST.yaml in the folder say what the journal says; notes of what was found there.

        Returns at once where no phase was begun, and where the file is as we left it. A file that cannot be read is
        left as it lies.
        """
        snapshot = self._store.snapshot(feature)
        manifest = manifest_of(snapshot)
        return () if manifest is None else self._place.put(manifest, snapshot.state[SUBJECT], self.changed)

    # -- inside -------------------------------------------------------------------------------------------------

    def _commit(
        self,
        feature: str,
        phase: str | None,
        events: Callable[[Manifest | None], tuple[Event, ...]],
        notes: tuple[str, ...],
    ) -> Done:
        def decide(snapshot: Snapshot[Subjects], _now: str) -> Decision[None]:
            return Decision(events(manifest_of(snapshot)), None)

        committed = self._recording.commit(feature, "phase", decide, phase or "")
        manifest = manifest_of(self._store.peek(feature))
        assert manifest is not None
        entry = None if phase is None else manifest.entry(named(phase, manifest.head.layout))
        return Done(manifest, entry, not committed.records, (*committed.notes, *notes))

    def _taking_over(self, feature: str, said: Start) -> tuple[Start, tuple[str, ...]]:
        """The first start with what an older manifest in the folder says, where that can be read."""
        try:
            lying = self._place.lying(feature)
        except Refusal as refusal:
            return said, (f"the manifest that lies in the folder was not taken over: {refusal.message}",)
        if lying is None:
            return said, ()
        old = lying.old
        taken = said._replace(
            layout=said.layout or _layout_of(old),
            work_type=said.work_type or old.work_type,
            ui=said.ui or old.ui,
            description=said.description or old.description or None,
            found=self._place.found(lying),
        )
        return taken, (f"{lying.name} was taken over, as claimed: no record made it",)

    def _adopt(self, feature: str) -> tuple[str, ...]:
        from tallystick.handoff.output.service import OutputService

        adopted = OutputService(self._files, self._tree, self._recording).adopt(feature)
        return tuple(f"{name} was adopted" for name in adopted)

    def _payloads(self, feature: str, outputs: list[Output]) -> list[Said]:
        """What these outputs say; one whose bytes are in another copy says nothing here."""
        from tallystick.handoff.output.files import contents

        there = contents(self._store, feature, outputs)
        found = []
        for output in outputs:
            if output.digest in there:
                document = canonical.parse(there[output.digest], output.file)
                found.append(Said(output, document["output"]))
        return found

    def _facts(
        self, snapshot: Snapshot[Subjects], manifest: Manifest, entry: PhaseEntry, files: bool
    ) -> dict[str, Json]:
        """What the record of an end holds beside the status."""
        outputs = by_phase(outputs_of(snapshot), manifest).get(entry.phase.name, [])
        said = self._payloads(snapshot.feature, outputs)
        facts: dict[str, Json] = {"output": outputs[-1].file if outputs else None}
        attempt = entry.current
        if not files or attempt is None:
            return {**facts, "claimed": phase_outputs.claimed(said, None, self._tree)}
        from tallystick.system.changes import changes, count_lines

        found = count_lines(self._git, attempt.base, changes(self._files, self._git, attempt.base))
        rows = [
            one.row() for one in phase_outputs.recorded(found, said, self._tree, attempt.agent_id, self._store.now())
        ]
        data = canonical.encode(rows)
        if len(data) <= INLINE_EVIDENCE:
            facts["files"] = rows
        else:
            facts |= {"files_count": len(rows), "files_kept": self._store.blobs.keep(data)}
        return {**facts, "claimed": phase_outputs.claimed(said, found, self._tree)}


def _whole(read: Callable[[], T], otherwise: T, damage: list[str]) -> T:
    """What is kept apart, or `otherwise` where it is not whole, which is then named; the rest is shown all the same."""
    try:
        return read()
    except Refusal as refusal:
        damage.append(refusal.message)
        return otherwise


def _not_completed(feature: str, entry: PhaseEntry, refusal: Refusal) -> Refusal:
    command = f"tallystick manifest end {feature} {entry.phase.name} --status failed --reason TEXT"
    return Refusal(refusal.code, refusal.message, f"end it as failed, then begin it again: {command}")


def _layout_of(old: OldManifest) -> int:
    """What the numbers of an old file mean, before and after it is taken over; where nothing tells, those of 16."""
    return old.layout or 16


def _as_manifest(feature: str, old: OldManifest) -> Manifest:
    """What an old file says, as a manifest that is nobody's."""
    layout = _layout_of(old)
    names = active_names(old)
    head = Head(
        old.description, old.work_type, old.ui, layout, names, old.created_at or "", old.status, old.updated_at or "",
        None, ours=False,
    )  # fmt: skip
    there = {entry.phase.name: entry for entry in old.phases}
    entries = [
        there.get(name) or PhaseEntry(phase, phase.number(layout) or 0, (), claimed=True)
        for name in names
        for phase in (named(name),)
    ]
    return Manifest(feature, head, tuple(sorted(entries, key=lambda entry: entry.number)))
