"""What `tallystick manifest` says: the documents that others build on, and the lines that people read."""

from __future__ import annotations

from tallystick.canonical import Json
from tallystick.faces.cli.terminal import Terminal, safe
from tallystick.handoff.manifest.document import validation
from tallystick.handoff.manifest.model import Attempt, PhaseEntry, RecordedFile
from tallystick.handoff.manifest.phases import number_text
from tallystick.handoff.manifest.service import ShownManifest
from tallystick.ids import escaped
from tallystick.moment import seconds_of

_COLOURS = {"running": "warn", "completed": "good", "failed": "bad", "skipped": "dim", "pending": "dim"}
#: What a person reads for a kind of change.
_KINDS = {"created": "new", "modified": "changed", "deleted": "gone", "renamed": "renamed"}
_CHECKS = {"review_passed": "review", "tests_passed": "tests", "coverage_met": "coverage"}
_DIGEST = 12
LISTED = ("feature", "adopted", "status", "description", "work_type", "layout", "current_phase", "updated_at")
#: How many differences between an agent's word and git a person is shown of one phase.
_NAMED = 10

# -- the document -----------------------------------------------------------------------------------------------------


def document(seen: ShownManifest) -> dict[str, Json]:
    """The manifest itself, with the keys others build on."""
    head, current = seen.manifest.head, seen.manifest.current
    return {
        "feature": seen.manifest.feature,
        "adopted": seen.adopted,
        "file": seen.file,
        "description": head.description,
        "work_type": head.work_type,
        "layout": head.layout,
        "ui": head.ui,
        "status": head.status,
        "created_at": head.created_at or None,
        "updated_at": head.updated_at or None,
        "current_phase": current.phase.name if current is not None else None,
        "validation": {key: validation(seen.manifest, seen.old)[key] for key in _CHECKS},
        "notes": list(seen.notes),
    }


def phase_document(
    entry: PhaseEntry, seen: ShownManifest, files: tuple[RecordedFile, ...], now: int
) -> dict[str, Json]:
    """One phase, every key there."""
    attempt = entry.current
    outputs = seen.outputs.get(entry.phase.name, [])
    return {
        "number": entry.number,
        "name": entry.phase.name,
        "role": (attempt.role if attempt else None) or entry.phase.role,
        "state": entry.status,
        "claimed": entry.claimed,
        "elsewhere": attempt is not None and not attempt.ours and not entry.claimed,
        "agent_id": attempt.agent_id if attempt else None,
        "started_at": attempt.started_at if attempt else None,
        "completed_at": attempt.completed_at if attempt else None,
        "took_s": took(attempt, now) if attempt else None,
        "reason": attempt.reason if attempt else None,
        "output": attempt.output if attempt else None,
        "outputs": [output.file for output in outputs],
        "changed": sums(files),
        "files": [{**one._asdict(), "state": list(one.state)} for one in files],
        "claims": claims(attempt),
        "earlier": [
            {"state": one.status, "started_at": one.started_at, "completed_at": one.completed_at, "reason": one.reason}
            for one in entry.attempts
            if one is not attempt
        ],
    }


def damage_document(says: str) -> dict[str, Json]:
    """What is kept apart and is not whole, as a finding."""
    return {"code": "journal.damaged", "says": says, "file": None, "line": None}


def claims(attempt: Attempt | None) -> dict[str, Json]:
    """What the outputs said, every key there."""
    said = attempt.claimed if attempt is not None else {}
    found = {key: said.get(key) for key in ("approved", "tests_passed", "coverage")}
    return {**found, "differences": said.get("differences", []), "differences_count": said.get("differences_count", 0)}


def sums(files: tuple[RecordedFile, ...]) -> dict[str, Json]:
    """How many files, and how many lines in all."""
    return {
        "files": len(files),
        "added": sum(one.added or 0 for one in files),
        "removed": sum(one.removed or 0 for one in files),
    }


# -- the lines --------------------------------------------------------------------------------------------------------


def title(seen: ShownManifest, now: int) -> list[str]:
    """The lines above the phases."""
    head = seen.manifest.head
    whose = "" if seen.adopted else "   not adopted"
    kind = f"   {head.work_type}" if head.work_type else ""
    begun = seconds_of(head.created_at)
    since = f"   begun {duration(now / 1e9 - begun)} ago" if begun is not None else ""
    lines = [f"{safe(seen.manifest.feature)}   {head.status}{kind}   {head.layout} phases{since}{whose}"]
    if head.description:
        lines.append(f"  {safe(head.description, 100)}")
    checks = [
        f"{word} {'yes' if value else 'no'}"
        for key, word in _CHECKS.items()
        if isinstance(value := validation(seen.manifest, seen.old).get(key), bool)
    ]
    return [*lines, *([f"  passed: {', '.join(checks)}"] if checks else [])]


