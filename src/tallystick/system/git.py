"""The only place that runs git (D2).

Variables that name folders or bring configuration are cleared, so a hook that calls us cannot point us elsewhere; no
hook, file-system monitor, filter or replace reference of the examined repository takes part; no optional lock is
taken. The only references we ever write are `refs/tallystick/…`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from tallystick.errors import Refusal
from tallystick.limits import JOURNAL_FILE
from tallystick.system.durable import each_entry, read_file
from tallystick.system.files import Files

_KEEP = "refs/tallystick/keep/"
_QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0")
#: For a repository of our own making: no configuration but its own, no signature, no hook out of a template.
_OURS = ("-c", "commit.gpgSign=false", "-c", "core.autocrlf=false")
#: The mode of a submodule as every version of the index writes it, four bytes that stand for 160000.
_SUBMODULE_MODE = b"\x00\x00\xe0\x00"
_ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}
_FIXED = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}


def clean_environment(env: Mapping[str, str]) -> dict[str, str]:
    """`env` without any variable of git's, and with the few that keep git quiet and local."""
    return {key: value for key, value in env.items() if not key.startswith("GIT_")} | _FIXED


def make_repository(folder: str, env: Mapping[str, str]) -> None:
    """Make the folder a new repository on branch `main`, whatever the user's settings and templates say.

    Raises `Refusal` "git.missing" when there is no git, or when it could not.
    """
    _own(folder, env, "init", "--quiet", "--template=")
    _own(folder, env, "symbolic-ref", "HEAD", "refs/heads/main")


def commit_all(folder: str, env: Mapping[str, str], author: str, message: str) -> str:
    """Commit everything in the repository `folder`, which `make_repository` made; the short id of the commit.

    `author` is the name of a role; no identity of the user is asked for. Raises `Refusal` "git.missing".
    """
    who = ("-c", f"user.name={author}", "-c", f"user.email={author}@example.invalid")
    _own(folder, env, "add", "--all")
    _own(folder, env, *who, "commit", "--quiet", "--no-verify", "-m", message)
    return _own(folder, env, "rev-parse", "--short", "HEAD").strip()


def _own(folder: str, env: Mapping[str, str], *words: str) -> str:
    """What git prints, asked in a repository of our own making."""
    from tallystick.system.process import capture

    finished = capture(["git", *_QUIET, *_OURS, *words], folder, clean_environment(env) | _ALONE)
    if not finished.ok:
        said = finished.err.decode("utf-8", "replace").strip()[:200]
        raise Refusal("git.missing", f"git {words[0]} did not work in {folder}: {said}", "see `git --version`")
    return finished.out.decode("utf-8", "replace")


