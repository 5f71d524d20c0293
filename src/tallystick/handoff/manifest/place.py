"""Where a manifest lies: what is in the folder that we did not write, and putting ours there.

An older file that no record made is taken over at the first phase: what it says is recorded, secrets masked, so that
nothing of it is lost when ours is written in its place. A file that cannot be read is never written over.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from tallystick import canonical
from tallystick.canonical import Json
from tallystick.errors import Refusal
from tallystick.handoff.folder import Folder, features, place_of
from tallystick.handoff.manifest.document import NAME, NAMES, Files, render
from tallystick.handoff.manifest.model import Found, Manifest, PhasesFold
from tallystick.handoff.manifest.reading import OldManifest, read_manifest
from tallystick.handoff.manifest.yaml_text import read_yaml
from tallystick.journal.store import Store
from tallystick.limits import INLINE_EVIDENCE
from tallystick.masking.secrets import masked_value
from tallystick.system import files as system
from tallystick.system.durable import make_folders, read_file, replace_file

#: Grows when the same records are written in another way.
_RENDERING = "1"


class Lying(NamedTuple):
    """A manifest that is not as we wrote it: the name of the file, the digest of its bytes, and what it says."""

    name: str
    digest: str
    document: dict[str, Json]
    old: OldManifest


class ManifestPlace:
    """The manifests in the folders of one work tree ("" = none: nothing lies there and nothing is written)."""

    def __init__(self, files: system.Files, tree: str, store: Store[Any]) -> None:
        self._files = files
        self._tree = tree
        self._store = store

    def features(self) -> list[str]:
        """The features whose folder holds a manifest."""
        there = features(self._files, self._tree)
        return [name for name in there if set(NAMES) & set(self._folder(name).names())]

    def is_there(self, feature: str) -> bool:
        """Whether the feature has a folder with anything in it."""
        return bool(self._folder(feature).names())

    def lying(self, feature: str, names: tuple[str, ...] = NAMES) -> Lying | None:
        """The first of these files that is not as we wrote it; None where there is none, or nothing in it.

        Raises `Refusal` for what cannot be read: no regular file, too large, no YAML, no manifest, "yaml.missing".
        """
        folder = self._folder(feature)
        for name in names:
            data = folder.read(name)
            if data is None or not data.strip(b"\0 \t\r\n"):  # what a crash may leave
                continue
            if folder.is_ours(name, data):
                return None
            place = f"{place_of(feature)}/{name}"
            document = read_yaml(data, place)
            return Lying(name, canonical.sha256(data), document, read_manifest(document, place))
        return None

    def found(self, lying: Lying) -> Found:
        """What is recorded of a file that is taken over. A long one is kept as a blob, durably."""
        document, _ = masked_value(lying.document)
        data = canonical.encode(document)
        if len(data) <= INLINE_EVIDENCE:
            return Found(lying.digest, document, None)
        return Found(lying.digest, None, self._store.blobs.keep(data))

    def old(self, found: Found | None) -> OldManifest | None:
        """What the file said that was taken over."""
        if found is None:
            return None
        document = found.document if found.kept is None else self.kept(found.kept)
        try:
            return read_manifest(document, NAME)
        except Refusal:
            return None  # another copy's record: only what could be read is taken over here

    def kept(self, digest: str) -> Json:
        """A JSON value that is kept as a blob. Raises `Refusal` "journal.damaged" where it is not what was kept."""
        data = self._store.blobs.find(digest)
        if data is None:
            raise Refusal(
                "journal.damaged",
                f"a list that the manifest needs is not here any more, or changed: sha256:{digest}",
                "tallystick audit",
            )
        return canonical.parse(data, f"sha256:{digest}")

    def put(self, manifest: Manifest, state: dict[str, Any], files: Files) -> tuple[str, ...]:
        """Have the file say what the records say; notes of what was found there. At once where it is as we left it."""
        feature, folder = manifest.feature, self._folder(manifest.feature)
        if not self._tree:
            return ()
        mark = canonical.sha256(canonical.encode([_RENDERING, PhasesFold().dump(state)]))
        if self._left(feature) == self._receipt(folder, mark):
            return ()
        try:
            lying, found = self.lying(feature, (NAME,)), manifest.head.found
        except Refusal as refusal:
            why = refusal.message.removesuffix("; nothing was changed")
            says = f"{place_of(feature)}/{NAME} was left as it is: {why}"
            return (f"{says}; where it is moved aside, the next write makes it anew",)
        text = render(manifest, self.old(found), files)
        notes = folder.put(NAME, text.encode("utf-8"))
        self._leave(feature, self._receipt(folder, mark))
        taken_over = lying is not None and found is not None and lying.digest == found.digest
        return () if taken_over else notes

    def aside(self, manifest: Manifest) -> tuple[str, ...]:
        """What to say of the file of a manifest that has records: that it is not as we wrote it, or cannot be read."""
        feature, found = manifest.feature, manifest.head.found
        try:
            lying = self.lying(feature, (NAME,))
        except Refusal as refusal:
            return (f"the file is not what the records say, and is left as it is: {refusal.message}",)
        if lying is None or (found is not None and lying.digest == found.digest):
            return ()
        return (f"{place_of(feature)}/{NAME} is not as it was written; the next write keeps its bytes and replaces it",)

    # -- what we left there, so that a long list is not written out after every mark --------------------------------

    def _folder(self, feature: str) -> Folder:
        return Folder(self._files, self._tree, self._store, feature)

    def _receipt(self, folder: Folder, mark: str) -> str:
        return f"{mark} {folder.stat(NAME)}"

    def _path(self, feature: str) -> str:
        tree = canonical.sha256(os.fsencode(f"{self._tree}\0{feature}"))[:32]
        return f"{self._store.root.folder}/cache/handoff/manifest-{tree}"

    def _left(self, feature: str) -> str:
        try:
            data = read_file(self._files, self._path(feature), 4096)
        except Refusal:
            return ""
        return (data or b"").decode("ascii", "replace")

    def _leave(self, feature: str, receipt: str) -> None:
        path = self._path(feature)
        make_folders(self._files, os.path.dirname(path))
        replace_file(self._files, path, receipt.encode(), sync=False, beside=f"{path}.tmp")
