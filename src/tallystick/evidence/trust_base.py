"""What a commit already held counts as trusted: for a server that checks what somebody proposes (`--trust-base`).

The commands are read from git's objects of that commit, its settings and its segments; nothing is checked out, nothing
is fetched, nothing is run. What cannot be read there holds no command, so whatever it would name is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from tallystick.effective import digest, effective
from tallystick.errors import Refusal
from tallystick.evidence.origin import Command, of_requirements, of_settings
from tallystick.ids import is_feature_id, shown
from tallystick.journal import segments
from tallystick.ledger.model import draft_of
from tallystick.ledger.payload import flaw
from tallystick.limits import MB, SEGMENT_FILE, SETTINGS_FILE
from tallystick.settings import FILE, Settings, parse

_BATCH = 32 * MB
_REGULAR = ("100644", "100755")


class Objects(Protocol):
    """What git is asked for."""

    def commit(self, name: str) -> str | None: ...
    def ask(self, *words: str, given: bytes | None = None) -> tuple[int, str]: ...


class Base(NamedTuple):
    """A commit, the digests of the commands it held, and that of its effective settings."""

    commit: str
    digests: frozenset[str]
    settings: str = ""

    def new(self, commands: Iterable[Command]) -> list[Command]:
        """Those of `commands` that the commit did not hold."""
        return [command for command in commands if command.digest not in self.digests]


class _File(NamedTuple):
    """One file of the commit's tree, as far as it may be one of ours."""

    path: str
    object: str
    size: int


def trust_base(git: Objects, ref: str) -> Base:
    """The commands that the commit `ref` held. Raises `Refusal` "usage" where there is no such commit here."""
    commit = git.commit(ref)
    if commit is None:
        raise Refusal(
            "usage",
            f"there is no commit {shown(ref)} here to take trust from",
            "fetch it first, for example: git fetch origin main",
        )
    files = _listed(git, commit)
    contents = dict(_contents(git, files))
    settings = _settings(contents.get(FILE))
    held = list(of_settings(settings))
    for path, data in contents.items():
        if path != FILE:
            # By both readings: the commit's own, and with the runner found, should the settings be what is proposed.
            for entries in _checks(path, data):
                held += of_requirements(entries, settings)
                held += of_requirements(entries, Settings())
    return Base(commit, frozenset(command.digest for command in held), digest(effective(settings)))


def _listed(git: Objects, commit: str) -> list[_File]:
    status, out = git.ask("ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", ".tallystick/")
    found = []
    for row in out.split("\0") if status == 0 else ():
        facts, _, path = row.partition("\t")
        mode, _, rest = facts.partition(" ")
        words = rest.split()
        if mode in _REGULAR and len(words) == 3 and words[2].isdigit() and int(words[2]) <= _most(path):
            found.append(_File(path, words[1], int(words[2])))
    return found


def _most(path: str) -> int:
    """The size that a file of ours may have, -1 for any other file."""
    if path == FILE:
        return SETTINGS_FILE
    feature, _, name = path.removeprefix(f"{segments.FOLDER}/").partition("/")
    return SEGMENT_FILE if is_feature_id(feature) and segments.is_segment(name) else -1


def _contents(git: Objects, files: Sequence[_File]) -> Iterator[tuple[str, bytes]]:
    """The bytes of each file, by path; asked for in batches that git's answer has room for."""
    batch: list[_File] = []
    for file in files:
        if batch and sum(one.size for one in batch) + file.size > _BATCH:
            yield from _batch(git, batch)
            batch = []
        batch.append(file)
    if batch:
        yield from _batch(git, batch)


def _batch(git: Objects, files: Sequence[_File]) -> Iterator[tuple[str, bytes]]:
    given = "".join(f"{file.object}\n" for file in files).encode()
    status, out = git.ask("cat-file", "--batch", given=given)
    data, at = out.encode("utf-8", "surrogateescape"), 0
    for file in files if status == 0 else ():
        head = f"{file.object} blob {file.size}\n".encode()
        if not data.startswith(head, at):
            return  # an object that is not here: what follows cannot be told apart
        at += len(head)
        yield file.path, data[at : at + file.size]
        at += file.size + 1


def _settings(data: bytes | None) -> Settings:
    try:
        return parse(data, FILE) if data is not None else Settings()
    except Refusal:
        return Settings()


def _checks(path: str, data: bytes) -> Iterator[tuple[str, ...]]:
    """What each criterion that a segment defines requires."""
    feature, _, name = path.removeprefix(f"{segments.FOLDER}/").partition("/")
    for record in segments.read(data, feature, name, path).records:
        if record.type not in ("ledger_frozen", "criterion_added", "criterion_amended") or flaw(
            record.type, record.data
        ):
            continue
        if record.type == "ledger_frozen":
            drafts = record.data["criteria"]
        else:
            drafts = [record.data["criterion" if record.type == "criterion_added" else "to"]]
        for draft in drafts:
            yield draft_of(draft).evidence_required or ()
