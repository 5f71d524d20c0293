"""A reader of outputs and manifests that was written from the seed's text alone, with PyYAML and nothing of ours.

    python seed_reader.py FOLDER FEATURE PHASE ROLE

It looks in `.jonggrang/.output/features/{feature_id}/`, learns the feature's id from MANIFEST.yaml, finds files that
match `{phase}-{role}-*.json`, parses and checks them as the seed describes them, and prints what it found as JSON.
"""

from __future__ import annotations

import glob
import json
import os
import sys

import yaml

HEADER = ("feature_id", "phase", "role", "task_id", "agent_id", "timestamp", "status", "output")


def main(folder: str, feature: str, phase: str, role: str) -> None:
    """Print {"feature_id", "phases", "outputs"}; leave with a message where something is not as the seed says."""
    place = os.path.join(folder, ".jonggrang", ".output", "features", feature)
    with open(os.path.join(place, "MANIFEST.yaml"), encoding="utf-8") as file:
        manifest = yaml.safe_load(file)
    outputs = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(place), f"{phase}-{role}-*.json"))):
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        missing = [key for key in HEADER if key not in document]
        if document.get("jonggrang-output") is not True or missing:
            sys.exit(f"{path} has no header: {missing}")
        if document["feature_id"] != manifest["feature_id"] or document["role"] != role:
            sys.exit(f"{path} is of another feature or role")
        outputs[os.path.basename(path)] = document["output"]
    phases = {
        key: {"status": entry["status"], "files": [file["path"] for file in entry["output_files"]]}
        for key, entry in manifest["phases"].items()
    }
    print(json.dumps({"feature_id": manifest["feature_id"], "phases": phases, "outputs": outputs}))


if __name__ == "__main__":
    main(*sys.argv[1:])
