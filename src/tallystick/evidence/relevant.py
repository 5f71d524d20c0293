"""Which files a verdict rests on: when one of them changes, the verdict is stale. Pure.

Where a recorder told what a run read, that and the lock set are the answer; declared paths win over it. Else it is the
whole tree but for documents. Never: our own folders, version control, the settings of clients.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from tallystick.evidence.runners.report import Recorded

#: Folders and files at any depth that no verdict rests on, whoever read them.
NEVER = frozenset(
    (
        ".git", ".hg", ".svn", ".jj", ".tallystick", ".jonggrang", ".claude", ".codex", ".opencode", ".mcp.json",
        "__pycache__",
    )
)  # fmt: skip
#: Such folders by their whole path.
_NEVER_PATHS = (".agent/tasks/",)
#: What does not count where no recorder tells what was read, unless the configuration says otherwise (formats 5).
IRRELEVANT = ("*.md", "docs/**")
_MODULE = re.compile(r"(.+?)(/__init__)?(\.[\w-]+)*\.(py|pyc|so|pyd)\Z")


class RelevantFile(NamedTuple):
    """A file that a verdict rests on: its name from the top of the tree, the digest of its bytes ("" for none)."""

    path: str
    digest: str


class Reads(NamedTuple):
    """What an answer to "is it still so?" needs of a run besides the files: the top-level names that it looked for,
    and the folders in which they are looked for."""

    names: frozenset[str] = frozenset()
    roots: tuple[str, ...] = ()


def relevant_names(
    names: Collection[str],
    recorded: Recorded | None,
    locked: Iterable[str],
    *,
    paths: Iterable[str] = (),
    irrelevant: Iterable[str] = IRRELEVANT,
) -> tuple[str, ...]:
    """The files among `names` (those of the tree) that a verdict rests on, ordered.

    `locked` are the paths of the lock set; they are always among them. `paths` are declared globs, `irrelevant` those
    that count for nothing where the recorder is silent or did not see the whole.
    """
    declared = tuple(paths)
    if declared:
        found = {name for name in names if any(matches(name, glob) for glob in declared)}
    elif recorded is not None and not recorded.partial:
        found = set(recorded.read).intersection(names)
    else:
        left_out = tuple(irrelevant)
        read = frozenset(recorded.read if recorded is not None else ())
        found = {name for name in names if name in read or not any(matches(name, glob) for glob in left_out)}
    found |= set(locked).intersection(names)
    return tuple(sorted(name for name in found if counts(name)))


def shadowing(names: Iterable[str], files: Collection[str], reads: Reads) -> tuple[str, ...]:
    """The files among `names` that would be imported in the place of what a run imported, ordered.

    `files` are those that its verdict rests on. Such a file is another form of a module among them (a package beside a
    module, an extension beside a source), the `__init__` of a folder on the way to one, or has in an import root a
    name that the run looked for.
    """
    have = set(files)
    forms = {found.group(1) for name in have if (found := _MODULE.match(name))}
    packages = {form[:at] for form in forms for at in range(len(form)) if form[at] == "/"}
    new: list[str] = []
    for name in sorted(set(names) - have):
        found = _MODULE.match(name)
        if found is None or not counts(name):
            continue
        other_form = found.group(1) in forms or (found.group(2) is not None and found.group(1) in packages)
        if other_form or any(_top_level(name, root) in reads.names for root in reads.roots):
            new.append(name)
    return tuple(new)


def counts(name: str) -> bool:
    """Whether a verdict may rest on a file of this name."""
    return not NEVER.intersection(name.split("/")) and not name.startswith(_NEVER_PATHS)


def matches(name: str, glob: str) -> bool:
    """Whether a name is one of a glob's: `*` and `?` within one folder, `**` through any number; a glob without `/`
    means the last part of a name, one that ends in `/` all below that folder."""
    return _pattern(glob).match(name) is not None


@functools.lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    text = glob.removeprefix("./")
    text = f"{text}**" if text.endswith("/") else text
    text = f"**/{text}" if "/" not in text else text
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", text.lstrip("/"))
    words = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(words.get(part, re.escape(part)) for part in parts) + r"\Z", re.DOTALL)


def _top_level(name: str, root: str) -> str | None:
    """The top-level module that a file makes when `root` is on the path: by itself, or as a package's own file."""
    start = f"{root}/" if root else ""
    if not name.startswith(start):
        return None
    head, slash, rest = name[len(start) :].partition("/")
    return head.partition(".")[0] if not slash or rest.startswith("__init__.") else None
