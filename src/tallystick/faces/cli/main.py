"""Entry of the command line: finds the command, carries it out, turns every end into an exit status.

Road: words -> one row of `commands.COMMANDS` -> its function with a `Call` -> exit status. No command is imported
before it is called, and only its own parser is made.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from tallystick.errors import BROKEN, CODES, INTERRUPTED, REFUSED, TERMINATED, Refusal
from tallystick.faces.cli.commands import COMMANDS, COMMON, EXIT_STATUSES, GROUPS
from tallystick.faces.cli.start import occupy_streams, settled, spell_in_utf8
from tallystick.faces.cli.table import Command
from tallystick.faces.cli.terminal import Terminal, Undelivered, standard

if TYPE_CHECKING:
    import argparse

    from tallystick.faces.cli.call import Call, Streams
    from tallystick.wiring import Machine


class Terminated(BaseException):
    """SIGTERM arrived."""


def run() -> int:
    """Carry out the command of this process's arguments; its exit status."""
    import signal

    occupy_streams()
    spell_in_utf8()
    signal.signal(signal.SIGTERM, _terminate)
    argv = [os.fsencode(word).decode("utf-8", "surrogateescape") for word in sys.argv[1:]]
    try:
        return settled(main(argv, os.environ))
    except BrokenPipeError:  # whoever read us has gone: nobody is left to tell
        return settled(REFUSED)
    except Undelivered as lost:
        status = settled(REFUSED)
        told = f"standard output: the answer could not be written, {lost}; what was recorded stands"
        standard(os.environ, as_json=False).tell(told)
        return status


def _terminate(*_: object) -> None:
    raise Terminated


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Carry out `argv` on this machine and standard streams."""
    terminal = standard(env, "--json" in argv)
    if argv[:1] == ["mcp"]:
        from tallystick.faces.cli.serve import serve, words

        found = words(argv[1:])
        if found is not None:  # agents wait for this start, so it goes without argparse and without a ledger
            return ended(lambda: serve(*found, env), terminal, lambda: _machine(env))
    from tallystick.faces.cli.call import Streams

    # A command is short: looking for cycles among ten thousand rows as they are made costs more than all it could free.
    gc.disable()
    return carry_out(argv, terminal, _machine(env), Streams.of_process(), os.getcwd)


def _machine(env: Mapping[str, str]) -> Machine:
    from tallystick.wiring import this_machine

    return this_machine(env)


def carry_out(
    argv: Sequence[str], terminal: Terminal, machine: Machine, streams: Streams, cwd: Callable[[], str]
) -> int:
    """Carry out `argv`; every end becomes an exit status and one clear line."""
    from tallystick.faces.cli.call import Call

    def work() -> int:
        command, arguments = parse(argv, terminal)
        if command is None or arguments is None:
            return 0
        call = Call(arguments, terminal, machine, streams, cwd)
        status = _function(command)(call)
        for note in call.finish():
            terminal.tell(f"note: {note}")
        return status

    return ended(work, terminal, lambda: machine)


def ended(work: Callable[[], int], terminal: Terminal, machine: Callable[[], Machine]) -> int:
    """The exit status of `work`, however it ends, and one clear line where it does not end well."""
    try:
        return work()
    except Refusal as refusal:
        return refuse(terminal, refusal)
    except KeyboardInterrupt:
        terminal.tell("interrupted; the state is whole")
        return INTERRUPTED
    except Terminated:
        terminal.tell("terminated; the state is whole")
        return TERMINATED
    except (BrokenPipeError, Undelivered):
        raise
    except OSError as error:
        from tallystick.system.faults import explained

        return refuse(terminal, explained(error, str(error.filename or "the disk"), "working with it"))
    except Exception as error:  # noqa: BLE001 - our own fault: the one place that keeps a traceback from the user
        from tallystick.faces.cli.fault import report

        return refuse(terminal, report(error, machine()))


def refuse(terminal: Terminal, refusal: Refusal) -> int:
    """Say a refusal in the form that was asked for; its exit status."""
    if terminal.json:
        terminal.answer(refusal.document(), ())
    else:
        # Only a red check has several lines, one a test; in any other message a line end came in with a name.
        terminal.tell(refusal.message, keep="\n" if CODES[refusal.code].exit == BROKEN else "")
        if refusal.hint:
            terminal.tell(f"Next: {refusal.hint}")
    return CODES[refusal.code].exit


def parse(argv: Sequence[str], terminal: Terminal) -> tuple[Command | None, argparse.Namespace | None]:
    """The command and its arguments; (None, None) when only help was wanted and given."""
    leading, words = _leading(argv)
    if not words and any(word in ("-h", "--help") for word in leading):
        terminal.answer({"commands": [command.name for command in COMMANDS]}, overview())
        return None, None
    if "--version" in leading:
        words = ["version"]
        leading.remove("--version")
    command, rest = find(words or ["status"])
    if command is None:
        if words[0] in GROUPS and (len(words) == 1 or words[1] in ("-h", "--help")):
            terminal.answer(
                {"commands": [one.name for one in COMMANDS if one.words[0] == words[0]]}, overview(words[0])
            )
            return None, None
        raise _unknown(words)
    parser = _parser(command)
    if "-h" in rest or "--help" in rest:
        terminal.answer({"command": command.name}, parser.format_help().rstrip("\n").split("\n"))
        return None, None
    return command, parser.parse_args([*leading, *rest])


def find(words: Sequence[str]) -> tuple[Command | None, list[str]]:
    """The command that `words` begin with, and the words behind it."""
    for command in COMMANDS:
        if tuple(words[: len(command.words)]) == command.words:
            return command, list(words[len(command.words) :])
    return None, list(words)


def overview(group: str = "") -> list[str]:
    """The page of `--help`: every command with what it does."""
    shown = [command for command in COMMANDS if not group or command.words[0] == group]
    width = max(len(command.name) for command in shown) + 2
    lines = ["usage: tallystick [COMMAND] [--json] [--root DIR]", ""]
    if not group:
        lines += ["Keeps what coding agents did, and proves what is done. Alone, it shows where things stand.", ""]
    lines += [f"  {command.name:<{width}}{command.says}" for command in shown]
    example = shown[1 if not group else 0].example if group else "tallystick ledger init checkout criteria.md"
    return [*lines, "", f"example: {example}", "more: tallystick COMMAND --help", "", *EXIT_STATUSES.split("\n")]


def _leading(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """The options before the command's words, and the rest."""
    leading: list[str] = []
    at = 0
    while at < len(argv) and argv[at].startswith("-") and argv[at] != "-":
        leading.append(argv[at])
        if argv[at] == "--root" and at + 1 < len(argv):
            at += 1
            leading.append(argv[at])
        at += 1
    return leading, list(argv[at:])


