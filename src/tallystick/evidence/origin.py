"""Which commands came with a repository, and what brought each of them (promise P13). Pure: nothing is run here.

A command is told by its words, its folder, what brought it, and the leave it has beyond what every check has. Two
criteria with the same command are one command, whoever reads them; a changed word is another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.evidence.runners import project_runner, runner_for_ids
from tallystick.ids import escaped, typed
from tallystick.ledger.model import Criterion
from tallystick.ledger.requirement import Run, Tests, parse
from tallystick.settings import FILE, Settings, Verify

#: What brought a command, and how that is said.
ORIGINS: dict[str, str] = {
    "criterion": "frozen by another key",
    "own": "frozen here, to be run without confinement",
    "runner": "the runner of the project's tests",
    "tests.command": f"tests.command in {FILE}",
    "verify.setup": f"verify.setup in {FILE}",
    "verify": f"leave for every check, in {FILE}",
}
#: How many commands a refusal names; the rest is counted.
NAMED = 5
_COMMAND, _NAMES = 80, 60


class Command(NamedTuple):
    """One command as it would be run. `argv` is () where only leave (`rights`) is asked for; `folder` is below the
    project's top ("" = the top itself). `names` are the criteria that ask for it: for people, no part of its digest.
    """

    origin: str
    argv: tuple[str, ...]
    folder: str = ""
    rights: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """What is trusted: SHA-256 over what brought it, its words, its folder and its leave."""
        told = {"argv": list(self.argv), "folder": self.folder, "origin": self.origin, "rights": list(self.rights)}
        return canonical.sha256(canonical.encode(told))

    @property
    def spelled(self) -> str:
        """The words as a person could type them."""
        return " ".join([*map(typed, self.argv), *(escaped(right) for right in self.rights)])

    @property
    def because(self) -> str:
        """What brought it, and which criteria ask for it."""
        return (
            f"{_cut(escaped(', '.join(self.names)), _NAMES)}, {ORIGINS[self.origin]}"
            if self.names
            else ORIGINS[self.origin]
        )

    def document(self) -> dict[str, Json]:
        """The command as answers have it."""
        return {
            "origin": self.origin,
            "argv": list(self.argv),
            "folder": self.folder,
            "rights": list(self.rights),
            "criteria": list(self.names),
            "digest": self.digest,
        }


def needed(settings: Settings, criteria: Mapping[str, Sequence[Criterion]], *, confined: bool = True) -> list[Command]:
    """Every command that may be run for these criteria (by feature, "" where there is one) and needs trust.

    Those of the settings, and the checks that another key froze. What this store's own roles froze needs none where it
    is `confined`. Each command stands once.
    """
    found = list(of_settings(settings))
    for feature, some in criteria.items():
        for criterion in some:
            if criterion.closed is None and (criterion.foreign or not confined):
                name = f"{feature}/{criterion.id}" if feature else criterion.id
                origin = "criterion" if criterion.foreign else "own"
                for command in of_requirements(criterion.evidence_required or (), settings, origin):
                    found.append(command._replace(names=(name,)))
    return merged(found)


def of_settings(settings: Settings) -> Iterator[Command]:
    """The commands that the settings name, and the leave they ask for."""
    if settings.tests.command:
        yield Command("tests.command", settings.tests.command)
    for argv in settings.verify.setup:
        yield Command("verify.setup", argv)
    verify, usual = settings.verify, Verify()
    network = () if isinstance(verify.network, str) else verify.network
    rights = [f"network {host}" for host in sorted(set(network))]
    rights += [f"path {path}" for path in sorted(set(verify.allow))]
    rights += [f"variable {name}" for name in sorted({*verify.env} - {*usual.env})]
    if rights:
        yield Command("verify", (), rights=tuple(rights))


def of_requirements(entries: Iterable[str], settings: Settings, origin: str = "criterion") -> Iterator[Command]:
    """The commands that a criterion's requirements would start. Test ids are data: their command is the runner's,
    or the project's own where that starts it."""
    for entry in entries:
        try:
            asked = parse(entry)
            if isinstance(asked, Run):
                yield Command(origin, asked.argv)
            elif isinstance(asked, Tests):
                own = project_runner(settings.tests.command) if settings.tests.command else None
                for runner in runner_for_ids(asked.ids, own):
                    if own is None or runner != own.name:
                        yield Command("runner", (runner,))
        except Refusal:
            continue  # an entry that nobody can run


def merged(commands: Iterable[Command]) -> list[Command]:
    """Each command once, with the names of all that ask for it, in the order in which they came."""
    found: dict[str, Command] = {}
    for command in commands:
        known = found.get(command.digest, command._replace(names=()))
        found[command.digest] = known._replace(names=tuple(dict.fromkeys((*known.names, *command.names))))
    return list(found.values())


def waits(commands: Sequence[Command]) -> Refusal:
    """The refusal "trust.needed" that names the first of these commands and says how many more there are."""
    told = "; ".join(f"`{_cut(one.spelled, _COMMAND)}` ({one.because})" for one in commands[:NAMED])
    left = len(commands) - NAMED
    count = "a command waits" if len(commands) == 1 else f"{len(commands)} commands wait"
    return Refusal(
        "trust.needed",
        f"{count} for trust before anything is run: {told}" + (f"; … and {left} more" if left > 0 else ""),
        "a person reads and trusts what came with the repository, at a terminal: `tallystick trust`",
        facts={"commands": [one.document() for one in commands[:NAMED]], "commands_more": max(left, 0)},
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
