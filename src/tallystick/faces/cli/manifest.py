"""`tallystick manifest …`: what each phase did, as lines for people and as a document."""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.errors import DONE, LOOK, Refusal
from tallystick.faces.cli import manifest_rows as say
from tallystick.faces.cli import rows
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import safe
from tallystick.handoff.manifest.model import Attempt, PhaseEntry
from tallystick.handoff.manifest.phases import named
from tallystick.handoff.manifest.rules import End, Start
from tallystick.handoff.manifest.service import Done, ShownManifest
from tallystick.wiring import manifests


def show(call: Call) -> int:
    """What each phase did."""
    seen = manifests(call.app).show(_feature(call))
    entries = seen.manifest.phases
    if call.arguments.phase is not None:
        phase = named(call.arguments.phase, seen.manifest.head.layout)
        entries = (seen.manifest.entry(phase),)
    now = call.machine.clock.now()
    changed = {entry.phase.name: seen.files.get(entry.phase.name, ()) for entry in entries}
    document = say.document(seen) | {
        "phases": [say.phase_document(entry, seen, changed[entry.phase.name], now) for entry in entries],
        "findings": [
            *map(rows.finding_document, seen.snapshot.grave),
            *map(say.damage_document, seen.damage),
        ],
    }
    lines = [*say.title(seen, now), ""]
    for entry in entries:
        files = changed[entry.phase.name]
        lines += say.phase_lines(entry, seen, files, now, call.terminal)
        if call.arguments.files:
            lines += [say.file_line(one) for one in files]
    call.terminal.answer(document, lines)
    for note in seen.notes:
        call.terminal.tell(note)
    return _look(call, seen)


def list_all(call: Call) -> int:
    """One line for each feature that has a manifest."""
    service = manifests(call.app)
    found: list[dict[str, Json]] = []
    lines: list[str] = []
    status = DONE
    for feature in service.features():
        try:
            seen = service.show(feature)
        except Refusal as refusal:  # one file that cannot be read hides none of the others
            found.append({**dict.fromkeys(say.LISTED), "feature": feature, "adopted": False, "error": refusal.message})
            lines.append(f"  {'unreadable':<10}  {safe(feature)}  {safe(refusal.message)}")
            continue
        document = say.document(seen)
        found.append({key: document[key] for key in say.LISTED} | {"error": None})
        lines.append(say.list_line(seen, call.terminal))
        status = max(status, _look(call, seen))
    call.terminal.answer({"manifests": found}, lines or ["no manifests yet: tallystick manifest start FEATURE setup"])
    return status


def start(call: Call) -> int:
    """Begin a phase."""
    feature, phase = _feature_and_phase(call)
    said = call.arguments
    done = manifests(call.app).start(
        feature,
        Start(
            phase,
            said.role,
            said.agent,
            again=said.again,
            layout=int(said.layout) if said.layout else None,
            work_type=said.type,
            ui=said.ui,
            description=said.description,
        ),
    )
    entry, attempt = _entry(done), _attempt(done)
    lines = [f"{feature}: {say.name(entry)} {'runs already' if done.again else 'runs'}, by {safe(say.who(attempt))}."]
    return _answer(call, done, lines, {"state": entry.status, "started_at": attempt.started_at, "base": attempt.base})


def end(call: Call) -> int:
    """End a phase; what it changed is asked of git."""
    feature, phase = _feature_and_phase(call)
    said = call.arguments
    done = manifests(call.app).end(feature, End(phase, said.status, said.reason), said.files)
    entry, attempt = _entry(done), _attempt(done)
    files = manifests(call.app).changed(attempt)
    took = say.took(attempt, 0)
    after = f" after {say.duration(took)}" if took is not None else ""
    already = "is already" if done.again else "is"
    lines = [f"{feature}: {say.name(entry)} {already} {entry.status}{after}{say.sum_of(files, ': ')}."]
    lines += say.claim_lines(attempt)
    facts = {"state": entry.status, "took_s": took, "output": attempt.output, "changed": say.sums(files)}
    return _answer(call, done, lines, {**facts, "claims": say.claims(attempt)})


def close(call: Call) -> int:
    """Close the manifest."""
    done = manifests(call.app).close(_feature(call), call.arguments.status)
    status = done.manifest.head.status
    lines = [f"{done.manifest.feature}: the manifest is {'already ' if done.again else ''}{status}."]
    document = {"feature": done.manifest.feature, "status": status, "again": done.again, "notes": [*done.notes]}
    call.terminal.answer(document, lines)
    for note in done.notes:
        call.terminal.tell(note)
    return DONE


# -- which feature is meant -------------------------------------------------------------------------------------------


def _feature(call: Call) -> str:
    """As everywhere, and where there is no record at all, the only feature whose folder holds a manifest."""
    try:
        return call.feature()
    except Refusal as refusal:
        return _only(call, refusal)


def _feature_and_phase(call: Call) -> tuple[str, str]:
    words = call.arguments.words
    try:
        return call.feature_and_word()
    except Refusal as refusal:
        if len(words) != 1:
            raise
        return _only(call, refusal), words[0]


def _only(call: Call, refusal: Refusal) -> str:
    there = manifests(call.app).features() if refusal.code == "feature.unknown" else []
    if len(there) != 1:
        raise refusal
    return there[0]


# -- what an answer owes ----------------------------------------------------------------------------------------------


def _entry(done: Done) -> PhaseEntry:
    assert done.entry is not None
    return done.entry


def _attempt(done: Done) -> Attempt:
    attempt = _entry(done).current
    assert attempt is not None
    return attempt


def _answer(call: Call, done: Done, lines: list[str], facts: dict[str, Json]) -> int:
    entry = _entry(done)
    document = {
        "feature": done.manifest.feature,
        "phase": entry.phase.name,
        "number": entry.number,
        **facts,
        "again": done.again,
        "notes": list(done.notes),
    }
    call.terminal.answer(document, lines)
    for note in done.notes:
        call.terminal.tell(note)
    return DONE


def _look(call: Call, seen: ShownManifest) -> int:
    for finding in seen.snapshot.grave:
        call.terminal.tell(f"{finding.code}: {finding.says}")
    for one in seen.damage:
        call.terminal.tell(f"journal.damaged: {one}")
    return LOOK if seen.snapshot.grave or seen.damage else DONE
