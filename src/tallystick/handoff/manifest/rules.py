"""What may happen to a manifest, and what record it leaves. Pure.

Each rule takes the manifest as it stands and yields the events; none where the same was said before (*again*).
A phase that is completed is begun once more only when that is said, and one that failed keeps that attempt for ever.
"""

from __future__ import annotations

from typing import NamedTuple

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.handoff.manifest.model import Attempt, Found, Manifest, PhaseEntry
from tallystick.handoff.manifest.phases import DEFAULT_LAYOUT, Phase, active, named, number_text
from tallystick.handoff.output.header import is_word
from tallystick.ids import shown, typed
from tallystick.journal.record import Event
from tallystick.limits import DESCRIPTION_CHARACTERS, REASON_CHARACTERS

_AGENT_CHARACTERS = 256


class Start(NamedTuple):
    """What is said at the start of a phase; from `layout` on only the first start may say it."""

    phase: str
    role: str | None = None
    agent_id: str | None = None
    base: str | None = None
    again: bool = False
    layout: int | None = None
    work_type: str | None = None
    ui: bool = False
    description: str | None = None
    found: Found | None = None


class End(NamedTuple):
    """How a phase ended; `facts` are the further fields of the record: output, files, claims."""

    phase: str
    status: str
    reason: str | None = None
    facts: dict[str, Json] = {}  # noqa: RUF012 - never changed


def own(manifest: Manifest | None) -> Manifest | None:
    """The manifest without what another copy's key recorded; None where nothing else is in it."""
    if manifest is None:
        return None
    phases = tuple(
        entry._replace(attempts=tuple(attempt for attempt in entry.attempts if attempt.ours))
        for entry in manifest.phases
    )
    return manifest._replace(phases=phases)


def start(feature: str, manifest: Manifest | None, said: Start) -> tuple[Event, ...]:
    """`phase_started`; nothing where the same agent began it already.

    Raises `Refusal`: "phase.unknown", "phase.state", "input.invalid".
    """
    first = manifest is None or not manifest.head.ours
    layout = said.layout or DEFAULT_LAYOUT if manifest is None else manifest.head.layout
    phase = named(said.phase, layout)
    _sound(said)
    if manifest is not None:
        _agrees(feature, manifest, said)
    entry = own_entry(manifest, phase, layout)
    attempt = entry.current
    role = said.role or phase.role
    if attempt is not None and attempt.status == "running":
        if (attempt.role, attempt.agent_id) == (role, said.agent_id):
            return ()
        raise _running(feature, phase, attempt)
    if attempt is not None and attempt.status == "completed" and not said.again:
        raise Refusal(
            "phase.state",
            f"{phase.name} of {feature} was completed at {attempt.completed_at}",
            f"tallystick manifest start {feature} {phase.name} --again",
        )
    data: dict[str, Json] = {
        "phase": phase.name,
        "number": entry.number,
        "layout": layout,
        "role": role,
        "agent_id": said.agent_id,
        "base": said.base,
    }
    if first:
        data |= _first(manifest, said, layout)
    return (Event("phase_started", data),)


def _first(manifest: Manifest | None, said: Start, layout: int) -> dict[str, Json]:
    """What the first start records beside the phase: as said, else as another copy has it."""
    head = manifest.head if manifest is not None else None
    work_type = said.work_type or (head.work_type if head else None)
    ui = said.ui or bool(head and head.ui)
    found = None
    if said.found is not None:
        found = {key: value for key, value in said.found._asdict().items() if value is not None}
    return {
        "description": said.description or (head.description if head else ""),
        "work_type": work_type,
        "ui": ui,
        "active": [phase.name for phase in active(layout, work_type, ui)],
        **({"found": found} if found else {}),
    }


def _sound(said: Start) -> None:
    if said.role is not None and not is_word(said.role):
        raise Refusal("input.invalid", f"{shown(said.role)} is no role", "name it like developer or test-lead")
    if said.agent_id == "":
        raise Refusal("input.invalid", "the agent's id is empty", "leave --agent out where there is none")
    _within(said.agent_id, _AGENT_CHARACTERS, "agent's id")
    _within(said.description, DESCRIPTION_CHARACTERS, "description")


def _within(text: str | None, most: int, what: str) -> None:
    if text is None:
        return
    if len(text) > most:
        message = f"the {what} has {len(text):,} characters, the limit is {most:,}"
        raise Refusal("input.too_large", message, "shorten it")
    if any("\ud800" <= character < "\ue000" for character in text):
        raise Refusal("input.invalid", f"the {what} is not UTF-8", "write it as UTF-8 text")


