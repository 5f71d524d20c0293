"""Between the journal and the files of one tree: outputs that lie there are adopted, recorded ones are written there.

Bytes that nobody knows are never replaced. What is adopted is durable before anything is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tallystick.errors import Refusal
from tallystick.handoff.folder import Folder
from tallystick.handoff.output.found import Lying, look
from tallystick.handoff.output.model import (
    ADOPTED,
    SAVED,
    Kept,
    Output,
    Versions,
    adopted,
    current,
    is_inline,
    known,
    lies_there,
    outputs_of,
)
from tallystick.handoff.output.sightings import Sightings
from tallystick.journal.record import Record
from tallystick.journal.snapshot import Snapshot
from tallystick.journal.store import Decision, Store
from tallystick.journal.subjects import Subjects
from tallystick.ledger.recording import Recording
from tallystick.limits import MB

#: How many files, and about how many bytes of them, are taken in by one commit.
_BATCH, _BATCH_BYTES = 50, MB


class _New(NamedTuple):
    """A file that is to be taken in. `back`: its bytes are those of an earlier version, which somebody put back."""

    lying: Lying
    kept: Kept
    back: bool = False


class OutputFiles:
    """The outputs of one feature and the files in its folder."""

    def __init__(self, folder: Folder, feature: str, recording: Recording, sightings: Sightings) -> None:
        self._folder = folder
        self._feature = feature
        self._recording = recording
        self._store = recording.store
        self._sightings = sightings

    def adopt(self, names: Sequence[str]) -> tuple[str, ...]:
        """Take in what is new among these files, a few at a time; the names that were taken in."""
        outputs = outputs_of(self._store.snapshot(self._feature))
        taken_in: list[str] = []
        batch: list[_New] = []
        for name in names:
            new = self._new(name, outputs.get(name, ()))
            if new is None:
                continue
            keep(self._store, new.kept)
            batch.append(new)
            if len(batch) == _BATCH or sum(len(one.kept.data) for one in batch) > _BATCH_BYTES:
                taken_in += self._take_in(batch)
                batch = []
        return (*taken_in, *self._take_in(batch))

    def restore(self, names: Sequence[str]) -> tuple[str, ...]:
        """Write the files of recorded outputs that are not among these names, or behind; notes for a person."""
        outputs, there = outputs_of(self._store.snapshot(self._feature)), set(names)
        behind: list[Output] = []
        for file, versions in outputs.items():
            one, last = current(versions), self._sightings.last(file)
            if file not in there or (last in known(versions) and not lies_there(one, last)):
                behind.append(one)
        small = contents(self._store, self._feature, [one for one in behind if not one.kept])
        for one in behind:
            data = small.get(one.digest) or contents(self._store, self._feature, [one]).get(one.digest)
            if data is None:  # a large one of another copy, whose bytes did not come along
                continue
            try:
                written = self._folder.put_over(one.file, data, known(outputs[one.file]))
            except Refusal as refusal:
                return (refusal.message,)
            identity = self._folder.stat(one.file)
            if written and identity is not None:
                self._sightings.note(one.file, identity, one.digest, False)
        return ()

    def _new(self, name: str, versions: Versions) -> _New | None:
        """What lies there under `name`, if it is to be taken in.

        Bytes of an earlier version are, too, where the current one was seen there before.
        """
        identity = self._folder.stat(name)
        seen = self._sightings.at_rest(name, identity) if identity is not None else None
        if seen is not None and seen.invalid:
            return None
        before = self._sightings.last(name)
        lying = look(self._folder, self._feature, name, self._sightings, known(versions))
        back = False
        if lying.kept is None and lying.digest in known(versions):
            one = current(versions)
            back = not lies_there(one, lying.digest) and lies_there(one, before)
            if back:
                lying = look(self._folder, self._feature, name, self._sightings, frozenset())
        return None if lying.kept is None else _New(lying, lying.kept, back)

    def _take_in(self, batch: Sequence[_New]) -> list[str]:
        """One commit for these files; those of them that nobody else took in meanwhile."""
        if not batch:
            return []

        def decide(snapshot: Snapshot[Subjects], _now: str) -> Decision[list[str]]:
            outputs = outputs_of(snapshot)
            fresh = [new for new in batch if _is_new(new, outputs.get(new.lying.name, ()))]
            events = tuple(adopted(new.lying.name, new.kept) for new in fresh)
            return Decision(events, [new.lying.name for new in fresh])

        names = self._recording.append(self._feature, "output", decide).answer
        for new in batch:
            if new.lying.identity is not None:
                self._sightings.note(new.lying.name, new.lying.identity, new.lying.digest, False)
        return names


def keep(store: Store[Subjects], kept: Kept) -> None:
    """Have the bytes durable before their record is, where they do not travel in it."""
    if not is_inline(kept):
        store.blobs.keep(kept.data)


def contents(store: Store[Subjects], feature: str, wanted: Iterable[Output]) -> dict[str, bytes]:
    """The bytes of these versions by digest, as far as they are here; the history is read once at most."""
    found: dict[str, bytes] = {}
    inline: set[str] = set()
    for output in wanted:
        if not output.kept:
            inline.add(output.digest)
        elif (data := store.blobs.find(output.digest)) is not None:
            found[output.digest] = data

    def visit(record: Record, _ours: bool) -> None:
        if record.type in (SAVED, ADOPTED) and record.data["sha256"] in inline and "text" in record.data:
            found[record.data["sha256"]] = record.data["text"].encode("utf-8")

    if inline:
        store.history(feature, visit)
    return found


def _is_new(new: _New, versions: Versions) -> bool:
    if not new.back:
        return new.lying.digest not in known(versions)
    return not lies_there(current(versions), new.lying.digest)
