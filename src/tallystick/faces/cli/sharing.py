"""`tallystick share` and `tallystick ledger accept`: what copies of a repository know of each other, and what a person
lets count."""

from __future__ import annotations

from tallystick.errors import DONE, Refusal
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import safe
from tallystick.ids import typed
from tallystick.journal.segments import FOLDER
from tallystick.ledger.model import Mark, ledger_of
from tallystick.wiring import evidence


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
    """Let count what another copy amended, closed or overrode; or the tests of a criterion as they are now, or the
    settings."""
    feature, names = call.feature_and_criteria()
    if len(names) > 1:
        raise Refusal("usage", "one criterion at a time, or none for all of them", "tallystick ledger accept AC7 …")
    name = names[0] if names else ""
    if call.arguments.settings:
        return _accept_settings(call, feature, name)
    ledger = ledger_of(call.app.ledger.snapshot(feature))
    waiting = ledger.proposals
    found = ledger.find(name) if name else None
    if call.arguments.tests and found is None:
        raise Refusal("usage", "--tests goes with one criterion", "tallystick ledger accept AC7 --tests ID --reason …")
    asked = found is not None and not any(mark.data["criterion"] == found.id for mark in waiting.values())
    if found is not None and (asked or call.arguments.tests):
        return _accept_tests(call, feature, found.id)
    receipt = call.app.ledger.accept(feature, name, call.arguments.reason)
    left = ledger_of(call.app.ledger.snapshot(feature)).proposals
    taken = [mark for key, mark in waiting.items() if key not in left]
    lines = [f"{safe(mark.data['criterion'])}: {proposed(mark)}. It counts from now on." for mark in taken]
    accepted = [{"criterion": mark.data["criterion"], "type": mark.type} for mark in taken]
    call.terminal.answer({"feature": feature, "accepted": accepted, "notes": list(receipt.notes)}, lines)
    for note in receipt.notes:
        call.terminal.tell(f"note: {note}")
    return DONE


def _accept_tests(call: Call, feature: str, name: str) -> int:
    """Let the tests of a criterion stand as they are now, or take over the ids that they have got."""
    tests = call.arguments.tests or ()
    receipt = evidence(call.app).accept(feature, name, tests, call.arguments.reason)
    told = f"its tests are now {', '.join(safe(one, 120) for one in tests)}" if tests else "its tests stand as they are"
    lines = [
        f"{safe(name)}: {told}.",
        f"Next     tallystick verify {feature} {typed(name)}          makes the red again",
    ]
    accepted = [{"criterion": name, "type": "tests"}]
    call.terminal.answer({"feature": feature, "accepted": accepted, "notes": list(receipt.notes)}, lines)
    for note in receipt.notes:
        call.terminal.tell(f"note: {note}")
    return DONE


def _accept_settings(call: Call, feature: str, name: str) -> int:
    """Let the settings of the tree count, although they ask for less than was frozen with the feature."""
    if name or call.arguments.tests:
        raise Refusal("usage", "--settings goes with a feature alone", "tallystick ledger accept --settings --reason …")
    receipt = call.app.ledger.accept_settings(feature, call.arguments.reason)
    lines = [
        "The settings count as they are now.",
        f"Next     tallystick verify {feature}          runs again what they changed",
    ]
    accepted = [{"criterion": None, "type": "settings"}]
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