def _agrees(feature: str, manifest: Manifest, said: Start) -> None:
    """Refuse a later start that wants the manifest to be another one, and any after it was completed."""
    head = manifest.head
    if not head.ours:
        return
    for word, wanted, there in (
        ("layout", said.layout, head.layout),
        ("work type", said.work_type, head.work_type),
        ("description", said.description, head.description),
        ("user interface", said.ui or None, head.ui),
    ):
        if wanted is not None and wanted != there:
            what = f"the {word} of {feature} was set at its first phase and stays"
            raise Refusal("phase.state", f"{what} {shown(str(there))}", "leave the option out")
    if head.status == "completed":
        raise Refusal(
            "phase.state",
            f"the manifest of {feature} was closed as completed",
            f"to go on with it: tallystick manifest close {feature} --status paused",
        )


def own_entry(manifest: Manifest | None, phase: Phase, layout: int) -> PhaseEntry:
    """The phase as this copy recorded it."""
    mine = own(manifest)
    return mine.entry(phase) if mine is not None else PhaseEntry(phase, phase.number(layout) or 0, ())


def _running(feature: str, phase: Phase, attempt: Attempt) -> Refusal:
    who = attempt.agent_id or attempt.role or "somebody"
    return Refusal(
        "phase.state",
        f"{phase.name} of {feature} runs since {attempt.started_at}, by {shown(who)}",
        f"end it first: tallystick manifest end {feature} {phase.name} --status failed --reason TEXT",
    )


def ending(feature: str, manifest: Manifest | None, said: End) -> tuple[PhaseEntry, bool]:
    """The phase that ends, and whether the same was said before.

    Raises `Refusal` "phase.unknown", "phase.state" (not begun, or over in another way), "input.invalid".
    """
    if manifest is None:
        raise no_manifest(feature)
    phase = named(said.phase, manifest.head.layout)
    _within(said.reason, REASON_CHARACTERS, "reason")
    if said.status == "skipped" and not (said.reason or "").strip():
        raise Refusal(
            "input.invalid",
            "a skipped phase says why",
            f"tallystick manifest end {feature} {phase.name} --status skipped --reason TEXT",
        )
    entry = own_entry(manifest, phase, manifest.head.layout)
    attempt = entry.current
    if attempt is None or attempt.status == "running":
        if attempt is None and said.status != "skipped":
            raise Refusal(
                "phase.state",
                f"{phase.name} of {feature} was not begun",
                f"tallystick manifest start {feature} {phase.name}",
            )
        return entry, False
    if (attempt.status, attempt.reason) == (said.status, said.reason):
        return entry, True
    raise Refusal(
        "phase.state",
        f"{phase.name} of {feature} does not run: it was {attempt.status} at {attempt.completed_at}",
        f"to try it again: tallystick manifest start {feature} {phase.name}",
    )


def end(feature: str, manifest: Manifest | None, said: End) -> tuple[Event, ...]:
    """`phase_ended`; nothing where it ended like that before. Raises as `ending`."""
    entry, again = ending(feature, manifest, said)
    if again:
        return ()
    data = {"phase": entry.phase.name, "status": said.status, "reason": said.reason, **said.facts}
    return (Event("phase_ended", data),)


def close(feature: str, manifest: Manifest | None, status: str) -> tuple[Event, ...]:
    """`manifest_closed`; nothing where it is closed like that. Raises `Refusal` "phase.state".

    Completed is a manifest only when no phase runs and none failed when it was tried last.
    """
    if manifest is None:
        raise no_manifest(feature)
    if manifest.head.ours and manifest.head.status == status:
        return ()
    if status == "completed":
        mine = own(manifest)
        assert mine is not None
        for entry in mine.phases:
            if entry.status in ("running", "failed"):
                word = "still runs" if entry.status == "running" else "failed"
                raise Refusal(
                    "phase.state",
                    f"{feature} is not completed: {number_text(entry.number)} {entry.phase.name} {word}",
                    f"tallystick manifest show {typed(feature)}; close it as failed or paused otherwise",
                )
    return (Event("manifest_closed", {"status": status}),)


def no_manifest(feature: str) -> Refusal:
    """The refusal where no phase was ever begun."""
    return Refusal("phase.state", f"no phase of {feature} was begun yet", f"tallystick manifest start {feature} setup")
