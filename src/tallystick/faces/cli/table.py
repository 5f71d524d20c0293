"""What a row of the command table is made of."""

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


def words(metavar: str, most: str = "*", text: str = "") -> Argument:
    """The words behind the command's own."""
    return Argument(("words",), {"nargs": 1 if most == "1" else most, "metavar": metavar, "help": text or None})


def flag(name: str, text: str) -> Argument:
    """An option without a value."""
    return Argument((name,), {"action": "store_true", "help": text})


def value(name: str, metavar: str, text: str, required: bool = False) -> Argument:
    """An option with a value."""
    return Argument((name,), {"metavar": metavar, "help": text, "required": required})


def choice(name: str, choices: tuple[str, ...], text: str, required: bool = False) -> Argument:
    """An option with a value out of a few."""
    return Argument((name,), {"choices": choices, "help": text, "required": required})


FEATURE = words("FEATURE", "?", "the feature; may be left out where there is one")
REASON = value("--reason", "TEXT", "why; it stands in the journal for ever", required=True)
