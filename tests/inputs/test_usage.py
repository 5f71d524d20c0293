"""Holds that words that are off end with status 2, one line and the next command, for every command, and change
nothing; and that help is there for each (surface)."""

from __future__ import annotations

import pytest

from tallystick.faces.cli.commands import COMMANDS, EXIT_STATUSES, GROUPS
from tallystick.faces.cli.table import Command
from tests.desk import FEATURE, Desk

ANY = [pytest.param(command, id=command.name) for command in COMMANDS if command.words != ("mcp",)]
#: Right words in place of what `Command.arguments` asks for, as far as it must be there.
NEEDED = {
    "ledger init": ("criteria.md",),
    "ledger add": ("criteria.md",),
    "ledger get": ("AC1",),
    "ledger pass": ("AC1",),
    "ledger fail": ("AC1", "--error", "x"),
    "ledger amend": ("AC1", "--reason", "x"),
    "ledger override": ("AC1", "--reason", "x"),
    "abandon": ("--reason", "x"),
    "note": ("x",),
    "completions": ("bash",),
    "output save": ("criteria.md",),
    "output show": ("08-developer-output.json",),
    "ledger accept": ("--reason", "x"),
    "manifest start": ("implementation",),
    "manifest end": ("implementation", "--status", "completed"),
    "manifest close": ("--status", "completed"),
    "board done": ("task-001",),
    "board block": ("task-001", "--reason", "x"),
    "board unblock": ("task-001",),
    "board remove": ("task-001",),
    "board add": ("a title",),
    "board import": ("plan.json",),
    "import": ("nowhere",),
}

#: Commands that may be the first one of all.
MAKING = ("init", "demo", "ledger init", "output save", "manifest start", "board add", "board import", "import")


@pytest.mark.parametrize("command", ANY)
def test_an_option_that_nobody_knows(desk: Desk, command: Command) -> None:
    words = (*command.words, *NEEDED.get(command.name, ()))
    assert desk.refused(*words, "--nosuch").code == "usage"
    assert "--nosuch" in desk.refused(*words, "--nosuch").message
    assert desk.refused("--nosuch", *words).code == "usage"


@pytest.mark.parametrize("command", [param for param in ANY if param.id not in ("check", "verify", "ledger red")])
def test_a_word_too_many(desk: Desk, command: Command) -> None:
    error = desk.refused(*command.words, *NEEDED.get(command.name, ()), FEATURE, "one", "too many")
    assert error.code == "usage", error


@pytest.mark.parametrize("command", [param for param in ANY if str(param.id) in NEEDED])
def test_a_word_too_few(desk: Desk, command: Command) -> None:
    needed = NEEDED[command.name]
    for at in range(len(needed)):
        error = desk.refused(*command.words, *needed[:at])
        assert (error.code, command.name in error.message) == ("usage", True)
        assert error.hint == f"for example: {command.example}"


@pytest.mark.parametrize("option", ["--root", "--reason", "--error", "--evidence", "--after"])
def test_an_option_without_its_value(desk: Desk, option: str) -> None:
    command = {
        "--root": ("status",),
        "--reason": ("abandon",),
        "--error": ("ledger", "fail", "AC1"),
        "--evidence": ("ledger", "pass", "AC1"),
        "--after": ("ledger", "failing"),
    }[option]
    assert desk.refused(*command, option).code == "usage"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("nosuch",), "--help"),
        (("statsu",), "tallystick status"),
        (("ledger", "shwo"), "tallystick ledger show"),
        (("ledger", "nosuch"), ""),
        (("-",), "--help"),
        (("",), "--help"),
        (("a\nb",), ""),
        (("\x1b[31m",), ""),
        (("\udcff",), ""),
        (("ledger", "a\nb"), ""),
        (("status", "--a\nb"), ""),
        (("completions", "tcsh"), "for example"),
        (("audit", "--accept"), "--reason"),
        (("audit", "--reason", "x"), ""),
        (("ledger", "amend", FEATURE, "AC1", "--reason", "x"), "--text"),
        (("ledger", "amend", FEATURE, "AC1", "--close", "--text", "x", "--reason", "x"), ""),
    ],
)
def test_a_command_that_does_not_exist_or_makes_no_sense(desk: Desk, words: tuple[str, ...], hint: str) -> None:
    error = desk.refused(*words, person=True)
    assert (error.code, hint in error.hint) == ("usage", True), error


