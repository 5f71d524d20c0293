"""Compares a view as it lies there with what the journal says: current, behind, or edited by hand. Pure.

A row that some record produced is *behind*; any other is *edited by hand*, named field by field, and never counts.
A file that as a whole is what an earlier moment produced is behind, whatever it lacks.
"""

from __future__ import annotations

from typing import NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.ids import shown
from tallystick.journal.record import Record
from tallystick.ledger.document import SCHEMA_VERSION, row
from tallystick.ledger.fold import LedgerFold
from tallystick.ledger.model import Ledger

_MOST_NAMED = 5
_ROWS, _ROW_END = b'"features": [', b"\n    }"
_CONFLICT = (b"<<<<<<< ", b"=======", b">>>>>>> ")


class View(NamedTuple):
    """A view as it lies there: its rows by id, in its order, and its creation time; `whole` unless it is cut short.

    `above` holds what stands beside the rows, `doubled` the ids of rows that stand there more than once.
    """

    created_at: Json
    rows: dict[str, dict[str, Json]]
    whole: bool = True
    above: dict[str, Json] = {}  # noqa: RUF012 - never changed
    doubled: tuple[str, ...] = ()


class Verdict(NamedTuple):
    """`kind` is behind or edited; `says` names each edit; `failures` are errors written into failing rows by hand."""

    kind: str
    says: tuple[str, ...] = ()
    failures: dict[str, str] = {}  # noqa: RUF012 - never changed


def hollow(data: bytes) -> bool:
    """Whether the file holds nothing of anybody's: empty, with NUL bytes as a crash leaves it, or half merged."""
    if not data.strip(b" \t\r\n") or b"\0" in data:
        return True
    lines = data.split(b"\n")
    return all(any(line.startswith(mark) for line in lines) for mark in _CONFLICT)


def parse(data: bytes, file: str) -> View:
    """The rows of a view. Raises `Refusal` "view.damaged" where it is no feature list at all."""
    try:
        value = canonical.parse(data, file)
    except Refusal as refusal:
        raise _damaged(refusal.message.removesuffix("; nothing was changed"), refusal) from None
    rows = value.get("features") if isinstance(value, dict) else None
    if not isinstance(rows, list) or not all(
        isinstance(item, dict) and isinstance(item.get("id"), str) for item in rows
    ):
        raise _damaged(f"{file} is no feature list", None)
    found: dict[str, dict[str, Json]] = {}
    doubled: list[str] = []
    for item in rows:
        if item["id"] in found:
            doubled.append(item["id"])
        found[item["id"]] = item
    above = {key: item for key, item in value.items() if key not in ("features", "created_at")}
    return View(value.get("created_at"), found, True, above, tuple(dict.fromkeys(doubled)))


def cut_short(data: bytes, wanted: bytes) -> View | None:
    """The whole rows of a view that ends in the middle, as a crash leaves one; None where `data` is something else.

    `wanted` is the view as it should be: what stands before its first row is the same at every moment.
    """
    begin = wanted.index(_ROWS) + len(_ROWS)
    if not data.startswith(wanted[:begin][: len(data)]):
        return None
    rows, end, _ = data[begin:].rpartition(_ROW_END)
    try:
        found = canonical.parse(b"[" + rows + end + b"]", "")
    except Refusal:
        return None
    if not all(isinstance(item, dict) and isinstance(item.get("id"), str) for item in found):
        return None
    return View(None, {item["id"]: item for item in found}, whole=False)


def _damaged(says: str, cause: Refusal | None) -> Refusal:
    return Refusal(
        "view.damaged",
        f"{says}; it was left as it is",
        "run `tallystick audit --restore` to write the view anew; its bytes are kept",
        cause.where if cause is not None else None,
    )


