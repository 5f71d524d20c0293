"""Verifies all halves against each other: journal, anchors, kept evidence, views (promises P3, P6, P11).

It believes no cache. Without an anchor it says "self-consistent", never more.
"""

from __future__ import annotations

from typing import NamedTuple

from tallystick.board.document import FILE as BOARD
from tallystick.errors import Refusal
from tallystick.evidence.resting import LIST
from tallystick.handoff.folder import Folder, place_of
from tallystick.handoff.manifest.document import NAME as MANIFEST
from tallystick.journal.chain import Finding
from tallystick.journal.record import Record
from tallystick.journal.recovery import restore_store_id
from tallystick.wiring import App, boards, manifests

#: Records of outputs, whose bytes may lie beside the journal.
OUTPUTS = ("output_saved", "output_adopted")
NOT_CHECKABLE = "not checkable here: this home has no key (`tallystick init` makes one)"


class Report(NamedTuple):
    """What was looked at and found. `anchored`: every file of this place's writer is remembered by its anchor."""

    findings: tuple[Finding, ...]
    features: int
    records: int
    anchored: bool
    checkable: bool

    @property
    def holds(self) -> bool:
        """Whether a gate may go on: no damage, no roll-back, no view that was edited by hand."""
        return not any(finding.grave for finding in self.findings)


def inspect(app: App, network: str | None) -> Report:
    """Look at everything; writes nothing. `network` names a shared file system that the store lies on."""
    findings: list[Finding] = []
    records, anchored = 0, True
    if app.store.id() is None:
        return Report((), 0, 0, False, app.home.key() is not None)
    for feature in app.store.features():
        counted, seen = _feature(app, feature)
        findings.extend(seen)
        records += counted
        anchored = anchored and not any(finding.code == "anchor.missing" for finding in seen)
    members = app.store.members()
    findings.extend(members.findings)
    for joined in members.state.joined.values():
        findings.extend(
            _note(
                "anchor.missing",
                f"an earlier store was at {joined.get('path')} ({str(one)[:8]}…); nothing carried over",
            )
            for one in joined.get("earlier", ())
        )
    if network is not None:
        findings.append(
            _note("store.place", f"the store lies on {network}, a shared file system: locks are not proven there")
        )
    if not members.checkable:
        findings.append(_note("key.missing", NOT_CHECKABLE))
    anchored = anchored and members.checkable
    return Report(tuple(findings), len(app.store.features()), records, anchored, members.checkable)


def _feature(app: App, feature: str) -> tuple[int, list[Finding]]:
    """One feature: how many records it has, and what was found."""
    snapshot = app.ledger.snapshot(feature)
    findings = list(snapshot.findings)
    if snapshot.torn:
        says = f"{feature}: {snapshot.torn} bytes of an unfinished record stand at the end"
        findings.append(_note("journal.torn", f"{says}; the next write sets them aside"))
    if not snapshot.exists:  # the very first record was never finished
        return 0, findings
    shown = app.ledger.shown(snapshot, thorough=True)
    if not app.store.anchored(feature):
        findings.append(_note("anchor.missing", f"{feature}: this home remembers nothing of it yet"))
    if shown.view.finding is not None:
        findings.append(shown.view.finding._replace(grave=shown.view.kind in ("edited", "damaged")))
    findings += _handed_over(app, feature)
    wanted: dict[str, str] = {}
    counted = 0

    def visit(record: Record, ours: bool) -> None:
        nonlocal counted
        counted += 1
        for one in record.data.get("evidence", ()):
            if one.get("blob"):
                wanted[one["digest"]] = f"the kept evidence of {record.data['criterion']}"
        if ours and str(record.data.get("rests_on") or "").startswith(LIST):
            wanted[record.data["rests_on"].removeprefix(LIST)] = f"what {record.data['criterion']} rests on"
        if ours and record.type in OUTPUTS and record.data.get("kept"):
            wanted[record.data["sha256"]] = f"the kept output {record.data['file']}"
        if ours and record.type == "phase_ended" and record.data.get("files_kept"):
            wanted[record.data["files_kept"]] = f"the list of files that {record.data['phase']} changed"
        if ours and record.type == "phase_started" and (record.data.get("found") or {}).get("kept"):
            wanted[record.data["found"]["kept"]] = "the manifest that was taken over"

    app.store.history(feature, visit)
    for digest, thing in wanted.items():
        broken = app.store.blobs.broken(digest)
        if broken is not None:
            file = broken.where.file if broken.where else None
            says = f"{feature}: {thing} is not whole: {broken.message}"
            findings.append(Finding("blob.changed", says, file, mark=f"blob/{feature}/{digest}"))
    return counted, findings


def _handed_over(app: App, feature: str) -> list[Finding]:
    """The manifest and the board that lie in the tree, where somebody wrote into them. Notes: a writer that was killed
    between the file and its receipt leaves the same, and neither file counts for anything."""
    folder = Folder(app.machine.files, app.place.tree, app.store, feature)
    return [
        _note("view.edited", f"{place_of(feature)}/{name} is not as it was written: what was changed does not count")
        for name in (MANIFEST, BOARD)
        if folder.is_edited(name)
    ]


def restore(app: App) -> tuple[str, ...]:
    """Write anew what follows from the journal: a lost store id, and views that cannot be read or were edited.

    The old bytes of a view are kept by digest first.
    """
    notes = restore_store_id(app.machine.files, app.place.store, app.home, app.machine.format)
    for feature in app.store.features():
        try:
            notes += app.views.write(feature, restore=True)
            notes += (*manifests(app).write(feature), *boards(app).write(feature))
        except Refusal as refusal:
            notes += (refusal.message,)
    return notes


def _note(code: str, says: str) -> Finding:
    return Finding(code, says, grave=False)
