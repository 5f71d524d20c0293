"""One error tree with stable codes, and one table that says what each code means to each face.

Every refusal is a `Refusal`: it names the thing, the reason and the next command that would help. The table `CODES`
has one row for each code and one column for each face; a code never changes its meaning. No text here or elsewhere
proposes a destructive command.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """What one code means: `exit` is the command line's status, `http` the status of a page or a server."""

    exit: int
    http: int
    says: str


DONE, REFUSED, USAGE, NOT_DONE, BROKEN, BLOCKED, WAITING, TRUST, LOOK, FAULT = 0, 1, 2, 3, 4, 5, 6, 7, 8, 70
INTERRUPTED, TERMINATED = 130, 143

#: Several verdicts at once: the first of these that applies is the exit status.
PRECEDENCE = (LOOK, BROKEN, TRUST, WAITING, BLOCKED, NOT_DONE)

CODES: dict[str, Row] = {
    "usage": Row(USAGE, 400, "the words of the call are off"),
    "input.invalid": Row(REFUSED, 422, "a file or text that came in breaks a rule"),
    "input.too_large": Row(REFUSED, 413, "larger than the table of limits allows"),
    "input.unreadable": Row(REFUSED, 422, "a file that was named cannot be read"),
    "settings.invalid": Row(REFUSED, 422, "the settings of the project cannot be read or break a rule"),
    "settings.weakened": Row(REFUSED, 409, "the settings ask for less than was frozen, and no person accepted that"),
    "feature.unknown": Row(REFUSED, 404, "no such feature"),
    "feature.exists": Row(REFUSED, 409, "a ledger is frozen once"),
    "feature.abandoned": Row(REFUSED, 409, "nothing is added to an abandoned feature"),
    "criterion.unknown": Row(REFUSED, 404, "no such criterion"),
    "criterion.exists": Row(REFUSED, 409, "a criterion id is used once"),
    "criterion.amended": Row(REFUSED, 409, "its text changed while the work for it ran"),
    "criterion.closed": Row(REFUSED, 409, "a closed criterion takes no more facts"),
    "pass.already": Row(REFUSED, 409, "a pass that holds is marked once"),
    "check.red": Row(BROKEN, 422, "the check ran and is red"),
    "check.no_tests": Row(BROKEN, 422, "no test reported, so nothing was proven"),
    "check.timeout": Row(BROKEN, 422, "the check ran into a limit"),
    "check.unreadable": Row(BROKEN, 422, "what the runner reported cannot be read"),
    "check.needed": Row(REFUSED, 422, "a machine check is passed by running it, not by citing"),
    "check.unsupported": Row(REFUSED, 422, "this version cannot run such a check"),
    "check.needs": Row(REFUSED, 422, "the check lacks something only because it is shut in"),
    "check.setup": Row(REFUSED, 422, "what makes the copy ready for checks did not end well, so none was run"),
    "check.no_runner": Row(REFUSED, 422, "no test runner was found, or it is not installed"),
    "ids.missing": Row(BROKEN, 422, "a required test id was not reported"),
    "lock.changed": Row(BROKEN, 422, "a locked test is not what it was when it was seen red"),
    "lock.symlink": Row(BROKEN, 422, "a symbolic link stands where a locked test was"),
    "sabotage.survived": Row(BROKEN, 422, "a test that was made to fail was reported as passed"),
    "runner.patched": Row(BROKEN, 422, "the test runner is not what its distribution says"),
    "evidence.missing": Row(REFUSED, 422, "the cited thing is not there"),
    "evidence.free_text": Row(REFUSED, 422, "words point at nothing that can be kept"),
    "evidence.outside": Row(REFUSED, 422, "the cited thing lies outside the project"),
    "evidence.empty": Row(REFUSED, 422, "the cited thing is empty or no regular file"),
    "output.invalid": Row(REFUSED, 422, "an output breaks the rules of its role"),
    "output.unknown": Row(REFUSED, 404, "no such output"),
    "phase.unknown": Row(REFUSED, 404, "no such phase in this layout"),
    "phase.state": Row(REFUSED, 409, "the phase or manifest is not in a state for that"),
    "task.unknown": Row(REFUSED, 404, "no such task on the board"),
    "task.exists": Row(REFUSED, 409, "a task id is used once"),
    "task.taken": Row(REFUSED, 409, "another one holds the task"),
    "task.fenced": Row(REFUSED, 409, "the lease ran out and somebody else claimed it since"),
    "task.state": Row(REFUSED, 409, "the task is not in a state for that"),
    "task.waiting": Row(NOT_DONE, 409, "every task that is left is being worked on or waits"),
    "task.blocked": Row(BLOCKED, 409, "every task that is left is blocked"),
    "task.person": Row(WAITING, 409, "every task that is left waits for a person"),
    "task.cycle": Row(LOOK, 409, "tasks wait for each other in a circle, or for one that is not there"),
    "yaml.missing": Row(REFUSED, 500, "reading YAML needs a library that is not installed"),
    "role.denied": Row(REFUSED, 403, "this role may not do that"),
    "trust.needed": Row(TRUST, 403, "a command out of the repository that nobody trusted yet"),
    "trust.damaged": Row(LOOK, 500, "the table of trusted commands cannot be read, so nothing is trusted"),
    "key.missing": Row(REFUSED, 403, "this home has no key, so it can only read"),
    "key.damaged": Row(LOOK, 500, "the key file is not a key"),
    "home.unwritable": Row(REFUSED, 500, "the user's half cannot be written"),
    "lock.busy": Row(REFUSED, 503, "another process held the lock too long"),
    "disk.full": Row(REFUSED, 507, "no room left"),
    "disk.failed": Row(REFUSED, 500, "the disk refused a read, a write or a sync"),
    "store.readonly": Row(REFUSED, 403, "the store cannot be written"),
    "store.damaged": Row(LOOK, 500, "the store's own identity cannot be read"),
    "store.place": Row(REFUSED, 422, "the store cannot live at this place"),
    "format.newer": Row(REFUSED, 409, "written by a newer version"),
    "journal.damaged": Row(LOOK, 500, "a record does not verify"),
    "anchor.rolled_back": Row(LOOK, 500, "records that this place saw are gone or replaced"),
    "view.damaged": Row(LOOK, 500, "a view cannot be parsed and is left as it is"),
    "git.missing": Row(REFUSED, 500, "git is not there or refused"),
    "internal": Row(FAULT, 500, "our own fault"),
    "interrupted": Row(INTERRUPTED, 499, "stopped by the user; the state is whole"),
    "terminated": Row(TERMINATED, 499, "stopped by a signal; the state is whole"),
}


