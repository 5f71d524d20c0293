"""What a phase changed, from git: everything that differs between the commit at its start and the tree as it lies now.

Only the net effect counts: what was made and taken away again, or changed and changed back, is not listed. Committed,
staged, unstaged and untracked work all take part, deleted and renamed files, modes, submodules, files that an index
flag hides. Ignored files are left out, and the folders that are ours. Nothing is written, nothing of the repository's
is run (`listing`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from tallystick.errors import Refusal
from tallystick.ids import shown
from tallystick.system.content import Lies, Looker
from tallystick.system.listing import SUBMODULE, Entry, Listing, Names, Pair, is_file, kind_of
from tallystick.system.place import find_place
from tallystick.system.renames import renames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tallystick.system.files import Files
    from tallystick.system.git import Git

#: Folders at the top of the tree that are written by us or for us; what lies there is no work of a phase.
OWN_FOLDERS = (".jonggrang/", ".agent/tasks/", ".tallystick/")
#: What a change can have taken part in, as it is told.
STATES = ("committed", "staged", "unstaged", "untracked")
_FULL_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


class Change(NamedTuple):
    """One path that is not as it was. `path` counts from the tree's top; bytes that are no UTF-8 are surrogates.

    `kind` is created, modified, deleted, renamed (then `old` is the former name; it may have been edited too), mode
    (the executable bit alone), type (a file became a link, say) or submodule. `size` (bytes) and `digest` (SHA-256) are
    over the raw bytes that lie there now, of a link over its text; of a submodule `digest` is the commit that lies
    there. They are None where nothing lies, where a sparse checkout left it out, where it may not be
    read, and for what is no file (a pipe). `mode` is 100644, 100755, 120000 (link) or 160000 (submodule). `state` says
    what it took part in: committed, staged, unstaged, untracked. `added` and `removed` are lines, None for what is not
    text and where `count_lines` was not asked.
    """

    path: str
    kind: str
    old: str | None
    size: int | None
    digest: str | None
    mode: str | None
    state: tuple[str, ...]
    added: int | None = None
    removed: int | None = None


def changes(files: Files, git: Git, base: str | None) -> tuple[Change, ...]:
    """What differs from commit `base` (None: there was none, so all is created), sorted by the bytes of the path.

    Without a work tree of git there is nothing to say: (). Raises `Refusal` "git.missing" when `base` is not here any
    more, when git is not, or cannot read the repository.
    """
    if not git.top:
        return ()
    comparison = _Comparison(files, git, _full(git, base))
    cases = {case.path: case for case in comparison.cases()}
    gone = {path: case.before for path, case in cases.items() if case.before and case.now is None}
    made = {path: case.now for path, case in cases.items() if case.now and case.before is None}
    former = renames(files, git.top, comparison.listing, gone, made)
    left = set(former.values())
    found = [_change(case, cases.get(former.get(path, ""))) for path, case in cases.items() if path not in left]
    return tuple(sorted(found, key=lambda change: change.path.encode("utf-8", "surrogateescape")))


def count_lines(git: Git, base: str | None, found: Sequence[Change]) -> tuple[Change, ...]:
    """`found` with the lines added and removed, where git can tell; one more process, reading all that changed."""
    base = _full(git, base)
    if base is None or all(change.added is not None for change in found):
        return tuple(found)
    counts = Listing(git).line_counts(base)
    return tuple(_counted(change, counts.get((change.old, change.path))) for change in found)


def is_ours(path: str) -> bool:
    """Whether a path lies in a folder that is left out."""
    return path.startswith(OWN_FOLDERS)


class _Case(NamedTuple):
    """One path: what it was `before`, what is `known` of it in the index, what `lies` there, how git stores that `now`.

    None means that it is not there; `dirty` marks a submodule with changes of its own.
    """

    path: str
    before: Entry | None
    known: Entry | None
    lies: Lies | None
    now: Entry | None
    state: tuple[str, ...]
    dirty: bool = False

    @property
    def changed(self) -> bool:
        """Whether it is not as it was at the start."""
        return self.before != self.now or self.dirty


class _Comparison:
    """The paths of one tree against one commit."""

    def __init__(self, files: Files, git: Git, base: str | None) -> None:
        from tallystick.system.beside import Beside  # here, since a thread costs the start of every command something

        self._files = files
        self._git = git
        self.listing = Listing(git)
        beside = Beside(lambda: self._others(base))  # together both take hardly longer than `git status` alone
        try:
            self._status = self.listing.status()
        finally:
            self._names, head, self._committed = beside.result()
        if head != self._status.head:  # somebody committed just now
            self._committed = self._since(base, self._status.head)
        self._untracked = {path.removesuffix("/") for path in self._names.untracked}
        ids = (one.indexed.id for one in self._status.tracked.values() if one.indexed)
        self._looker = Looker(files, git.top, len(base or self._status.head or next(ids, "")))

    def _others(self, base: str | None) -> tuple[Names, str | None, dict[str, Pair]]:
        """What does not depend on how tracked files differ: the other paths; HEAD, and what was committed up to it."""
        names, head = self.listing.names(), self._git.head()
        return names, head, self._since(base, head)

    def _since(self, base: str | None, head: str | None) -> dict[str, Pair]:
        try:
            return self.listing.between(base, head)
        except Refusal:
            if base is not None and self._git.commit(base) is None:
                _gone(base)
            raise

    def cases(self) -> list[_Case]:
        """Every path that is not as it was, in the order of their names."""
        paths = {
            *self._committed,
            *self._status.tracked,
            *self._untracked,
            *self._names.hidden,
            *self._names.submodules,
        }
        cases = [self._case(path) for path in sorted(paths) if not is_ours(path)]
        stored = self.listing.converted([case.path for case in cases if self._may_be_the_same(case)])
        return [case for case in (self._settled(one, stored.get(one.path)) for one in cases) if case.changed]

    def _case(self, path: str) -> _Case:
        row, pair = self._status.tracked.get(path), self._committed.get(path)
        mark = self._names.hidden.get(path) or self._names.submodules.get(path)
        known = row.indexed if row else mark or (pair.after if pair else None)
        before = pair.before if pair else row.head if row else known
        gone = path not in self._untracked and (row.here is None if row and row.unstaged else known is None)
        lies, dirty = (None, False) if gone else self._look(path, known)
        if (row and row.unstaged) or path in self._untracked or mark:
            now = self._entry(lies, known or before)
            if lies is None and path in self._names.hidden and self.listing.sparse:
                now = known  # a sparse checkout leaves it out
        else:
            now = known if lies else None
        parts = {
            "committed": pair is not None,
            "staged": row is not None and row.staged,
            "unstaged": row is not None and row.unstaged,
            "untracked": path in self._untracked,
        }
        return _Case(path, before, known, lies, now, tuple(name for name, took in parts.items() if took), dirty)

    def _look(self, path: str, known: Entry | None) -> tuple[Lies | None, bool]:
        """What lies at a path, and whether it is a submodule with changes of its own."""
        lies = self._looker.look(path)
        if lies is None or lies.mode != SUBMODULE:
            return lies, False
        inner = _repository(self._files, self._git, path)
        if inner is not None:
            commit = inner.head()
            ours = known is not None and known.mode == SUBMODULE
            return lies._replace(digest=commit, id=commit or ""), ours and bool(changes(self._files, inner, commit))
        if known is not None and known.mode == SUBMODULE:  # not checked out
            return lies._replace(digest=known.id, id=known.id), False
        return None, False

    def _entry(self, lies: Lies | None, like: Entry | None) -> Entry | None:
        """What git would store, line ends left alone; `like` lends its mode where the executable bit means nothing."""
        if lies is None:
            return None
        if like is not None and not self.listing.modes and is_file(lies.mode) and is_file(like.mode):
            return Entry(like.mode, lies.id)
        return Entry(lies.mode or "", lies.id)

    def _may_be_the_same(self, case: _Case) -> bool:
        """Whether only git can say that the content, line ends converted, is that of the start or of the index.

        Of most it has said so already: different from the index, which is as it was at the start. Where the size
        differs it says that without converting anything, so a file with carriage returns is asked about again.
        """
        now, before, row = case.now, case.before, self._status.tracked.get(case.path)
        if now is None or now == case.known or not is_file(now.mode):
            return False
        if row and row.unstaged and before and row.indexed == before and row.here == before.mode == now.mode:
            return case.lies is not None and case.lies.returns
        return any(one and is_file(one.mode) and one.id != now.id for one in (before, case.known))

    def _settled(self, case: _Case, stored: str | None) -> _Case:
        """The case with git's answer in place, and "unstaged" where git would not look by itself."""
        now = case.now
        if now is not None and stored in {one.id for one in (case.before, case.known) if one}:
            now = Entry(now.mode, stored or "")
        state = case.state
        looked = case.path in self._names.hidden or case.path in self._names.submodules
        if looked and "unstaged" not in state and (now != case.known or case.dirty):
            state = tuple(sorted((*state, "unstaged"), key=STATES.index))
        return case._replace(now=now, state=state)


