"""The only place that runs git (D2).

Variables that name folders or bring configuration are cleared, so a hook that calls us cannot point us elsewhere; no
hook, file-system monitor, filter or replace reference of the examined repository takes part; no optional lock is
taken. The only references we ever write are `refs/tallystick/…`.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.errors import Refusal
from tallystick.system.files import Files

_KEEP = "refs/tallystick/keep/"
_QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0")
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
        status, out = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}")
        return out.strip() if status == 0 else None

    def hold(self, commit: str) -> None:
        """Keep `commit` from being collected, by a reference of our own."""
        if self._held_loose(commit):
            return
        status, out = self._run("update-ref", _KEEP + commit, commit)
        if status != 0:
            raise Refusal(
                "git.missing", f"git could not keep commit {commit[:12]}: {out.strip()[:200]}", "see `git fsck`"
            )

    def held(self, commit: str) -> bool:
        """Whether the commit is still there: by our reference if that stands, else by asking git."""
        return self._held_loose(commit) or self.commit(commit) is not None

    def _held_loose(self, commit: str) -> bool:
        try:
            self._files.stat(f"{self._common}/{_KEEP}{commit}")
        except OSError:
            return False
        return True

    def _run(self, *words: str) -> tuple[int, str]:
        from tallystick.system.process import capture

        finished = capture(["git", *_QUIET, *words], self._folder, clean_environment(self._env))
        errors = finished.err.decode("utf-8", "replace")
        if "dubious ownership" in errors:
            raise Refusal(
                "git.missing",
                f"git refuses to work in {self._folder}, which belongs to another user",
                "run as its owner, or tell git: git config --global --add safe.directory FOLDER",
            )
        return finished.status or 0 if finished.ok else 1, finished.out.decode("utf-8", "surrogateescape") or errors