def _parser(command: Command) -> argparse.ArgumentParser:
    import argparse

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> None:  # type: ignore[override]
            raise Refusal("usage", f"tallystick {command.name}: {message}", f"for example: {command.example}")

    words = " ".join(
        str(one.options["metavar"])
        for one in command.arguments
        if one.options.get("metavar") and one.flags[0] == "words"
    )
    parser = Parser(
        prog=f"tallystick {command.name}",
        usage=f"tallystick {command.name} {words}".rstrip() + " [options]",
        description=command.says,
        epilog=f"example: {command.example}",
        allow_abbrev=False,
        add_help=False,
        # With no width given argparse imports shutil, and with it five more modules, to ask the terminal. Raw, since
        # an example is one line, to be copied.
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=28, width=100),
    )
    for argument in (*command.arguments, *COMMON):
        parser.add_argument(*argument.flags, **argument.options)
    parser.add_argument("-h", "--help", action="store_true", help="this page")
    return parser


def _function(command: Command) -> Callable[[Call], int]:
    import importlib

    module, _, name = command.run.partition(":")
    found: Callable[[Call], int] = getattr(importlib.import_module(f"tallystick.faces.cli.{module}"), name)
    return found


def _unknown(words: Sequence[str]) -> Refusal:
    import difflib

    words = [words[0], *(word for word in words[1:2] if not word.startswith("-"))]
    typed = " ".join(words)
    near = difflib.get_close_matches(typed, [command.name for command in COMMANDS], 1, 0.5)
    hint = f"did you mean `tallystick {near[0]}`?" if near else "`tallystick --help` lists the commands"
    return Refusal("usage", f"there is no command {words[0]!r}" if len(words) < 2 else f"no command {typed!r}", hint)
