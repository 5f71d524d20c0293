"""The use cases of outputs: save one, adopt what agents wrote themselves, find, read, and have the files in the tree.

In this order a save becomes durable: large bytes as a blob, the record, the answer, then the file in the tree, which
is a view. Reading writes nothing. An agent's own file is never rewritten, and bytes that nobody knows are never
replaced: they are adopted as a version of their own, or, where they are no output, left and listed.
"""

from __future__ import annotations

from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.handoff.folder import Folder, without_secrets
from tallystick.handoff.output import intake
from tallystick.handoff.output.files import OutputFiles, contents, keep
from tallystick.handoff.output.found import Lying, candidates, look, path_of, told_name
from tallystick.handoff.output.header import CRAFTS, file_name
from tallystick.handoff.output.listing import Filters, Page, Row, adopted_row, lying_row, page
from tallystick.handoff.output.model import Output, Versions, adopted, current, known, outputs_of, saved
from tallystick.handoff.output.sightings import Sightings
from tallystick.ids import feature_id, shown
from tallystick.journal.record import Event
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.store import Decision
from tallystick.journal.subjects import Subjects
from tallystick.ledger.recording import Recording
from tallystick.system.files import Files

#: Every row.
_ALL = Filters()


class Saved(NamedTuple):
    """An acknowledged save. `again`: these very bytes were the current version already, so there is no new one."""

    feature: str
    output: Output
    again: bool
    notes: tuple[str, ...]


class Shown(NamedTuple):
    """One output to be read. `output` is None for a file that lies there and is not adopted yet."""

    file: str
    output: Output | None
    versions: int
    digest: str
    masked: int
    data: bytes
    notes: tuple[str, ...]


