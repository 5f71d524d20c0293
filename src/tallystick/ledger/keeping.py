"""Fetches what a reference names and keeps its bytes by digest; later says whether it still has them.

A cited file is inside the project, regular, not empty and at most 64 MB. Up to 16 kB its bytes travel inside the
record, so that keeping them costs no further flush; larger ones become a blob before the record is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.ids import shown
from tallystick.journal.blobs import Blobs
from tallystick.ledger.citation import COUNTS, Reference, inside, looks_like_path, not_own, without_line
from tallystick.ledger.model import Citation, Criterion
from tallystick.ledger.rules import Evidence
from tallystick.limits import CITED_FILE, INLINE_EVIDENCE
from tallystick.system.durable import read_file
from tallystick.system.files import Files, Stat
from tallystick.system.locks import Clock

#: A file that changed this recently may change again within one tick of its time stamp, so its digest is not reused.
_RACY_NS = 100_000_000


class Commits(Protocol):
    """What is asked of git about commits."""

    def commit(self, name: str) -> str | None: ...
    def hold(self, commit: str) -> None: ...
    def held(self, commit: str) -> bool: ...


class Outputs(Protocol):
    """What is asked about outputs: the bytes of the newest version as kept, and their digest; None for no output."""

    def cited(self, feature: str, file: str) -> bytes | None: ...
    def newest(self, feature: str, file: str) -> str | None: ...


class _Known(NamedTuple):
    identity: tuple[int, int, int, int, int]
    digest: str | None


class Keeper:
    """Keeps evidence of one tree."""

    def __init__(
        self,
        files: Files,
        tree: str,
        blobs: Blobs,
        commits: Commits,
        clock: Clock,
        outputs: Callable[[], Outputs] | None = None,
    ) -> None:
        """`outputs` gives the one to ask about outputs; without it none can be cited."""
        self._outputs = outputs
        self._files = files
        self._tree = tree
        self._blobs = blobs
        self._commits = commits
        self._clock = clock
        self._known: dict[str, _Known] = {}

    def keep(self, references: Sequence[Reference]) -> list[Evidence]:
        """The evidence behind all `references`, its bytes kept. Raises `Refusal` with an evidence code.

        Nothing is kept where one of them is refused.
        """
        if len(references) > 1:
            for reference in references:
                self._found(reference)
        return [self._kept(reference, *self._found(reference)) for reference in references]

    def _found(self, reference: Reference) -> tuple[str, str, bytes]:
        """Kind, target and bytes of what is cited; a commit has no bytes."""
        if reference.kind == "url":
            raise Refusal(
                "evidence.free_text",
                f"{shown(reference.text)} is an address: nobody can keep what it shows",
                "save what you saw into the project and cite the file",
            )
        if reference.kind == "run":
            raise Refusal("evidence.missing", f"{shown(reference.text)}: no such run was recorded here", COUNTS)
        if reference.kind == "commit":
            commit = self._commits.commit(reference.target)
            if commit is None:
                raise Refusal("evidence.missing", f"{shown(reference.text)} is no commit of this repository", COUNTS)
            return "commit", commit, b""
        if reference.kind == "blob":
            data = self._blobs.get(reference.target)
            if data is None:
                raise Refusal("evidence.missing", f"{shown(reference.text)} is not among the kept evidence", COUNTS)
            return "blob", reference.target, data
        if reference.kind == "output":
            data = self._outputs().cited(*_of_output(reference.target)) if self._outputs is not None else None
            if data is None:
                raise Refusal("evidence.missing", f"{shown(reference.text)}: no such output was handed over", COUNTS)
            return "output", reference.target, data
        return "file", *self._read(reference)

    def changed(self, criterion: Criterion) -> bool:
        """Whether anything the pass of `criterion` cites has other content now, or is gone."""
        return self.look()(criterion)

    def look(self) -> Callable[[Criterion], bool]:
        """`changed` for many criteria at one moment: each cited file is looked at once, however many cite it."""
        seen: dict[str, str | None] = {}
        return lambda criterion: any(not self._still(citation, seen) for citation in criterion.citations)

    def moved(self, citation: Citation) -> bool:
        """Whether what is cited has other content now, or is gone."""
        return not self._still(citation, {})

    def _still(self, citation: Citation, seen: dict[str, str | None]) -> bool:
        if citation.kind == "file":
            if not self._tree:
                return True
            if citation.target not in seen:
                seen[citation.target] = self._digest(citation.target)
            return seen[citation.target] == citation.digest
        if citation.kind == "output" and self._outputs is not None:
            key = f"//{citation.target}"  # as no path of a file begins
            if key not in seen:
                seen[key] = self._outputs().newest(*_of_output(citation.target))
            return seen[key] == citation.digest
        if citation.kind == "commit":
            return self._commits.held(citation.target)
        return True

    def _read(self, reference: Reference) -> tuple[str, bytes]:
        if not self._tree:
            raise Refusal("evidence.missing", "a bare repository has no files to cite", "cite commit:<sha>")
        path = inside(reference)
        data = self._file(path)
        if data is None:
            shorter = without_line(path)
            if shorter is not None:
                path, data = shorter, self._file(shorter)
        if data is None:
            if looks_like_path(reference.text):
                raise Refusal("evidence.missing", f"{shown(reference.text)} is not there", COUNTS)
            raise Refusal("evidence.free_text", f"{shown(reference.text)} points at nothing that can be kept", COUNTS)
        if not data:
            raise Refusal("evidence.empty", f"{shown(reference.text)} is empty", COUNTS)
        real = self._files.realpath(f"{self._tree}/{path}")
        not_own(reference, real.removeprefix(self._tree.rstrip("/") + "/"))
        return path, data

    def _file(self, path: str) -> bytes | None:
        try:
            return read_file(self._files, f"{self._tree}/{path}", CITED_FILE, within=self._tree)
        except ValueError:  # a NUL or a lone surrogate: no file has such a name
            return None
        except Refusal as refusal:
            code = "evidence.empty" if refusal.code == "input.unreadable" else refusal.code
            says = refusal.message.replace(f"{self._tree}/", "", 1)
            raise Refusal(code, says, COUNTS, refusal.where) from None

    def _kept(self, reference: Reference, kind: str, target: str, data: bytes) -> Evidence:
        row: dict[str, Json] = {"kind": kind, "ref": reference.text, "target": target, "size": len(data)}
        if kind == "commit":
            self._commits.hold(target)
            return Evidence(reference.text, {**row, "digest": target})
        if len(data) > INLINE_EVIDENCE:
            return Evidence(reference.text, {**row, "digest": self._blobs.keep(data), "blob": True})
        row["digest"] = canonical.sha256(data)
        try:
            row["text"] = data.decode("utf-8")
        except UnicodeDecodeError:
            import base64

            row["base64"] = base64.b64encode(data).decode("ascii")
        return Evidence(reference.text, row)

    def _digest(self, path: str) -> str | None:
        """The digest of a file as it is now, None when it is gone; read again only when its stat changed."""
        try:
            identity = _identity(self._files.stat(f"{self._tree}/{path}"))
        except (OSError, ValueError):
            return None
        known = self._known.get(path)
        if known is not None and known.identity == identity:
            return known.digest
        try:
            data = self._file(path)
        except Refusal:
            data = None
        digest = None if data is None else canonical.sha256(data)
        if self._clock.now() - max(identity[3], identity[4]) > _RACY_NS:
            self._known[path] = _Known(identity, digest)
        return digest


def _of_output(target: str) -> tuple[str, str]:
    """Feature and file."""
    feature, _, file = target.partition("/")
    return feature, file


def _identity(status: Stat) -> tuple[int, int, int, int, int]:
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
