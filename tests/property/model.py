"""A small reference model of the ledger: plain tables, no journal, no disk. It says what each command must answer.

It is written from the rules of the formats alone and shares no code with what it is compared with.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

NOTES_KEPT = 5


def stamp(nanoseconds: int) -> str:
    """A moment as the formats write it."""
    moment = datetime.fromtimestamp(nanoseconds // 1_000_000_000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{nanoseconds // 1_000_000 % 1000:03d}Z"


class Row:
    """One criterion. `rests_on` is the path and the content that its pass cited."""

    def __init__(self, description: str) -> None:
        self.description = description
        self.passes = False
        self.regressed = False
        self.rests_on: tuple[str, bytes] = ("", b"")
        self.reference: str | None = None
        self.passed_at: str | None = None
        self.error: str | None = None
        self.attempts = 0
        self.override: str | None = None
        self.closed = False

    def changed(self, tree: Mapping[str, bytes]) -> bool:
        """Whether what its pass rests on has other content in `tree` now."""
        path, content = self.rests_on
        return self.passes and tree.get(path) != content

    def state(self, tree: Mapping[str, bytes]) -> str:
        """Its one word."""
        if self.closed:
            return "closed"
        if self.override is not None:
            return "overridden"
        if not self.passes:
            return "failing"
        if self.regressed:
            return "regressed"
        return "stale" if self.changed(tree) else "holds"

    def seed(self, name: str) -> dict[str, Any]:
        """The row as the seed's tools know it."""
        done = self.override is not None
        return {
            "id": name,
            "description": self.description,
            "passes": self.passes or done,
            "passed_at": self.passed_at,
            "evidence_ref": f"override: {self.override}" if done else self.reference,
            "last_attempt_error": self.error,
        }


class Feature:
    """One feature."""

    def __init__(self, name: str, created_at: str) -> None:
        self.name = name
        self.created_at = created_at
        self.rows: dict[str, Row] = {}
        self.abandoned: str | None = None
        self.notes: list[str] = []

    def view(self) -> bytes:
        """The file in the tree, byte for byte."""
        rows = [row.seed(name) for name, row in self.rows.items() if not row.closed]
        whole = {"task_id": self.name, "created_at": self.created_at, "schema_version": 1, "features": rows}
        return json.dumps(whole, ensure_ascii=False, indent=2).encode() + b"\n"

    def shown(self, tree: Mapping[str, bytes]) -> list[dict[str, Any]]:
        """What `ledger show --json` must say of the criteria in `tree`."""
        return [
            {**row.seed(name), "level": "cited" if row.passes else "claimed", "state": row.state(tree)}
            for name, row in self.rows.items()
        ]


class Model:
    """All features. A command is first asked for with `refusals`, then, if there are none, done."""

    def __init__(self) -> None:
        self.features: dict[str, Feature] = {}
        #: Errors written by hand that were taken in; a view that still shows one is only behind.
        self.heard: set[str] = set()

    def copy(self) -> Model:
        """A model that goes its own way."""
        return copy.deepcopy(self)

    def with_feature(self, name: str, state: Feature | None) -> Model:
        """The same, but for one feature, which is as in `state` (None: it was never recorded)."""
        other = self.copy()
        other.features.pop(name, None)
        if state is not None:
            other.features[name] = copy.deepcopy(state)
        return other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Model) and self.table() == other.table()

    __hash__ = None  # type: ignore[assignment]

    def table(self) -> dict[str, Any]:
        """Everything in it, to compare and to print."""
        return {
            name: (one.created_at, one.abandoned, one.notes, {row: vars(it) for row, it in one.rows.items()})
            for name, one in self.features.items()
        }

    def refusals(self, act: str, feature: str, name: str, word: str, tree: Mapping[str, bytes]) -> set[str]:
        """The codes that may be given for refusing; empty where the command must be carried out."""
        found = self.features.get(feature)
        if act == "init":
            return {"feature.exists"} if found is not None else set()
        if found is None:
            return {"feature.unknown"}
        if act == "note":
            return set()
        if found.abandoned is not None:
            return {"feature.abandoned"}
        if act == "add":
            return {"criterion.exists"} if name in found.rows else set()
        if act == "abandon":
            return set()
        row = found.rows.get(name)
        if row is None:
            return {"criterion.unknown"}
        if row.closed:
            return {"criterion.closed"}
        return self._refused(act, row, word, tree)

    @staticmethod
    def _refused(act: str, row: Row, word: str, tree: Mapping[str, bytes]) -> set[str]:
        codes: set[str] = set()
        if act == "pass":
            if row.passes and not row.regressed and not row.changed(tree):
                codes.add("pass.already")
            if not tree.get(word):
                codes.add("evidence.empty" if word in tree else "evidence.missing")
        if act == "amend" and word == row.description:
            codes.add("input.invalid")
        if act == "override" and row.override is not None:
            codes.add("pass.already")
        return codes

    def carry_out(self, act: str, feature: str, name: str, word: str, tree: Mapping[str, bytes], now: str) -> None:
        """Do what nothing speaks against."""
        if act == "init":
            self.features[feature] = Feature(feature, now)
            self.features[feature].rows = {one: Row(word) for one in name.split()}
            return
        found = self.features[feature]
        if act == "add":
            found.rows[name] = Row(word)
        elif act == "note":
            found.notes = [*found.notes, word][-NOTES_KEPT:]
        elif act == "abandon":
            found.abandoned = word
        else:
            self._mark(act, found.rows, name, word, tree, now)

    @staticmethod
    def _mark(act: str, rows: dict[str, Row], name: str, word: str, tree: Mapping[str, bytes], now: str) -> None:
        row = rows[name]
        if act == "pass":
            row.passes, row.regressed, row.error = True, False, None
            row.rests_on, row.reference, row.passed_at = (word, tree[word]), word, now
        elif act == "fail":
            row.error, row.attempts, row.regressed = word, row.attempts + 1, row.passes
        elif act == "amend":
            rows[name] = Row(word)
            rows[name].error, rows[name].attempts = row.error, row.attempts
        elif act == "close":
            row.closed = True
        elif act == "override":
            row.override, row.passed_at = word, now
        else:
            raise ValueError(f"no such act: {act}")

    def take_in(self, feature: str, view: bytes, known: Model) -> bool:
        """Take in errors written by hand into failing rows of `view`, as `known` saw them; whether there were any."""
        try:
            lying = {row["id"]: row for row in json.loads(view)["features"]}
        except (ValueError, KeyError, TypeError):
            return False
        took = False
        before, now = known.features[feature], self.features[feature]
        for name, row in lying.items():
            seen = before.rows.get(name)
            if seen is None or seen.closed or seen.passes or now.abandoned is not None:
                continue
            wanted = seen.seed(name)
            error = row.get("last_attempt_error")
            by_hand = isinstance(error, str) and error.startswith("by hand") and error not in self.heard
            if by_hand and {**wanted, "last_attempt_error": error} == row:
                target = now.rows[name]
                if not target.closed and not target.passes:
                    target.error, target.attempts, target.regressed = error, target.attempts + 1, False
                    self.heard.add(error)
                    took = True
        return took
