"""Outputs and their fold: what agents handed over, by file and version (`output_saved`, `output_adopted`). Pure.

A version is never changed or taken away; the same name again makes the next one. Of another key's records none
replaces one of ours: the newest of ours is the current one, and theirs only where we have none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.handoff.output.header import Header, is_moment, is_phase, is_word, read_name
from tallystick.journal.record import Event, Record
from tallystick.limits import INLINE_EVIDENCE, INPUT_FILE

if TYPE_CHECKING:
    from tallystick.journal.snapshot import Snapshot
    from tallystick.journal.subjects import Subjects

SUBJECT = "outputs"
SAVED, ADOPTED = "output_saved", "output_adopted"
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


class Output(NamedTuple):
    """One version of one file. `digest` and `size` are of the bytes as kept; `masked` counts the secrets taken out.

    `original` is the digest of the bytes before masking, `given` that of what was handed over before the header was
    filled in, `replaced` that of a file without a valid output that lay at its place; each "" where there is none.
    `kept`: the bytes are a blob, not part of the record.
    """

    file: str
    version: int
    phase: float
    role: str
    slug: str
    task_id: str | None
    agent_id: str
    timestamp: str
    status: str
    digest: str
    size: int
    at: str
    by_role: str
    adopted: bool
    ours: bool
    masked: int = 0
    original: str = ""
    given: str = ""
    replaced: str = ""
    kept: bool = False


Versions = tuple[Output, ...]
Outputs = dict[str, Versions]


class Kept(NamedTuple):
    """The bytes of one output as they are kept, and how they differ from what was handed over."""

    header: Header
    data: bytes
    masked: dict[str, int]
    original: str = ""
    given: str = ""

    @property
    def digest(self) -> str:
        """SHA-256 of the kept bytes."""
        return canonical.sha256(self.data)


def outputs_of(snapshot: Snapshot[Subjects]) -> Outputs:
    """Every file's versions, oldest first, in a feature's state."""
    outputs: Outputs = snapshot.state[SUBJECT]
    return outputs


def current(versions: Versions) -> Output:
    """The version that counts: the newest of ours, else the newest there is."""
    return next((one for one in reversed(versions) if one.ours), versions[-1])


def lies_there(output: Output, digest: str) -> bool:
    """Whether a file of that digest is this very output; an agent's own file keeps the secrets that we masked."""
    return digest != "" and digest in (output.digest, output.original)


def known(versions: Versions) -> frozenset[str]:
    """The digests of all bytes that were seen at this name and are recorded or kept."""
    return frozenset(digest for one in versions for digest in (one.digest, one.original, one.replaced) if digest)


def saved(file: str, kept: Kept, replaced: str = "") -> Event:
    """`output_saved`: small outputs travel in the record, larger ones must be a blob already."""
    return Event("output_saved", data_of(file, kept, replaced))


def adopted(file: str, kept: Kept) -> Event:
    """`output_adopted`: the same for a file that an agent wrote itself."""
    return Event("output_adopted", data_of(file, kept))


def data_of(file: str, kept: Kept, replaced: str = "") -> dict[str, Json]:
    """The payload of both."""
    header = kept.header
    data: dict[str, Json] = {
        "file": file,
        "phase": header.phase,
        "role": header.role,
        "slug": header.slug,
        "task_id": header.task_id,
        "agent_id": header.agent_id,
        "timestamp": header.timestamp,
        "status": header.status,
        "sha256": kept.digest,
        "size": len(kept.data),
    }
    if is_inline(kept):
        data["text"] = kept.data.decode("utf-8")
    else:
        data["kept"] = True
    if kept.masked:
        data |= {"masked": kept.masked, "original": kept.original}
    if kept.given:
        data["given"] = kept.given
    if replaced:
        data["replaced"] = replaced
    return data


def is_inline(kept: Kept) -> bool:
    """Whether the bytes travel in the record."""
    return len(kept.data) <= INLINE_EVIDENCE


class OutputsFold:
    """Folds both record types."""

    version = "1"
    types = frozenset((SAVED, ADOPTED))

    def empty(self, feature: str) -> Outputs:
        """Nothing was handed over."""
        return {}

    def copy(self, state: Outputs) -> Outputs:
        """The same versions, in a table of its own."""
        return dict(state)

    def flaw(self, record: Record) -> str | None:
        """Why the record's payload is no output."""
        for field, sound in _FIELDS.items():
            if not sound(record.data.get(field)):
                return f"has a {field} that no output has"
        data = record.data
        name = read_name(data["file"], data["role"])
        if name is None or tuple(name) != (data["phase"], data["role"], data["slug"]):
            return "has a file that is not called as its header says"
        if "text" not in data:
            return None if data.get("kept") is True else "has no text"
        text = data["text"]
        if not isinstance(text, str) or len(text) > INLINE_EVIDENCE:
            return "has a text that no output has"
        raw = text.encode("utf-8", "surrogatepass")
        whole = len(raw) == data["size"] and canonical.sha256(raw) == data["sha256"]
        return None if whole else "has a text of another digest"

    def apply(self, state: Outputs, record: Record, ours: bool) -> None:
        """Add one version."""
        data = record.data
        before = state.get(data["file"], ())
        output = Output(
            data["file"],
            len(before) + 1,
            data["phase"],
            data["role"],
            data["slug"],
            data["task_id"],
            data["agent_id"],
            data["timestamp"],
            data["status"],
            data["sha256"],
            data["size"],
            record.at,
            record.by.role,
            record.type == ADOPTED,
            ours,
            sum((data.get("masked") or {}).values()),
            data.get("original") or "",
            data.get("given") or "",
            data.get("replaced") or "",
            "text" not in data,
        )
        state[output.file] = (*before, output)

    def dump(self, state: Outputs) -> Json:
        """For a checkpoint."""
        return state

    def load(self, feature: str, data: Json) -> Outputs:
        """From a checkpoint."""
        return {file: tuple(Output._make(row) for row in versions) for file, versions in data.items()}


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_digest(value: Json) -> bool:
    return isinstance(value, str) and bool(_DIGEST.match(value))


def _is_digest_or_nothing(value: Json) -> bool:
    return value is None or _is_digest(value)


def _are_counts(value: Json) -> bool:
    if value is None:
        return True
    return isinstance(value, dict) and all(type(one) is int and 0 <= one <= INPUT_FILE for one in value.values())


_FIELDS = {
    "file": _is_text,
    "phase": is_phase,
    "role": is_word,
    "slug": is_word,
    "task_id": lambda value: value is None or isinstance(value, str),
    "agent_id": _is_text,
    "timestamp": is_moment,
    "status": _is_text,
    "sha256": _is_digest,
    "size": lambda value: type(value) is int and 0 <= value <= INPUT_FILE,
    "masked": _are_counts,
    "original": _is_digest_or_nothing,
    "given": _is_digest_or_nothing,
    "replaced": _is_digest_or_nothing,
}
