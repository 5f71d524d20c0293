"""`python -m tests.planted [PROMISE ...]`: plants each fault in a copy of the project and says what found it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.planted.plants import PLANTS
from tests.planted.trial import copy, run, trial
from yard.requirements import current


def main(words: list[str]) -> int:
    """Try the plants of the promises named, or all; 0 when the sound copy is green and each fault was found."""
    chosen = [plant for plant in PLANTS if not words or plant.promise in words]
    says = {row.id: row.says for row in current().rows}
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        place = copy(Path(folder))
        sound = run(place, [test for plant in chosen for test in plant.tests])
        print(f"without a fault: {'green' if sound.status == 0 else sound.output[-4000:]}", flush=True)
        missed = sound.status != 0
        for plant in chosen:
            found = trial(plant, place, says[plant.promise])
            print(found.line, flush=True)
            missed = missed or bool(found.missing)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
