"""The table of commands: words, arguments, help and examples, and where each is carried out.

Everything that lists commands (help, completion, the generated reference, the tests) reads this table.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Argument(NamedTuple):
    """One argument, as argparse takes it."""

    flags: tuple[str, ...]
    options: dict[str, Any]


class Command(NamedTuple):
    """One command: `words` call it, `run` is "module:function" below this package."""

    words: tuple[str, ...]
    says: str
    example: str
    run: str
    arguments: tuple[Argument, ...] = ()

    @property
    def name(self) -> str:
        """The words as typed."""
        return " ".join(self.words)


def _words(metavar: str, most: str = "*", text: str = "") -> Argument:
    return Argument(("words",), {"nargs": most, "metavar": metavar, "help": text or None})


def _flag(name: str, text: str) -> Argument:
    return Argument((name,), {"action": "store_true", "help": text})


def _value(name: str, metavar: str, text: str, required: bool = False) -> Argument:
    return Argument((name,), {"metavar": metavar, "help": text, "required": required})


_FEATURE = _words("FEATURE", "?", "the feature; may be left out where there is one")
_CRITERION = _words("[FEATURE] CRITERION", "+", "the criterion, after its feature where there are several")
_REASON = _value("--reason", "TEXT", "why; it stands in the journal for ever", required=True)

COMMANDS: tuple[Command, ...] = (
    Command(
        ("status",),
        "where things stand (also: `tallystick` alone)",
        "tallystick status checkout",
        "status:status",
        (
            _FEATURE,
            _flag("--line", "one line, for a prompt"),
            _flag("--check", "for scripts: exit 3 when something is not done, 4 when something regressed"),
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
        (_value("--keep", "DIR", "keep the project in this folder, empty or not there yet"),),
    ),
    Command(
        ("ledger", "init"),
        "freeze the criteria of a feature, from a Markdown checklist or the seed's JSON",
        "tallystick ledger init checkout criteria.md",
        "ledger:init",
        (_words("FEATURE FILE", "+", "feature id and input file; - reads standard input"),),
    ),
    Command(
        ("ledger", "add"),
        "add later criteria",
        "tallystick ledger add checkout more.md",
        "ledger:add",
        (_words("[FEATURE] FILE", "+", "input file; - reads standard input"),),
    ),
    Command(
        ("ledger", "show"),
        "all criteria of a feature",
        "tallystick ledger show checkout --json",
        "ledger:show",
        (_FEATURE,),
    ),
    Command(
        ("ledger", "failing"),
        "what is not passed yet, 20 at a time",
        "tallystick ledger failing --after AC20",
        "ledger:failing",
        (_FEATURE, _value("--after", "CRITERION", "go on behind this criterion")),
    ),
    Command(
        ("ledger", "get"),
        "the page of one criterion",
        "tallystick ledger get AC12",
        "ledger:get",
        (_CRITERION,),
    ),
    Command(
        ("ledger", "pass"),
        "pass a criterion by citing what shows it",
        "tallystick ledger pass AC7 --evidence docs/empty-cart.png",
        "ledger:mark_pass",
        (
            _CRITERION,
            _value("--evidence", "REF", "path, path:line, commit:SHA, output:FEATURE/FILE; several with ' ; ' between"),
        ),
    ),
    Command(
        ("ledger", "fail"),
        "record a failed attempt",
        'tallystick ledger fail AC7 --error "the cart shows 2 items"',
        "ledger:mark_failure",
        (_CRITERION, _value("--error", "TEXT", "what went wrong", required=True)),
    ),
    Command(
        ("ledger", "amend"),
        "change or close a criterion, visibly; its pass is dropped (a person at a terminal)",
        'tallystick ledger amend AC7 --text "the cart empties after payment" --reason "agreed on Monday"',
        "ledger:amend",
        (
            _CRITERION,
            _value("--text", "TEXT", "the new text"),
            Argument(
                ("--require",),
                {
                    "action": "append",
                    "metavar": "TEXT",
                    "help": "the new required evidence; several times, '' for none",
                },
            ),
            _flag("--close", "take it out of what is to do"),
            _REASON,
        ),
    ),
    Command(
        ("ledger", "override"),
        "count a criterion as done without proof; listed apart for ever (a person at a terminal)",
        'tallystick ledger override AC7 --reason "checked by hand with the customer"',
        "ledger:override",
        (_CRITERION, _REASON),
    ),
    Command(
        ("check",),
        "run the frozen checks here and now, and change no criterion: would they pass?",
        "tallystick check AC12",
        "check:check",
        (_words("[FEATURE] [CRITERION …]", "*", "none: every criterion that names a check"),),
    ),
    Command(
        ("brief",),
        "what the next session must know, in a few hundred tokens",
        "tallystick brief checkout",
        "handoff:brief",
        (_FEATURE, _value("--max-tokens", "N", "at most this many (default 600)")),
    ),
    Command(
        ("note",),
        "leave a sentence for the next session",
        'tallystick note "the coupon table is seeded in conftest.py"',
        "handoff:note",
        (_words("[FEATURE] TEXT", "+", "the note, after its feature where there are several"),),
    ),
    Command(
        ("mcp",),
        "serve agents over standard input and output; the role is fixed for the connection",
        "tallystick mcp --role verifier",
        "serve:mcp",
        (_value("--role", "ROLE", "verifier, implementer, fixer, … (default: solo, one agent alone)"),),
    ),
    Command(
        ("abandon",),
        "give a feature up",
        'tallystick abandon checkout --reason "replaced by list-json"',
        "ledger:abandon",
        (_FEATURE, _REASON),
    ),
    Command(
        ("audit",),
        "check journal, anchors, evidence and views against each other",
        "tallystick audit",
        "audit:audit",
        (
            _flag("--restore", "write damaged or edited views anew (their bytes are kept), and a lost store id"),
            _flag("--accept", "go on although something is damaged or rolled back (a person at a terminal)"),
            _value("--reason", "TEXT", "why, with --accept"),
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

GROUPS: dict[str, str] = {"ledger": "the criteria of a feature"}

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
