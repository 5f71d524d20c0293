"""The one table of protocol revisions, and what each of them allows on the wire.

Two eras. Revisions up to 2025-11-25 begin with an `initialize` handshake that settles the revision for the whole
connection; from 2026-07-28 on every request stands alone and carries revision, client and capabilities in `_meta`.
Both are served on one connection (specification 2026-07-28, "Versioning and Compatibility"). Pure.
"""

from __future__ import annotations

from typing import NamedTuple


class Revision(NamedTuple):
    """One revision. Each column is a difference on the wire that this server meets."""

    version: str
    stateless: bool  # no handshake; `_meta` on every request; `resultType` and cache hints in results
    batches: bool  # several messages in one array
    annotations: bool  # tool annotations, and a message in progress notifications
    structured: bool  # `title`, `outputSchema` and `structuredContent`


#: Newest first.
REVISIONS = (
    Revision("2026-07-28", stateless=True, batches=False, annotations=True, structured=True),
    Revision("2025-11-25", stateless=False, batches=False, annotations=True, structured=True),
    Revision("2025-06-18", stateless=False, batches=False, annotations=True, structured=True),
    Revision("2025-03-26", stateless=False, batches=True, annotations=True, structured=False),
    Revision("2024-11-05", stateless=False, batches=False, annotations=False, structured=False),
)
BY_VERSION = {revision.version: revision for revision in REVISIONS}
NEWEST = REVISIONS[0]
STATELESS = tuple(revision.version for revision in REVISIONS if revision.stateless)
HANDSHAKE = tuple(revision.version for revision in REVISIONS if not revision.stateless)

#: The keys of `_meta` that we read or write. The last one is Claude Code's own: the id of the model's tool use.
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY = "io.modelcontextprotocol/serverInfo"
PROGRESS_KEY = "progressToken"
TOOL_USE_KEY = "claudecode/toolUseId"


def settled(requested: str) -> Revision:
    """The revision that a handshake settles on: the one asked for, else the newest that has a handshake."""
    return BY_VERSION[requested if requested in HANDSHAKE else HANDSHAKE[0]]


def offered(requested: str) -> list[str]:
    """What an answer to an unsupported revision offers: all of ours, newest first.

    A revision with a handshake that was sent in `_meta` is refused there too, so it must not be offered for a retry.
    """
    return list(STATELESS if requested in HANDSHAKE else (*STATELESS, *HANDSHAKE))
