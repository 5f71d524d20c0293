"""`tallystick board …`.

**Who claims** from a command line, where `--owner` does not say: the session that the client names in its environment,
else the terminal's session, and behind it a word that is new with each claim (`terminal-4711/9f2c01ab`). So of two
claims at once one wins, also from one shell. `done`, `block` and `unblock` show the fencing number that `claim`
printed; without it the last claim must have come from the same session, or from the `--owner` that is said.
"""

from __future__ import annotations

import os
import re

from tallystick.board.answer import CODES, Answer
from tallystick.board.document import read
from tallystick.board.model import Draft
from tallystick.board.rules import Hand
from tallystick.board.service import BoardService, Receipt, Seen, nothing
from tallystick.canonical import Json
from tallystick.errors import CODES as ERRORS
from tallystick.errors import DONE, LOOK, Refusal, exit_status
from tallystick.faces.cli import board_rows as rows
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.terminal import safe
from tallystick.handoff.folder import Folder
from tallystick.ids import is_feature_id, shown, typed
from tallystick.limits import LEASE_S, PAGE_ROWS
from tallystick.moment import stamp
from tallystick.wiring import boards

_TIME = re.compile(r"(?=\d)(?:(\d{1,4})h)?(?:(\d{1,6})m)?(?:(\d{1,8})s)?\Z", re.ASCII)


def list_all(call: Call) -> int:
    """The tasks, twenty at a time."""
    seen = _boards(call).show(call.feature())
    tasks = list(seen.tasks.values())
    after = call.arguments.after
    if after is not None:
        places = [at for at, task in enumerate(tasks) if task.id == after]
        if not places:
            raise Refusal("usage", f"the board has no task {shown(after)}", "--after takes an id that the list showed")
        tasks = tasks[places[0] + 1 :]
    page, more = tasks[:PAGE_ROWS], max(0, len(tasks) - PAGE_ROWS)
    now = stamp(call.machine.clock.now())
    document = {
        "feature": seen.feature,
        "tasks": [rows.document(task, seen, now) for task in page],
        "counts": rows.counts(seen, now),
        "more": more,
        "file": seen.file,
    }
    lines = (
        [rows.title(seen, now), "", *rows.table(page, seen, call.terminal, now)]
        if seen.tasks
        else [rows.title(seen, now)]
    )
    if more:
        lines.append(f"  … {more} more: tallystick board list {seen.feature} --after {typed(page[-1].id)}")
    call.terminal.answer(document, lines)
    return _looked(call, seen)


def next_task(call: Call) -> int:
    """The next task on standard output; where there is none, the reason beside it and an exit status for each."""
    answer, seen = _boards(call).next(call.feature())
    now = stamp(call.machine.clock.now())
    task = answer.task
    document = {
        "feature": seen.feature,
        "answer": answer.kind,
        "says": answer.says or None,
        "task": None if task is None else rows.document(task, seen, now),
        "tasks": list(answer.tasks),
        "file": seen.file,
    }
    call.terminal.answer(document, [] if task is None else rows.page(task, seen))
    return exit_status([_said(call, answer, seen.file), _looked(call, seen)])


def claim(call: Call) -> int:
    """Claim the task that is named, or the next one."""
    feature, name = _feature_and_task(call)
    arguments = call.arguments
    owner = arguments.owner or f"{_session(call)}/{os.urandom(4).hex()}"
    seconds = LEASE_S if getattr(arguments, "for") is None else seconds_in(getattr(arguments, "for"))
    receipt, answer = _boards(call).claim(feature, name, Hand(owner, _fence(call)), seconds)
    if receipt is None:
        assert answer is not None
        keys = ("task", "fence", "until", "owner", "title")
        call.terminal.answer({"feature": feature, **dict.fromkeys(keys), "notes": []}, [])
        return _said(call, answer)
    task = receipt.tasks[0]
    document = {
        "feature": feature,
        "task": task.id,
        "fence": task.fence,
        "until": task.until,
        "owner": task.owner,
        "title": task.title,
    }
    lines = [
        f"{task.id} is yours until {task.until}, fence {task.fence}: {safe(task.title, 60)}",
        f"Next     tallystick board done {feature} {typed(task.id)} --fence {task.fence}",
    ]
    return _answer(call, receipt, document, lines)


def done(call: Call) -> int:
    """Complete a task."""
    feature, name = call.feature_and_word()
    service = _boards(call)
    receipt = service.done(feature, name, _hand(call))
    task = receipt.tasks[0]
    left = service.open_criteria(feature, task)
    line = f"{task.id} is completed."
    if left:
        line += f" It does not pass yet: {', '.join(safe(one, 30) for one in left[:5])} open."
    return _answer(call, receipt, {**_moved(feature, receipt), "open": left}, [line])


def block(call: Call) -> int:
    """Say that a task cannot go on."""
    feature, name = call.feature_and_word()
    receipt = _boards(call).block(feature, name, _hand(call), call.arguments.reason)
    lines = [f"{receipt.tasks[0].id} is blocked: {safe(call.arguments.reason, 80)}"]
    return _answer(call, receipt, _moved(feature, receipt), lines)