@pytest.mark.parametrize("wait", ["x", "-1", "61", "nan", "inf", "1e9", " "])
def test_a_lock_wait_that_is_none(desk: Desk, wait: str) -> None:
    error = desk.refused("ledger", "show", env={"TALLYSTICK_LOCK_WAIT_S": wait})
    assert (error.code, "TALLYSTICK_LOCK_WAIT_S" in error.message) == ("usage", True)


def test_which_feature_is_meant_is_asked_for_when_there_are_several(desk: Desk) -> None:
    desk.freeze(feature="refunds")
    for words in (("ledger", "show"), ("ledger", "failing"), ("ledger", "get", "AC1"), ("abandon", "--reason", "x")):
        error = desk.refused(*words)
        assert (error.code, "checkout, refunds" in error.message) == ("usage", True), error
    desk.put(".git/HEAD", "ref: refs/heads/refunds\n")
    assert desk.run("ledger", "show", "--json").document["feature"] == "refunds"
    desk.put(".git/HEAD", "ref: refs/heads/main\n")
    desk.ok("abandon", "refunds", "--reason", "given up")
    assert desk.run("ledger", "show", "--json").document["feature"] == FEATURE


def test_an_unknown_feature_or_criterion_is_named_with_what_there_is(desk: Desk) -> None:
    unknown = [
        ("ledger", "show", "nosuch"),
        ("status", "nosuch"),
        ("ledger", "failing", "nosuch"),
        ("ledger", "get", "nosuch", "AC1"),
        ("ledger", "pass", "nosuch", "AC1", "--evidence", "proof.txt"),
        ("ledger", "fail", "nosuch", "AC1", "--error", "x"),
        ("ledger", "add", "nosuch", "criteria.md"),
        ("abandon", "nosuch", "--reason", "x"),
        ("note", "nosuch", "x"),
        ("brief", "nosuch"),
        ("check", "nosuch"),
    ]
    for words in unknown:
        error = desk.refused(*words)
        assert error.code in ("feature.unknown", "criterion.unknown"), (words, error)
        assert "nosuch" in error.message
    for words in (
        ("ledger", "get", "AC9"),
        ("ledger", "pass", "AC9", "--evidence", "proof.txt"),
        ("ledger", "fail", "AC9", "--error", "x"),
        ("ledger", "failing", "--after", "AC9"),
    ):
        error = desk.refused(*words)
        assert (error.code, "AC1, AC2, AC3" in error.message) == ("criterion.unknown", True), (words, error)


@pytest.mark.parametrize("words", [param.values[0].words for param in ANY])  # type: ignore[union-attr]
def test_nothing_is_made_by_a_refusal_where_nothing_was(empty: Desk, words: tuple[str, ...]) -> None:
    """No key, no store, no lock file for what is refused anyway."""
    name = " ".join(words)
    if name in MAKING or name in ("status", "audit", "version", "completions"):
        assert empty.refused(*words, "--nosuch").code == "usage"
        return
    needed = NEEDED.get(name, ())
    feature = () if name in ("ledger failing",) else (FEATURE,)
    error = empty.refused(*words, *feature, *needed, person=True)
    nothing = ("feature.unknown", "criterion.unknown", "task.unknown", "phase.state", "output.unknown", "usage")
    assert error.code in nothing, error


@pytest.mark.requirement("P16")
@pytest.mark.parametrize("command", ANY)
def test_help_is_there_with_an_example_and_changes_nothing(empty: Desk, command: Command) -> None:
    before = empty.tree()
    for words in ((*command.words, "--help"), (*command.words, "-h")):
        said = empty.run(*words)
        assert (said.status, said.err) == (0, "")
        assert f"example: {command.example}" in said.out
        assert "--json" in said.out
    assert empty.tree() == before


def test_the_overview_names_every_command_and_every_status(empty: Desk) -> None:
    for words in (("--help",), ("-h",)):
        said = empty.run(*words)
        assert (said.status, EXIT_STATUSES in said.out) == (0, True)
        assert all(f"  {command.name} " in said.out for command in COMMANDS)
    for group in GROUPS:
        said = empty.run(group, "--help")
        assert said.status == 0
        assert all(command.name in said.out for command in COMMANDS if command.words[0] == group)
    assert empty.run("--version").out == empty.run("version").out
