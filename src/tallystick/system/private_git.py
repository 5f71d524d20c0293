"""A git folder of our own that borrows a repository's objects and nothing else of it.

Git run here reads no setting of the repository, the user or the machine: so there is no filter that could start a
program, no hook, no monitor, no remote to fetch from, no replaced object, no shared half of an index. Whatever it
writes (index, objects, files) goes to places that are named here. The folder may be lost at any time: it is made again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from tallystick.errors import Refusal
from tallystick.system.durable import make_folders, read_file, replace_file, spare
from tallystick.system.files import Files
from tallystick.system.git import Git
from tallystick.system.listing import quoted

#: What holds here whatever version of git and file system: real bytes, real links, every name that git can hold.
#: New objects are on the disk before git says so, flushed together, and each is a file of its own.
_SETTINGS = """\
[core]
\trepositoryFormatVersion = 1
\tbare = false
\tfileMode = true
\tsymlinks = true
\ttrustctime = true
\tcheckStat = default
\tautocrlf = false
\teol = lf
\tprotectNTFS = false
\tattributesFile = /dev/null
\texcludesFile = /dev/null
\tfsync = objects
\tfsyncMethod = batch
[fastimport]
	unpackLimit = 1000000000
[extensions]
\tobjectFormat = {format}
"""
_HEAD = b"ref: refs/heads/none\n"
_ALONE = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_MOST = 64 * 1024


class PrivateGit:
    """Git in `folder`, our own, for a repository whose object ids have `length` characters (40 or 64).

    New objects go to `objects`; those of the `lenders` are read too. Where `work_tree` is "" there is none.
    `attributes` is what every attribute file of the work tree is overruled by. Git holds the descriptors `held` too.
    """

    __slots__ = ("_attributes", "_extra", "_files", "_folder", "_git", "_held", "_length")

    def __init__(
        self,
        files: Files,
        folder: str,
        objects: str,
        lenders: Sequence[str],
        length: int,
        env: Mapping[str, str],
        *,
        index: str,
        work_tree: str = "",
        attributes: str = "",
        held: Sequence[int] = (),
    ) -> None:
        self._files = files
        self._folder = folder
        self._length = length
        self._attributes = attributes
        self._held = held
        self._git = Git(files, work_tree or folder, folder, folder, env)
        self._extra = {
            **_ALONE,
            "GIT_DIR": folder,
            "GIT_INDEX_FILE": index,
            "GIT_OBJECT_DIRECTORY": objects,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": ":".join(quoted(lender).decode() for lender in lenders),
        }

    def prepare(self) -> None:
        """Make the folder, or set right what somebody changed in it. Raises `Refusal` where it cannot be written."""
        settings = _SETTINGS.format(format="sha256" if self._length == 64 else "sha1").encode()
        for folder in ("objects", "refs", "info"):
            make_folders(self._files, f"{self._folder}/{folder}")
        make_folders(self._files, self._extra["GIT_OBJECT_DIRECTORY"])
        contents = {"config": settings, "HEAD": _HEAD, "info/attributes": self._attributes.encode()}
        for name, data in contents.items():
            if self._lies(name) != data:
                beside = spare(f"{self._folder}/info")
                replace_file(self._files, f"{self._folder}/{name}", data, sync=False, beside=beside)

    def tell(self, *words: str, given: bytes | None = None, lent: bool = True) -> str:
        """What git prints, bytes that are no UTF-8 as surrogates; with `lent` off, only our own objects are read.

        Raises `Refusal` "git.missing" where git is not there or could not.
        """
        alone = {} if lent else {"GIT_ALTERNATE_OBJECT_DIRECTORIES": ""}
        status, out = self._git.ask(*words, given=given, extra=self._extra | alone, held=self._held)
        if status != 0:
            raise Refusal("git.missing", f"git {words[0]} did not work: {out.strip()[-300:]}", "see `git fsck`")
        return out

    def _lies(self, name: str) -> bytes | None:
        try:
            return read_file(self._files, f"{self._folder}/{name}", _MOST)
        except Refusal:
            return None