class Git:
    """Git at one place. `git_dir` is "" where there is no repository; then every question has the empty answer."""

    def __init__(self, files: Files, tree: str, git_dir: str, common: str, env: Mapping[str, str]) -> None:
        self._files = files
        self._folder = tree or git_dir
        self._git_dir = git_dir
        self._common = common
        self._env = env

    def head(self) -> str | None:
        """The commit that is checked out, None before the first one or without git."""
        return self.commit("HEAD")

    def commit(self, name: str) -> str | None:
        """The full id of the commit `name`, None when there is no such commit here."""
        if not self._git_dir:
            return None
        status, out = self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}")
        return out.strip() if status == 0 else None

    def hold(self, commit: str) -> None:
        """Keep `commit` from being collected, by a reference of our own."""
        if self._held_loose(commit):
            return
        status, out = self.ask("update-ref", _KEEP + commit, commit)
        if status != 0:
            raise Refusal(
                "git.missing", f"git could not keep commit {commit[:12]}: {out.strip()[:200]}", "see `git fsck`"
            )

    def held(self, commit: str) -> bool:
        """Whether the commit is still there: by our reference if that stands, else by asking git."""
        return self._held_loose(commit) or self.commit(commit) is not None

    def names(self) -> list[str] | None:
        """The names of the tracked files and of those that git would track, None where git cannot tell."""
        status, out = self.ask("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return sorted(set(out.split("\0")) - {""}) if status == 0 else None

    def names_below(self, folder: str) -> list[str]:
        """The paths of all files below `folder` in the tree of HEAD, as far as they are text."""
        if not self._git_dir:
            return []
        status, out = self.ask("ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD", "--", f"{folder}/")
        return [name for name in out.split("\0") if name] if status == 0 else []

    def content(self, path: str) -> bytes | None:
        """The bytes of one file in the tree of HEAD, None when it has none of that name."""
        status, out = self.ask("cat-file", "blob", f"HEAD:{path}")
        return out.encode("utf-8", "surrogateescape") if status == 0 else None

    def may_hide(self, folder: str) -> bool:
        """Whether the work tree may lack files below `folder` that HEAD has: bare, sparse, or the folder is gone."""
        if not self._git_dir:
            return False
        if self._folder == self._git_dir or self._is_there(f"{self._git_dir}/info/sparse-checkout"):
            return True
        return not self._is_there(f"{self._folder}/{folder}") and self.indexed(f"{folder}/")

    def indexed(self, path: str) -> bool:
        """Whether the index names `path`, told from its bytes: a git process for each mark would cost more than it.

        Only the end of the name is looked for, since an index may leave out what a name shares with the one before.
        """
        end = os.fsencode(path)[-24:]
        shared = each_entry(self._files, self._git_dir, lambda name: name.startswith("sharedindex."))
        return any(
            end in (read_file(self._files, f"{self._git_dir}/{name}", JOURNAL_FILE) or b"")
            for name in ("index", *shared)
        )

    def _held_loose(self, commit: str) -> bool:
        return self._is_there(f"{self._common}/{_KEEP}{commit}")

    def _is_there(self, path: str) -> bool:
        try:
            self._files.stat(path)
        except OSError:
            return False
        return True

    @property
    def top(self) -> str:
        """The top of the work tree, "" where there is none (no git, or a bare repository)."""
        return self._folder if self._git_dir and self._folder != self._git_dir else ""

    def at(self, tree: str, git_dir: str, common: str) -> Git:
        """Git at another place of this machine, a submodule's."""
        return Git(self._files, tree, git_dir, common, self._env)

    def may_hold_submodules(self) -> bool:
        """Whether the index may have a submodule in it. A no is certain, and costs less than asking git."""
        try:
            if any(name.startswith("sharedindex.") for name in self._files.listdir(self._git_dir)):
                return True  # a split index: the other half has entries too
            return _SUBMODULE_MODE in (read_file(self._files, f"{self._git_dir}/index", JOURNAL_FILE) or b"")
        except (OSError, Refusal):
            return True

    def ask(
        self,
        *words: str,
        given: bytes | None = None,
        extra: Mapping[str, str] | None = None,
        held: Sequence[int] = (),
    ) -> tuple[int, str]:
        """Run git with these words: its status, and what it printed (on failure without output, what it complained of).

        `given` is its standard input, `extra` goes on top of the cleaned environment, `held` is as for `capture`. The
        work tree is the one that was found, whatever `core.worktree` says. Bytes that are no UTF-8 come as surrogates.

        Raises `Refusal` "git.missing" without git, and where git mistrusts the owner of the folder.
        """
        from tallystick.system.process import capture

        place = {"GIT_WORK_TREE": self.top} if self.top else {}
        env = clean_environment(self._env) | place | dict(extra or {})
        finished = capture(["git", *_QUIET, *words], self._folder, env, input=given, held=held)
        errors = finished.err.decode("utf-8", "replace")
        if "dubious ownership" in errors:
            raise Refusal(
                "git.missing",
                f"git refuses to work in {self._folder}, which belongs to another user",
                "run as its owner, or tell git: git config --global --add safe.directory FOLDER",
            )
        return finished.status or 0 if finished.ok else 1, finished.out.decode("utf-8", "surrogateescape") or errors
