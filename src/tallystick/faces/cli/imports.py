"""`tallystick import`: foreign stores become claims, said file by file before (`--dry-run`) and after."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tallystick.canonical import Json
from tallystick.errors import DONE
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import safe
from tallystick.imports.claims import checks_of
from tallystick.imports.plan import Part, Plan
from tallystick.limits import PAGE_ROWS
from tallystick.wiring import imports

#: So many rows of one kind stand in the machine's form; the rest is counted.
_ROWS = 200
_CHECKS = 5
_WIDTH = 200


def import_source(call: Call) -> int:
    """Import a folder or a file, or say what that would do."""
    said, dry = call.arguments.words[0], call.arguments.dry_run
    path = os.path.join(call.folder(), said)
    done = imports(call.app).run(path, said, call.arguments.feature, dry)
    title = f"Import of {safe(said)}" + (": nothing is written, this is what would be done" if dry else "")
    lines = [title, ""]
    for plan in done.plans[:PAGE_ROWS]:
        lines += _lines(plan, dry)
    if len(done.plans) > PAGE_ROWS:
        lines += [f"… and {len(done.plans) - PAGE_ROWS} more features", ""]
    lines.append(_sum(done.plans))
    call.terminal.answer(_document(said, dry, done.plans, done.notes), lines)
    for note in done.notes:
        call.terminal.tell(f"note: {note}")
    return DONE


def _lines(plan: Plan, dry: bool) -> list[str]:
    """One feature: what comes of each file, what contradicts, what is left, and the checks that came with it."""
    lines = [safe(plan.feature)]
    parts = sorted(plan.parts, key=lambda part: part.kind == "output" and not part.new)
    rows = [f"  {safe(part.file, _WIDTH)}: {_becomes(part, plan, dry)}" for part in parts]
    rows += [f"  {safe(left.file, _WIDTH)}: left, {safe(left.says, _WIDTH)}" for left in plan.left]
    lines += _some(rows, "files")
    lines += _some([f"  conflict: {safe(one.says, _WIDTH)}; nothing of it is changed" for one in plan.conflicts], "")
    checks = _checks(plan)
    lines += [f"  names the check  {safe(check, _WIDTH)}" for check in checks[:_CHECKS]]
    lines += [f"  … and {len(checks) - _CHECKS} more checks"] if len(checks) > _CHECKS else []
    return [*lines, ""]


def _becomes(part: Part, plan: Plan, dry: bool) -> str:
    """What will come of a file, or what came of it."""
    one = "will be" if dry else "was"
    if part.kind == "output":
        return f"{one} adopted" if part.new else "is here already"
    if part.kind == "manifest":
        return f"{one} put into the feature's folder, where it reads as claimed" if part.new else "one is here already"
    freeze, record, put = ("freeze", "record", "put") if dry else ("froze", "recorded", "put")
    define = freeze if plan.before is None else "add" if dry else "added"
    told = [
        f"{define} {_count(part.criteria, 'criterion', 'criteria')}" if part.criteria else "",
        f"{record} {_count(part.claims, 'claim', 'claims')}" if part.claims else "",
        f"{put} {_count(part.tasks, 'task', 'tasks')} on the board" if part.tasks else "",
    ]
    says = ", ".join(filter(None, told))
    return f"will {says}" if says and dry else says or "nothing new"


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _some(rows: list[str], what: str) -> list[str]:
    more = f"  … and {len(rows) - PAGE_ROWS} more {what}".rstrip()
    return rows if len(rows) <= PAGE_ROWS else [*rows[:PAGE_ROWS], more]


def _checks(plan: Plan) -> list[str]:
    return list(dict.fromkeys(check for draft in plan.taking.every for check in checks_of(draft)))


def _sum(plans: Sequence[Plan]) -> str:
    """What was claimed, and what can be checked."""
    criteria = sum(len(plan.taking.every) for plan in plans)
    passing = sum(plan.taking.passing for plan in plans)
    checkable = sum(plan.taking.checkable for plan in plans)
    if not criteria:
        return "0 claimed as passing, 0 counted; no criterion was named"
    command = f"tallystick check {safe(plans[0].feature)}" if len(plans) == 1 else "tallystick check FEATURE"
    what = f": {command}" if checkable else "; `tests:` or `run:` makes them provable"
    return f"{passing:,} claimed as passing, 0 counted; {checkable:,} of {criteria:,} criteria name a check{what}"


def _document(said: str, dry: bool, plans: Sequence[Plan], notes: Sequence[str]) -> dict[str, Json]:
    return {
        "source": said,
        "dry_run": dry,
        "features": [_feature(plan) for plan in plans[:_ROWS]],
        "criteria": sum(len(plan.taking.every) for plan in plans),
        "with_check": sum(plan.taking.checkable for plan in plans),
        "claimed_passing": sum(plan.taking.passing for plan in plans),
        "claimed_failing": sum(plan.taking.failing for plan in plans),
        "counted": 0,
        "more": max(0, len(plans) - _ROWS),
        "notes": list(notes),
    }


def _feature(plan: Plan) -> dict[str, Json]:
    new = len(plan.taking.drafts)
    checks = _checks(plan)
    rows = (plan.parts, plan.conflicts, plan.left, checks)
    return {
        "feature": plan.feature,
        "frozen": new if plan.before is None else 0,
        "added": 0 if plan.before is None else new,
        "known": len(plan.taking.every) - new,
        "claims": len(plan.taking.claims),
        "outputs": plan.outputs,
        "tasks": plan.tasks,
        "files": [part._asdict() for part in plan.parts[:_ROWS]],
        "conflicts": [conflict._asdict() for conflict in plan.conflicts[:_ROWS]],
        "left": [left._asdict() for left in plan.left[:_ROWS]],
        "checks": checks[:_ROWS],
        "more": sum(max(0, len(some) - _ROWS) for some in rows),
    }
