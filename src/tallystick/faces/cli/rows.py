"""How a ledger is put into JSON and into lines for people: shared by `status`, `ledger` and `audit`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tallystick.canonical import Json
from tallystick.faces.cli.terminal import Terminal, safe
from tallystick.journal.chain import Finding
from tallystick.ledger.model import Criterion, Ledger
from tallystick.ledger.service import Shown

WORDS = {"stale": "re-run", "failing": "open"}
_COLOURS = {"holds": "good", "failing": "dim", "stale": "warn", "regressed": "bad", "flaky": "bad"}


def criterion_document(criterion: Criterion, state: str) -> dict[str, Json]:
    """One criterion with the keys others build on (surface)."""
    done = criterion.override is not None
    return {
        "id": criterion.id,
        "description": criterion.description,
        "passes": (criterion.passes and state != "failing") or done,
        "level": criterion.level if criterion.passes else "claimed",
        "state": state,
        "evidence_ref": f"override: {criterion.override}" if done else criterion.evidence_ref,
        "passed_at": criterion.passed_at,
        "passed_by": criterion.passed_by,
        "last_attempt_error": criterion.error,
    }


def failing_row(criterion: Criterion, state: str) -> dict[str, Json]:
    """One row of what fails, as the seed has it; `state` only where it says more than "failing"."""
    row: dict[str, Json] = {
        "id": criterion.id,
        "description": criterion.description,
        "last_attempt_error": criterion.error,
    }
    return row if state == "failing" else {**row, "state": state}


def is_failing(state: str) -> bool:
    """Whether a state belongs into the list of what fails: what is stale or elsewhere is only counted there."""
    return state in ("failing", "regressed", "flaky")


def counts(shown: Shown) -> dict[str, int]:
    """How many criteria are in which state. `total` leaves the closed ones out, `original` is the frozen number."""
    words = Counter(state for _, state in shown.rows)
    added = sum(1 for criterion, _ in shown.rows if criterion.added)
    return {
        "total": len(shown.rows) - words["closed"],
        "original": len(shown.rows) - added,
        "added": added,
        "closed": words["closed"],
        "passing": words["holds"],
        "overridden": words["overridden"],
        **{word: words[word] for word in ("failing", "stale", "regressed", "flaky", "elsewhere")},
    }


def head(shown: Shown) -> dict[str, Json]:
    """The state of all files in one number and one digest."""
    return {"n": shown.snapshot.n, "id": shown.snapshot.head()}


def finding_document(finding: Finding) -> dict[str, Json]:
    """One finding with the keys others build on."""
    return {"code": finding.code, "says": finding.says, "file": finding.file, "line": finding.line}


def findings(shown: Shown) -> list[Finding]:
    """What every reading command names: damage, a roll-back, and a view that is edited or cannot be read."""
    seen = list(shown.snapshot.grave)
    if shown.view.finding is not None and shown.view.kind in ("edited", "damaged"):
        seen.append(shown.view.finding)
    return seen


def title(ledger: Ledger, numbers: dict[str, int]) -> str:
    """`checkout   27 of 40 hold`, with what was added, closed and overridden."""
    holding = numbers["passing"] + numbers["overridden"]
    hold = f"{holding} of {numbers['total']} hold" if ledger.created_at is not None else "no criteria yet"
    parts = [f"{safe(ledger.feature)}   {hold}"]
    if numbers["added"]:
        parts.append(f"{numbers['original']} + {numbers['added']} added")
    if numbers["closed"]:
        parts.append(f"{numbers['closed']} closed")
    if numbers["overridden"]:
        parts.append(f"{numbers['overridden']} overridden")
    if ledger.abandoned is not None:
        parts.append(f"abandoned: {safe(ledger.abandoned, 60)}")
    return " · ".join(parts)


def word(state: str) -> str:
    """The state's word for people."""
    return WORDS.get(state, state)


def table(rows: Sequence[tuple[Criterion, str]], terminal: Terminal, width: int = 100) -> list[str]:
    """One line for each criterion: state, id, text, and the last error of what is open."""
    if not rows:
        return []
    ids = min(max(len(safe(criterion.id)) for criterion, _ in rows), 24)
    lines = []
    for criterion, state in rows:
        name = word(state)
        if state == "holds":
            name = criterion.level
        text = safe(criterion.description, width - ids - 14)
        lines.append(
            f"  {terminal.paint(f'{name:<10}', _COLOURS.get(state, 'dim'))}  {safe(criterion.id, 24):<{ids}}  {text}"
        )
        if criterion.error and is_failing(state):
            lines.append(f"  {'':<10}  {'':<{ids}}  {terminal.paint(safe(criterion.error, width - ids - 14), 'dim')}")
    return lines


def say_findings(shown: Shown, terminal: Terminal) -> bool:
    """Name what was found, one line each; whether a reading command must exit with 8."""
    grave = False
    for finding in findings(shown):
        terminal.tell(f"{finding.code}: {finding.says}")
        grave = grave or finding.grave
    if not shown.snapshot.checkable:
        terminal.tell("not checkable here: this home has no key, so everything is shown as recorded and nothing counts")
    return grave