def unblock(call: Call) -> int:
    """Put a task back to pending."""
    feature, name = call.feature_and_word()
    receipt = _boards(call).unblock(feature, name, _hand(call), call.arguments.reason)
    return _answer(call, receipt, _moved(feature, receipt), [f"{receipt.tasks[0].id} is pending."])


def remove(call: Call) -> int:
    """Take a task off the board."""
    feature, name = call.feature_and_word()
    receipt = _boards(call).remove(feature, name, call.arguments.with_dependants)
    names = [task.id for task in receipt.tasks]
    return _answer(call, receipt, {"feature": feature, "removed": names}, [f"{', '.join(names)} removed."])


def add(call: Call) -> int:
    """Put one task on the board."""
    feature, title = call.feature_and_word()
    given = call.arguments
    priority = None if given.priority is None else _number("--priority", given.priority)
    draft = Draft(
        given.id or "",
        title,
        given.description or "",
        priority,
        given.role,
        None,
        tuple(given.file or ()),
        tuple(given.blocked_by or ()),
        tuple(given.criterion or ()),
    )
    receipt = _boards(call).add(feature, draft)
    task = receipt.tasks[0]
    document = {"feature": feature, "task": task.id, "priority": task.priority}
    return _answer(call, receipt, document, [f"{task.id} added: {safe(title, 80)}"])


def import_plan(call: Call) -> int:
    """Make tasks of a plan or a board file."""
    feature, file = call.feature_and_word()
    app = call.app
    data = None
    if file != "-" and "/" not in file and not os.path.lexists(os.path.join(call.folder(), file)):
        data = Folder(app.machine.files, app.place.tree, app.store, feature).read(file)
    source = "standard input" if file == "-" else file
    found = read(call.read(file) if data is None else data, source)
    receipt = _boards(call).import_plan(feature, found, source)
    names = [task.id for task in receipt.tasks]
    lines = [f"{feature}: {len(names)} tasks added.", f"Next     tallystick board next {feature}"]
    return _answer(call, receipt, {"feature": feature, "added": names}, lines)


def seconds_in(text: str) -> float:
    """The seconds of a time such as 90s, 45m, 2h or 1h30m. Raises "usage"."""
    found = _TIME.match(text)
    if found is None:
        raise Refusal("usage", f"{shown(text)} is no time", "write it as 90s, 45m, 2h or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(hours * 3600 + minutes * 60 + seconds)


def _boards(call: Call) -> BoardService:
    return boards(call.app)


def _session(call: Call) -> str:
    """The client's session, else the terminal's: the same for every command line of one session."""
    by = call.by()
    if by.session:
        return re.sub(r"[^\w.-]", "_", f"{by.client or 'client'}-{by.session}", flags=re.ASCII)[:48]
    return f"terminal-{os.getsid(0)}"


def _hand(call: Call) -> Hand:
    return Hand(call.arguments.owner or _session(call), _fence(call))


def _fence(call: Call) -> int | None:
    given = call.arguments.fence
    return None if given is None else _number("--fence", given)


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise Refusal("usage", f"{name} is a number, not {shown(text)}", f"{name} 1")
    return int(text)


def _feature_and_task(call: Call) -> tuple[str, str | None]:
    """A feature and a task, or None for the next one; a single word is a feature where there is one of that name."""
    words = call.arguments.words
    if len(words) == 1 and is_feature_id(words[0]) and _boards(call).knows(words[0]):
        return words[0], None
    if words:
        return call.feature_and_word()
    call.arguments.words = None
    return call.feature(), None


def _said(call: Call, answer: Answer, file: str | None = None) -> int:
    """Why there is nothing to work on, for a person; its exit status."""
    if answer.kind in ("task", "finished"):
        if answer.says:
            call.terminal.tell(answer.says)
        return DONE
    call.terminal.tell(answer.says)
    call.terminal.tell(f"Next: {nothing(answer, file).hint}")
    return ERRORS[CODES[answer.kind]].exit


def _looked(call: Call, seen: Seen) -> int:
    """Name damage and a file that is not taken in yet; LOOK where there is damage."""
    if seen.file is not None:
        call.terminal.tell(f"{seen.file} is not taken in yet; the first change to the board does it")
    for finding in seen.snapshot.grave:
        call.terminal.tell(f"{finding.code}: {finding.says}")
    return LOOK if seen.snapshot.grave else DONE


def _answer(call: Call, receipt: Receipt, document: dict[str, Json], lines: list[str]) -> int:
    call.terminal.answer({**document, "notes": list(receipt.notes)}, lines)
    for note in receipt.notes:
        call.terminal.tell(f"note: {note}")
    return DONE


def _moved(feature: str, receipt: Receipt) -> dict[str, Json]:
    task = receipt.tasks[0]
    return {"feature": feature, "task": task.id, "status": task.status, "passes": receipt.passes, "fence": task.fence}
