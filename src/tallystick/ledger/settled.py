"""What the settings of the tree may say once a feature is frozen: no less than was frozen, unless a person accepts it.
Pure."""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.canonical import Json
from tallystick.effective import bounded, weakened
from tallystick.errors import Refusal
from tallystick.ids import shown
from tallystick.journal.record import Event
from tallystick.ledger.model import Ledger
from tallystick.ledger.rules import open_ledger, said
from tallystick.settings import FILE


def unweakened(ledger: Ledger, now: Mapping[str, Json]) -> None:
    """Raise `Refusal` "settings.weakened" where the effective settings ask for less `now` than was frozen."""
    less, feature = weakened(ledger.effective, now), ledger.feature
    if less:
        raise Refusal(
            "settings.weakened",
            f"{FILE} asks for less than was frozen with {feature}: {shown('; '.join(less), 400)[1:-1]}",
            f"put it back, or a person lets it count: `tallystick ledger accept {feature} --settings --reason …`",
        )


def accept_settings(ledger: Ledger, now: Mapping[str, Json], reason: str) -> Event:
    """`accepted`: the effective settings stand as they are `now`, although they ask for less than was frozen."""
    open_ledger(ledger)
    if not weakened(ledger.effective, now):
        raise Refusal(
            "input.invalid",
            f"the settings ask for no less than was frozen with {ledger.feature}: nothing waits to be accepted",
            f"`tallystick verify {ledger.feature}` runs again what they changed",
        )
    data: dict[str, Json] = {"criterion": None, "records": [], "effective": bounded(now)}
    return Event("accepted", {**data, "reason": said(reason, "the reason")})
