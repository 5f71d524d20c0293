"""Holds that the documents are true: every command they show in a console block is run in a repository made for the
page, and ends as shown; generated parts are up to date; links between pages lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.yard.consoles import commands, play
from tests.yard.source import ROOT
from yard import pages
from yard.environment import launcher

LINK = re.compile(r"\]\((?!https?://|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)")
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
SHOWING = [page for page in pages.documents() if commands(page.read_text(encoding="utf-8"))]


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A repository with one commit, for the commands of one page."""
    place = tmp_path / "shop"
    place.mkdir()
    (place / "README.md").write_text("# Shop\n", encoding="utf-8")
    for words in (["init", "--quiet"], ["add", "README.md"], ["commit", "--quiet", "-m", "The shop"]):
        subprocess.run(["git", *words], cwd=place, check=True)
    return place


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", SHOWING, ids=_name)
def test_every_command_of_a_page_ends_as_shown(page: Path, scratch: Path, tmp_path: Path) -> None:
    command = launcher(tmp_path / "bin")
    environment = {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}
    outcomes, printed = play(commands(page.read_text(encoding="utf-8")), scratch, environment)
    wrong = [
        f"{_name(page)}:{seen.command.line}: $ {seen.command.text}: status {seen.status}, shown {seen.command.status}"
        for seen in outcomes
        if not seen.as_shown
    ]
    assert wrong == [], printed


def test_the_readme_shows_commands_that_are_run() -> None:
    assert ROOT / "README.md" in SHOWING, "README.md is missing or has no ```console block"


def test_generated_parts_are_up_to_date() -> None:
    assert pages.stale() == [], "python3 dev.py docs --write"


@pytest.mark.parametrize("part", sorted(pages.PARTS))
def test_every_generated_part_is_shown_somewhere(part: str) -> None:
    assert part in pages.parts_shown(), f"no page holds <!-- generated: {part} -->"


@pytest.mark.parametrize("page", pages.documents(), ids=_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    prose = FENCED.sub("", page.read_text(encoding="utf-8"))
    assert [target for target in LINK.findall(prose) if not (page.parent / target).exists()] == []


PAGE = """\
Words.

```console
$ cat > note.txt <<'EOF'
> one
> two
> EOF
$ grep --count . note.txt
2
$ false
$ cd .. && test -d shop
```

More words, and a block that nobody runs:

```sh
exit 3
```

```console
$ test -f shop/nothing
$ echo $?
1
$ exit 7
$ true
```
"""


def test_the_mechanism_sees_wrong_statuses_and_an_early_end(scratch: Path) -> None:
    outcomes, _ = play(commands(PAGE), scratch, os.environ)
    assert [(seen.command.line, seen.status, seen.as_shown) for seen in outcomes] == [
        (4, 0, True),
        (8, 0, True),
        (10, 1, False),
        (11, 0, True),
        (21, 1, True),
        (24, None, False),
        (25, None, False),
    ]
    assert (scratch / "note.txt").read_text() == "one\ntwo\n"


def test_a_part_that_is_behind_is_seen_and_mended(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "limits.md"
    page.parent.mkdir()
    page.write_text("Before.\n<!-- generated: limits -->\nold\n<!-- end of limits -->\nAfter.\n", encoding="utf-8")
    assert pages.stale(tmp_path) == ["docs/limits.md"]
    assert pages.write(tmp_path) == ["docs/limits.md"]
    assert pages.stale(tmp_path) == []
    text = page.read_text(encoding="utf-8")
    assert text.startswith("Before.\n")
    assert "| `INPUT_FILE` | 16 MB |" in text
    assert text.endswith("After.\n")