class Comparison:
    """Feed it the whole history, record by record; then ask for the verdict.

    Another home may have written the view last, and to it its own records count and ours do not: a row is one of the
    journal's, too, where it stands as it would there. When a segment came into the tree nobody knows: a row is one of
    the journal's as well where it stands as without it, and a criterion of another copy may not be there yet.
    """

    def __init__(self, view: View, feature: str) -> None:
        self._view = view
        self._fold = LedgerFold()
        self._ledger = Ledger(feature)
        self._theirs = Ledger(feature)
        self._alone = Ledger(feature)
        self._differ: set[str] = set(view.rows)
        self._known: set[str] = set()
        self._behind = False

    def take(self, record: Record, ours: bool) -> None:
        """The next record of the history, in order."""
        if record.type not in LedgerFold.types:
            return
        self._fold.apply(self._ledger, record, ours)
        self._fold.apply(self._theirs, record, not ours)
        if ours or record.type in ("ledger_frozen", "criterion_added"):
            self._fold.apply(self._alone, record, ours)
        data = record.data
        if record.type == "ledger_frozen":
            touched = list(self._ledger.criteria)
        elif record.type == "criterion_added":
            touched = [data["criterion"]["id"]]
        elif isinstance(data.get("criterion"), str):
            touched = [data["criterion"]]
        else:
            return
        for name in touched:
            self._compare(name)
        if record.place[0] == record.place[1] and not self._differ and self._same_time():
            self._behind = True

    def _compare(self, name: str) -> None:
        criterion = self._ledger.criteria.get(name)
        if criterion is None:
            return
        lying = self._view.rows.get(name)
        wanted = None if criterion.closed is not None else row(criterion)
        if lying == wanted or (lying is None and criterion.foreign):
            self._differ.discard(name)
            self._known.add(name)
        else:
            self._differ.add(name)
            if lying in (row(self._theirs.criteria[name]), row(self._alone.criteria[name])):
                self._known.add(name)

    def _beside(self) -> list[str]:
        """What was edited beside the rows, and rows that stand there twice."""
        if not self._view.whole:
            return []
        wanted = {"task_id": self._ledger.feature, "schema_version": SCHEMA_VERSION}
        above = self._view.above
        says = [f"{key} was changed" for key, value in wanted.items() if above.get(key) != value]
        says += [f"the key {shown(key)} was added by hand" for key in above if key not in wanted]
        return says + [f"{shown(name)} stands there twice" for name in self._view.doubled]

    def _same_time(self) -> bool:
        return not self._view.whole or self._view.created_at == self._ledger.created_at

    def verdict(self) -> Verdict:
        """What the view is, after the whole history. A current view was told apart before by its bytes."""
        says = self._beside()
        failures: dict[str, str] = {}
        if self._behind:
            return Verdict("edited", tuple(says)) if says else Verdict("behind")
        if not self._same_time():
            says.append("created_at was changed")
        for name, lying in self._view.rows.items():
            criterion = self._ledger.criteria.get(name)
            if criterion is None:
                says.append(f"{shown(name)} was added by hand")
            elif name in self._differ and name not in self._known:
                wanted = row(criterion)
                fields = [key for key in {**wanted, **lying} if wanted.get(key, ...) != lying.get(key, ...)]
                error = lying.get("last_attempt_error")
                if (
                    fields == ["last_attempt_error"]
                    and isinstance(error, str)
                    and error.strip()
                    and not criterion.passes
                    and criterion.closed is None
                ):
                    failures[name] = error
                says.append(f"{name}: {', '.join(_changed(key, wanted, lying) for key in fields) or 'closed'}")
        gone = [
            name
            for name, criterion in self._ledger.criteria.items()
            if self._view.whole and not criterion.foreign and criterion.closed is None and name not in self._view.rows
        ]
        says.extend(f"{name} was deleted by hand" for name in gone)
        if not says:
            return Verdict("behind")
        return Verdict("edited", tuple(says), failures)


def _changed(key: str, wanted: dict[str, Json], lying: dict[str, Json]) -> str:
    if key == "passes":
        return f"passes {_word(wanted.get(key))} -> {_word(lying.get(key))}"
    return key


def _word(value: Json) -> str:
    return shown(canonical.encode(value).decode(), 20).strip('"')


def edits(says: tuple[str, ...]) -> str:
    """The edits in one line, the first few named."""
    more = f" … and {len(says) - _MOST_NAMED} more" if len(says) > _MOST_NAMED else ""
    return "; ".join(says[:_MOST_NAMED]) + more