class Where(NamedTuple):
    """A place in a file: `line` counts from 1, `offset` in bytes from 0."""

    file: str
    line: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.file}:{self.line}"
        if self.offset is not None:
            return f"{self.file} at byte {self.offset}"
        return self.file


class Refusal(Exception):  # noqa: N818 - the word of the product
    """A refusal with a stable code. `message` is one line (more only for lists), `hint` the next command or step.

    `facts` are further machine-readable keys for `--json` and structured answers; they never repeat the message.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        where: Where | None = None,
        facts: dict[str, object] | None = None,
    ) -> None:
        if code not in CODES:
            raise KeyError(f"no such error code: {code}")
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.where = where
        self.facts = facts or {}

    @property
    def exit(self) -> int:
        """The command line's exit status for this code."""
        return CODES[self.code].exit

    def document(self) -> dict[str, object]:
        """The JSON object every face sends: `{"error": {"code", "message", "hint", "where"}}` and further facts."""
        where = None
        if self.where is not None:
            where = {"file": self.where.file, "line": self.where.line, "offset": self.where.offset}
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint, "where": where}, **self.facts}


def exit_status(verdicts: list[int]) -> int:
    """One exit status out of several, by `PRECEDENCE`; 0 when none of them applies."""
    return next((status for status in PRECEDENCE if status in verdicts), DONE)
