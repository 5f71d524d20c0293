"""The static part of a proof: whether the tests of a criterion are still those that were seen red. Pure.

What must not change is compared byte for byte. A change that leaves every test what it was (a formatter ran, a fixture
was added) only asks for the red to be made again; any other waits for a person, and until then nothing passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from tallystick.evidence.changed_tests import kind_of
from tallystick.evidence.likely_ids import likely_ids
from tallystick.evidence.lockset import (
    LockChange,
    LockSet,
    State,
    Stranger,
    changed,
    lock_set,
    place_of,
    strangers,
)
from tallystick.evidence.selectors import base
from tallystick.evidence.source_ids import pytest_ids, unittest_ids
from tallystick.evidence.text_diff import lines_differ
from tallystick.evidence.used_names import used_names
from tallystick.evidence.verdict import Reason
from tallystick.ids import escaped, shown, typed
from tallystick.ledger.model import Criterion, Red
from tallystick.ledger.requirement import Tests, parse

#: Changes of a locked file that leave every test what it was.
_HONEST = ("same", "formatted", "added")
#: The same where a command runs whatever the file holds: a test that was added would run among the others.
_HONEST_FOR_COMMANDS = ("same", "formatted")
#: Strangers that belong to the tests where these changed with them.
_TESTS_OWN = ("conftest", "package", "support", "snapshot")
_COMPARED, _NAMED = 200, 3


class Standing(NamedTuple):
    """How a criterion stands before anything is run.

    `red` is the one it is judged by, `locked` what must stay as it is now, `apart` the files that are set aside for it.
    `again` says why its red must be made again ("" = it stands), `moved` which locked files changed honestly: then
    only `ids` are run, no test that was added. `broken` are the reasons for which it is not even run.
    """

    red: Red | None = None
    locked: LockSet | None = None
    apart: tuple[str, ...] = ()
    again: str = ""
    moved: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    broken: tuple[Reason, ...] = ()


class Past(NamedTuple):
    """What is known of the state in which a criterion was red: its lock set, and the bytes of files by name."""

    lock: LockSet
    contents: Callable[[Iterable[str]], Mapping[str, bytes]]


def required_ids(criterion: Criterion) -> tuple[str, ...]:
    """The test ids and selectors that a criterion names itself."""
    entries = [parse(entry) for entry in criterion.evidence_required or ()]
    return tuple(dict.fromkeys(one for entry in entries if isinstance(entry, Tests) for one in entry.ids))


def standing(
    feature: str, criterion: Criterion, past: Past | None, allowed: Sequence[LockSet], state: State, only_ids: bool
) -> Standing:
    """How `criterion` stands in `state`.

    `past` is None where its red is not known here, `allowed` are lock sets that a person let stand or that stood before
    this one. `only_ids`: it is run by its ids alone, so no test file is collected that it does not name.
    """
    red = criterion.red or criterion.seen
    if red is None or past is None:
        return Standing()
    ids = required_ids(criterion) or red.ids
    again = "amended" if red.digest != criterion.digest else "elsewhere" if criterion.red is None else ""
    lock = past.lock
    found = changed(lock, state)
    new = [one for one in strangers(lock, state) if _matters(one, ids, state, only_ids)]
    if not found and not again:
        return Standing(red, lock, tuple(one.path for one in new))
    as_allowed = next((one for one in allowed if not changed(one, state)), None)
    if as_allowed is not None:
        later = [one for one in strangers(as_allowed, state) if _matters(one, ids, state, only_ids)]
        apart = tuple(one.path for one in later)
        return Standing(red, _now(ids, lock, state, apart), apart, again or "moved")
    own = [one for one in new if one.kind in _TESTS_OWN] if found else []
    apart = tuple(one.path for one in new if one not in own)
    found += [LockChange("lock.changed", one.path, "it was not there") for one in own]
    linked = any(one.code == "lock.symlink" for one in found)
    gone = _renamed(feature, criterion, ids, past, state) if again != "amended" and not linked else ()
    honest = _HONEST if only_ids else _HONEST_FOR_COMMANDS
    broken = gone or tuple(_broken(feature, criterion, past, found, state, honest))
    if broken:
        return Standing(red, lock, apart, "", broken=broken)
    moved = tuple(one.path for one in found)
    only = red.ids if moved and again != "amended" else ()
    return Standing(red, _now(ids, lock, state, apart), apart, again or "moved", moved, only)


def _now(ids: Iterable[str], lock: LockSet, state: State, apart: Iterable[str]) -> LockSet:
    """The lock set of the ids as things lie now, without what is set aside."""
    names = state.names.difference(apart)
    support = [one.path for one in lock.locks if one.kind == "support"]
    return lock_set(ids, State(names, state.links.difference(apart), state.read), support)


def _matters(stranger: Stranger, ids: Iterable[str], state: State, only_ids: bool) -> bool:
    """Whether a file that was not there at red can have a part in the run of these ids."""
    if not only_ids:
        return True
    if stranger.kind == "test":
        return False
    if stranger.kind in ("conftest", "config", "package"):
        folder = stranger.path.rpartition("/")[0]
        return not folder or any(place_of(one, state)[0].startswith(f"{folder}/") for one in ids)
    return True


def _broken(
    feature: str, criterion: Criterion, past: Past, found: list[LockChange], state: State, honest: tuple[str, ...]
) -> Iterable[Reason]:
    """The changes that a person has to look at, each with what is to be done about it."""
    whole = {one.path: one.kind for one in past.lock.locks if not one.part}
    before = past.contents([one.path for one in past.lock.locks])
    used = used_names(data for path, data in before.items() if path.endswith(".py"))
    accept = f"tallystick ledger accept {feature} {typed(criterion.id)} --reason …"
    for one in found:
        if one.code == "lock.symlink":
            yield Reason(one.code, f"{escaped(one.path)}: {one.says}", one.path)
            continue
        then, now = before.get(one.path), state.read(one.path) if one.path in state.names else None
        comparable = whole.get(one.path, "conftest") not in ("config", "snapshot")
        if comparable and kind_of(one.path, then if then is not None else b"", now, used) in honest:
            continue
        told = one.says
        if then is not None and now is not None and comparable:
            count = lines_differ(then, now)
            told = f"{count} line{' differs' if count == 1 else 's differ'} from the test seen red"
        yield Reason("lock.changed", f"{escaped(one.path)}: {told}", one.path, None, accept)


def _renamed(feature: str, criterion: Criterion, ids: tuple[str, ...], past: Past, state: State) -> tuple[Reason, ...]:
    """The ids that are in no file any more, with what they are called now as far as that can be told."""
    listed = listing(state)
    assert criterion.red is not None or criterion.seen is not None
    red = criterion.red or criterion.seen
    missing = [one for one in (red.ids if red is not None else ()) if _is_missing(one, listed, state)]
    if not missing:
        return ()
    before = past.contents([one.path for one in past.lock.locks if one.kind in ("test", "doctest")])
    known = {lock.path for lock in past.lock.locks}
    files = [one.path for one in strangers(past.lock, state) if one.kind == "test"]
    files += [path for path in known if path in state.names and path.endswith(".py")]
    now = {path: data for path in files[:_COMPARED] if (data := state.read(path)) is not None}
    likely = likely_ids(missing, before, now)
    if not likely:
        return ()
    whole = [likely.get(one, one) for one in ids]
    words = " ".join(f"--tests {typed(one)}" for one in whole)
    pairs = ", ".join(
        f"{shown(old, 120)} is likely {shown(new, 120)} now" for old, new in list(likely.items())[:_NAMED]
    )
    more = f", and {len(likely) - _NAMED} more" if len(likely) > _NAMED else ""
    accept = f"tallystick ledger accept {feature} {typed(criterion.id)} {words} --reason …"
    return (Reason("ids.missing", f"{pairs}{more}", next(iter(likely)).partition("::")[0], None, accept),)


def _is_missing(test_id: str, listed: Callable[[str], Iterable[str] | None], state: State) -> bool:
    """Whether the file of a plain id is gone, or has no such test by its syntax tree."""
    path, part = place_of(test_id, state)
    if part or not path.endswith(".py"):
        return False
    if path not in state.names:
        return True
    names = listed(test_id.partition("::")[0] if "::" in test_id else test_id)
    start = (base(test_id) or test_id).partition("[")[0]
    return names is not None and not any((base(one) or one).partition("[")[0] == start for one in names)


def listing(state: State) -> Callable[[str], Iterable[str] | None]:
    """What tells the ids in a test file by its syntax tree: asked with its path, or with a dotted id of unittest."""

    def listed(file: str) -> Iterable[str] | None:
        path, _ = place_of(file, state)
        data = state.read(path) if path in state.names else None
        if data is None or not path.endswith(".py"):
            return None
        if "/" in file or file.endswith(".py"):
            return pytest_ids(path, data, _fixtures(path, state))
        return unittest_ids(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."), data)

    return listed


def _fixtures(path: str, state: State) -> frozenset[str]:
    """The fixtures with parameter sets that the conftests above a test file define."""
    from tallystick.evidence.source_ids import parametrised_fixtures

    found: set[str] = set()
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        name = f"{folder}/conftest.py" if folder else "conftest.py"
        if name in state.names:
            found |= parametrised_fixtures(state.read(name) or b"")
    return frozenset(found)
