"""Every command that writes and every command that reads, each on a disk where it has something to do."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from tests.crash.stage import AGENT, STORE, TREE, YOU, Caller, app, done, empty
from tests.simdisk import SimDisk

VIEW = f"{TREE}/.agent/tasks/checkout/feature_list.json"
FEATURE = "checkout"
OUTPUTS = ("06_5-designer-o4.json", "06_5-designer-o25000.json")


def journal(disk: SimDisk, feature: str = FEATURE) -> str:
    """The path of the one journal file of `feature`."""
    folder = f"{STORE}/journal/{feature}"
    (name,) = disk.process().listdir(folder)
    return f"{folder}/{name}"


@functools.cache
def frozen() -> SimDisk:
    """Three criteria, nothing tried."""
    disk = empty()
    done(disk, "ledger", "init", FEATURE, "criteria.md")
    return disk.settled()


@functools.cache
def worked() -> SimDisk:
    """Three criteria: one passes, one failed once, one is untouched; a note."""
    disk = frozen().settled()
    done(disk, "ledger", "pass", "AC1", "--evidence", "proof.txt")
    done(disk, "ledger", "fail", "AC2", "--error", "no card was taken")
    done(disk, "note", "the cards are in cards.py")
    return disk.settled()


@functools.cache
def handed() -> SimDisk:
    """As `worked`, with two outputs that nobody handed over yet, a small and a large one."""
    disk = worked().settled()
    for name, text in (("small.json", "done"), ("large.json", "done " * 5000)):
        disk.put(f"{TREE}/{name}", output(text))
    return disk


@functools.cache
def saved() -> SimDisk:
    """As `handed`, with both outputs saved and their files gone from the tree, as after a reset."""
    disk = handed().settled()
    done(disk, "output", "save", "small.json")
    done(disk, "output", "save", "large.json")
    for file in OUTPUTS:
        disk.remove(f"{TREE}/.jonggrang/.output/features/{FEATURE}/{file}")
    return disk.settled()


def output(text: str) -> bytes:
    """An output of a designer, whose slug is its size."""
    head = f'{{"jonggrang-output": true, "feature_id": "{FEATURE}", "phase": 6.5, "role": "designer", "task_id": null'
    tail = '"timestamp": "2024-01-01T00:00:00Z", "status": "completed"'
    return f'{head}, "slug": "o{len(text)}", "agent_id": "d", {tail}, "output": {{"text": "{text}"}}}}'.encode()


@functools.cache
def torn() -> SimDisk:
    """As `worked`, with the beginning of a record at the journal's end, as a power cut leaves it."""
    disk = worked().settled()
    disk.put(journal(disk), disk.content(journal(disk)) + b'{"at":"2026-05-21T00:00:00.000Z","by":{"ag')
    return disk


@functools.cache
def edited() -> SimDisk:
    """As `worked`, with an error that somebody wrote into the view by hand."""
    disk = worked().settled()
    old = disk.content(VIEW)
    before, mark, behind = old.rpartition(b'"last_attempt_error": null')
    disk.put(VIEW, before + b'"last_attempt_error": "no bill came"' + behind)
    assert mark
    return disk


@functools.cache
def garbled() -> SimDisk:
    """As `worked`, with a view that nobody can read."""
    disk = worked().settled()
    disk.put(VIEW, disk.content(VIEW).replace(b'"passes": true', b'"passes": yes'))
    return disk


@functools.cache
def nameless() -> SimDisk:
    """As `worked`, without the file that says which store it is."""
    disk = worked().settled()
    disk.remove(f"{STORE}/store-id")
    return disk


@functools.cache
def rolled_back() -> SimDisk:
    """As `worked`, without the last record, which the anchor remembers."""
    disk = worked().settled()
    lines = disk.content(journal(disk)).splitlines(keepends=True)
    disk.put(journal(disk), b"".join(lines[:-1]))
    return disk


