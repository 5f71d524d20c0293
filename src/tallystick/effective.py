"""What a check depends on beyond the tree: its *effective* settings (formats 5). Pure.

They have a digest, are frozen with a feature and bound in each pass. What asks for less than was frozen is an
amendment; any other difference only makes passes run again.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.settings import Settings

_NONE: Mapping[str, Json] = {}
#: Bytes of canonical JSON that one part may have in a record.
_PART = 4096


def effective(settings: Settings, runner: Mapping[str, Json] = _NONE) -> dict[str, Json]:
    """What a check depends on beyond the tree; `runner` are further facts of the runner that was found or said.

    Without such facts it can be told from the settings alone: that is what is frozen, and bound in a pass.
    """
    verify = settings.verify
    network = verify.network if isinstance(verify.network, str) else sorted(verify.network)
    return {
        "policy": settings.policy._asdict(),
        "mode": verify.mode,
        "link": sorted(verify.link),
        "setup": [list(one) for one in verify.setup],
        "limits": {
            "time_s": verify.time_limit_s,
            "output_mb": verify.output_limit_mb,
            "memory_mb": verify.memory_limit_mb,
            "file_mb": verify.file_limit_mb,
            "network": network,
            "allow": sorted(verify.allow),
        },
        "variables": {"env": sorted(verify.env), "set": dict(verify.set)},
        "thresholds": {"coverage": verify.coverage, "irrelevant": sorted(verify.irrelevant)},
        "runner": {"command": list(settings.tests.command), "report": settings.tests.report, **runner},
    }


def digest(found: Mapping[str, Json]) -> str:
    """The digest of effective settings: SHA-256 over their canonical JSON."""
    return canonical.sha256(canonical.encode(found))


def bounded(found: Mapping[str, Json]) -> dict[str, Json]:
    """As they are frozen: a part that is longer than `_PART` stands there by its digest alone."""
    told = {name: canonical.encode(part) for name, part in found.items()}
    return {name: part if len(told[name]) <= _PART else canonical.sha256(told[name]) for name, part in found.items()}


#: From the least to the most that is asked for.
_ORDER: dict[str, tuple[Json, ...]] = {
    "checked": ("ran", "auto", "proven", "challenged"),
    "free_text": ("claimed", "cited"),
    "other_hand": (False, True),
}


def weakened(frozen: Mapping[str, Json], now: Mapping[str, Json]) -> list[str]:
    """What of the effective settings asks for less than was frozen, in words: such a change is an amendment.

    A lower policy or threshold, more that counts as irrelevant, and the mode set to in-place. Whatever else differs
    (`moved`) only makes passes run again. What the frozen ones do not say yet is not compared; thresholds that were too
    long to be frozen whole (`bounded`) must be the same.
    """
    said = []
    if type(frozen.get("thresholds")) is str:
        if bounded(now).get("thresholds") != frozen["thresholds"]:
            said.append("verify.irrelevant or verify.coverage is another")
        frozen = {**frozen, "thresholds": {}}
    policy, held = now.get("policy", {}), frozen.get("policy", {})
    for name, order in _ORDER.items():
        before, after = held.get(name), policy.get(name)
        if before in order and (after not in order or order.index(after) < order.index(before)):
            said.append(f"policy.{name} was {_said(before)} and is {_said(after)}")
    marks, limits = now.get("thresholds", {}), frozen.get("thresholds", {})
    if marks.get("coverage", 0) < limits.get("coverage", 0):
        said.append(f"verify.coverage was {limits['coverage']} and is {marks.get('coverage')}")
    added = sorted({*marks.get("irrelevant", ())} - {*limits.get("irrelevant", marks.get("irrelevant", ()))})
    if added:
        said.append(f"verify.irrelevant has {', '.join(added)} more")
    if now.get("mode") == "in-place" and frozen.get("mode", "in-place") != "in-place":
        said.append(f"verify.mode was {_said(frozen['mode'])} and is in-place")
    return said


def moved(frozen: Mapping[str, Json], now: Mapping[str, Json]) -> list[str]:
    """The parts of the effective settings that differ at all; none of them: the digests are the same."""
    frozen, now = bounded(frozen), bounded(now)
    return [name for name in now if frozen.get(name) != now[name]] + [name for name in frozen if name not in now]


def _said(value: Json) -> str:
    """A value as it stands in the file."""
    return canonical.text(value) if type(value) is bool else str(value)
