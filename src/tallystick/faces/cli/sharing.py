"""`tallystick share` and `tallystick ledger accept`: what copies of a repository know of each other."""

from __future__ import annotations

from tallystick.errors import DONE, Refusal
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import safe
from tallystick.ids import typed
from tallystick.journal.segments import FOLDER
from tallystick.ledger.model import Mark, ledger_of


def share(call: Call) -> int:
    """Have every record in a segment of this tree, and every view as the journal says."""
    app = call.app
    if app.segments is None or not app.place.tree:
        raise Refusal("store.place", "there is no work tree of git here to share by", "run it inside a repository")
    said = call.arguments.words
    features = [app.ledger.look(said).ledger.feature] if said else app.ledger.features()
    before = {feature: set(app.segments.names(feature)) for feature in features}
    notes: list[str] = []
    for feature in features:
        app.recording.unshared.add(feature)
        app.recording.asked.add(feature)
        app.due.touch(feature)
    notes.extend(app.due.finish())
    written = sorted(
        f"{FOLDER}/{feature}/{name}"
        for feature in features
        for name in set(app.segments.names(feature)) - before[feature]
    )
    lines = [f"{len(features)} feature(s), {len(written)} new segment(s)."]
    lines += [f"  {name}" for name in written]
    ignored = app.git.ask("check-ignore", "--quiet", "--", FOLDER)[0] == 0
    if ignored:
        notes.append(f"git ignores {FOLDER}, so no other copy gets it: see `git check-ignore -v {FOLDER}`")
    if written and not ignored:
        lines.append("Next     git add .tallystick && git commit")
    document = {"features": features, "written": written, "notes": notes}
    call.terminal.answer(document, lines)
    for note in notes:
        call.terminal.tell(f"note: {note}")
    return DONE


def accept(call: Call) -> int:
    """Let count what another copy amended, closed or overrode."""
    feature, names = call.feature_and_criteria()
    if len(names) > 1:
        raise Refusal("usage", "one criterion at a time, or none for all of them", "tallystick ledger accept AC7 …")
    name = names[0] if names else ""
    waiting = ledger_of(call.app.ledger.snapshot(feature)).proposals
    receipt = call.app.ledger.accept(feature, name, call.arguments.reason)
    left = ledger_of(call.app.ledger.snapshot(feature)).proposals
    taken = [mark for key, mark in waiting.items() if key not in left]
    lines = [f"{safe(mark.data['criterion'])}: {proposed(mark)}. It counts from now on." for mark in taken]
    accepted = [{"criterion": mark.data["criterion"], "type": mark.type} for mark in taken]
    call.terminal.answer({"feature": feature, "accepted": accepted, "notes": list(receipt.notes)}, lines)
    for note in receipt.notes:
        call.terminal.tell(f"note: {note}")
    return DONE


def proposed(mark: Mark) -> str:
    """What another copy did to a criterion, in words."""
    reason = safe(mark.data["reason"], 80)
    if mark.type == "criterion_amended":
        return f'another copy amended it to "{safe(mark.data["to"]["description"], 120)}" ({reason})'
    return f"another copy {'closed' if mark.type == 'criterion_closed' else 'overrode'} it ({reason})"


def waits(mark: Mark, feature: str) -> list[str]:
    """The lines on a criterion's page about what waits for a person."""
    name = typed(mark.data["criterion"])
    return [f"  waits      {proposed(mark)}", f"             tallystick ledger accept {feature} {name} --reason …"]
