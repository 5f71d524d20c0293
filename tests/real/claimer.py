"""A process that claims, run by itself: `python claimer.py FOLDER FEATURE OWNER`.

For each task whose name comes in on standard input it tries a claim; `won NAME
FENCE` or the code of the refusal goes to standard output, the former once it is durable.
"""

from __future__ import annotations

import os
import sys

from tallystick.board.rules import Hand
from tallystick.errors import Refusal
from tallystick.journal.record import By
from tallystick.wiring import assemble, boards, this_machine


def main(folder: str, feature: str, owner: str) -> int:
    """Try every task that is named."""
    app = assemble(this_machine(os.environ), folder, By("developer"))
    service = boards(app)
    for line in sys.stdin:
        name = line.rstrip("\n")
        try:
            receipt, _ = service.claim(feature, name, Hand(owner))
        except Refusal as refusal:
            os.write(1, f"{refusal.code}\n".encode())
            continue
        assert receipt is not None
        os.write(1, f"won {name} {receipt.tasks[0].fence}\n".encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
