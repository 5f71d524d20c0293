"""Holds the completion scripts: made from the table of commands, sound in their shell, naming nothing that is not
there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tallystick.faces.cli.commands import COMMANDS, COMMON
from tests.desk import Desk

SHELLS = ("bash", "zsh", "fish")
FIRST = list(dict.fromkeys(command.words[0] for command in COMMANDS))
OPTIONS = {
    flag for command in COMMANDS for one in (*command.arguments, *COMMON) for flag in one.flags if flag[:2] == "--"
}


def script(tmp_path: Path, shell: str) -> str:
    said = Desk(tmp_path / "desk").ok("completions", shell)
    assert said.err == ""
    return said.out


@pytest.mark.parametrize("shell", SHELLS)
def test_every_command_and_option_is_offered_and_no_other(tmp_path: Path, shell: str) -> None:
    text = script(tmp_path, shell)
    for command in COMMANDS:
        assert all(re.search(rf"\b{re.escape(word)}\b", text) for word in command.words), command.name
    flag = r"-l ([a-z-]+)" if shell == "fish" else r"--([a-z][a-z-]+)"
    offered = {f"--{name}" for name in re.findall(flag, text)}
    assert offered - {"--help"} == OPTIONS
    assert "--help" in offered


@pytest.mark.needs("bash")
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_script_is_sound(tmp_path: Path, shell: str) -> None:
    done = subprocess.run(["bash", "-n"], input=script(tmp_path, shell).encode(), capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")


def completed(text: str, *words: str) -> list[str]:
    """What bash offers for the last of `words`."""
    quoted = " ".join(f"'{word}'" for word in words)
    lines = [
        text,
        f"COMP_WORDS=({quoted})",
        f"COMP_CWORD={len(words) - 1}",
        "_tallystick",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    ]
    done = subprocess.run(["bash", "--norc"], input="\n".join(lines).encode(), capture_output=True, check=True, cwd="/")
    assert done.stderr == b""
    return done.stdout.decode().split()


@pytest.mark.needs("bash")
def test_bash_completes_words_and_options(tmp_path: Path) -> None:
    text = script(tmp_path, "bash")
    assert completed(text, "tallystick", "") == FIRST
    assert completed(text, "tallystick", "led") == ["ledger"]
    assert set(completed(text, "tallystick", "ledger", "")) == {
        one.words[1] for one in COMMANDS if one.words[0] == "ledger"
    }
    for command in COMMANDS:
        wanted = {flag for one in (*command.arguments, *COMMON) for flag in one.flags if flag[:2] == "--"} | {"--help"}
        assert set(completed(text, "tallystick", *command.words, "--")) == wanted, command.name
        assert set(completed(text, "tallystick", *command.words, "x", "--")) == wanted, command.name
    assert completed(text, "tallystick", "audit", "--acc") == ["--accept"]
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "my criteria.md").touch()
    files = completed(text, "tallystick", "ledger", "init", f"{folder}/my")
    assert " ".join(files) == f"{folder}/my criteria.md"


def test_the_script_needs_nothing_newer_than_the_bash_of_macos(tmp_path: Path) -> None:
    for shell in ("bash", "zsh"):
        assert not re.search(r"mapfile|readarray|declare -A|\$\{\w+,,", script(tmp_path / shell, shell))


def test_the_script_comes_as_a_document_too(tmp_path: Path) -> None:
    document = Desk(tmp_path / "desk").ok("completions", "fish", "--json").document
    assert (document["shell"], document["script"].startswith("complete -c tallystick")) == ("fish", True)
