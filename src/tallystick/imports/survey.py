"""What a source holds, feature by feature: which file is what, read and parsed, and every mistake of all of them.

Looked at are the places where the known stores keep their files, not every folder: tasks in `.agent/tasks/`, features
in `.jonggrang/.output/features/`, the old board in `.jonggrang/`. The source may be the project, one of these folders,
one feature's folder, or one file. Nothing here writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tallystick import canonical
from tallystick.board.document import FILE as BOARD
from tallystick.errors import Refusal, Where
from tallystick.handoff.manifest.document import NAMES as MANIFESTS
from tallystick.handoff.output.header import read_name
from tallystick.ids import is_feature_id, shown, typed
from tallystick.imports import evidence_json, feature_list
from tallystick.imports.found import Found, Left
from tallystick.imports.source import Source, TooMuch
from tallystick.limits import ID_CHARACTERS

LEDGER = "feature_list.json"
#: Name of the source's folder -> where tasks, features and the old board lie in it; "" stands for a project.
_TASK_FILES = {LEDGER, *evidence_json.NAMES}
_TASKS = {"": ".agent/tasks", ".agent": "tasks", "tasks": ""}
_FEATURES = {"": ".jonggrang/.output/features", ".jonggrang": ".output/features", ".output": "features", "features": ""}
_BOARDS = {"": ".jonggrang", ".jonggrang": ""}


class Handed(NamedTuple):
    """A file out of a feature's folder: its name there, how it is named in messages, its bytes."""

    name: str
    file: str
    data: bytes


class Foreign(NamedTuple):
    """One feature of a foreign store. `origin` is how its own files call it; `left` are files that nothing is
    recorded of."""

    feature: str
    origin: str = ""
    criteria: tuple[Found, ...] = ()
    outputs: tuple[Handed, ...] = ()
    manifests: tuple[Handed, ...] = ()
    boards: tuple[Handed, ...] = ()
    left: tuple[Left, ...] = ()


class _Group(NamedTuple):
    """What one place holds, before it is known which feature it is of: `inner` is the place, `folder` a name that
    may be the feature's, `said` what its files say."""

    inner: str
    folder: str | None
    said: tuple[str, ...]
    held: Foreign


