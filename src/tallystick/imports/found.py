"""What a foreign file says of criteria, in one neutral form whatever its shape was. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tallystick.errors import Refusal, Where
from tallystick.ids import escaped
from tallystick.ledger.model import Claim

_MOST_NAMED = 10


class Row(NamedTuple):
    """One criterion as the file has it: `description` is None where it only names an id, `claim` where it says none."""

    id: str
    description: str | None
    evidence_required: tuple[str, ...] | None = None
    claim: Claim | None = None


class Found(NamedTuple):
    """One file: `kind` is ledger, list or evidence; `feature` as it names it itself; `left` are keys it does not say
    anything of a criterion with."""

    file: str
    kind: str
    feature: str | None
    rows: tuple[Row, ...]
    left: tuple[str, ...] = ()


class Left(NamedTuple):
    """A file that nothing is recorded of, and why."""

    file: str
    says: str


def invalid(file: str, mistakes: Sequence[str]) -> Refusal:
    """The refusal that names the mistakes of one file, ten of them at most."""
    more = f" … and {len(mistakes) - _MOST_NAMED} more" if len(mistakes) > _MOST_NAMED else ""
    says = "; ".join(escaped(one) for one in mistakes[:_MOST_NAMED])
    return Refusal("input.invalid", f"{file}: {says}{more}; nothing was changed", "mend the file", Where(file))
