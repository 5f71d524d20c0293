"""From a jonggrang folder's bytes to what may be recorded of them: each file by the reader of its own subject. Pure.

Outputs stand each for itself: one that breaks the rules of its role is left where it is and named, since it is
somebody's history and not to be mended. A board or a manifest that cannot be read is a mistake of the whole import.
"""

from __future__ import annotations

from collections.abc import Sequence

from tallystick import canonical
from tallystick.board.document import read as read_board
from tallystick.errors import Refusal
from tallystick.handoff.manifest.reading import read_manifest
from tallystick.handoff.manifest.yaml_text import read_yaml, write_yaml
from tallystick.handoff.output.intake import of_file, written
from tallystick.handoff.output.model import Kept
from tallystick.handoff.output.schemas import Mistake
from tallystick.ids import escaped, shown
from tallystick.imports.found import Left
from tallystick.imports.plan import Adopted, Old, Prepared, Tasks
from tallystick.imports.survey import Foreign, Handed
from tallystick.masking.secrets import masked

_NAMED = 3


def prepared(foreign: Foreign, mistakes: list[Refusal]) -> Prepared:
    """The feature, read and sound as far as `mistakes` does not grow."""
    left = list(foreign.left)
    outputs: list[Adopted] = []
    for handed in foreign.outputs:
        kept = _output(handed, foreign)
        if isinstance(kept, Kept):
            outputs.append(Adopted(handed.name, handed.file, kept))
        else:
            left.append(Left(handed.file, _told(kept)))
    boards: list[Tasks] = []
    for handed in foreign.boards:
        try:
            boards.append(_board(handed, foreign))
        except Refusal as refusal:
            mistakes.append(refusal)
    manifest = None
    for handed in foreign.manifests[:1]:
        try:
            manifest = _manifest(handed, foreign)
        except Refusal as refusal:
            mistakes.append(refusal)
    left += [Left(handed.file, "is not the manifest that counts") for handed in foreign.manifests[1:]]
    return Prepared(foreign.feature, foreign.criteria, tuple(outputs), tuple(boards), manifest, tuple(left))


def _output(handed: Handed, foreign: Foreign) -> Kept | Sequence[Mistake]:
    """What is kept of an output. Where the feature gets another name here, its header gets it too."""
    if foreign.origin == foreign.feature:
        return of_file(handed.data, handed.name, foreign.feature)
    try:
        document = canonical.parse(handed.data, handed.name)
    except Refusal:
        return of_file(handed.data, handed.name, foreign.feature)
    if not isinstance(document, dict) or document.get("feature_id") != foreign.origin:
        return of_file(handed.data, handed.name, foreign.feature)
    kept = of_file(written({**document, "feature_id": foreign.feature}), handed.name, foreign.feature)
    return kept._replace(given=canonical.sha256(handed.data)) if isinstance(kept, Kept) else kept


def _board(handed: Handed, foreign: Foreign) -> Tasks:
    found = read_board(handed.data, handed.file)
    if found.feature not in (None, foreign.feature, foreign.origin):
        raise _of_another(handed, str(found.feature), foreign)
    return Tasks(handed.file, found.drafts)


def _manifest(handed: Handed, foreign: Foreign) -> Old:
    document = read_yaml(handed.data, handed.file)
    old = read_manifest(document, handed.file)
    if old.feature not in (None, foreign.feature, foreign.origin):
        raise _of_another(handed, str(old.feature), foreign)
    text = handed.data.decode("utf-8-sig")
    if old.feature not in (None, foreign.feature):
        text = write_yaml({**document, "feature_id": foreign.feature})
    return Old(handed.file, masked(text).text.encode())


def _of_another(handed: Handed, named: str, foreign: Foreign) -> Refusal:
    return Refusal(
        "input.invalid",
        f"{handed.file} is of {shown(named)} and lies with {shown(foreign.origin)}",
        "put it where it belongs, or import the folders one by one",
    )


def _told(mistakes: Sequence[Mistake]) -> str:
    more = f"; … and {len(mistakes) - _NAMED} more" if len(mistakes) > _NAMED else ""
    return "; ".join(escaped(f"{path} {says}".strip()) for path, says in mistakes[:_NAMED]) + more