class Survey:
    """One look at a source; `feature` is what it becomes, or which one of several is meant. Grows `mistakes`."""

    def __init__(self, source: Source, feature: str | None, mistakes: list[Refusal]) -> None:
        self._source = source
        self._wanted = feature
        self._mistakes = mistakes

    def features(self) -> list[Foreign]:
        """Every feature of the source that can be read, in the order of their names.

        Raises `Refusal` where there is none, or not the one that is meant; what is wrong with one is a mistake.
        """
        groups = self._groups() if self._source.is_folder else self._file()
        if not groups and not self._mistakes:
            raise Refusal(
                "input.invalid",
                f"{shown(self._source.said)} holds no store that can be imported",
                "name a project with .agent/tasks/ or .jonggrang/, a feature_list.json, or an evidence.json",
            )
        return self._resolved(groups)

    # -- where things lie ---------------------------------------------------------------------------------------

    def _groups(self) -> list[_Group]:
        kind = self._source.name
        found: list[_Group | None] = []
        top = self._names("")
        own = kind if self._source.parent in ("tasks", "features") else None
        if top & _TASK_FILES:
            found.append(self._task("", own, top))
        elif top & set(MANIFESTS) or (BOARD in top and kind != ".jonggrang") or any(map(read_name, top)):
            found.append(self._feature("", own, top))
        for inner in _places(_TASKS, kind):
            found += [self._task(_join(inner, name), name) for name in sorted(self._names(inner))]
        for inner in _places(_FEATURES, kind):
            found += [self._feature(_join(inner, name), name) for name in sorted(self._names(inner))]
        for inner in _places(_BOARDS, kind):
            if self._source.has(_join(inner, BOARD)):
                found.append(self._feature(inner, None, {BOARD}))
        return [group for group in found if group is not None]

    def _names(self, inner: str) -> set[str]:
        """What lies in a folder; one that cannot be looked at is a mistake, one that is no folder holds nothing."""
        try:
            return set(self._source.names(inner))
        except TooMuch:
            raise
        except Refusal as refusal:
            self._mistakes.append(refusal)
            return set()

    def _file(self) -> list[_Group]:
        name = self._source.name
        if name in MANIFESTS or name == BOARD or read_name(name):
            raise Refusal(
                "input.invalid",
                f"{shown(self._source.said)} is one file of a feature's folder",
                "import the folder that it lies in",
            )
        own = self._source.parent if self._source.grandparent == "tasks" else None
        beside = [LEDGER] if name in evidence_json.NAMES and self._source.has(LEDGER) else []
        group = self._claimed("", own, [*beside, name])
        return [group] if group is not None else []

    # -- what they hold -----------------------------------------------------------------------------------------

    def _task(self, inner: str, folder: str | None, names: set[str] | None = None) -> _Group | None:
        """A task's folder."""
        there = self._names(inner) if names is None else names
        return self._claimed(inner, folder, [name for name in (LEDGER, *evidence_json.NAMES) if name in there])

    def _claimed(self, inner: str, folder: str | None, names: list[str]) -> _Group | None:
        """Files that say something of criteria: the ledger defines them, what lies beside it claims."""
        found: list[Found] = []
        for name in names:
            read = evidence_json.read if name in evidence_json.NAMES else feature_list.read
            one = self._parsed(_join(inner, name), read)
            if one is not None:
                found.append(one)
        if not found:
            return None
        said = tuple(dict.fromkeys(one.feature for one in found if one.feature is not None))
        return _Group(inner, folder, said, Foreign("", "", tuple(found)))

    def _feature(self, inner: str, folder: str | None, names: set[str] | None = None) -> _Group | None:
        """A jonggrang folder: outputs, manifest, board; whatever else lies there is left."""
        outputs, manifests, boards, left = list[Handed](), list[Handed](), list[Handed](), list[Left]()
        there = self._names(inner) if names is None else names
        for name in sorted(there):
            into = manifests if name in MANIFESTS else boards if name == BOARD else outputs if read_name(name) else None
            if into is None:
                left.append(Left(self._source.label(_join(inner, name)), "it is no file of a store"))
                continue
            try:
                data = self._source.read(_join(inner, name))
            except TooMuch:
                raise
            except Refusal as refusal:
                self._mistakes.append(refusal)
                continue
            if data is not None:
                into.append(Handed(name, self._source.label(_join(inner, name)), data))
        if not outputs and not manifests and not boards:
            return None
        held = Foreign("", "", (), tuple(outputs), tuple(manifests), tuple(boards), tuple(left))
        said = tuple(filter(None, map(_named_by, boards))) if folder is None else ()
        return _Group(inner, folder, said, held)

    def _parsed(self, inner: str, read: Callable[[bytes, str], Found]) -> Found | None:
        try:
            data = self._source.read(inner)
            return None if data is None else read(data, self._source.label(inner))
        except TooMuch:
            raise
        except Refusal as refusal:
            self._mistakes.append(refusal)
            return None

    # -- which feature it is of ---------------------------------------------------------------------------------

    def _resolved(self, groups: list[_Group]) -> list[Foreign]:
        named = [self._name(group) for group in groups]
        known = {name for name in named if name is not None}
        if len(known) == 1:  # an old board at the root that names nothing is of the one feature there is
            only = next(iter(known))
            named = [name if name or group.held.criteria else only for name, group in zip(named, groups, strict=True)]
        origins = list(named)
        ids = dict.fromkeys(named)
        if self._wanted is not None and len(ids) == 1:
            named = [self._wanted for _ in groups]
        elif self._wanted is not None and self._wanted not in ids:
            several = ", ".join(shown(name) for name in sorted(known)[:8])
            raise Refusal(
                "usage",
                f"{shown(self._source.said)} holds several features, none is {shown(self._wanted)}: {several}",
                "import the folder of one of them with --feature",
            )
        merged: dict[str, Foreign] = {}
        for name, origin, group in zip(named, origins, groups, strict=True):
            if self._wanted is not None and name != self._wanted:
                continue
            if name is None or not is_feature_id(name):
                self._mistakes.append(self._nameless(name, group))
                continue
            if self._wanted is None and group.folder is not None and group.said and group.folder != name:
                self._mistakes.append(self._astray(name, group))
                continue
            held, more = merged.get(name, Foreign(name, origin or name)), group.held
            merged[name] = Foreign(
                name,
                held.origin,
                held.criteria + more.criteria,
                held.outputs + more.outputs,
                held.manifests + more.manifests,
                held.boards + more.boards,
                held.left + more.left,
            )
        return [merged[name] for name in sorted(merged)]

    def _name(self, group: _Group) -> str | None:
        if len(group.said) > 1 and self._wanted is None:
            label = self._source.label(group.inner)
            names = " and ".join(map(shown, group.said))
            self._mistakes.append(
                Refusal("input.invalid", f"{label}: its files name {names}", "say which with --feature", Where(label))
            )
        return group.said[0] if group.said else group.folder

    def _nameless(self, name: str | None, group: _Group) -> Refusal:
        first = group.held.criteria[0].file.rpartition("/")[2] if group.held.criteria else ""
        inner = group.inner if group.inner or not self._source.is_folder else first
        where = self._source.label(inner) or self._source.name
        command = f"`tallystick import {typed(self._source.beside(inner))} --feature"
        if name is None:
            return Refusal("usage", f"{where} names no feature", f"{command} ID`")
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:ID_CHARACTERS].strip("-") or "ID"
        says = f"{where}: {shown(name)} cannot name a feature: a-z, 0-9 and '-', at most {ID_CHARACTERS}"
        return Refusal("input.invalid", says, f"{command} {plain}`")

    def _astray(self, name: str, group: _Group) -> Refusal:
        says = f"{self._source.label(group.inner)} is the folder of {shown(str(group.folder))} and names {shown(name)}"
        command = f"`tallystick import {typed(self._source.beside(group.inner))} --feature ID`"
        return Refusal("input.invalid", says, command)


def together(mistakes: list[Refusal]) -> Refusal:
    """One refusal out of several: half an import would be a trap, so nothing is done, and all mistakes are named."""
    if len(mistakes) == 1:
        return mistakes[0]
    first = mistakes[:5]
    more = f" … and {len(mistakes) - len(first)} more" if len(mistakes) > len(first) else ""
    says = " · ".join(one.message.removesuffix("; nothing was changed") for one in first)
    return Refusal(
        "input.invalid",
        f"{len(mistakes)} things are wrong, so nothing was imported: {says}{more}",
        f"{mistakes[0].hint}; or import what is sound by its own folder",
        facts={"mistakes": [one.message for one in mistakes[:100]]},
    )


def _named_by(board: Handed) -> str | None:
    """The feature that a board file names; what else is wrong with it is told by its own reader."""
    try:
        value = canonical.parse(board.data, board.file)
    except Refusal:
        return None
    named = value.get("feature") if isinstance(value, dict) else None
    return named if isinstance(named, str) and named else None


def _places(table: dict[str, str], kind: str) -> list[str]:
    return [inner for name, inner in table.items() if name in ("", kind)]


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
