"""What an agent is told to do after a refusal, in the words of its own tools: the corrected call, or the next one.

The services speak to people at a command line; a connection has no command line, and not every tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.ids import shown
from tallystick.ledger.model import ledger_of

if TYPE_CHECKING:
    from tallystick.ledger.service import LedgerService

#: The two names that a call's feature and criterion may have.
PAIRS = (("task_id", "feature_id"), ("feature", "criterion"))
_FEATURES = 8


def named(arguments: dict[str, Json]) -> tuple[str, str]:
    """The feature and the criterion that a call names, each "" where it names none."""
    for pair in PAIRS:
        found = tuple(one if isinstance(one := arguments.get(key), str) else "" for key in pair)
        if any(found):
            return found[0], found[1]
    return "", ""


def advised(refusal: Refusal, arguments: dict[str, Json], ledger: LedgerService, listed: Sequence[str]) -> Refusal:
    """The same refusal with the next step that this connection can take; `listed` are its tools."""
    feature, criterion = named(arguments)
    hint = refusal.hint
    if refusal.code in ("feature.unknown", "input.invalid") and feature and criterion:
        swapped = _swapped(arguments, ledger)
        if swapped is not None:
            return swapped
    if refusal.code == "feature.unknown":
        hint = _which(ledger, listed)
    elif refusal.code == "criterion.unknown":
        hint = f"list_failing({feature}) lists what is open"
    elif refusal.code == "check.no_tests" and not refusal.facts:
        hint = "the verifier passes it by a file that shows it" if "mark_pass" not in listed else "mark_pass cites it"
    return Refusal(refusal.code, refusal.message, hint, refusal.where, refusal.facts)


def not_yours(name: str, role: str, arguments: dict[str, Json], listed: Sequence[str]) -> Refusal:
    """Why a tool of other roles is refused, and what this role does instead."""
    hint = f"this connection has {', '.join(listed)}"
    if name == "mark_pass" and "check" in listed:
        feature, criterion = named(arguments)
        hint = f"check({feature}, {criterion}) tells whether it would pass; then stop. The verifier marks it"
    return Refusal("role.denied", f"{name} is not yours: this connection is `{role}`", hint)


def _swapped(arguments: dict[str, Json], ledger: LedgerService) -> Refusal | None:
    """The corrected call where feature and criterion were given the wrong way round."""
    for task, one in PAIRS:
        feature, criterion = arguments.get(task), arguments.get(one)
        if not isinstance(feature, str) or criterion not in ledger.features():
            continue
        if ledger_of(ledger.snapshot(criterion)).find(feature) is not None:
            says = f"{task} and {one} are swapped: {shown(criterion)} is the {task}"
            return Refusal("usage", says, f'call it with {task}="{criterion}", {one}="{feature}"')
    return None


def _which(ledger: LedgerService, listed: Sequence[str]) -> str:
    names = ledger.unfinished()
    if names:
        more = f" and {len(names) - _FEATURES} more" if len(names) > _FEATURES else ""
        return f"there is {', '.join(names[:_FEATURES])}{more}"
    return "init_feature_list makes one" if "init_feature_list" in listed else "nothing was frozen here yet"
