"""The rows of the command table about outputs, manifest, board, imports and sharing."""

from __future__ import annotations

from tallystick.faces.cli.table import FEATURE, Argument, Command, choice, flag, value, words

_TASK = words("[FEATURE] TASK", "+", "the task, after its feature where there are several")
_FENCE = value("--fence", "N", "the fencing number that `board claim` gave")
_OWNER = value("--owner", "ID", "who claims, or has claimed (default: the session of this command line)")
_AFTER = value("--after", "CURSOR", "go on behind this row")
_STATES = ("completed", "failed", "skipped")

HANDOFF: tuple[Command, ...] = (
    Command(
        ("output", "save"),
        "save what an agent hands over: a JSON file with the seed's header",
        "tallystick output save result.json",
        "output:save",
        (words("FILE", "1", "the output; - reads standard input"),),
    ),
    Command(
        ("output", "find"),
        "the outputs of a feature, newest first; with those that are there and not adopted yet, or invalid",
        "tallystick output find checkout --role reviewer",
        "output:find",
        (
            FEATURE,
            value("--phase", "PHASE", "number or name"),
            value("--role", "ROLE", "of this role"),
            value("--task", "TASK", "of this task"),
            choice("--status", ("completed", "failed", "blocked", "partial"), "of this status"),
            _AFTER,
        ),
    ),
    Command(
        ("output", "show"),
        "one output whole, or an earlier version of it",
        "tallystick output show 08-developer-task-001.json --version 1",
        "output:show",
        (
            words("[FEATURE] FILE", "+", "the file's name, after its feature where there are several"),
            value("--version", "N", "an earlier one; 1 is the first"),
        ),
    ),
    Command(
        ("manifest", "show"),
        "what each phase did: state, how long, outputs, files changed",
        "tallystick manifest show checkout --files",
        "manifest:show",
        (
            FEATURE,
            value("--phase", "PHASE", "this one alone; number or name"),
            flag("--files", "with every file it changed"),
        ),
    ),
    Command(
        ("manifest", "list"),
        "the manifests of all features",
        "tallystick manifest list",
        "manifest:list_all",
    ),
    Command(
        ("manifest", "start"),
        "begin a phase; the first one makes the manifest",
        "tallystick manifest start checkout implementation --role developer",
        "manifest:start",
        (
            words("[FEATURE] PHASE", "+", "number or name of the phase, after its feature where there are several"),
            value("--role", "ROLE", "who works in it"),
            value("--agent", "ID", "the agent's id"),
            choice("--layout", ("16", "17"), "which numbers the phases have (default: 17), at the first start"),
            choice("--type", ("BUGFIX", "SMALL", "MEDIUM", "LARGE"), "the work type, at the first start"),
            flag("--ui", "with a user interface: the half phases belong to it, at the first start"),
            value("--description", "TEXT", "what the feature is about, at the first start"),
            flag("--again", "begin a completed phase once more; what it did before stays"),
        ),
    ),
    Command(
        ("manifest", "end"),
        "end a phase, and record from git which files it changed",
        "tallystick manifest end checkout implementation --status completed",
        "manifest:end",
        (
            words("[FEATURE] PHASE", "+", "number or name of the phase, after its feature where there are several"),
            choice("--status", _STATES, "how it ended", required=True),
            value("--reason", "TEXT", "why it was skipped or failed"),
            flag("--files", "record which files it changed, also for a phase where nobody asks"),
        ),
    ),
    Command(
        ("manifest", "close"),
        "close the manifest",
        "tallystick manifest close checkout --status completed",
        "manifest:close",
        (
            FEATURE,
            choice("--status", ("completed", "failed", "paused"), "how the feature ended", required=True),
        ),
    ),
    Command(
        ("board", "list"),
        "the tasks of a feature",
        "tallystick board list checkout",
        "board:list_all",
        (FEATURE, _AFTER),
    ),
    Command(
        ("board", "next"),
        "the most urgent task that can be worked on; why not, where there is none",
        "tallystick board next checkout",
        "board:next_task",
        (FEATURE,),
    ),
    Command(
        ("board", "claim"),
        "claim a task as a lease with a fencing number; none named: the next one",
        "tallystick board claim task-001 --for 30m",
        "board:claim",
        (
            words("[FEATURE] [TASK]", "*", "the task, after its feature where there are several"),
            value("--for", "TIME", "how long, such as 45m or 2h (default: 30m)"),
            _OWNER,
            value("--fence", "N", "renew the claim that has this fencing number"),
        ),
    ),
    Command(
        ("board", "done"),
        "a task is completed",
        "tallystick board done task-001 --fence 3",
        "board:done",
        (_TASK, _FENCE, _OWNER),
    ),
    Command(
        ("board", "block"),
        "a task cannot go on",
        'tallystick board block task-001 --reason "the API key is missing"',
        "board:block",
        (_TASK, _FENCE, _OWNER, value("--reason", "TEXT", "why", required=True)),
    ),
    Command(
        ("board", "unblock"),
        "back to pending: a blocked task can go on, a claimed one is given back, a completed one is opened again",
        "tallystick board unblock task-001",
        "board:unblock",
        (_TASK, _FENCE, _OWNER, value("--reason", "TEXT", "why; a completed task needs one")),
    ),
    Command(
        ("board", "remove"),
        "take a task off the board; refused while others wait for it, which are named",
        "tallystick board remove task-001 --with-dependants",
        "board:remove",
        (_TASK, flag("--with-dependants", "and all that wait for it")),
    ),
    Command(
        ("board", "add"),
        "put one task on the board",
        'tallystick board add "Add JWT" --role developer --blocked-by task-001',
        "board:add",
        (
            words("[FEATURE] TITLE", "+", "what is to do, after its feature where there are several"),
            value("--id", "ID", "the task's id (default: the next free task-NNN)"),
            value("--description", "TEXT", "more about it"),
            value("--priority", "N", "1 is the most urgent (default: behind all)"),
            value("--role", "ROLE", "who does it"),
            Argument(("--blocked-by",), {"action": "append", "metavar": "TASK", "help": "waits for it; several times"}),
            Argument(("--file",), {"action": "append", "metavar": "PATH", "help": "a file it touches; several times"}),
            Argument(
                ("--criterion",),
                {"action": "append", "metavar": "ID", "help": "a criterion it is bound to; several times"},
            ),
        ),
    ),
    Command(
        ("board", "import"),
        "make tasks of a lead's plan (an output), or of a board file",
        "tallystick board import checkout 07-lead-architecture-plan.json",
        "board:import_plan",
        (words("[FEATURE] FILE", "+", "a saved output's name, or a file; - reads standard input"),),
    ),
    Command(
        ("import",),
        "read a foreign store as claims: a jonggrang folder, ledgers of other servers, evidence.json",
        "tallystick import ../old-project --dry-run",
        "imports:import_source",
        (
            words("SOURCE", "1", "a folder or a file"),
            flag("--dry-run", "say what would be done, and do nothing"),
            value("--feature", "ID", "the feature it becomes, where the source names none"),
        ),
    ),
    Command(
        ("share",),
        "write what other clones must know into .tallystick/, to be committed; refresh the views after a merge",
        "tallystick share",
        "sharing:share",
        (FEATURE,),
    ),
)
