"""Who sends a request and by which rules it is read: the handshake of the older era, `_meta` of the newer one. Pure."""

from __future__ import annotations

from typing import Any, NamedTuple

from tallystick.mcp import versions
from tallystick.mcp.messages import INVALID_PARAMS, UNSUPPORTED_PROTOCOL_VERSION, RequestId, is_id
from tallystick.mcp.versions import Revision

Json = Any


class Wrong(Exception):  # noqa: N818 - said like the others: a request is wrong
    """A request that is answered with a JSON-RPC error; caught where answers are written."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Speaker(NamedTuple):
    """A client and the revision that it speaks. Name and version are its own words, empty where it says none."""

    revision: Revision
    client_name: str = ""
    client_version: str = ""


def meta(params: dict[str, Json]) -> dict[str, Json]:
    """The `_meta` of a request, empty where there is none."""
    found = params.get("_meta")
    return found if isinstance(found, dict) else {}


def introduced(params: dict[str, Json]) -> Speaker:
    """The speaker of an `initialize`. Raises `Wrong` without a revision; what else is missing we can do without."""
    requested = params.get("protocolVersion")
    if not isinstance(requested, str):
        raise Wrong(INVALID_PARAMS, "initialize names its protocolVersion as a string")
    return Speaker(versions.settled(requested), *_implementation(params.get("clientInfo")))


def enveloped(params: dict[str, Json]) -> Speaker:
    """The speaker of a request that stands alone (specification 2026-07-28, "Per-request protocol fields").

    Raises `Wrong`: -32602 for a missing or misshapen field, -32022 with the revisions on offer for one we do not speak.
    """
    fields = meta(params)
    requested = fields.get(versions.VERSION_KEY)
    if not isinstance(requested, str):
        raise Wrong(INVALID_PARAMS, f"_meta must hold {versions.VERSION_KEY} as a string")
    if requested not in versions.STATELESS:
        data = {"supported": versions.offered(requested), "requested": requested}
        raise Wrong(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)
    if not isinstance(fields.get(versions.CAPABILITIES_KEY), dict):
        raise Wrong(INVALID_PARAMS, f"_meta must hold {versions.CAPABILITIES_KEY} as an object")
    return Speaker(versions.BY_VERSION[requested], *_implementation(fields.get(versions.CLIENT_KEY)))


def progress_token(params: dict[str, Json]) -> RequestId | None:
    """The token under which the client wants to hear of progress, or None."""
    token = meta(params).get(versions.PROGRESS_KEY)
    return token if is_id(token) else None


def tool_use_id(params: dict[str, Json]) -> str:
    """The id of the model's tool use, or nothing: it stays the same when the client tries a call again."""
    found = meta(params).get(versions.TOOL_USE_KEY)
    return found if isinstance(found, str) else ""


def _implementation(info: Json) -> tuple[str, str]:
    fields = info if isinstance(info, dict) else {}
    name, version = fields.get("name"), fields.get("version")
    return (name if isinstance(name, str) else "", version if isinstance(version, str) else "")
