"""What git lists about one work tree: its machine formats, asked for and taken apart.

No program that the repository names takes part (D2): filters are switched off by name, external differs and text
converters by option, and no submodule is entered. Settings that would let an edit hide behind an old time stamp are
set back. Names come byte for byte (`-z`), bytes that are no UTF-8 as surrogates. Nothing is written: git takes no
optional lock, so a lock that lies around is nobody's concern.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tallystick.canonical import git_object
from tallystick.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tallystick.system.git import Git

LINK, SUBMODULE, NOTHING = "120000", "160000", "000000"
_SETTINGS = r"^(filter\..*|core\.(filemode|sparsecheckout))$"
#: An edit that keeps size and time of the file shows in what these two compare.
_STRICT = {"core.trustctime": "true", "core.checkStat": "default"}
_NO_FILTER = {"clean": "", "process": "", "required": "false"}
_NO_PROGRAM = ("--no-ext-diff", "--no-textconv")
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-")


class Entry(NamedTuple):
    """What git knows of one path at one place: mode as six digits, id of its content (of a submodule: the commit)."""

    mode: str
    id: str


class Pair(NamedTuple):
    """One path at two places; None where it is not."""

    before: Entry | None
    after: Entry | None


class Tracked(NamedTuple):
    """One path that HEAD, index and work tree do not agree on; None where it is not.

    `here` is its mode in the work tree, None when it is gone. `staged`: index differs from HEAD; `unstaged`: the work
    tree differs from the index. A path with a conflict is both, its `indexed` the version of our side.
    """

    head: Entry | None
    indexed: Entry | None
    here: str | None
    staged: bool
    unstaged: bool


class Status(NamedTuple):
    """`git status` of the tracked files: HEAD's commit (None before the first one), and the paths that differ."""

    head: str | None
    tracked: dict[str, Tracked]


class Names(NamedTuple):
    """What `git status` of the tracked files passes over.

    `untracked` paths (a repository of its own among them ends in "/"), `hidden` ones whose index entry carries a flag,
    and `submodules`, which are trees of their own.
    """

    untracked: tuple[str, ...]
    hidden: dict[str, Entry]
    submodules: dict[str, Entry]


class Listing:
    """The questions to one work tree. Two threads may ask different ones at once."""

    __slots__ = ("_found", "_git")

    def __init__(self, git: Git) -> None:
        self._git = git
        self._found: _Settings | None = None

    @property
    def modes(self) -> bool:
        """Whether executable bits count here."""
        return self._settings().modes

    @property
    def sparse(self) -> bool:
        """Whether a part of the tree may be left out here."""
        return self._settings().sparse

    def status(self) -> Status:
        """How tracked files differ. Raises `Refusal` "git.missing" when git cannot tell."""
        options = ("--branch", "--no-ahead-behind", "--untracked-files=no", "--no-renames", "--ignore-submodules=dirty")
        return parse_status(self._asked("status", "--porcelain=v2", "-z", *options, extra=self._settings().extra))

    def names(self) -> Names:
        """The other paths. Mostly no entry carries a flag and none is a submodule; then one question is enough."""
        text = self._asked("ls-files", "-z", "-v", "--cached", "--others", "--exclude-standard")
        untracked, flagged = parse_names(text)
        if not flagged and not self._git.may_hold_submodules():
            return Names(untracked, {}, {})
        return Names(untracked, *parse_marks(self._asked("ls-files", "-z", "-v", "--stage")))

    def between(self, before: str | None, after: str | None) -> dict[str, Pair]:
        """What differs from one commit to another, whatever way led there; None stands for nothing at all."""
        if before == after:
            return {}
        nothing = git_object("tree", b"", len(before or after or ""))
        options = ("-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--ignore-submodules=none", *_NO_PROGRAM)
        return parse_raw(self._asked("diff-tree", *options, before or nothing, after or nothing, "--"))

    def converted(self, paths: Sequence[str]) -> dict[str, str]:
        """The id of each file's content as git would store it, line ends converted; a file it cannot read has none."""
        if not paths:
            return {}
        names = b"".join(quoted(path) + b"\n" for path in paths)
        _, out = self._git.ask("hash-object", "--stdin-paths", given=names, extra=self._settings().extra)
        return {path: line for path, line in zip(paths, out.splitlines(), strict=False) if len(line) in (40, 64)}

    def blobs(self, ids: Sequence[str]) -> dict[str, bytes]:
        """The bytes of these blobs; one that is not here, and what comes after 64 MB in all, is left out."""
        if not ids:
            return {}
        _, out = self._git.ask("cat-file", "--batch", given="".join(f"{one}\n" for one in ids).encode())
        return dict(_batch(out.encode("utf-8", "surrogateescape")))

    def line_counts(self, base: str) -> dict[tuple[str | None, str], tuple[int | None, int | None]]:
        """Lines added and removed from a commit to the tracked files here, by former (of a renamed one) and new name.

        None for what is not text.
        """
        options = ("--numstat", "-z", "-M", "--ignore-submodules=all", *_NO_PROGRAM)
        return dict(_counts(self._asked("diff-index", *options, base, "--", extra=self._settings().extra)))

    def _settings(self) -> _Settings:
        if self._found is None:
            _, out = self._git.ask("config", "-z", "--get-regexp", _SETTINGS)
            self._found = parse_settings(out)
        return self._found

    def _asked(self, *words: str, extra: Mapping[str, str] | None = None) -> str:
        status, out = self._git.ask(*words, extra=extra)
        if status != 0:
            said = out[-200:].strip()
            raise Refusal("git.missing", f"git {words[0]} did not work in {self._git.top}: {said}", "see `git fsck`")
        return out


