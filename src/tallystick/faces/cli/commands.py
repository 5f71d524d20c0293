"""The table of commands: words, arguments, help and examples, and where each is carried out.

Everything that lists commands (help, completion, the generated reference, the tests) reads this table.
"""

from __future__ import annotations

from tallystick.faces.cli.handoff_commands import HANDOFF
from tallystick.faces.cli.table import FEATURE, REASON, Argument, Command, flag, value, words

_CRITERION = words("[FEATURE] CRITERION", "+", "the criterion, after its feature where there are several")

COMMANDS: tuple[Command, ...] = (
    Command(
        ("status",),
        "where things stand (also: `tallystick` alone)",
        "tallystick status checkout",
        "status:status",
        (
            FEATURE,
            flag("--line", "one line, for a prompt"),
            flag("--check", "for scripts: exit 3 when something is not done, 4 when something regressed"),
        ),
    ),
    Command(
        ("init",),
        "make the key of this user, so that this home can write",
        "tallystick init",
        "setup:init",
    ),
    Command(
        ("demo",),
        "the whole story on a small sample project, played by scripted agents",
        "tallystick demo",
        "demo:demo",
        (value("--keep", "DIR", "keep the project in this folder, empty or not there yet"),),
    ),
    Command(
        ("ledger", "init"),
        "freeze the criteria of a feature, from a Markdown checklist or the seed's JSON",
        "tallystick ledger init checkout criteria.md",
        "ledger:init",
        (words("FEATURE FILE", "+", "feature id and input file; - reads standard input"),),
    ),
    Command(
        ("ledger", "add"),
        "add later criteria",
        "tallystick ledger add checkout more.md",
        "ledger:add",
        (words("[FEATURE] FILE", "+", "input file; - reads standard input"),),
    ),
    Command(
        ("ledger", "show"),
        "all criteria of a feature",
        "tallystick ledger show checkout --json",
        "ledger:show",
        (FEATURE,),
    ),
    Command(
        ("ledger", "failing"),
        "what is not passed yet, 20 at a time",
        "tallystick ledger failing --after AC20",
        "ledger:failing",
        (FEATURE, value("--after", "CRITERION", "go on behind this criterion")),
    ),
    Command(
        ("ledger", "get"),
        "the page of one criterion",
        "tallystick ledger get AC12",
        "criterion:get",
        (_CRITERION, flag("--diff", "how its tests differ from those that were seen red")),
    ),
    Command(
        ("ledger", "pass"),
        "pass a criterion by citing what shows it",
        "tallystick ledger pass AC7 --evidence docs/empty-cart.png",
        "ledger:mark_pass",
        (
            _CRITERION,
            value("--evidence", "REF", "path, path:line, commit:SHA, output:FEATURE/FILE; several with ' ; ' between"),
        ),
    ),
    Command(
        ("ledger", "fail"),
        "record a failed attempt",
        'tallystick ledger fail AC7 --error "the cart shows 2 items"',
        "ledger:mark_failure",
        (_CRITERION, value("--error", "TEXT", "what went wrong", required=True)),
    ),
    Command(
        ("ledger", "amend"),
        "change or close a criterion, visibly; its pass is dropped (a person at a terminal)",
        'tallystick ledger amend AC7 --text "the cart empties after payment" --reason "agreed on Monday"',
        "ledger:amend",
        (
            _CRITERION,
            value("--text", "TEXT", "the new text"),
            Argument(
                ("--require",),
                {
                    "action": "append",
                    "metavar": "TEXT",
                    "help": "the new required evidence; several times, '' for none",
                },
            ),
            flag("--close", "take it out of what is to do"),
            REASON,
        ),
    ),
    Command(
        ("ledger", "override"),
        "count a criterion as done without proof; listed apart for ever (a person at a terminal)",
        'tallystick ledger override AC7 --reason "checked by hand with the customer"',
        "ledger:override",
        (_CRITERION, REASON),
    ),
    Command(
        ("ledger", "accept"),
        "let count what another copy changed, or let the tests stand as they are now (a person at a terminal)",
        'tallystick ledger accept AC7 --reason "agreed with the other team"',
        "sharing:accept",
        (
            words("[FEATURE] [CRITERION]", "*", "none: whatever another copy changed in the feature"),
            Argument(
                ("--tests",),
                {"action": "append", "metavar": "ID", "help": "the id that a test has got; several times for several"},
            ),
            flag("--settings", "let the settings count as they are, although they ask for less than was frozen"),
            REASON,
        ),
    ),
    Command(
        ("ledger", "red"),
        "see the tests red before anything is built; from then on they are locked, and a pass can be proven",
        "tallystick ledger red checkout AC12",
        "red:red",
        (words("[FEATURE] [CRITERION …]", "*", "none: every open criterion that names a check"),),
    ),
    Command(
        ("check",),
        "run the frozen checks here and now, and change no criterion: would they pass?",
        "tallystick check AC12",
        "check:check",
        (words("[FEATURE] [CRITERION …]", "*", "none: every criterion that names a check"),),
    ),
    Command(
        ("trust",),
        "trust the commands that came with the repository, so that checks may run them (a person at a terminal)",
        "tallystick trust --show",
        "trust:trust",
        (
            flag("--show", "only show what is trusted and what waits; runs and changes nothing"),
            flag("--revoke", "trust nothing of this repository any more"),
            flag("--yes", "without the question"),
        ),
    ),
    Command(
        ("verify",),
        "run again what does not hold now, and say per criterion what held",
        "tallystick verify checkout",
        "verify:verify",
        (
            words("[FEATURE] [CRITERION …]", "*", "none: every criterion"),
            flag("--all", "also what holds already"),
            Argument(
                ("--level",),
                {
                    "choices": ("ran", "proven", "challenged"),
                    "metavar": "LEVEL",
                    "help": "the least level that counts this time: ran or proven (default: as the policy says)",
                },
            ),
            value("--held-out", "DIR", "tests that nobody who wrote the code has seen (refused by this version)"),
            value("--trust-base", "REF", "trust the commands that this commit already held, as in CI"),
        ),
    ),
    Command(
        ("brief",),
        "what the next session must know, in a few hundred tokens",
        "tallystick brief checkout",
        "handoff:brief",
        (FEATURE, value("--max-tokens", "N", "at most this many (default 600)")),
    ),
    Command(
        ("note",),
        "leave a sentence for the next session",
        'tallystick note "the coupon table is seeded in conftest.py"',
        "handoff:note",
        (words("[FEATURE] TEXT", "+", "the note, after its feature where there are several"),),
    ),
    *HANDOFF,
    Command(
        ("mcp",),
        "serve agents over standard input and output; the role is fixed for the connection",
        "tallystick mcp --role verifier",
        "serve:mcp",
        (value("--role", "ROLE", "verifier, implementer, fixer, … (default: solo, one agent alone)"),),
    ),
    Command(
        ("abandon",),
        "give a feature up",
        'tallystick abandon checkout --reason "replaced by list-json"',
        "ledger:abandon",
        (FEATURE, REASON),
    ),
    Command(
        ("audit",),
        "check journal, anchors, evidence and views against each other",
        "tallystick audit",
        "audit:audit",
        (
            flag("--restore", "write damaged or edited views anew (their bytes are kept), and a lost store id"),
            flag("--accept", "go on although something is damaged or rolled back (a person at a terminal)"),
            value("--reason", "TEXT", "why, with --accept"),
        ),
    ),
    Command(("version",), "the version", "tallystick version --json", "setup:version"),
    Command(
        ("completions",),
        "a completion script for a shell",
        "tallystick completions bash > ~/.local/share/bash-completion/completions/tallystick",
        "completions:completions",
        (Argument(("shell",), {"choices": ("bash", "zsh", "fish")}),),
    ),
)

GROUPS: dict[str, str] = {
    "ledger": "the criteria of a feature",
    "output": "what agents handed over",
    "manifest": "what each phase did",
    "board": "the tasks of a feature",
}

COMMON: tuple[Argument, ...] = (
    Argument(("--json",), {"action": "store_true", "help": "one JSON document on standard output"}),
    Argument(("--root",), {"metavar": "DIR", "help": "the repository (default: the one you stand in)"}),
)

EXIT_STATUSES = """\
exit statuses
  0  done, or a reading command that could read     6  waits for a person
  1  refused, nothing that counts changed           7  needs trust first
  2  the words of the call are off                  8  look before you go on: damaged, rolled back
  3  not done: failing, to re-run, elsewhere       70  our own fault (a report is in the state folder)
  4  does not hold: red, regressed                130  interrupted, 143 terminated (the state is whole)
  5  blocked or stuck"""