class OutputService:
    """The outputs of one work tree ("" = none), for one doer."""

    def __init__(self, files: Files, tree: str, recording: Recording) -> None:
        self._files = files
        self._tree = tree
        self._recording = recording
        self._store = recording.store

    # -- looking ------------------------------------------------------------------------------------------------

    def find(self, feature: str, filters: Filters = _ALL, cursor: str | None = None) -> Page:
        """One page of what was handed over, newest first, and what lies there and is not, or no output.

        Raises "feature.unknown" where there is neither a record nor a folder, "usage" for a cursor of no row.
        """
        folder, snapshot = self._looked(feature)
        outputs, sightings = outputs_of(snapshot), self._sightings(folder)
        names = candidates(folder.names())
        rows: list[tuple[int, Row | None]] = []
        for name in names:
            versions = outputs.get(name, ())
            lying = look(folder, feature, name, sightings, known(versions))
            rows.append((lying.identity[0] if lying.identity else 0, lying_row(lying, versions)))
        missing = outputs.keys() - set(names)
        rows += [(0, adopted_row(outputs[name])) for name in missing]
        return page(rows, filters, cursor)

    def show(self, feature: str, file: str, version: int | None = None) -> Shown:
        """One output whole: the newest, or an earlier version. Secrets of known shapes are masked either way.

        Raises "output.unknown", and "output.invalid" for a file that lies there and is no output.
        """
        folder, snapshot = self._looked(feature)
        versions = outputs_of(snapshot).get(file, ())
        if version is not None:
            if not 1 <= version <= len(versions):
                raise _no_version(file, version, len(versions))
            return self._shown(feature, versions, versions[version - 1], ())
        lying = self._lying(folder, feature, file, versions)
        if lying.kept is not None:
            kept = lying.kept
            notes = (f"{path_of(feature, file)} is not adopted yet; any writing command takes it in",)
            return Shown(file, None, len(versions), kept.digest, sum(kept.masked.values()), kept.data, notes)
        if versions:
            says = [f"{path_of(feature, file)} is no output: {one.path} {one.says}" for one in lying.reasons[:1]]
            return self._shown(feature, versions, current(versions), tuple(says))
        if lying.reasons:
            raise intake.invalid(lying.reasons, told_name(file))
        raise Refusal(
            "output.unknown",
            f"{feature} has no output {shown(file)}",
            f"`tallystick output find {feature}` lists what there is",
        )

    def content(self, feature: str, output: Output) -> bytes:
        """The bytes of one version as they are kept. Raises `Refusal` where they are gone or not in this copy."""
        data = contents(self._store, feature, [output]).get(output.digest)
        if data is not None:
            return data
        if output.ours:
            broken = self._store.blobs.broken(output.digest)
            if broken is not None:
                raise broken
        raise Refusal(
            "output.unknown",
            f"{output.file} version {output.version} was saved in another copy, and its bytes are not in this one",
            "look for it where it was saved",
        )

    def cited(self, feature: str, file: str) -> bytes | None:
        """The bytes that a citation of an output keeps: those of the newest, adopted or not; None where there is none.

        A feature that is not known has none.
        """
        versions = outputs_of(self._store.snapshot(feature)).get(file, ())
        lying = self._lying(self._folder(feature), feature, file, versions)
        if lying.kept is not None:
            return lying.kept.data
        return self.content(feature, current(versions)) if versions else None

    def newest(self, feature: str, file: str) -> str | None:
        """The digest of what `cited` gives."""
        versions = outputs_of(self._store.snapshot(feature)).get(file, ())
        lying = self._lying(self._folder(feature), feature, file, versions)
        if lying.kept is not None:
            return lying.kept.digest
        return current(versions).digest if versions else None

    # -- writing ------------------------------------------------------------------------------------------------

    def save(self, given: bytes | Json, name: str = "") -> Saved:
        """Record one output; durable when it returns. `name` is what its file was called, which may say the slug.

        Raises "output.invalid" with all mistakes, "role.denied" for an output of another role, "input.too_large".
        """
        handed = intake.parsed(given, name or "the output")
        self._permit(handed.document)
        kept = intake.of_save(handed, self._recording.by, self._store.now(), name)
        feature, file = kept.header.feature, file_name(kept.header)
        versions = outputs_of(self._store.snapshot(feature)).get(file, ())
        lying = self._lying(self._folder(feature), feature, file, versions)
        replaced, notes = self._set_aside(feature, lying)
        for one in (kept, lying.kept):
            if one is not None:
                keep(self._store, one)

        def decide(snapshot: Snapshot[Subjects], _now: str) -> Decision[bool]:
            before = outputs_of(snapshot).get(file, ())
            events: list[Event] = []
            last = current(before) if before else None
            digest, given_as = (last.digest, last.given) if last is not None and last.ours else ("", "")
            if lying.kept is not None and lying.kept.digest != kept.digest and lying.digest not in known(before):
                events.append(adopted(file, lying.kept))
                digest, given_as = lying.kept.digest, ""
            same = digest == kept.digest or (given_as != "" and given_as == kept.given)
            again = same and not replaced
            if not again:
                events.append(saved(file, kept, replaced))
            return Decision(tuple(events), again)

        committed = self._recording.commit(feature, "output", decide, file)
        output = current(outputs_of(self._store.peek(feature))[file])
        return Saved(feature, output, committed.answer, (*committed.notes, *notes))

    def adopt(self, feature: str) -> tuple[str, ...]:
        """Take in what agents wrote into the folder themselves: valid outputs that are not recorded yet.

        Durable when it returns; the names of the files that were taken in.
        """
        folder = self._folder(feature_id(feature))
        files = OutputFiles(folder, feature, self._recording, self._sightings(folder))
        return files.adopt(candidates(folder.names()))

    def write(self, feature: str) -> tuple[str, ...]:
        """Adopt what lies there, then write the files of recorded outputs that are missing in this tree or behind.

        Costs one stat for each file where nothing changed. Notes for a person.
        """
        folder = self._folder(feature)
        names = candidates(folder.names())
        if not folder.path or not (names or outputs_of(self._store.peek(feature))):
            return ()
        sightings = self._sightings(folder)
        files = OutputFiles(folder, feature, self._recording, sightings)
        taken_in = files.adopt(names)
        notes = files.restore(names)
        sightings.keep({*names, *outputs_of(self._store.peek(feature))})
        return (*(f"{path_of(feature, name)} was adopted" for name in taken_in), *notes)

    # -- inside -------------------------------------------------------------------------------------------------

    def _folder(self, feature: str) -> Folder:
        return Folder(self._files, self._tree, self._store, feature)

    def _sightings(self, folder: Folder) -> Sightings:
        return Sightings(self._files, self._store.root.folder, folder.path)

    def _lying(self, folder: Folder, feature: str, file: str, versions: Versions) -> Lying:
        """What lies in the folder under `file`; nothing for a name that no file there can have."""
        if not file or "/" in file or "\0" in file or not candidates([file]) or folder.is_free(file):
            return Lying(file)
        return look(folder, feature, file, self._sightings(folder), known(versions))

    def _looked(self, feature: str) -> tuple[Folder, Snapshot[Subjects]]:
        folder, snapshot = self._folder(feature_id(feature)), self._store.snapshot(feature)
        if not snapshot.exists and not folder.exists():
            raise Refusal(
                "feature.unknown",
                f"there is no feature {shown(feature)}: no record, and no folder of outputs",
                "`tallystick status` lists what there is",
            )
        return folder, snapshot

    def _shown(self, feature: str, versions: Versions, output: Output, notes: tuple[str, ...]) -> Shown:
        data = self.content(feature, output)
        return Shown(output.file, output, len(versions), output.digest, output.masked, data, notes)

    def _permit(self, document: dict[str, Json]) -> None:
        """Raise "role.denied" where a connection with a craft saves what another role did; it is recorded."""
        mine, said = self._recording.by.role, intake.said_role(document)
        if mine not in CRAFTS or said in ("", mine):
            return
        refusal = Refusal(
            "role.denied",
            f"an output of role {said} is not for this connection, which is {mine}",
            f"save what you did yourself, as role {mine}",
        )
        feature = intake.said_feature(document)
        if feature:
            self._recording.record_denial(feature, "", "output", refusal)
        raise refusal

    def _set_aside(self, feature: str, lying: Lying) -> tuple[str, tuple[str, ...]]:
        """The digest of a file without a valid output whose place a save takes, its bytes kept; and a note of it."""
        if not lying.reasons:
            return "", ()
        place = path_of(feature, lying.name)
        try:
            data = self._folder(feature).read(lying.name)
        except Refusal:
            data = None
        if data is None or not lying.digest:
            return "", (f"{place} cannot be read and stays as it is; the output is kept all the same",)
        blob = self._store.blobs.keep(without_secrets(data))
        return lying.digest, (f"{place} was no valid output and is replaced; its bytes are kept as sha256:{blob}",)


def _no_version(file: str, version: int, count: int) -> Refusal:
    if not count:
        return Refusal("output.unknown", f"no version of {shown(file)} is recorded", "tallystick output find")
    says = "one version" if count == 1 else f"versions 1 to {count}"
    return Refusal("output.unknown", f"{shown(file)} has {says}, not {version}", "leave --version out for the newest")
