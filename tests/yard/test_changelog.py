"""Holds the form of the changelog: what a person will read of a change stands in a fragment of its own, so that two
changes never touch the same lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.yard.source import ROOT

FOLDER = ROOT / "docs" / "changelog"
KINDS = ("added", "changed", "fixed", "removed")
NAME = re.compile(rf"[a-z0-9][a-z0-9-]*\.({'|'.join(KINDS)})\.md")
MOST_CHARACTERS = 600


def mistakes(name: str, text: str) -> list[str]:
    """What is wrong with the fragment `name` that holds `text`."""
    found = []
    if not NAME.fullmatch(name):
        found.append(f"the name is not TOPIC.KIND.md with a kind of {', '.join(KINDS)}")
    if not text.strip():
        return [*found, "it says nothing"]
    if text.startswith("#"):
        found.append("it has a heading; the kind in the name is the heading")
    if "\n\n" in text.strip():
        found.append("it has more than one paragraph")
    if not text.endswith(".\n"):
        found.append("it does not end with a full sentence and a line feed")
    if len(text) > MOST_CHARACTERS:
        found.append(f"it is longer than {MOST_CHARACTERS} characters")
    return found


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*")), ids=lambda path: path.name)
def test_every_fragment_has_the_form(path: Path) -> None:
    if path.name == "README.md":
        assert all(kind in path.read_text(encoding="utf-8") for kind in KINDS)
    else:
        assert mistakes(path.name, path.read_text(encoding="utf-8")) == []


def test_the_changelog_points_to_the_fragments() -> None:
    assert "docs/changelog" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ledger.improved.md", "A ledger is kept.\n"),
        ("Ledger.added.md", "A ledger is kept.\n"),
        ("ledger.added.md", "\n"),
        ("ledger.added.md", "# Added\nA ledger is kept.\n"),
        ("ledger.added.md", "A ledger is kept.\n\nAnd more.\n"),
        ("ledger.added.md", "A ledger is kept"),
        ("ledger.added.md", "x" * MOST_CHARACTERS + ".\n"),
    ],
)
def test_a_fragment_out_of_form_is_seen(name: str, text: str) -> None:
    assert len(mistakes(name, text)) == 1
