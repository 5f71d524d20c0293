"""`tallystick completions`: scripts for bash, zsh and fish, made from the table of commands."""

from __future__ import annotations

from tallystick.errors import DONE
from tallystick.faces.cli.call import Call
from tallystick.faces.cli.commands import COMMANDS, COMMON
from tallystick.faces.cli.table import Command


def completions(call: Call) -> int:
    """Print the script for one shell."""
    shell = call.arguments.shell
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()
    call.terminal.answer({"shell": shell, "script": script}, script.rstrip("\n").split("\n"))
    return DONE


def _options(command: Command) -> list[str]:
    arguments = (*command.arguments, *COMMON)
    return [flag for argument in arguments for flag in argument.flags if flag.startswith("--")] + ["--help"]


def _first_words() -> list[str]:
    return list(dict.fromkeys(command.words[0] for command in COMMANDS))


def _second_words(first: str) -> list[str]:
    return [command.words[1] for command in COMMANDS if command.words[0] == first and len(command.words) > 1]


def _bash() -> str:
    cases = [f'    "{command.name}") words="{" ".join(_options(command))}" ;;' for command in COMMANDS]
    groups = [
        f'    "{first}") words="{" ".join(_second_words(first))}" ;;'
        for first in _first_words()
        if _second_words(first)
    ]
    return "\n".join(
        [
            "_tallystick() {",
            '  local current="${COMP_WORDS[COMP_CWORD]}" words=""',
            '  local one="${COMP_WORDS[1]}" two="${COMP_WORDS[1]} ${COMP_WORDS[2]}"',
            '  if [ "$COMP_CWORD" -eq 1 ]; then',
            f'    words="{" ".join(_first_words())}"',
            '  elif [ "$COMP_CWORD" -eq 2 ]; then case "$one" in',
            *groups,
            "  esac; fi",
            '  if [ -z "$words" ]; then case "$two" in',
            *cases,
            "    *)",
            '      case "$one" in',
            *[f"    {case}" for case in cases if '" "' not in case],
            "      esac ;;",
            "  esac; fi",
            # No mapfile: the bash of macOS is 3.2, and zsh has none.
            '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
            '  if [ "${#COMPREPLY[@]}" -eq 0 ]; then',
            "    local IFS=$'\\n'",
            '    COMPREPLY=($(compgen -f -- "$current"))',
            "  fi",
            "}",
            "complete -F _tallystick tallystick",
            "",
        ]
    )


def _zsh() -> str:
    return "#compdef tallystick\nautoload -U +X bashcompinit && bashcompinit\n" + _bash()


def _fish() -> str:
    lines = ["complete -c tallystick -n __fish_use_subcommand -f"]
    for command in COMMANDS:
        first, *rest = command.words
        says = command.says.replace("'", "\\'")
        if not rest:
            lines.append(f"complete -c tallystick -n __fish_use_subcommand -a {first} -d '{says}'")
        else:
            seen = f"'__fish_seen_subcommand_from {first}'"
            lines.append(f"complete -c tallystick -n __fish_use_subcommand -a {first}")
            lines.append(f"complete -c tallystick -n {seen} -a {rest[0]} -d '{says}'")
        for option in _options(command):
            lines.append(f"complete -c tallystick -n '__fish_seen_subcommand_from {command.words[-1]}' -l {option[2:]}")
    return "\n".join([*lines, ""])