class _Settings(NamedTuple):
    """What the repository's configuration says about us, and the variables that overrule it."""

    modes: bool
    sparse: bool
    extra: dict[str, str]


def parse_settings(text: str) -> _Settings:
    """`git config -z --get-regexp`: key, line end, value; without both it is a yes. The last one holds."""
    rows = [row.partition("\n") for row in text.split("\0") if row]
    found = {key: value if sign else "true" for key, sign, value in rows}
    drivers = {key.rpartition(".")[0] for key in found if key.startswith("filter.")}
    fixed = {**_STRICT, **{f"{one}.{key}": value for one in drivers for key, value in _NO_FILTER.items()}}
    modes, sparse = found.get("core.filemode", "true"), found.get("core.sparsecheckout", "false")
    return _Settings(_is_true(modes), _is_true(sparse), _configuration(fixed))


def parse_status(text: str) -> Status:
    """`git status --porcelain=v2 -z --branch --no-renames`, taken apart."""
    head: str | None = None
    tracked: dict[str, Tracked] = {}
    for row in text.split("\0"):
        kind = row[:2]
        if kind == "1 ":
            _, states, _, m_head, m_index, here, head_id, index_id, path = row.split(" ", 8)
            sides = _entry(m_head, head_id), _entry(m_index, index_id), _mode(here)
            tracked[path] = Tracked(*sides, states[0] != ".", states[1] != ".")
        elif kind == "u ":
            _, _, _, _, ours, _, here, _, our_id, _, path = row.split(" ", 10)
            tracked[path] = Tracked(_entry(ours, our_id), _entry(ours, our_id), _mode(here), True, True)
        elif row.startswith("# branch.oid ") and row != "# branch.oid (initial)":
            head = row.removeprefix("# branch.oid ")
    return Status(head, tracked)


def parse_names(text: str) -> tuple[tuple[str, ...], bool]:
    """`git ls-files -z -v --cached --others`: a letter before each name. What is untracked, and whether a flag is set.

    git lists what is untracked first, so that most of a large answer need only be counted.
    """
    untracked, at = [], 0
    while text.startswith("? ", at):
        end = text.index("\0", at)
        untracked.append(text[at + 2 : end])
        at = end + 1
    rest = f"\0{text[at:]}"
    if rest.count("\0H ") == rest.count("\0") - 1:
        return tuple(untracked), False
    special = [row for row in rest.split("\0") if row and not row.startswith("H ")]
    untracked += [row[2:] for row in special if row.startswith("? ")]
    return tuple(untracked), any(_is_flag(row[0]) for row in special)


def parse_marks(text: str) -> tuple[dict[str, Entry], dict[str, Entry]]:
    """`git ls-files -z -v --stage`, a letter, mode, id, stage, then the name: entries with a flag, and submodules."""
    hidden, submodules = {}, {}
    for row in text.split("\0"):
        if row.startswith(("H 10", "H 12")) or not row:
            continue
        facts, _, path = row.partition("\t")
        letter, mode, content, stage = facts.split(" ")
        if mode == SUBMODULE and stage == "0":
            submodules[path] = Entry(mode, content)
        elif _is_flag(letter):
            hidden[path] = Entry(mode, content)
    return hidden, submodules


def parse_raw(text: str) -> dict[str, Pair]:
    """Rows of `git diff-tree -z --raw`: two modes, two ids, a letter; then the name."""
    fields = text.split("\0")
    found = {}
    for facts, path in zip(fields[0::2], fields[1::2], strict=False):
        old_mode, new_mode, old_id, new_id, _ = facts.removeprefix(":").split(" ")
        found[path] = Pair(_entry(old_mode, old_id), _entry(new_mode, new_id))
    return found


def quoted(path: str) -> bytes:
    """A name as git reads it in quotes, every byte that could mean something written as an escape."""
    raw = path.encode("utf-8", "surrogateescape")
    return b'"%s"' % b"".join(b"%c" % byte if byte in _PLAIN else b"\\%03o" % byte for byte in raw)


def is_file(mode: str | None) -> bool:
    """Whether a mode is that of a regular file, executable or not."""
    return mode is not None and mode.startswith("100")


def kind_of(mode: str) -> str:
    """What of a mode says what a thing is: a file, a link, a submodule."""
    return mode[:2]


def _entry(mode: str, content: str) -> Entry | None:
    return None if mode == NOTHING else Entry(mode, content)


def _is_flag(letter: str) -> bool:
    """S is skip-worktree; assume-unchanged makes any letter small."""
    return letter == "S" or letter.islower()


def _mode(mode: str) -> str | None:
    return None if mode == NOTHING else mode


def _is_true(value: str) -> bool:
    return value.lower() not in ("false", "no", "off", "0", "")


def _configuration(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings as variables: unlike with `-c`, a name may hold anything."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def _batch(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Answers of `git cat-file --batch`: "ID blob SIZE", the bytes, a line end. One that was cut off is left out."""
    at = 0
    while (end := data.find(b"\n", at)) >= 0:
        facts, at = data[at:end].decode("ascii", "replace").split(" "), end + 1
        if len(facts) != 3 or not facts[2].isdigit():
            continue
        size = int(facts[2])
        if at + size < len(data):
            yield facts[0], data[at : at + size]
        at += size + 1


def _counts(text: str) -> Iterator[tuple[tuple[str | None, str], tuple[int | None, int | None]]]:
    """Rows of `--numstat -z`: added, removed, name; a renamed one has no name there and two fields after it."""
    fields = iter(text.split("\0"))
    for row in fields:
        if not row:
            continue
        added, removed, path = row.split("\t", 2)
        former = None if path else next(fields)
        numbers = (int(added), int(removed)) if added.isdigit() else (None, None)
        yield (former, path or next(fields)), numbers