def phase_lines(
    entry: PhaseEntry, seen: ShownManifest, files: tuple[RecordedFile, ...], now: int, terminal: Terminal
) -> list[str]:
    """The line of one phase, and below it what does not fit in."""
    attempt = entry.current
    role = (attempt.role if attempt else None) or entry.phase.role
    length = took(attempt, now) if attempt else None
    parts = [
        f"  {terminal.paint(f'{entry.status:<9}', _COLOURS.get(entry.status, 'plain'))}",
        f"{number_text(entry.number):>4}",
        f"{entry.phase.name:<19}",
        f"{safe(role, 12):<12}",
        f"{duration(length) if length is not None else '':>8}",
    ]
    line = "  ".join(parts) + sum_of(files, "   ")
    if entry.claimed:
        line += "   claimed"
    elif attempt is not None and not attempt.ours:
        line += "   elsewhere"
    lines = [line.rstrip()]
    if attempt is not None and attempt.reason:
        lines.append(f"{'':19}{safe(attempt.reason, 90)}")
    lines += [f"{'':19}{safe(output.file)}" for output in seen.outputs.get(entry.phase.name, [])]
    if attempt is not None:
        lines += [f"{'':19}{one}" for one in claim_lines(attempt)]
        earlier = [one for one in entry.attempts if one is not attempt]
        lines += [f"{'':19}before: {one.status}{_why(one)}" for one in earlier]
    return lines


def claim_lines(attempt: Attempt) -> list[str]:
    """Where an agent's word is not what git saw, a few of them by name."""
    lines = []
    for one in attempt.claimed.get("differences", [])[:_NAMED]:
        note = f" ({safe(one['note'], 60)})" if one["note"] else ""
        lines.append(f"! {safe(one['says'], 40)}: {escaped(one['path'])}{note}")
    more = attempt.claimed.get("differences_count", 0) - len(lines)
    return [*lines, f"! and {more} more"] if more > 0 else lines


def _why(attempt: Attempt) -> str:
    when = attempt.completed_at or attempt.started_at
    return f" at {safe(when)}" + (f", {safe(attempt.reason, 60)}" if attempt.reason else "")


def file_line(one: RecordedFile) -> str:
    """One changed file."""
    path = escaped(one.path) if one.old is None else f"{escaped(one.old)} -> {escaped(one.path)}"
    counts = "" if one.added is None and one.removed is None else f"  +{one.added or 0} -{one.removed or 0}"
    digest = f"  {one.digest[:_DIGEST]}" if one.digest else ""
    return f"{'':19}{_KINDS.get(one.type, safe(one.type)):<8} {path}{counts}{digest}"


def sum_of(files: tuple[RecordedFile, ...], before: str) -> str:
    """`before` and the sums for people; "" where nothing changed."""
    if not files:
        return ""
    total = sums(files)
    counts = f", +{total['added']} -{total['removed']}" if any(one.added is not None for one in files) else ""
    return f"{before}{len(files)} {'file' if len(files) == 1 else 'files'}{counts}"


def list_line(seen: ShownManifest, terminal: Terminal) -> str:
    """One feature in the list."""
    head, current = seen.manifest.head, seen.manifest.current
    done = sum(1 for entry in seen.manifest.phases if entry.status in ("completed", "skipped"))
    at = f"{name(current)} {current.status}" if current is not None else ""
    whose = "" if seen.adopted else "   not adopted"
    state = terminal.paint(f"{head.status:<10}", _COLOURS.get(head.status, "plain"))
    return f"  {state}  {safe(seen.manifest.feature)}  {done} of {len(seen.manifest.phases)}  {at}{whose}".rstrip()


def name(entry: PhaseEntry) -> str:
    """A phase by number and name."""
    return f"{number_text(entry.number)} {entry.phase.name}"


def who(attempt: Attempt) -> str:
    """Who works, as far as it is known."""
    return attempt.agent_id or attempt.role or "somebody"


def took(attempt: Attempt, now: int) -> float | None:
    """Seconds from start to end, to `now` (ns) while it runs; None where a time is not known."""
    begun = seconds_of(attempt.started_at or "")
    over = seconds_of(attempt.completed_at or "")
    if begun is None or (over is None and attempt.status != "running"):
        return None
    return max(0.0, (over if over is not None else now // 1_000_000_000) - begun)


def duration(seconds: float) -> str:
    """A length of time for people: "45 s", "12 min", "3 h 5 min", "2 d 4 h"."""
    whole = int(max(seconds, 0))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"
