"""Reads `requirements.toml` and the tests that hold its rows, from the syntax of the tests alone."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from typing import NamedTuple

from yard.console import ROOT

SOURCES = ("promise", "seed 1", "seed 2", "formats")


class Requirement(NamedTuple):
    """One row: `tests` are node ids that it names, `planned` what is still missing ("" when nothing is)."""

    id: str
    says: str
    source: str
    tests: tuple[str, ...] = ()
    planned: str = ""


class Requirements(NamedTuple):
    """The whole file."""

    planned_ceiling: int
    rows: tuple[Requirement, ...]

    @property
    def planned(self) -> list[Requirement]:
        """The rows that are not wholly held yet."""
        return [row for row in self.rows if row.planned]


def parsed(text: str) -> Requirements:
    """The rows of a file's text. An unknown or missing key is an error that names the row."""
    document = tomllib.loads(text)
    rows = []
    for row in document["requirement"]:
        unknown = set(row) - set(Requirement._fields)
        if unknown or not {"id", "says", "source"} <= set(row):
            raise ValueError(f"requirement {row.get('id', row)}: unknown or missing keys: {sorted(unknown)}")
        rows.append(Requirement(**{**row, "tests": tuple(row.get("tests", ()))}))
    return Requirements(document["planned_ceiling"], tuple(rows))


def current() -> Requirements:
    """The rows of this tree."""
    return parsed((ROOT / "requirements.toml").read_text(encoding="utf-8"))


def node_ids(root: Path = ROOT) -> dict[str, tuple[str, ...]]:
    """Every test function below tests: node id (without parameters) -> the rows that its marker names."""
    found = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        for name, function in _functions(tree.body, ""):
            found[f"{path.relative_to(root).as_posix()}{name}"] = _marked(function)
    return found


def _functions(body: list[ast.stmt], prefix: str) -> list[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    found: list[tuple[str, ast.FunctionDef | ast.ClassDef]] = []
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            found.append((f"{prefix}::{node.name}", node))
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            found += _functions(node.body, f"{prefix}::{node.name}")
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            # a stateful test of hypothesis: TestLedger = LedgerMachine.TestCase
            name = node.targets[0].id
            if name.startswith("Test") and ast.unparse(node.value).endswith(".TestCase"):
                found.append((f"{prefix}::{name}", ast.ClassDef(name, [], [], [], [])))
    return found


def _marked(function: ast.FunctionDef | ast.ClassDef) -> tuple[str, ...]:
    rows: list[str] = []
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.requirement":
            rows += [ast.literal_eval(argument) for argument in decorator.args]
    return tuple(rows)