@functools.cache
def grown() -> SimDisk:
    """As `worked`, with so much in the journal that the next command writes a checkpoint."""
    disk = worked().settled()
    ledger = app(disk).ledger
    for number in range(60):
        ledger.mark_failure(FEATURE, "AC3", f"{number:03d} " + "x" * 1990)
    return disk.settled()


class Scene(NamedTuple):
    """One command: `words` on the disk that `before` makes. `status` is how it ends when nothing goes wrong.

    `ways` is in how many ways each call is failed. Commands that take the same road share the ways between them.
    A command that records twice may stop in the middle: there it has recorded what it records on the disk `halfway`.
    """

    name: str
    before: Callable[[], SimDisk]
    words: tuple[str, ...]
    caller: Caller = YOU
    status: int = 0
    halfway: Callable[[], SimDisk] | None = None
    ways: int = 2

    @property
    def disk(self) -> SimDisk:
        """A fresh copy of the disk that it begins on."""
        return self.before().settled()


ALL = 9
PASS = ("ledger", "pass", "AC2", "--evidence", "proof.txt")

WRITING = (
    Scene("init", empty, ("init",), ways=ALL),
    Scene("first freeze", empty, ("ledger", "init", FEATURE, "criteria.md"), ways=1),
    Scene("second freeze", worked, ("ledger", "init", "refund", "more.md"), ways=4),
    Scene("add", worked, ("ledger", "add", "more.md")),
    Scene("pass", worked, PASS, ways=ALL),
    Scene("pass with large evidence", worked, ("ledger", "pass", "AC3", "--evidence", "large.txt"), ways=3),
    Scene("pass behind a torn end", torn, PASS, ways=3),
    Scene("pass over a view edited by hand", edited, PASS, halfway=worked),
    Scene("pass refused over damage", garbled, PASS, status=8),
    Scene("fail", worked, ("ledger", "fail", "AC1", "--error", "the cart is empty")),
    Scene("fail in a long journal", grown, ("ledger", "fail", "AC1", "--error", "the cart is empty")),
    Scene("amend", worked, ("ledger", "amend", "AC1", "--text", "the cart is kept a week", "--reason", "agreed")),
    Scene("close", worked, ("ledger", "amend", "AC3", "--close", "--reason", "not wanted")),
    Scene("override", worked, ("ledger", "override", "AC2", "--reason", "seen by hand")),
    Scene("override refused", worked, ("ledger", "override", "AC2", "--reason", "trust me"), AGENT, status=1),
    Scene("note", worked, ("note", "the bills are in bills.py")),
    Scene("save an output", handed, ("output", "save", "small.json"), ways=3),
    Scene("save a large output", handed, ("output", "save", "large.json"), ways=1),
    Scene("fail while outputs are to be written anew", saved, ("ledger", "fail", "AC1", "--error", "no cart"), ways=1),
    Scene("abandon", worked, ("abandon", "--reason", "replaced")),
    Scene("restore a view", garbled, ("audit", "--restore")),
    Scene("restore the store id", nameless, ("audit", "--restore")),
    Scene("accept", rolled_back, ("audit", "--accept", "--reason", "the disk was restored"), ways=3),
)

READING = (
    Scene("status", worked, ("status",), ways=ALL),
    Scene("status of nothing", empty, ("status",)),
    Scene("show", worked, ("ledger", "show")),
    Scene("show in a long journal", grown, ("ledger", "show", FEATURE)),
    Scene("show a view edited by hand", edited, ("ledger", "show")),
    Scene("show a roll-back", rolled_back, ("ledger", "show"), status=8),
    Scene("failing", worked, ("ledger", "failing")),
    Scene("get", worked, ("ledger", "get", "AC1")),
    Scene("brief", worked, ("brief",)),
    Scene("find outputs", saved, ("output", "find")),
    Scene("show a large output", saved, ("output", "show", OUTPUTS[1])),
    Scene("audit", worked, ("audit",), ways=ALL),
    Scene("audit of a roll-back", rolled_back, ("audit",), status=8),
)


def named(scenes: tuple[Scene, ...]) -> list[str]:
    """The names, for the ids of tests."""
    return [scene.name.replace(" ", "-") for scene in scenes]
