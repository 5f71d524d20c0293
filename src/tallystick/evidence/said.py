"""What is said of a run: the refusal of a mark whose check is red, a failed attempt in words, notes."""

from __future__ import annotations

from tallystick.errors import Refusal
from tallystick.evidence.check_run import SAID, CheckRun
from tallystick.evidence.verdict import Reason, Verdict
from tallystick.ids import shown
from tallystick.ledger.model import Criterion


def red_refusal(criterion: Criterion, run_id: str, verdict: Verdict, first: Reason, attempts: int) -> Refusal:
    """What the screen of a refused mark says: which of its tests are red, where, and what comes next."""
    total = len(verdict.red) + len(verdict.passed) + len(verdict.missing)
    told = verdict.reasons[0].says
    if verdict.red:
        told = f"{len(verdict.red)} of its {total} tests {'is' if len(verdict.red) == 1 else 'are'} red"
        told = "its test is red" if total == 1 else told
    lines = [f"{criterion.id} is not passed: {told}."]
    for one in verdict.red[:3]:
        place = f" ({one.file}:{one.line})" if one.file and one.line else ""
        why = one.says.strip().split("\n")[0][:120] if one.says.strip() else one.outcome
        lines.append(f"  {one.id}  {why}{place}")
    if len(verdict.red) > 3:
        lines.append(f"  … and {len(verdict.red) - 3} more")
    lines.append(f"Kept as run {run_id}; recorded as failed attempt {attempts}.")
    red = [{"id": one.id, "says": one.says[:SAID], "file": one.file, "line": one.line} for one in verdict.red[:5]]
    facts: dict[str, object] = {
        "run": run_id,
        "red": red,
        "red_more": len(verdict.red) - len(red),
        "missing": list(verdict.missing[:5]),
        "attempts": attempts,
    }
    hint = f"end your report with {shown(criterion.id).strip(chr(34))} open; the fixer changes the code, not the test"
    return Refusal(first.code, "\n".join(lines), hint, facts=facts)


def in_words(verdict: Verdict) -> str:
    """A failed attempt in words."""
    return "; ".join(reason.says for reason in verdict.reasons[:3]) or "the check is red"


def whose(ran: CheckRun) -> list[str]:
    """Whose the checks were that another key froze."""
    names = [shown(name).strip('"') for name, one in ran.criteria.items() if one.foreign]
    if not names:
        return []
    told = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return [f"{told}: frozen by another key; run because a person trusted that command here"]


def outside(ran: CheckRun) -> tuple[str, ...]:
    """Notes on where code came from outside the tree that was run."""
    if not ran.outside:
        return ()
    more = f" and {len(ran.outside) - 1} more" if len(ran.outside) > 1 else ""
    return (f"import.outside: {ran.outside[0]}{more} was loaded from outside the tree that was run",)
