"""What is carried into a run: the reporter, and beside it what tells it what to do."""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.canonical import encode
from tallystick.errors import Refusal
from tallystick.evidence.runners.base import (
    ATTRIBUTION,
    ATTRIBUTION_SOURCE,
    IDS_FILE,
    IMPORT_GRAPH,
    IMPORT_GRAPH_SOURCE,
    INTEGRITY,
    INTEGRITY_SOURCE,
    MODES_FILE,
    RECORDER,
    RECORDER_SOURCE,
    Modes,
    Runner,
)

#: What a recorded run carries besides its reporter, and the source of each in this package.
_RECORDING = (
    (RECORDER, RECORDER_SOURCE),
    (ATTRIBUTION, ATTRIBUTION_SOURCE),
    (IMPORT_GRAPH, IMPORT_GRAPH_SOURCE),
    (INTEGRITY, INTEGRITY_SOURCE),
)


def carried_files(runner: Runner, ids: tuple[str, ...], modes: Modes | None = None) -> Mapping[str, bytes]:
    """The files of a run's own folder by name: the reporter of `runner`, `ids` to run if any, `modes`, the recorder.

    None for a runner that reports nothing. Raises `Refusal` "internal" where this installation lacks a file of its own.
    """
    if not runner.carried:
        return {}
    files = {runner.carried: _source(runner.source)}
    if ids:
        files[IDS_FILE] = encode(list(ids))
    if modes is not None:
        files[MODES_FILE] = encode(modes._asdict())
        if modes.record:
            files |= {name: _source(source) for name, source in _RECORDING}
    return files


def _source(name: str) -> bytes:
    import pkgutil

    source = pkgutil.get_data("tallystick.evidence.runners", name)
    if source is None:
        raise Refusal("internal", f"{name} is not part of this installation", "install Tallystick again")
    return source