def _repository(files: Files, git: Git, path: str) -> Git | None:
    """The repository that begins at this folder of the tree, None when there is none, or none that can be read."""
    folder = f"{git.top}/{path}"
    try:
        place = find_place(files, folder)
    except Refusal:
        return None
    return git.at(place.tree, place.git_dir, place.common) if place.tree == folder and place.git_dir else None


def _full(git: Git, base: str | None) -> str | None:
    """The id of the commit at the start; one that is written out is asked for only when git stumbles over it."""
    if base is None or _FULL_ID.match(base):
        return base
    return git.commit(base) or _gone(base)


def _gone(base: str) -> NoReturn:
    raise Refusal(
        "git.missing",
        f"commit {shown(base, 14)}, where the phase began, is not in this repository any more",
        "see `git reflog` for it",
    )


def _change(case: _Case, former: _Case | None) -> Change:
    """The case as it is told; `former` is the other half of a renamed one."""
    before, lies = (former or case).before, case.lies or Lies(None)
    states = {*case.state, *(former.state if former else ())}
    kind = "renamed" if former else _what(before, case.now)
    same = before is not None and case.now is not None and before.id == case.now.id and is_file(case.now.mode)
    added, removed = (
        (lies.lines, 0) if kind == "created" and lies.lines is not None else (0, 0) if same else (None, None)
    )
    mode = case.now.mode or None if case.now else None
    state = tuple(name for name in STATES if name in states)
    old = former.path if former else None
    return Change(case.path, kind, old, lies.size, lies.digest, mode, state, added, removed)


def _what(before: Entry | None, now: Entry | None) -> str:
    """The kind of a change that is no renaming."""
    if before is None:
        return "created"
    if now is None:
        return "deleted"
    if kind_of(before.mode) != kind_of(now.mode):
        return "type"
    if before.mode == SUBMODULE:
        return "submodule"
    return "mode" if before.id == now.id else "modified"


def _counted(change: Change, counts: tuple[int | None, int | None] | None) -> Change:
    if change.added is not None or counts is None:
        return change
    return change._replace(added=counts[0], removed=counts[1])
